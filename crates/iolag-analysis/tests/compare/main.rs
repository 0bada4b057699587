//! Sides compared, on made-up runs of which every answer is known.

mod beside;
mod bounds;
mod days;
mod doubts;
mod made_up;
mod pairing;
mod properties;
mod refusals;
mod rows;
mod rules;
#[path = "../scenario/mod.rs"]
mod scenario;
mod study;
mod units;
