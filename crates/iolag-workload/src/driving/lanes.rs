//! The loop for a client that has several requests in flight: a queue of a known depth, by one thread.
//!
//! Each request in flight has a lane, with a slot of its own. Start is when it was submitted, the end is when the thread learned of
//! it; ends are also awaited while the thread waits for the next intended start. Whatever is no request (a meeting, a
//! note, the end of a stage, the order to stop) comes after everything in flight has ended.
//!
//! Limits: the thread stamps one end after the other, so of several that end together the later ones contain what recording the
//! earlier ones took. A client is asked for its next step before it has been told how the ones in flight ended.

use iolag_backend::{LaneSession, Request};
use iolag_model::{Activity, AttemptId, Clock, Coordinator, MonotonicTime, Recorder};

use super::blocking::{NOTICE_BLOCKING, wait_together};
use super::client::{Client, Done};
use super::client_loop::{Action, ClientLoop, DriveEnd, PAUSE_SLICE, ROOM_POLL};

/// Drives a client on this thread with up to so many requests in flight, until it has finished or is stopped.
pub fn drive_lanes<R: Recorder, K: Client, S: LaneSession + ?Sized, C: Clock>(
    client: ClientLoop<R, K>,
    session: &mut S,
    lanes: u32,
    coordinator: &impl Coordinator,
    clock: &C,
) -> DriveEnd {
    let in_flight = (0..lanes.max(1)).map(|_| None).collect();
    Lanes { client, session, in_flight, coordinator, clock }.drive()
}

/// A request in flight.
struct Submitted {
    attempt: AttemptId,
    request: Request,
    intended: MonotonicTime,
    start: MonotonicTime,
}

struct Lanes<'a, R, K, S: ?Sized, N, C> {
    client: ClientLoop<R, K>,
    session: &'a mut S,
    in_flight: Vec<Option<Submitted>>,
    coordinator: &'a N,
    clock: &'a C,
}

impl<R: Recorder, K: Client, S: LaneSession + ?Sized, N: Coordinator, C: Clock> Lanes<'_, R, K, S, N, C> {
    fn drive(mut self) -> DriveEnd {
        self.client.recorder.set_activity(Activity::Working);
        let mut now = self.clock.now();
        loop {
            let step = self.client.next_step(self.coordinator, now);
            if !step.is_request() {
                self.end_all();
            }
            let Some(action) = self.client.act(step) else { continue };
            match action {
                Action::Leave(end) => {
                    self.client.recorder.set_activity(Activity::Ended);
                    return end;
                }
                Action::Meet { number, value, stage } => {
                    self.client.recorder.set_activity(Activity::Meeting);
                    self.client.arrive(self.coordinator, self.clock, (number, value), NOTICE_BLOCKING);
                    let meeting = self.coordinator.wait_for_meeting(self.client.options.rank, number);
                    self.client.recorder.set_activity(Activity::Working);
                    now = self.clock.now();
                    if let Some(meeting) = meeting {
                        self.client.met(&meeting, stage);
                        now = now.max(meeting.begin);
                    }
                }
                Action::Pause { until } => {
                    self.wait_until(until);
                    now = self.clock.now();
                }
                Action::Note(note) => {
                    self.wait_for_room();
                    self.client.record_note(&note);
                    now = self.clock.now();
                }
                Action::Execute { request, intended } => now = self.execute(request, intended),
            }
        }
    }

    /// Waits for a free lane, for room and for the intended start, and submits. Returns the present moment.
    fn execute(&mut self, request: Request, mut intended: Option<MonotonicTime>) -> MonotonicTime {
        let lane = self.free_lane();
        self.client.recorder.set_lane(lane);
        self.wait_for_room();
        self.session.prepare(lane, &request);
        match (intended, self.client.beginning.take()) {
            (Some(moment), _) => self.wait_until(moment),
            (None, Some(beginning)) => {
                wait_together(self.clock, beginning);
                self.client.starts();
                intended = Some(beginning.moment);
            }
            (None, None) => {}
        }
        // Whatever ended meanwhile was in lanes of its own.
        self.client.recorder.set_lane(lane);
        if self.is_stopped() {
            return self.clock.now();
        }
        let attempt = self.client.next_attempt();
        let (stage, announced) = (self.client.stage, intended.unwrap_or_default());
        self.client.recorder.announce(attempt, request.operation, stage, announced);
        let start = self.clock.now();
        self.client.recorder.begin(start);
        self.session.submit(lane, &request);
        let intended = intended.unwrap_or(start);
        self.in_flight[lane as usize] = Some(Submitted { attempt, request, intended, start });
        start
    }

    fn is_stopped(&self) -> bool {
        self.coordinator.is_stopped(self.client.options.rank)
    }

    fn free_lane(&mut self) -> u32 {
        loop {
            if let Some(lane) = self.in_flight.iter().position(Option::is_none) {
                return lane as u32;
            }
            self.end_one(MonotonicTime(u64::MAX));
        }
    }

    fn end_all(&mut self) {
        while self.in_flight.iter().any(Option::is_some) {
            self.end_one(MonotonicTime(u64::MAX));
        }
        self.client.recorder.set_lane(0);
    }

    /// Waits for the end of a request, not longer than until then, and records it.
    fn end_one(&mut self, until: MonotonicTime) {
        let Some((lane, completion)) = self.session.await_any(until) else { return };
        let end = self.clock.now();
        let Some(submitted) = self.in_flight.get_mut(lane as usize).and_then(Option::take) else { return };
        let Submitted { attempt, request, intended, start } = submitted;
        let completion = self.session.inspect(lane, &request, completion);
        self.client.recorder.set_lane(lane);
        self.client.record(attempt, intended, &Done { completion, start, end }, &request);
        // Of several in flight not the first to start is the first to end.
        self.client.stage_first_start = self.client.stage_first_start.min(start);
        if !completion.is_ok()
            && let Some(text) = self.session.message(lane)
        {
            self.client.record_message(attempt, text);
        }
    }

    /// Waits until then, or the order to stop; what ends meanwhile is recorded when it does.
    fn wait_until(&mut self, moment: MonotonicTime) {
        self.client.recorder.set_activity(Activity::Pausing);
        loop {
            let now = self.clock.now();
            if now >= moment || self.is_stopped() {
                break;
            }
            self.end_or_sleep(moment.min(now.after(PAUSE_SLICE)));
        }
        self.client.recorder.set_activity(Activity::Working);
    }

    fn wait_for_room(&mut self) {
        if self.client.recorder.has_room() {
            return;
        }
        let start = self.clock.now();
        self.client.recorder.set_activity(Activity::Full);
        while !self.client.recorder.has_room() && !self.is_stopped() {
            self.end_or_sleep(self.clock.now().after(ROOM_POLL));
        }
        self.client.recorder.set_activity(Activity::Working);
        self.client.record_wait(start, self.clock.now());
    }

    fn end_or_sleep(&mut self, until: MonotonicTime) {
        if self.in_flight.iter().any(Option::is_some) {
            self.end_one(until);
        } else {
            self.clock.sleep_until(until);
        }
    }
}

#[cfg(test)]
mod tests;
