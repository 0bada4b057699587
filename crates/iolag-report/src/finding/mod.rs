//! What was found, in words: one sentence for each finding, with its numbers, and what to do next.
//!
//! Here the sentences of a history come from, on every page, on the terminal, in JSON and in the draft of an incident report. Sentences name
//! series without their host unless there are several hosts; moments are UTC.

mod amounts;
mod bad_times;
mod bad_together;
mod changes;
mod correlations;
mod drifts;
mod endings;
mod factors;
mod in_words;
mod names;
mod places;
mod record;
mod single_series;
mod tails;
mod together;

#[cfg(test)]
mod tests;

pub(crate) use in_words::{FindingInWords, each_finding_in_words, findings_in_words};
