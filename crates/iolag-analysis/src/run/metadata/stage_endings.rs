//! Which clients did not finish a stage, and of how many of them nobody recorded how it ended.
//!
//! A client records the end of each stage, also when it is stopped in it. Who was killed, or given up because an operation did not
//! end, does not: what such a client did last is not known.

use super::stage::Unfinished;
use std::collections::BTreeMap;

use iolag_model::{ClientId, Nanoseconds, Operation, RunRecord, RunState};

use super::stage::StageAnalysis;
use crate::run::summary::{StageEnding, Summaries};

/// Counts them in each stage. A client did not finish the stage after the last of which it recorded an end; of a run that is
/// complete or goes on nobody is missed.
pub(crate) fn count_unfinished(stages: &mut [StageAnalysis], run: &RunRecord, summaries: &Summaries) {
    let mut last: BTreeMap<ClientId, (usize, StageEnding)> = BTreeMap::new();
    for (index, stage) in stages.iter_mut().enumerate() {
        let hung = summaries.summaries.iter().filter(|summary| {
            summary.key.stage == Some(stage.stage) && summary.key.operation == Operation::Stage
        });
        let unfinished = stage.clients.iter().filter(|client| client.ending == StageEnding::Unfinished);
        stage.unfinished = Unfinished {
            clients: unfinished.count() as u64,
            unrecorded: hung.map(|summary| summary.hung).sum(),
            hung: operations_hung(stage, run.spec.deadline_ns),
        };
        last.extend(stage.clients.iter().map(|client| (client.client, (index, client.ending))));
    }
    if !matches!(run.state, RunState::Incomplete { .. } | RunState::Recovered { .. }) {
        return;
    }
    for client in (0..run.spec.clients).map(ClientId) {
        let missed = match last.get(&client) {
            None => 0,
            Some((index, StageEnding::Ended)) => index + 1,
            Some((_, StageEnding::Unfinished)) => continue,
        };
        if let Some(stage) = stages.get_mut(missed) {
            stage.unfinished.clients += 1;
            stage.unfinished.unrecorded += 1;
        }
    }
}

/// The stage in which the run was stopped or killed: the last one, unless whoever did not finish it hung.
pub(crate) fn cut_off(stages: &[StageAnalysis]) -> Option<&StageAnalysis> {
    stages.last().filter(|stage| stage.unfinished.clients > stage.unfinished.hung)
}

/// What is in flight when its process is killed has not ended either, but is younger.
fn operations_hung(stage: &StageAnalysis, deadline: Nanoseconds) -> u64 {
    let summaries = stage.rows.iter().map(|row| &row.summary);
    let old = summaries.filter(|summary| summary.durations.max.lower_bound() >= Some(deadline));
    old.map(|summary| summary.hung).sum()
}
