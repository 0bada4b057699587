//! Analysis over history: from the columns of series to summaries, comparisons, changes, correlations and findings.
//!
//! Invariants: as everywhere in this crate, pure functions; randomness only from a stated seed; no bad moment is dropped. The
//! statistics are explained in docs/statistics.md.

pub(crate) mod analyse;
pub(crate) mod analysis;
pub(crate) mod calendar;
pub(crate) mod changes;
pub(crate) mod comparison;
pub(crate) mod configurations;
pub(crate) mod correlation;
pub(crate) mod episodes;
pub(crate) mod figures;
pub(crate) mod findings;
pub(crate) mod incident;
pub(crate) mod input;
pub(crate) mod multiple_testing;
pub(crate) mod options;
pub(crate) mod series;
pub(crate) mod source;
pub(crate) mod tally;

pub use crate::finding::of_histories::*;
pub use crate::finding::slow_level::{BeforeLevel, LongAsARule, SlowBefore, ToldLevel};
pub use crate::statistics::comparison::shift::{Greater, Shift, ShiftEstimate, ShiftInterval, ShiftScale};
pub use crate::statistics::dependence::correlation_time::{BLOCKS_LEAST, block_length, correlation_time};
pub use crate::statistics::dip::{dip_critical, dip_statistic};
pub use crate::statistics::knowledge::Knowledge;
pub use crate::statistics::multiple_testing::{benjamini_hochberg, holm};
pub use crate::statistics::spectrum::periodogram::{PeriodogramPoint, lomb_scargle, lomb_scargle_at};
pub use analyse::{analyse_history, analyse_source};
pub use analysis::{HISTORY_SCHEMA, HistoryAnalysis, SeriesComparison};
pub use calendar::daily_levels::DailyLevels;
pub use calendar::local_time::{Day, LocalMoment, LocalTime, Weekday};
pub use calendar::outcome_shares::{GroupRates, HourByDay, RatesInTime, hour_by_day, rates_in_time};
pub use calendar::periodicity::{PeriodName, Periodicity, PhaseBin, PhaseProfile, find_periodicity};
pub use changes::change_point::{ChangePoint, ChangeShape, ChangeStrength, NotTold, Segment, segments_of};
pub use changes::direction::Direction;
pub use changes::drift::{Drift, RecordEnds};
pub use changes::event_effect::{ChangesNearEvent, EventEffect, EventWindows, event_effect};
pub use changes::event_matching::{
    EventMatch, EventMatching, EventPlace, concerns, default_match_tolerance, match_events, place_of_event,
};
pub use changes::levels::LevelRatio;
pub use changes::moment::ChangeMoment;
pub use changes::nights::find_changes_of_nights;
pub use changes::options::ChangeOptions;
pub use changes::runs::Runs;
pub use changes::search::{Changes, find_changes};
pub use comparison::{
    ComparedSide, Comparison, ComparisonOptions, ComparisonVerdict, KindsOfDay, ShareChange, Strata,
    Stratify, compare,
};
pub use configurations::by_day::{AttemptsTold, ConfigurationByDay, DayTold, MeanLimit, TaskByDay};
pub use configurations::ranking::{
    AttributeLevel, HOSTS_LEAST, HostRanking, HostSeen, LevelDifference, RankedAttribute, RankingVerdict,
    Standing, TaskOfHosts, rank_hosts,
};
pub use configurations::restricted_mean::RestrictedMean;
pub use configurations::standardised::HostAttempts;
pub use correlation::coefficient::{
    Correlation, CorrelationMethod, PAIRS_LEAST, Strength, correlate, pearson, spearman,
};
pub use correlation::join::{Pair, default_tolerance, join_nearest};
pub use correlation::lag::{LagCoefficient, LagScan, scan_lags};
pub use correlation::matrix::{CorrelatedPair, CorrelationMatrix, MatrixOptions, Variable};
pub use episodes::association::{Association, associate, default_association_tolerance};
pub use episodes::bad_overlap::{BadOverlap, Place};
pub use episodes::gaps::{Gap, GapRecord, time_in_gaps};
pub use episodes::search::{Episode, EpisodeOptions, SeriesEpisode, find_episodes, merge_episodes};
pub use figures::axis::{HistoryAxis, STATE_BELOW};
pub use figures::curves::{BeforeAfter, CURVE_POINTS, Curve, CurveEnd};
pub use figures::days::DayMatrix;
pub use figures::document::{
    HISTORY_FIGURE_SCHEMA, HistoryFigures, SeriesFigure, SlotCounts, history_figures,
};
pub use figures::hangs::{HangState, HistoryHang};
pub use figures::marks::{ChangeMark, CorrelationFigure, EventMark, LagCoefficientMark, PairCell};
pub use figures::points::{
    HistoryPoints, HostLoad, LOAD_COLUMNS, PointColumns, RIBBON_COLUMNS, RibbonMarks, Ribbons, ValueColumns,
};
pub use findings::said_together::ToldFinding;
pub use incident::analysis::{Incident, PastDeadline, find_incident};
pub use incident::bad_times::RaisedLevel;
pub use incident::impact::{IncidentPeriod, PeriodImpact, SeriesImpact};
pub use incident::places::{PlaceEffect, PlaceImpact};
pub use incident::seen::Seen;
pub use input::{BesideSamples, HistoryInput};
pub use options::HistoryOptions;
pub use series::analysis::{LastFailure, SeriesAnalysis};
pub use series::covariates::{CovariateLevel, CovariateStrata};
pub use series::distribution::{CurveDistance, CurvePoint, Distribution, KnowledgeCounts};
pub use series::estimate::{Estimate, EstimateInterval, HistoryQuantile, amount_in_words};
pub use series::modes::{MODES_ATTEMPTS, MODES_MOST, Mode, Modes, separated_modes};
pub use series::observations::{
    Blockers, ByAttempt, ByTime, LeftOut, Observation, Observations, Origin, Weight, Weighting,
};
pub use series::shares::{
    OutcomeRates, Rate, ShareDifference, ThresholdShare, share_difference, shares_over,
};
pub use series::summary::{
    BesideSummary, ConfigurationSummary, Regime, SeriesSummary, SummaryOptions, WeightedSummary,
    summarise_series,
};
pub use series::timed_values::{Quantity, TimedValues};
pub use source::{SampleSource, blockers_asked, last_failed};
pub use tally::durations::{DurationTally, NATIVE_SCHEMA, native_bucket, tally_bounds};
pub use tally::series_tally::{RunOutcome, SeriesTally, Tallies};
