//! The process of those who stand in one place.

use iolag_backend::{Backend, BackendError, Descriptors, InTree, Request, SessionOptions};
use iolag_keeper::{Exchange, Outbox};
use iolag_model::{
    BesideRecord, BystanderSpec, BystanderTask, ClientId, LoadTime, MonotonicClock, Nanoseconds, Operation,
    StageIndex, Standpoint, WorkloadSpec,
};
use iolag_workload::{
    Asks, BystanderClient, BystanderSession, ClientLoop, DriveOptions, IfNotOpen, Job, Keeps, Own,
    run_threads,
};

use crate::bench::measurer::{BenchAssignment, FIRST, open};
use crate::messages::{FromMeasurer, MeasurerEnd, make_place, tell};
use crate::run::conduct::GroupPlan;

const SECOND_NS: f64 = 1e9;

/// A bystander, or a control.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::bench) struct Bystander {
    pub client: u32,
    pub standpoint: Standpoint,
    pub task: BystanderTask,
}

/// What those in one place have to do.
#[derive(Debug, Clone)]
pub(in crate::bench) struct BystanderAssignment {
    /// What the load has to do.
    pub load: BenchAssignment,
    /// What they do.
    pub spec: BystanderSpec,
    /// Where they stand.
    pub standpoint: Standpoint,
    /// Who they are.
    pub bystanders: Vec<Bystander>,
    /// How many there are in all places.
    pub all: u32,
    /// Their stages.
    pub beside: BesideRecord,
    /// Where a control works: the directory, and the name of its working place.
    pub control: Option<(String, String)>,
    /// The number of its target.
    pub control_target: u16,
}

/// The process. What becomes of it is no failure of the run.
fn measure(assignment: &BystanderAssignment, exchange: &Exchange, outbox: &Outbox) -> i32 {
    let end = match try_measure(assignment, exchange, outbox) {
        Ok(leftovers) => MeasurerEnd { removed: true, leftovers, ..MeasurerEnd::default() },
        Err(error) => {
            tell(
                outbox,
                &FromMeasurer::Remark(format!("Nothing was measured {}: {error}.", assignment.place())),
            );
            MeasurerEnd { removed: true, ..MeasurerEnd::default() }
        }
    };
    tell(outbox, &FromMeasurer::Ended(end));
    0
}

impl BystanderAssignment {
    /// The process that does it.
    pub(in crate::bench) fn group(&self) -> GroupPlan<'_> {
        GroupPlan {
            name: format!("the bystanders ({})", self.standpoint),
            clients: self.bystanders.iter().map(|bystander| bystander.client).collect(),
            measure: Box::new(|exchange, outbox| measure(self, exchange, &outbox)),
        }
    }

    fn place(&self) -> &'static str {
        match self.standpoint {
            Standpoint::Control => "in this machine's memory",
            _ => "beside the load",
        }
    }

    fn wait_until_noted(&self, exchange: &Exchange) {
        self.bystanders.iter().for_each(|bystander| exchange.wait_until_noted(bystander.client));
    }

    /// In whose first dataset they work.
    fn rank(&self) -> u32 {
        match self.standpoint {
            Standpoint::File | Standpoint::Directory | Standpoint::Control => 0,
            Standpoint::Sibling => self.load.spec.clients,
        }
    }

    fn own(&self, bystander: Bystander) -> Own {
        Own { number: bystander.client - self.load.spec.clients, rank: self.rank() }
    }

    /// Whether they look at what is there already, and make nothing.
    fn looks_on(&self) -> bool {
        self.control.is_none() && matches!(self.load.spec.workload, WorkloadSpec::Tree(_))
    }

    fn stages(&self) -> Vec<(LoadTime, StageIndex)> {
        let of_place = self.beside.stages.iter().filter(|stage| stage.standpoint == self.standpoint);
        of_place.map(|stage| (stage.time, stage.stage)).collect()
    }
}

/// What could not be removed.
fn try_measure(
    assignment: &BystanderAssignment,
    exchange: &Exchange,
    outbox: &Outbox,
) -> Result<Vec<String>, String> {
    assignment.bystanders.iter().for_each(|bystander| exchange.prefault(bystander.client));
    match &assignment.control {
        Some((path, name)) => measure_in_memory(assignment, (path, name), exchange, outbox),
        None => {
            let backend = open(&assignment.load)?;
            if assignment.looks_on() {
                run(assignment, backend.as_ref(), exchange)?;
                return Ok(Vec::new());
            }
            assignment.wait_until_noted(exchange);
            if exchange.is_expected(FIRST) {
                backend.expect_place(&assignment.load.place.expected());
                run(assignment, backend.as_ref(), exchange)?;
            }
            Ok(Vec::new())
        }
    }
}

/// In a working place of its own, which it removes again.
fn measure_in_memory(
    assignment: &BystanderAssignment,
    (path, name): (&str, &str),
    exchange: &Exchange,
    outbox: &Outbox,
) -> Result<Vec<String>, String> {
    let target = assignment.control_target;
    let backend = make_place(target, (path, name), &assignment.load.maker, outbox).map_err(in_words)?;
    assignment.wait_until_noted(exchange);
    let measured = run(assignment, &backend, exchange);
    let left = backend.remove_place().map_err(in_words)?;
    tell(outbox, &FromMeasurer::Removed { target });
    measured?;
    Ok(left.into_iter().map(|left| format!("{} is left: {}", left.path, left.reason)).collect())
}

fn run(assignment: &BystanderAssignment, backend: &dyn Backend, exchange: &Exchange) -> Result<(), String> {
    let spec = &assignment.load.spec;
    let job = |bystander: &Bystander| {
        let Bystander { client, standpoint, task } = *bystander;
        let own = assignment.own(*bystander);
        let share = f64::from(own.number) / f64::from(assignment.all.max(1));
        let rate_per_second = assignment.spec.rate_per_second;
        let delay = Nanoseconds((share * SECOND_NS / rate_per_second) as u64);
        let keeps = match standpoint {
            Standpoint::File => Keeps::Nothing,
            _ if assignment.looks_on() => Keeps::Nothing,
            _ => Keeps::ItsFile,
        };
        let asks = Asks { task, standpoint, rate_per_second, delay, own, keeps };
        let deadlines = spec.deadlines_of(exchange.role(client));
        let drive = DriveOptions { client: ClientId(client), rank: client, deadlines };
        let options = SessionOptions {
            tree: assignment.looks_on().then_some(InTree::LooksOn),
            repetition: assignment.load.place_of_repetition,
            ..SessionOptions::new(ClientId(client), client, spec.seed, Own::BYTES_MAX)
        };
        let bystander = BystanderClient::new(exchange.clone(), asks, assignment.stages());
        Job {
            client: ClientLoop::new(bystander, exchange.recorder(client), drive),
            open: move || {
                let inner = backend.open_session(&options)?;
                Ok(match assignment.looks_on() {
                    true => inner,
                    false => Box::new(BystanderSession::new(inner, own, standpoint)),
                })
            },
            if_not_open: IfNotOpen::GoOn,
        }
    };
    let jobs = assignment.bystanders.iter().map(job).collect();
    let ends = run_threads(jobs, Descriptors::Private, &exchange.coordinator(), &MonotonicClock);
    remove_directory(assignment, backend)?;
    ends.into_iter().try_for_each(|end| end.map(drop).map_err(|error| error.to_string()))
}

fn in_words(error: BackendError) -> String {
    error.to_string()
}

/// Their directory, where it is none of the load's: its files are removed by those who made them.
fn remove_directory(assignment: &BystanderAssignment, backend: &dyn Backend) -> Result<(), String> {
    let (Standpoint::Sibling, Some(first)) = (assignment.standpoint, assignment.bystanders.first()) else {
        return Ok(());
    };
    let options =
        SessionOptions::new(ClientId(first.client), first.client, assignment.load.spec.seed, Own::BYTES_MAX);
    let mut session = backend.open_session(&options).map_err(in_words)?;
    let request = Request::new(Operation::RemoveDirectory, assignment.own(*first).kept(), 0);
    session.prepare(&request);
    // What is left is removed with the working place.
    session.execute(&request);
    Ok(())
}
