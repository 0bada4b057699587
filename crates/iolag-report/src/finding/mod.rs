//! What was found, in words: one sentence for each finding, with its numbers, and what to do next.
//!
//! Here the sentences of findings come from, on every page, on the terminal, in JSON and in the drafts of incident reports. Those of a history
//! name series without their host unless there are several hosts; moments are UTC.

pub(crate) mod history;
pub(crate) mod in_words;
pub(crate) mod run;
