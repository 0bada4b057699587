//! Figures of a comparison: percent with intervals, the values of single runs, and how long their attempts took.

pub(super) mod curves;
pub(super) mod lines;
pub(super) mod percent;
pub(super) mod runs;
pub(super) mod scale;
