//! What was found in a history, in words.

mod amounts;
mod bad_times;
mod bad_together;
mod changes;
mod correlations;
mod drifts;
mod endings;
mod factors;
mod places;
mod record;
mod single_series;
mod tails;
mod together;
mod told;

#[cfg(test)]
mod tests;

pub(crate) use told::{each_finding_in_words, findings_in_words};
