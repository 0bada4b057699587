//! The comparison of the sides of a campaign, of what is known of its runs.

use iolag_analysis::compare::{
    CompareError, CompareOptions, ComparedTable, Side, Unit, compare_sides, defining_labels, unit_of_run,
};
use iolag_analysis::{analysed, run_values};

use crate::bench::campaign::PlannedRun;
use crate::messages::Stored;

/// A run as a unit, by what is compared of its workload without saying so.
pub fn unit_of_stored(stored: &Stored) -> Unit {
    let Stored { record, summaries, .. } = stored;
    let workload = analysed(&record.spec.workload);
    let values = run_values(record, &workload.cells(record), summaries, &[workload.compared()]);
    unit_of_run(record, &values)
}

/// Compares the sides of a campaign in the order in which they were named; `None` if only one has runs.
///
/// # Errors
/// If they have nothing in common, since too little of one was measured.
pub fn compare_campaign<'a>(
    runs: impl IntoIterator<Item = (&'a PlannedRun, Unit)>,
) -> Option<Result<ComparedTable, CompareError>> {
    let mut runs: Vec<(&PlannedRun, Unit)> = runs.into_iter().collect();
    runs.sort_by_key(|(run, _)| (run.number, run.block));
    let mut sides: Vec<Side> = Vec::new();
    for (run, unit) in runs {
        let name = run.point.side.shown();
        match sides.iter_mut().find(|side| side.name == name) {
            Some(side) => side.units.push(unit),
            None => sides.push(Side { name, units: vec![unit], chosen_by: Default::default() }),
        }
    }
    if sides.len() < 2 {
        return None;
    }
    let chosen_by = defining_labels(&sides);
    sides.iter_mut().for_each(|side| side.chosen_by.clone_from(&chosen_by));
    Some(compare_sides(sides, &CompareOptions::default()))
}
