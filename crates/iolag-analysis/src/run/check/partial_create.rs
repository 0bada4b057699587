//! A create task of which only a part was done, because its time was up.
//!
//! How long the whole takes is not known: it took at least as long as was seen, which is what quantiles say. What it would take at
//! this pace is an extrapolation: it is told as one, and nothing is judged or ranked by it.

use std::fmt;

use iolag_model::{Nanoseconds, Operation, RunRecord, format_duration};
use serde::{Deserialize, Serialize};

use crate::run::summary::Summary;

/// Bytes of each file of the create task.
const FILE_BYTES: u64 = 64;

/// How far the attempts of a create task came, if each was ended before all files were there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartialCreate {
    /// Files that were created, on average over the attempts.
    pub files: u64,
    /// Files that were to be created.
    pub of: u64,
    /// In so long, on average.
    pub duration_ns: Nanoseconds,
    /// What creating all of them takes if it goes on like this: no bound.
    pub at_this_pace_ns: Nanoseconds,
}

impl PartialCreate {
    /// `None` if the summary is not of a create task of `run`, or if one of its attempts was completed.
    pub fn of(summary: &Summary, run: &RunRecord) -> Option<Self> {
        let spec = run.spec.workload.check()?;
        let partial = summary.partial.filter(|partial| partial.bytes >= FILE_BYTES)?;
        if summary.key.operation != Operation::TaskCreate || summary.succeeded() > 0 {
            return None;
        }
        let of = u64::from(spec.created_files);
        let pace = partial.duration_ns.0 as f64 * FILE_BYTES as f64 / partial.bytes as f64;
        // Those that were cut off when the user had enough are not among them.
        let lost = summary.timeout + summary.hung + summary.skipped;
        let attempts = summary.durations.censored.saturating_sub(lost).max(1);
        Some(Self {
            files: partial.bytes / attempts / FILE_BYTES,
            of,
            duration_ns: Nanoseconds(partial.duration_ns.0 / attempts),
            at_this_pace_ns: Nanoseconds((pace * of as f64) as u64),
        })
    }
}

/// `159 of 500; at this pace some 16 s`.
impl fmt::Display for PartialCreate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{} of {}; at this pace some {}",
            self.files,
            self.of,
            roughly(self.at_this_pace_ns)
        )
    }
}

/// Two digits: more would claim what nobody has seen.
fn roughly(duration: Nanoseconds) -> String {
    let ns = duration.0.max(1);
    let step = 10_u64.pow(ns.ilog10().saturating_sub(1));
    let text = format_duration(Nanoseconds((ns + step / 2) / step * step));
    match text.split_once(' ') {
        Some((number, unit)) if number.contains('.') => {
            format!("{} {unit}", number.trim_end_matches('0').trim_end_matches('.'))
        }
        _ => text.trim_end_matches(" 00 s").trim_end_matches(" 00 min").to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_extrapolation_has_two_digits() {
        let told = [80_645_000_000, 15_723_000_000, 4_000_000_000, 1_620_000_000, 721_000_000_000]
            .map(|ns| roughly(Nanoseconds(ns)));
        assert_eq!(told, ["81 s", "16 s", "4 s", "1.6 s", "12 min"]);
    }
}
