//! The loop as a task of an asynchronous runtime, for clients that mostly wait.
//!
//! The same steps as [`crate::drive_blocking`], but for three things. Sessions open asynchronously, a bounded number of them at once.
//! A request that has no answer at its deadline is cancelled and recorded as timeout; its client goes on with a new session. The
//! order to stop cancels, too, and what it cut off is recorded as that.
//!
//! Invariants: the future of a request, with its box, is made before the first reading of the clock and dropped after the second;
//! only then does the slot show that nothing is in flight. Between the two is the request, and while it waits the alarm and the bell.
//!
//! Limits: between the end of an operation and the second reading of the clock the task waits for its turn on its worker's thread.
//! With thousands of clients on one thread that delay is part of the sample.

use std::sync::Arc;

use iolag_backend::{AsyncOpening, AsyncSession, Completion, Request};
use iolag_model::{
    Activity, Clock, Coordinator, FailureCode, MonotonicTime, Nanoseconds, Operation, Recorder,
};
use tokio::sync::Semaphore;

use super::client::{Client, Done};
use super::client_loop::{Action, ClientLoop, DriveEnd, ROOM_POLL};
use super::many_clients::{DriveError, IfNotOpen, Job, StopsIfPanicking, code_of, do_without};
use super::waiting::{Ending, Waiter};

/// How long tasks need to notice that a meeting is over: the bell, and the turn of each on a thread that has thousands.
const NOTICE_ASYNC: Nanoseconds = Nanoseconds::from_milliseconds(3);
/// A client that has lost its session and gets no new one tries again after this long.
const REOPEN_PAUSE: Nanoseconds = Nanoseconds::from_seconds(1);

/// Drives one client as a task, from the opening of its session to its end.
#[expect(
    clippy::manual_async_fn,
    reason = "an `async fn` keeps room for its arguments beside what becomes of them, and of thousands of tasks every cache line counts"
)]
pub(super) fn drive_async<R, K, O, N, C>(
    mut job: Job<R, K, O>,
    mut waiter: Waiter<N, C>,
    openings: Arc<Semaphore>,
) -> impl Future<Output = Result<DriveEnd, DriveError>>
where
    R: Recorder,
    K: Client,
    O: Fn() -> AsyncOpening<'static>,
    N: Coordinator + Clone,
    C: Clock,
{
    async move {
        let coordinator = waiter.coordinator.clone();
        let _stops = StopsIfPanicking(&coordinator);
        let connection = Connection { open: job.open, openings };
        drive(&mut job.client, &mut waiter, &connection, job.if_not_open).await
    }
}

async fn drive<R, K, O, N, C>(
    client: &mut ClientLoop<R, K>,
    waiter: &mut Waiter<N, C>,
    connection: &Connection<O>,
    if_not_open: IfNotOpen,
) -> Result<DriveEnd, DriveError>
where
    R: Recorder,
    K: Client,
    O: Fn() -> AsyncOpening<'static>,
    N: Coordinator,
    C: Clock,
{
    let mut session = match connection.open(client, waiter).await {
        Ok(session) => session,
        Err(error) => {
            let parts = (&waiter.coordinator, &waiter.clock);
            return Err(do_without(client, if_not_open, parts, error));
        }
    };
    let mut now = waiter.clock.now();
    loop {
        match client.decide(&waiter.coordinator, now) {
            Action::Leave(end) => {
                client.recorder.set_activity(Activity::Ended);
                return Ok(end);
            }
            Action::Meet { number, value, stage } => {
                client.recorder.set_activity(Activity::Meeting);
                client.arrive(&waiter.coordinator, &waiter.clock, (number, value), NOTICE_ASYNC);
                let meeting = waiter.meeting(number).await;
                client.recorder.set_activity(Activity::Asking);
                now = waiter.clock.now();
                if let Some(meeting) = meeting {
                    client.met(&meeting, stage);
                    now = now.max(meeting.begin);
                }
            }
            Action::Pause { until } => {
                pause(client, waiter, until).await;
                now = waiter.clock.now();
            }
            Action::Note(note) => {
                wait_for_room(client, waiter).await;
                client.record_note(&note);
                now = waiter.clock.now();
            }
            Action::Execute { request, mut intended } => {
                wait_for_room(client, waiter).await;
                if session.is_none() && client.beginning.is_none() {
                    // It was to start now: what it takes to come to a session is in its response time.
                    intended = intended.or(Some(now));
                }
                connection.renew(&mut session, client, waiter).await;
                if let Some(open) = session.as_deref_mut() {
                    waiter.take_turns().await;
                    let asked = ask(open, client, waiter, &request, intended).await;
                    now = waiter.clock.now();
                    if asked == Asked::ForTheLastTime {
                        session = None;
                    }
                }
            }
        }
    }
}

/// How one client comes to a session.
struct Connection<O> {
    open: O,
    openings: Arc<Semaphore>,
}

impl<O: Fn() -> AsyncOpening<'static>> Connection<O> {
    /// Opens a session; none if the client is told to stop meanwhile.
    async fn open<R: Recorder, K: Client, N: Coordinator, C: Clock>(
        &self,
        client: &mut ClientLoop<R, K>,
        waiter: &mut Waiter<N, C>,
    ) -> Result<Option<Box<dyn AsyncSession>>, DriveError> {
        client.recorder.set_activity(Activity::Pausing);
        // Told to stop, those that open have an end, so that this one's turn comes.
        let _turn = self.openings.acquire().await;
        if waiter.is_stopped() {
            return Ok(None);
        }
        let deadline = client.options.deadlines.of(Operation::OpenSession);
        let mut opening = (self.open)();
        let start = waiter.clock.now();
        client.begin_opening(start, Activity::Asking);
        let ending = waiter.end_of(opening.as_mut(), start, deadline).await;
        let end = waiter.clock.now();
        drop(opening);
        let (code, opened) = match ending {
            Ending::Completed(opened) => (code_of(&opened), opened.map(Some).map_err(DriveError::from)),
            Ending::PastDeadline => (FailureCode::DEADLINE, Err(DriveError::NoAnswer { deadline })),
            Ending::Stopped => (FailureCode::CUT, Ok(None)),
        };
        let attempt = client.end_opening(start, end, code);
        match &opened {
            Ok(Some(session)) => client.record_marks(session.marks(), 0),
            Ok(None) => {}
            Err(error) => client.offer_message(attempt, error.to_string()),
        }
        opened
    }

    /// Opens another session if there is none, again and again until there is, or the client is told to stop. That it cannot be
    /// opened is in the samples; the others go on meanwhile.
    async fn renew<R: Recorder, K: Client, N: Coordinator, C: Clock>(
        &self,
        session: &mut Option<Box<dyn AsyncSession>>,
        client: &mut ClientLoop<R, K>,
        waiter: &mut Waiter<N, C>,
    ) {
        while session.is_none() && !waiter.is_stopped() {
            wait_for_room(client, waiter).await;
            match self.open(client, waiter).await {
                Ok(opened) => *session = opened,
                Err(_) => {
                    let again = waiter.clock.now().after(REOPEN_PAUSE);
                    pause(client, waiter, again).await;
                }
            }
        }
    }
}

/// Whether a session can be asked again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    AsOften,
    ForTheLastTime,
}

/// One request, unless the client is told to stop before it starts.
async fn ask<R: Recorder, K: Client, N: Coordinator, C: Clock>(
    session: &mut dyn AsyncSession,
    client: &mut ClientLoop<R, K>,
    waiter: &mut Waiter<N, C>,
    request: &Request,
    mut intended: Option<MonotonicTime>,
) -> Asked {
    let deadline = client.options.deadlines.of(request.operation);
    session.prepare(request);
    match (intended, client.beginning.take()) {
        (Some(moment), _) => pause(client, waiter, moment).await,
        (None, Some(beginning)) => {
            begin_together(client, waiter, beginning.moment).await;
            client.starts();
            intended = Some(beginning.moment);
        }
        (None, None) => {}
    }
    if waiter.is_stopped() {
        return Asked::AsOften;
    }
    // Made after the pause: what was made before it would have left the processor's cache.
    let mut execution = session.execute(request);
    let attempt = client.next_attempt();
    client.recorder.announce(attempt, request.operation, client.stage, intended.unwrap_or_default());
    let start = waiter.clock.now();
    client.recorder.begin(start);
    let ending = waiter.end_of(execution.as_mut(), start, deadline).await;
    let end = waiter.clock.now();
    drop(execution);
    let (completion, asked) = match ending {
        Ending::Completed(completion) => (session.inspect(request, completion), Asked::AsOften),
        Ending::PastDeadline => (Completion::failed(FailureCode::DEADLINE), Asked::ForTheLastTime),
        Ending::Stopped => (Completion::failed(FailureCode::CUT), Asked::ForTheLastTime),
    };
    client.record(attempt, intended.unwrap_or(start), &Done { completion, start, end }, request);
    client.record_marks(session.marks(), completion.tag);
    if completion.is_ok() {
        return asked;
    }
    if let Some(text) = session.message() {
        client.offer_message(attempt, text);
    }
    if session.is_usable() { asked } else { Asked::ForTheLastTime }
}

async fn wait_for_room<R: Recorder, K: Client, N: Coordinator, C: Clock>(
    client: &mut ClientLoop<R, K>,
    waiter: &Waiter<N, C>,
) {
    if client.recorder.has_room() {
        return;
    }
    let start = waiter.clock.now();
    client.recorder.set_activity(Activity::Full);
    while !client.recorder.has_room() && !waiter.is_stopped() {
        tokio::time::sleep(ROOM_POLL.as_duration()).await;
    }
    client.recorder.set_activity(Activity::Asking);
    client.record_wait(start, waiter.clock.now());
}

async fn pause<R: Recorder, K: Client, N: Coordinator, C: Clock>(
    client: &mut ClientLoop<R, K>,
    waiter: &mut Waiter<N, C>,
    moment: MonotonicTime,
) {
    client.recorder.set_activity(Activity::Pausing);
    waiter.until(moment).await;
    client.recorder.set_activity(Activity::Asking);
}

/// Waits for the moment at which all begin: by the timer as far as it goes, then, when the others of this thread have had
/// their turn to prepare, with the thread, since it is the same moment for all of them.
async fn begin_together<R: Recorder, K: Client, N: Coordinator, C: Clock>(
    client: &mut ClientLoop<R, K>,
    waiter: &mut Waiter<N, C>,
    moment: MonotonicTime,
) {
    const TIMER: Nanoseconds = Nanoseconds::from_milliseconds(2);
    let coarse = MonotonicTime(moment.0.saturating_sub(TIMER.0));
    pause(client, waiter, coarse).await;
    tokio::task::yield_now().await;
    if !waiter.is_stopped() {
        waiter.clock.rest_until(moment);
    }
}

#[cfg(test)]
mod tests;
