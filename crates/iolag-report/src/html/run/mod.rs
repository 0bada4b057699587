//! The report on runs, in the order of the page: what stands first, bad moments, figures, tables, method.

mod against;
mod bad_moments;
mod beside;
mod copies;
mod head;
mod jobs;
mod memory;
mod method;
mod names;
mod over_time;
mod page;
mod report;
mod table;
mod tree;

pub use page::write_html;
pub use report::{HtmlReport, ReportedRun};
