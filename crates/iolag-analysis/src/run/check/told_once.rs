//! What was found in several directories of a check is told once.
//!
//! Two findings are the same if they say the same but for numbers, so that "also in" is true of every word. Findings
//! that lead to the same advice in several directories stand together, each with its directories, so that the advice stands once.

use std::mem::discriminant;

use super::analysis::{CheckAnalysis, DirectoryAnalysis};
use crate::finding::of_runs::{RunFinding, RunFound};
use crate::run::sightings::is_alike;

/// Findings as they are told.
#[derive(Debug, Clone, PartialEq)]
pub struct ToldFindings<'a> {
    /// The only directory that they are about; absent if each has its own.
    pub directory: Option<&'a str>,
    /// The gravest first.
    pub findings: Vec<FoundInDirectories<'a>>,
}

/// A finding, and the directories of which it is told.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundInDirectories<'a> {
    /// That of the worst directory.
    pub finding: &'a RunFinding,
    /// The worst, and the others in the order in which they get better; none for what was found of the host.
    pub directories: Vec<&'a str>,
}

impl CheckAnalysis {
    /// The findings of all directories, each told once: first what several have, then what only one has. What was found of the host stands
    /// behind what several have, or else last.
    pub fn told_findings(&self) -> Vec<ToldFindings<'_>> {
        let is_common = |finding: &RunFinding| {
            let has = |directory: &&DirectoryAnalysis| {
                directory.findings.iter().any(|other| has_same_advice(&other.found, &finding.found))
            };
            self.directories.iter().filter(has).count() > 1
        };
        let mut alike: Vec<Vec<(&str, &RunFinding)>> = Vec::new();
        let mut told = Vec::new();
        for directory in &self.directories {
            let name = directory.name.as_str();
            let (common, own): (Vec<&RunFinding>, Vec<&RunFinding>) =
                directory.findings.iter().partition(|finding| is_common(finding));
            for finding in common {
                match alike.iter_mut().find(|group| is_same(group[0].1, finding)) {
                    Some(group) => group.push((name, finding)),
                    None => alike.push(vec![(name, finding)]),
                }
            }
            let own = own.into_iter().map(|finding| FoundInDirectories { finding, directories: vec![name] });
            told.push(ToldFindings { directory: Some(name), findings: own.collect() });
        }
        let mut findings: Vec<FoundInDirectories<'_>> = alike.into_iter().map(told_once).collect();
        findings.sort_by_key(|told| told.finding.severity);
        let place = if findings.is_empty() { told.len() } else { 0 };
        let of_host = self.findings.iter();
        findings.extend(of_host.map(|finding| FoundInDirectories { finding, directories: Vec::new() }));
        told.insert(place, ToldFindings { directory: None, findings });
        told.retain(|told| !told.findings.is_empty());
        told
    }
}

/// The finding of the worst directory, and where else it is so.
fn told_once<'a>(mut alike: Vec<(&'a str, &'a RunFinding)>) -> FoundInDirectories<'a> {
    // Of equals the first stays first.
    alike.sort_by(|(_, one), (_, other)| {
        one.severity.cmp(&other.severity).then(other.size.total_cmp(&one.size))
    });
    let directories = alike.iter().map(|(directory, _)| *directory).collect();
    FoundInDirectories { finding: alike[0].1, directories }
}

/// Whether what was found leads to the same advice.
fn has_same_advice(one: &RunFound, other: &RunFound) -> bool {
    match (one, other) {
        (RunFound::Unsteady(one), RunFound::Unsteady(other)) => {
            one.is_shared_by_memory == other.is_shared_by_memory
        }
        _ => discriminant(one) == discriminant(other),
    }
}

/// Whether both say the same but for numbers.
fn is_same(one: &RunFinding, other: &RunFinding) -> bool {
    let is_same_found = match (&one.found, &other.found) {
        (RunFound::NotEnded(one), RunFound::NotEnded(other)) => one.operation == other.operation,
        (RunFound::LongAttempts(one), RunFound::LongAttempts(other)) => one.operation == other.operation,
        (RunFound::FailedAttempts(one), RunFound::FailedAttempts(other)) => one.operation == other.operation,
        (RunFound::TwoModes(one), RunFound::TwoModes(other)) => one.operation == other.operation,
        (RunFound::MeasuredInPart(one), RunFound::MeasuredInPart(other)) => one == other,
        (RunFound::FewButLong(one), RunFound::FewButLong(other)) => {
            let rows = one.rows.iter().map(|(operation, count, _)| (operation, *count == 1));
            rows.eq(other.rows.iter().map(|(operation, count, _)| (operation, *count == 1)))
        }
        (RunFound::Unsteady(one), RunFound::Unsteady(other)) => one.is_slower == other.is_slower,
        _ => true,
    };
    is_same_found
        && is_alike(&one.found, &other.found)
        && has_same_advice(&one.found, &other.found)
        && one.also == other.also
}

#[cfg(test)]
mod tests {
    use iolag_model::{ErrorClass, Nanoseconds, Operation};

    use super::*;
    use crate::finding::Severity;
    use crate::finding::of_runs::{FailedAttempts, LongAttempts};
    use crate::statistics::quantile::censored::QuantileValue;

    fn long(operation: Operation, over: u64) -> RunFinding {
        let second = Nanoseconds::from_seconds(1);
        let longest = QuantileValue::Exactly(Nanoseconds(second.0 * over));
        let found =
            LongAttempts { operation, patience_ns: second, over, is_at_least: false, of: 400, longest };
        RunFinding::new(RunFound::LongAttempts(found), Severity::Warning).sized(over as f64)
    }

    fn failed(class: ErrorClass) -> RunFinding {
        let found = FailedAttempts { operation: Operation::Read, class, count: 1, of: 2 };
        RunFinding::new(RunFound::FailedAttempts(found), Severity::Serious)
    }

    #[test]
    fn findings_that_differ_in_numbers_alone_are_the_same() {
        assert!(is_same(&long(Operation::Stat, 12), &long(Operation::Stat, 1)));
        assert!(!is_same(&long(Operation::Stat, 12), &long(Operation::Read, 12)));
        assert!(!is_same(&failed(ErrorClass::NotFound), &failed(ErrorClass::NoSpace)));
        let also = RunFinding { also: vec![Operation::Read], ..long(Operation::Stat, 1) };
        assert!(!is_same(&long(Operation::Stat, 1), &also));
    }

    #[test]
    fn the_worst_speaks_for_its_like() {
        let (mild, bad) = (long(Operation::Stat, 2), long(Operation::Stat, 9));
        let told = told_once(vec![("/a", &mild), ("/b", &bad), ("/c", &mild)]);
        assert_eq!((told.finding, &told.directories[..]), (&bad, &["/b", "/a", "/c"][..]));
    }
}
