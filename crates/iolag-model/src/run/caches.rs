//! What the caches hold when a stage begins.

use serde::{Deserialize, Serialize};

use super::spec::names;
use crate::Phase;

/// What is to be in the page cache before each stage that is measured, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CachesSpec {
    /// What is asked for.
    pub wish: CacheState,
    /// A command that drops the caches of servers, executed each time the own ones are dropped, secrets removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drop_command: Option<String>,
}

/// What is to be in the page cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CacheState {
    /// What is there.
    Asis,
    /// Nothing of what the run made.
    Cold,
    /// All that the run made.
    Warm,
}
names!(CacheState { Asis = "asis", Cold = "cold", Warm = "warm" });

impl Default for CachesSpec {
    fn default() -> Self {
        Self { wish: CacheState::Asis, drop_command: None }
    }
}

impl CachesSpec {
    /// Whether nothing is asked for.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Whether something is done before a stage of this phase: not before what makes or removes the working set.
    pub const fn is_done_before(&self, phase: Phase) -> bool {
        !matches!(self.wish, CacheState::Asis)
            && !matches!(phase, Phase::Precreate | Phase::TreeCreate | Phase::Cleanup | Phase::TreeRemove)
    }
}
