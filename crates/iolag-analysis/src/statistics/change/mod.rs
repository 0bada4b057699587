//! Changes of level: steps, ramps, stretches and trends.

pub(crate) mod few_values;
pub(crate) mod jumps;
pub(crate) mod likelihood_ratio;
pub(crate) mod matched_filter;
pub(crate) mod trend;
