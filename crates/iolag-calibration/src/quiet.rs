//! How often does the analysis of a history find what is not there?
//!
//! A campaign is three tasks on two targets, two notes and twenty lines of a journal at random times, and the whole analysis. Of each
//! claim that would be false the share of campaigns that make it is counted: at least one false claim in six series.

use iolag_analysis::Severity;
use iolag_analysis::history::{
    ComparisonVerdict, HistoryAnalysis, HistoryFindingKind, HistoryInput, HistoryOptions, PeriodName,
    analyse_history,
};
use iolag_model::{Event, EventSource, HistoryColumns, Random, Series, SeriesKind, WallTime};

use crate::measured::{Limit, Measured};
use crate::process::{Course, MEDIAN_SECONDS, Process};
use crate::record::{Rounds, attempts, columns, series};
use crate::seed::noise_of;

const NOTES: usize = 2;
const JOURNAL_LINES: usize = 20;
const NOON_SECONDS: i64 = 12 * 3600;
const TASKS: [&str; 3] = ["list", "create", "compile"];
const TARGETS: [&str; 2] = ["/home", "/scratch"];

/// Campaigns of one kind of load and size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quiet {
    /// What makes the durations.
    pub load: Load,
    /// Attempts of each series.
    pub size: usize,
}

/// How six series are made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Load {
    /// Each by itself, of the same process.
    Apart(Process),
    /// Daily cycles of fixed amplitude, each with its own slowest hour.
    DailyApart,
    /// A common load, which explains most of what every series does.
    Common,
    /// Storms that each series has by itself, and a control in memory with its own.
    StormsOfControlApart,
    /// Storms that all series share with the control in memory.
    StormsOfHost,
    /// `ls -l` and `ls -n` take equally long.
    NamesForNothing,
    /// A job of each place at the same hour of every night, each of a length of its own.
    NightlyJobs,
    /// Bad moments that each series has by itself, in working hours, and a line of the journal about every noon.
    MomentsAtWork,
}

/// What the analysis may say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// A level changed at one moment.
    Change,
    /// A level drifted over the record.
    Drift,
    /// Something became slower or faster with an event.
    Effect,
    /// The same task takes longer in one of two places.
    Places,
    /// Two series go together beyond the daily cycle, told as a finding.
    Together,
    /// A pair is called significant in the matrix.
    Significant,
    /// One series follows another.
    Lag,
    /// A series swings with a period that it has not.
    Period,
    /// Bad times come with events of a kind.
    Association,
    /// Two places were bad at the same time.
    BadTogether,
    /// A series has separated modes.
    Modes,
    /// There is no single cause of what happens to all tasks.
    NoSingleCause,
    /// The host was slow in bad times, not the storage.
    HostSlow,
    /// The host was not slow in bad times: they come from the storage.
    HostNotSlow,
    /// Names are looked up slowly.
    NameService,
}

impl Claim {
    /// All of them.
    pub const ALL: [Self; 15] = [
        Self::Change,
        Self::Drift,
        Self::Effect,
        Self::Places,
        Self::Together,
        Self::Significant,
        Self::Lag,
        Self::Period,
        Self::Association,
        Self::BadTogether,
        Self::Modes,
        Self::NoSingleCause,
        Self::HostSlow,
        Self::HostNotSlow,
        Self::NameService,
    ];

    /// What it is called in a row.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Change => "changed",
            Self::Drift => "drifts",
            Self::Effect => "slower or faster with a note",
            Self::Places => "two places differ",
            Self::Together => "go together",
            Self::Significant => "significant pair",
            Self::Lag => "follows",
            Self::Period => "period",
            Self::Association => "bad times come with events",
            Self::BadTogether => "bad at the same time",
            Self::Modes => "modes",
            Self::NoSingleCause => "no single cause",
            Self::HostSlow => "host slow",
            Self::HostNotSlow => "host not slow",
            Self::NameService => "names looked up slowly",
        }
    }

    /// Whether it is made.
    fn is_made(self, analysis: &HistoryAnalysis) -> bool {
        let told = |kind: HistoryFindingKind| analysis.findings.iter().any(|finding| finding.kind() == kind);
        let differs = |verdict: ComparisonVerdict| {
            !matches!(verdict, ComparisonVerdict::NoDifferenceShown | ComparisonVerdict::TooFew)
        };
        let host_slow = |severity: Severity| {
            let mut of_host =
                analysis.findings.iter().filter(|one| one.kind() == HistoryFindingKind::HostSlow);
            of_host.any(|one| one.severity == severity)
        };
        match self {
            // Every change that is told is told as a step today. One that is told as a ramp or an episode is none of these.
            Self::Change => analysis.series.iter().any(|series| !series.changes.is_empty()),
            Self::Drift => analysis.series.iter().any(|series| series.drift.is_some()),
            Self::Effect => {
                let mut effects = analysis.series.iter().flat_map(|series| &series.event_effects);
                effects.any(|effect| differs(effect.comparison.verdict))
            }
            Self::Places => analysis.comparisons.iter().any(|one| differs(one.comparison.verdict)),
            Self::Together => told(HistoryFindingKind::Correlation),
            Self::Significant => analysis.correlations.pairs.iter().any(|pair| pair.is_significant),
            Self::Lag => told(HistoryFindingKind::Lag),
            Self::Period => analysis.series.iter().any(|series| series.periodicity.is_some()),
            Self::Association => told(HistoryFindingKind::Association),
            Self::BadTogether => told(HistoryFindingKind::BadTogether),
            Self::Modes => told(HistoryFindingKind::Modes),
            Self::NoSingleCause => told(HistoryFindingKind::NoCorrelation),
            Self::HostSlow => host_slow(Severity::Warning),
            Self::HostNotSlow => host_slow(Severity::Note),
            Self::NameService => told(HistoryFindingKind::NameService),
        }
    }

    /// Whether the campaign could have led to it at all.
    fn is_possible(self, analysis: &HistoryAnalysis) -> bool {
        match self {
            Self::Association => !analysis.associations.is_empty(),
            Self::HostSlow | Self::HostNotSlow => analysis.episodes.len() >= 3,
            _ => true,
        }
    }
}

impl Claim {
    /// The kind of the finding that makes it; absent for what is only in tables.
    pub const fn kind(self) -> Option<HistoryFindingKind> {
        match self {
            Self::Change | Self::Drift => Some(HistoryFindingKind::Change),
            Self::Effect | Self::Significant => None,
            Self::Places => Some(HistoryFindingKind::Comparison),
            Self::Together => Some(HistoryFindingKind::Correlation),
            Self::Lag => Some(HistoryFindingKind::Lag),
            Self::Period => Some(HistoryFindingKind::Periodicity),
            Self::Association => Some(HistoryFindingKind::Association),
            Self::BadTogether => Some(HistoryFindingKind::BadTogether),
            Self::Modes => Some(HistoryFindingKind::Modes),
            Self::NoSingleCause => Some(HistoryFindingKind::NoCorrelation),
            Self::HostSlow | Self::HostNotSlow => Some(HistoryFindingKind::HostSlow),
            Self::NameService => Some(HistoryFindingKind::NameService),
        }
    }
}

impl Load {
    /// Whether a claim about it is false. What is true is not measured here.
    pub fn contradicts(self, claim: Claim) -> bool {
        match (self, claim) {
            (Self::Common, claim) => claim == Claim::NoSingleCause,
            (Self::StormsOfControlApart, claim) => claim == Claim::HostSlow,
            (Self::StormsOfHost, claim) => claim == Claim::HostNotSlow,
            (Self::NamesForNothing, claim) => claim == Claim::NameService,
            (Self::NightlyJobs | Self::MomentsAtWork, claim) => {
                matches!(claim, Claim::Association | Claim::BadTogether)
            }
            (_, Claim::NoSingleCause | Claim::HostSlow | Claim::HostNotSlow | Claim::NameService) => false,
            (Self::Apart(Process::Storms | Process::ModesInRuns), Claim::Modes) => false,
            // What swings together is bad together.
            (
                Self::Apart(
                    Process::Daily { .. }
                    | Process::DailyRandom
                    | Process::Weekly
                    | Process::WorkingHours
                    | Process::Drift(_),
                ),
                Claim::BadTogether,
            ) => false,
            // It swings with days, weeks and all that both make together.
            (Self::Apart(Process::WorkingHours), Claim::Period) => false,
            // It drifts, is a little slower after a note, though not because of it, and what drifts goes together.
            (
                Self::Apart(Process::Drift(_)),
                Claim::Drift | Claim::Effect | Claim::Together | Claim::Significant | Claim::Lag,
            ) => false,
            _ => true,
        }
    }

    fn limit(self, claim: Claim) -> Limit {
        match (self, claim) {
            (Self::Apart(Process::OneOverF), _) => Limit::AtMost(0.1),
            _ => Limit::AtMost(0.05),
        }
    }

    /// Periods that it has are no false ones.
    fn has_period(self, name: PeriodName) -> bool {
        match self {
            Self::Apart(Process::Daily { .. } | Process::DailyRandom) | Self::DailyApart => {
                name == PeriodName::Daily
            }
            Self::Apart(Process::Weekly) => name == PeriodName::Weekly,
            _ => false,
        }
    }
}

impl Quiet {
    /// For each claim that would be false, how many campaigns make it.
    pub fn measure(self, name: &str, campaigns: usize, seed: u64) -> Vec<Measured> {
        let claims: Vec<Claim> =
            Claim::ALL.into_iter().filter(|claim| self.load.contradicts(*claim)).collect();
        let mut counts = vec![(0, 0); claims.len()];
        for number in 0..campaigns {
            let input = self.input(&mut noise_of(name, number, seed));
            let mut analysis = analyse_history(&input, &HistoryOptions::default());
            for series in &mut analysis.series {
                series.periodicity.take_if(|found| self.load.has_period(found.name));
            }
            for (claim, (made, of)) in claims.iter().zip(&mut counts) {
                *of += usize::from(claim.is_possible(&analysis));
                *made += usize::from(claim.is_made(&analysis));
            }
        }
        let measured = claims.iter().zip(counts);
        measured
            .map(|(claim, (made, of))| Measured::share(claim.name(), made, of, self.load.limit(*claim)))
            .collect()
    }

    /// One campaign.
    pub fn input(self, noise: &mut Random) -> HistoryInput {
        let rounds = Rounds::new(self.size, noise);
        let mut made: Vec<(Series, HistoryColumns)> = Vec::new();
        let mut add = |process: Process, task: &str, target: &str, kind: SeriesKind, course: &Course| {
            let series = series(process, task, target, kind);
            let columns = columns(&series, &attempts(process, &rounds, course));
            made.push((series, columns));
        };
        let slots = rounds.slots();
        let common = self.load.common(slots, noise);
        if self.load == Load::NamesForNothing {
            let process = Process::Autoregressive(0.5);
            for task in ["list:ls -l", "list:ls -n"] {
                add(process, task, "/home", SeriesKind::Task, &process.course(slots, noise));
            }
        }
        let places = TARGETS.into_iter().zip(common.iter().cycle());
        for (task, (target, common)) in
            TASKS.iter().flat_map(|task| places.clone().map(|place| (*task, place)))
        {
            let (process, course) = self.load.course(slots, common, noise);
            add(process, task, target, SeriesKind::Task, &course);
        }
        if matches!(self.load, Load::StormsOfControlApart | Load::StormsOfHost) {
            let (process, course) = self.load.course(slots, &common[0], noise);
            add(process, "list", "/dev/shm", SeriesKind::Control, &course);
        }
        HistoryInput { series: made, events: self.load.events(&rounds, noise), ..HistoryInput::default() }
    }
}

impl Load {
    /// What series have in common: all of them, or those of each place.
    fn common(self, slots: usize, noise: &mut Random) -> Vec<Course> {
        match self {
            Self::Common => vec![Process::Autoregressive(0.9).course(slots, noise)],
            Self::NightlyJobs => TARGETS.map(|_| Course::of_nightly_jobs(slots, noise)).into(),
            _ => vec![Process::Storms.course(slots, noise)],
        }
    }

    fn course(self, slots: usize, common: &Course, noise: &mut Random) -> (Process, Course) {
        match self {
            Self::Apart(process) => (process, process.course(slots, noise)),
            Self::DailyApart => {
                let process = Process::Daily { peak: noise.unit(), coefficient: 0.0 };
                (process, process.course(slots, noise))
            }
            Self::Common => {
                (Process::Independent, together(common, Process::Independent.course(slots, noise), 0.3))
            }
            Self::StormsOfControlApart => (Process::Storms, Process::Storms.course(slots, noise)),
            Self::StormsOfHost => {
                (Process::Storms, together(common, Process::Independent.course(slots, noise), 0.5))
            }
            Self::NamesForNothing => {
                let process = Process::Autoregressive(0.5);
                (process, process.course(slots, noise))
            }
            Self::NightlyJobs => {
                (Process::Independent, together(common, Process::Independent.course(slots, noise), 1.0))
            }
            Self::MomentsAtWork => {
                let moments = Course::of_moments_at_work(slots, noise);
                (Process::Independent, together(&moments, Process::Independent.course(slots, noise), 1.0))
            }
        }
    }

    /// Notes and lines of a journal, which have nothing to do with anything.
    fn events(self, rounds: &Rounds, noise: &mut Random) -> Vec<Event> {
        let (first, last) = match rounds.moments() {
            [first, .., last] => (*first, *last),
            _ => return Vec::new(),
        };
        let mut anywhere = || first + (noise.unit() * (last - first) as f64) as i64;
        let notes: Vec<i64> = (0..NOTES).map(|_| anywhere()).collect();
        let lines: Vec<i64> = if self == Self::MomentsAtWork {
            let about_noon = |noon: i64| noon + (7200.0 * (noise.unit() - 0.5)) as i64;
            (first + NOON_SECONDS..last).step_by(86_400).map(about_noon).collect()
        } else {
            (0..JOURNAL_LINES).map(|_| anywhere()).collect()
        };
        let notes = notes.into_iter().map(|at| (EventSource::Note, "change", at));
        let lines = lines.into_iter().map(|at| (EventSource::Journal, "node failure", at));
        notes.chain(lines).enumerate().map(|(number, told)| event(number, told)).collect()
    }
}

/// The common course times a course of its own, whose logarithms are made smaller by `share`.
fn together(common: &Course, own: Course, share: f64) -> Course {
    let products = common.seconds.iter().zip(own.seconds);
    let seconds = products.map(|(common, own)| common * (own / MEDIAN_SECONDS).powf(share)).collect();
    Course { seconds, disturbed: common.disturbed.clone() }
}

fn event(number: usize, (source, kind, at): (EventSource, &str, i64)) -> Event {
    Event {
        id: format!("event{number:03}"),
        kind: kind.to_owned(),
        text: format!("{kind} {number}"),
        ..Event::of_all(source, WallTime::from_seconds(at))
    }
}
