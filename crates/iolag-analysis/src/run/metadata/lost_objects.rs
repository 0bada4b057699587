//! Objects or directories that iolag had made and that were gone.

use iolag_model::{Operation, format_count};
use serde::{Deserialize, Serialize};

/// With fewer of an operation's attempts lost in each stage, the run has still measured what it was to measure.
const DESTROYED_SHARE: f64 = 0.01;

/// Objects or directories that were gone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LostObjects {
    /// The stage in which that was seen first.
    pub from: String,
    /// In which stages the operation that suffered most found nothing: `250 of 300 iterations`.
    pub stages: String,
    /// The stage in which it found least.
    pub worst: String,
    /// That operation.
    pub operation: Operation,
    /// How often it found nothing in that stage.
    pub not_found: u64,
    /// How often it was tried in that stage.
    pub attempts: u64,
}

impl LostObjects {
    /// Whether so much was gone that something else was measured than what was to be.
    pub fn is_destroyed(&self) -> bool {
        self.not_found as f64 >= DESTROYED_SHARE * self.attempts as f64
    }

    /// What happened, as the beginning of a sentence.
    pub fn in_words(&self) -> String {
        let gone = "what iolag had made in its working directory was gone";
        let (operation, worst) = (self.operation, &self.worst);
        let times = format!("{} of {}", format_count(self.not_found), format_count(self.attempts));
        if self.stages.is_empty() {
            return format!("{gone}: in {worst} {times} `{operation}` did not find it");
        }
        format!(
            "from {} on {gone}: in {} `{operation}` did not find it, at worst {times} times ({worst})",
            self.from, self.stages
        )
    }
}
