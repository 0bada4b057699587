//! A traced program that is asked again.

mod described;
mod judged;
pub(crate) mod text;
