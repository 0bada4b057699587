//! The rules that every backend obeys, for the tests of each of them.
//!
//! A rule panics with a sentence that names it, the operation and the answer. Each rule works in a target of its own, made by
//! the caller's function, and is run with the blocking form of a session and, where there are such, with the asynchronous
//! form and with lanes: all must give the same results. What kinds of targets may do differently, a backend declares ([`crate::Semantics`]); each rule
//! asks for what is declared.

mod asynchronous;
mod conversation;
mod declared;
mod lanes;
mod maker;
mod marks;
mod places;
mod rules;
mod sessions;

pub use conversation::Planted;
pub use maker::maker;
pub use rules::{conformance, conformance_with_foreign};
