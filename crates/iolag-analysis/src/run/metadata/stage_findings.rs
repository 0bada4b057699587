//! What to think of the times of stages, said once for all stages of a run.

use iolag_model::{Nanoseconds, format_duration};

use super::stage::StageAnalysis;
use super::stage_endings::cut_off;
use crate::finding::run_kind::RunFindingKind;
use crate::finding::words::{capitalised, share_in_words};
use crate::finding::{EvidenceAmount, Finding, Severity};
use crate::run::stage_names::stage_name;

/// Clients that start later than this share of the stage are told.
const SKEW_SHARE: f64 = 0.05;
/// Stages that are shorter are told.
const SHORT: Nanoseconds = Nanoseconds::from_seconds(1);

/// Stages in which a client started late, measured by how long they lasted.
pub(crate) fn clients_start_late(stages: &[StageAnalysis]) -> Option<Finding> {
    let late: Vec<(&StageAnalysis, Nanoseconds, f64)> = stages
        .iter()
        .filter_map(|stage| {
            let skew = stage.times.start_skew_ns?;
            let time = stage.times.phase_time_ns.0.max(1) as f64;
            Some((stage, skew, skew.0 as f64 / time)).filter(|(_, _, share)| *share > SKEW_SHARE)
        })
        .collect();
    let (stage, skew, share) = late.iter().max_by(|one, other| one.2.total_cmp(&other.2))?;
    let sentence = format!(
        "In {} clients did not start together: in {} the last one started {} after the first, {} of the stage.",
        stages_in_words(late.len(), stages.len()),
        stage_name(stage.phase, stage.iteration),
        format_duration(*skew),
        share_in_words(*share)
    );
    let advice =
        "Rates count that time, too. Use no more clients than processors, or longer stages: more objects.";
    Some(
        Finding::new(RunFindingKind::LateStart, Severity::Warning, sentence, advice)
            .with("latest start", format_duration(*skew), *skew)
            .with("share of the stage", share_in_words(*share), EvidenceAmount::Share(*share)),
    )
}

/// Stages so short that their rates say little of how it goes on. One that was cut off is told as that.
pub(crate) fn stages_are_short(stages: &[StageAnalysis]) -> Option<Finding> {
    let whole = &stages[..stages.len() - usize::from(cut_off(stages).is_some())];
    let short = whole.iter().filter(|stage| stage.times.phase_time_ns < SHORT);
    let count = short.clone().count();
    let shortest = short.min_by_key(|stage| stage.times.phase_time_ns)?;
    let time = format_duration(shortest.times.phase_time_ns);
    let sentence = format!(
        "{} lasted less than {SHORT}: {} only {time}.",
        capitalised(&stages_in_words(count, stages.len())),
        stage_name(shortest.phase, shortest.iteration)
    );
    let advice =
        "A stage this short measures its beginning and chance: use more objects, and compare no rates of it.";
    let finding = Finding::new(RunFindingKind::ShortStages, Severity::Note, sentence, advice);
    Some(finding.with("shortest stage", time, shortest.times.phase_time_ns))
}

/// The stage in which the run was stopped or killed.
pub(crate) fn stage_cut_off(stages: &[StageAnalysis], clients: u32) -> Option<Finding> {
    let stage = cut_off(stages)?;
    let who = match stage.unfinished.clients {
        all if all == u64::from(clients) => "before any client had finished it".to_owned(),
        some => format!("before {some} of {clients} clients had finished it"),
    };
    let time = format_duration(stage.times.phase_time_ns);
    let sentence = format!("{} was cut off after {time}, {who}.", capitalised(&stage.name()));
    let advice = "Its figures are of its beginning: compare no rates of it, and measure again.";
    Some(Finding::new(RunFindingKind::CutOff, Severity::Note, sentence, advice))
}

fn stages_in_words(count: usize, all: usize) -> String {
    match (count, all) {
        (1, 1) => "the only stage".to_owned(),
        (count, all) if count == all => format!("each of {all} stages"),
        _ => format!("{count} of {all} stages"),
    }
}
