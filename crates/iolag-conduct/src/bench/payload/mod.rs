//! What each copy of a job really runs once it is set up: found before the campaign, and run by a thread of each measurer.

pub(crate) mod finding;
mod serving;

pub(super) use serving::{beside_payload, prepare_payload};
