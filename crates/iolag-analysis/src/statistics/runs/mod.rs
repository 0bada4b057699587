//! Is one side faster than another, and by how much? The run is the unit: attempts within a run share its luck.
//!
//! ```text
//! a value a run -> RunPairing -> RunDifference: an estimate and one pivot -> compare_runs: a table, its correction, a word a cell
//! ```
//!
//! All is on the scale of the logarithm of speed. Invariants: an estimate, its interval and its p come from one pivot, so that p is below a level exactly
//! where the interval at that level excludes no difference; swapping the sides mirrors everything; a bound that replaces a value only widens
//! what ranks say. Which pivots, and why, is in docs/statistics.md; they were chosen by the rows `compare/` of docs/calibration.md.

mod contrasts;
pub(crate) mod difference;
pub(crate) mod likeness;
pub(crate) mod log_range;
pub(crate) mod mean;
pub(crate) mod needed;
pub(crate) mod pairing;
pub(crate) mod ranks;
pub(crate) mod stopping;
pub(crate) mod table;
