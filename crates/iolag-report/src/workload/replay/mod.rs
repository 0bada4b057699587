//! A traced program that is asked again.

mod described;
mod judged;
mod text;
