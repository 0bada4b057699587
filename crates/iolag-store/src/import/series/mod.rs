//! From rows to samples in the order of time, and what is told of them.

pub(super) mod arrangement;
pub(super) mod assemble;
pub(super) mod gaps;
pub(super) mod imported;
pub(super) mod imported_samples;
pub(super) mod report;
