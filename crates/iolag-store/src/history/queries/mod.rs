//! What is asked of a history. Statements name a total order, so that equal contents give equal answers.

mod circumstances;
mod configurations;
mod outages;
mod records;
mod samples;
mod series;

pub(crate) use circumstances::{batches, events, evidence, sessions};
pub(crate) use configurations::{configurations, present_configurations};
pub(crate) use outages::{open_outages, outages};
pub(crate) use records::records;
pub(crate) use samples::{changes_after, covered, newest_change, probe, samples, samples_from};
pub(crate) use series::{hosts, series};
