//! The drafts of reports on trouble that sites owe each other, from a run and from a history.

mod history;
pub(crate) mod run;

pub use history::{IncidentHistory, incident_history_text};
pub use run::{IncidentRun, incident_text};
