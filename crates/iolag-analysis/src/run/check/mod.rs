//! Checks: how each directory feels, how the directories stand to each other, and what was found in them.

mod analysed;
pub(crate) mod analysis;
pub(crate) mod comparison;
pub(crate) mod few_attempts;
pub(crate) mod findings;
pub(crate) mod partial_create;
pub(crate) mod ranking;
pub(crate) mod rows;
pub(crate) mod steadiness;
pub(crate) mod stopped;
pub(crate) mod told_once;
pub(crate) mod verdict;
