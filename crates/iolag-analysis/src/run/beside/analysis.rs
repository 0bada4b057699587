//! What everybody else feels while a load works: before it, in each of its stages, and after it, in each place.
//!
//! How much longer that is, and whether anybody is said to wait for it, is in [`super::times`].

use std::collections::BTreeSet;

use iolag_model::{
    BystanderStage, BystanderTask, LoadTime, Operation, Phase, RunRecord, StageIndex, Standpoint,
};
use serde::Serialize;

use super::times::{TimesAsLong, is_stall};
use crate::run::summary::{Summaries, Summary};

/// What was felt beside a load.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BesideAnalysis {
    /// How often each of them asked in each place, a second.
    pub rate_per_second: f64,
    /// What all of them together asked of the target, a second: their own load.
    pub target_per_second: f64,
    /// What the control asked of this machine's memory, a second.
    pub control_per_second: f64,
    /// The times of the load, in their order.
    pub times: Vec<BesideTime>,
    /// What was asked where.
    pub rows: Vec<BesideRow>,
}

/// A time of the load.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct BesideTime {
    /// Which.
    pub time: LoadTime,
    /// What the load did in it, if it was in a stage.
    #[serde(flatten)]
    pub stage: Option<LoadStage>,
}

/// What a load did in a stage.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LoadStage {
    /// What.
    pub phase: Phase,
    /// Which iteration of that, from 0.
    pub iteration: u32,
    /// Bytes that it moved.
    pub bytes: u64,
}

/// What was asked in a place.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BesideRow {
    /// The place.
    pub standpoint: Standpoint,
    /// What.
    pub operation: Operation,
    /// What was felt, for each time of the load; nothing if it was not asked then.
    pub felt: Vec<Option<BesideCell>>,
}

/// What was felt in one place at one time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BesideCell {
    /// Its attempts.
    pub summary: Summary,
    /// Compared with before; absent for before itself, and where that is not known.
    pub times_as_long: Option<TimesAsLong>,
    /// Whether it is shown that it took longer than before, by more than in this machine's memory.
    pub is_longer: bool,
    /// Whether somebody waited much longer than anybody before.
    pub is_stall: bool,
}

/// What was felt beside the load of a run, if somebody measured.
pub(crate) fn analyse_beside(run: &RunRecord, summaries: &Summaries) -> Option<BesideAnalysis> {
    let (spec, beside) = (run.spec.bystander.as_ref()?, run.beside.as_ref()?);
    let mut times: Vec<LoadTime> = Vec::new();
    for stage in &beside.stages {
        if !times.contains(&stage.time) {
            times.push(stage.time);
        }
    }
    let rows = rows(&beside.stages, &times, summaries);
    let places: BTreeSet<Standpoint> = beside.stages.iter().map(|stage| stage.standpoint).collect();
    let asked = |is_control: bool| {
        let places = places.iter().filter(|place| (**place == Standpoint::Control) == is_control);
        places.flat_map(|place| spec.asked_in(*place)).count() as f64 * spec.rate_per_second
    };
    Some(BesideAnalysis {
        rate_per_second: spec.rate_per_second,
        target_per_second: asked(false),
        control_per_second: asked(true),
        times: times
            .into_iter()
            .map(|time| BesideTime { time, stage: load_stage(time, run, summaries) })
            .collect(),
        rows,
    })
}

fn rows(stages: &[BystanderStage], times: &[LoadTime], summaries: &Summaries) -> Vec<BesideRow> {
    let summary = |standpoint: Standpoint, time: LoadTime, operation: Operation| {
        let stage = stages.iter().find(|stage| stage.standpoint == standpoint && stage.time == time)?;
        let of_stage =
            |summary: &&Summary| summary.key.stage == Some(stage.stage) && summary.key.operation == operation;
        // What was asked of a file that was not there is no attempt, nor what came due behind that. Elsewhere all of a stage may have come due
        // behind an attempt that began before it.
        let is_absent =
            |summary: &&Summary| summary.retried > 0 && summary.attempts == summary.retried + summary.skipped;
        summaries.summaries.iter().find(of_stage).filter(|summary| !is_absent(summary))
    };
    let row = |(standpoint, operation): (Standpoint, Operation)| {
        // The file of the load is not there before: what is there then is a file beside it.
        let stands_in = match standpoint {
            Standpoint::File => Standpoint::Directory,
            other => other,
        };
        let before = |standpoint| summary(standpoint, LoadTime::Before, operation);
        let compared = |standpoint: Standpoint, stands_in: Standpoint, time: LoadTime| {
            TimesAsLong::of(summary(standpoint, time, operation)?, before(stands_in)?)
        };
        let cell = |time: &LoadTime| {
            let summary_then = summary(standpoint, *time, operation)?;
            let is_before = *time == LoadTime::Before;
            let times_as_long = if is_before { None } else { compared(standpoint, stands_in, *time) };
            let control = Some(Standpoint::Control).filter(|control| *control != standpoint);
            let of_control = control.and_then(|control| compared(control, control, *time));
            let longest = |summary: &Summary| summary.durations.max;
            Some(BesideCell {
                times_as_long,
                is_longer: times_as_long.is_some_and(|times| times.is_longer(of_control.as_ref())),
                is_stall: !is_before
                    && is_stall(
                        longest(summary_then),
                        before(stands_in).map(longest),
                        control.and_then(|control| summary(control, *time, operation)).map(longest),
                    ),
                summary: summary_then.clone(),
            })
        };
        let felt: Vec<_> = times.iter().map(cell).collect();
        felt.iter().any(Option::is_some).then_some(BesideRow { standpoint, operation, felt })
    };
    asked_everywhere().filter_map(row).collect()
}

/// All that may be asked in any place, in the order in which it is told.
pub(crate) fn asked_everywhere() -> impl Iterator<Item = (Standpoint, Operation)> {
    let in_place = |place: &Standpoint| {
        let place = *place;
        BystanderTask::ALL.iter().map(move |task| (place, task.operation()))
    };
    Standpoint::ALL.iter().flat_map(in_place)
}

fn load_stage(time: LoadTime, run: &RunRecord, summaries: &Summaries) -> Option<LoadStage> {
    let LoadTime::During(stage) = time else { return None };
    let record = run.stages.iter().find(|record| record.stage == stage)?;
    Some(LoadStage { phase: record.phase, iteration: record.iteration, bytes: bytes_moved(stage, summaries) })
}

fn bytes_moved(stage: StageIndex, summaries: &Summaries) -> u64 {
    let of_stage = summaries.summaries.iter().filter(|summary| summary.key.stage == Some(stage));
    of_stage
        .filter(|summary| summary.key.operation.block_direction().is_some())
        .map(|summary| summary.bytes)
        .sum()
}
