//! How much is known of a value.

use serde::{Deserialize, Serialize};

/// How much is known of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum Knowledge {
    /// It is this.
    Exactly,
    /// It is this or more: it had not ended (right-censored).
    AtLeast,
    /// It is below the clock's resolution (left-censored).
    AtMost,
}
