//! The same thing found in many stages or of many operations is one finding with a count, which names the worst.
//!
//! Pure: what was sighted goes in, findings come out in the order in which their first like was sighted.

use crate::finding::words::joined;
use iolag_model::{ErrorClass, Nanoseconds, Operation};

use super::stage_names::{StageKey, places_in_words, stage_name};
use crate::finding::Finding;

/// What makes two sightings alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Attempts took longer than this.
    Slow(Nanoseconds),
    /// Attempts failed like this.
    Failed(ErrorClass),
    /// Attempts are either fast or slow.
    TwoModes,
    /// Another number of objects was created than deleted.
    WorkingSetChanged,
    /// Clients were done at different times.
    Unequal,
    /// Operations failed because earlier ones did not end.
    LeftOut,
}

/// Something found in one place.
#[derive(Debug, Clone)]
pub(crate) struct Sighting {
    pub kind: Kind,
    /// Of which operation, if of one.
    pub operation: Option<Operation>,
    /// In which stage; absent where a run has none, or only one that goes without saying.
    pub stage: Option<StageKey>,
    /// How bad it is among its like.
    pub weight: f64,
    /// As it is told if nothing is like it; the sentence without the place.
    pub finding: Finding,
}

/// Tells what is alike once. `stages` are all that were measured.
pub(crate) fn merged(sightings: Vec<Sighting>, stages: &[StageKey]) -> Vec<(Kind, Finding)> {
    by_kind(sightings).into_iter().map(|alike| (alike[0].kind, told(alike, stages))).collect()
}

fn by_kind(sightings: Vec<Sighting>) -> Vec<Vec<Sighting>> {
    let mut groups: Vec<Vec<Sighting>> = Vec::new();
    for sighting in sightings {
        match groups.iter_mut().find(|group| group[0].kind == sighting.kind) {
            Some(group) => group.push(sighting),
            None => groups.push(vec![sighting]),
        }
    }
    groups
}

fn told(mut alike: Vec<Sighting>, all: &[StageKey]) -> Finding {
    let mut places: Vec<StageKey> = Vec::new();
    let mut operations: Vec<Operation> = Vec::new();
    for sighting in &alike {
        places.extend(sighting.stage.filter(|stage| !places.contains(stage)));
        operations.extend(sighting.operation.filter(|operation| !operations.contains(operation)));
    }
    // The gravest first, of these the worst.
    alike.sort_by(|one, other| {
        one.finding.severity.cmp(&other.finding.severity).then(other.weight.total_cmp(&one.weight))
    });
    let Sighting { operation, stage, weight, finding, .. } = alike.swap_remove(0);
    let mut finding = finding.weighing(weight);
    operations.retain(|other| Some(*other) != operation);
    let worst = stage.map(|(phase, iteration)| stage_name(phase, iteration)).unwrap_or_default();
    let head = match places.len() {
        0 => String::new(),
        1 => format!("{worst}: "),
        _ => format!("In {}, worst in {worst}: ", places_in_words(&places, all)),
    };
    let statement = finding.sentence.trim_end_matches('.');
    let also = if operations.is_empty() { String::new() } else { format!("; also {}", list(&operations)) };
    finding.sentence = format!("{head}{statement}{also}.");
    if places.len() > 1 {
        finding.places = places.iter().map(|(phase, iteration)| stage_name(*phase, *iteration)).collect();
    }
    finding
}

/// `a`, `b` and `c`.
fn list(operations: &[Operation]) -> String {
    joined(operations.iter().map(|operation| format!("`{operation}`")).collect())
}

#[cfg(test)]
mod tests {
    use iolag_model::Phase;

    use super::*;
    use crate::finding::Severity;
    use crate::finding::run_kind::RunFindingKind;

    fn failed(iteration: u32, operation: Operation, failures: u32) -> Sighting {
        let sentence = format!("{failures} of 2000 `{operation}` failed: not found.");
        Sighting {
            kind: Kind::Failed(ErrorClass::NotFound),
            operation: Some(operation),
            stage: Some((Phase::Benchmark, iteration)),
            weight: f64::from(failures),
            finding: Finding::new(RunFindingKind::Failed, Severity::Serious, sentence, "Look."),
        }
    }

    fn benchmark(iterations: u32) -> Vec<StageKey> {
        let mut stages = vec![(Phase::Precreate, 0)];
        stages.extend((0..iterations).map(|iteration| (Phase::Benchmark, iteration)));
        stages
    }

    fn findings(sightings: Vec<Sighting>, stages: &[StageKey]) -> Vec<Finding> {
        merged(sightings, stages).into_iter().map(|(_, finding)| finding).collect()
    }

    #[test]
    fn the_same_in_many_iterations_is_one_sentence_that_names_the_worst() {
        let mut sightings: Vec<_> = (50..300).map(|number| failed(number, Operation::Stat, 1600)).collect();
        sightings[211] = failed(261, Operation::Stat, 1641);
        let findings = findings(sightings, &benchmark(300));
        assert_eq!(findings.len(), 1);
        assert_eq!(
            findings[0].sentence,
            "In 250 of 300 iterations, worst in benchmark 262: 1641 of 2000 `stat` failed: not found."
        );
        assert_eq!((findings[0].places.len(), findings[0].places[0].as_str()), (250, "benchmark 51"));
    }

    #[test]
    fn other_operations_are_named_and_one_place_needs_no_count() {
        let sightings = vec![
            failed(0, Operation::Stat, 5),
            failed(0, Operation::Read, 7),
            failed(0, Operation::Delete, 1),
        ];
        let findings = findings(sightings, &benchmark(3));
        let sentence = "benchmark 1: 7 of 2000 `read` failed: not found; also `stat` and `delete`.";
        assert_eq!((findings.len(), findings[0].sentence.as_str()), (1, sentence));
        assert!(findings[0].places.is_empty());
    }

    #[test]
    fn what_is_grave_somewhere_is_told_as_grave_and_what_differs_stays_apart() {
        let mut mild = failed(0, Operation::Read, 900);
        mild.finding.severity = Severity::Warning;
        let mut other = failed(2, Operation::Read, 3);
        other.kind = Kind::Failed(ErrorClass::InputOutput);
        let mut precreate = failed(0, Operation::Create, 1);
        precreate.stage = Some((Phase::Precreate, 0));
        let findings = findings(vec![mild, failed(1, Operation::Read, 2), other, precreate], &benchmark(3));
        let severities: Vec<_> = findings.iter().map(|finding| finding.severity).collect();
        assert_eq!(severities, [Severity::Serious; 2]);
        assert!(findings[0].sentence.starts_with("In 3 of 4 stages, worst in benchmark 2: 2 of 2000 `read`"));
        assert!(findings[1].sentence.starts_with("benchmark 3: 3 of 2000"));
    }
}
