//! Analysis over history: from the columns of series to summaries, comparisons, changes, correlations and findings.
//!
//! Invariants: as everywhere in this crate, pure functions; randomness only from a stated seed; no bad moment is dropped. The
//! statistics are explained in docs/statistics.md.

mod amounts;
mod analysis;
mod association;
mod bad_overlap;
mod bad_times;
mod calendar;
mod change_moment;
mod change_points;
mod change_record;
mod change_telling;
mod comparison;
mod continuum;
mod correlation;
mod daily;
mod dip;
mod distribution;
mod drift;
mod episodes;
mod estimate;
mod event_effect;
mod event_matching;
mod factor_words;
mod figures;
mod findings;
mod findings_grouped;
mod findings_in_time;
mod findings_of_changes;
mod findings_of_drifts;
mod findings_of_endings;
mod findings_of_series;
mod findings_of_tails;
mod findings_of_time;
mod findings_together;
mod fundamental;
mod gaps;
mod incident;
mod incident_places;
mod join;
mod lag;
mod ledger;
mod levels;
mod matrix;
mod modes;
mod observed;
mod pairs;
mod peaks;
mod periodicity;
mod periodogram;
mod permutation;
#[cfg(test)]
mod samples;
mod series_analysis;
mod series_summary;
mod shares;
mod shift;
mod source;
mod spells;
mod strata;
mod tally;
mod weighting;

pub use crate::statistics::ledger::{benjamini_hochberg, holm};
pub use analysis::{
    HISTORY_SCHEMA, HistoryAnalysis, HistoryInput, HistoryOptions, SeriesComparison, Told, analyse_history,
    analyse_source,
};
pub use association::{Association, associate, default_association_tolerance};
pub use bad_overlap::{BadOverlap, Place};
pub use bad_times::RaisedLevel;
pub use calendar::{
    Day, GroupRates, HourByDay, LocalMoment, LocalTime, RatesInTime, Weekday, hour_by_day, rates_in_time,
};
pub use change_moment::ChangeMoment;
pub use change_points::{
    ChangeOptions, ChangePoint, ChangeShape, ChangeStrength, Changes, NotTold, Segment, find_changes,
    segments_of,
};
pub use comparison::{
    ComparedSide, Comparison, ComparisonOptions, ComparisonVerdict, KindsOfDay, ShareChange, Strata,
    Stratify, compare,
};
pub use correlation::{Correlation, CorrelationMethod, PAIRS_LEAST, Strength, correlate, pearson, spearman};
pub use daily::DailyLevels;
pub use dip::{dip_critical, dip_statistic};
pub use distribution::{CurveDistance, CurvePoint, Distribution, KnowledgeCounts};
pub use drift::{Drift, RecordEnds};
pub use episodes::{Episode, EpisodeOptions, SeriesEpisode, find_episodes, merge_episodes};
pub use estimate::{Estimate, EstimateInterval, HistoryQuantile, amount_in_words};
pub use event_effect::{ChangesNearEvent, EventEffect, EventWindows, event_effect};
pub use event_matching::{
    EventMatch, EventMatching, EventPlace, concerns, default_match_tolerance, match_events, place_of_event,
};
pub use figures::{
    BeforeAfter, CURVE_POINTS, ChangeMark, CorrelationFigure, Curve, CurveEnd, DayMatrix, EventMark,
    HISTORY_FIGURE_SCHEMA, HangState, HistoryAxis, HistoryFigures, HistoryHang, HistoryPoints, HostLoad,
    LOAD_COLUMNS, LagCoefficientMark, PairCell, PointColumns, RIBBON_COLUMNS, RibbonMarks, Ribbons,
    STATE_BELOW, SeriesFigure, SlotCounts, ValueColumns, history_figures,
};
pub use findings::{FindingKind, HistoryFinding};
pub use gaps::{Gap, GapRecord, time_in_gaps};
pub use incident::{Incident, IncidentPeriod, PastDeadline, PeriodImpact, SeriesImpact, find_incident};
pub use incident_places::{PlaceEffect, PlaceImpact, Seen};
pub use join::{Pair, default_tolerance, join_nearest};
pub use lag::{LagCoefficient, LagScan, scan_lags};
pub use levels::LevelRatio;
pub use matrix::{CorrelatedPair, CorrelationMatrix, MatrixOptions, Variable};
pub use modes::{MODES_ATTEMPTS, MODES_MOST, Mode, Modes, separated_modes};
pub use observed::{Knowledge, Quantity, TimedValues};
pub use periodicity::{PeriodName, Periodicity, PhaseBin, PhaseProfile, find_periodicity};
pub use periodogram::{PeriodogramPoint, lomb_scargle, lomb_scargle_at};
pub use permutation::{BLOCKS_LEAST, block_length, correlation_time};
pub use series_analysis::{LastFailure, SeriesAnalysis};
pub use series_summary::{
    BesideSummary, ConfigurationSummary, Regime, SeriesSummary, SummaryOptions, WeightedSummary,
    summarise_series,
};
pub use shares::{OutcomeRates, Rate, ShareDifference, ThresholdShare, share_difference, shares_over};
pub use shift::{Greater, Shift, ShiftEstimate, ShiftInterval, ShiftScale};
pub use source::{SampleSource, last_failed};
pub use strata::{CovariateLevel, CovariateStrata};
pub use tally::{
    DurationTally, NATIVE_SCHEMA, RunOutcome, SeriesTally, Tallies, native_bucket, tally_bounds,
};
pub use weighting::{
    Blockers, ByAttempt, ByTime, LeftOut, Observation, Observations, Origin, Weight, Weighting,
};
