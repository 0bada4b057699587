//! Going on with the working set of an earlier run.

use std::path::Path;

use iolag_model::{MetadataSpec, RunRecord, RunSpec, Verification};
use iolag_workload::validate_positions;

use crate::bench::measurer::makes_working_set;
use crate::contact::scout::{Answer, ask};
use crate::failure::Failure;
use crate::messages::DirectoryFacts;
use crate::storing::place::{STORE_DEADLINE, continuation};

/// Where the run that made the working set left its clients; `None` if this run makes its own.
pub(super) fn positions(
    spec: &RunSpec,
    metadata: &MetadataSpec,
    working_name: &str,
    facts: Option<&DirectoryFacts>,
    root: &Path,
) -> Result<Option<Vec<u64>>, Failure> {
    if makes_working_set(metadata) {
        return Ok(None);
    }
    let Some(before) = last_run(working_name, facts, root)? else {
        return Err(Failure::unusable(format!(
            "the store knows no run that left a working set in the working directory {working_name} of this target; run the precreate \
             phase first, with the same --store"
        )));
    };
    let Some(made) = before.spec.workload.metadata() else {
        return Err(Failure::unusable(format!(
            "run {} in the working directory {working_name} of this target was no metadata run",
            before.id
        )));
    };
    refuse_other(&before, made, spec, metadata)?;
    if before.positions.is_empty() {
        return Err(Failure::unusable(format!(
            "run {} ended without saying how far its clients got; remove its working set with: iolag cleanup {}",
            before.id, before.id
        )));
    }
    validate_positions(metadata, spec.clients, &before.positions).map_err(Failure::usage)?;
    Ok(Some(before.positions))
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

fn refuse_other(
    before: &RunRecord,
    made: &MetadataSpec,
    spec: &RunSpec,
    metadata: &MetadataSpec,
) -> Result<(), Failure> {
    let same = made.datasets == metadata.datasets
        && made.precreated_objects == metadata.precreated_objects
        && made.object_bytes == metadata.object_bytes
        && made.offset == metadata.offset
        && before.spec.clients == spec.clients
        // Who has emptied which dataset depends on the pattern.
        && (made.pattern == metadata.pattern || before.positions.iter().all(|position| *position == 0));
    if !same {
        return Err(Failure::usage(format!(
            "the working set was made by run {} with --clients {} --datasets {} --precreate {} --object-size {} --offset {} --pattern {}; give the same",
            before.id,
            before.spec.clients,
            made.datasets,
            made.precreated_objects,
            made.object_bytes,
            made.offset,
            made.pattern
        )));
    }
    let is_verifiable = made.verification == Verification::Content && before.spec.seed == spec.seed;
    if metadata.verification == Verification::Content && !is_verifiable {
        return Err(Failure::usage(format!(
            "run {} wrote the working set without --verify or with another --seed, so its content cannot be compared; leave out \
             --verify, or precreate again with the same --verify and --seed {}",
            before.id, spec.seed
        )));
    }
    Ok(())
}
