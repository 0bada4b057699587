//! Who measures beside the load, in whole runs of keeper, writer and a measurer for each role.

use super::*;
use crate::run::beginning::running_state;
use iolag_backend::{AsyncExecution, AsyncOpening, AsyncSession, Completion, ObjectKey, Request, Session};
use iolag_keeper::Signals;
use iolag_model::{
    Activity, ClientId, ClientRecord, DeadlineRule, Deadlines, FailureCode, MonotonicTime, OnError, OnHang,
    Operation, Role, RunSpec, TargetRecord,
};
use iolag_workload::{
    Client, ClientLoop, Done, DriveOptions, IfNotOpen, Job, MetadataOptions, Step, Workers, drive_blocking,
    run_async_clients, workload,
};

/// Nothing on this machine takes so long.
const USUAL: Nanoseconds = Nanoseconds::from_seconds(60);
/// What hangs is noticed soon.
const SHORT: Nanoseconds = Nanoseconds::from_milliseconds(200);
const LOAD: u32 = 0;
const OTHER: u32 = 1;

/// Asks every other millisecond, until something is so.
struct Asks<F> {
    is_over: F,
    is_pausing: bool,
}

impl<F: FnMut() -> bool + Send> Client for Asks<F> {
    fn next(&mut self, now: MonotonicTime) -> Step {
        self.is_pausing = !self.is_pausing;
        if (self.is_over)() {
            Step::Finished
        } else if self.is_pausing {
            Step::Pause { until: now.after(Nanoseconds::from_milliseconds(2)) }
        } else {
            Step::Execute { request: Request::new(Operation::Stat, ObjectKey::default(), 0), intended: None }
        }
    }

    fn completed(&mut self, _request: &Request, _done: &Done) {}
}

/// How a target answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    Answers,
    Fails,
    Hangs,
}

impl Session for Target {
    fn prepare(&mut self, _request: &Request) {}

    fn execute(&mut self, _request: &Request) -> Completion {
        match self {
            Self::Answers => Completion::ok(0),
            Self::Fails => Completion::failed(FailureCode::from_errno(libc::EBUSY)),
            Self::Hangs => loop {
                std::thread::park();
            },
        }
    }
}

/// A load client and one of another role.
struct Scene {
    role: Role,
    load: Target,
    other: Target,
    on_hang: OnHang,
}

impl Scene {
    fn record(&self) -> RunRecord {
        let metadata = MetadataOptions { precreated_objects: vec![1000], ..MetadataOptions::default() };
        let spec = RunSpec {
            workload: metadata.workload(metadata.variants()[0].1, 1).unwrap(),
            targets: vec!["one".to_owned(), "two".to_owned()],
            clients: 1,
            deadline_ns: USUAL,
            deadlines: self.deadlines(),
            on_hang: self.on_hang,
            on_error: OnError::Continue,
            seed: 1,
            ring_bytes: 1 << 20,
            caches: iolag_model::CacheState::Asis,
            drop_command: None,
            bystander: None,
        };
        let stages = workload(&spec.workload).stages();
        let id = RunId::new("20261122-120000", 1).unwrap();
        let client = |(client, role)| ClientRecord {
            role,
            ..ClientRecord::new(ClientId(client), TargetIndex(client as u16), 0)
        };
        RunRecord {
            targets: spec.targets.iter().map(|name| TargetRecord::new(name, "memory")).collect(),
            clients: [(LOAD, Role::Load), (OTHER, self.role)].map(client).to_vec(),
            stages,
            anchors: vec![Anchor::take()],
            ..RunRecord::new(id, spec, running_state())
        }
    }

    /// Who hangs does so soon; the others may take their time on this machine.
    fn deadlines(&self) -> Vec<DeadlineRule> {
        let rule = |role| DeadlineRule { role: Some(role), operation: None, deadline_ns: SHORT };
        let hanging = [(Role::Load, self.load), (self.role, self.other)].into_iter();
        hanging.filter(|(_, target)| *target == Target::Hangs).map(|(role, _)| rule(role)).collect()
    }

    fn group(&self, client: u32, target: Target, spec: RunSpec) -> GroupPlan<'_> {
        let role = if client == LOAD { Role::Load } else { self.role };
        let measure = move |exchange: &Exchange, _: Outbox| {
            let mut asked = 0;
            let is_over = || {
                asked += 1;
                // The other has hung for long, or it does not hang.
                let age = |start| MonotonicClock.now().since(start);
                let has_hung =
                    exchange.in_flight(OTHER).is_some_and(|flight| age(flight.start).0 > 3 * SHORT.0);
                client == LOAD && (has_hung || (self.other == Target::Answers && asked > 100))
            };
            let options =
                DriveOptions { client: ClientId(client), rank: client, deadlines: spec.deadlines_of(role) };
            let client =
                ClientLoop::new(Asks { is_over, is_pausing: false }, exchange.recorder(client), options);
            drive_blocking(client, &mut target.clone(), &exchange.coordinator(), &MonotonicClock);
            0
        };
        GroupPlan {
            name: format!("the target of client {client}"),
            clients: vec![client],
            measure: Box::new(measure),
        }
    }

    /// What came of it, and how many attempts succeeded and hung.
    fn conduct(&self) -> (Conducted, u64, u64) {
        let record = self.record();
        let groups = [(LOAD, self.load), (OTHER, self.other)];
        let groups = groups.map(|(client, target)| self.group(client, target, record.spec.clone()));
        let conducted = conducted(record, groups.into());
        let summaries = &conducted.stored.summaries.summaries;
        let stats = || summaries.iter().filter(|summary| summary.key.operation == Operation::Stat);
        let (ok, hung) = (stats().map(|stat| stat.ok).sum(), stats().map(|stat| stat.hung).sum());
        (conducted, ok, hung)
    }
}

fn conducted(record: RunRecord, groups: Vec<GroupPlan<'_>>) -> Conducted {
    let root = tempfile::tempdir().unwrap();
    let plan = RunPlan {
        groups,
        policy: Policy::of(&record.spec),
        record,
        root: root.path().to_owned(),
        spool_parent: None,
        planned_places: Vec::new(),
        token: PlaceToken(1),
        clean_up: CleanUp::Nothing,
        attendant: &mut (),
    };
    conduct(plan, &mut Interruption::new(&Signals::block().unwrap())).unwrap()
}

/// What is asked of it, it does not answer.
struct Silent;

impl AsyncSession for Silent {
    fn prepare(&mut self, _request: &Request) {}

    fn execute<'a>(&'a mut self, _request: &'a Request) -> AsyncExecution<'a> {
        Box::pin(std::future::pending())
    }
}

/// A client that is a task, and asks that.
fn asks_the_silent(deadlines: Deadlines) -> GroupPlan<'static> {
    let measure = move |exchange: &Exchange, _: Outbox| {
        let mut asked = 0;
        let is_over = move || {
            asked += 1;
            asked > 4
        };
        let options = DriveOptions { client: ClientId(LOAD), rank: LOAD, deadlines: deadlines.clone() };
        let job = Job {
            client: ClientLoop::new(Asks { is_over, is_pausing: false }, exchange.recorder(LOAD), options),
            open: || -> AsyncOpening<'static> { Box::pin(async { Ok(Box::new(Silent) as _) }) },
            if_not_open: IfNotOpen::GoOn,
        };
        let workers = Workers { threads: 1, opening_at_once: 1 };
        let ends = run_async_clients(vec![job], workers, &exchange.coordinator(), &MonotonicClock);
        i32::from(!ends.is_ok_and(|ends| ends.iter().all(Result::is_ok)))
    };
    GroupPlan { name: "one".to_owned(), clients: vec![LOAD], measure: Box::new(measure) }
}

/// Pauses for an hour.
#[derive(Clone)]
struct Pauses;

impl Client for Pauses {
    fn next(&mut self, now: MonotonicTime) -> Step {
        Step::Pause { until: now.after(Nanoseconds::from_seconds(3600)) }
    }

    fn completed(&mut self, _request: &Request, _done: &Done) {}
}

/// Is killed, and its process, between two operations.
#[derive(Clone)]
struct Dies;

impl Client for Dies {
    fn next(&mut self, _now: MonotonicTime) -> Step {
        kill_this_process();
        loop {
            std::thread::park();
        }
    }

    fn completed(&mut self, _request: &Request, _done: &Done) {}
}

fn kill_this_process() {
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
}

/// A bystander that is a task, does that, and is killed with its worker.
fn is_killed(does: impl Client + Clone + 'static, deadlines: Deadlines) -> GroupPlan<'static> {
    let measure = move |exchange: &Exchange, _: Outbox| {
        let options = DriveOptions { client: ClientId(OTHER), rank: OTHER, deadlines: deadlines.clone() };
        let job = Job {
            client: ClientLoop::new(does.clone(), exchange.recorder(OTHER), options),
            open: || -> AsyncOpening<'static> { Box::pin(async { Ok(Box::new(Silent) as _) }) },
            if_not_open: IfNotOpen::GoOn,
        };
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // Its session is open by then: nothing that was asked is in flight.
                let pauses = || exchange.activity(OTHER) == Activity::Pausing;
                while !pauses() || exchange.overdue(OTHER, MonotonicTime(u64::MAX)).is_none() {
                    MonotonicClock.rest_until(MonotonicClock.now().after(Nanoseconds::from_milliseconds(1)));
                }
                kill_this_process();
            });
            let workers = Workers { threads: 1, opening_at_once: 1 };
            let _ = run_async_clients(vec![job], workers, &exchange.coordinator(), &MonotonicClock);
        });
        0
    };
    GroupPlan { name: "two".to_owned(), clients: vec![OTHER], measure: Box::new(measure) }
}

#[test]
fn who_pauses_in_a_measurer_that_was_killed_does_not_hang() {
    nobody_hangs_beside(Pauses);
}

#[test]
fn who_works_between_operations_in_a_measurer_that_was_killed_does_not_hang() {
    nobody_hangs_beside(Dies);
}

fn nobody_hangs_beside(killed: impl Client + Clone + 'static) {
    let (role, on_hang) = (Role::Bystander, OnHang::Continue);
    let mut record = Scene { role, load: Target::Answers, other: Target::Answers, on_hang }.record();
    // On a busy machine its process takes a while to come and to go.
    let deadline_ns = Nanoseconds::from_seconds(2);
    record.spec.deadlines = vec![DeadlineRule { role: Some(role), operation: None, deadline_ns }];
    let options =
        DriveOptions { client: ClientId(LOAD), rank: LOAD, deadlines: record.spec.deadlines_of(Role::Load) };
    let measure = |exchange: &Exchange, _: Outbox| {
        // Longer than a worker that does not beat is believed, and than the deadline of the other.
        let (begin, enough) = (MonotonicClock.now(), Nanoseconds::from_seconds(5));
        let is_over = || MonotonicClock.now().since(begin) > enough;
        let asks = Asks { is_over, is_pausing: false };
        let client = ClientLoop::new(asks, exchange.recorder(LOAD), options.clone());
        drive_blocking(client, &mut Target::Answers, &exchange.coordinator(), &MonotonicClock);
        0
    };
    let load = GroupPlan { name: "one".to_owned(), clients: vec![LOAD], measure: Box::new(measure) };
    let killed = is_killed(killed, record.spec.deadlines_of(role));
    let conducted = conducted(record, vec![load, killed]);
    let RunState::Incomplete { reason } = &conducted.stored.record.state else { panic!("{conducted:?}") };
    assert_eq!(reason, "the measurer of two was ended by signal 9");
    assert_eq!(conducted.stored.record.remarks, [""; 0]);
    let hung: u64 = conducted.stored.summaries.summaries.iter().map(|summary| summary.hung).sum();
    assert_eq!(hung, 0);
}

#[test]
fn a_run_in_which_everything_failed_is_complete_and_fine() {
    let (role, on_hang) = (Role::Bystander, OnHang::Continue);
    let scene = Scene { role, load: Target::Fails, other: Target::Answers, on_hang };
    let (conducted, ..) = scene.conduct();
    assert_eq!((&conducted.stored.record.state, conducted.code), (&RunState::Complete, ExitCode::Fine));
}

#[test]
fn a_deadline_that_was_passed_is_told_also_where_the_client_ended_what_it_had_asked() {
    let (role, on_hang) = (Role::Bystander, OnHang::Continue);
    let mut record = Scene { role, load: Target::Hangs, other: Target::Answers, on_hang }.record();
    record.clients.truncate(1);
    let deadlines = record.spec.deadlines_of(Role::Load);
    let conducted = conducted(record, vec![asks_the_silent(deadlines)]);
    let summaries = conducted.stored.summaries.summaries;
    let asked: Vec<_> = summaries.iter().filter(|one| one.key.operation == Operation::Stat).collect();
    assert!(asked.iter().all(|one| one.timeout == one.attempts) && !asked.is_empty(), "{asked:?}");
    assert_eq!((conducted.stored.record.state, conducted.code), (RunState::Complete, ExitCode::Incomplete));
    assert_eq!(conducted.notices, ["what had no answer was ended at its deadline"]);
}

#[test]
fn a_hung_bystander_or_control_never_stops_the_run() {
    for (role, on_hang, who) in
        [(Role::Bystander, OnHang::Stop, "A bystander"), (Role::Control, OnHang::Wait, "The control")]
    {
        let scene = Scene { role, load: Target::Answers, other: Target::Hangs, on_hang };
        let (conducted, ok, hung) = scene.conduct();
        let record = &conducted.stored.record;
        assert_eq!(record.state, RunState::Complete, "all of the load was measured");
        assert_eq!(conducted.code, ExitCode::Incomplete, "as whenever something was past its deadline");
        let told = format!(
            "{who}, client 1 in two, had not come back from what it asked last; the run went on without it."
        );
        assert_eq!(record.remarks, [told]);
        assert!(ok > 0 && hung == 1, "{ok} and {hung} attempts");
        assert_eq!(record.clients[1].role, role);
    }
}

#[test]
fn a_run_ends_when_all_of_its_load_has_ended_or_hangs() {
    let scene =
        |load| Scene { role: Role::Bystander, load, other: Target::Answers, on_hang: OnHang::Continue };
    let (conducted, ok, hung) = scene(Target::Answers).conduct();
    assert_eq!((&conducted.stored.record.state, conducted.code), (&RunState::Complete, ExitCode::Fine));
    assert!(ok > 0 && hung == 0, "{ok} and {hung} attempts");
    let (conducted, ok, hung) = scene(Target::Hangs).conduct();
    let RunState::Incomplete { reason } = &conducted.stored.record.state else { panic!("{conducted:?}") };
    assert_eq!(reason, "one did not answer for longer than the deadline and was left behind");
    assert!(ok > 0 && hung == 1, "the bystander has measured until then: {ok} and {hung} attempts");
    assert_eq!(conducted.stored.record.remarks, [""; 0]);
}
