//! The contracts of the core, proved with toys before any real workload: five thousand asynchronous clients, two processes,
//! roles that do not wait for each other, and a process that is killed in the middle.

mod descriptors;
mod hearts;
mod queues;
mod roles;
mod tags;
mod thousands;

use std::time::Duration;

use iolag_backend::{
    AsyncExecution, AsyncSession, BackendError, Completion, Descriptors, ObjectKey, Request, Session,
};
use iolag_keeper::{Child, Ending, Exchange, Orphanage, SharedRecorder};
use iolag_model::{
    AttemptId, ClientId, Clock, Coordinator, Meeting, MonotonicClock, MonotonicTime, Nanoseconds, Operation,
    Outcome, Sample, SimulatedClock, StageIndex,
};
use iolag_workload::{
    Client, ClientLoop, Done, DriveEnd, DriveError, DriveOptions, IfNotOpen, Job, Step, drive_blocking,
    run_process, run_threads,
};

const DEADLINE: Nanoseconds = Nanoseconds::from_seconds(60);
const LIMIT: Nanoseconds = Nanoseconds::from_seconds(60);

/// Begins a stage, asks `left` times, ends.
struct Toy {
    begun: bool,
    left: u64,
    met: Vec<u64>,
    value: u64,
}

impl Toy {
    fn new(left: u64, value: u64) -> Box<Self> {
        Box::new(Self { begun: false, left, met: Vec::new(), value })
    }
}

impl Client for Toy {
    fn next(&mut self, _now: MonotonicTime) -> Step {
        if !self.begun {
            self.begun = true;
            return Step::Begin { stage: StageIndex(1), value: self.value };
        }
        if self.left == 0 {
            return Step::Finished;
        }
        self.left -= 1;
        Step::Execute { request: Request::new(Operation::Stat, ObjectKey::default(), 0), intended: None }
    }

    fn completed(&mut self, _request: &Request, done: &Done) {
        assert!(done.end >= done.start);
    }

    fn met(&mut self, meeting: &Meeting, _now: MonotonicTime) {
        self.met = meeting.values.iter().flatten().copied().collect();
        assert!(self.met.contains(&self.value));
    }
}

/// Takes a known time.
struct Known(Duration);

impl Session for Known {
    fn prepare(&mut self, _request: &Request) {}

    fn execute(&mut self, _request: &Request) -> Completion {
        std::thread::sleep(self.0);
        Completion::ok(1)
    }
}

impl AsyncSession for Known {
    fn prepare(&mut self, _request: &Request) {}

    fn execute<'a>(&'a mut self, _request: &'a Request) -> AsyncExecution<'a> {
        Box::pin(async {
            tokio::time::sleep(self.0).await;
            Completion::ok(1)
        })
    }
}

fn client(exchange: &Exchange, rank: u32, left: u64) -> ClientLoop<SharedRecorder, Box<Toy>> {
    let options = DriveOptions { client: ClientId(rank), rank, deadlines: DEADLINE.into() };
    ClientLoop::new(Toy::new(left, u64::from(rank)), exchange.recorder(rank), options)
}

fn drain(exchange: &Exchange) -> Vec<Sample> {
    let mut samples = Vec::new();
    for (ring, _) in exchange.readers() {
        loop {
            let pending = ring.pending();
            if pending.is_empty() {
                break;
            }
            samples.extend_from_slice(pending);
            ring.consume(pending.len() as u64);
        }
    }
    samples
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let until = MonotonicClock.now().after(LIMIT);
    while !is_so() {
        assert!(MonotonicClock.now() < until, "{what} did not come");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn count(samples: &[Sample], operation: Operation) -> usize {
    samples.iter().filter(|sample| sample.operation() == operation).count()
}

/// When clients were to start their first operation: the moments, each once.
fn first_intended(samples: &[Sample]) -> Vec<MonotonicTime> {
    let is_first = |sample: &&Sample| sample.attempt.sequence() == 1;
    let mut moments: Vec<MonotonicTime> =
        samples.iter().filter(is_first).map(|sample| sample.intended).collect();
    moments.sort_unstable();
    moments.dedup();
    moments
}

/// A clock of its own for each client; of some the wake-up comes late.
struct WokenLate {
    clock: SimulatedClock,
    late: Nanoseconds,
}

impl Clock for WokenLate {
    fn now(&self) -> MonotonicTime {
        self.clock.now()
    }

    fn sleep_until(&self, moment: MonotonicTime) {
        self.clock.sleep_until(moment.after(self.late));
    }

    fn rest_until(&self, moment: MonotonicTime) {
        self.clock.rest_until(moment.after(self.late));
    }
}

/// Takes no time at all.
struct Timeless;

impl Session for Timeless {
    fn prepare(&mut self, _request: &Request) {}

    fn execute(&mut self, _request: &Request) -> Completion {
        Completion::ok(0)
    }
}

#[test]
fn all_begin_at_one_moment_and_a_late_wake_up_is_in_the_response_time() {
    const LATE: Nanoseconds = Nanoseconds::from_milliseconds(7);
    const ARRIVED: MonotonicTime = MonotonicTime(1_000_000_000);
    let exchange = Exchange::new(3, 1 << 20).unwrap();
    std::thread::scope(|scope| {
        for rank in 0..3 {
            let exchange = &exchange;
            scope.spawn(move || {
                let late = if rank == 1 { LATE } else { Nanoseconds::ZERO };
                let clock = WokenLate { clock: SimulatedClock::starting_at(ARRIVED), late };
                let coordinator = exchange.coordinator();
                let end = drive_blocking(client(exchange, rank, 2), &mut Timeless, &coordinator, &clock);
                assert_eq!(end, DriveEnd::Finished);
            });
        }
    });
    let mut samples = drain(&exchange);
    samples.retain(|sample| sample.operation() == Operation::Stat);
    samples.sort_by_key(|sample| sample.attempt);
    let begin = samples[0].intended;
    assert!(begin > ARRIVED && begin.since(ARRIVED) < Nanoseconds::from_milliseconds(50), "{begin:?}");
    for (index, sample) in samples.iter().enumerate() {
        let (rank, is_first) = (index / 2, index % 2 == 0);
        let start = if rank == 1 { begin.after(LATE) } else { begin };
        assert_eq!((sample.start, sample.duration), (start, Nanoseconds::ZERO));
        assert_eq!(sample.intended, if is_first { begin } else { start }, "client {rank}");
    }
}

#[test]
fn a_stage_lasts_from_a_clients_first_start_to_its_last_end_and_not_to_its_meetings() {
    let exchange = Exchange::new(2, 1 << 20).unwrap();
    let jobs = (0..2).map(|rank| Job {
        client: client(&exchange, rank, u64::from(rank) * 3),
        open: || Ok(Box::new(Known(Duration::from_millis(2))) as Box<dyn Session>),
        if_not_open: IfNotOpen::StopAll,
    });
    run_threads(jobs.collect(), Descriptors::Private, &exchange.coordinator(), &MonotonicClock);
    let samples = drain(&exchange);
    let of = |operation, rank| {
        samples
            .iter()
            .filter(move |sample: &&Sample| sample.operation() == operation)
            .filter(move |sample| sample.attempt.client() == ClientId(rank))
            .collect::<Vec<_>>()
    };
    let (stage, stats) = (of(Operation::Stage, 1)[0], of(Operation::Stat, 1));
    assert_eq!(stage.start, stats[0].start);
    assert_eq!(stage.start.after(stage.duration), stats[2].start.after(stats[2].duration));
    assert_eq!((stage.intended, stage.bytes), (stats[0].intended, 3));
    let idle = of(Operation::Stage, 0)[0];
    assert_eq!((idle.start, idle.duration, idle.bytes), (stage.intended, Nanoseconds::ZERO, 0));
}

#[test]
fn processes_meet_and_their_samples_survive_them() {
    let exchange = Exchange::new(2, 1 << 20).unwrap();
    let mut measurers: Vec<_> = (0..2)
        .map(|rank| {
            Child::fork("measurer", Orphanage::Die, || {
                let open = || Ok(Box::new(Known(Duration::from_micros(10))) as Box<dyn Session>);
                let job =
                    Job { client: client(&exchange, rank, 5_000), open, if_not_open: IfNotOpen::StopAll };
                match run_process(job, &exchange.coordinator(), &MonotonicClock) {
                    Ok(DriveEnd::Finished) => 0,
                    _ => 1,
                }
            })
            .unwrap()
        })
        .collect();
    // The rings hold about 10 000 samples each; draining while they are written also proves the hand-over.
    let mut samples = Vec::new();
    while measurers.iter_mut().any(|measurer| measurer.wait(Nanoseconds::from_milliseconds(5)).is_none()) {
        samples.extend(drain(&exchange));
    }
    samples.extend(drain(&exchange));
    assert!(measurers.iter_mut().all(|measurer| measurer.ending() == Some(Ending::Exited(0))));
    for rank in 0..2 {
        let sequences: Vec<u64> = samples
            .iter()
            .filter(|sample| sample.attempt.client() == ClientId(rank))
            .map(|sample| sample.attempt.sequence())
            .collect();
        assert_eq!(sequences, (0..5_002).collect::<Vec<_>>(), "client {rank}: in order, once each");
    }
}

#[test]
fn a_killed_measurer_leaves_its_samples_and_its_operation_in_flight() {
    let exchange = Exchange::new(1, 1 << 20).unwrap();
    let mut measurer = Child::fork("measurer", Orphanage::Die, || {
        let coordinator = exchange.coordinator();
        let job = client(&exchange, 0, 3);
        let mut session = StopsAtThird(0);
        drive_blocking(job, &mut session, &coordinator, &MonotonicClock);
        0
    })
    .unwrap();
    wait_until("the third operation", || {
        exchange.in_flight(0).is_some_and(|flight| flight.attempt.sequence() == 2)
    });
    let (process, _) = exchange.thread(0).unwrap();
    assert_eq!(process, measurer.id());
    // Whoever has begun to wait may still be on a processor.
    wait_until("the wait", || iolag_keeper::evidence(process, process).contains("state S"));
    assert_eq!(measurer.end(LIMIT), Some(Ending::Killed(libc::SIGTERM)));
    assert_eq!(count(&drain(&exchange), Operation::Stat), 2);
    let flight = exchange.in_flight(0).unwrap();
    assert_eq!(flight.attempt, AttemptId::new(ClientId(0), 2));
}

/// Answers twice, then never.
struct StopsAtThird(u32);

impl Session for StopsAtThird {
    fn prepare(&mut self, _request: &Request) {}

    fn execute(&mut self, _request: &Request) -> Completion {
        self.0 += 1;
        if self.0 == 3 {
            std::thread::sleep(Duration::from_secs(600));
        }
        Completion::ok(0)
    }
}

#[test]
fn a_full_ring_makes_the_client_wait_and_the_wait_is_recorded() {
    const SAMPLES: u64 = 100_000;
    let exchange = Exchange::new(1, 1 << 20).unwrap();
    let samples = std::thread::scope(|scope| {
        let open = || Ok(Box::new(Known(Duration::ZERO)) as Box<dyn Session>);
        let job = Job { client: client(&exchange, 0, SAMPLES), open, if_not_open: IfNotOpen::StopAll };
        let coordinator = exchange.coordinator();
        let threads =
            scope.spawn(move || run_threads(vec![job], Descriptors::Private, &coordinator, &MonotonicClock));
        let mut samples = Vec::new();
        // Nothing is taken out before the client has come to a halt.
        let pending = || exchange.readers().iter().map(|(ring, _)| ring.pending().len()).sum::<usize>();
        let (mut before, mut still) = (0, 0);
        wait_until("the full ring", || {
            std::thread::sleep(Duration::from_millis(20));
            let now = pending();
            still = if now == before { still + 1 } else { 0 };
            before = now;
            now > 10_000 && still == 10
        });
        while !threads.is_finished() {
            std::thread::sleep(Duration::from_millis(20));
            samples.extend(drain(&exchange));
        }
        samples.extend(drain(&exchange));
        samples
    });
    assert_eq!(count(&samples, Operation::Stat), SAMPLES as usize);
    assert!(count(&samples, Operation::RingWait) > 0, "100 000 samples of 48 bytes do not fit 1 MiB");
    assert_eq!(exchange.samples_lost(), 0);
}

#[test]
fn a_client_that_is_given_up_holds_nobody_and_stops_when_it_comes_back() {
    let exchange = Exchange::new(3, 1 << 20).unwrap();
    let coordinator = exchange.coordinator();
    let ends = std::thread::scope(|scope| {
        let jobs = [1, 2].map(|rank| Job {
            client: client(&exchange, rank, 1),
            open: || Ok(Box::new(Known(Duration::ZERO)) as Box<dyn Session>),
            if_not_open: IfNotOpen::StopAll,
        });
        let threads =
            scope.spawn(|| run_threads(Vec::from(jobs), Descriptors::Private, &coordinator, &MonotonicClock));
        std::thread::sleep(Duration::from_millis(50));
        assert!(!threads.is_finished(), "they wait for the first client");
        coordinator.give_up(0, MonotonicClock.now());
        threads.join().unwrap()
    });
    assert!(ends.iter().all(|end| matches!(end, Ok(DriveEnd::Finished))));
    assert_eq!(*coordinator.meeting(1, 1).unwrap().values, [None, Some(1), Some(2)]);
    let late =
        drive_blocking(client(&exchange, 0, 5), &mut Known(Duration::ZERO), &coordinator, &MonotonicClock);
    assert_eq!(late, DriveEnd::Stopped);
}

#[test]
fn a_session_that_cannot_be_opened_stops_the_others_instead_of_letting_them_wait() {
    let exchange = Exchange::new(2, 1 << 20).unwrap();
    let jobs: Vec<_> = (0..2)
        .map(|rank| Job {
            client: client(&exchange, rank, 1),
            open: move || {
                if rank == 0 {
                    Err(BackendError::NotADirectory { path: "x".into() })
                } else {
                    Ok(Box::new(Known(Duration::ZERO)) as Box<dyn Session>)
                }
            },
            if_not_open: IfNotOpen::StopAll,
        })
        .collect();
    let ends = run_threads(jobs, Descriptors::Private, &exchange.coordinator(), &MonotonicClock);
    assert!(matches!(
        ends[..],
        [Err(DriveError::Session(BackendError::NotADirectory { .. })), Ok(DriveEnd::Stopped)]
    ));
}

#[test]
fn an_interrupted_stage_is_censored() {
    let exchange = Exchange::new(1, 1 << 20).unwrap();
    let coordinator = exchange.coordinator();
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let mut session = Known(Duration::from_millis(1));
            drive_blocking(client(&exchange, 0, 1_000_000), &mut session, &coordinator, &MonotonicClock)
        });
        while exchange.in_flight(0).is_none() {
            std::thread::yield_now();
        }
        coordinator.stop_all();
        assert_eq!(thread.join().unwrap(), DriveEnd::Stopped);
    });
    let samples = drain(&exchange);
    let stage = samples.iter().find(|sample| sample.operation() == Operation::Stage).unwrap();
    assert_eq!(stage.outcome(), Outcome::Interrupted);
    assert_eq!(stage.bytes as usize, count(&samples, Operation::Stat));
}

#[test]
fn a_child_that_nobody_can_kill_is_abandoned_and_its_true_end_is_noticed_later() {
    const GRACE: Nanoseconds = Nanoseconds::from_milliseconds(300);
    let backing = tempfile::tempdir().unwrap();
    std::fs::write(backing.path().join("file"), "x").unwrap();
    let Some(mount) = iolag_fixtures::FuseMount::start(backing.path()) else { return };
    mount.hang_all();
    let exchange = Exchange::new(1, 1 << 20).unwrap();
    let path = mount.path().join("file");
    let mut measurer = Child::fork("measurer", Orphanage::Die, || {
        let mut session = Looks(path);
        drive_blocking(client(&exchange, 0, 1), &mut session, &exchange.coordinator(), &MonotonicClock);
        0
    })
    .unwrap();
    assert!(mount.wait_until_held(1, LIMIT.as_duration()), "the request never reached the file system");
    let flight = exchange.in_flight(0).unwrap();
    assert_eq!(flight.operation, Operation::Stat);
    assert_eq!(measurer.end(GRACE), None, "neither SIGTERM nor SIGKILL ends it");
    assert_eq!(measurer.ending(), None);
    let (process, thread) = exchange.thread(0).unwrap();
    wait_until("the wait", || iolag_keeper::evidence(process, thread).contains("waits in"));
    assert_eq!(exchange.in_flight(0), Some(flight), "it is still there to be recorded as hung");
    mount.release();
    assert!(measurer.wait(LIMIT).is_some(), "it ends when the file system answers");
}

/// Looks at a path.
struct Looks(std::path::PathBuf);

impl Session for Looks {
    fn prepare(&mut self, _request: &Request) {}

    fn execute(&mut self, _request: &Request) -> Completion {
        let _ = std::fs::metadata(&self.0);
        Completion::ok(0)
    }
}
