//! The report on a history as one HTML file, and the same as a page that a server keeps up to date; docs/report.md explains both.
//!
//! ```text
//! HistoryAnalysis -> parts (text and tables, Markup) ─┐
//! HistoryFigures  -> JSON + columns, gzip ────────────┼─> one file, or a page and a document that it asks for
//! web/dist: history.js, history.css, policy ──────────┘
//! ```
//!
//! Invariants: as of every report: what comes from outside is escaped text or escaped JSON; the file loads nothing; its text and
//! tables are complete without the script; every number and sentence comes from the analysis.

mod bad_times;
mod by_configuration;
mod configurations;
pub(in crate::html) mod document;
mod events;
mod head;
mod outcome_shares;
mod page;
mod parts;
mod report;
mod strata;
mod table;
mod time_spent;
mod together;

pub use document::write_history_document;
pub use page::{LIVE_HISTORY_POLICY, write_history_html, write_live_history_html};
pub use report::HistoryReport;
