//! What the caches hold when a stage begins.

use serde::{Deserialize, Serialize};

use super::spec::names;
use crate::Phase;

/// What is to be in the page cache before each stage that is measured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CacheState {
    /// What is there.
    #[default]
    Asis,
    /// Nothing of what the run made.
    Cold,
    /// All that the run made.
    Warm,
}
names!(CacheState { Asis = "asis", Cold = "cold", Warm = "warm" });

impl CacheState {
    /// Whether nothing is done about them.
    pub const fn is_asis(&self) -> bool {
        matches!(self, Self::Asis)
    }

    /// Whether something is done before a stage of this phase: not before what makes or removes the working set.
    pub const fn is_made_before(self, phase: Phase) -> bool {
        !self.is_asis() && !phase.is_of_working_set()
    }
}
