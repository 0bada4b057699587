//! What a trace comes to, in one pass: calls are counted and forgotten, so that it takes the memory of the paths and not of the calls.

mod lookups;
mod places;
mod repeats;
mod summariser;
mod vain;

pub use summariser::Summariser;
