//! The report as one HTML file: what was found in words, figures, and every number; docs/report.md explains it.
//!
//! ```text
//! RunRecord + RunAnalysis -> static HTML (Markup) ─┐
//! Figures -> JSON + columns (base64 of gzip) ─┼─> one file
//! web/dist: script, style, policy ────────────┘
//! ```
//!
//! Invariants: what comes from outside (paths, labels, host names, error texts) enters the page as escaped text or
//! escaped JSON, never as markup; the page loads nothing; its text is complete without the script.

mod comparison;
mod embed;
mod history;
mod live_page;
pub(crate) mod markup;
mod run;
#[cfg(feature = "typescript")]
mod typescript;

pub use comparison::{ComparisonReport, write_comparison_html};
pub use history::{
    HistoryReport, LIVE_HISTORY_POLICY, write_history_document, write_history_html, write_live_history_html,
};
pub use live_page::{LIVE_STYLE, live_page};
pub use run::{HtmlReport, ReportedRun, write_html};
#[cfg(feature = "typescript")]
pub use typescript::typescript;
