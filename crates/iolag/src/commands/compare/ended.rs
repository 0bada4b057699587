//! The comparison at the end of a campaign, of what is known of its runs already.

use std::collections::BTreeSet;

use iolag_analysis::compare::{
    CompareError, CompareOptions, ComparedTable, Side, compare_sides, unit_of_run,
};
use iolag_analysis::{analysed, run_values};
use iolag_conduct::{PlannedRun, Stored};

use super::parts::defining_labels;

/// What differs by less is the same, unless the user says otherwise.
const SAME_WITHIN: f64 = 0.05;

/// Compares the sides of a campaign, which are in their order; nothing if there is only one.
///
/// # Errors
/// If they have nothing in common, since too little of one was measured.
pub fn of_campaign(runs: &[(&PlannedRun, &Stored)]) -> Option<Result<ComparedTable, CompareError>> {
    let mut sides: Vec<Side> = Vec::new();
    for (planned, stored) in runs {
        let workload = analysed(&stored.record.spec.workload);
        let (cells, quantities) = (workload.cells(&stored.record), [workload.compared()]);
        let values = run_values(&stored.record, &cells, &stored.summaries, &quantities);
        let unit = unit_of_run(&stored.record, &values);
        let name = planned.point.side.shown();
        match sides.iter_mut().find(|side| side.name == name) {
            Some(side) => side.units.push(unit),
            None => sides.push(Side { name, units: vec![unit], chosen_by: BTreeSet::new() }),
        }
    }
    if sides.len() < 2 {
        return None;
    }
    let chosen_by = defining_labels(&sides);
    sides.iter_mut().for_each(|side| side.chosen_by.clone_from(&chosen_by));
    let options = CompareOptions {
        quantity: None,
        same_within: SAME_WITHIN,
        across: Vec::new(),
        phases: Vec::new(),
        rules: Vec::new(),
    };
    Some(compare_sides(sides, &options))
}
