//! From what was asked for to the runs of a campaign: checked and complete before anything is touched.

use std::collections::BTreeMap;
use std::sync::Arc;

use iolag_backend::{Capabilities, Descriptors, PlaceProof, Queue, Target, redact_line, ring_refusal};
use iolag_keeper::Room;
use iolag_model::{
    CacheState, FailureCode, MonotonicClock, OnHang, Order, RunSpec, Trust, WorkloadSpec, format_bytes,
    format_count, one_line,
};
use iolag_workload::{can_unshare, workload};

use crate::bench::beside::{BYSTANDERS_MAX, refuse_beside};
use crate::bench::caches::deadlines;
use crate::bench::campaign::{Campaign, Point};
use crate::bench::metadata::servers::{doubt_of_ports, needs_of_tasks};
use crate::bench::options::{BenchOptions, CopyTo, Crew, Repeating};
use crate::bench::sides::Side;
use crate::bench::stream::copying::destinations;
use crate::contact::scout;
use crate::environment::limits::{Limits, Needs, Tables};
use crate::failure::Failure;

/// More clients than this are not threads any more but a mistake.
const CLIENTS_MAX: u64 = 1 << 16;
/// More runs than this are not a campaign any more but a mistake: at a second each they take most of a day.
const RUNS_MAX: u64 = 1 << 16;
/// More shared memory than any node has is a mistake.
const BUFFER_MAX: u64 = 1 << 40;

/// Plans the runs of a bench: each repetition of each side, variant and number of clients. A variant has what tells it from the
/// others, by name; `workload` is that of a variant with so many clients.
///
/// # Errors
/// If the options ask for nothing, for what cannot be or the system does not give, or for the same run twice.
pub fn plan_bench<V>(
    options: BenchOptions,
    variants: &[(BTreeMap<String, String>, V)],
    workload: impl Fn(&V, u32) -> Result<WorkloadSpec, String>,
    limits: &Limits,
) -> Result<Campaign, Failure> {
    refuse_nothing(&options)?;
    let sides: Vec<Side> = options.sides.iter().map(absolute).collect();
    let places: Vec<_> = sides.iter().map(|side| (&side.name, &side.target)).collect();
    refuse_equal("the target", &places, |(_, target)| one_line(&target.to_string()))?;
    refuse_equal(options.crew.option(), &options.clients, u64::to_string)?;
    refuse_contradictions(&options)?;
    refuse_caches_of_nothing(&options, &sides)?;
    let mut points = Vec::new();
    for side in &sides {
        // The working directory's name, and what a target cannot be.
        let backend = side.target.backend(&options.working_name, Arc::new(MonotonicClock));
        let capabilities = backend.map_err(Failure::usage)?.capabilities();
        for (names, variant) in variants {
            for clients in options.clients.iter().map(|clients| *clients as u32) {
                let workload = workload(variant, clients).map_err(Failure::usage)?;
                let datasets = side.target.semantics().datasets;
                let workload =
                    iolag_workload::workload(&workload).with_datasets(datasets).unwrap_or(workload);
                refuse_what_cannot_be_executed(&workload, &side.target, &capabilities)?;
                let (workload, doubt) = as_the_system_lets(workload, &side.target, ring_refusal);
                let spec = spec(&options, &side.target, workload, clients);
                refuse_beside(&spec, &side.target)?;
                refuse_what_cannot_be_had(&spec, options.crew, &side.target, limits)?;
                let doubt = doubt.or_else(|| doubt_of_ports(&spec, limits));
                let mut coordinates = names.clone();
                coordinates.extend(side.name.iter().map(|name| ("side".to_owned(), name.clone())));
                coordinates.insert("target".to_owned(), side.target.to_string());
                coordinates.insert(options.crew.coordinate().to_owned(), clients.to_string());
                let point = Point {
                    spec,
                    side: side.clone(),
                    copy_to: None,
                    coordinates,
                    crew: options.crew,
                    doubt,
                    repetition: None,
                    payload: options.payload.clone(),
                };
                let to_all = options.copy_to == CopyTo::All;
                let destinations =
                    if to_all { destinations(&point.spec.workload, side, &sides) } else { vec![None] };
                points.extend(destinations.into_iter().map(|to| point.copied_to(to)));
            }
        }
    }
    refuse_too_many(&options, points.len())?;
    let campaign = Campaign::of(options, &points);
    refuse_precision_of_nothing(&campaign)?;
    Ok(campaign)
}

fn refuse_what_cannot_be_executed(
    asked: &WorkloadSpec,
    target: &Target,
    capabilities: &Capabilities,
) -> Result<(), Failure> {
    let needed = Vec::from_iter(workload(asked).operations_needed());
    match capabilities.missing(&needed) {
        Some(missing) => Err(Failure::usage(format!(
            "{} cannot execute {missing}, which this needs: choose another target, or another workload",
            one_line(&target.to_string())
        ))),
        None => Ok(()),
    }
}

/// The workload without a queue, and a doubt that tells it, where the kernel would have to give one and does not.
fn as_the_system_lets(
    asked: WorkloadSpec,
    target: &Target,
    refusal: impl FnOnce() -> Option<FailureCode>,
) -> (WorkloadSpec, Option<Trust>) {
    let without = workload(&asked).without_queue().filter(|_| target.semantics().queue == Queue::Kernel);
    let Some((without, code)) = without.and_then(|without| Some((without, refusal()?))) else {
        return (asked, None);
    };
    let doubt = Trust {
        doubt: format!(
            "this system lets no program have an io_uring ({code}): system calls did its work, with one block in flight instead of {}",
            workload(&asked).lanes()
        ),
        advice: "allow it (sysctl kernel.io_uring_disabled, or the filter of the container), or choose --engine sync"
            .to_owned(),
    };
    (without, Some(doubt))
}

fn spec(options: &BenchOptions, target: &Target, workload: WorkloadSpec, clients: u32) -> RunSpec {
    let bench = iolag_workload::workload(&workload);
    let of_caches = deadlines(options.caches, bench.bytes_held(clients));
    RunSpec {
        deadlines: [bench.deadlines(options.deadline), of_caches].concat(),
        workload,
        targets: vec![target.to_string()],
        clients,
        deadline_ns: options.deadline,
        on_hang: options.on_hang,
        on_error: options.on_error,
        seed: options.seed,
        ring_bytes: options.buffer_bytes.unwrap_or_else(|| Room::usual_bytes(clients)),
        caches: options.caches,
        drop_command: options.drop_command.as_deref().map(redact_line),
        bystander: options.bystander.clone(),
    }
}

/// `x` and `./x` are one directory.
fn absolute(side: &Side) -> Side {
    let target = &side.target;
    let target = target
        .directory()
        .map_or_else(|| target.clone(), |path| target.with_directory(&scout::absolute(path)));
    Side { target, ..side.clone() }
}

fn refuse_nothing(options: &BenchOptions) -> Result<(), Failure> {
    let option = options.crew.option();
    refuse_empty(option, &options.clients)?;
    for (name, values) in [(option, options.clients.as_slice()), ("--repeat", &[options.repeat.blocks()])] {
        if values.contains(&0) {
            return Err(Failure::usage(format!("{name} 0 measures nothing: give a number of at least 1")));
        }
    }
    match options.clients.iter().find(|clients| **clients > CLIENTS_MAX) {
        None => Ok(()),
        Some(clients) => Err(Failure::usage(format!(
            "{option} {clients} is more than one node can run: at most {CLIENTS_MAX}"
        ))),
    }
}

/// A list without anything in it would make a campaign without runs.
pub(super) fn refuse_empty(name: &str, values: &[u64]) -> Result<(), Failure> {
    match values {
        [] => {
            Err(Failure::usage(format!("{name} is an empty list: give at least one number, or leave it out")))
        }
        _ => Ok(()),
    }
}

fn refuse_too_many(options: &BenchOptions, points: usize) -> Result<(), Failure> {
    let runs = options.repeat.blocks().saturating_mul(points as u64);
    if runs > RUNS_MAX {
        return Err(Failure::usage(format!(
            "--repeat {} makes {} runs, more than a campaign can have: at most {}",
            options.repeat.blocks(),
            format_count(runs),
            format_count(RUNS_MAX)
        )));
    }
    Ok(())
}

/// What a sweep compares must differ: equal points would stand side by side in every table as if they did.
pub(super) fn refuse_equal<T: PartialEq>(
    name: &str,
    values: &[T],
    shown: impl Fn(&T) -> String,
) -> Result<(), Failure> {
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
fn refuse_contradictions(options: &BenchOptions) -> Result<(), Failure> {
    if options.give_up_after.is_some() && options.on_hang != OnHang::Wait {
        return Err(Failure::usage(format!(
            "--give-up-after needs --on-hang wait: with {} nobody waits for a hung operation",
            options.on_hang
        )));
    }
    if let Some(buffer) = options.buffer_bytes.filter(|buffer| *buffer > BUFFER_MAX) {
        return Err(Failure::usage(format!(
            "--buffer {} is more than a node has: at most {}",
            format_bytes(buffer),
            format_bytes(BUFFER_MAX)
        )));
    }
    Ok(())
}

/// Only files have pages, and a command for servers goes with dropping the own ones.
fn refuse_caches_of_nothing(options: &BenchOptions, sides: &[Side]) -> Result<(), Failure> {
    if options.caches != CacheState::Cold && options.drop_command.is_some() {
        return Err(Failure::usage(
            "--drop-command needs --caches cold: it is executed each time these are dropped",
        ));
    }
    let has_none = |side: &&Side| options.caches != CacheState::Asis && side.target.directory().is_none();
    match sides.iter().find(has_none) {
        Some(side) => Err(Failure::usage(format!(
            "--caches {} is for directories, and {} is none: leave it out, or name a directory",
            options.caches,
            side.shown()
        ))),
        None => Ok(()),
    }
}

/// Precise is a comparison, by blocks of runs.
fn refuse_precision_of_nothing(campaign: &Campaign) -> Result<(), Failure> {
    let Repeating::UntilPrecise(_) = campaign.options.repeat else { return Ok(()) };
    if campaign.options.sides.len() < 2 && campaign.compared_sessions().is_empty() {
        return Err(Failure::usage(
            "--precision is that of a comparison: name a second target or side to compare with, compare kinds of connections \
             (--session fresh,reuse of a server), or say with --repeat how often this one is measured",
        ));
    }
    if campaign.options.order == Order::Sequential {
        return Err(Failure::usage(
            "--precision needs blocks of runs that take turns, which --order sequential does not make: choose interleaved or random",
        ));
    }
    Ok(())
}

/// What the system does not give to so many clients is known before anything is created.
fn refuse_what_cannot_be_had(
    spec: &RunSpec,
    crew: Crew,
    target: &Target,
    limits: &Limits,
) -> Result<(), Failure> {
    if crew == Crew::Copies && spec.clients > 1 && target.semantics().place == PlaceProof::Process {
        return Err(Failure::usage(format!(
            "{target} is of one process only, and each copy is a process of its own: name a directory, or choose --copies 1"
        )));
    }
    let work = workload(&spec.workload);
    let room = Room {
        clients: spec.load_clients().saturating_add(if spec.bystander.is_some() {
            BYSTANDERS_MAX
        } else {
            0
        }),
        lanes: work.lanes(),
        ring_bytes: spec.ring_bytes,
        samples_per_client: work.samples_per_client(),
    };
    let shared = || target.semantics().descriptors == Descriptors::Private && !can_unshare();
    let tables = || if shared() { Tables::Shared } else { Tables::Own };
    let needs = match crew {
        Crew::Clients if target.is_server() => needs_of_tasks(room.clients),
        Crew::Clients => Needs::of_threads(room.clients),
        Crew::Copies => Needs::of_processes(room.clients),
    };
    limits.refuse(room, needs, tables)
}
