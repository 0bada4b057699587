//! What to think of the times of stages, said once for all stages of a run.

use iolag_model::{Nanoseconds, Phase};

use super::stage::{OperationRow, StageAnalysis};
use super::stage_endings::cut_off;
use crate::finding::Severity;
use crate::finding::of_runs::{CutOff, LateStart, RunFinding, RunFound, ShortStages};
use crate::run::any_workload::common_sightings;
use crate::run::sightings::merged;
use crate::run::stage_names::{StageKey, stage_name};

/// Clients that start later than this share of the stage are told.
const SKEW_SHARE: f64 = 0.05;
/// Stages that are shorter are told.
const SHORT: Nanoseconds = Nanoseconds::from_seconds(1);

/// What any workload may give, in each of these stages, what several of them say being said once.
pub(crate) fn found_in_stages(stages: &[StageAnalysis]) -> Vec<RunFinding> {
    let of_row = |stage: &StageAnalysis, row: &OperationRow| {
        let mut sightings = common_sightings(&[&row.summary], Some(stage.key()), |_, _| false);
        sightings.iter_mut().for_each(|sighting| sighting.finding.place.clone_from(&row.place));
        sightings
    };
    let sightings = stages.iter().flat_map(|stage| stage.rows.iter().flat_map(|row| of_row(stage, row)));
    let keys: Vec<StageKey> = stages.iter().map(StageAnalysis::key).collect();
    merged(sightings.collect(), &keys)
}

/// The same of copies, of which the stage of their calls is called what it is.
pub(crate) fn found_of_copies(stages: &[StageAnalysis]) -> Vec<RunFinding> {
    const CALLS: &str = "calls of the copies";
    let benchmark = stage_name(Phase::Benchmark, 0);
    let mut findings = found_in_stages(stages);
    for stages in findings.iter_mut().filter_map(|finding| finding.stages.as_mut()) {
        let names = std::iter::once(&mut stages.worst).chain(&mut stages.all);
        names.filter(|name| **name == benchmark).for_each(|name| *name = CALLS.to_owned());
    }
    findings
}

/// Stages in which a client started late, measured by how long they lasted.
pub(crate) fn clients_start_late(stages: &[StageAnalysis]) -> Option<RunFinding> {
    let late: Vec<(&StageAnalysis, Nanoseconds, f64)> = stages
        .iter()
        .filter_map(|stage| {
            let skew = stage.times.start_skew_ns?;
            let time = stage.times.phase_time_ns.0.max(1) as f64;
            Some((stage, skew, skew.0 as f64 / time)).filter(|(_, _, share)| *share > SKEW_SHARE)
        })
        .collect();
    let (stage, skew, share) = late.iter().max_by(|one, other| one.2.total_cmp(&other.2))?;
    let found = RunFound::LateStart(LateStart {
        stages: late.len(),
        of: stages.len(),
        worst: stage.name(),
        skew_ns: *skew,
        share: *share,
    });
    Some(RunFinding::new(found, Severity::Warning))
}

/// Stages so short that their rates say little of how it goes on. One that was cut off is told as that.
pub(crate) fn stages_are_short(stages: &[StageAnalysis]) -> Option<RunFinding> {
    let whole = &stages[..stages.len() - usize::from(cut_off(stages).is_some())];
    let short = whole.iter().filter(|stage| stage.times.phase_time_ns < SHORT);
    let count = short.clone().count();
    let shortest = short.min_by_key(|stage| stage.times.phase_time_ns)?;
    let found = RunFound::ShortStages(ShortStages {
        stages: count,
        of: stages.len(),
        limit_ns: SHORT,
        shortest: shortest.name(),
        time_ns: shortest.times.phase_time_ns,
    });
    Some(RunFinding::new(found, Severity::Note))
}

/// The stage in which the run was stopped or killed.
pub(crate) fn stage_cut_off(stages: &[StageAnalysis], clients: u32) -> Option<RunFinding> {
    let stage = cut_off(stages)?;
    let found = RunFound::CutOff(CutOff {
        stage: stage.name(),
        time_ns: stage.times.phase_time_ns,
        unfinished: stage.unfinished.clients,
        clients,
    });
    Some(RunFinding::new(found, Severity::Note))
}
