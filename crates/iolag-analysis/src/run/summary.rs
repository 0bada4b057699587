//! Summaries: what samples of one operation in one place say together.
//!
//! Invariant: no attempt is dropped. Durations of attempts that succeeded (also late) and of those that are
//! censored make the quantiles; durations of failed attempts are summarised apart, since an error's duration
//! says nothing of how long the operation takes.

use std::collections::BTreeMap;

use iolag_model::{
    ClientId, ErrorClass, MonotonicTime, Nanoseconds, Operation, StageIndex, TargetIndex, Trust, counted,
};
use serde::{Deserialize, Serialize};

use crate::run::parts::part::PartSpent;
use crate::statistics::dependence::worth::EffectiveSampleSize;
use crate::statistics::interval::estimate::{Interval, Quantile};
use crate::statistics::interval::share_over::ShareOver;
use crate::statistics::quantile::censored::QuantileValue;
use crate::statistics::quantile::interpolated::InterpolatedQuantiles;

/// Version of the serialised form of everything in this crate; raised when a reader would misread.
pub const SUMMARY_SCHEMA: u32 = 1;

/// All summaries of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summaries {
    /// [`SUMMARY_SCHEMA`].
    pub schema: u32,
    /// How quantiles were found.
    pub precision: Precision,
    /// Samples that were summarised.
    pub samples: u64,
    /// One per key, in the order of the keys.
    pub summaries: Vec<Summary>,
    /// Each client's time in each stage.
    pub stage_clients: Vec<StageClient>,
    /// Samples that are in none of them.
    #[serde(default)]
    pub unknown: UnknownSamples,
}

/// Samples that this iolag does not understand: a newer one wrote them, or they are damaged.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct UnknownSamples {
    /// How many by the number of an operation that it does not know.
    pub operations: BTreeMap<i32, u64>,
    /// How many with another outcome, stage, target or client than run.json and this iolag know.
    pub others: u64,
}

impl UnknownSamples {
    pub(crate) fn merge(&mut self, other: Self) {
        for (operation, samples) in other.operations {
            *self.operations.entry(operation).or_default() += samples;
        }
        self.others += other.others;
    }

    /// What is to be known of them before trusting a table.
    pub fn trust(&self) -> Vec<Trust> {
        const NUMBERS_SHOWN_MAX: usize = 10;
        let mut trust = Vec::new();
        if !self.operations.is_empty() {
            let mut numbers: Vec<_> =
                self.operations.keys().take(NUMBERS_SHOWN_MAX).map(ToString::to_string).collect();
            if self.operations.len() > NUMBERS_SHOWN_MAX {
                numbers.push("…".to_owned());
            }
            trust.push(Trust {
                doubt: format!(
                    "{} of {} that this iolag does not know ({} {}) are in no table",
                    counted(self.operations.values().sum(), "sample", "samples"),
                    counted(self.operations.len() as u64, "operation", "operations"),
                    if numbers.len() == 1 { "number" } else { "numbers" },
                    numbers.join(", ")
                ),
                advice: "look at the run with the iolag that measured it, or a newer one".into(),
            });
        }
        if self.others > 0 {
            trust.push(Trust {
                doubt: format!(
                    "{} with an outcome, stage, target or client that this iolag does not know are in no table",
                    counted(self.others, "sample", "samples")
                ),
                advice: "look at the run with the iolag that measured it, or a newer one".into(),
            });
        }
        trust
    }
}

/// How quantiles are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Precision {
    /// From every duration.
    Exact,
    /// From a histogram: at most 0.8 % beside the exact value.
    Histogram,
}

/// What a summary is about. What was not told apart is absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SummaryKey {
    /// In which stage.
    pub stage: Option<StageIndex>,
    /// On which target.
    pub target: Option<TargetIndex>,
    /// By which client.
    pub client: Option<ClientId>,
    /// What was asked.
    pub operation: Operation,
}

/// What the samples of one key say.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// What this is about.
    #[serde(flatten)]
    pub key: SummaryKey,
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
    /// Were ended by whoever measured, before they were done, or not made though they were due. Who had no time left took at
    /// least so long; of who was cut off nothing is known.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub interrupted: u64,
    /// Failed, and their clients asked again: neither failures nor in any duration, since the attempts after them tell what came
    /// of it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub retried: u64,
    /// Of those that were not made: the ones without a bound, since iolag itself was in the way.
    #[serde(default, skip_serializing_if = "HeldUp::is_nothing")]
    pub held_up: HeldUp,
    /// What the interrupted ones had done; absent if nothing of that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial: Option<Partial>,
    /// Failed, by the kind of failure.
    pub errors: Vec<ErrorCount>,
    /// Durations of the attempts that succeeded or are censored.
    pub durations: DurationSummary,
    /// Durations of the attempts that failed; absent without any.
    pub failed: Option<DurationSummary>,
    /// Bytes moved by attempts that succeeded.
    pub bytes: u64,
    /// Start of the first attempt; absent if starts were not read.
    pub first_start_ns: Option<MonotonicTime>,
    /// Last end, or last look at what had not ended.
    pub last_end_ns: Option<MonotonicTime>,
    /// Since when attempts hung or timed out; absent if none did, or starts were not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub silence: Option<Silence>,
    /// Attempts that succeeded, by the time of the stage ([`crate::StageClock`]); absent where stages are not told apart: what a
    /// schedule or a budget asked for is no rate of the target.
    pub rate_per_second: Option<f64>,
    /// What the parts of requests to a server took, of all attempts that succeeded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<PartSpent>,
}

impl Summary {
    /// Attempts that succeeded, also late.
    pub const fn succeeded(&self) -> u64 {
        self.ok + self.late
    }

    /// Attempts of which a lower bound is known at most.
    pub const fn censored(&self) -> u64 {
        self.timeout + self.hung + self.skipped + self.interrupted
    }

    /// Attempts that failed.
    pub fn failures(&self) -> u64 {
        self.errors.iter().map(|error| error.count).sum()
    }
}

/// Attempts that were due and not made while iolag was removing what the one before had made. They are in no duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct HeldUp {
    /// Of those that were skipped: the removal passed the deadline.
    pub skipped: u64,
    /// Of the interrupted ones: it only took longer than the interval.
    pub interrupted: u64,
}

/// When attempts of a row hung or timed out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Silence {
    /// Start of the first of them.
    pub since_ns: MonotonicTime,
    /// Last end of an attempt of the row that ended by itself; absent if none did.
    pub answered_ns: Option<MonotonicTime>,
}

impl HeldUp {
    const fn is_nothing(&self) -> bool {
        self.skipped + self.interrupted == 0
    }
}

/// How far interrupted attempts came, all together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Partial {
    /// Bytes moved.
    pub bytes: u64,
    /// In so long.
    pub duration_ns: Nanoseconds,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives references")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Failed attempts of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ErrorCount {
    /// The kind.
    pub class: ErrorClass,
    /// How many.
    pub count: u64,
}

/// A client's time in a stage, from its `stage` sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct StageClient {
    /// The stage.
    pub stage: StageIndex,
    /// The client.
    pub client: ClientId,
    /// Start of its first operation; in runs of iolag 0.1.0, when it was awake after the meeting.
    pub start_ns: MonotonicTime,
    /// How long it took from then to the end of its last operation, or its age if it did not end.
    pub duration_ns: Nanoseconds,
    /// Operations that the client did.
    pub operations: u64,
    /// Whether it ended.
    pub ending: StageEnding,
}

/// Whether a client's stage ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StageEnding {
    /// It did.
    Ended,
    /// It failed or had not ended.
    Unfinished,
}

/// Durations, known and censored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DurationSummary {
    /// Durations, known and censored.
    pub count: u64,
    /// Of these, only a lower bound is known.
    pub censored: u64,
    /// What they are worth under autocorrelation.
    pub sample_size: EffectiveSampleSize,
    /// Shortest.
    pub min: QuantileValue,
    /// First quartile.
    pub p25: QuantileEstimate,
    /// Median.
    pub median: QuantileEstimate,
    /// Third quartile.
    pub p75: QuantileEstimate,
    /// 90 %.
    pub p90: QuantileEstimate,
    /// 95 %.
    pub p95: QuantileEstimate,
    /// 99 %.
    pub p99: QuantileEstimate,
    /// Longest; "at least" if that is a censored one.
    pub max: QuantileValue,
    /// What of it is compared between units, which may have few attempts; absent without any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interpolated: Option<InterpolatedQuantiles>,
    /// Mean of the known durations in ns; absent if any is censored, since it would be too small.
    pub mean_ns: Option<f64>,
    /// Shares over thresholds, ascending.
    pub shares: Vec<ShareOver>,
    /// Means in ns of up to 32 equal parts in order: drift shows here.
    pub part_means_ns: Vec<f64>,
    /// Two groups of durations far apart, if there are.
    pub modes: Option<TwoModes>,
}

/// A quantile of durations with its uncertainty.
pub type QuantileEstimate = Quantile<Nanoseconds>;
/// 95 % interval of a quantile of durations.
pub type QuantileInterval = Interval<Nanoseconds>;

/// Two groups of durations with hardly anything between them: often a cache and the price of missing it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TwoModes {
    /// Share of the fast group among the known durations.
    pub fast_share: f64,
    /// Median of the fast group.
    pub fast_ns: Nanoseconds,
    /// Median of the slow group.
    pub slow_ns: Nanoseconds,
}
