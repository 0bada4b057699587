//! Figures of a comparison: percent with intervals, the values of single runs, and how long their attempts took.

pub(super) mod curves;
