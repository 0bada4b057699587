//! The same thing found in many stages or of many operations is one finding with a count, which names the worst.
//!
//! Pure: what was sighted goes in, findings come out in the order in which their first like was sighted.

use iolag_model::Operation;

use super::stage_names::{StageKey, places_in_words, stage_name};
use crate::finding::FoundInStages;
use crate::finding::of_runs::{RunFinding, RunFound};

/// Something found in one place.
#[derive(Debug, Clone)]
pub(crate) struct Sighting {
    /// Of which operation, if of one.
    pub operation: Option<Operation>,
    /// In which stage; absent where a run has none, or only one that goes without saying.
    pub stage: Option<StageKey>,
    /// As it is told if nothing is like it.
    pub finding: RunFinding,
}

/// Tells what is alike once. `stages` are all that were measured.
pub(crate) fn merged(sightings: Vec<Sighting>, stages: &[StageKey]) -> Vec<RunFinding> {
    by_likeness(sightings).into_iter().map(|alike| told(alike, stages)).collect()
}

fn by_likeness(sightings: Vec<Sighting>) -> Vec<Vec<Sighting>> {
    let mut groups: Vec<Vec<Sighting>> = Vec::new();
    for sighting in sightings {
        let is_like = |group: &&mut Vec<Sighting>| {
            let (first, finding) = (&group[0].finding, &sighting.finding);
            first.place == finding.place && is_alike(&first.found, &finding.found)
        };
        match groups.iter_mut().find(is_like) {
            Some(group) => group.push(sighting),
            None => groups.push(vec![sighting]),
        }
    }
    groups
}

/// Whether both say the same, but for the operation and numbers.
pub(crate) fn is_alike(one: &RunFound, other: &RunFound) -> bool {
    match (one, other) {
        (RunFound::LongAttempts(one), RunFound::LongAttempts(other)) => one.patience_ns == other.patience_ns,
        (RunFound::FailedAttempts(one), RunFound::FailedAttempts(other)) => one.class == other.class,
        _ => std::mem::discriminant(one) == std::mem::discriminant(other),
    }
}

fn told(mut alike: Vec<Sighting>, all: &[StageKey]) -> RunFinding {
    let mut places: Vec<StageKey> = Vec::new();
    let mut operations: Vec<Operation> = Vec::new();
    for sighting in &alike {
        places.extend(sighting.stage.filter(|stage| !places.contains(stage)));
        operations.extend(sighting.operation.filter(|operation| !operations.contains(operation)));
    }
    // The gravest first, of these the worst.
    alike.sort_by(|one, other| {
        let (one, other) = (&one.finding, &other.finding);
        one.severity.cmp(&other.severity).then(other.size.total_cmp(&one.size))
    });
    let Sighting { operation, stage, finding } = alike.swap_remove(0);
    operations.retain(|other| Some(*other) != operation);
    let stages = stage.map(|(phase, iteration)| FoundInStages {
        worst: stage_name(phase, iteration),
        all: places.iter().map(|(phase, iteration)| stage_name(*phase, *iteration)).collect(),
        share: places_in_words(&places, all),
    });
    RunFinding { stages, also: operations, ..finding }
}

#[cfg(test)]
mod tests {
    use iolag_model::{ErrorClass, Phase};

    use super::*;
    use crate::finding::Severity;
    use crate::finding::of_runs::FailedAttempts;

    fn failed(iteration: u32, operation: Operation, failures: u64) -> Sighting {
        let found = FailedAttempts { operation, class: ErrorClass::NotFound, count: failures, of: 2000 };
        Sighting {
            operation: Some(operation),
            stage: Some((Phase::Benchmark, iteration)),
            finding: RunFinding::new(RunFound::FailedAttempts(found), Severity::Serious)
                .sized(failures as f64),
        }
    }

    fn benchmark(iterations: u32) -> Vec<StageKey> {
        let mut stages = vec![(Phase::Precreate, 0)];
        stages.extend((0..iterations).map(|iteration| (Phase::Benchmark, iteration)));
        stages
    }

    fn count(finding: &RunFinding) -> u64 {
        let RunFound::FailedAttempts(found) = &finding.found else { panic!("{finding:?}") };
        found.count
    }

    fn stages(finding: &RunFinding) -> &FoundInStages {
        finding.stages.as_ref().expect("it was found in stages")
    }

    #[test]
    fn the_same_in_many_iterations_is_one_finding_of_the_worst() {
        let mut sightings: Vec<_> = (50..300).map(|number| failed(number, Operation::Stat, 1600)).collect();
        sightings[211] = failed(261, Operation::Stat, 1641);
        let findings = merged(sightings, &benchmark(300));
        let [one] = &findings[..] else { panic!("{findings:#?}") };
        let found = stages(one);
        assert_eq!((count(one), found.worst.as_str()), (1641, "benchmark 262"));
        assert_eq!((found.share.as_str(), found.all.len()), ("250 of 300 iterations", 250));
        assert_eq!(found.all[0], "benchmark 51");
    }

    #[test]
    fn other_operations_are_named_and_one_place_needs_no_count() {
        let sightings = vec![
            failed(0, Operation::Stat, 5),
            failed(0, Operation::Read, 7),
            failed(0, Operation::Delete, 1),
        ];
        let findings = merged(sightings, &benchmark(3));
        let [one] = &findings[..] else { panic!("{findings:#?}") };
        assert_eq!((count(one), &one.also[..]), (7, &[Operation::Stat, Operation::Delete][..]));
        assert_eq!(stages(one).all, ["benchmark 1"]);
    }

    #[test]
    fn what_is_grave_somewhere_is_told_as_grave_and_what_differs_stays_apart() {
        let mut mild = failed(0, Operation::Read, 900);
        mild.finding.severity = Severity::Warning;
        let mut other = failed(2, Operation::Read, 3);
        if let RunFound::FailedAttempts(found) = &mut other.finding.found {
            found.class = ErrorClass::InputOutput;
        }
        let mut precreate = failed(0, Operation::Create, 1);
        precreate.stage = Some((Phase::Precreate, 0));
        let findings = merged(vec![mild, failed(1, Operation::Read, 2), other, precreate], &benchmark(3));
        let severities: Vec<_> = findings.iter().map(|finding| finding.severity).collect();
        assert_eq!(severities, [Severity::Serious; 2]);
        let told = |finding| (count(finding), stages(finding).worst.clone(), stages(finding).share.clone());
        assert_eq!(told(&findings[0]), (2, "benchmark 2".to_owned(), "3 of 4 stages".to_owned()));
        assert_eq!((count(&findings[1]), stages(&findings[1]).worst.as_str()), (3, "benchmark 3"));
    }
}
