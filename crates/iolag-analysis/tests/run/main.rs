//! What runs say, on made-up runs of which every number is known.

mod check_few_attempts;
mod check_ranking;
mod figure_properties;
mod figures;
mod findings;
#[path = "../scenario/mod.rs"]
mod scenario;
mod stage_findings;
