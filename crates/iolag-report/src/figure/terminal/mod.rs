//! Figures for terminals without a browser, in braille characters (U+2800 to U+28FF).
//!
//! A character is 2 dots wide and 4 high. Where there is no colour, lines differ by their pattern, which the
//! legend shows. No figure is wider than asked for, whatever is in the names.

mod bars;
mod canvas;
mod drawing;
mod of_histories;
mod of_runs;
mod size;

pub(crate) use bars::Bars;
pub use of_histories::{terminal_history_ecdf, terminal_history_time_line};
pub use of_runs::{terminal_ecdf, terminal_time_line};
pub use size::TerminalSize;
