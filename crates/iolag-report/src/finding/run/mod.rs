//! What was found in a run, in words.

mod any_workload;
mod check;
mod followed;
mod metadata;
mod ping;
mod told;
mod trace;

pub(crate) use told::{FindingsOfDirectory, findings_of_check, in_words_each};
