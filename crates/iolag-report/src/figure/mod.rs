//! Figures for papers: the figures of a report as SVG or PNG, drawn through plotters.
//!
//! ```text
//! Figures + selection -> chosen lines -> sheet and panels (plotters) -> scene -> SVG or PNG
//! ```
//!
//! Invariants: at most [`VECTOR_POINTS_MAX`] points are drawn as vectors; what is more becomes an embedded
//! image, with the longest attempts and everything that went wrong still as vectors. No font, file
//! or address outside of the figure is referred to. Nothing is left out without the caption saying so.
//! Limits: characters beyond Latin, Greek and Cyrillic are drawn as a replacement character.

mod axis;
mod calendar;
mod draw;
mod drawings;
mod error;
mod kind;
mod of_histories;
mod of_memory;
mod of_runs;
mod of_sides;
mod of_traces;
mod paper;
mod preset;
mod scene;
mod size;
mod terminal;
#[cfg(test)]
pub(crate) mod tests;

pub(crate) use draw::{
    DrawnFigure, comparison_figures, curves_figure, jobs_figure, memory_figure, trace_figure,
};
pub use draw::{FigureForm, VECTOR_POINTS_MAX, draw_comparison_figure, draw_figure, draw_history_figure};
pub use error::FigureError;
pub use kind::{FigureKind, FigureSource};
pub use of_histories::choice::{EcdfCurves, HistorySelection, HourShown, PlottedHistory};
pub use of_runs::choice::FigureSelection;
pub use of_sides::curves::{SideCurve, side_curves};
pub(crate) use of_traces::Durations;
pub use preset::FigurePreset;
pub use size::FigureSize;
pub(crate) use terminal::Bars;
pub use terminal::{
    TerminalSize, terminal_ecdf, terminal_history_ecdf, terminal_history_time_line, terminal_time_line,
};
