//! The one loop: ask the client, pace, execute, record.
//!
//! Between the two readings of the clock stand the operation and one store into the client's in-flight slot. Everything
//! else (names, buffers, random numbers, decisions, room for the sample) is made before the first reading, recording
//! happens after the second.
//!
//! Limits: a duration includes one clock reading (about 20 ns) and the store. The thread may be descheduled inside the
//! interval; such a delay is part of what a user would feel on this machine, and is not subtracted.

use iolag_backend::{AsyncSession, Completion, Request, Session};
use iolag_model::{
    Activity, AttemptId, ClientId, Clock, Coordinator, Detail, DetailKind, FailureCode, Meeting,
    MonotonicTime, Nanoseconds, Operation, Outcome, Recorder, Sample, StageIndex,
};

use crate::{Client, Done, Step};

/// Who a loop drives, and when an operation counts as late.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DriveOptions {
    /// The client's number within the run.
    pub client: ClientId,
    /// The client's rank among those that it meets.
    pub rank: u32,
    /// After this long a success counts as late.
    pub deadline: Nanoseconds,
}

/// Why a loop ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DriveEnd {
    /// The client had nothing left to do.
    Finished,
    /// It was told to stop.
    Stopped,
}

/// One client with its recorder: everything of the loop that does not wait.
///
/// Generic over the client: after every system call the processor has forgotten where indirect calls lead, so each costs
/// tens of nanoseconds per operation.
pub struct ClientLoop<R, K> {
    client: K,
    recorder: R,
    options: DriveOptions,
    sequence: u64,
    meetings: u32,
    stage: StageIndex,
    stage_start: Option<MonotonicTime>,
    stage_operations: u64,
}

/// What a driver has to do before it may go on.
enum Action {
    Execute { request: Request, intended: Option<MonotonicTime> },
    Meet { number: u32, stage: Option<StageIndex> },
    Leave(DriveEnd),
}

impl<R: Recorder, K: Client> ClientLoop<R, K> {
    /// A loop at its beginning.
    pub fn new(client: K, recorder: R, options: DriveOptions) -> Self {
        Self {
            client,
            recorder,
            options,
            sequence: 0,
            meetings: 0,
            stage: StageIndex(0),
            stage_start: None,
            stage_operations: 0,
        }
    }

    #[inline]
    fn decide(&mut self, coordinator: &impl Coordinator, now: MonotonicTime) -> Action {
        loop {
            if coordinator.is_stopped(self.options.rank) {
                self.end_stage(now, Outcome::Timeout);
                return Action::Leave(DriveEnd::Stopped);
            }
            match self.client.next(now) {
                Step::Execute { request, intended } => return Action::Execute { request, intended },
                Step::Begin { stage, value } => return self.arrive(coordinator, value, Some(stage)),
                Step::Agree { value } => return self.arrive(coordinator, value, None),
                Step::End => self.end_stage(now, Outcome::Ok),
                Step::Finished => {
                    self.end_stage(now, Outcome::Ok);
                    return Action::Leave(DriveEnd::Finished);
                }
            }
        }
    }

    /// Who is driven.
    pub const fn options(&self) -> &DriveOptions {
        &self.options
    }

    /// The session is being opened: a first contact that hangs is an operation in flight like any other.
    pub(crate) fn begin_opening(&mut self, start: MonotonicTime) {
        self.recorder.set_activity(Activity::Working);
        let attempt = AttemptId::new(self.options.client, self.sequence);
        self.recorder.announce(attempt, Operation::OpenSession, self.stage, start);
        self.recorder.begin(start);
    }

    /// The session is open, or cannot be opened.
    pub(crate) fn end_opening(&mut self, start: MonotonicTime, end: MonotonicTime, code: FailureCode) {
        let attempt = self.next_attempt();
        let duration = end.since(start);
        let outcome = match code {
            FailureCode::NONE if duration > self.options.deadline => Outcome::Late,
            FailureCode::NONE => Outcome::Ok,
            _ => Outcome::Error,
        };
        let sample =
            Sample::new(attempt, Operation::OpenSession, start, start, duration).with_outcome(outcome, code);
        self.recorder.record(sample);
        if code != FailureCode::NONE {
            self.recorder.set_activity(Activity::Ended);
        }
    }

    fn arrive(&mut self, coordinator: &impl Coordinator, value: u64, stage: Option<StageIndex>) -> Action {
        self.meetings += 1;
        coordinator.arrive(self.options.rank, self.meetings, value);
        Action::Meet { number: self.meetings, stage }
    }

    fn met(&mut self, meeting: &Meeting, stage: Option<StageIndex>, now: MonotonicTime) {
        if let Some(stage) = stage {
            self.stage = stage;
            self.stage_start = Some(now);
            self.stage_operations = 0;
        }
        self.client.met(meeting, now);
    }

    /// Records how long the stage took this client; an interrupted stage is censored at that time.
    fn end_stage(&mut self, now: MonotonicTime, outcome: Outcome) {
        let Some(start) = self.stage_start.take() else { return };
        let attempt = self.next_attempt();
        let sample = Sample::new(attempt, Operation::Stage, start, start, now.since(start))
            .with_outcome(outcome, FailureCode::NONE)
            .with_bytes(self.stage_operations)
            .in_stage(self.stage);
        self.recorder.record(sample);
    }

    #[inline]
    fn next_attempt(&mut self) -> AttemptId {
        let attempt = AttemptId::new(self.options.client, self.sequence);
        self.sequence += 1;
        attempt
    }

    #[cold]
    fn record_wait(&mut self, start: MonotonicTime, end: MonotonicTime) {
        let attempt = self.next_attempt();
        let sample =
            Sample::new(attempt, Operation::RingWait, start, start, end.since(start)).in_stage(self.stage);
        self.recorder.record(sample);
    }

    #[inline]
    fn record(&mut self, attempt: AttemptId, intended: MonotonicTime, done: &Done, request: &Request) {
        let duration = done.end.since(done.start);
        let outcome = if !done.completion.is_ok() {
            Outcome::Error
        } else if duration > self.options.deadline {
            Outcome::Late
        } else {
            Outcome::Ok
        };
        let sample = Sample::new(attempt, request.operation, intended, done.start, duration)
            .with_outcome(outcome, done.completion.code)
            .with_bytes(done.completion.bytes)
            .in_stage(self.stage);
        self.recorder.record(sample);
        self.stage_operations += 1;
        self.client.completed(request, done);
    }

    #[cold]
    fn record_message(&mut self, attempt: AttemptId, text: String) {
        self.recorder.record_detail(&Detail { attempt, kind: DetailKind::Message, text });
    }
}

/// How long a pausing client sleeps before it looks whether it is to stop.
const PAUSE_SLICE: Nanoseconds = Nanoseconds::from_milliseconds(50);
/// How often a client without room looks again.
const ROOM_POLL: Nanoseconds = Nanoseconds(200_000);

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
            Action::Meet { number, stage } => {
                client.recorder.set_activity(Activity::Meeting);
                let meeting = coordinator.wait_for_meeting(client.options.rank, number);
                client.recorder.set_activity(Activity::Working);
                now = clock.now();
                if let Some(meeting) = meeting {
                    client.met(&meeting, stage, now);
                }
            }
            Action::Execute { request, intended } => {
                if !client.recorder.has_room() {
                    wait_for_room(&mut client, coordinator, clock);
                    if coordinator.is_stopped(client.options.rank) {
                        continue;
                    }
                }
                session.prepare(&request);
                if let Some(moment) = intended {
                    pause_until(&mut client, coordinator, clock, moment);
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
    if !completion.is_ok()
        && let Some(text) = session.message()
    {
        client.record_message(attempt, text);
    }
    end
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

/// Drives a client as a task of an asynchronous runtime. The same steps as [`drive_blocking`]; only waiting differs.
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
            Action::Meet { number, stage } => {
                client.recorder.set_activity(Activity::Meeting);
                let meeting = meet_async(coordinator, client.options.rank, number).await;
                client.recorder.set_activity(Activity::Working);
                now = clock.now();
                if let Some(meeting) = meeting {
                    client.met(&meeting, stage, now);
                }
            }
            Action::Execute { request, intended } => {
                if !client.recorder.has_room() {
                    let start = clock.now();
                    client.recorder.set_activity(Activity::Full);
                    while !client.recorder.has_room() && !coordinator.is_stopped(client.options.rank) {
                        tokio::time::sleep(ROOM_POLL.as_duration()).await;
                    }
                    client.recorder.set_activity(Activity::Working);
                    client.record_wait(start, clock.now());
                }
                session.prepare(&request);
                if let Some(moment) = intended {
                    pause_async(&mut client, coordinator, clock, moment).await;
                }
                if coordinator.is_stopped(client.options.rank) {
                    continue;
                }
                now = execute_async(&mut client, session, clock, &request, intended).await;
            }
        }
    }
}

/// As [`pause_until`]: in slices.
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

async fn meet_async(coordinator: &impl Coordinator, rank: u32, number: u32) -> Option<Meeting> {
    const POLL: Nanoseconds = Nanoseconds::from_milliseconds(1);
    while !coordinator.is_stopped(rank) {
        if let Some(meeting) = coordinator.meeting(number) {
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
