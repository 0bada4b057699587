//! What being cut off says of a duration, by workload.

use iolag_model::WorkloadSpec;

use crate::statistics::quantile::censored::Censoring;

impl From<&WorkloadSpec> for Censoring {
    /// Probes are cut off because something hangs: they would not have gone on like the others. What a check cuts off had no time
    /// left, which the long ones have less often.
    fn from(workload: &WorkloadSpec) -> Self {
        match workload {
            WorkloadSpec::Check(_) => Self::InformativeIfFew,
            WorkloadSpec::Metadata(_) => Self::Independent,
            WorkloadSpec::Ping(_) => Self::Informative,
        }
    }
}
