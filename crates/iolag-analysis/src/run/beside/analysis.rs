//! What everybody else feels while a load works: before it, in each of its stages, and after it, in each place.
//!
//! How many times as long something takes is the ratio of two medians. Its interval goes from the lower end of the one's to the upper end of
//! the other's, which holds with at least the probability of the two; it is of this run only, since attempts of one run resemble each other.

use iolag_model::{
    BystanderStage, BystanderTask, LoadTime, Operation, Phase, RunRecord, StageIndex, Standpoint,
};
use serde::Serialize;

use crate::run::summary::{QuantileEstimate, Summaries, Summary};

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
}

/// How many times as long something takes as it did before.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TimesAsLong {
    /// The ratio of the medians.
    pub factor: f64,
    /// Its interval, of at least 95 %; absent if one of the medians has none.
    pub interval: Option<[f64; 2]>,
    /// Whether it is that at least: the median lies among attempts that had not ended.
    pub is_at_least: bool,
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
    let asked = |is_control: bool| {
        let asked = rows.iter().filter(|row| (row.standpoint == Standpoint::Control) == is_control);
        asked.count() as f64 * spec.rate_per_second
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
        // What was asked of a file that was not there is no attempt.
        summaries.summaries.iter().find(of_stage).filter(|summary| summary.attempts > summary.retried)
    };
    let row = |(standpoint, operation): (Standpoint, Operation)| {
        // The file of the load is not there before: what is there then is a file beside it.
        let stands_in = match standpoint {
            Standpoint::File => Standpoint::Directory,
            other => other,
        };
        let before = summary(stands_in, LoadTime::Before, operation);
        let felt: Vec<_> = times
            .iter()
            .map(|time| {
                let summary = summary(standpoint, *time, operation)?;
                let compared = before.filter(|_| *time != LoadTime::Before);
                let times_as_long = compared.and_then(|before| TimesAsLong::of(summary, before));
                Some(BesideCell { summary: summary.clone(), times_as_long })
            })
            .collect();
        felt.iter().any(Option::is_some).then_some(BesideRow { standpoint, operation, felt })
    };
    let places = Standpoint::ALL
        .iter()
        .flat_map(|place| BystanderTask::ALL.iter().map(|task| (*place, task.operation())));
    places.filter_map(row).collect()
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

impl TimesAsLong {
    fn of(summary: &Summary, before: &Summary) -> Option<Self> {
        let known = |estimate: &QuantileEstimate| Some(estimate.value.lower_bound()?.0 as f64);
        let (median, base) = (&summary.durations.median, &before.durations.median);
        let base_ns = known(base).filter(|base| *base > 0.0)?;
        let ends = |estimate: &QuantileEstimate| {
            estimate.interval.bounds().map(|(low, high)| [low.0 as f64, high.0 as f64])
        };
        let interval = ends(median).zip(ends(base)).filter(|(_, base)| base[0] > 0.0);
        Some(Self {
            factor: known(median)? / base_ns,
            interval: interval.map(|(now, base)| [now[0] / base[1], now[1] / base[0]]),
            is_at_least: matches!(median.value, crate::QuantileValue::AtLeast(_)),
        })
    }
}
