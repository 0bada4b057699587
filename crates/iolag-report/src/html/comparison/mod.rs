//! The page of a comparison: its table, doubts, figures, method and runs; it has no script.

mod figures;
mod method;
mod page;
mod table;

pub use page::{ComparisonReport, write_comparison_html};
