//! Going on with the working set of an earlier run.

use std::path::Path;

use iolag_model::{RunRecord, RunSpec};

use crate::bench::Benched;
use crate::contact::scout::{Answer, ask};
use crate::failure::Failure;
use crate::messages::DirectoryFacts;
use crate::storing::place::{STORE_DEADLINE, continuation};

/// Where the run that made the working set left its clients; `None` if this run makes its own.
pub(super) fn positions(
    bench: &dyn Benched,
    spec: &RunSpec,
    working_name: &str,
    facts: Option<&DirectoryFacts>,
    root: &Path,
) -> Result<Option<Vec<u64>>, Failure> {
    if bench.makes_working_set() {
        return Ok(None);
    }
    let Some(before) = last_run(working_name, facts, root)? else {
        return Err(Failure::unusable(format!(
            "the store knows no run that left a working set in the working directory {working_name} of this target; run the precreate \
             phase first, with the same --store"
        )));
    };
    bench.positions_after(&before, spec).map(Some)
}

/// The last run on the working directory.
fn last_run(
    working_name: &str,
    facts: Option<&DirectoryFacts>,
    root: &Path,
) -> Result<Option<RunRecord>, Failure> {
    let Some(facts) = facts else { return Ok(None) };
    let place = working_place(&facts.path, working_name);
    match ask("store", STORE_DEADLINE, || continuation(root, &place))? {
        Answer::Given(record) => Ok(record),
        Answer::None { age, .. } => {
            Err(Failure::unusable(format!("the store {} has not answered for {age}", root.display())))
        }
    }
}

/// The working directory of a target, as it is recorded.
pub(super) fn working_place(target: &Path, name: &str) -> String {
    format!("{}/{name}", target.display().to_string().trim_end_matches('/'))
}
