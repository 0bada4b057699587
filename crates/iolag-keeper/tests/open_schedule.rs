//! A client of an open schedule in the one loop: its samples are timed from the intended start, and what it does when it is late is
//! on record.

#![allow(clippy::unwrap_used, reason = "a test ends at what it did not expect")]

use iolag_backend::{Completion, ObjectKey, Request, Session};
use iolag_keeper::Exchange;
use iolag_model::{
    Arrivals, AttemptId, ClientId, FailureCode, Meeting, MonotonicTime, Nanoseconds, Operation, Outcome,
    Random, Sample, SimulatedClock, StageIndex, WhenLate,
};
use iolag_workload::{Client, ClientLoop, Done, DriveEnd, DriveOptions, Note, Pacer, Step, drive_blocking};

/// What the operations take, in milliseconds: the second is in the way of those after it.
const TAKES: [u64; 5] = [200, 2_500, 100, 100, 100];

/// Asks for one object each second.
struct EachSecond {
    late: WhenLate,
    pacer: Option<Pacer>,
    asked: usize,
}

impl Client for EachSecond {
    fn next(&mut self, now: MonotonicTime) -> Step {
        let Some(pacer) = &mut self.pacer else {
            return Step::Begin { stage: StageIndex(1), value: 0 };
        };
        if let Some(due) = pacer.take_skipped() {
            let sample = Sample::new(AttemptId(0), Operation::Stat, due, due, now.since(due));
            let sample = sample.with_outcome(Outcome::Skipped, FailureCode::NONE);
            return Step::Note(Note { sample, number: None, blocker: None });
        }
        if self.asked == TAKES.len() {
            return Step::Finished;
        }
        self.asked += 1;
        let request = Request::new(Operation::Stat, ObjectKey::default(), 0);
        Step::Execute { request, intended: pacer.intended() }
    }

    fn completed(&mut self, _request: &Request, done: &Done) {
        self.pacer.as_mut().unwrap().completed(done);
    }

    fn met(&mut self, meeting: &Meeting, _now: MonotonicTime) {
        self.pacer =
            Some(Pacer::open_schedule(Arrivals::Rate(1.0), self.late, meeting.begin, Random::new(1)));
    }
}

struct Takes(SimulatedClock, std::array::IntoIter<u64, 5>);

impl Session for Takes {
    fn prepare(&mut self, _request: &Request) {}

    fn execute(&mut self, _request: &Request) -> Completion {
        self.0.advance(Nanoseconds::from_milliseconds(self.1.next().unwrap()));
        Completion::ok(0)
    }
}

/// Of each operation, in milliseconds: when it was due, and its response time; or at least how long it would have taken.
fn response_times(late: WhenLate) -> Vec<(Outcome, u64, u64)> {
    let exchange = Exchange::new(1, 1 << 20).unwrap();
    let clock = SimulatedClock::starting_at(MonotonicTime(7_000_000_000));
    let options =
        DriveOptions { client: ClientId(0), rank: 0, deadlines: Nanoseconds::from_seconds(60).into() };
    let client = ClientLoop::new(EachSecond { late, pacer: None, asked: 0 }, exchange.recorder(0), options);
    let mut session = Takes(clock.clone(), TAKES.into_iter());
    assert_eq!(drive_blocking(client, &mut session, &exchange.coordinator(), &clock), DriveEnd::Finished);
    let (ring, _) = &exchange.readers()[0];
    let stats = ring.pending().iter().filter(|sample| sample.operation() == Operation::Stat);
    let begin = stats.clone().next().unwrap().intended;
    let milliseconds = |duration: Nanoseconds| duration.0 / 1_000_000;
    stats
        .map(|sample| {
            let response = sample.start.after(sample.duration).since(sample.intended);
            (sample.outcome(), milliseconds(sample.intended.since(begin)), milliseconds(response))
        })
        .collect()
}

#[test]
fn an_open_schedule_times_from_the_intended_start_and_catches_up() {
    use Outcome::Ok;
    let expected = [(Ok, 0, 200), (Ok, 1_000, 2_500), (Ok, 2_000, 1_600), (Ok, 3_000, 700), (Ok, 4_000, 100)];
    assert_eq!(response_times(WhenLate::CatchUp), expected);
}

#[test]
fn what_an_open_schedule_skips_is_on_record_with_its_lower_bound() {
    use Outcome::{Ok, Skipped};
    let expected = [
        (Ok, 0, 200),
        (Ok, 1_000, 2_500),
        (Skipped, 2_000, 1_500),
        (Skipped, 3_000, 500),
        (Ok, 4_000, 100),
        (Ok, 5_000, 100),
        (Ok, 6_000, 100),
    ];
    assert_eq!(response_times(WhenLate::Skip), expected);
}
