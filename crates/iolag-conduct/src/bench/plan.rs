//! From what was asked for to the runs of a campaign: checked and complete before anything is touched.

use std::sync::Arc;

use iolag_backend::Target;
use iolag_keeper::Room;
use iolag_model::{MonotonicClock, OnHang, RunSpec, WorkloadSpec, format_bytes, one_line};
use iolag_workload::{MetadataOptions, Variant, can_unshare, workload};

use crate::bench::campaign::{Campaign, PlannedRun};
use crate::bench::options::BenchOptions;
use crate::contact::scout::absolute;
use crate::environment::limits::{Limits, Tables};
use crate::failure::Failure;

/// More clients than this are not threads any more but a mistake.
const CLIENTS_MAX: u64 = 1 << 16;
/// More shared memory than any node has is a mistake.
const BUFFER_MAX: u64 = 1 << 40;

/// Plans the runs of a metadata bench: repetitions outermost, then targets, sizes and clients, so that drift hits all alike.
///
/// # Errors
/// If the options ask for nothing, for what cannot be or the system does not give, or for the same run twice.
pub fn plan_metadata(
    options: BenchOptions,
    metadata: &MetadataOptions,
    limits: &Limits,
) -> Result<Campaign, Failure> {
    refuse_nothing(&options)?;
    let targets: Vec<Target> = options.targets.iter().map(absolute_target).collect();
    refuse_equal("the target", &targets, |target| one_line(&target.to_string()))?;
    refuse_equal("--clients", &options.clients, u64::to_string)?;
    refuse_equal("--precreate", &metadata.precreated_objects, u64::to_string)?;
    refuse_contradictions(&options, metadata)?;
    // The working directory's name, and what a target cannot be.
    for target in &options.targets {
        target.backend(&options.working_name, Arc::new(MonotonicClock)).map_err(Failure::usage)?;
    }
    let variants = metadata.variants();
    if !metadata.is_self_contained() && (options.is_swept() || variants.len() > 1) {
        return Err(Failure::usage(
            "a sweep or --repeat needs all phases: each point has a working set of its own; leave out --phases",
        ));
    }
    let mut runs = Vec::new();
    for repetition in 1..=options.repeat {
        for target in &targets {
            for (variant, clients) in points(&variants, &options.clients) {
                let workload = metadata.workload(variant, clients).map_err(Failure::usage)?;
                let spec = spec(&options, target, workload, clients);
                if repetition == 1 {
                    refuse_what_cannot_be_had(&spec, target, limits)?;
                }
                let mut coordinates = variant.coordinates.clone();
                coordinates.insert("target".to_owned(), target.to_string());
                coordinates.insert("clients".to_owned(), clients.to_string());
                let repetition = repetition as u32;
                let target = target.clone();
                runs.push(PlannedRun {
                    spec,
                    target,
                    coordinates,
                    block: repetition,
                    repetition,
                    done: None,
                });
            }
        }
    }
    Ok(Campaign { options, runs, id: None })
}

fn points<'a>(variants: &'a [Variant], clients: &'a [u64]) -> impl Iterator<Item = (&'a Variant, u32)> {
    variants.iter().flat_map(|variant| clients.iter().map(move |clients| (variant, *clients as u32)))
}

fn spec(options: &BenchOptions, target: &Target, workload: WorkloadSpec, clients: u32) -> RunSpec {
    RunSpec {
        workload,
        targets: vec![target.to_string()],
        clients,
        deadline_ns: options.deadline,
        on_hang: options.on_hang,
        seed: options.seed,
        ring_bytes: options.buffer_bytes.unwrap_or_else(|| Room::usual_bytes(clients)),
    }
}

/// `x` and `./x` are one directory.
fn absolute_target(target: &Target) -> Target {
    target.directory().map_or_else(|| target.clone(), |path| target.with_directory(&absolute(path)))
}

fn refuse_nothing(options: &BenchOptions) -> Result<(), Failure> {
    for (name, values) in [("--clients", options.clients.as_slice()), ("--repeat", &[options.repeat])] {
        if values.contains(&0) {
            return Err(Failure::usage(format!("{name} 0 measures nothing: give a number of at least 1")));
        }
    }
    match options.clients.iter().find(|clients| **clients > CLIENTS_MAX) {
        None => Ok(()),
        Some(clients) => Err(Failure::usage(format!(
            "--clients {clients} is more than one node can run: at most {CLIENTS_MAX}"
        ))),
    }
}

/// What a sweep compares must differ: equal points would stand side by side in every table as if they did.
fn refuse_equal<T: PartialEq>(name: &str, values: &[T], shown: impl Fn(&T) -> String) -> Result<(), Failure> {
    let times = |value: &T| values.iter().filter(|other| *other == value).count();
    match values.iter().find(|value| times(value) > 1) {
        Some(value) => Err(Failure::usage(format!(
            "{name} {} is given {} times: give it once; to measure the same again, add --repeat {}",
            shown(value),
            times(value),
            times(value)
        ))),
        None => Ok(()),
    }
}

/// Options that contradict each other, and a buffer that no run can have.
fn refuse_contradictions(options: &BenchOptions, metadata: &MetadataOptions) -> Result<(), Failure> {
    if options.give_up_after.is_some() && options.on_hang != OnHang::Wait {
        return Err(Failure::usage(format!(
            "--give-up-after needs --on-hang wait: with {} nobody waits for a hung operation",
            options.on_hang
        )));
    }
    metadata.refuse_contradictions().map_err(Failure::usage)?;
    if let Some(buffer) = options.buffer_bytes.filter(|buffer| *buffer > BUFFER_MAX) {
        return Err(Failure::usage(format!(
            "--buffer {} is more than a node has: at most {}",
            format_bytes(buffer),
            format_bytes(BUFFER_MAX)
        )));
    }
    Ok(())
}

/// What the system does not give to so many clients is known before anything is created.
fn refuse_what_cannot_be_had(spec: &RunSpec, target: &Target, limits: &Limits) -> Result<(), Failure> {
    let room = Room {
        clients: spec.clients,
        ring_bytes: spec.ring_bytes,
        samples_per_client: workload(&spec.workload).samples_per_client(),
    };
    let tables = || if target.directory().is_some() && !can_unshare() { Tables::Shared } else { Tables::Own };
    limits.refuse(room, tables)
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_model::{RunId, RunRecord, RunState};

    fn options(targets: &[&str]) -> BenchOptions {
        let targets = targets.iter().map(|target| Target::parse(target).unwrap()).collect();
        BenchOptions { targets, clients: vec![1, 2], repeat: 2, ..BenchOptions::default() }
    }

    fn campaign() -> Campaign {
        let sizes = MetadataOptions { precreated_objects: vec![1000, 2000], ..MetadataOptions::default() };
        plan_metadata(options(&["memory:", "/x"]), &sizes, &Limits::default()).unwrap()
    }

    #[test]
    fn every_block_has_every_coordinate_once_and_repetitions_are_outermost() {
        let runs = campaign().runs;
        assert_eq!(runs.len(), 2 * 2 * 2 * 2);
        let (first, second) = runs.split_at(8);
        let places = |runs: &[PlannedRun]| runs.iter().map(|run| run.coordinates.clone()).collect::<Vec<_>>();
        assert_eq!(places(first), places(second));
        let different: std::collections::BTreeSet<_> = places(first).into_iter().collect();
        assert_eq!(different.len(), 8);
        assert!(first.iter().all(|run| (run.block, run.repetition) == (1, 1)));
        assert!(second.iter().all(|run| (run.block, run.repetition) == (2, 2)));
        let last: Vec<_> = runs[15].coordinates.iter().map(|(name, value)| (&**name, &**value)).collect();
        assert_eq!(last, [("clients", "2"), ("objects", "2000"), ("target", "/x")]);
    }

    /// The record of a planned run.
    fn record(run: &PlannedRun, campaign: &str, id: &str, state: RunState) -> RunRecord {
        const RECORD: &str =
            include_str!("../../../iolag/tests/written_by_0_1_0/store/runs/20261122-022728-4048/run.json");
        let mut record: RunRecord = serde_json::from_str(RECORD).unwrap();
        record.id = id.parse().unwrap();
        record.campaign = campaign.parse().unwrap();
        record.coordinates = run.coordinates.clone();
        (record.block, record.repetition) = (run.block, run.repetition);
        record.spec = run.spec.clone();
        record.state = state;
        record
    }

    #[test]
    fn only_what_is_complete_is_not_conducted_again_and_the_latest_counts() {
        let (own, other) = ("20261101-000000-0001", "20261101-000000-0002");
        let mut resumed = campaign();
        let runs = resumed.runs.clone();
        let broken = || RunState::Incomplete { reason: "hung".to_owned() };
        let records = [
            record(&runs[0], own, own, RunState::Complete),
            record(&runs[3], own, "20261101-000001-0001", broken()),
            record(&runs[3], own, "20261101-000002-0001", RunState::Complete),
            record(&runs[3], own, "20261101-000003-0001", broken()),
            record(&runs[5], own, "20261101-000004-0001", broken()),
            record(&runs[7], other, other, RunState::Complete),
        ];
        let id: RunId = own.parse().unwrap();
        resumed.resume(&id, &records).unwrap();
        let left: Vec<_> = resumed.left().map(|(index, _)| index).collect();
        assert_eq!(left, (0..16).filter(|index| ![0, 3].contains(index)).collect::<Vec<_>>());
        assert_eq!(resumed.runs[3].done.as_ref().unwrap().id.as_str(), "20261101-000002-0001");
        assert_eq!(resumed.id, Some(id));
    }

    #[test]
    fn a_campaign_made_with_other_options_is_refused_and_another_buffer_is_none() {
        let id: RunId = "20261101-000000-0001".parse().unwrap();
        let run = campaign().runs.remove(1);
        let mut made = record(&run, id.as_str(), id.as_str(), RunState::Complete);
        made.spec.ring_bytes /= 2;
        campaign().resume(&id, &[made.clone()]).unwrap();
        made.spec.seed += 1;
        let refused = campaign().resume(&id, &[made.clone()]).unwrap_err().sentence;
        assert!(refused.contains("was made with other options"), "{refused}");
        made.coordinates.insert("clients".to_owned(), "3".to_owned());
        let refused = campaign().resume(&id, &[made.clone()]).unwrap_err().sentence;
        assert!(refused.contains("would not be made by these options"), "{refused}");
        made.coordinates.clear();
        let refused = campaign().resume(&id, &[made]).unwrap_err().sentence;
        assert!(refused.contains("is a check or a ping, or an earlier iolag made it"), "{refused}");
    }
}
