//! A measurer of a bench: one target, its clients as threads. Where a bench has several, the first makes and removes the working place that
//! all share.

use std::ops::Range;
use std::sync::Arc;

use iolag_backend::{
    Backend, BackendError, CacheMaker, Descriptors, OtherPlace, Place, PlaceProof, PosixBackend, Target,
};
use iolag_keeper::{Exchange, Outbox};
use iolag_model::{MonotonicClock, PlaceMaker, RunSpec, StageRecord};
use iolag_trace::Repetition;
use iolag_workload::{DriveEnd, can_unshare};

use crate::bench::caches::{Making, Preparer, patience};
use crate::bench::floor::Floor;
use crate::bench::payload::finding::PayloadCommand;
use crate::bench::payload::{beside_payload, prepare_payload};
use crate::bench::{Benched, Ground, benched};
use crate::calibration::calibrate;
use crate::messages::{FromMeasurer, MeasurerEnd, make_place, tags_of_run, tell, tell_placed};
use crate::placed::Placed;

/// The client whose measurer makes the working place.
pub(super) const FIRST: u32 = 0;

/// What this measurer has to do.
#[derive(Debug, Clone)]
pub struct BenchAssignment {
    /// The target, its directory absolute.
    pub target: Target,
    /// The working place in it.
    pub place: Placed,
    /// The working place of copies, if that is another one.
    pub copy_place: Option<Placed>,
    /// Who makes it.
    pub maker: PlaceMaker,
    /// The run's spec.
    pub spec: RunSpec,
    /// The stages.
    pub stages: Arc<[StageRecord]>,
    /// Where an earlier run on the same working set left each client.
    pub positions: Option<Vec<u64>>,
    /// What drops the caches of servers, for a shell.
    pub drop_command: Option<String>,
    /// What a replay asks.
    pub repetition: Option<Arc<Repetition>>,
    /// Which repetition of its campaign the run is, from 0.
    pub place_of_repetition: u32,
    /// What a copy runs once it is set up.
    pub payload: Option<PayloadCommand>,
}

/// The process of these clients.
pub fn measure(
    assignment: &BenchAssignment,
    clients: &Range<u32>,
    exchange: &Exchange,
    outbox: Outbox,
) -> i32 {
    let measured = match clients.start {
        FIRST => try_measure(assignment, clients, exchange, &outbox),
        _ => measure_beside_the_first(assignment, clients, exchange),
    };
    match measured {
        Ok(end) => {
            tell(&outbox, &FromMeasurer::Ended(end));
            0
        }
        Err(sentence) => {
            tell(&outbox, &FromMeasurer::Failed { target: 0, sentence });
            3
        }
    }
}

/// Goes on when the working place is noted that the first measurer makes; without one there is nothing to measure, which that one tells.
fn measure_beside_the_first(
    assignment: &BenchAssignment,
    clients: &Range<u32>,
    exchange: &Exchange,
) -> Result<MeasurerEnd, String> {
    prefault(assignment, clients, exchange);
    let backend = open(assignment)?;
    let bench = benched(&assignment.spec.workload).map_err(|failure| failure.sentence)?;
    let payload = prepare_payload(assignment.payload.as_ref())?;
    let measure = || {
        beside_payload(payload, exchange, clients.start, |payload| {
            bench.measure(&Floor { payload, ..floor(assignment, clients, &backend, exchange) })
        })
    };
    if bench.ground() != Ground::WorkingPlace {
        measure()?;
        return Ok(MeasurerEnd { removed: true, ..MeasurerEnd::default() });
    }
    exchange.wait_until_noted(FIRST);
    // What it has made itself, which is nothing, it has removed.
    let end = MeasurerEnd { removed: true, ..MeasurerEnd::default() };
    if !exchange.is_expected(FIRST) {
        return Ok(end);
    }
    backend.expect_place(&assignment.place.expected());
    measure()?;
    Ok(end)
}

fn prefault(assignment: &BenchAssignment, clients: &Range<u32>, exchange: &Exchange) {
    let followers = clients.clone().flat_map(|client| assignment.spec.followers_of(client));
    clients.clone().chain(followers).for_each(|client| exchange.prefault(client));
}

pub(super) fn open(assignment: &BenchAssignment) -> Result<Arc<dyn Backend>, String> {
    let backend = assignment.target.backend(&assignment.place.name, Arc::new(MonotonicClock));
    backend.map(Arc::from).map_err(|error| error.to_string())
}

fn floor<'a>(
    assignment: &'a BenchAssignment,
    clients: &Range<u32>,
    backend: &'a Arc<dyn Backend>,
    exchange: &'a Exchange,
) -> Floor<'a> {
    Floor {
        spec: &assignment.spec,
        stages: &assignment.stages,
        positions: assignment.positions.as_deref(),
        backend,
        exchange,
        clients: clients.clone(),
        copy_to: None,
        caches: None,
        tags: Arc::new(tags_of_run(exchange)),
        target: &assignment.target,
        place: &assignment.place,
        repetition: assignment.repetition.as_deref(),
        place_of_repetition: assignment.place_of_repetition,
        payload: None,
    }
}

fn try_measure(
    assignment: &BenchAssignment,
    clients: &Range<u32>,
    exchange: &Exchange,
    outbox: &Outbox,
) -> Result<MeasurerEnd, String> {
    let sentence = |error: BackendError| error.to_string();
    let backend = open(assignment)?;
    let bench = benched(&assignment.spec.workload).map_err(|failure| failure.sentence)?;
    // Both are noted before anything is made in either: the clients wait for the other one.
    let make = |placed: &Placed| {
        make_place(placed.target, (&placed.path, &placed.name), &assignment.maker, outbox).map(Arc::new)
    };
    let copy_to = assignment.copy_place.as_ref().map(make).transpose().map_err(sentence)?;
    let place = match (bench.ground(), bench.makes_working_set()) {
        (Ground::Tree | Ground::Named, _) => None,
        (Ground::WorkingPlace, true) => {
            tell(outbox, &FromMeasurer::Placing(assignment.place.clone()));
            Some(backend.create_place(&assignment.maker).map_err(sentence)?)
        }
        (Ground::WorkingPlace, false) => Some(backend.reopen_place().map_err(sentence)?),
    };
    let caches = prepare_caches(assignment, bench, place.as_ref(), copy_to.as_deref())?;
    let payload = prepare_payload(assignment.payload.as_ref())?;
    place.into_iter().for_each(|place| tell_placed(outbox, 0, place));
    prefault(assignment, clients, exchange);
    if let Some(remark) = shared_tables(backend.as_ref(), clients.len()) {
        tell(outbox, &FromMeasurer::Remark(remark));
    }
    tell(outbox, &FromMeasurer::Calibrated(calibrate().map_err(|error| error.to_string())?));
    if bench.ground() == Ground::WorkingPlace {
        exchange.wait_until_noted(FIRST);
    }
    let (preparer, making) = caches.unzip();
    let (driven, mut end) = std::thread::scope(|scope| {
        preparer.map(|preparer| scope.spawn(|| preparer.serve(outbox)));
        let caches = making.map(|making| Arc::new(making) as Arc<dyn CacheMaker>);
        // Who serves ends when nobody can ask any more.
        let copy_to = copy_to.clone().map(|place| place as Arc<dyn OtherPlace>);
        beside_payload(payload, exchange, clients.start, |payload| {
            let floor = floor(assignment, clients, &backend, exchange);
            bench.measure(&Floor { copy_to, caches, payload, ..floor })
        })
    })?;
    if driven == DriveEnd::AtError {
        end.faults.insert(0, "stopped at the first request that failed, as --on-error stop says".to_owned());
    }
    let copy_to = copy_to.as_deref().map(|backend| backend as &dyn Backend);
    let backends: Vec<&dyn Backend> = std::iter::once(backend.as_ref()).chain(copy_to).collect();
    end.doubts.drain(..).for_each(|doubt| tell(outbox, &FromMeasurer::Doubt(doubt)));
    let outlives = assignment.target.semantics().place != PlaceProof::Process;
    let keeper_removes = outlives && bench.makes_working_set();
    let removes = driven == DriveEnd::Finished && bench.removes_working_set() && bench.ends_together();
    let mut are_removed = true;
    for backend in backends {
        are_removed &= match backend.refuse_moved() {
            Ok(()) => removes && remove_place(backend, keeper_removes, &mut end.leftovers),
            // Who looks for it by its path finds nothing, as if it were removed.
            Err(moved) => {
                end.leftovers.push(moved.to_string());
                true
            }
        };
    }
    end.removed = are_removed;
    Ok(end)
}

/// Who makes caches cold or warm, where that is asked for; forked as long as this process has one thread.
fn prepare_caches(
    assignment: &BenchAssignment,
    bench: &dyn Benched,
    place: Option<&Place>,
    copy_to: Option<&PosixBackend>,
) -> Result<Option<(Preparer, Making)>, String> {
    let (caches, target) = (assignment.spec.caches, assignment.target.directory());
    let Some(target) = target.filter(|_| !caches.is_asis()) else { return Ok(None) };
    let posix = PosixBackend::new(target.to_owned(), &assignment.place.name);
    let directory = posix.and_then(|posix| match place {
        Some(place) => {
            posix.expect_place(place);
            posix.open_place()
        }
        None => posix.open_target(),
    });
    // The copies in another target are of this run, too.
    let directories = std::iter::once(directory).chain(copy_to.map(PosixBackend::open_directory));
    let directories = directories.collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string())?;
    let patience = patience(bench.bytes_held(assignment.spec.clients));
    let made =
        Preparer::new((directories, bench.ground_of_caches()), assignment.drop_command.as_deref(), patience);
    made.map(Some).map_err(|failure| failure.sentence)
}

/// Whether it did, but for what is told to be left.
fn remove_place(backend: &dyn Backend, keeper_removes: bool, leftovers: &mut Vec<String>) -> bool {
    match backend.remove_place() {
        Ok(left) => {
            leftovers.extend(left.into_iter().map(|left| format!("{} is left: {}", left.path, left.reason)));
            return true;
        }
        // The keeper tries a directory once more, and tells.
        Err(_) if keeper_removes => {}
        Err(error) => leftovers.push(error.to_string()),
    }
    false
}

/// What to know where clients cannot have descriptor tables of their own.
fn shared_tables(backend: &dyn Backend, clients: usize) -> Option<String> {
    let may_have_own = backend.capabilities().semantics.descriptors == Descriptors::Private;
    let shared = clients > 1 && may_have_own && !can_unshare();
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
