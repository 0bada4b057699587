//! The loop as a task of an asynchronous runtime, for clients that mostly wait.

use std::sync::Arc;

use iolag_backend::{AsyncSession, Completion, Request};
use iolag_model::{Activity, Clock, Coordinator, Meeting, MonotonicTime, Nanoseconds, Recorder};

use super::client::{Client, Done};
use super::client_loop::{Action, ClientLoop, DriveEnd, PAUSE_SLICE, ROOM_POLL};

/// How long a task needs to notice that a meeting is over: it looks every millisecond, by a timer that counts in milliseconds.
const NOTICE_ASYNC: Nanoseconds = Nanoseconds::from_milliseconds(3);

/// Drives a client as a task of an asynchronous runtime. The same steps as [`crate::drive_blocking`]; only waiting differs.
///
/// Limits: between the end of an operation and the second reading of the clock the task waits for its turn on the
/// runtime's thread. With thousands of clients on one thread that delay is part of the sample.
pub async fn drive_async<R: Recorder, K: Client, C: Clock>(
    mut client: ClientLoop<R, K>,
    session: &mut dyn AsyncSession,
    coordinator: &impl Coordinator,
    clock: &C,
) -> DriveEnd {
    client.recorder.set_activity(Activity::Working);
    let mut now = clock.now();
    loop {
        match client.decide(coordinator, now) {
            Action::Leave(end) => {
                client.recorder.set_activity(Activity::Ended);
                return end;
            }
            Action::Meet { number, value, stage } => {
                client.recorder.set_activity(Activity::Meeting);
                client.arrive(coordinator, clock, (number, value), NOTICE_ASYNC);
                let meeting = meet_async(coordinator, client.options.rank, number).await;
                client.recorder.set_activity(Activity::Working);
                now = clock.now();
                if let Some(meeting) = meeting {
                    client.met(&meeting, stage);
                    now = now.max(meeting.begin);
                }
            }
            Action::Pause { until } => {
                pause_async(&mut client, coordinator, clock, until).await;
                now = clock.now();
            }
            Action::Note(note) => {
                if !client.recorder.has_room() {
                    wait_for_room_async(&mut client, coordinator, clock).await;
                }
                client.record_note(&note);
                now = clock.now();
            }
            Action::Execute { request, mut intended } => {
                if !client.recorder.has_room() {
                    wait_for_room_async(&mut client, coordinator, clock).await;
                }
                session.prepare(&request);
                match (intended, client.beginning.take()) {
                    (Some(moment), _) => pause_async(&mut client, coordinator, clock, moment).await,
                    (None, Some(beginning)) => {
                        begin_async(clock, beginning.moment).await;
                        intended = Some(beginning.moment);
                    }
                    (None, None) => {}
                }
                if coordinator.is_stopped(client.options.rank) {
                    continue;
                }
                now = execute_async(&mut client, session, clock, &request, intended).await;
            }
        }
    }
}

/// As on a thread, but for the waiting.
async fn wait_for_room_async<R: Recorder, K: Client, C: Clock>(
    client: &mut ClientLoop<R, K>,
    coordinator: &impl Coordinator,
    clock: &C,
) {
    let start = clock.now();
    client.recorder.set_activity(Activity::Full);
    while !client.recorder.has_room() && !coordinator.is_stopped(client.options.rank) {
        tokio::time::sleep(ROOM_POLL.as_duration()).await;
    }
    client.recorder.set_activity(Activity::Working);
    client.record_wait(start, clock.now());
}

/// In slices, so that a long pause does not outlast the order to stop.
async fn pause_async<R: Recorder, K: Client, C: Clock>(
    client: &mut ClientLoop<R, K>,
    coordinator: &impl Coordinator,
    clock: &C,
    moment: MonotonicTime,
) {
    client.recorder.set_activity(Activity::Pausing);
    loop {
        let left = moment.since(clock.now());
        if left == Nanoseconds::ZERO || coordinator.is_stopped(client.options.rank) {
            break;
        }
        tokio::time::sleep(left.min(PAUSE_SLICE).as_duration()).await;
    }
    client.recorder.set_activity(Activity::Working);
}

/// Waits for the moment at which all begin: by the timer as far as it goes, then, when the others of this thread have had
/// their turn to prepare, with the thread, since it is the same moment for all of them.
async fn begin_async<C: Clock>(clock: &C, moment: MonotonicTime) {
    const TIMER: Nanoseconds = Nanoseconds::from_milliseconds(2);
    let left = moment.since(clock.now());
    if left > TIMER {
        tokio::time::sleep(Nanoseconds(left.0 - TIMER.0).as_duration()).await;
    }
    tokio::task::yield_now().await;
    clock.rest_until(moment);
}

async fn meet_async(coordinator: &impl Coordinator, rank: u32, number: u32) -> Option<Arc<Meeting>> {
    const POLL: Nanoseconds = Nanoseconds::from_milliseconds(1);
    while !coordinator.is_stopped(rank) {
        if let Some(meeting) = coordinator.meeting(rank, number) {
            return Some(meeting);
        }
        tokio::time::sleep(POLL.as_duration()).await;
    }
    None
}

async fn execute_async<R: Recorder, K: Client, C: Clock>(
    client: &mut ClientLoop<R, K>,
    session: &mut dyn AsyncSession,
    clock: &C,
    request: &Request,
    intended: Option<MonotonicTime>,
) -> MonotonicTime {
    let attempt = client.next_attempt();
    client.recorder.announce(attempt, request.operation, client.stage, intended.unwrap_or_default());
    let start = clock.now();
    client.recorder.begin(start);
    let completion: Completion = session.execute(request).await;
    let end = clock.now();
    let completion = session.inspect(request, completion);
    client.record(attempt, intended.unwrap_or(start), &Done { completion, start, end }, request);
    end
}
