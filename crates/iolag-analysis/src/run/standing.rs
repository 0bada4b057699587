//! How a run ended, for those who compare it.

use iolag_model::{Level, Role, RunRecord, RunState};

use super::summary::{Summaries, Summary};
use super::void::{Agreement, void};

/// How a run ended, for those who compare it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// All was done.
    Whole,
    /// Something passed its deadline and had not ended, or was ended for it.
    Hung,
    /// The target failed: full, gone, read-only.
    Failed,
    /// The user or the host ended it, or it goes on: that says nothing of the target.
    BrokenOff,
    /// It goes on, as those say who know that what measures it is alive.
    Running,
    /// Nothing was measured: the target did not let anybody begin.
    Unreached,
    /// What was measured is not what was to be: a replay that did something else than its program.
    Void,
}

impl Standing {
    /// Whether it is one run among others, if only with bounds.
    pub const fn is_unit(self) -> bool {
        matches!(self, Self::Whole | Self::Hung | Self::Failed)
    }
}

/// What hung or failed counts first: who breaks off a run because of that takes nothing back.
pub(super) fn standing(record: &RunRecord, summaries: &Summaries) -> Standing {
    let stages_beside = || record.beside.iter().flat_map(|beside| &beside.stages);
    // What hangs beside a load holds up nothing of it.
    let is_beside = |summary: &Summary| stages_beside().any(|own| summary.key.stage == Some(own.stage));
    let is_of_load = |summary: &&Summary| is_measured(summary) && !is_beside(summary);
    let mut measured = summaries.summaries.iter().filter(is_of_load).peekable();
    let deadlines = record.spec.deadlines_of(Role::Load);
    if measured.peek().is_none() {
        return if record.state.is_broken_off() { Standing::BrokenOff } else { Standing::Unreached };
    }
    // What is in flight when its process is killed has not ended either, but is younger.
    let is_hung = |summary: &Summary| {
        let longest = summary.durations.max.lower_bound().unwrap_or_default();
        summary.timeout > 0 || summary.hung > 0 && longest >= deadlines.of(summary.key.operation)
    };
    let replay = record.spec.workload.replay();
    match record.state {
        _ if replay.is_some_and(|spec| !void(Agreement::of(summaries), &spec.coverage).is_empty()) => {
            Standing::Void
        }
        _ if measured.any(is_hung) => Standing::Hung,
        RunState::Complete => Standing::Whole,
        _ if record.state.has_failed_target() => Standing::Failed,
        _ if record.state.is_broken_off() => Standing::BrokenOff,
        _ => Standing::Failed,
    }
}

/// What iolag itself did is in no cell.
pub(super) fn is_measured(summary: &Summary) -> bool {
    summary.key.operation.level() != Level::Harness
}
