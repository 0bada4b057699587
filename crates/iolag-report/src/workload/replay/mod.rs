//! A traced program that is asked again.

mod described;
mod judged;
mod text;
mod void;

pub use void::{all_void_sentence, coverage_refusal};
