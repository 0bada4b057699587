//! Estimates and judgements of sequences: slices in, estimates out.
//!
//! Invariants: no columns, no words, no printing, no clock; randomness only from a stated seed; neither NaN nor panic for any input, empty,
//! constant or of two values. How often each judgement is wrong where the truth is known is in docs/calibration.md.

pub(crate) mod agreement;
pub(crate) mod change;
mod change_places;
mod clusters;
pub(crate) mod coherence;
pub(crate) mod coloured;
pub(crate) mod cosine;
pub(crate) mod crossing;
pub(crate) mod dependence;
pub(crate) mod estimate;
pub(crate) mod fourier;
pub(crate) mod interval;
pub(crate) mod jumps;
pub(crate) mod ledger;
pub(crate) mod mean_error;
pub(crate) mod memory;
pub(crate) mod other_days;
pub(crate) mod overlap;
pub(crate) mod ranking;
pub(crate) mod regimes;
pub(crate) mod regression;
pub(crate) mod regular_hours;
pub(crate) mod rhythm;
pub(crate) mod sequence;
pub(crate) mod student;
pub(crate) mod trend;
