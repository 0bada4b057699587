//! How changes are judged.

use serde::{Deserialize, Serialize};

/// How changes are judged.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ChangeOptions {
    /// Greatest p of a change.
    pub significance: f64,
    /// Fewest values of a segment, at least 5.
    pub segment_values_min: usize,
    /// Smallest change of a quantile that is reported: 0.1 is 10 %.
    pub magnitude_min: f64,
    /// Seed of the noise that changes are compared with.
    pub seed: u64,
}

impl Default for ChangeOptions {
    fn default() -> Self {
        Self { significance: 0.008, segment_values_min: 5, magnitude_min: 0.1, seed: 2008 }
    }
}
