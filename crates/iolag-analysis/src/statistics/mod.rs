//! Estimates and judgements of sequences: slices in, estimates out.
//!
//! Invariants: no columns, no words, no printing, no clock; randomness only from a stated seed; neither NaN nor panic for any input, empty,
//! constant or of two values. How often each judgement is wrong where the truth is known is in docs/calibration.md.

pub(crate) mod change;
pub(crate) mod comparison;
pub(crate) mod dependence;
pub(crate) mod dip;
pub(crate) mod interval;
pub(crate) mod knowledge;
pub(crate) mod multiple_testing;
pub(crate) mod overlap;
pub(crate) mod quantile;
pub(crate) mod ranking;
pub(crate) mod rhythm;
pub(crate) mod runs;
pub(crate) mod spectrum;
pub(crate) mod student;
