//! One stage: its times, its rates, its operations and its clients.

use iolag_model::{Level, Operation, Phase, StageIndex, StageRecord};
use serde::{Deserialize, Serialize};

use crate::run::stage_names::{StageKey, stage_name};
use crate::run::stage_rates::{StageClock, StageTimes};
use crate::run::summary::{ErrorCount, StageClient, Summaries, Summary};
use crate::run::surroundings::caches::StageCaches;
use crate::run::sweep::Repetition;

const MEBIBYTE: f64 = 1_048_576.0;

/// One stage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StageAnalysis {
    /// Its number.
    pub stage: StageIndex,
    /// What it did.
    pub phase: Phase,
    /// Which iteration, from 0.
    pub iteration: u32,
    /// How long it took, together and each client.
    #[serde(flatten)]
    pub times: StageTimes,
    /// Objects that were handled completely.
    pub objects: u64,
    /// Objects by the phase time.
    pub objects_per_second: f64,
    /// Operations that succeeded.
    pub operations: u64,
    /// Operations that succeeded, by the phase time.
    pub operations_per_second: f64,
    /// Bytes moved, in MiB, by the phase time.
    pub mebibytes_per_second: f64,
    /// Failures of all operations by kind.
    pub errors: Vec<ErrorCount>,
    /// Objects created and deleted; in the benchmark phase they must be equal.
    pub working_set: WorkingSetChange,
    /// What was done about caches before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caches: Option<StageCaches>,
    /// Summaries of the operations, with the rate by the phase time.
    pub rows: Vec<OperationRow>,
    /// Each client's time.
    pub clients: Vec<StageClient>,
    /// Clients that did not finish it.
    #[serde(default, skip_serializing_if = "Unfinished::is_none")]
    pub unfinished: Unfinished,
}

/// One operation within a stage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OperationRow {
    /// In which target, or in which two, of a run that copies from one to another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// Attempts that succeeded, by the phase time.
    pub per_second: f64,
    /// The summary.
    pub summary: Summary,
}

/// How a stage changed the number of objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkingSetChange {
    /// Objects created.
    pub created: u64,
    /// Objects deleted.
    pub deleted: u64,
}

impl WorkingSetChange {
    /// Whether as many objects are there as before.
    pub const fn is_constant(self) -> bool {
        self.created == self.deleted
    }
}

/// Clients that did not finish a stage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unfinished {
    /// All of them: stopped, given up, or killed.
    pub clients: u64,
    /// Of these, those whose end is not on record: given up, or killed.
    pub unrecorded: u64,
    /// Of these, those of which an operation passed its deadline and did not end; not those that were killed in one.
    pub hung: u64,
}

impl Unfinished {
    /// Whether all clients finished.
    pub const fn is_none(&self) -> bool {
        self.clients == 0
    }
}

pub(crate) fn stage_analysis(record: &StageRecord, summaries: &Summaries) -> Option<StageAnalysis> {
    let of_stage = |summary: &&Summary| summary.key.stage == Some(record.stage);
    let measured: Vec<&Summary> = summaries
        .summaries
        .iter()
        .filter(of_stage)
        .filter(|summary| summary.key.operation.level() != Level::Harness)
        .collect();
    let clients: Vec<StageClient> =
        summaries.stage_clients.iter().filter(|client| client.stage == record.stage).copied().collect();
    if measured.is_empty() && clients.is_empty() {
        return None;
    }
    // Without operations, or without their starts, the clients' own samples are all that is known.
    let clock = StageClock::of(record.stage, &summaries.summaries).or_else(|| clock_of_clients(&clients))?;
    let per_second = |amount: f64| clock.per_second(amount).unwrap_or_default();
    let count = |operations: &[Operation]| -> u64 {
        let wanted = measured.iter().filter(|summary| operations.contains(&summary.key.operation));
        wanted.map(|summary| summary.succeeded()).sum()
    };
    let created = count(&[Operation::Create, Operation::CallCreate]);
    let deleted = count(&[Operation::Delete, Operation::CallUnlink]);
    let objects = match record.phase {
        Phase::Precreate | Phase::BatchCreate => created,
        Phase::Cleanup | Phase::BatchRemove => deleted,
        Phase::BatchStat => count(&[Operation::Stat, Operation::CallStat]),
        Phase::TreeCreate => count(&[Operation::MakeDirectory, Operation::CallMkdir]),
        Phase::TreeRemove => count(&[Operation::RemoveDirectory, Operation::CallRmdir]),
        _ => count(&[Operation::Read, Operation::CallRead]),
    };
    // A part of a request is none.
    let asked = measured.iter().filter(|summary| !summary.key.operation.is_mark());
    let operations: u64 = asked.map(|summary| summary.succeeded()).sum();
    let bytes: u64 = measured.iter().map(|summary| summary.bytes).sum();
    Some(StageAnalysis {
        stage: record.stage,
        phase: record.phase,
        iteration: record.iteration,
        times: clock.times(&clients),
        objects,
        objects_per_second: per_second(objects as f64),
        operations,
        operations_per_second: per_second(operations as f64),
        mebibytes_per_second: per_second(bytes as f64 / MEBIBYTE),
        errors: errors_of(&measured),
        working_set: WorkingSetChange { created, deleted },
        caches: StageCaches::of(record.stage, summaries),
        rows: measured
            .into_iter()
            .map(|summary| OperationRow {
                place: None,
                per_second: per_second(summary.succeeded() as f64),
                summary: summary.clone(),
            })
            .collect(),
        clients,
        unfinished: Unfinished::default(),
    })
}

fn clock_of_clients(clients: &[StageClient]) -> Option<StageClock> {
    let spans = clients.iter().map(|client| StageClock { begin: client.start_ns, end: client.end() });
    spans.reduce(StageClock::and)
}

fn errors_of(summaries: &[&Summary]) -> Vec<ErrorCount> {
    let mut errors: Vec<ErrorCount> = Vec::new();
    for error in summaries.iter().flat_map(|summary| &summary.errors) {
        match errors.iter_mut().find(|known| known.class == error.class) {
            Some(known) => known.count += error.count,
            None => errors.push(*error),
        }
    }
    errors.sort_unstable_by_key(|error| error.class);
    errors
}

impl StageAnalysis {
    /// The stage as one repetition among others: its rate, and the mean time of an object in equal parts of
    /// it.
    pub fn repetition(&self) -> Repetition {
        let asked = self.rows.iter().filter(|row| !row.summary.key.operation.is_mark());
        let parts = asked.map(|row| &row.summary.durations.part_means_ns);
        let length = parts.clone().map(Vec::len).min().unwrap_or(0);
        let sum = |index: usize| parts.clone().map(|means| means[index]).sum();
        Repetition { rate_per_second: self.operations_per_second, parts: (0..length).map(sum).collect() }
    }

    /// Its phase and iteration.
    pub(crate) const fn key(&self) -> StageKey {
        (self.phase, self.iteration)
    }

    /// The stages before which something was done about caches, by name.
    pub(crate) fn with_caches(stages: &[Self]) -> Vec<(String, StageCaches)> {
        stages.iter().filter_map(|stage| Some((stage.name(), stage.caches?))).collect()
    }

    /// What it is called: see [`stage_name`].
    pub fn name(&self) -> String {
        stage_name(self.phase, self.iteration)
    }

    /// The row of this operation.
    pub fn row(&self, operation: Operation) -> Option<&OperationRow> {
        self.rows.iter().find(|row| row.summary.key.operation == operation)
    }
}
