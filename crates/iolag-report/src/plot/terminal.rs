//! Pictures for terminals without a browser, in braille characters (U+2800 to U+28FF).
//!
//! A character is 2 dots wide and 4 high. Where there is no colour, lines differ by their pattern, which the
//! legend shows. No picture is wider than asked for, whatever is in the names.

use iolag_analysis::figure::Figures;

use super::choice::PlotSelection;
use super::terminal_figures;
use crate::text::table::Colour;

/// Columns and lines of a picture, its legend and labels included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalSize {
    /// Columns; at least 40 are used.
    pub columns: usize,
    /// Lines; at least 8 are used.
    pub lines: usize,
}

impl TerminalSize {
    /// 80 columns and 20 lines.
    pub const USUAL: Self = Self { columns: 80, lines: 20 };

    pub(super) fn at_least_readable(self) -> Self {
        Self { columns: self.columns.clamp(40, 1000), lines: self.lines.clamp(8, 1000) }
    }
}

/// The share of attempts that took at most so long, on a logarithmic axis.
pub fn terminal_ecdf(
    figures: &Figures,
    selection: &PlotSelection,
    size: TerminalSize,
    colour: Colour,
) -> String {
    terminal_figures::ecdf(figures, selection, size.at_least_readable(), colour)
}

/// Every attempt over time, on a logarithmic axis of the time taken; what went wrong stands on top.
pub fn terminal_time_line(
    figures: &Figures,
    selection: &PlotSelection,
    size: TerminalSize,
    colour: Colour,
) -> String {
    terminal_figures::time_line(figures, selection, size.at_least_readable(), colour)
}
