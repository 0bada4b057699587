//! The figures of a report as one document, and what is known about a run and its series.

use std::collections::BTreeMap;

use iolag_model::{
    ClientId, ErrorClass, Level, MonotonicTime, Nanoseconds, Operation, Outcome, Phase, RunId, RunState,
    StageIndex, Standpoint, TargetIndex,
};
use serde::{Deserialize, Serialize};

use super::activity::{Fairness, Rates};
use super::distribution::{BoxFigure, ClientBoxes, Distribution, HeatMap, HistogramFigure};
use super::episode::Episode;
use super::hang::HangSpan;
use super::sweep_figure::SweepFigure;
use super::time_line::TimeLine;
use crate::figure_column::{Detach, DetachedColumn, detach};
use crate::{
    CopiesFigure, EffectiveSampleSize, ErrorCount, HISTOGRAM_BUCKETS, Recommendation, bucket_bounds,
};

/// Version of the serialised form of the figures; raised when a reader would misread.
pub const FIGURE_SCHEMA: u32 = 1;

/// Reasons in the order of their numbers in columns.
pub(crate) const REASONS: [ErrorClass; 26] = [
    ErrorClass::None,
    ErrorClass::NotFound,
    ErrorClass::Exists,
    ErrorClass::Permission,
    ErrorClass::NoSpace,
    ErrorClass::ReadOnly,
    ErrorClass::Stale,
    ErrorClass::InputOutput,
    ErrorClass::Busy,
    ErrorClass::Interrupted,
    ErrorClass::TimedOut,
    ErrorClass::NotSupported,
    ErrorClass::Connection,
    ErrorClass::NotEmpty,
    ErrorClass::TooManyFiles,
    ErrorClass::Short,
    ErrorClass::Mismatch,
    ErrorClass::Exit,
    ErrorClass::Protocol,
    ErrorClass::Abandoned,
    ErrorClass::NotMounted,
    ErrorClass::NameResolution,
    ErrorClass::Tls,
    ErrorClass::Throttled,
    ErrorClass::Server,
    ErrorClass::Other,
];

/// Everything that the figures of a report are drawn from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Figures {
    /// [`FIGURE_SCHEMA`].
    pub schema: u32,
    /// What bucket, outcome and reason numbers mean.
    pub axis: BucketAxis,
    /// The runs, in the order in which they were asked for.
    pub runs: Vec<RunFigures>,
    /// Figures over several runs of a campaign.
    pub sweeps: Vec<SweepFigure>,
    /// Time against the copies of set-ups; pages do not have it.
    #[serde(skip)]
    #[cfg_attr(feature = "typescript", ts(skip))]
    pub copies: Vec<CopiesFigure>,
    /// How many copies of a job to run, if that was asked; pages draw it themselves.
    #[serde(skip)]
    #[cfg_attr(feature = "typescript", ts(skip))]
    pub jobs: Vec<Recommendation>,
}

impl Figures {
    /// A document of these runs.
    pub fn new(runs: Vec<RunFigures>, sweeps: Vec<SweepFigure>) -> Self {
        Self {
            schema: FIGURE_SCHEMA,
            axis: BucketAxis::new(),
            runs,
            sweeps,
            copies: Vec::new(),
            jobs: Vec::new(),
        }
    }

    /// Takes every column out, leaving empty arrays: to be carried as bytes beside the JSON.
    pub fn detach_columns(&mut self) -> Vec<DetachedColumn> {
        let mut columns = Vec::new();
        self.runs.detach("/runs", &mut columns);
        columns
    }
}

/// What the numbers in columns mean.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct BucketAxis {
    /// The shortest duration of every histogram bucket in ns, ascending. The longest is one less than the
    /// next one's shortest.
    pub lowest_ns: Vec<u64>,
    /// Names of outcomes by number.
    pub outcomes: Vec<Outcome>,
    /// Names of reasons by number.
    pub reasons: Vec<String>,
}

impl BucketAxis {
    fn new() -> Self {
        Self {
            lowest_ns: (0..HISTOGRAM_BUCKETS).map(|bucket| bucket_bounds(bucket).0).collect(),
            outcomes: Outcome::ALL.to_vec(),
            reasons: REASONS.iter().map(ErrorClass::to_string).collect(),
        }
    }
}

/// The figures of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RunFigures {
    /// What is known about it.
    pub run: RunFacts,
    /// How many samples stand behind the figures.
    pub counts: SampleCounts,
    /// What is told apart in time lines, distributions and rates.
    pub series: Vec<Series>,
    /// What is told apart in grids and by client: an operation on a target, whatever the stage.
    pub layers: Vec<Layer>,
    /// Every attempt over time.
    pub time_line: TimeLine,
    /// Per series with a known or censored duration.
    pub distributions: Vec<Distribution>,
    /// Per series with a known duration.
    pub histograms: Vec<HistogramFigure>,
    /// Per series with a known or censored duration.
    pub boxes: Vec<SeriesBox>,
    /// Per layer that more than one client worked on.
    pub client_boxes: Vec<ClientBoxes>,
    /// Durations over time.
    pub heat_map: HeatMap,
    /// Rates over time.
    pub rates: Rates,
    /// Per target with more than one client.
    pub fairness: Vec<Fairness>,
    /// Times in which attempts were slow, failed or did not end.
    pub episodes: Vec<Episode>,
    /// Times in which attempts were past their deadlines, by target: every figure of the target shows them, whatever its level.
    pub hangs: Vec<HangSpan>,
}
detach!(RunFigures { time_line, distributions, histograms, heat_map, rates, fairness });

/// What is known about a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RunFacts {
    /// Its name.
    pub id: RunId,
    /// The campaign that it belongs to.
    pub campaign: RunId,
    /// Which repetition, from 1.
    pub repetition: u32,
    /// A heading: workload, targets and clients.
    pub title: String,
    /// The command as typed, secrets removed.
    pub command: Vec<String>,
    /// What the user attached.
    pub labels: BTreeMap<String, String>,
    /// The host that measured.
    pub host: String,
    /// Where the run stands.
    pub state: RunState,
    /// Wall clock of the span's begin, ns since 1970-01-01 UTC; absent for a run without anchors.
    pub begin_realtime_ns: Option<u64>,
    /// The span's begin on the monotonic clock.
    pub begin_ns: MonotonicTime,
    /// Length of the span that times are fractions of; at least 1.
    pub span_ns: Nanoseconds,
    /// Clients of the run.
    pub clients: u32,
    /// The targets.
    pub targets: Vec<TargetFacts>,
    /// The one that nobody asked for, which the others are compared with.
    #[serde(default)]
    pub control: Option<TargetIndex>,
    /// The stages, in their order, with the times in which clients were in them.
    pub stages: Vec<StageFacts>,
    /// Thresholds of slowness, ascending.
    pub thresholds_ns: Vec<Nanoseconds>,
}

/// One target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TargetFacts {
    /// As the user named it, secrets removed.
    pub name: String,
    /// Kind of file system, or of backend.
    pub kind: String,
    /// For a target that did not answer: how long it was waited for.
    pub unanswered_ns: Option<Nanoseconds>,
}

/// One stage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct StageFacts {
    /// Its number.
    pub stage: StageIndex,
    /// Its name, as in `benchmark 2`.
    pub name: String,
    /// What it did.
    pub phase: Phase,
    /// Earliest begin of a client, as fraction of the span in units of 2^-32; absent if nobody was in it.
    pub begin: Option<u32>,
    /// Latest end of a client; absent if nobody was in it.
    pub end: Option<u32>,
}

/// How many samples stand behind the figures. `taken = attempts + stage_samples + unknown`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SampleCounts {
    /// Samples that came.
    pub taken: u64,
    /// Attempts in the series.
    pub attempts: u64,
    /// Samples that tell about a client's stage, not about an attempt.
    pub stage_samples: u64,
    /// Samples with an operation, outcome, target or stage that this iolag does not know.
    pub unknown: u64,
    /// Attempts that started outside the span: they are drawn at its edge.
    pub clamped: u64,
}

/// What is told apart: an operation on a target, in metadata runs by stage as well.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Series {
    /// For legends: operation, stage and target, as far as they differ within the run.
    pub name: String,
    /// What was asked.
    pub operation: Operation,
    /// On which level it is meant; levels are never summed.
    pub level: Level,
    /// The target.
    pub target: TargetIndex,
    /// The stage, or with many stages the phase; absent if neither is told apart.
    pub part: Option<SeriesPart>,
    /// Index of the layer that it belongs to.
    pub layer: u16,
    /// All attempts.
    pub attempts: u64,
    /// Succeeded within their deadline.
    pub ok: u64,
    /// Succeeded after their deadline.
    pub late: u64,
    /// Ended at their deadline.
    pub timeout: u64,
    /// Had not ended.
    pub hung: u64,
    /// Were due and not started.
    pub skipped: u64,
    /// Failed, by the kind of failure.
    pub errors: Vec<ErrorCount>,
    /// Bytes moved by attempts that succeeded.
    pub bytes: u64,
    /// Shortest known duration.
    pub min_ns: Option<Nanoseconds>,
    /// Longest known duration.
    pub max_ns: Option<Nanoseconds>,
    /// Longest time that was waited for an attempt that had not ended.
    pub longest_wait_ns: Option<Nanoseconds>,
    /// Attempts known to have taken longer than each of the run's thresholds.
    pub over: Vec<u64>,
    /// What the attempts are worth under autocorrelation.
    pub sample_size: EffectiveSampleSize,
}

/// Part of a run that a series is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum SeriesPart {
    /// One stage.
    Stage(StageIndex),
    /// All stages of a phase.
    Phase(Phase),
    /// One client, or the first of its group; only where a figure is made of chosen clients.
    Client(ClientId),
    /// Who measured beside the load, in one place.
    Beside(Standpoint),
}

/// An operation on a target, over all stages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Layer {
    /// For legends: operation and, if there are several, target.
    pub name: String,
    /// What was asked.
    pub operation: Operation,
    /// The target.
    pub target: TargetIndex,
}

/// The box of a series.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SeriesBox {
    /// Index of the series.
    pub series: u16,
    /// Its box; at most 0.8 % beside the exact values.
    pub durations: BoxFigure,
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_model::FailureCode;

    #[test]
    fn reasons_stand_in_the_order_of_their_classes() {
        assert!(REASONS.is_sorted());
        for code in 0..=u16::MAX {
            assert!(REASONS.binary_search(&FailureCode(code).class()).is_ok(), "{code}");
        }
    }

    #[test]
    fn the_axis_gives_every_bucket() {
        let axis = BucketAxis::new();
        assert_eq!(axis.lowest_ns.len(), HISTOGRAM_BUCKETS);
        assert_eq!((axis.lowest_ns[127], axis.lowest_ns[128], axis.lowest_ns[129]), (127, 128, 130));
        assert_eq!(axis.outcomes[3], Outcome::Hung);
        assert_eq!(axis.reasons[4], "no space left");
    }
}
