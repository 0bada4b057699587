//! Whether the working set of a metadata run stayed what it was, and what followed when it did not.
//!
//! Only outcomes are judged. iolag asks for nothing that it has not made, so what it does not find is gone, unless iolag itself
//! left it out: after a failed stat it neither removes the object nor makes its successor. A failure therefore explains one object
//! that is not found in each later stage; what is not found beyond that was lost.

use iolag_model::{ErrorClass, MetadataSpec, Operation, Phase};
use serde::{Deserialize, Serialize};

use super::lost_objects::LostObjects;
use super::stage::{OperationRow, StageAnalysis};
use crate::finding::of_runs::{ObjectsGone, RunFinding, RunFound};
use crate::finding::{FollowedFailure, Severity};
use crate::run::stage_names::{StageKey, named_places, places_in_words};
use crate::run::summary::ErrorCount;

/// What became of the working set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "state")]
pub enum WorkingSet {
    /// There was no benchmark phase.
    NotChecked,
    /// Every iteration created as many objects as it deleted, and found what was made before.
    Constant,
    /// Iterations created another number of objects than they deleted.
    Changed {
        /// The first of them.
        stage: String,
        /// All of them, in words: `benchmark 1`, `benchmark 1 to 3`, `3 of 5 iterations`.
        stages: String,
        /// Objects created in all of them.
        created: u64,
        /// Objects deleted in all of them.
        deleted: u64,
    },
    /// Nothing of an iteration succeeded, so nothing is known.
    Unknown {
        /// The first of them.
        stage: String,
    },
    /// A client was killed or given up, and what it did last is not known.
    Unfinished {
        /// The first stage in which that was so.
        stage: String,
    },
    /// The run was not recorded to its end, so what was in flight then is not known.
    Unrecorded,
    /// Something that iolag had made and not removed was gone.
    Lost(LostObjects),
}

/// What is wrong with the working set, and which failures only follow from it.
pub(crate) struct Aftermath {
    pub(crate) working_set: WorkingSet,
    /// The first stage in which what follows was seen.
    from: Option<usize>,
}

impl Aftermath {
    pub(crate) fn of(stages: &[StageAnalysis], spec: Option<&MetadataSpec>, clients: u32) -> Self {
        let lost = spec.and_then(|spec| first_lost(stages, spec, clients));
        if let Some(index) = lost
            && let Some(lost) = lost_objects(stages, index)
        {
            return Self { working_set: WorkingSet::Lost(lost), from: Some(index) };
        }
        let skipped = stages.iter().position(|stage| {
            stage.rows.iter().any(|row| is_cause(stage, row.summary.key.operation) && unsuccessful(row) > 0)
        });
        Self { working_set: without_loss(stages), from: skipped }
    }

    /// Whether the failures of this operation are those that others follow from.
    pub(crate) fn is_cause(&self, stages: &[StageAnalysis], stage: StageKey, operation: Operation) -> bool {
        let from = self.from.and_then(|from| stages.get(from));
        from.is_some_and(|from| from.key() == stage && is_cause(from, operation))
    }

    /// Whether a failure in the stage with this index says nothing of its own.
    pub(crate) fn explains(&self, stage: usize, operation: Operation, class: ErrorClass) -> bool {
        self.from.is_some_and(|from| stage >= from)
            && match class {
                ErrorClass::NotFound => !matches!(operation, Operation::MakeDirectory | Operation::CallMkdir),
                ErrorClass::NotEmpty => {
                    matches!(operation, Operation::RemoveDirectory | Operation::CallRmdir)
                }
                _ => false,
            }
    }

    /// That something was lost, with what followed.
    pub(crate) fn finding(&self, stages: &[StageAnalysis]) -> Option<RunFinding> {
        let WorkingSet::Lost(lost) = &self.working_set else { return None };
        let led_to = self.followed(stages, Some(lost.operation));
        let found = RunFound::ObjectsGone(ObjectsGone { lost: lost.clone() });
        Some(RunFinding { led_to, ..RunFinding::new(found, Severity::Serious) })
    }

    /// What only follows from failures that are told on their own.
    pub(crate) fn consequences(&self, stages: &[StageAnalysis]) -> Vec<FollowedFailure> {
        match self.working_set {
            WorkingSet::Lost(_) => Vec::new(),
            _ => self.followed(stages, None),
        }
    }

    /// Failures that follow, by operation.
    fn followed(&self, stages: &[StageAnalysis], but: Option<Operation>) -> Vec<FollowedFailure> {
        let mut counts: Vec<FollowedFailure> = Vec::new();
        for (index, stage) in stages.iter().enumerate() {
            for row in stage.rows.iter().filter(|row| Some(row.summary.key.operation) != but) {
                let operation = row.summary.key.operation;
                for ErrorCount { class, count } in &row.summary.errors {
                    if !self.explains(index, operation, *class) {
                        continue;
                    }
                    let is_known =
                        |known: &&mut FollowedFailure| (known.operation, known.class) == (operation, *class);
                    match counts.iter_mut().find(is_known) {
                        Some(known) => known.count += count,
                        None => counts.push(FollowedFailure { operation, class: *class, count: *count }),
                    }
                }
            }
        }
        counts
    }
}

/// The working set where nothing was lost.
fn without_loss(stages: &[StageAnalysis]) -> WorkingSet {
    let is_benchmark = |stage: &&StageAnalysis| stage.phase == Phase::Benchmark;
    let Some(last) = stages.iter().rposition(|stage| is_benchmark(&stage)) else {
        return WorkingSet::NotChecked;
    };
    let failed = |stage: &&StageAnalysis| stage.operations == 0 && !stage.errors.is_empty();
    if let Some(stage) = stages.iter().filter(is_benchmark).find(failed) {
        return WorkingSet::Unknown { stage: stage.name() };
    }
    // What somebody did who was not seen to its end may make up for the difference.
    let is_unseen = |stage: &&StageAnalysis| stage.unfinished.unrecorded > 0;
    let changed: Vec<&StageAnalysis> = stages
        .iter()
        .filter(|stage| is_benchmark(stage) && !is_unseen(stage) && !stage.working_set.is_constant())
        .collect();
    match (changed.first(), stages[..=last].iter().find(is_unseen)) {
        (Some(first), _) => WorkingSet::Changed {
            stage: first.name(),
            stages: named_places(&keys(&changed), &keys(&stages.iter().collect::<Vec<_>>())),
            created: changed.iter().map(|stage| stage.working_set.created).sum(),
            deleted: changed.iter().map(|stage| stage.working_set.deleted).sum(),
        },
        (None, Some(stage)) => WorkingSet::Unfinished { stage: stage.name() },
        (None, None) => WorkingSet::Constant,
    }
}

fn keys(stages: &[&StageAnalysis]) -> Vec<StageKey> {
    stages.iter().map(|stage| stage.key()).collect()
}

/// The first stage in which more was not found than iolag itself can have left out.
fn first_lost(stages: &[StageAnalysis], spec: &MetadataSpec, clients: u32) -> Option<usize> {
    // A run that goes on with an interrupted one may lack half a row of each client.
    let inherited = match spec.phases.contains(&Phase::Precreate) {
        true => 0,
        false => u64::from(clients) * u64::from(spec.datasets),
    };
    let mut left_out = inherited;
    for (index, stage) in stages.iter().enumerate() {
        // Without its directory no object of a dataset is found, and what a client did not come to make is not there.
        if !stage.unfinished.is_none()
            || stage.rows.iter().any(|row| makes_directories(row) && unsuccessful(row) > 0)
        {
            return None;
        }
        let not_found: u64 = stage.rows.iter().map(not_found).sum();
        let turns = || stage.rows.iter().filter(|row| leaves_out(stage, row.summary.key.operation));
        left_out += turns().map(|row| unsuccessful(row) - self::not_found(row)).sum::<u64>();
        if not_found > left_out {
            return Some(index);
        }
        left_out += turns().map(self::not_found).sum::<u64>();
    }
    None
}

/// Whether an object is not made because this failed.
fn leaves_out(stage: &StageAnalysis, operation: Operation) -> bool {
    match operation {
        Operation::Stat | Operation::CallStat => stage.phase == Phase::Benchmark,
        Operation::Create | Operation::CallCreate => true,
        _ => false,
    }
}

/// Whether something is missing or in the way later because this failed.
fn is_cause(stage: &StageAnalysis, operation: Operation) -> bool {
    leaves_out(stage, operation)
        || matches!(
            operation,
            Operation::Delete | Operation::CallUnlink | Operation::MakeDirectory | Operation::CallMkdir
        )
}

const fn makes_directories(row: &OperationRow) -> bool {
    matches!(row.summary.key.operation, Operation::MakeDirectory | Operation::CallMkdir)
}

fn unsuccessful(row: &OperationRow) -> u64 {
    row.summary.failures() + row.summary.censored()
}

fn not_found(row: &OperationRow) -> u64 {
    let errors = row.summary.errors.iter().filter(|error| error.class == ErrorClass::NotFound);
    errors.map(|error| error.count).sum()
}

/// What is told of a loss that began in the stage with this index: its worst operation in each stage.
fn lost_objects(stages: &[StageAnalysis], from: usize) -> Option<LostObjects> {
    let operation = stages[from].rows.iter().max_by_key(|row| not_found(row))?.summary.key.operation;
    let suffered: Vec<(&StageAnalysis, &OperationRow)> = stages[from..]
        .iter()
        .filter_map(|stage| Some((stage, stage.row(operation).filter(|row| not_found(row) > 0)?)))
        .collect();
    // The first of the worst.
    let (worst, row) = suffered.iter().rev().max_by_key(|(_, row)| not_found(row))?;
    let places: Vec<StageKey> = suffered.iter().map(|(stage, _)| stage.key()).collect();
    let all: Vec<StageKey> = stages.iter().map(StageAnalysis::key).collect();
    Some(LostObjects {
        from: stages[from].name(),
        stages: if places.len() > 1 { places_in_words(&places, &all) } else { String::new() },
        worst: worst.name(),
        operation,
        not_found: not_found(row),
        attempts: row.summary.attempts,
    })
}
