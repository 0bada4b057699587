//! Whether a check went on as it began.
//!
//! All operations of a directory are asked together (see [`crate::statistics::change::trend`]), since they share the machine and the storage; several
//! directories by Bonferroni. What the machine's memory did as well is told of the machine and not of the storage. Only a change that is felt in the numbers,
//! by [`FACTOR`] from the first quarter to the last, is told.

use iolag_model::TargetIndex;

use crate::finding::Severity;
use crate::finding::of_runs::{RunFinding, RunFound, Unsteady};
use crate::run::summary::Summary;
use crate::statistics::change::trend::{PARTS_LEAST, Trend, joint_trend};
use crate::statistics::quantile::censored::median_of;

/// Probability with which a run that did not change is told to have changed.
const SIGNIFICANCE: f64 = 0.01;
/// A memory that changed as probably as this changed too.
const ALSO: f64 = 0.05;
const FACTOR: f64 = 1.25;

/// Which of these directories changed while they were measured; `memory` is the control.
pub(crate) fn unsteady(
    directories: &[(TargetIndex, &[Summary])],
    memory: Option<&[Summary]>,
) -> Vec<(TargetIndex, RunFinding)> {
    let memory = memory.and_then(Course::of).filter(|course| course.trend.p < ALSO);
    let finding = |(target, summaries): &(TargetIndex, &[Summary])| {
        let course = Course::of(summaries)?;
        let p = (course.trend.p * directories.len() as f64).min(1.0);
        let is_shared = memory.as_ref().is_some_and(|memory| memory.is_slower() == course.is_slower());
        (p < SIGNIFICANCE && course.is_felt()).then(|| (*target, course.finding(p, is_shared)))
    };
    directories.iter().filter_map(finding).collect()
}

/// How the operations of a directory went on.
struct Course {
    trend: Trend,
    /// Last quarter by first quarter, the median of all operations.
    factor: f64,
    operations: usize,
}

impl Course {
    fn of(summaries: &[Summary]) -> Option<Self> {
        let parts: Vec<&[f64]> = summaries
            .iter()
            .map(|summary| summary.durations.part_means_ns.as_slice())
            .filter(|parts| parts.len() >= PARTS_LEAST)
            .collect();
        let factors: Vec<f64> = parts.iter().map(|parts| last_by_first_quarter(parts)).collect();
        Some(Self { trend: joint_trend(&parts)?, factor: median_of(&factors)?, operations: parts.len() })
    }

    fn is_slower(&self) -> bool {
        self.trend.coefficient > 0.0
    }

    fn is_felt(&self) -> bool {
        if self.is_slower() { self.factor >= FACTOR } else { self.factor <= 1.0 / FACTOR }
    }

    fn finding(&self, p: f64, is_shared_by_memory: bool) -> RunFinding {
        let Self { factor, operations, .. } = *self;
        let found = Unsteady { factor, is_slower: self.is_slower(), operations, is_shared_by_memory, p };
        RunFinding::new(RunFound::Unsteady(found), Severity::Note)
    }
}

fn last_by_first_quarter(parts: &[f64]) -> f64 {
    let quarter = (parts.len() / 4).max(1);
    let mean = |parts: &[f64]| parts.iter().sum::<f64>() / parts.len() as f64;
    mean(&parts[parts.len() - quarter..]) / mean(&parts[..quarter]).max(1.0)
}
