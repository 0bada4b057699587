//! Analysis over history: from the columns of series to summaries, comparisons, changes, correlations and findings.
//!
//! Invariants: as everywhere in this crate, pure functions; randomness only from a stated seed; no bad moment is dropped. The
//! statistics are explained in docs/statistics.md.

mod association;
mod change_points;
mod correlation;
mod energy;
mod episodes;
mod event_matching;
mod fourier;
mod gaps;
mod join;
mod lag;
mod levels;
mod matrix;
mod observed;
mod periodicity;
mod periodogram;
mod permutation;
#[cfg(test)]
mod samples;

pub use association::{Association, associate, default_association_tolerance};
pub use change_points::{ChangeOptions, ChangePoint, Segment, find_changes, segments_of};
pub use correlation::{Correlation, CorrelationMethod, PAIRS_LEAST, Strength, correlate, pearson, spearman};
pub use energy::{CELLS_MOST, Split, energy_split};
pub use episodes::{Episode, EpisodeOptions, SeriesEpisode, find_episodes, merge_episodes};
pub use event_matching::{EventMatch, EventMatching, concerns, default_match_tolerance, match_events};
pub use gaps::{Gap, find_gaps};
pub use join::{Pair, default_tolerance, join_nearest};
pub use lag::{LagCoefficient, LagScan, scan_lags};
pub use levels::LevelRatio;
pub use matrix::{CorrelatedPair, CorrelationMatrix, MatrixOptions, Variable, correlation_matrix};
pub use observed::{Knowledge, Quantity, TimedValues};
pub use periodicity::{PeriodName, Periodicity, PhaseBin, PhaseProfile, find_periodicity};
pub use periodogram::{PeriodogramPoint, baluev_false_alarm, lomb_scargle, lomb_scargle_at};
pub use permutation::{BLOCKS_LEAST, benjamini_hochberg, block_length, correlation_time};
