//! Pure functions from samples to summaries and findings.
//!
//! ```text
//! batches of columns -> Engine -> Summaries -> analyse_check / analyse_metadata / analyse_ping -> findings and verdicts
//! ```
//!
//! Invariants: no I/O, no clock, no randomness but from a stated seed; no attempt is dropped by any
//! estimator; what is merged equals what would have been recorded at once. The statistics are explained in
//! docs/statistics.md.

pub mod compare;
mod explain;
mod figure_column;
mod finding;
pub mod history;
mod parallel;
mod run;
mod statistics;

pub use explain::command::{CommandExplanation, explain_command};
pub use explain::explain;
pub use finding::basis::Basis;
pub use finding::of_histories::HistoryFound;
pub use finding::of_runs::*;
pub use finding::words::{capitalised, duration_in_words, factor_in_words, joined, share_in_words};
pub use finding::{Finding, FollowedFailure, FoundInStages, Saying, Severity, WasFound};
pub use parallel::map as map_in_parallel;
pub use run::beside::analysis::{BesideAnalysis, BesideCell, BesideRow, BesideTime, LoadStage};
pub use run::beside::felt::{Felt, FeltOfRun};
pub use run::beside::times::TimesAsLong;
pub use run::check::analysis::{DirectoryAnalysis, analyse_check};
pub use run::check::partial_create::PartialCreate;
pub use run::check::rows::{KNOWN_ROWS, KNOWN_ROWS_WITH_SERVERS};
pub use run::check::told_once::{FoundInDirectories, ToldFindings};
pub use run::check::verdict::{Feeling, Verdict};
pub use run::clustering::second_reading::Clustering;
pub use run::copies::against::{CopiesFigure, CopiesLevel, CopiesPoint, SlowestMissing, copies_figures};
pub use run::copies::at_work::CopiesAtWork;
pub use run::copies::line::{
    BLOCKS_NEEDED, CopiesLine, CopiesShape, LEVELS_NEEDED, STRAIGHT_WITHIN, copies_line,
};
pub use run::copies::of_run::{CopiesRun, Pauses};
pub use run::copies::payload::PayloadTimes;
pub use run::copies::recommend::answer::{JobAnswer, JobRefusal, Recommendation, recommendations};
pub use run::copies::recommend::level::{JobLevel, JobRate, JobStanding, SAME_WITHIN};
pub use run::copies::recommend::payload::JobPayload;
pub use run::copies::recommend::setting::JobSetting;
pub use run::copies::recommend::share::{JobTimeouts, LimitVerdict, Needed};
pub use run::copies::recommend::slot::{JobBound, JobQuestion};
pub use run::copies::time::{CopiesJudgement, CopiesTime, CopyEnding, CopyTime};
pub use run::copies::waits::WaitsFor;
pub use run::engine::Engine;
pub use run::figure;
pub use run::grouping::Grouping;
pub use run::metadata::analysis::analyse_metadata;
pub use run::metadata::lost_objects::LostObjects;
pub use run::metadata::self_read::{SelfReadShare, same_node_share, self_read_share};
pub use run::metadata::stage::Unfinished;
pub use run::metadata::stage::{OperationRow, StageAnalysis, WorkingSetChange};
pub use run::metadata::working_set::WorkingSet;
pub use run::parts::part::PartSpent;
pub use run::parts::quantity::ProfileQuantity;
pub use run::parts::spent::TimeSpent;
pub use run::ping::analysis::analyse_ping;
pub use run::ping::counts::PingCounts;
pub use run::stage_names::stage_name;
pub use run::stage_rates::{StageClock, StageTimes};
pub use run::standing::Standing;
pub use run::summary::{
    DurationSummary, ErrorCount, HeldUp, Partial, Precision, QuantileEstimate, QuantileInterval,
    SUMMARY_SCHEMA, Silence, StageClient, StageEnding, Summaries, Summary, SummaryKey, TwoModes,
    UnknownSamples,
};
pub use run::surroundings::caches::CachesTime;
pub use run::surroundings::memory::MemoryOfIterations;
pub use run::surroundings::processor_time::ProcessorShare;
pub use run::sweep::{
    RATES_NEEDED, REPETITION_FACTOR, REPETITION_SIGNIFICANCE, Repetition, RepetitionComparison,
    RepetitionJudgement, SWEEP_SIZES_NEEDED, Stability, SweepPoint, compare_repetitions, stable_from,
};
pub use run::trace::analysis::{TraceContent, analyse_trace};
pub use run::trace::lists::{Searched, SetVariables};
pub use run::values::{
    Cell, CellStages, CellValue, RunAmount, RunQuantity, RunValues, UnknownQuantity, run_values,
};
pub use run::workload::*;
pub use statistics::change::trend::drift;
pub use statistics::comparison::kruskal_wallis::{chi_squared_above, kruskal_wallis};
pub use statistics::dependence::block_sums::{SEQUENCE_BLOCKS, Sequence};
pub use statistics::dependence::effective_size::{
    Level, STRETCHES_MOST, beyond_quantile, effective_sample_size_of, stretches_of, worth_of_share,
};
pub use statistics::dependence::long_memory::LongMemory;
pub use statistics::dependence::worth::{EffectiveSampleSize, QuantileWorth, Stretch, Worth, lower_end_of};
pub use statistics::interval::estimate::{Amount, Estimate, Interval, Quantile};
pub use statistics::interval::ranks_and_shares::{
    RankInterval, ShareInterval, attempts_needed, effective_quantile_ranks, quantile_ranks, ranks_by_worth,
    share_interval,
};
pub use statistics::interval::share_over::{DEFAULT_THRESHOLDS, ShareOver};
pub use statistics::quantile::censored::{
    CensoredRanks, CensoredStep, Censoring, QuantileValue, median_of, quantile_of, quantile_type_7,
};
pub use statistics::quantile::histogram::{
    HISTOGRAM_BUCKETS, HISTOGRAM_RELATIVE_ERROR, Histogram, bucket_bounds, bucket_of, middle_of,
};
pub use statistics::quantile::interpolated::{Interpolated, InterpolatedQuantiles};
pub use statistics::runs::difference::{RunDifference, RunMethod};
pub use statistics::runs::log_range::LogRange;
pub use statistics::runs::needed::RUNS_LEAST;
pub use statistics::runs::pairing::RunPairing;
pub use statistics::runs::stopping::{RUN_LOOKS, is_precise};
pub use statistics::runs::table::{CampaignEnding, ComparedRuns, ComparedWord, RunCell, compare_runs};
pub use statistics::student::CONFIDENCE;
