//! The measurer of `iolag bench metadata`: one target, its clients as threads.

use std::sync::Arc;

use iolag_backend::{Backend, BackendError, SessionOptions, Target};
use iolag_keeper::{Exchange, Outbox};
use iolag_model::{ClientId, MetadataSpec, MonotonicClock, Pattern, Phase, PlaceMaker, RunSpec, StageRecord};
use iolag_workload::{
    Accounting, BatchClient, Client, ClientLoop, DriveEnd, DriveError, DriveOptions, IfNotOpen, Job,
    MetadataClient, Workload, can_unshare, run_threads,
};

use crate::calibration::calibrate;
use crate::messages::{FromMeasurer, MeasurerEnd, tell, tell_placed};
use crate::placed::Placed;

/// What this measurer has to do.
#[derive(Debug, Clone)]
pub struct MetadataAssignment {
    /// The target, its directory absolute.
    pub target: Target,
    /// The working place in it.
    pub place: Placed,
    /// Who makes it.
    pub maker: PlaceMaker,
    /// The run's spec.
    pub spec: RunSpec,
    /// The metadata part of it.
    pub metadata: MetadataSpec,
    /// The stages.
    pub stages: Arc<[StageRecord]>,
    /// Where an earlier run on the same working set left each client.
    pub positions: Option<Vec<u64>>,
}

/// The process.
pub fn measure(assignment: &MetadataAssignment, exchange: &Exchange, mut outbox: Outbox) -> i32 {
    match try_measure(assignment, exchange, &mut outbox) {
        Ok(end) => {
            tell(&mut outbox, &FromMeasurer::Ended(end));
            0
        }
        Err(sentence) => {
            tell(&mut outbox, &FromMeasurer::Failed { target: 0, sentence });
            3
        }
    }
}

fn try_measure(
    assignment: &MetadataAssignment,
    exchange: &Exchange,
    outbox: &mut Outbox,
) -> Result<MeasurerEnd, String> {
    let sentence = |error: BackendError| error.to_string();
    let backend =
        assignment.target.backend(&assignment.place.name, Arc::new(MonotonicClock)).map_err(sentence)?;
    let needed = Vec::from_iter(assignment.metadata.operations_needed());
    if let Some(missing) = backend.capabilities().missing(&needed) {
        return Err(format!(
            "{} cannot execute {missing}: choose another target or pattern",
            assignment.target
        ));
    }
    let place = match makes_working_set(&assignment.metadata) {
        true => {
            tell(outbox, &FromMeasurer::Placing(assignment.place.clone()));
            backend.create_place(&assignment.maker)
        }
        false => backend.reopen_place(),
    };
    tell_placed(outbox, 0, place.map_err(sentence)?);
    for client in 0..exchange.clients() {
        exchange.prefault(client);
    }
    if let Some(remark) = shared_tables(exchange.clients()) {
        tell(outbox, &FromMeasurer::Remark(remark));
    }
    tell(outbox, &FromMeasurer::Calibrated(calibrate().map_err(|error| error.to_string())?));
    exchange.wait_until_noted(0);
    let accounting =
        Accounting::new(&assignment.metadata, exchange.clients(), assignment.positions.as_deref())
            .map_err(|error| error.to_string())?;
    let ends = run_clients(assignment, exchange, backend.as_ref(), &accounting);
    let mut stopped = false;
    for end in ends {
        stopped |= end.map_err(|error| error.to_string())? == DriveEnd::Stopped;
    }
    Ok(finish(assignment, exchange, backend.as_ref(), &accounting, stopped))
}

/// What to know where clients cannot have descriptor tables of their own.
fn shared_tables(clients: u32) -> Option<String> {
    let shared = clients > 1 && !can_unshare();
    shared.then(|| {
        raise_descriptor_limit();
        "this system lets no thread have a descriptor table of its own (a container, perhaps): clients contend for one, \
         where separate users would not"
            .to_owned()
    })
}

/// Login nodes often allow 1024 open files, and more on request.
fn raise_descriptor_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    // Refused, it stays as it is; a file that cannot be opened is an error of its own.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

fn run_clients(
    assignment: &MetadataAssignment,
    exchange: &Exchange,
    backend: &dyn Backend,
    accounting: &Accounting,
) -> Vec<Result<DriveEnd, DriveError>> {
    let (spec, stages) = (&assignment.metadata, &assignment.stages);
    match spec.pattern {
        Pattern::Batch => run_patterns(assignment, exchange, backend, |rank| {
            BatchClient::new(spec, rank, Arc::clone(stages), accounting)
        }),
        Pattern::Code | Pattern::Paper => run_patterns(assignment, exchange, backend, |rank| {
            MetadataClient::new(spec, rank, Arc::clone(stages), accounting)
        }),
    }
}

fn run_patterns<K: Client>(
    assignment: &MetadataAssignment,
    exchange: &Exchange,
    backend: &dyn Backend,
    client: impl Fn(u32) -> K,
) -> Vec<Result<DriveEnd, DriveError>> {
    let spec = &assignment.spec;
    let jobs = (0..exchange.clients())
        .map(|rank| {
            let options = SessionOptions {
                client: ClientId(rank),
                rank,
                seed: spec.seed,
                bytes_max: assignment.metadata.object_bytes,
                durability: assignment.metadata.durability,
                verification: assignment.metadata.verification,
            };
            let drive = DriveOptions { client: ClientId(rank), rank, deadline: spec.deadline_ns };
            Job {
                client: ClientLoop::new(client(rank), exchange.recorder(rank), drive),
                open: move || backend.open_session(&options),
                if_not_open: IfNotOpen::StopAll,
            }
        })
        .collect();
    run_threads(jobs, &exchange.coordinator(), &MonotonicClock)
}

/// Whether this run begins with an empty working place.
pub fn makes_working_set(spec: &MetadataSpec) -> bool {
    spec.phases.contains(&Phase::Precreate)
}

/// Whether this run removes the working set.
pub fn removes_working_set(spec: &MetadataSpec) -> bool {
    spec.phases.contains(&Phase::Cleanup)
}

/// Checks the working set and removes the place. When the cleanup phase has run, removing every dataset was the check: a
/// directory with one object more cannot be removed, and one object less is an error of a delete.
fn finish(
    assignment: &MetadataAssignment,
    exchange: &Exchange,
    backend: &dyn Backend,
    accounting: &Accounting,
    stopped: bool,
) -> MeasurerEnd {
    let mut end = MeasurerEnd { positions: accounting.positions(), ..MeasurerEnd::default() };
    // Who looks for it by its path finds nothing, as if it were removed.
    if let Err(moved) = backend.refuse_moved() {
        end.removed = true;
        end.leftovers.push(moved.to_string());
    }
    if stopped {
        return end;
    }
    if !removes_working_set(&assignment.metadata) {
        for rank in 0..exchange.clients() {
            for dataset in 0..assignment.metadata.datasets {
                count(backend, accounting, rank, dataset, &mut end);
            }
        }
        return end;
    }
    if !end.leftovers.is_empty() {
        return end;
    }
    let keeper_removes = assignment.target.directory().is_some() && makes_working_set(&assignment.metadata);
    match backend.remove_place() {
        Ok(leftovers) => {
            end.removed = true;
            end.leftovers =
                leftovers.into_iter().map(|left| format!("{} is left: {}", left.path, left.reason)).collect();
        }
        // The keeper tries a directory once more, and tells.
        Err(_) if keeper_removes => {}
        Err(error) => end.leftovers.push(error.to_string()),
    }
    end
}

fn count(backend: &dyn Backend, accounting: &Accounting, rank: u32, dataset: u32, end: &mut MeasurerEnd) {
    let expected = accounting.expected_objects(rank, dataset);
    let fault = match backend.inventory(rank, dataset) {
        Ok(found) if found.foreign == 0 && expected.contains(&found.objects) => None,
        Ok(found) => Some(format!(
            "dataset {rank}_{dataset} holds {} objects and {} other things, expected {}",
            found.objects,
            found.foreign,
            expected.start()
        )),
        Err(error) => Some(error.to_string()),
    };
    end.datasets_counted += 1;
    end.working_set_faults.extend(fault);
}
