//! What is said of a comparison: the same words in text, Markdown, pages and figures.

pub(crate) mod beside;
pub(crate) mod between;
pub(crate) mod bystanders;
pub(crate) mod cells;
pub(crate) mod design;
pub(crate) mod doubts;
pub(crate) mod left_out;
pub(crate) mod names;
pub(crate) mod profiles;
pub(crate) mod rules;
#[cfg(test)]
pub(crate) mod samples;
pub(crate) mod steadiness;

pub use rules::{RuleSentence, rule_sentences};
