//! How the samples of a workload are read. Each workload answers beside its analysis; [`analysed`] is the one place that knows them all.

use iolag_model::{Nanoseconds, RunRecord, WorkloadSpec};

use super::grouping::Grouping;
use crate::statistics::interval::share_over::DEFAULT_THRESHOLDS;
use crate::statistics::quantile::censored::Censoring;

/// The questions to a workload before its samples are read.
pub trait Analysed {
    /// What is told apart in its summary.
    fn grouping(&self, record: &RunRecord) -> Grouping;

    /// What being cut off says of a duration.
    fn censoring(&self) -> Censoring;

    /// The durations whose share of slower attempts is summarised.
    fn thresholds(&self) -> Vec<Nanoseconds> {
        DEFAULT_THRESHOLDS.to_vec()
    }

    /// What its figures show, measured on the targets of these names by so many clients.
    fn title(&self, names: &str, clients: u32) -> String;
}

/// The workload that a spec describes.
pub const fn analysed(spec: &WorkloadSpec) -> &dyn Analysed {
    match spec {
        WorkloadSpec::Check(spec) => spec,
        WorkloadSpec::Metadata(spec) => spec,
        WorkloadSpec::Ping(spec) => spec,
    }
}
