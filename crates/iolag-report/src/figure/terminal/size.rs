//! How large a figure is.

/// Columns and lines of a figure, its legend and labels included.
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

    pub(crate) fn at_least_readable(self) -> Self {
        Self { columns: self.columns.clamp(40, 1000), lines: self.lines.clamp(8, 1000) }
    }
}
