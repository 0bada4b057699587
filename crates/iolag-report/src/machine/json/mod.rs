//! The content of `--json FILE`; docs/json.md explains it with an example.

mod beside;
mod comparison;
mod copies;
mod doubts;
mod explanation;
mod history;
mod jobs;
pub(crate) mod run;

pub use comparison::write_comparison_json;
pub use copies::write_copies_json;
pub use explanation::{write_command_explanation_json, write_explanation_json};
pub use history::{write_batches_json, write_history_json, write_notes_json};
pub use jobs::write_recommendations_json;
pub use run::{write_baselines_json, write_json, write_list_json};
