//! What a history means, on a terminal: `iolag show history`.
//!
//! ```text
//! head -> tables of durations, shares, endings, values -> outages, events, changes -> correlations, covariates, places -> findings
//! ```
//!
//! Moments are UTC. Names of hosts are told where there are several.

pub(crate) mod by_configuration;
pub(crate) mod comparisons;
pub(crate) mod correlations;
mod head;
pub(crate) mod host_rankings;
mod in_time;
mod page;
pub(crate) mod series;
pub(crate) mod strata;
pub(crate) mod time_spent;
mod whole;

pub use head::HistoryHead;
pub use whole::history_text;
