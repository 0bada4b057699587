//! What runs say, on made-up runs of which every number is known.

mod beside;
mod check_ranking;
mod figure_properties;
mod figures;
#[path = "../scenario/mod.rs"]
mod scenario;
mod values;
