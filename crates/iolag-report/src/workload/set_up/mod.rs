//! The synthetic job set-up.

pub(crate) mod described;
mod judged;
pub(crate) mod text;
