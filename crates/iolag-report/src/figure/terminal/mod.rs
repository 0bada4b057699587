//! Pictures for terminals without a browser, in braille characters (U+2800 to U+28FF).
//!
//! A character is 2 dots wide and 4 high. Where there is no colour, lines differ by their pattern, which the
//! legend shows. No picture is wider than asked for, whatever is in the names.

mod canvas;
mod figures;
mod size;

pub use figures::{terminal_ecdf, terminal_time_line};
pub use size::TerminalSize;
