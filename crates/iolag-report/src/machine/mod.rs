//! What other programs read.

mod json;

pub use json::{write_batches_json, write_history_json, write_notes_json};
