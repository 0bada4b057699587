//! What may be found in a history: one table, and the values of each.

use iolag_model::{Nanoseconds, Outage};

use super::Finding;
use super::slow_level::{LongAsARule, ToldLevel};
use super::table::findings;
use crate::history::calendar::local_time::Day;
use crate::history::calendar::periodicity::Periodicity;
use crate::history::changes::change_point::ChangePoint;
use crate::history::changes::direction::Direction;
use crate::history::changes::drift::Drift;
use crate::history::changes::event_matching::EventPlace;
use crate::history::changes::moment::ChangeMoment;
use crate::history::configurations::ranking::RankedAttribute;
use crate::history::correlation::coefficient::Correlation;
use crate::history::correlation::matrix::{CorrelatedPair, Variable};
use crate::history::episodes::association::Association;
use crate::history::episodes::bad_overlap::BadOverlap;
use crate::history::episodes::gaps::Gap;
use crate::history::series::estimate::Estimate;
use crate::history::series::modes::Modes;
use crate::history::series::shares::{Rate, ThresholdShare};
use crate::history::series::timed_values::Quantity;
use crate::statistics::knowledge::Knowledge;

/// Something that was judged from a history.
pub type HistoryFinding = Finding<HistoryFound>;

// What stops people from working comes first, what concerns the measurement last.
findings! { $ HistoryFound, HistoryFindingKind, whatever_in_history:
    /// A mount did not answer, or was not there.
    Outage: Observed { Outage(OutageFound), OutagesLeftOut(OutagesLeftOut) }
    /// A level changed.
    Change: Inferred { Level(LevelFound), Drift(DriftFound), RecordTooShort(RecordTooShort) }
    /// Some attempts took very long or did not end.
    Tail: Observed { Slow(SlowFound), PastDeadline(PastDeadlineFound) }
    /// Attempts failed.
    Failure: Observed { Failed(FailedFound) }
    /// A bad time.
    Episode: Observed { Episode(EpisodeFound) }
    /// The host was slow, or was not.
    HostSlow: Inferred { HostSlow(HostSlowFound) }
    /// Names of users and groups are looked up slowly.
    NameService: Inferred { NameService(NameServiceFound) }
    /// Where the time of a task goes: to the processor or to waiting.
    Waiting: Observed { Waiting(WaitingFound) }
    /// Bad times come with events of a kind.
    Association: Inferred { Association(AssociationFound) }
    /// Two places were bad at the same time.
    BadTogether: Inferred { BadTogether(BadTogetherFound) }
    /// Two series go together.
    Correlation: Inferred { Correlation(CorrelationFound) }
    /// One series follows another.
    Lag: Inferred { Lag(LagFound) }
    /// Two series both follow the time of day.
    SharedRhythm: Observed { SharedRhythm(SharedRhythmFound) }
    /// No two series go together.
    NoCorrelation: Inferred { NoCorrelation(NoCorrelationFound) }
    /// A series swings with a period.
    Periodicity: Inferred { Period(PeriodFound) }
    /// A series has separated modes.
    Modes: Inferred { Modes(ModesFound) }
    /// Two places differ.
    Comparison: Inferred { SlowerPlace(SlowerPlaceFound) }
    /// An attribute of hosts explains what takes too long.
    HostAttribute: Inferred { HostAttribute(HostAttributeFound) }
    /// The configuration changed.
    Configuration: Observed { Configuration(ConfigurationFound) }
    /// Nobody watched.
    Gap: Observed { Gap(GapFound) }
    /// The clock could not tell.
    Resolution: Observed { BelowResolution(BelowResolutionFound) }
    /// There is too little to tell.
    TooFew: Observed { TooFew(TooFewFound) }
}

/// A mount did not answer, or was not there.
#[derive(Debug, Clone, PartialEq)]
pub struct OutageFound {
    /// Which, when, and how it ended.
    pub outage: Outage,
    /// How long, to the end of the history if it is not over.
    pub length_ns: Nanoseconds,
    /// The event nearest to its begin, if one is near, and whether it came before or after.
    pub event: Option<(String, EventPlace)>,
}

/// Outages that are not told one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutagesLeftOut {
    /// How many.
    pub count: u64,
    /// How long all of them lasted together.
    pub sum_ns: Nanoseconds,
    /// How long the longest of them did.
    pub longest_ns: Nanoseconds,
}

/// A time in which several samples were bad.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EpisodeFound {
    /// Bad samples.
    pub samples: u64,
    /// The longest duration in seconds, if one is known.
    pub peak: Option<(f64, Knowledge)>,
    /// Episodes of several samples that there are in all.
    pub of: u64,
}

/// Two places were bad at the same time.
#[derive(Debug, Clone, PartialEq)]
pub struct BadTogetherFound {
    /// Which, and how long.
    pub overlap: BadOverlap,
    /// Whether places of several hosts were bad.
    pub has_several_hosts: bool,
    /// Whether the record is too short to know the hours of the day.
    pub is_record_short: bool,
}

/// Bad times come with events of a kind.
#[derive(Debug, Clone, PartialEq)]
pub struct AssociationFound {
    /// Which, and how often.
    pub association: Association,
    /// Whether the record is too short to know the hours of the day.
    pub is_record_short: bool,
}

/// Whether the host was slow in bad times: by a task on its own memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostSlowFound {
    /// Bad times in which that task took long as well.
    pub shared: usize,
    /// Bad times in which it was measured.
    pub of: usize,
}

/// A level that began with a change, of the first series of the finding; those of the others began, and ended, at the same time.
#[derive(Debug, Clone, PartialEq)]
pub struct LevelFound {
    /// Whether it is greater than the level before, and of what.
    pub direction: Direction,
    /// The change with which it began.
    pub change: ChangePoint,
    /// When.
    pub moment: ChangeMoment,
    /// How it ended.
    pub end: LevelEnd,
    /// The event that may explain it.
    pub event: Option<EventBeside>,
    /// How far from the change events were looked for.
    pub tolerance_ns: Nanoseconds,
}

/// How a level ended.
#[derive(Debug, Clone, PartialEq)]
pub enum LevelEnd {
    /// It lasts.
    Lasts,
    /// With a change to yet another level.
    Next(ChangePoint, ChangeMoment),
    /// With a change to the level before it, which is no finding of its own.
    Back {
        /// That change.
        change: ChangePoint,
        /// When.
        moment: ChangeMoment,
        /// The event that may explain it.
        event: Option<EventBeside>,
        /// Whether nothing changed after it.
        is_last: bool,
    },
}

/// An event that may explain a change.
#[derive(Debug, Clone, PartialEq)]
pub struct EventBeside {
    /// What it says.
    pub text: String,
    /// Where it lies as seen from the change.
    pub place: EventPlace,
    /// Other events that lie between the two samples around a change of which no moment is known: none of them is nearer than another.
    pub others: u64,
    /// Probability that a change at a random moment would have an event as near.
    pub chance: f64,
}

/// Two series go together.
#[derive(Debug, Clone, PartialEq)]
pub struct CorrelationFound {
    /// Which, and how.
    pub pair: CorrelatedPair,
}

/// What two series are both busy at, and nothing else: seen, and no sign of a common cause.
#[derive(Debug, Clone, PartialEq)]
pub struct SharedRhythmFound {
    /// One of them.
    pub left: Variable,
    /// The other.
    pub right: Variable,
    /// Their coefficient at the same time.
    pub at_same_time: f64,
    /// The same without what each hour explains.
    pub beyond_daily_cycle: f64,
}

/// No two tasks go together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NoCorrelationFound {
    /// Pairs that were compared.
    pub pairs: u64,
    /// The strongest coefficient.
    pub strongest: f64,
    /// Whether that is one beyond the time of day.
    pub is_beyond_daily_cycle: bool,
    /// Whether places were bad together.
    pub places: PlacesBad,
}

/// Whether places were bad at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlacesBad {
    /// Of places that were never bad, or of one place alone, nothing was asked.
    NotAsked,
    /// No two were.
    NeverTogether,
    /// None were for longer than by chance.
    TogetherByChance,
}

/// One series follows another.
#[derive(Debug, Clone, PartialEq)]
pub struct LagFound {
    /// What comes first.
    pub first: Variable,
    /// What follows.
    pub second: Variable,
    /// After so long.
    pub lag_ns: Nanoseconds,
    /// How the two go together at that lag.
    pub at_lag: Correlation,
    /// Their coefficient at the same time.
    pub at_same_time: f64,
    /// p after all pairs and lags were counted.
    pub p_adjusted: f64,
}

/// A slow change: it has no date.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DriftFound {
    /// What drifts.
    pub quantity: Quantity,
    /// How far.
    pub drift: Drift,
    /// Median of the last part by that of the first, or its bound.
    pub ratio: f64,
}

/// A level moved in a record that is too short to tell that from this.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordTooShort {
    /// The time of the day.
    TimeOfDay,
    /// The day of the week.
    TimeOfWeek,
}

/// Attempts failed.
#[derive(Debug, Clone, PartialEq)]
pub struct FailedFound {
    /// How many, and on which days.
    pub ended: EndedSo,
    /// What the last one said of it.
    pub said: Option<String>,
}

/// Attempts did not end within their deadline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PastDeadlineFound {
    /// How many, and on which days.
    pub ended: EndedSo,
    /// Of these, those that did not end at all as far as was seen.
    pub unended: u64,
}

/// How many attempts ended in some way.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EndedSo {
    /// So many.
    pub count: u64,
    /// Of so many.
    pub of: u64,
    /// The share.
    pub share: f64,
    /// On which days, where it was not on every one.
    pub days: Option<SomeDays>,
}

/// Days on which something was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SomeDays {
    /// How many.
    pub count: usize,
    /// Of how many.
    pub of: usize,
    /// The first.
    pub first: Day,
    /// The last.
    pub last: Day,
}

/// A task takes longer in one place than in another: the first of the finding's two series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SlowerPlaceFound {
    /// How many times as long.
    pub ratio: f64,
    /// Whether it is more, as far as is known.
    pub is_bound: bool,
}

/// What takes too long is explained by an attribute of hosts, or by several that always go together.
#[derive(Debug, Clone, PartialEq)]
pub struct HostAttributeFound {
    /// The task.
    pub task: String,
    /// The target.
    pub target: String,
    /// Hosts that were compared.
    pub hosts: u64,
    /// The attribute.
    pub attribute: RankedAttribute,
}

/// Where the time of a task that computes goes: medians in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WaitingFound {
    /// Processor time.
    pub processor: f64,
    /// The rest.
    pub waiting: f64,
    /// The rest of the same task in the host's own memory, if it is watched.
    pub in_memory: Option<f64>,
    /// Where most of it goes.
    pub mostly: SpentMostly,
}

/// Where most of the time of a task goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpentMostly {
    /// To the processor.
    Computing,
    /// To waiting, as far as is known for the storage.
    Waiting,
    /// To waiting in the host's own memory as well: for the host.
    WaitingForHost,
}

/// Facts of a place were other ones from some moment on, at the latest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigurationFound {
    /// Of which host; empty if that is not known.
    pub host: String,
    /// Of which target; empty for those of the host.
    pub target: String,
    /// The facts that differ, in the order of their names.
    pub changed: Vec<ChangedFact>,
}

/// A fact that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFact {
    /// Its name.
    pub name: String,
    /// What it was; absent if there was none.
    pub before: Option<String>,
    /// What it is; absent if there is none.
    pub after: Option<String>,
}

/// Times of which nothing is known of a host, target or task.
#[derive(Debug, Clone, PartialEq)]
pub struct GapFound {
    /// The longest of them.
    pub longest: Gap,
    /// How many.
    pub count: u64,
    /// How long all of them are together.
    pub sum_ns: Nanoseconds,
    /// Their share of the time covered.
    pub share: f64,
}

/// A series swings with a period.
#[derive(Debug, Clone, PartialEq)]
pub struct PeriodFound {
    /// What swings.
    pub quantity: Quantity,
    /// How.
    pub periodicity: Periodicity,
}

/// A series has separated modes.
#[derive(Debug, Clone, PartialEq)]
pub struct ModesFound {
    /// The modes, the fastest first.
    pub modes: Modes,
    /// The greatest ratio of two neighbours.
    pub distance: f64,
}

/// The clock could not tell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BelowResolutionFound {
    /// Share of attempts that are shorter than what it resolves.
    pub share: f64,
    /// What it resolves.
    pub resolution_ns: Nanoseconds,
}

/// Names of users and groups are looked up slowly: medians in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NameServiceFound {
    /// Of `ls -l`.
    pub with_names: f64,
    /// Of `ls -n`, which is the same without names of users and groups.
    pub without_names: f64,
}

/// There is too little to tell a p99.
#[derive(Debug, Clone, PartialEq)]
pub struct TooFewFound {
    /// Of each series without a p99, the quantile that is not known and why.
    pub without: Vec<(f64, Estimate)>,
    /// Series of durations, in all.
    pub of: usize,
    /// Those without a p99 that drift.
    pub drifting: usize,
}

/// Attempts that took longer than people put up with: at the latest level at which any did. What was before a change is told beside it, and not
/// mixed with it. A share that was the same at every level has nothing to do with their changes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SlowFound {
    /// How long people put up with.
    pub patience_ns: Nanoseconds,
    /// Those that took longer.
    pub over: ThresholdShare,
    /// The longest of all.
    pub longest: Estimate,
    /// The level of which that is told.
    pub level: ToldLevel,
    /// Most attempts take long: that is how the task is, and no tail.
    pub rule: Option<LongAsARule>,
    /// Attempts that had not ended when they were last looked at.
    pub unended: u64,
    /// Slots that were skipped behind one that had not ended, at all levels together.
    pub skipped: Rate,
}
