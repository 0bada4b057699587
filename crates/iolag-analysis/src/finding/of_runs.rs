//! What may be found in a run: one table, and the values of each.

use iolag_model::{
    AbsentName, ErrorClass, GeneratorLimit, Nanoseconds, Operation, RepeatedQuestion, RunRecord, TraceCall,
    TraceList, WaitEnd,
};

use super::table::findings;
use super::{Finding, FollowedFailure};
use crate::run::metadata::lost_objects::LostObjects;
use crate::run::metadata::stage::WorkingSetChange;
use crate::run::ping::counts::PingCounts;
use crate::run::summary::TwoModes;
use crate::run::surroundings::memory::MemoryOfIterations;
use crate::run::sweep::RepetitionComparison;
use crate::run::trace::lists::{Searched, SetVariables};
use crate::statistics::quantile::censored::QuantileValue;

/// Something that was judged from a run.
pub type RunFinding = Finding<RunFound>;

findings! { $ RunFound, RunFindingKind, whatever_in_run:
    /// A directory does not answer.
    NotAnswering: Observed { NotAnswering(NotAnswering) }
    /// Not everything could be measured.
    MeasuredInPart: Observed { MeasuredInPart(MeasuredInPart) }
    /// Attempts did not end.
    NotEnded: Observed { NotEnded(NotEnded) }
    /// Attempts took longer than anybody is patient.
    Slow: Observed { LongAttempts(LongAttempts) }
    /// The same of rows with few attempts.
    FewButLong: Observed { FewButLong(FewButLong) }
    /// Attempts failed.
    Failed: Observed { FailedAttempts(FailedAttempts) }
    /// Attempts are either fast or slow.
    TwoModes: Inferred { TwoModes(TwoModesFound) }
    /// Names of users and groups are looked up slowly.
    NamesLookedUp: Inferred { NamesLookedUp(NamesLookedUp) }
    /// Writing safely takes much longer than writing.
    DurableSlow: Observed { DurableSlow(DurableSlow) }
    /// Closing a written file takes much longer than writing it.
    CloseSlow: Observed { CloseSlow(CloseSlow) }
    /// Creating takes much longer than asking for attributes.
    CreateSlow: Observed { CreateSlow(CreateSlow) }
    /// Removing takes much longer than creating.
    RemoveSlow: Observed { RemoveSlow(RemoveSlow) }
    /// Somebody else removed objects, or the file system lost them.
    ObjectsGone: Observed { ObjectsGone(ObjectsGone) }
    /// Another number of objects was created than deleted.
    WorkingSetChanged: Observed { WorkingSetChanged(WorkingSetChange) }
    /// Operations failed because earlier ones did not end.
    LeftOut: Observed { LeftOut(LeftOut) }
    /// Clients were done at different times.
    Unequal: Observed { Unequal(Unequal) }
    /// Iterations differ.
    RepetitionsDiffer: Inferred { RepetitionsDiffer(RepetitionsDiffer) }
    /// It got slower or faster while it was measured.
    Unsteady: Inferred { Unsteady(Unsteady) }
    /// The load reached the number of processors.
    ProcessorsBusy: Observed { ProcessorsBusy(ProcessorsBusy) }
    /// The host that measured was itself beyond limits.
    GeneratorBusy: Observed { GeneratorBusy(GeneratorBusy) }
    /// Clients did not start together.
    LateStart: Observed { LateStart(LateStart) }
    /// Stages were short.
    ShortStages: Observed { ShortStages(ShortStages) }
    /// The run was stopped in a stage.
    CutOff: Observed { CutOff(CutOff) }
    /// Clients waited for room in the recording rings.
    RingWaits: Observed { RingWaits(RingWaits) }
    /// Probes went lost.
    ProbesLost: Observed { ProbesLost(ProbesLost) }
    /// Probes were not sent.
    ProbesNotSent: Observed { ProbesNotSent(ProbesNotSent) }
    /// A call of a program on a file never came back.
    NeverBack: Observed { NeverBack(NeverBack) }
    /// A program asked in directories that never had anything.
    AskedInVain: Observed { AskedInVain(AskedInVain) }
    /// A program looked through directories that never had what it looked for.
    SearchedInVain: Observed { SearchedInVain(SearchedInVain) }
    /// A program looked in vain through the directories of a variable.
    ListedInVain: Observed { ListedInVain(ListedInVain) }
    /// A program asked the same again.
    AskedAgain: Observed { AskedAgain(AskedAgain) }
    /// A call of a program took much of its time in storage.
    LongCall: Observed { LongCall(LongCall) }
}

/// A directory or a server does not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotAnswering {
    /// For so long the first contact has been waiting.
    pub age_ns: Nanoseconds,
    /// What does not.
    pub who: Silent,
}

/// What does not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Silent {
    /// A directory.
    Directory,
    /// A server that is asked by its own protocol.
    Server,
}

/// Something could be measured, but not to the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeasuredInPart {
    /// What was in the way.
    pub failure: String,
}

/// Attempts did not end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotEnded {
    /// Of what.
    pub operation: Operation,
    /// How many.
    pub count: u64,
    /// Of how many.
    pub of: u64,
    /// For so long the longest had been waiting.
    pub longest_ns: Nanoseconds,
}

/// Attempts took longer than anybody is patient.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LongAttempts {
    /// Of what.
    pub operation: Operation,
    /// How long people are patient.
    pub patience_ns: Nanoseconds,
    /// How many took longer.
    pub over: u64,
    /// Whether some were cut off before it, so that there may be more.
    pub is_at_least: bool,
    /// Of how many.
    pub of: u64,
    /// The longest.
    pub longest: QuantileValue,
}

/// Rows with few attempts of which one took long.
#[derive(Debug, Clone, PartialEq)]
pub struct FewButLong {
    /// The operation, how many attempts, and the longest of them.
    pub rows: Vec<(Operation, u64, QuantileValue)>,
}

/// Attempts failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailedAttempts {
    /// At what.
    pub operation: Operation,
    /// How.
    pub class: ErrorClass,
    /// How many.
    pub count: u64,
    /// Of how many.
    pub of: u64,
}

/// Attempts are either fast or slow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwoModesFound {
    /// Of what.
    pub operation: Operation,
    /// The two.
    pub modes: TwoModes,
}

/// An operation whose median is many times that of another one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SlowerOperation {
    /// The slower, and its median.
    pub slow: (Operation, QuantileValue),
    /// The quicker, and its median.
    pub quick: (Operation, QuantileValue),
    /// How many times as long.
    pub factor: f64,
}

/// `ls -l` beside `ls -n`, which asks for no names.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NamesLookedUp(pub SlowerOperation);

/// Until a small file is safe, beside until it is written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DurableSlow(pub SlowerOperation);

/// Closing a written file beside writing it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CloseSlow(pub SlowerOperation);

/// Creating beside asking for attributes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CreateSlow(pub SlowerOperation);

/// Removing beside creating.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RemoveSlow(pub SlowerOperation);

/// What iolag had made was gone.
#[derive(Debug, Clone, PartialEq)]
pub struct ObjectsGone {
    /// What.
    pub lost: LostObjects,
}

/// What failed because operations before had not ended: these are told with the state of the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// The failures.
    pub followed: Vec<FollowedFailure>,
}

/// Clients were done at different times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unequal {
    /// After so long the first was done.
    pub first_ns: Nanoseconds,
    /// After so long the last was.
    pub last_ns: Nanoseconds,
    /// The first by the last, in percent.
    pub balance_percent: f64,
}

/// Iterations differ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RepetitionsDiffer {
    /// By how much, and how probable that is by chance.
    pub comparison: RepetitionComparison,
    /// What may have done that.
    pub suspect: Suspect,
    /// What memory had meanwhile, if that is known.
    pub memory: Option<MemoryOfIterations>,
}

/// What may have made iterations differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Suspect {
    /// The load of this host, which had more to do than processors.
    Load,
    /// The storage: there are caches and other users behind it.
    Storage,
    /// Other programs of this host: its memory was measured.
    Programs,
}

/// It got slower or faster while it was measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unsteady {
    /// Mean durations of the last quarter by those of the first, the median of all operations.
    pub factor: f64,
    /// Whether it got slower.
    pub is_slower: bool,
    /// So many operations are judged together.
    pub operations: usize,
    /// Whether the machine's memory did the same.
    pub is_shared_by_memory: bool,
    /// Probability without a change, all directories counted.
    pub p: f64,
}

/// The load reached the number of processors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProcessorsBusy {
    /// Average of a minute.
    pub load: f64,
    /// Processors.
    pub cpus: u32,
    /// Who may have waited for them.
    pub crew: Crew,
}

/// Who makes the load of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Crew {
    /// Users and jobs of which there may be many.
    Clients,
    /// Copies of one job.
    Copies,
}

impl Crew {
    /// That of a run.
    pub const fn of(run: &RunRecord) -> Self {
        match run.spec.workload.job_terms() {
            Some(_) => Self::Copies,
            None => Self::Clients,
        }
    }
}

/// The host that measured was itself beyond limits.
#[derive(Debug, Clone, PartialEq)]
pub struct GeneratorBusy {
    /// For so long.
    pub time_ns: Nanoseconds,
    /// Of so long.
    pub of_ns: Nanoseconds,
    /// That as a share.
    pub share: f64,
    /// Beyond which limits and how long each, the longest first.
    pub limits: Vec<(GeneratorLimit, Nanoseconds)>,
}

/// Clients did not start together.
#[derive(Debug, Clone, PartialEq)]
pub struct LateStart {
    /// In how many stages.
    pub stages: usize,
    /// Of how many.
    pub of: usize,
    /// The one in which it matters most.
    pub worst: String,
    /// How long after the first the last one started there.
    pub skew_ns: Nanoseconds,
    /// That as a share of the stage.
    pub share: f64,
}

/// Stages were short.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShortStages {
    /// How many.
    pub stages: usize,
    /// Of how many.
    pub of: usize,
    /// They lasted less than this.
    pub limit_ns: Nanoseconds,
    /// The shortest.
    pub shortest: String,
    /// How long that lasted.
    pub time_ns: Nanoseconds,
}

/// The run was stopped in a stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CutOff {
    /// In which.
    pub stage: String,
    /// After so long.
    pub time_ns: Nanoseconds,
    /// Clients that had not finished it.
    pub unfinished: u64,
    /// Of so many.
    pub clients: u32,
}

/// Clients waited for room in the recording rings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RingWaits {
    /// How often.
    pub count: u64,
    /// What share of their time.
    pub share: f64,
    /// The longest.
    pub longest_ns: Nanoseconds,
}

/// Probes went lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProbesLost {
    /// What became of all of them.
    pub probes: PingCounts,
    /// After this long a probe is lost.
    pub deadline_ns: Nanoseconds,
}

/// Probes were not sent, though nothing was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProbesNotSent {
    /// How many.
    pub count: u64,
    /// Of how many that came to be due.
    pub due: u64,
    /// Why.
    pub because: NotSentBecause,
}

/// Why a probe was not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotSentBecause {
    /// The one before took longer than this, the time from one to the next.
    Outrun(Nanoseconds),
    /// The file of the one before was still being removed.
    HeldUp,
}

/// Some of the calls of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TracedShare {
    /// How many.
    pub calls: u64,
    /// Of how many.
    pub of_calls: u64,
    /// How long they took, if that is known.
    pub time_ns: Option<Nanoseconds>,
    /// Time in storage of all.
    pub of_time_ns: Nanoseconds,
}

/// A program asked in directories that never had anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedInVain {
    /// How much of all that is.
    pub share: TracedShare,
    /// In how many directories.
    pub directories: u64,
    /// Those of them that the loader of programs looks for below others of them.
    pub of_loader: u64,
    /// Paths that most of the calls were about, if that is a few ones in one or two directories: no list is too long then.
    pub same: Vec<AbsentName>,
    /// The directory that most of the calls were in, if there is one, and for how many names.
    pub one: Option<(String, u64)>,
    /// What most of them were asked for.
    pub searched: Searched,
    /// Whether the variable for that was set.
    pub set: SetVariables,
    /// Some of those.
    pub examples: Vec<String>,
}

/// A program looked through directories that never had what it looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchedInVain {
    /// How much of all that is.
    pub share: TracedShare,
    /// What was looked for.
    pub searched: Searched,
    /// Whether the variable for that was set.
    pub set: SetVariables,
    /// How many directories never had any of it.
    pub directories: u64,
    /// Those of them that the loader of programs looks for below others of them.
    pub of_loader: u64,
    /// How many names were looked for.
    pub names: u64,
    /// Some of them.
    pub looked_for: Vec<String>,
    /// Some of the directories.
    pub examples: Vec<String>,
}

/// A program looked in vain through the directories that a variable of its environment lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedInVain {
    /// How much of all that is.
    pub share: TracedShare,
    /// The variable, and what was looked for in its directories.
    pub list: TraceList,
    /// Other variables of which the same is true, since they list the same directories.
    pub alike: Vec<String>,
}

/// A program asked the same again, though nothing had changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedAgain {
    /// How much of all that is, without what was asked in vain.
    pub share: TracedShare,
    /// How often a process asked again what it had asked itself, ...
    pub own: u64,
    /// ... of all repeats.
    pub of: u64,
    /// What was asked most often.
    pub most: RepeatedQuestion,
}

/// A call on a file never came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NeverBack {
    /// The one that waited longest.
    pub call: TraceCall,
    /// For how long that was seen, if it is known.
    pub waited_ns: Option<Nanoseconds>,
    /// What ended the wait.
    pub until: WaitEnd,
    /// How many such calls there are.
    pub calls: u64,
    /// Where to ask whether storage answers: the mount, or the directory; nothing if the names are no real ones.
    pub place: Option<String>,
}

/// A call took much of a program's time in storage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LongCall {
    /// Which.
    pub call: TraceCall,
    /// Time in storage of all calls.
    pub storage_ns: Nanoseconds,
}
