//! The data behind the pictures of a report.
//!
//! ```text
//! batches of columns -> FigureEngine -> RunFigures -> Figures -> JSON and detached columns -> the page
//! ```
//!
//! Invariants: every attempt is a point, counted in a density cell, or a mark; decimation keeps the longest
//! attempt of every time column; what is merged equals what would have been recorded at once, but for the
//! effective sample size (see [`crate::Sequence::merge`]). docs/report-data.md tells what each field means.

mod activity;
mod clients;
pub(crate) mod column;
mod distribution;
mod draw;
mod engine;
mod episode;
mod grid;
mod hangs;
mod marks;
mod plan;
mod run_figures;
mod series;
mod shape;
mod sweep_figure;
mod time_line;

pub use activity::{FAIRNESS_BINS, Fairness, FairnessLine, RATE_BINS, Rates, StageFairness};
pub use column::{Column8, Column16, Column32, ColumnFloat, ColumnKind, DetachedColumn};
pub use distribution::{
    BINS_PER_DECADE, BoxFigure, CLIENTS_SHOWN_MAX, CURVE_POINTS_PER_BIN, ClientBox, ClientBoxes,
    ClientsShown, DISTRIBUTION_STEPS_MAX, Distribution, HeatMap, HeatMapLayer, HistogramFigure, ShareAt,
    ShareAtLeast,
};
pub use engine::{FIGURE_COLUMNS, FigureEngine};
pub use episode::{Episode, EpisodeSeries, Peak, Trouble, TroubleCounts, TroubleKind, episodes, gap_of};
pub use hangs::HangSpan;
pub use plan::{
    Apart, CLIENTS_APART_MAX, FigureChoice, FigureLimits, FigurePlan, STAGES_APART_MAX, SpanFinder, TimeSpan,
};
pub use run_figures::{
    BucketAxis, FIGURE_SCHEMA, Figures, Layer, RunFacts, RunFigures, SampleCounts, Series, SeriesBox,
    SeriesPart, StageFacts, TargetFacts,
};
pub use sweep_figure::{SweepFigure, SweepFigurePoint, SweepRate, SweepRun, Varied, sweep_figures};
pub use time_line::{
    DURATION_ROWS_MAX, Density, DensityLayer, MARKS_MAX, MarkColumns, MarkCounts, Marks, POINTS_MAX, Points,
    TIME_COLUMNS, TimeLine, TimeLineForm,
};
