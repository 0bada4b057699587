//! Metadata runs.

mod described;
mod judged;
pub(crate) mod text;
mod verdict;
