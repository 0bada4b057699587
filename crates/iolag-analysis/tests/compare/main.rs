//! Sides compared, on made-up runs of which every answer is known.

mod made_up;
#[path = "../scenario/mod.rs"]
mod scenario;
mod study;
