//! The commands on stored runs.

pub mod baseline;
pub mod campaign;
pub mod cleanup;
pub mod export;
pub mod figures;
pub mod jobs;
mod left_places;
pub mod list;
pub mod opening;
pub mod prune;
pub mod report;
pub mod rm;
pub mod selection;
pub mod show;
