//! One task in a runtime whose time only passes while it waits.

use std::collections::VecDeque;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::task::Poll;
use std::time::Duration;

use iolag_backend::{AsyncExecution, BackendError, Mark, ObjectKey};
use iolag_fixtures::Alone;
use iolag_model::{AttemptId, ClientId, Deadlines, Detail, Outcome, Sample, StageIndex};
use tokio::time::Instant;

use super::*;
use crate::driving::client::Step;
use crate::driving::client_loop::DriveOptions;
use crate::driving::many_clients::IfNotOpen;
use crate::driving::waiting::bell;

const DEADLINE: Nanoseconds = Nanoseconds::from_seconds(10);
const SECOND: Nanoseconds = Nanoseconds::from_seconds(1);

/// What the tests look at afterwards.
#[derive(Clone, Default)]
struct Seen(Arc<Facts>);

impl Deref for Seen {
    type Target = Facts;

    fn deref(&self) -> &Facts {
        &self.0
    }
}

#[derive(Default)]
struct Facts {
    samples: Mutex<Vec<Sample>>,
    texts: Mutex<Vec<(AttemptId, String)>>,
    /// How a request's future was dropped: with its attempt in flight, or not.
    dropped: Mutex<Vec<InFlight>>,
    in_flight: AtomicBool,
    polls: AtomicU32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InFlight {
    Yes,
    No,
}

fn lock<T>(place: &Mutex<T>) -> MutexGuard<'_, T> {
    place.lock().unwrap()
}

impl Recorder for Seen {
    fn set_lane(&mut self, _: u32) {}

    fn has_room(&mut self) -> bool {
        true
    }

    fn announce(&mut self, _: AttemptId, _: Operation, _: StageIndex, _: MonotonicTime) {}

    fn begin(&mut self, _: MonotonicTime) {
        self.in_flight.store(true, Ordering::Relaxed);
    }

    fn record(&mut self, sample: Sample) {
        self.in_flight.store(false, Ordering::Relaxed);
        lock(&self.samples).push(sample);
    }

    fn record_detail(&mut self, _: &Detail) {
        unreachable!("a thread that others share does not wait for room");
    }

    fn offer_detail(&mut self, detail: &Detail) {
        lock(&self.texts).push((detail.attempt, detail.text.clone()));
    }

    fn set_activity(&mut self, _: Activity) {}
}

/// The runtime's time.
#[derive(Clone)]
struct PausedClock(Instant);

impl Clock for PausedClock {
    fn now(&self) -> MonotonicTime {
        MonotonicTime(1 + self.0.elapsed().as_nanos() as u64)
    }

    fn sleep_until(&self, _: MonotonicTime) {
        unreachable!("a thread that others share does not sleep");
    }

    fn rest_until(&self, _: MonotonicTime) {
        unreachable!("nobody begins together");
    }
}

/// Asks so often, at once or at these distances.
struct Asks {
    left: u32,
    if_failed: IfFailed,
    every: Option<Nanoseconds>,
    next: MonotonicTime,
}

/// What becomes of a request that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IfFailed {
    GoOn,
    AskAgain,
}

impl Client for Asks {
    fn next(&mut self, _: MonotonicTime) -> Step {
        if self.left == 0 {
            return Step::Finished;
        }
        self.left -= 1;
        let intended = self.every.map(|every| {
            self.next = self.next.after(every);
            self.next
        });
        Step::Execute { request: Request::new(Operation::Stat, ObjectKey::default(), 0), intended }
    }

    fn asks_again(&self, _: &Request, _: &Done) -> bool {
        self.if_failed == IfFailed::AskAgain
    }

    fn completed(&mut self, _: &Request, done: &Done) {
        if !done.completion.is_ok() && self.if_failed == IfFailed::AskAgain {
            self.left += 1;
        }
    }
}

/// What a session does with a request.
#[derive(Debug, Clone, Copy)]
enum Answer {
    After(Duration),
    Never,
    /// With an error; the connection is gone.
    Broken,
}

struct Scripted {
    answers: VecDeque<Answer>,
    next: Answer,
    marks: Vec<Mark>,
    seen: Seen,
}

impl AsyncSession for Scripted {
    fn prepare(&mut self, _: &Request) {
        self.next = self.answers.pop_front().unwrap_or(Answer::After(Duration::ZERO));
    }

    fn execute<'a>(&'a mut self, _: &'a Request) -> AsyncExecution<'a> {
        let (answer, seen) = (self.next, self.seen.clone());
        let looks = Looks(self.seen.clone());
        Box::pin(async move {
            let _looks = looks;
            match answer {
                Answer::After(duration) => counted(&seen, tokio::time::sleep(duration)).await,
                Answer::Never => counted(&seen, std::future::pending()).await,
                Answer::Broken => return Completion::failed(FailureCode::PROTOCOL),
            }
            Completion::ok(0).tagged(7)
        })
    }

    fn message(&mut self) -> Option<String> {
        Some("it is gone".to_owned())
    }

    fn marks(&self) -> &[Mark] {
        &self.marks
    }

    fn is_usable(&self) -> bool {
        !matches!(self.next, Answer::Broken)
    }
}

/// Whose time only passes while it waits.
fn paused() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()
}

/// Finds data until the runtime makes the task yield; then nothing comes any more.
async fn much_then_nothing() {
    while tokio::task::coop::has_budget_remaining() {
        tokio::task::coop::consume_budget().await;
    }
    tokio::task::yield_now().await;
    std::future::pending().await
}

async fn counted(seen: &Seen, future: impl Future<Output = ()>) {
    let mut future = std::pin::pin!(future);
    std::future::poll_fn(|context| {
        seen.polls.fetch_add(1, Ordering::Relaxed);
        future.as_mut().poll(context)
    })
    .await;
}

/// Looks, when a request's future is dropped, whether its attempt is still in flight.
struct Looks(Seen);

impl Drop for Looks {
    fn drop(&mut self) {
        let in_flight = if self.0.in_flight.load(Ordering::Relaxed) { InFlight::Yes } else { InFlight::No };
        lock(&self.0.dropped).push(in_flight);
    }
}

/// What opening a session comes to, one after the other; when nothing is left, a session that answers at once.
#[derive(Clone)]
enum Opening {
    Session(Vec<Answer>),
    Refused,
    Never,
}

struct Driven {
    seen: Seen,
    end: Result<DriveEnd, DriveError>,
    took: Duration,
    /// How often the task was polled.
    turns: u32,
}

impl Driven {
    fn outcomes(&self) -> Vec<(Operation, Outcome, Nanoseconds)> {
        lock(&self.seen.samples)
            .iter()
            .map(|sample| (sample.operation(), sample.outcome(), sample.duration))
            .collect()
    }

    fn of(&self, operation: Operation) -> Vec<(Outcome, Nanoseconds)> {
        let of_it = |(other, outcome, duration)| (other == operation).then_some((outcome, duration));
        self.outcomes().into_iter().filter_map(of_it).collect()
    }
}

/// Drives a client; told to stop after `stop`.
fn drive(openings: &[Opening], asks: Asks, marks: &[Mark], stop: Option<Duration>) -> Driven {
    let runtime = paused();
    let (seen, alone) = (Seen::default(), Alone::default());
    let (bell, hears) = bell();
    let script = Arc::new(Mutex::new(VecDeque::from(openings.to_vec())));
    let (marks, sessions) = (marks.to_vec(), seen.clone());
    let open = move || -> AsyncOpening<'static> {
        let opening = lock(&script).pop_front().unwrap_or(Opening::Session(Vec::new()));
        let (marks, seen) = (marks.clone(), sessions.clone());
        Box::pin(async move {
            match opening {
                Opening::Session(answers) => {
                    Ok(Box::new(Scripted { answers: answers.into(), next: Answer::Never, marks, seen })
                        as Box<dyn AsyncSession>)
                }
                Opening::Refused => Err(BackendError::NoWorkingSet { path: "there".to_owned() }),
                Opening::Never => std::future::pending().await,
            }
        })
    };
    let options = DriveOptions { client: ClientId(3), rank: 3, deadlines: Deadlines::from(DEADLINE) };
    let job =
        Job { client: ClientLoop::new(asks, seen.clone(), options), open, if_not_open: IfNotOpen::GoOn };
    let (end, took, turns) = runtime.block_on(async {
        let begin = Instant::now();
        let waiter = Waiter::new(alone.clone(), PausedClock(begin), 3, hears);
        let driven = drive_async(job, waiter, Arc::new(Semaphore::new(1)));
        let stops = async {
            if let Some(after) = stop {
                tokio::time::sleep(after).await;
                alone.stop_all();
                bell.ring(1);
            }
            // The bell outlives all that listen.
            std::future::pending::<()>().await;
        };
        let (mut driven, mut stops) = (std::pin::pin!(driven), std::pin::pin!(stops));
        let mut turns = 0;
        let end = std::future::poll_fn(|context| {
            turns += 1;
            let end = driven.as_mut().poll(context);
            if end.is_pending() && stops.as_mut().poll(context).is_ready() {
                unreachable!("the bell outlives all that listen");
            }
            end
        });
        let end = end.await;
        (end, begin.elapsed(), turns)
    });
    Driven { seen, end, took, turns }
}

fn asks(left: u32) -> Asks {
    Asks { left, if_failed: IfFailed::GoOn, every: None, next: MonotonicTime(0) }
}

const MS: fn(u64) -> Duration = Duration::from_millis;

#[test]
fn an_answer_at_the_deadline_counts_and_one_after_it_does_not() {
    let answers = [9_999, 10_000, 10_001].map(|ms| Answer::After(MS(ms))).to_vec();
    let driven = drive(&[Opening::Session(answers)], asks(3), &[], None);
    assert!(matches!(driven.end, Ok(DriveEnd::Finished)));
    let expected = [
        (Outcome::Ok, Nanoseconds::from_milliseconds(9_999)),
        (Outcome::Ok, DEADLINE),
        (Outcome::Timeout, DEADLINE),
    ];
    assert_eq!(driven.of(Operation::Stat), expected);
}

#[test]
fn of_two_that_are_ready_at_the_deadline_the_answer_wins() {
    let runtime = paused();
    let ending = runtime.block_on(async {
        let (_bell, hears) = bell();
        let mut waiter = Waiter::new(Alone::default(), PausedClock(Instant::now()), 0, hears);
        let start = waiter.clock.now();
        // Ready when the alarm rings, and not woken by anything else.
        let at = Instant::now() + DEADLINE.as_duration();
        let future =
            std::future::poll_fn(|_| if Instant::now() >= at { Poll::Ready(5) } else { Poll::Pending });
        waiter.end_of(Box::pin(future).as_mut(), start, DEADLINE).await
    });
    assert_eq!(ending, Ending::Completed(5));
}

#[test]
fn the_alarm_of_one_request_serves_the_next_ones_whose_deadlines_are_later_or_earlier() {
    let runtime = paused();
    let ended = runtime.block_on(async {
        let (_bell, hears) = bell();
        let begin = Instant::now();
        let mut waiter = Waiter::new(Alone::default(), PausedClock(begin), 0, hears);
        let mut ended = Vec::new();
        // How long the answer takes, and the deadline, in seconds: of the third request the alarm is set anew, in the fifth it wakes too early.
        for (answer, deadline) in [(1, 10), (2, 10), (9, 3), (1, 10), (20, 14)] {
            let start = waiter.clock.now();
            let answered = tokio::time::sleep(Duration::from_secs(answer));
            let ending =
                waiter.end_of(Box::pin(answered).as_mut(), start, Nanoseconds::from_seconds(deadline)).await;
            ended.push((begin.elapsed().as_secs(), ending == Ending::Completed(())));
        }
        ended
    });
    assert_eq!(ended, [(1, true), (3, true), (6, false), (7, true), (21, false)]);
}

#[test]
fn after_a_timeout_the_client_goes_on_with_a_new_session() {
    let first = Opening::Session(vec![Answer::After(MS(1)), Answer::Never]);
    let second = Opening::Session(vec![Answer::After(MS(2))]);
    let driven = drive(&[first, second], asks(3), &[], None);
    let ms = Nanoseconds::from_milliseconds;
    let expected = [
        (Operation::OpenSession, Outcome::Ok, ms(0)),
        (Operation::Stat, Outcome::Ok, ms(1)),
        (Operation::Stat, Outcome::Timeout, DEADLINE),
        (Operation::OpenSession, Outcome::Ok, ms(0)),
        (Operation::Stat, Outcome::Ok, ms(2)),
    ];
    assert_eq!(driven.outcomes(), expected);
    let in_flight = lock(&driven.seen.dropped).clone();
    assert_eq!(in_flight, [InFlight::Yes; 3], "the slot stays until the request is dropped");
    let texts = lock(&driven.seen.texts).clone();
    assert_eq!(texts, [(AttemptId::new(ClientId(3), 2), "it is gone".to_owned())]);
}

#[test]
fn a_session_whose_connection_is_gone_is_replaced_and_what_cannot_be_opened_is_tried_every_second() {
    let openings = [Opening::Session(vec![Answer::Broken]), Opening::Refused, Opening::Never];
    let driven = drive(&openings, asks(2), &[], None);
    assert!(matches!(driven.end, Ok(DriveEnd::Finished)));
    let opened: Vec<_> = driven.of(Operation::OpenSession);
    let zero = Nanoseconds::ZERO;
    let expected =
        [(Outcome::Ok, zero), (Outcome::Error, zero), (Outcome::Timeout, DEADLINE), (Outcome::Ok, zero)];
    assert_eq!(opened, expected);
    assert_eq!(driven.of(Operation::Stat), [(Outcome::Error, zero), (Outcome::Ok, zero)]);
    assert_eq!(driven.took, DEADLINE.as_duration() + 2 * REOPEN_PAUSE.as_duration());
    assert_eq!(lock(&driven.seen.texts).len(), 3, "of the failed request and of both openings");
    let last = *lock(&driven.seen.samples).last().unwrap();
    let waited = last.start.since(last.intended).as_duration();
    assert_eq!(waited, driven.took, "that there was no session is in the response time");
}

#[test]
fn a_client_whose_first_session_never_opens_is_left_out() {
    let driven = drive(&[Opening::Never], asks(2), &[], None);
    assert!(matches!(driven.end, Err(DriveError::NoAnswer { deadline: DEADLINE })), "{:?}", driven.end);
    assert_eq!(driven.outcomes(), [(Operation::OpenSession, Outcome::Timeout, DEADLINE)]);
}

#[test]
fn the_order_to_stop_ends_a_request_an_opening_and_a_pause() {
    let stop = Some(MS(3_500));
    let request = drive(&[Opening::Session(vec![Answer::Never])], asks(2), &[], stop);
    assert!(matches!(request.end, Ok(DriveEnd::Stopped)));
    let cut = (Outcome::Interrupted, Nanoseconds::from_milliseconds(3_500));
    assert_eq!(request.of(Operation::Stat), [cut]);
    assert_eq!(lock(&request.seen.samples)[1].code, FailureCode::CUT);

    let opening = drive(&[Opening::Never], asks(2), &[], stop);
    assert!(matches!(opening.end, Ok(DriveEnd::Stopped)));
    assert_eq!(opening.of(Operation::OpenSession), [cut]);

    let hour = Nanoseconds::from_seconds(3600);
    let pause = drive(&[], Asks { every: Some(hour), ..asks(2) }, &[], stop);
    assert!(matches!(pause.end, Ok(DriveEnd::Stopped)));
    assert_eq!((pause.of(Operation::Stat), pause.took), (Vec::new(), MS(3_500)));
    assert_eq!(lock(&pause.seen.dropped).clone(), [], "nothing was made");
}

#[test]
fn what_stalls_after_much_data_is_ended_by_the_order_to_stop_and_at_its_deadline() {
    let ended = |stop: Duration| {
        let runtime = paused();
        tokio::task::LocalSet::new().block_on(&runtime, async {
            let ((bell, hears), alone, begin) = (bell(), Alone::default(), Instant::now());
            let mut waiter = Waiter::new(alone.clone(), PausedClock(begin), 0, hears);
            let waits = tokio::task::spawn_local(async move {
                let start = waiter.clock.now();
                let ending = waiter.end_of(Box::pin(much_then_nothing()).as_mut(), start, DEADLINE).await;
                (ending, begin.elapsed())
            });
            tokio::time::sleep(stop).await;
            alone.stop_all();
            bell.ring(1);
            tokio::time::timeout(MS(1), waits).await.expect("it has ended").unwrap()
        })
    };
    assert_eq!(ended(MS(3_500)), (Ending::Stopped, MS(3_500)));
    assert_eq!(ended(MS(60_000)), (Ending::PastDeadline, DEADLINE.as_duration()));
}

#[test]
fn who_waits_is_not_polled_meanwhile() {
    let hour = Answer::After(Duration::from_secs(3600));
    let long = drive(&[Opening::Session(vec![hour])], asks(1), &[], Some(Duration::from_secs(5)));
    assert_eq!(long.of(Operation::Stat).len(), 1);
    let polls = long.seen.polls.load(Ordering::Relaxed);
    // At first, by the order to stop, and by the timer of whoever gives it, who shares the task here.
    assert!(polls <= 3, "asked {polls} times in five seconds");
}

#[test]
fn a_client_that_is_always_answered_at_once_lets_the_others_have_their_turn() {
    let driven = drive(&[], asks(1600), &[], None);
    assert_eq!(driven.of(Operation::Stat).len(), 1600);
    assert!(driven.turns >= 100, "{} turns", driven.turns);
}

#[test]
fn an_open_schedule_is_kept_and_what_starts_late_says_so() {
    let slow = Answer::After(MS(2_500));
    let driven = drive(&[Opening::Session(vec![slow])], Asks { every: Some(SECOND), ..asks(4) }, &[], None);
    let samples = lock(&driven.seen.samples);
    let late = |sample: &Sample| sample.start.since(sample.intended).0 / 1_000_000;
    assert_eq!(samples[1..].iter().map(late).collect::<Vec<_>>(), [0, 1_500, 500, 0]);
}

#[test]
fn a_failure_that_is_asked_again_is_retried_and_a_timeout_is_one() {
    let openings = [vec![Answer::Broken], vec![Answer::Never], vec![Answer::Broken]].map(Opening::Session);
    let driven = drive(&openings, Asks { if_failed: IfFailed::AskAgain, ..asks(1) }, &[], None);
    let outcomes: Vec<Outcome> = driven.of(Operation::Stat).into_iter().map(|(outcome, _)| outcome).collect();
    assert_eq!(outcomes, [Outcome::Retried, Outcome::Timeout, Outcome::Retried, Outcome::Ok]);
}

#[test]
fn marks_have_the_numbers_after_their_attempt_and_its_tag() {
    let mark = |operation| Mark { operation, start: MonotonicTime(5), duration: Nanoseconds(3) };
    let marks = [mark(Operation::CallConnect), mark(Operation::CallFirstByte)];
    let driven = drive(&[], asks(1), &marks, None);
    let samples = lock(&driven.seen.samples);
    let told = |sample: &Sample| (sample.attempt.sequence(), sample.operation(), sample.tag);
    let expected = [
        (0, Operation::OpenSession, 0),
        (1, Operation::CallConnect, 0),
        (2, Operation::CallFirstByte, 0),
        (3, Operation::Stat, 7),
        (4, Operation::CallConnect, 7),
        (5, Operation::CallFirstByte, 7),
    ];
    assert_eq!(samples.iter().map(told).collect::<Vec<_>>(), expected);
}
