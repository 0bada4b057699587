//! The draft of the report that sites owe each other after trouble, from what was watched: `iolag report --incident --since 2d`.
//!
//! ```text
//! head -> description -> time line -> impact -> evidence -> analysis -> corrective actions -> lessons -> measurements
//! ```
//!
//! What the history knows is filled in, with its figures; what only people know is left open as `____`. Moments are those of a place, with
//! their offset from UTC; sentences of findings name theirs in UTC and say so.
//!
//! Invariants: the draft is Markdown in which every text from outside is escaped and only pages are linked; it judges nothing: bad times
//! and who was affected come from the analysis.

mod analysis;
mod description;
mod evidence;
mod head;
mod impact;
mod measurements;
mod report;
mod time_line;
mod whole;

pub use report::IncidentHistory;
pub use whole::incident_history_text;
