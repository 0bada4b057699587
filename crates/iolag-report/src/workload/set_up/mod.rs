//! The synthetic job set-up.

mod described;
mod judged;
mod text;
