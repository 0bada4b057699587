//! The data behind the figures of a report.
//!
//! ```text
//! batches of columns -> FigureEngine -> RunFigures -> Figures -> JSON and detached columns -> the page
//! ```
//!
//! Invariants: every attempt is a point, counted in a density cell, or a mark; decimation keeps the longest
//! attempt of every time column; what is merged equals what would have been recorded at once, but for the
//! effective sample size (see [`crate::Sequence::merge`]). docs/report-data.md tells what each field means.

pub(crate) mod document;
pub(crate) mod recorder;

pub use crate::figure_column::{Column8, Column16, Column32, ColumnFloat, ColumnKind, DetachedColumn};
pub use document::activity::{FAIRNESS_BINS, Fairness, FairnessLine, RATE_BINS, Rates, StageFairness};
pub use document::distribution::{
    BINS_PER_DECADE, BoxFigure, CLIENTS_SHOWN_MAX, CURVE_POINTS_PER_BIN, ClientBox, ClientBoxes,
    ClientsShown, DISTRIBUTION_STEPS_MAX, Distribution, HeatMap, HeatMapLayer, HistogramFigure, ShareAt,
    ShareAtLeast,
};
pub use document::episode::{
    Episode, EpisodeSeries, Peak, Trouble, TroubleCounts, TroubleKind, episodes, gap_of,
};
pub use document::hang::HangSpan;
pub use document::run_figures::{
    BucketAxis, FIGURE_SCHEMA, Figures, Layer, RunFacts, RunFigures, SampleCounts, Series, SeriesBox,
    SeriesPart, StageFacts, TargetFacts,
};
pub use document::sweep_figure::{SweepFigure, SweepFigurePoint, SweepRate, SweepRun, Varied, sweep_figures};
pub use document::time_line::{
    DURATION_ROWS_MAX, Density, DensityLayer, MARKS_MAX, MarkColumns, MarkCounts, Marks, POINTS_MAX, Points,
    TIME_COLUMNS, TimeLine, TimeLineForm,
};
pub use recorder::engine::{FIGURE_COLUMNS, FigureEngine};
pub use recorder::plan::{
    Apart, CLIENTS_APART_MAX, FigureChoice, FigureLimits, FigurePlan, STAGES_APART_MAX, SpanFinder, TimeSpan,
};
