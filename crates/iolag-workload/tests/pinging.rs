//! Known answers of `iolag ping` under a simulated clock: when probes are due, what is skipped and because of whom.

#![allow(clippy::unwrap_used, reason = "a test ends at what it did not expect")]

use std::sync::{Arc, mpsc};

use iolag_backend::{Completion, Datasets, Request, Session, SessionOptions, Target};
use iolag_fixtures::{Alone, Recorded};
use iolag_model::{
    AttemptId, ClientId, Clock, Coordinator, Detail, FailureCode, MonotonicTime, Nanoseconds, Operation,
    Outcome, Sample, SimulatedClock,
};
use iolag_workload::{
    ClientLoop, Contact, DriveEnd, DriveOptions, PingClient, PingSchedule, ProbeSession, ProbedObject,
    drive_blocking, unsent_number,
};

const START: MonotonicTime = MonotonicTime(7_000_000_000);
const SECOND: Nanoseconds = Nanoseconds::from_seconds(1);

const fn of_bytes(bytes: u64) -> ProbedObject {
    ProbedObject::Made { bytes, datasets: Datasets::Made }
}

struct Pinged {
    samples: Vec<Sample>,
    details: Vec<Detail>,
    end: DriveEnd,
}

impl Pinged {
    /// Number from 1, outcome, lateness of the start and duration of each probe, in ms.
    fn probes(&self, start: MonotonicTime, every: Nanoseconds) -> Vec<(u64, Outcome, u64, u64)> {
        let probes = self.samples.iter().filter(|sample| sample.operation() == Operation::Probe);
        let of = |sample: &Sample| {
            let since = sample.intended.since(start).0;
            assert_eq!(since % every.0, 0, "an intended moment lies beside the schedule: {sample:?}");
            let late = sample.start.since(sample.intended).0 / 1_000_000;
            (since / every.0 + 1, sample.outcome(), late, sample.duration.0 / 1_000_000)
        };
        probes.map(of).collect()
    }

    fn of(&self, operation: Operation) -> Vec<&Sample> {
        self.samples.iter().filter(|sample| sample.operation() == operation).collect()
    }
}

struct Given {
    target: &'static str,
    count: u64,
    deadline: Nanoseconds,
    /// How long before the client begins the first contact had begun.
    contact: Nanoseconds,
}

impl Given {
    const fn target(target: &'static str, count: u64) -> Self {
        Self { target, count, deadline: SECOND, contact: Nanoseconds::ZERO }
    }

    fn ping(&self, stall: impl FnMut(u32, &SimulatedClock, &Alone) + Send) -> Pinged {
        let clock = SimulatedClock::starting_at(START);
        let alone = Alone::default();
        let backend = Target::parse(self.target).unwrap().backend("w", Arc::new(clock.clone())).unwrap();
        backend.create_place(&iolag_backend::conformance::maker()).unwrap();
        let options = SessionOptions::new(ClientId(0), 0, 1, 3901);
        let mut stall = stall;
        let at = (clock.clone(), &alone);
        let inner = backend.open_session(&options).unwrap();
        let (sender, parts) = mpsc::channel();
        let schedule = PingSchedule { every: SECOND, count: Some(self.count), deadline: self.deadline };
        let mut session = ProbeSession::open(inner, clock.clone(), of_bytes(3901), sender, |_| {}).unwrap();
        let opened = clock.now();
        // What opening took is none of these tests' business.
        assert!(opened >= START);
        let contact = Contact::begun(MonotonicTime(opened.0 - self.contact.0));
        let client = PingClient::new(schedule, contact, parts);
        let recorded = Recorded::default();
        let drive = DriveOptions { client: ClientId(0), rank: 0, deadlines: self.deadline.into() };
        let client = ClientLoop::new(client, recorded.clone(), drive);
        let mut session = Hooked { inner: &mut session, probes: 0, hook: |probe| stall(probe, &at.0, at.1) };
        let end = drive_blocking(client, &mut session, &alone, &clock);
        let samples = recorded.samples.lock().unwrap().clone();
        let details = recorded.details.lock().unwrap().clone();
        Pinged { samples, details, end }
    }
}

/// Does something within the n-th probe, or removal with its number plus 1000.
struct Hooked<'a, S, F> {
    inner: &'a mut S,
    probes: u32,
    hook: F,
}

impl<S: Session, F: FnMut(u32) + Send> Session for Hooked<'_, S, F> {
    fn prepare(&mut self, request: &Request) {
        self.inner.prepare(request);
    }

    fn execute(&mut self, request: &Request) -> Completion {
        if request.operation == Operation::Probe {
            self.probes += 1;
            (self.hook)(self.probes);
        } else {
            (self.hook)(self.probes + 1000);
        }
        self.inner.execute(request)
    }

    fn inspect(&mut self, request: &Request, completion: Completion) -> Completion {
        self.inner.inspect(request, completion)
    }
}

fn start_of(pinged: &Pinged) -> MonotonicTime {
    pinged.samples.iter().find(|sample| sample.operation() == Operation::Probe).unwrap().intended
}

#[test]
fn a_delay_of_five_milliseconds_is_five_milliseconds_and_the_schedule_holds() {
    let pinged = Given::target("delayed:0ms,stat=5ms:memory:", 3).ping(|_, _, _| {});
    let start = start_of(&pinged);
    let expected: Vec<_> = (1..=3).map(|number| (number, Outcome::Ok, 0, 5)).collect();
    assert_eq!(pinged.probes(start, SECOND), expected);
    let durations =
        |operation| -> Vec<u64> { pinged.of(operation).iter().map(|sample| sample.duration.0).collect() };
    assert_eq!(durations(Operation::Stat), [5_000_000; 3]);
    assert_eq!((durations(Operation::Read), durations(Operation::Create)), (vec![0; 3], vec![0; 3]));
    assert_eq!((durations(Operation::Delete).len(), pinged.end), (3, DriveEnd::Finished));
    // A part carries the moment of its probe.
    for (number, sample) in (0..).zip(pinged.of(Operation::Read)) {
        assert_eq!(sample.intended, start.after(Nanoseconds(number * SECOND.0)));
    }
}

#[test]
fn a_stall_of_three_seconds_is_one_late_probe_and_those_that_it_was_in_the_way_of() {
    let pinged = Given::target("memory:", 6).ping(|probe, clock, _| {
        if probe == 2 {
            clock.advance(Nanoseconds::from_milliseconds(3_200));
        }
    });
    let expected = [
        (1, Outcome::Ok, 0, 0),
        (2, Outcome::Late, 0, 3_200),
        (3, Outcome::Skipped, 0, 2_200),
        (4, Outcome::Skipped, 0, 1_200),
        (5, Outcome::Skipped, 0, 200),
        (6, Outcome::Ok, 0, 0),
    ];
    assert_eq!(pinged.probes(start_of(&pinged), SECOND), expected);
    let blocker: Vec<_> =
        pinged.details.iter().map(|detail| (detail.attempt, detail.text.as_str())).collect();
    assert_eq!(blocker, [(AttemptId::new(ClientId(0), unsent_number(2).get()), "probe 2")]);
}

#[test]
fn what_comes_due_while_a_probe_is_on_its_way_within_its_deadline_is_not_sent_and_not_lost() {
    let given = Given { deadline: Nanoseconds::from_seconds(5), ..Given::target("memory:", 4) };
    let pinged = given.ping(|probe, clock, _| {
        if probe == 1 {
            clock.advance(Nanoseconds::from_milliseconds(2_200));
        }
    });
    let expected = [
        (1, Outcome::Ok, 0, 2_200),
        (2, Outcome::Interrupted, 0, 1_200),
        (3, Outcome::Interrupted, 0, 200),
        (4, Outcome::Ok, 0, 0),
    ];
    assert_eq!(pinged.probes(start_of(&pinged), SECOND), expected);
    let unsent = pinged.samples.iter().filter(|sample| sample.outcome() == Outcome::Interrupted);
    assert!(unsent.into_iter().all(|sample| sample.code == FailureCode::TIME_UP));
}

#[test]
fn what_comes_due_while_a_file_is_removed_is_not_sent_and_has_no_bound() {
    // Probe 2 is in the way of 3; removing its file of 4 and 5.
    let slow = |probe: u32, clock: &SimulatedClock, _: &Alone| match probe {
        2 => clock.advance(Nanoseconds::from_milliseconds(1_200)),
        1002 => clock.advance(Nanoseconds::from_milliseconds(1_900)),
        _ => {}
    };
    for (deadline, of_probe, of_removal) in [
        (Nanoseconds::from_seconds(5), Outcome::Interrupted, Outcome::Interrupted),
        (Nanoseconds::from_milliseconds(1_500), Outcome::Interrupted, Outcome::Skipped),
    ] {
        let pinged = Given { deadline, ..Given::target("memory:", 6) }.ping(slow);
        let expected = [
            (1, Outcome::Ok, 0, 0),
            (2, Outcome::Ok, 0, 1_200),
            (3, of_probe, 0, 200),
            (4, of_removal, 0, 0),
            (5, of_removal, 0, 0),
            (6, Outcome::Ok, 0, 0),
        ];
        assert_eq!(pinged.probes(start_of(&pinged), SECOND), expected);
        let codes: Vec<_> = pinged.of(Operation::Probe).iter().map(|sample| sample.code).collect();
        let (none, removal) = (FailureCode::NONE, FailureCode::REMOVAL);
        assert_eq!(codes, [none, none, FailureCode::TIME_UP, removal, removal, none]);
    }
}

#[test]
fn who_was_stopped_makes_up_for_nothing_and_blames_nobody() {
    // The process stands still from the end of probe 1's removal until 4.5 s later: the pause is overslept.
    struct Overslept(SimulatedClock);
    impl Clock for Overslept {
        fn now(&self) -> MonotonicTime {
            self.0.now()
        }

        fn sleep_until(&self, moment: MonotonicTime) {
            let awake = START.after(Nanoseconds::from_milliseconds(4_500));
            let is_ahead = moment > self.now();
            self.0.sleep_until(if is_ahead { moment.max(awake) } else { moment });
        }

        fn rest_until(&self, moment: MonotonicTime) {
            self.sleep_until(moment);
        }
    }
    let clock = SimulatedClock::starting_at(START);
    let (sender, parts) = mpsc::channel();
    let schedule = PingSchedule { every: SECOND, count: Some(7), deadline: SECOND };
    let backend = Target::parse("memory:").unwrap().backend("w", Arc::new(clock.clone())).unwrap();
    backend.create_place(&iolag_backend::conformance::maker()).unwrap();
    let options = SessionOptions::new(ClientId(0), 0, 1, 10);
    let inner = backend.open_session(&options).unwrap();
    let mut session = ProbeSession::open(inner, clock.clone(), of_bytes(10), sender, |_| {}).unwrap();
    let recorded = Recorded::default();
    let drive = DriveOptions { client: ClientId(0), rank: 0, deadlines: SECOND.into() };
    let client = PingClient::new(schedule, Contact::begun(START), parts);
    let client = ClientLoop::new(client, recorded.clone(), drive);
    drive_blocking(client, &mut session, &Alone::default(), &Overslept(clock));
    let samples = recorded.samples.lock().unwrap().clone();
    let pinged = Pinged { samples, details: Vec::new(), end: DriveEnd::Finished };
    let expected = [
        (1, Outcome::Ok, 0, 0),
        (2, Outcome::Interrupted, 0, 0),
        (3, Outcome::Interrupted, 0, 0),
        (4, Outcome::Interrupted, 0, 0),
        (5, Outcome::Ok, 500, 0),
        (6, Outcome::Ok, 0, 0),
        (7, Outcome::Ok, 0, 0),
    ];
    assert_eq!(pinged.probes(START, SECOND), expected);
}

#[test]
fn a_first_contact_past_the_deadline_is_a_lost_probe() {
    let given = Given { contact: Nanoseconds::from_milliseconds(2_500), ..Given::target("memory:", 5) };
    let pinged = given.ping(|_, _, _| {});
    let expected = [
        (1, Outcome::Late, 0, 2_500),
        (2, Outcome::Skipped, 0, 1_500),
        (3, Outcome::Skipped, 0, 500),
        (4, Outcome::Ok, 0, 0),
        (5, Outcome::Ok, 0, 0),
    ];
    assert_eq!(pinged.probes(start_of(&pinged), SECOND), expected);
    // Within the deadline it is no probe, and the schedule begins after it.
    let given = Given { contact: Nanoseconds::from_milliseconds(900), ..Given::target("memory:", 2) };
    let pinged = given.ping(|_, _, _| {});
    assert_eq!(pinged.probes(start_of(&pinged), SECOND), [(1, Outcome::Ok, 0, 0), (2, Outcome::Ok, 0, 0)]);
}

#[test]
fn what_came_due_meanwhile_is_on_record_also_if_the_run_ends_then() {
    let pinged = Given::target("memory:", 9).ping(|probe, clock, alone| {
        if probe == 1 {
            clock.advance(Nanoseconds::from_milliseconds(2_100));
            alone.stop_all();
        }
    });
    let expected =
        [(1, Outcome::Late, 0, 2_100), (2, Outcome::Skipped, 0, 1_100), (3, Outcome::Skipped, 0, 100)];
    assert_eq!(pinged.probes(start_of(&pinged), SECOND), expected);
    assert_eq!((pinged.of(Operation::Stat).len(), pinged.end), (1, DriveEnd::Stopped));
}

#[test]
fn a_part_that_fails_ends_its_probe_which_failed_for_that_reason() {
    let pinged = Given::target("faulty:read:eio@1:memory:", 2).ping(|_, _, _| {});
    let probes = pinged.of(Operation::Probe);
    assert!(probes.iter().all(|probe| probe.outcome() == Outcome::Error && probe.code.errno() == Some(5)));
    assert_eq!((pinged.of(Operation::Stat).len(), pinged.of(Operation::Create).len()), (2, 0));
    assert_eq!(pinged.of(Operation::Delete).len(), 0, "nothing was made");
}
