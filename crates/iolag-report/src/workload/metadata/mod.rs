//! Metadata runs.

mod described;
mod document;
mod judged;
pub(crate) mod text;
mod verdict;
