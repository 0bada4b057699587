//! A bystander: a client that asks little, at moments of its own, while the load runs, and measures what everybody else feels.
//!
//! It needs a [`Client`] on an open schedule, a line in run.json that says what it is there for, and a measurer of its own:
//! then what hangs there holds up nothing here.

use std::sync::Arc;

use iolag_backend::{Descriptors, ObjectKey, Request, SessionOptions, Target, WORKING_NAME};
use iolag_conduct::{Conducted, ExitCode, GroupPlan, running_state};
use iolag_keeper::Exchange;
use iolag_model::{
    Anchor, Arrivals, ClientId, ClientRecord, Clock, DeadlineRule, Level, Meeting, MonotonicClock,
    MonotonicTime, Nanoseconds, OnHang, Operation, Outcome, Phase, PlaceMaker, PlaceToken, Random, Role,
    RunId, RunRecord, RunSpec, RunState, Sample, StageIndex, StageRecord, TargetIndex, TargetRecord,
    WhenLate,
};
use iolag_store::RunDirectory;
use iolag_workload::{
    Accounting, Client, ClientLoop, Done, DriveOptions, IfNotOpen, Job, MetadataClient, Pacer, Step,
    run_threads, workload,
};

use crate::{conducted, small_bench};

/// Clients of the load have the first numbers, and its stages too.
const BYSTANDER: u32 = 2;
const OWN_STAGE: StageIndex = StageIndex(3);
const OBJECTS: u64 = 20;
/// So often the bystander asks.
const PER_SECOND: u64 = 100;
/// After this long what hangs on purpose counts as hung.
const SHORT: Nanoseconds = Nanoseconds::from_seconds(1);

/// Makes an object and looks at it from its meeting on, until it is told to stop: that is when the load is over.
#[derive(Default)]
struct Bystander {
    done: usize,
    pacer: Option<Pacer>,
}

impl Client for Bystander {
    fn next(&mut self, _now: MonotonicTime) -> Step {
        let (operation, intended) = match (self.done, &self.pacer) {
            (0, _) => (Operation::MakeDirectory, None),
            (1, _) => (Operation::Create, None),
            (_, None) => return Step::Begin { stage: OWN_STAGE, value: 0 },
            (_, Some(pacer)) => (Operation::Stat, pacer.intended()),
        };
        Step::Execute { request: Request::new(operation, ObjectKey::default(), 0), intended }
    }

    fn completed(&mut self, _request: &Request, done: &Done) {
        self.done += 1;
        self.pacer.iter_mut().for_each(|pacer| pacer.completed(done));
    }

    fn met(&mut self, meeting: &Meeting, _now: MonotonicTime) {
        let arrivals = Arrivals::Rate(PER_SECOND as f64);
        self.pacer = Some(Pacer::open_schedule(arrivals, WhenLate::CatchUp, meeting.begin, Random::new(1)));
    }
}

/// What is known before the run: a bench, and one client more, with a target and a stage of its own.
fn record(load: &str, bystander: &str, hangs: Option<Role>, on_hang: OnHang) -> RunRecord {
    let deadline = |role| DeadlineRule { role: Some(role), operation: None, deadline_ns: SHORT };
    let deadlines = hangs.map(deadline).into_iter().collect();
    let spec = RunSpec { deadlines, on_hang, ..small_bench(&[load, bystander], OBJECTS) };
    let mut stages = workload(&spec.workload).stages();
    stages.push(StageRecord { stage: OWN_STAGE, phase: Phase::Benchmark, iteration: 1 });
    let load = |rank| ClientRecord::new(ClientId(rank), TargetIndex(0), rank);
    let bystander =
        ClientRecord { role: Role::Bystander, ..ClientRecord::new(ClientId(BYSTANDER), TargetIndex(1), 0) };
    RunRecord {
        targets: spec.targets.iter().map(|name| TargetRecord::new(name, "memory")).collect(),
        clients: (0..BYSTANDER).map(load).chain([bystander]).collect(),
        stages,
        anchors: vec![Anchor::take()],
        ..RunRecord::new(RunId::new("20261127-120000", 1).unwrap(), spec, running_state())
    }
}

/// The measurer of a role: a process that has the role's clients as threads.
fn measurer<'a, K: Client>(
    record: &'a RunRecord,
    role: Role,
    client: impl Fn(u32) -> K + 'a,
) -> GroupPlan<'a> {
    let members: Vec<_> = record.clients.iter().filter(|client| client.role == role).collect();
    let name = &record.targets[usize::from(members[0].target.0)].name;
    let clients = members.iter().map(|member| member.client.0).collect();
    let measure = move |exchange: &Exchange, _| {
        let backend = Target::parse(name).unwrap().backend(WORKING_NAME, Arc::new(MonotonicClock)).unwrap();
        backend.create_place(&PlaceMaker { run: record.id.clone(), token: PlaceToken(1) }).unwrap();
        // The load begins when the bystander looks for the third time, or hangs there.
        let is_beside = || exchange.in_flight(BYSTANDER).is_some_and(|look| look.attempt.sequence() >= 5);
        while role.is_load() && !is_beside() {
            MonotonicClock.rest_until(MonotonicClock.now().after(Nanoseconds::from_milliseconds(1)));
        }
        let job = |member: &&ClientRecord| {
            let (number, deadlines) = (member.client, record.spec.deadlines_of(role));
            // Clients meet by their numbers in the run, whatever their ranks on their targets are.
            let drive = DriveOptions { client: number, rank: number.0, deadlines };
            let session = SessionOptions::new(number, member.rank, record.spec.seed, 4096);
            let backend = backend.as_ref();
            Job {
                client: ClientLoop::new(client(member.rank), exchange.recorder(number.0), drive),
                open: move || backend.open_session(&session),
                if_not_open: if role.is_load() { IfNotOpen::StopAll } else { IfNotOpen::GoOn },
            }
        };
        let jobs = members.iter().map(job).collect();
        let ends = run_threads(jobs, Descriptors::Shared, &exchange.coordinator(), &MonotonicClock);
        i32::from(ends.iter().any(Result::is_err))
    };
    GroupPlan { name: name.clone(), clients, measure: Box::new(measure) }
}

/// Conducts a run on these targets, of which a role's hangs. What came of it, and what those of each role were asked.
fn run(load: &str, bystander: &str, hangs: Option<Role>, on_hang: OnHang) -> (Conducted, [Vec<Sample>; 2]) {
    let root = tempfile::tempdir().unwrap();
    let record = record(load, bystander, hangs, on_hang);
    let spec = record.spec.workload.metadata().unwrap();
    let accounting = Accounting::new(spec, BYSTANDER, None).unwrap();
    let metadata_client = |rank| {
        let stages = workload(&record.spec.workload).stages();
        MetadataClient::new(spec, rank, stages.into(), &accounting)
    };
    let groups = vec![
        measurer(&record, Role::Load, metadata_client),
        measurer(&record, Role::Bystander, |_| Bystander::default()),
    ];
    let conducted = conducted(record.clone(), groups, root.path());
    let samples = [Role::Load, Role::Bystander].map(|role| samples_of(&conducted, role));
    (conducted, samples)
}

/// What is stored of the clients that are there for this, by what run.json says of them.
fn samples_of(conducted: &Conducted, role: Role) -> Vec<Sample> {
    let run = RunDirectory::open(&conducted.run).unwrap();
    let clients = run.record().unwrap().clients;
    let samples = run.samples().unwrap().map(|stored| stored.unwrap().sample);
    let is_asked = |sample: &Sample| sample.operation().level() == Level::Object;
    samples.filter(is_asked).filter(|it| clients[it.attempt.client().0 as usize].role == role).collect()
}

fn all_ok(samples: &[Sample]) -> bool {
    !samples.is_empty() && samples.iter().all(|sample| sample.outcome() == Outcome::Ok)
}

#[test]
fn a_bystander_measures_beside_the_load_and_run_json_tells_them_apart() {
    let (conducted, [load, bystander]) = run("memory:", "delayed:stat=5ms:memory:", None, OnHang::Stop);
    assert_eq!((&conducted.stored.record.state, conducted.code), (&RunState::Complete, ExitCode::Fine));
    assert!(all_ok(&load) && all_ok(&bystander));
    let stats = load.iter().filter(|sample| sample.operation() == Operation::Stat).count();
    assert_eq!(stats as u64, u64::from(BYSTANDER) * OBJECTS);
    let due: Vec<_> = bystander[2..].iter().map(|sample| sample.intended).collect();
    let schedule = |number| due[0].after(Nanoseconds(number * 1_000_000_000 / PER_SECOND));
    assert!(due.iter().copied().eq((0..due.len() as u64).map(schedule)), "whatever the load does: {due:?}");
    assert!(due.len() >= 3);
}

#[test]
fn where_the_load_hangs_the_bystander_goes_on_until_the_load_is_given_up() {
    let (conducted, [load, bystander]) =
        run("faulty:stat:hang@#5:memory:", "delayed:stat=5ms:memory:", Some(Role::Load), OnHang::Continue);
    let RunState::Incomplete { reason } = &conducted.stored.record.state else { panic!("{conducted:?}") };
    assert!(reason.contains("did not answer 2 of 2 clients"), "{reason}");
    let hung = load.iter().find(|sample| sample.outcome() == Outcome::Hung).unwrap();
    assert!(all_ok(&bystander));
    assert!(bystander.iter().any(|sample| sample.start > hung.start), "nothing was felt while the load hung");
}

#[test]
fn where_the_bystander_hangs_the_load_goes_on_and_the_run_ends_with_it_complete() {
    // Nobody is given up, so that the load would wait for the bystander if it met it.
    let (conducted, [load, bystander]) =
        run("memory:", "faulty:stat:hang@#3:memory:", Some(Role::Bystander), OnHang::Wait);
    let record = &conducted.stored.record;
    assert_eq!(record.state, RunState::Complete, "all of the load was measured");
    assert!(record.remarks[0].starts_with("A bystander, client 2 in faulty:"), "{:?}", record.remarks);
    let hung = bystander.iter().find(|sample| sample.outcome() == Outcome::Hung).unwrap();
    assert!(all_ok(&load));
    assert!(load.iter().all(|sample| sample.start > hung.start), "it hung from the beginning");
}
