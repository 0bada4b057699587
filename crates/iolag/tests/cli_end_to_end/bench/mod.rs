//! Benches and their campaigns.

mod bystanders;
mod caches;
mod campaigns;
mod copying;
mod file_systems;
mod limits;
mod metadata;
mod options;
mod plans;
mod precision;
mod set_up;
mod stream;
mod targets;
mod tree;
