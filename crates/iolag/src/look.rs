//! How text looks on the terminal that it is printed to.

use iolag_report::{CheckRows, Colour};

use crate::args::Common;
use crate::output;

/// How text looks on the terminal it is for.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    /// Columns.
    pub width: usize,
    /// Whether it is coloured.
    pub colour: Colour,
    /// How much of a check is told.
    pub rows: CheckRows,
}

impl Look {
    /// That of this process's terminal.
    pub fn of_terminal(common: &Common) -> Self {
        Self {
            width: output::width(),
            colour: output::colour(common, |name| std::env::var_os(name)),
            rows: CheckRows::Known,
        }
    }

    /// The same, of a check every row.
    pub const fn in_full(self, is_full: bool) -> Self {
        Self { rows: if is_full { CheckRows::All } else { CheckRows::Known }, ..self }
    }
}
