//! The one loop: ask the client, pace, execute, record.
//!
//! Between the two readings of the clock stand the operation and one store into the client's in-flight slot. Everything
//! else (names, buffers, random numbers, decisions, room for the sample) is made before the first reading, recording
//! happens after the second.
//!
//! Limits: a duration includes one clock reading (about 20 ns) and the store. The thread may be descheduled inside the
//! interval; such a delay is part of what a user would feel on this machine, and is not subtracted.

use std::sync::Arc;

use iolag_backend::{AsyncSession, Completion, Request, Session};
use iolag_model::{
    Activity, Arrival, AttemptId, ClientId, Clock, Coordinator, Detail, DetailKind, FailureCode, Meeting,
    MonotonicTime, Nanoseconds, Operation, Outcome, Recorder, Sample, StageIndex, Waiting,
};

use crate::{Client, Done, Note, Step};

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
    /// When the clients were to begin the stage; `None` outside of stages.
    stage_begin: Option<MonotonicTime>,
    /// Of the client's operations in the stage: their number, the first start, the last end.
    stage_operations: u64,
    stage_first_start: MonotonicTime,
    stage_last_end: MonotonicTime,
    /// When all begin, from a meeting to the first operation after it.
    beginning: Option<Beginning>,
}

/// The moment at which all clients begin, and how they wait for it.
#[derive(Debug, Clone, Copy)]
struct Beginning {
    moment: MonotonicTime,
    waiting: Waiting,
}

/// What a driver has to do before it may go on.
enum Action {
    Execute { request: Request, intended: Option<MonotonicTime> },
    Meet { number: u32, value: u64, stage: Option<StageIndex> },
    Pause { until: MonotonicTime },
    Note(Note),
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
            stage_begin: None,
            stage_operations: 0,
            stage_first_start: MonotonicTime(0),
            stage_last_end: MonotonicTime(0),
            beginning: None,
        }
    }

    #[inline]
    fn decide(&mut self, coordinator: &impl Coordinator, now: MonotonicTime) -> Action {
        loop {
            if coordinator.is_stopped(self.options.rank) {
                self.record_last_notes();
                self.end_stage(Outcome::Interrupted);
                return Action::Leave(DriveEnd::Stopped);
            }
            match self.client.next(now) {
                Step::Execute { request, intended } => return Action::Execute { request, intended },
                Step::Begin { stage, value } => return self.meet(value, Some(stage)),
                Step::Agree { value } => return self.meet(value, None),
                Step::Pause { until } => return Action::Pause { until },
                Step::Note(note) => return Action::Note(note),
                Step::End => self.end_stage(Outcome::Ok),
                Step::Finished => {
                    self.end_stage(Outcome::Ok);
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

    const fn meet(&mut self, value: u64, stage: Option<StageIndex>) -> Action {
        self.meetings += 1;
        Action::Meet { number: self.meetings, value, stage }
    }

    fn arrive(
        &self,
        coordinator: &impl Coordinator,
        clock: &impl Clock,
        (number, value): (u32, u64),
        notice: Nanoseconds,
    ) {
        let now = clock.now();
        coordinator.arrive(Arrival { rank: self.options.rank, number, value, now, notice });
    }

    /// The client learns of the meeting before all begin, so that its first operation can be made ready. For it, it is already
    /// the moment at which they do.
    fn met(&mut self, meeting: &Meeting, stage: Option<StageIndex>) {
        if let Some(stage) = stage {
            self.stage = stage;
            self.stage_begin = Some(meeting.begin);
            self.stage_operations = 0;
        }
        self.beginning = Some(Beginning { moment: meeting.begin, waiting: meeting.waiting });
        self.client.met(meeting, meeting.begin);
    }

    fn record_note(&mut self, note: &Note) {
        let attempt = match note.number {
            Some(number) => AttemptId::new(self.options.client, number.get()),
            None => self.next_attempt(),
        };
        let mut sample = note.sample.in_stage(self.stage);
        sample.attempt = attempt;
        self.recorder.record(sample);
        if let Some(blocker) = note.blocker {
            let text = format!("probe {blocker}");
            self.recorder.record_detail(&Detail { attempt, kind: DetailKind::Blocker, text });
        }
    }

    /// As far as there is room: nobody waits for that any more.
    #[cold]
    fn record_last_notes(&mut self) {
        while self.recorder.has_room()
            && let Some(note) = self.client.last_note()
        {
            self.record_note(&note);
        }
    }

    /// Records how long the stage took this client, from the first start to the last end of its operations; an interrupted
    /// stage is censored at that time. A client without operations was done when the others began.
    fn end_stage(&mut self, outcome: Outcome) {
        let Some(begin) = self.stage_begin.take() else { return };
        let (start, end) = match self.stage_operations {
            0 => (begin, begin),
            _ => (self.stage_first_start, self.stage_last_end),
        };
        let attempt = self.next_attempt();
        let sample = Sample::new(attempt, Operation::Stage, begin, start, end.since(start))
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
        let mut duration = done.end.since(done.start);
        let outcome = if !done.completion.is_ok() {
            match outcome_of_failure(done.completion.code) {
                // It had not ended at its deadline; how long it took to end it says nothing.
                Outcome::Timeout => {
                    duration = duration.min(self.options.deadline);
                    Outcome::Timeout
                }
                outcome => outcome,
            }
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
        if self.stage_operations == 0 {
            self.stage_first_start = done.start;
        }
        self.stage_operations += 1;
        self.stage_last_end = done.end;
        self.client.completed(request, done);
    }

    #[cold]
    fn record_message(&mut self, attempt: AttemptId, text: String) {
        self.recorder.record_detail(&Detail { attempt, kind: DetailKind::Message, text });
    }
}

/// A failure, unless whoever executed the request put an end to it.
#[cold]
fn outcome_of_failure(code: FailureCode) -> Outcome {
    match code {
        FailureCode::DEADLINE => Outcome::Timeout,
        FailureCode::CUT | FailureCode::TIME_UP => Outcome::Interrupted,
        _ => Outcome::Error,
    }
}

/// How long a pausing client sleeps before it looks whether it is to stop.
const PAUSE_SLICE: Nanoseconds = Nanoseconds::from_milliseconds(50);
/// How often a client without room looks again.
const ROOM_POLL: Nanoseconds = Nanoseconds(200_000);
/// How long a thread that sleeps in a meeting needs to notice that it is over: to be woken takes some 50 µs on an idle machine.
const NOTICE_BLOCKING: Nanoseconds = Nanoseconds(100_000);
/// As much for a task, which looks every millisecond, by a timer that counts in milliseconds.
const NOTICE_ASYNC: Nanoseconds = Nanoseconds::from_milliseconds(3);

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
        (None, Some(Beginning { moment, waiting })) => {
            match waiting {
                Waiting::Actively => clock.sleep_until(moment),
                Waiting::Asleep => clock.rest_until(moment),
            }
            moment
        }
        (intended, _) => {
            let moment = intended.unwrap_or_default();
            pause_until(client, coordinator, clock, moment);
            moment
        }
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

/// As [`wait_for_room`].
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
