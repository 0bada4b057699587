//! Whether a finding tells what was seen or concludes something.

use serde::{Deserialize, Serialize};

/// How a finding came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// It tells what was counted or measured. It cannot be false of these attempts.
    Observed,
    /// It concludes something that may be false by chance; docs/calibration.md has how often it is.
    Inferred,
}
