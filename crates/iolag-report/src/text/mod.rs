//! What a terminal shows: a file for each command, drawn with the table that all of them have in common.

mod baselines;
mod batches;
mod campaign;
mod comparison;
mod copies;
mod explain;
pub(crate) mod findings;
pub(crate) mod history;
mod jobs;
pub(crate) mod list;
mod notes;
pub(crate) mod sweep_table;
pub(crate) mod table;
mod watch;

pub use baselines::{BaselineContent, baseline_sentence, baselines_text};
pub use batches::batches_text;
pub use campaign::{CampaignRun, campaign_text};
pub use comparison::comparison_text;
pub(crate) use copies::{COLUMNS as CURVE_COLUMNS, HEADING as CURVES_HEADING, cells as curve_cells};
pub use copies::{copies_sentence, copies_text};
pub use explain::command::command_explanation_text;
pub use explain::explanation_text;
pub use findings::{footnotes_text, trust_text};
pub use history::{HistoryHead, history_text};
pub use jobs::recommendations_text;
pub use list::{list_text, meanings_text, show_head, state_name};
pub use notes::notes_text;
pub use table::{Colour, Tone, wrapped};
pub use watch::watch_status_text;
