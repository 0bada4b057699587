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

/// Compares the sides of a campaign of these runs in the order in which they were named, also those of which none was made; `None` if there is only one side, or
/// no run was made.
///
/// # Errors
/// If they have nothing in common, since too little of one was measured.
pub fn compare_campaign<'a>(
    planned: &[PlannedRun],
    made: impl IntoIterator<Item = (&'a PlannedRun, Unit)>,
) -> Option<Result<ComparedTable, CompareError>> {
    let mut sides: Vec<Side> = Vec::new();
    let mut places: Vec<(usize, String)> =
        planned.iter().map(|run| (run.number, run.point.side.shown())).collect();
    places.sort();
    for (_, name) in places {
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
        let name = run.point.side.shown();
        if let Some(side) = sides.iter_mut().find(|side| side.name == name) {
            side.units.push(unit);
        }
    }
    let chosen_by = defining_labels(&sides);
    sides.iter_mut().for_each(|side| side.chosen_by.clone_from(&chosen_by));
    Some(compare_sides(sides, &CompareOptions::default()))
}
