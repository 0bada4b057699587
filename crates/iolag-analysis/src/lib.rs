//! Pure functions from samples to summaries and findings.
//!
//! ```text
//! batches of columns -> Engine -> Summaries -> analyse_check / analyse_metadata / analyse_ping -> findings and verdicts
//! ```
//!
//! Invariants: no I/O, no clock, no randomness but from a stated seed; no attempt is dropped by any
//! estimator; what is merged equals what would have been recorded at once. The statistics are explained in
//! docs/statistics.md.

mod check;
mod check_comparison;
mod check_few;
mod check_findings;
mod check_ranking;
mod check_stopped;
mod check_told;
mod clustering;
mod engine;
pub mod figure;
mod finding;
mod finding_kind;
mod group;
mod histogram;
pub mod history;

mod merging;
mod metadata;
mod parallel;
mod partial_create;
mod ping;
mod quantile;
mod self_read;
mod stage_clock;
mod stage_endings;
mod stage_findings;
mod statistics;
mod steadiness;
mod summary;
mod sweep;
mod synthetic;
mod values;
mod verdict;
mod working_set;

pub use check::{CheckAnalysis, DirectoryAnalysis, analyse_check};
pub use check_told::ToldFindings;
pub use clustering::Clustering;
pub use engine::{Engine, Grouping};
pub use finding::{Evidence, EvidenceAmount, Finding, Severity, duration_in_words};
pub use finding_kind::{Basis, RunFindingKind};
pub use histogram::{
    HISTOGRAM_BUCKETS, HISTOGRAM_RELATIVE_ERROR, Histogram, bucket_bounds, bucket_of, middle_of,
};
pub use metadata::{
    MetadataAnalysis, OperationRow, StageAnalysis, WorkingSetChange, analyse_metadata, stage_name,
};
pub use partial_create::PartialCreate;
pub use ping::{PingAnalysis, PingCounts, analyse_ping};
pub use quantile::{
    CensoredRanks, CensoredStep, Censoring, QuantileValue, certain_quantile_of, median_of, quantile_of,
    quantile_type_7,
};
pub use self_read::{SelfReadShare, same_node_share, self_read_share};
pub use stage_clock::{StageClock, StageTimes};
pub use stage_endings::Unfinished;
pub use statistics::dependence::{
    EffectiveSampleSize, Level, QuantileWorth, STRETCHES_MOST, Stretch, Worth, beyond_quantile,
    effective_sample_size_of, lower_end_of, stretches_of, worth_of_share,
};
pub use statistics::estimate::{Amount, Estimate, Interval, Quantile};
pub use statistics::interval::{
    CONFIDENCE, RankInterval, ShareInterval, attempts_needed, effective_quantile_ranks, quantile_ranks,
    ranks_by_worth, share_interval,
};
pub use statistics::memory::LongMemory;
pub use statistics::sequence::{SEQUENCE_BLOCKS, Sequence};
pub use summary::{
    DEFAULT_THRESHOLDS, DurationSummary, ErrorCount, HeldUp, Partial, Precision, QuantileEstimate,
    QuantileInterval, SUMMARY_SCHEMA, ShareOver, Silence, StageClient, StageEnding, Summaries, Summary,
    SummaryKey, TwoModes, UnknownSamples,
};
pub use sweep::{
    RATES_NEEDED, REPETITION_FACTOR, REPETITION_SIGNIFICANCE, Repetition, RepetitionComparison,
    RepetitionJudgement, SWEEP_SIZES_NEEDED, Stability, SweepPoint, chi_squared_above, compare_repetitions,
    drift, kruskal_wallis, stable_from,
};
pub use synthetic::Noise;
pub use verdict::{Feeling, KNOWN_ROWS, Verdict};
pub use working_set::{LostObjects, WorkingSet};
