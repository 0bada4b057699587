//! A queue of requests under a simulated clock, which nothing but the session and the waiting move on.

use std::sync::Mutex;

use iolag_backend::{Completion, ObjectKey};
use iolag_fixtures::Alone;
use iolag_model::{
    ClientId, Detail, FailureCode, Meeting, Nanoseconds, Operation, Outcome, Sample, SimulatedClock,
    StageIndex,
};
use proptest::prelude::*;

use super::*;
use crate::driving::client::Step;
use crate::driving::client_loop::DriveOptions;

const MS: fn(u64) -> Nanoseconds = Nanoseconds::from_milliseconds;
/// Where clocks start.
const ZERO: MonotonicTime = MonotonicTime(1_000_000_000);

/// What lanes show, and what was recorded.
#[derive(Default)]
struct Recorded {
    lane: usize,
    in_flight: Vec<Option<AttemptId>>,
    announced: Option<AttemptId>,
    most_in_flight: usize,
    samples: Vec<Sample>,
}

/// What a client records into.
struct Place<'a>(&'a Mutex<Recorded>);

impl Recorder for Place<'_> {
    fn set_lane(&mut self, lane: u32) {
        self.0.lock().unwrap().lane = lane as usize;
    }

    fn has_room(&mut self) -> bool {
        true
    }

    fn announce(&mut self, attempt: AttemptId, _: Operation, _: StageIndex, _: MonotonicTime) {
        self.0.lock().unwrap().announced = Some(attempt);
    }

    fn begin(&mut self, _: MonotonicTime) {
        let mut recorded = self.0.lock().unwrap();
        let lane = recorded.lane;
        if recorded.in_flight.len() <= lane {
            recorded.in_flight.resize(lane + 1, None);
        }
        assert_eq!(recorded.in_flight[lane], None, "a lane has one request");
        recorded.in_flight[lane] = recorded.announced.take();
        let now = recorded.in_flight.iter().flatten().count();
        recorded.most_in_flight = recorded.most_in_flight.max(now);
    }

    fn record(&mut self, sample: Sample) {
        let mut recorded = self.0.lock().unwrap();
        let lane = recorded.lane;
        let cleared = recorded.in_flight.get_mut(lane).and_then(Option::take);
        if sample.operation() == Operation::Read {
            assert_eq!(cleared, Some(sample.attempt), "an end clears the slot of its own lane");
        } else {
            assert_eq!(cleared, None, "nothing else is recorded in the place of a request");
        }
        recorded.samples.push(sample);
    }

    fn record_detail(&mut self, _: &Detail) {}

    fn offer_detail(&mut self, _: &Detail) {}

    fn set_activity(&mut self, _: Activity) {}
}

/// Answers each request after the time that is its number of bytes in ms.
struct Queue<'a> {
    clock: SimulatedClock,
    due: Vec<(u32, MonotonicTime)>,
    alone: &'a Alone,
    /// Who makes it stop: the end of so many requests.
    stops_after: usize,
    ended: usize,
}

impl LaneSession for Queue<'_> {
    fn prepare(&mut self, _: u32, _: &Request) {}

    fn submit(&mut self, lane: u32, request: &Request) {
        self.due.push((lane, self.clock.now().after(MS(request.bytes))));
    }

    fn await_any(&mut self, until: MonotonicTime) -> Option<(u32, Completion)> {
        let first = self.due.iter().enumerate().min_by_key(|(_, (_, due))| *due);
        let Some((index, (lane, due))) = first.filter(|(_, (_, due))| *due <= until) else {
            self.clock.sleep_until(until);
            return None;
        };
        let lane = *lane;
        self.clock.sleep_until(*due);
        self.due.remove(index);
        self.ended += 1;
        if self.ended == self.stops_after {
            self.alone.stop_all();
        }
        Some((lane, Completion::ok(1)))
    }
}

/// Two stages of requests that take so long, each at once or at this distance from the one before.
struct Asks {
    takes_ms: Vec<u64>,
    every: Option<Nanoseconds>,
    asked: usize,
    stage: u16,
    has_ended: bool,
    completed: usize,
}

impl Client for Asks {
    fn next(&mut self, _: MonotonicTime) -> Step {
        if self.stage == 0 || self.asked == self.takes_ms.len() {
            if self.stage > 0 && !std::mem::replace(&mut self.has_ended, true) {
                return Step::End;
            }
            if self.stage == 2 {
                return Step::Finished;
            }
            self.stage += 1;
            self.asked = 0;
            self.has_ended = false;
            return Step::Begin { stage: StageIndex(self.stage), value: 0 };
        }
        let request = Request::new(Operation::Read, ObjectKey::default(), self.takes_ms[self.asked]);
        self.asked += 1;
        let intended = self.every.map(|every| ZERO.after(Nanoseconds(every.0 * self.asked as u64)));
        Step::Execute { request, intended }
    }

    fn completed(&mut self, _: &Request, _: &Done) {
        self.completed += 1;
    }

    fn met(&mut self, _: &Meeting, _: MonotonicTime) {
        let asked_before = self.takes_ms.len() * usize::from(self.stage - 1);
        assert_eq!(self.completed, asked_before, "a meeting finds nothing in flight");
    }
}

struct Driven {
    recorded: Recorded,
    end: DriveEnd,
}

fn drive(takes_ms: &[u64], every: Option<Nanoseconds>, lanes: u32, stops_after: usize) -> Driven {
    let (recorded, alone) = (Mutex::default(), Alone::default());
    let clock = SimulatedClock::starting_at(ZERO);
    let mut queue = Queue { clock: clock.clone(), due: Vec::new(), alone: &alone, stops_after, ended: 0 };
    let asks =
        Asks { takes_ms: takes_ms.to_vec(), every, asked: 0, stage: 0, has_ended: false, completed: 0 };
    let options = DriveOptions { client: ClientId(1), rank: 0, deadlines: MS(1_000_000).into() };
    let end =
        drive_lanes(ClientLoop::new(asks, Place(&recorded), options), &mut queue, lanes, &alone, &clock);
    Driven { recorded: recorded.into_inner().unwrap(), end }
}

impl Driven {
    /// Start, duration in ms of the requests of the first stage, in the order of their attempts.
    fn requests(&self) -> Vec<(u64, u64)> {
        let is_one =
            |sample: &&Sample| sample.operation() == Operation::Read && sample.stage == StageIndex(1);
        let mut samples: Vec<&Sample> = self.recorded.samples.iter().filter(is_one).collect();
        samples.sort_by_key(|sample| sample.attempt);
        let ms = |ns: Nanoseconds| ns.0 / 1_000_000;
        samples.iter().map(|sample| (ms(sample.start.since(ZERO)), ms(sample.duration))).collect()
    }
}

#[test]
fn so_many_requests_overlap_as_there_are_lanes_and_each_has_its_own_duration() {
    let driven = drive(&[30, 10, 10, 10], None, 2, usize::MAX);
    assert_eq!(driven.requests(), [(0, 30), (0, 10), (10, 10), (20, 10)]);
    assert_eq!((driven.recorded.most_in_flight, driven.end), (2, DriveEnd::Finished));
    let stages: Vec<&Sample> =
        driven.recorded.samples.iter().filter(|sample| sample.operation() == Operation::Stage).collect();
    let told = |sample: &Sample| (sample.start, sample.duration, sample.bytes, sample.outcome());
    assert_eq!(told(stages[0]), (ZERO, MS(30), 4, Outcome::Ok), "from the first start, which ended last");
}

#[test]
fn an_open_schedule_goes_on_beside_a_slow_request() {
    let driven = drive(&[35, 1, 1, 1], Some(MS(10)), 4, usize::MAX);
    assert_eq!(driven.requests(), [(10, 35), (20, 1), (30, 1), (40, 1)], "each end is stamped when it comes");
}

#[test]
fn the_order_to_stop_waits_for_what_is_in_flight_and_submits_no_more() {
    let driven = drive(&[50, 10, 10, 10], None, 2, 2);
    assert_eq!(driven.end, DriveEnd::Stopped);
    assert_eq!(driven.requests(), [(0, 50), (0, 10), (10, 10)]);
    let last = driven.recorded.samples.last().unwrap();
    assert_eq!((last.operation(), last.outcome(), last.bytes), (Operation::Stage, Outcome::Interrupted, 3));
}

#[test]
fn a_failure_is_told_by_its_lane() {
    struct Fails;

    impl LaneSession for Fails {
        fn prepare(&mut self, _: u32, _: &Request) {}

        fn submit(&mut self, _: u32, _: &Request) {}

        fn await_any(&mut self, _: MonotonicTime) -> Option<(u32, Completion)> {
            Some((0, Completion::failed(FailureCode::PROTOCOL).tagged(3)))
        }
    }

    let (recorded, clock) = (Mutex::default(), SimulatedClock::starting_at(ZERO));
    let asks = Asks { takes_ms: vec![1], every: None, asked: 0, stage: 0, has_ended: false, completed: 0 };
    let options = DriveOptions { client: ClientId(1), rank: 0, deadlines: MS(1000).into() };
    let client = ClientLoop::new(asks, Place(&recorded), options);
    drive_lanes(client, &mut Fails, 1, &Alone::default(), &clock);
    let recorded = recorded.into_inner().unwrap();
    assert_eq!((recorded.samples[0].outcome(), recorded.samples[0].tag), (Outcome::Error, 3));
}

proptest! {
    /// A queue loses and invents nothing, at any depth; one lane is one request after the other.
    #[test]
    fn every_request_is_recorded_once_at_any_depth(
        takes_ms in prop::collection::vec(0_u64..40, 1..30), lanes in 1_u32..9,
    ) {
        let driven = drive(&takes_ms, None, lanes, usize::MAX);
        let requests = driven.requests();
        prop_assert_eq!(requests.iter().map(|(_, took)| *took).collect::<Vec<_>>(), takes_ms.clone());
        prop_assert!(driven.recorded.most_in_flight <= lanes as usize);
        let busy = |at: u64| requests.iter().filter(|(start, took)| *start <= at && at < start + took).count();
        prop_assert!(requests.iter().all(|(start, _)| busy(*start) <= lanes as usize));
        if lanes == 1 {
            let starts = takes_ms.iter().scan(0, |start, took| { let own = *start; *start += took; Some(own) });
            prop_assert_eq!(requests.iter().map(|(start, _)| *start).collect::<Vec<_>>(), starts.collect::<Vec<_>>());
        }
    }
}
