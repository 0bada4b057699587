//! The comparison of the sides of a campaign, of what is known of its runs.

use std::collections::BTreeSet;

use iolag_analysis::compare::{
    CompareError, CompareOptions, ComparedTable, Side, Unit, compare_sides, defining_labels, unit_of_run,
};
use iolag_analysis::{analysed, run_values};
use iolag_model::RunRecord;

use crate::bench::campaign::PlannedRun;
use crate::messages::Stored;

/// A run as a unit, by what is compared of its workload without saying so.
pub fn unit_of_stored(stored: &Stored) -> Unit {
    let Stored { record, summaries, .. } = stored;
    let workload = analysed(&record.spec.workload);
    let values = run_values(record, &workload.cells(record), summaries, &[workload.compared()]);
    unit_of_run(record, &values)
}

/// Compares the sides of a campaign of these runs in the order in which they were named, also those of which none was made, or the kinds of connections
/// to its only target; `None` if there is nothing to compare, or no run was made.
///
/// # Errors
/// If they have nothing in common, since too little of one was measured.
pub fn compare_campaign<'a>(
    planned: &[PlannedRun],
    made: impl IntoIterator<Item = (&'a PlannedRun, Unit)>,
) -> Option<Result<ComparedTable, CompareError>> {
    let parted = Parted::of(planned);
    let mut sides: Vec<Side> = Vec::new();
    let mut parts: Vec<(usize, String)> = planned.iter().map(|run| (run.number, parted.name(run))).collect();
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
        let name = parted.name(run);
        if let Some(side) = sides.iter_mut().find(|side| side.name == name) {
            side.units.push(unit);
        }
    }
    let mut chosen_by = defining_labels(&sides);
    chosen_by.extend(parted.coordinate().map(str::to_owned));
    sides.iter_mut().for_each(|side| side.chosen_by.clone_from(&chosen_by));
    Some(compare_sides(sides, &CompareOptions::default()))
}

/// By what the runs of a campaign are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Parted {
    BySide,
    BySession,
}

impl Parted {
    fn of(planned: &[PlannedRun]) -> Self {
        let are_several = |name: &dyn Fn(&PlannedRun) -> Option<String>| {
            planned.iter().filter_map(name).collect::<BTreeSet<_>>().len() > 1
        };
        let has_sides = are_several(&|run| Some(run.point.side.shown()));
        let has_sessions = are_several(&|run| run.point.coordinates.get(RunRecord::SESSION).cloned());
        if has_sessions && !has_sides { Self::BySession } else { Self::BySide }
    }

    fn name(self, run: &PlannedRun) -> String {
        let coordinate = self.coordinate().and_then(|name| Some((name, run.point.coordinates.get(name)?)));
        coordinate.map_or_else(|| run.point.side.shown(), |(name, value)| format!("{name} {value}"))
    }

    const fn coordinate(self) -> Option<&'static str> {
        match self {
            Self::BySession => Some(RunRecord::SESSION),
            Self::BySide => None,
        }
    }
}
