//! The comparison of the sides of a campaign, of what is known of its runs.

use iolag_analysis::compare::{
    CompareError, CompareOptions, ComparedTable, Side, Unit, compare_sides, defining_labels, unit_of_run,
};
use iolag_analysis::{analysed, run_values};

use crate::bench::campaign::PlannedRun;
use crate::bench::sides;
use crate::messages::Stored;

/// A run as a unit, by what is compared of its workload without saying so.
pub fn unit_of_stored(stored: &Stored) -> Unit {
    let Stored { record, summaries, .. } = stored;
    let workload = analysed(&record.spec.workload);
    let values = run_values(record, &workload.cells(record), summaries, &[workload.compared()]);
    unit_of_run(record, &values)
}

/// Compares the sides of a campaign in the order in which they were named, also those that have no run; `None` if there is only one, or no run.
///
/// # Errors
/// If they have nothing in common, since too little of one was measured.
pub fn compare_campaign<'a>(
    named: &[sides::Side],
    runs: impl IntoIterator<Item = (&'a PlannedRun, Unit)>,
) -> Option<Result<ComparedTable, CompareError>> {
    let mut runs: Vec<(&PlannedRun, Unit)> = runs.into_iter().collect();
    runs.sort_by_key(|(run, _)| (run.number, run.block));
    let side =
        |side: &sides::Side| Side { name: side.shown(), units: Vec::new(), chosen_by: Default::default() };
    let mut sides: Vec<Side> = named.iter().map(side).collect();
    if sides.len() < 2 || runs.is_empty() {
        return None;
    }
    for (run, unit) in runs {
        let name = run.point.side.shown();
        sides
            .iter_mut()
            .filter(|side| side.name == name)
            .take(1)
            .for_each(|side| side.units.push(unit.clone()));
    }
    let chosen_by = defining_labels(&sides);
    sides.iter_mut().for_each(|side| side.chosen_by.clone_from(&chosen_by));
    Some(compare_sides(sides, &CompareOptions::default()))
}
