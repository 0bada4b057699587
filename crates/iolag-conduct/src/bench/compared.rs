//! The comparison of the sides of a campaign, of what is known of its runs.

use iolag_analysis::compare::{
    CompareError, CompareOptions, ComparedTable, Side, Unit, compare_sides, defining_labels, unit_of_run,
};
use iolag_analysis::{analysed, run_values};
use iolag_model::RunRecord;

use crate::bench::campaign::{Campaign, PlannedRun};
use crate::messages::Stored;

/// A run as a unit, by what is compared of its workload without saying so.
pub fn unit_of_stored(stored: &Stored) -> Unit {
    let Stored { record, summaries, .. } = stored;
    let workload = analysed(&record.spec.workload);
    let values = run_values(record, &workload.cells(record), summaries, &[workload.compared()]);
    unit_of_run(record, &values)
}

/// Compares the sides of a campaign by these of its runs, in the order in which they were named, also those of which none was made, or the
/// kinds of connections to its only target; `None` if there is nothing to compare, or no run was made.
///
/// # Errors
/// If they have nothing in common, since too little of one was measured.
pub fn compare_campaign<'a>(
    campaign: &Campaign,
    made: impl IntoIterator<Item = (&'a PlannedRun, Unit)>,
) -> Option<Result<ComparedTable, CompareError>> {
    let session = (!campaign.compared_sessions().is_empty()).then_some(RunRecord::SESSION);
    let name = |run: &PlannedRun| {
        let value = session.and_then(|session| Some((session, run.point.coordinates.get(session)?)));
        value.map_or_else(|| run.point.side.shown(), |(session, value)| format!("{session} {value}"))
    };
    let mut sides: Vec<Side> = Vec::new();
    let mut parts: Vec<(usize, String)> = campaign.runs.iter().map(|run| (run.number, name(run))).collect();
    parts.sort();
    for (_, name) in parts {
        if sides.iter().all(|side| side.name != name) {
            sides.push(Side { name, units: Vec::new(), chosen_by: Default::default() });
        }
    }
    let mut made: Vec<(&PlannedRun, Unit)> = made.into_iter().collect();
    made.sort_by_key(|(run, _)| (run.number, run.block));
    if sides.len() < 2 || made.is_empty() {
        return None;
    }
    for (run, unit) in made {
        let name = name(run);
        if let Some(side) = sides.iter_mut().find(|side| side.name == name) {
            side.units.push(unit);
        }
    }
    let mut chosen_by = defining_labels(&sides);
    chosen_by.extend(session.map(str::to_owned));
    sides.iter_mut().for_each(|side| side.chosen_by.clone_from(&chosen_by));
    Some(compare_sides(sides, &CompareOptions::default()))
}
