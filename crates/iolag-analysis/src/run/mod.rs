//! Runs: from batches of samples to summaries, and from these to findings and verdicts of each kind of run.

pub(crate) mod any_workload;
pub(crate) mod beside;
pub(crate) mod check;
pub(crate) mod clustering;
pub(crate) mod copies;
pub(crate) mod durations;
pub(crate) mod engine;
pub mod figure;
pub(crate) mod group;
pub(crate) mod grouping;
pub(crate) mod metadata;
pub(crate) mod ping;
pub(crate) mod set_up;
pub(crate) mod sightings;
pub(crate) mod stage_names;
pub(crate) mod stage_rates;
pub(crate) mod stream;
pub(crate) mod summary;
pub(crate) mod surroundings;
pub(crate) mod sweep;
pub(crate) mod trace;
pub(crate) mod tree;
pub(crate) mod values;
pub(crate) mod workload;
