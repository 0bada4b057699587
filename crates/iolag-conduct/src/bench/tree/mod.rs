//! A tree that is there already: its campaign, and what a client does in its measurer. Nothing is made in it, and nothing is removed.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use iolag_backend::{Tree, WORKING_NAME};
use iolag_model::{
    BystanderSpec, BystanderTask, CacheState, Operation, Standpoint, TreeRecord, TreeSpec, WorkloadSpec,
    format_count,
};
use iolag_workload::{DriveEnd, ProcessorTimes, TreeClient, TreeTurns, Workload};

use crate::bench::campaign::Campaign;
use crate::bench::floor::{Floor, Sessions};
use crate::bench::options::BenchOptions;
use crate::bench::plan::plan_bench;
use crate::bench::{Benched, Ground};
use crate::contact::scout::{Answer, ask};
use crate::environment::limits::Limits;
use crate::environment::processors::Processors;
use crate::failure::Failure;
use crate::messages::{DirectoryFacts, MeasurerEnd};
use crate::storing::place::STORE_DEADLINE;

/// Plans the runs of a tree.
///
/// # Errors
/// As [`plan_bench`], and if the tree cannot be measured so.
pub fn plan_tree(mut options: BenchOptions, spec: &TreeSpec, limits: &Limits) -> Result<Campaign, Failure> {
    options.bystander = options.bystander.map(without_creating).transpose()?;
    if options.working_name != WORKING_NAME {
        return Err(Failure::usage(
            "a tree is only read and has no working directory: leave out the working name",
        ));
    }
    if options.caches == CacheState::Warm {
        return Err(Failure::usage(
            "--caches warm would read the whole tree before each stage: leave it out, and give each phase twice (--phases stat,stat,sum,sum), \
             the second finds what the first left in memory",
        ));
    }
    for side in &options.sides {
        let backend = side.target.backend(&options.working_name, Arc::new(iolag_model::MonotonicClock));
        let capabilities = backend.map_err(Failure::usage)?.capabilities();
        if capabilities.missing(&[Operation::TreeList]).is_some() {
            return Err(Failure::usage(format!(
                "{} has no tree of files that could be read: name a directory",
                side.target
            )));
        }
    }
    let workload = |(): &(), clients| {
        spec.validate(clients).map_err(|error| error.to_string())?;
        Ok(WorkloadSpec::Tree(spec.clone()))
    };
    plan_bench(options, &[(BTreeMap::new(), ())], workload, limits)
}

/// Bystanders that look on. Who did not choose what they ask has them ask what can be asked.
fn without_creating(mut bystander: BystanderSpec) -> Result<BystanderSpec, Failure> {
    let is_all = bystander.asked.len() == BystanderTask::ALL.len();
    bystander.asked.retain(|task| !is_all || *task != BystanderTask::Create);
    match bystander.asked.contains(&BystanderTask::Create) {
        true => Err(Failure::usage(
            "a tree is only read, and bystanders create nothing in it: leave create out of --bystander",
        )),
        false => Ok(bystander),
    }
}

/// A run would change what it reads.
///
/// # Errors
/// If the store lies in the tree.
pub(in crate::bench) fn refuse_store_in_tree(
    facts: Option<&DirectoryFacts>,
    bench: &dyn Benched,
    store: &Path,
) -> Result<(), Failure> {
    let Some(facts) = facts.filter(|_| bench.ground() == Ground::Tree) else { return Ok(()) };
    // Also by another name; a store that is not there yet lies where its parent does.
    let lies_inside = || {
        let tree = facts.path.canonicalize().unwrap_or_else(|_| facts.path.clone());
        let place = store.ancestors().find_map(|parent| parent.canonicalize().ok());
        place.is_some_and(|place| place.starts_with(tree))
    };
    let by_another_name = ask("store", STORE_DEADLINE, lies_inside)?;
    match store.starts_with(&facts.path) || matches!(by_another_name, Answer::Given(true)) {
        true => Err(Failure::usage(format!(
            "the store {} lies in the tree {}, in which nothing is to be written: name a store elsewhere with --store",
            store.display(),
            facts.path.display()
        ))),
        false => Ok(()),
    }
}

impl Benched for TreeSpec {
    fn sizes(&self) -> (&'static str, &'static str) {
        ("--phases", "--phases")
    }

    fn objects_held(&self, _clients: u32) -> u64 {
        0
    }

    fn ground(&self) -> Ground {
        Ground::Tree
    }

    fn removes_working_set(&self) -> bool {
        false
    }

    fn standpoints(&self) -> &'static [Standpoint] {
        &[Standpoint::Directory, Standpoint::Control]
    }

    fn measure(&self, floor: &Floor<'_>) -> Result<(DriveEnd, MeasurerEnd), String> {
        let (tree, turns) = (Arc::new(Tree::default()), TreeTurns::new(floor.stages.len()));
        let processors = ProcessorTimes::new(floor.stages.len(), Processors::Alone);
        let sessions = Sessions { tree: Some(Arc::clone(&tree)), ..Sessions::default() };
        let client = |rank| {
            let names = (Arc::clone(&tree), turns.clone());
            TreeClient::new(self, rank, names, Arc::clone(floor.stages), Arc::clone(&processors))
        };
        let driven = floor.run(&sessions, client)?;
        let record = tree.record();
        let faults = faults(&record, &tree);
        Ok((driven, MeasurerEnd { faults, tree: Some(record), ..MeasurerEnd::default() }))
    }
}

/// Why the tree could not be measured as it is.
fn faults(record: &TreeRecord, tree: &Tree) -> Vec<String> {
    let found = record.found.asked();
    if tree.is_too_large() {
        return vec![format!(
            "the names of the tree do not fit into 4 GiB of memory, only the first {} were measured: name a part of it",
            format_count(found)
        )];
    }
    let is_empty = found == 0 && record.found.unread_directories == 0;
    is_empty
        .then(|| "the tree is empty: there is nothing to ask for or to read".to_owned())
        .into_iter()
        .collect()
}
