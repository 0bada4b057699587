//! Going on with the working set of an earlier run.

use std::path::Path;

use iolag_model::{RunRecord, RunSpec, RunState};

use crate::bench::Benched;
use crate::contact::scout::{Answer, ask};
use crate::failure::Failure;
use crate::storing::place::{STORE_DEADLINE, continuation};

/// Where the run that made the working set left its clients; `None` if this run makes its own.
pub(super) fn positions(
    bench: &dyn Benched,
    spec: &RunSpec,
    (place, working_name): (Option<&str>, &str),
    root: &Path,
) -> Result<Option<Vec<u64>>, Failure> {
    if bench.makes_working_set() {
        return Ok(None);
    }
    let before = place.map(|place| last_run(&working_place(place, working_name), root)).transpose()?;
    let Some(before) = before.flatten().filter(|before| !has_removed(before)) else {
        return Err(Failure::unusable(format!(
            "the store knows no run that left a working set in the working directory {working_name} of this target; run the precreate \
             phase first, with the same --store"
        )));
    };
    bench.positions_after(&before, spec).map(Some)
}

/// Whether a run has removed its working set itself.
fn has_removed(record: &RunRecord) -> bool {
    let metadata = record.spec.workload.metadata();
    record.state == RunState::Complete && metadata.is_some_and(Benched::removes_working_set)
}

/// The last run on this working place.
fn last_run(place: &str, root: &Path) -> Result<Option<RunRecord>, Failure> {
    match ask("store", STORE_DEADLINE, || continuation(root, place))? {
        Answer::Given(record) => Ok(record),
        Answer::None { age, .. } => {
            Err(Failure::unusable(format!("the store {} has not answered for {age}", root.display())))
        }
    }
}

/// The working place of a target, as it is recorded.
pub(super) fn working_place(target: &str, name: &str) -> String {
    format!("{}/{name}", target.trim_end_matches('/'))
}
