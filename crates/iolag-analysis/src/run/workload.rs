//! How the samples of a workload are read, and what is found out. Each workload answers in its own folder.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use iolag_model::{Detail, Nanoseconds, RunRecord, WorkloadSpec, whatever_workload};

pub use super::check::analysis::CheckAnalysis;
use super::copies::of_run::CopiesRun;
use super::grouping::Grouping;
pub use super::metadata::analysis::MetadataAnalysis;
pub use super::ping::analysis::PingAnalysis;
pub use super::replay::analysis::ReplayAnalysis;
pub use super::replay::disagreements::Disagreement;
use super::replay::disagreements::first_of;
pub use super::set_up::analysis::{SetUpAnalysis, SetUpCalls};
pub use super::stream::analysis::{StreamAnalysis, StreamPhase};
pub use super::stream::copies::StreamCopies;
use super::summary::Summaries;
pub use super::surroundings::caches::StageCaches;
pub use super::trace::analysis::TraceAnalysis;
pub use super::tree::analysis::{PhaseEnding, TreeAnalysis, TreePhase};
use super::values::{CellStages, RunQuantity};
pub use super::void::{Agreement, Void};
use crate::statistics::interval::share_over::DEFAULT_THRESHOLDS;
use crate::statistics::quantile::censored::Censoring;

/// The questions to a workload.
pub trait Analysed {
    /// What is told apart in its summary: of a bench its stages.
    fn grouping(&self, record: &RunRecord) -> Grouping {
        Grouping { stages: NonZeroU32::new(record.stage_count()), ..Grouping::default() }
    }

    /// What being cut off says of a duration.
    fn censoring(&self) -> Censoring {
        Censoring::Independent
    }

    /// The durations whose share of slower attempts is summarised.
    fn thresholds(&self) -> Vec<Nanoseconds> {
        DEFAULT_THRESHOLDS.to_vec()
    }

    /// What of such a run is compared with others, planned or done.
    fn cells(&self, record: &RunRecord) -> Vec<CellStages>;

    /// By what runs of it are compared, unless the user says otherwise.
    fn compared(&self) -> RunQuantity {
        RunQuantity::Median
    }

    /// What tells a run of it from others of its campaign, by name, if its record does not say that: it is of before coordinates.
    fn coordinates(&self, _clients: u32) -> BTreeMap<String, String> {
        BTreeMap::new()
    }

    /// What its figures show, measured on the targets of these names by so many clients.
    fn title(&self, names: &str, clients: u32) -> String;

    /// Judges a run of it by summaries that tell apart what it says, censored as it says.
    fn analyse(&self, record: &RunRecord, summaries: &Summaries) -> RunAnalysis;
}

/// The workload that a spec describes.
pub const fn analysed(spec: &WorkloadSpec) -> &dyn Analysed {
    whatever_workload!(spec, spec => spec)
}

/// Makes of the list of analyses their enum, and a macro that evaluates an expression of whatever was found out.
macro_rules! analyses {
    ($dollar:tt $($(#[$about:meta])* $variant:ident($analysis:ident))*) => {
        /// What was found out about a run, whichever workload it had.
        #[derive(Debug, Clone, PartialEq)]
        pub enum RunAnalysis {
            $($(#[$about])* $variant($analysis),)*
        }

        /// The expression of whatever was found out.
        #[macro_export]
        macro_rules! whatever_analysis {
            ($dollar analysis:expr, $dollar it:ident => $dollar told:expr) => {
                match $dollar analysis { $($crate::RunAnalysis::$variant($dollar it) => $dollar told,)* }
            };
        }
    };
}

analyses! { $
    /// Of `iolag check`.
    Check(CheckAnalysis)
    /// Of `iolag bench metadata`.
    Metadata(MetadataAnalysis)
    /// Of `iolag ping`.
    Ping(PingAnalysis)
    /// Of `iolag trace`.
    Trace(TraceAnalysis)
    /// Of `iolag bench setup`.
    SetUp(SetUpAnalysis)
    /// Of `iolag bench stream`.
    Stream(StreamAnalysis)
    /// Of `iolag bench tree`.
    Tree(TreeAnalysis)
    /// Of `iolag replay`.
    Replay(ReplayAnalysis)
}

impl RunAnalysis {
    /// The same with what clients said of calls: of a replay, what came back otherwise.
    pub fn explained(mut self, details: &[Detail]) -> Self {
        if let Self::Replay(replay) = &mut self {
            replay.disagreements = first_of(details);
        }
        self
    }

    /// The run as one of copies at once, if that is what it is.
    pub fn of_copies<'a>(&'a self, record: &'a RunRecord) -> Option<CopiesRun<'a>> {
        match self {
            Self::SetUp(set_up) => {
                Some(CopiesRun::of(record, &set_up.target, &set_up.copies, set_up.work, set_up.payload))
            }
            // What is no repetition says nothing of its program.
            Self::Replay(replay) if replay.void.is_empty() => {
                Some(CopiesRun::of(record, &replay.target, &replay.copies, replay.work, replay.payload))
            }
            _ => None,
        }
    }
}

/// Judges a run by its summaries.
pub fn analyse_run(record: &RunRecord, summaries: &Summaries) -> RunAnalysis {
    analysed(&record.spec.workload).analyse(record, summaries)
}
