//! The page of a comparison: its table, doubts, figures, method and runs; it has no script.

mod figures;
mod method;
mod page;
mod report;
mod table;

pub(super) use page::write_comparison;
pub use page::write_comparison_html;
pub use report::ComparisonReport;
