//! The loop on a thread of its own.

use iolag_backend::{Request, Session};
use iolag_model::{Activity, Clock, Coordinator, MonotonicTime, Nanoseconds, Recorder, Waiting};

use super::client::{Client, Done};
use super::client_loop::{Action, Beginning, ClientLoop, DriveEnd, PAUSE_SLICE, ROOM_POLL};

/// How long a thread that sleeps in a meeting needs to notice that it is over: to be woken takes some 50 µs on an idle machine.
pub(super) const NOTICE_BLOCKING: Nanoseconds = Nanoseconds(100_000);

/// Drives a client on this thread until it has finished or is stopped.
///
/// Generic over the session, too, so that one whose operations are short can be compiled into the loop.
pub fn drive_blocking<R: Recorder, K: Client, S: Session + ?Sized, C: Clock>(
    mut client: ClientLoop<R, K>,
    session: &mut S,
    coordinator: &impl Coordinator,
    clock: &C,
) -> DriveEnd {
    client.recorder.set_activity(Activity::Working);
    let inspection = if session.inspects() { Inspection::Wanted } else { Inspection::Needless };
    let mut now = clock.now();
    loop {
        match client.decide(coordinator, now) {
            Action::Leave(end) => {
                client.recorder.set_activity(Activity::Ended);
                return end;
            }
            Action::Meet { number, value, stage } => {
                client.recorder.set_activity(Activity::Meeting);
                client.arrive(coordinator, clock, (number, value), NOTICE_BLOCKING);
                let meeting = coordinator.wait_for_meeting(client.options.rank, number);
                client.recorder.set_activity(Activity::Working);
                now = clock.now();
                if let Some(meeting) = meeting {
                    client.met(&meeting, stage);
                    now = now.max(meeting.begin);
                }
            }
            Action::Pause { until } => {
                pause_until(&mut client, coordinator, clock, until);
                now = clock.now();
            }
            Action::Note(note) => {
                if !client.recorder.has_room() {
                    wait_for_room(&mut client, coordinator, clock);
                }
                client.record_note(&note);
                now = clock.now();
            }
            Action::Execute { request, mut intended } => {
                if !client.recorder.has_room() {
                    wait_for_room(&mut client, coordinator, clock);
                    if coordinator.is_stopped(client.options.rank) {
                        continue;
                    }
                }
                session.prepare(&request);
                if intended.is_some() || client.beginning.is_some() {
                    intended = Some(wait_to_start(&mut client, coordinator, clock, intended));
                    if coordinator.is_stopped(client.options.rank) {
                        continue;
                    }
                }
                now = execute_blocking(&mut client, session, clock, &request, intended, inspection);
            }
        }
    }
}

/// Whether the session looks at what came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inspection {
    Wanted,
    Needless,
}

#[inline(always)]
fn execute_blocking<R: Recorder, K: Client, S: Session + ?Sized, C: Clock>(
    client: &mut ClientLoop<R, K>,
    session: &mut S,
    clock: &C,
    request: &Request,
    intended: Option<MonotonicTime>,
    inspection: Inspection,
) -> MonotonicTime {
    let attempt = client.next_attempt();
    client.recorder.announce(attempt, request.operation, client.stage, intended.unwrap_or_default());
    let start = clock.now();
    client.recorder.begin(start);
    let completion = session.execute(request);
    let end = clock.now();
    let completion = match inspection {
        Inspection::Wanted => session.inspect(request, completion),
        Inspection::Needless => completion,
    };
    client.record(attempt, intended.unwrap_or(start), &Done { completion, start, end }, request);
    client.record_marks(session.marks(), completion.tag);
    if !completion.is_ok()
        && let Some(text) = session.message()
    {
        client.record_message(attempt, text);
    }
    end
}

/// Waits for the intended start, or for the moment at which all begin; returns it.
fn wait_to_start<R: Recorder, K: Client, C: Clock>(
    client: &mut ClientLoop<R, K>,
    coordinator: &impl Coordinator,
    clock: &C,
    intended: Option<MonotonicTime>,
) -> MonotonicTime {
    match (intended, client.beginning.take()) {
        (None, Some(beginning)) => {
            wait_together(clock, beginning);
            client.starts();
            beginning.moment
        }
        (intended, _) => {
            let moment = intended.unwrap_or_default();
            pause_until(client, coordinator, clock, moment);
            moment
        }
    }
}

/// Waits for the moment at which all begin.
pub(super) fn wait_together(clock: &impl Clock, Beginning { moment, waiting }: Beginning) {
    match waiting {
        Waiting::Actively => clock.sleep_until(moment),
        Waiting::Asleep => clock.rest_until(moment),
    }
}

/// Waits for the intended start; in slices, so that a long pause does not outlast the order to stop.
fn pause_until<R: Recorder, K: Client, C: Clock>(
    client: &mut ClientLoop<R, K>,
    coordinator: &impl Coordinator,
    clock: &C,
    moment: MonotonicTime,
) {
    client.recorder.set_activity(Activity::Pausing);
    loop {
        let slice_end = clock.now().after(PAUSE_SLICE);
        if slice_end >= moment || coordinator.is_stopped(client.options.rank) {
            break;
        }
        clock.sleep_until(slice_end);
    }
    if !coordinator.is_stopped(client.options.rank) {
        clock.sleep_until(moment);
    }
    client.recorder.set_activity(Activity::Working);
}

#[cold]
fn wait_for_room<R: Recorder, K: Client, C: Clock>(
    client: &mut ClientLoop<R, K>,
    coordinator: &impl Coordinator,
    clock: &C,
) {
    let start = clock.now();
    client.recorder.set_activity(Activity::Full);
    while !client.recorder.has_room() && !coordinator.is_stopped(client.options.rank) {
        clock.sleep_until(clock.now().after(ROOM_POLL));
    }
    client.recorder.set_activity(Activity::Working);
    client.record_wait(start, clock.now());
}
