//! The one loop: ask the client, pace, execute, record. Here is all of it that does not wait; how a thread waits is in [`super::blocking`],
//! how a task of a runtime does in [`super::asynchronous`].
//!
//! Between the two readings of the clock stand the operation and one store into the client's in-flight slot. Everything
//! else (names, buffers, random numbers, decisions, room for the sample) is made before the first reading, recording
//! happens after the second.
//!
//! Limits: a duration includes one clock reading (about 20 ns) and the store. The thread may be descheduled inside the
//! interval; such a delay is part of what a user would feel on this machine, and is not subtracted.

use iolag_backend::{MARKS_MAX, Mark, Request};
use iolag_model::{
    Activity, Arrival, AttemptId, ClientId, Clock, Coordinator, Deadlines, Detail, DetailKind, FailureCode,
    Level, Meeting, MonotonicTime, Nanoseconds, OnError, Operation, Outcome, Recorder, Sample, StageIndex,
    Waiting,
};

use super::client::{Client, CountsFrom, Done, Note, Step};

/// Who a loop drives, and when an operation counts as late.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DriveOptions {
    /// The client's number within the run.
    pub client: ClientId,
    /// The client's place among all that the coordinator knows, whomever it meets; load clients have the first, by their ranks.
    pub rank: u32,
    /// After this long a success counts as late.
    pub deadlines: Deadlines,
}

/// Why a loop ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DriveEnd {
    /// The client had nothing left to do.
    Finished,
    /// It was told to stop.
    Stopped,
    /// One of its requests failed, which ended the run.
    AtError,
}

/// One client with its recorder: everything of the loop that does not wait.
///
/// Generic over the client: after every system call the processor has forgotten where indirect calls lead, so each costs
/// tens of nanoseconds per operation.
pub struct ClientLoop<R, K> {
    client: K,
    pub(super) recorder: R,
    pub(super) options: DriveOptions,
    sequence: u64,
    meetings: u32,
    pub(super) stage: StageIndex,
    /// When the clients were to begin the stage; `None` outside of stages.
    stage_begin: Option<MonotonicTime>,
    /// Of the client's operations in the stage: their number, the first start, the last end.
    stage_operations: u64,
    pub(super) stage_first_start: MonotonicTime,
    stage_last_end: MonotonicTime,
    on_error: OnError,
    /// Whether a request failed that ends the run.
    is_at_error: bool,
    /// When all begin, from a meeting to the first operation after it.
    pub(super) beginning: Option<Beginning>,
}

/// The moment at which all clients begin, and how they wait for it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Beginning {
    pub(super) moment: MonotonicTime,
    pub(super) waiting: Waiting,
}

/// What a driver has to do before it may go on.
pub(super) enum Action {
    Execute { request: Request, intended: Option<MonotonicTime> },
    Meet { number: u32, value: u64, stage: Option<StageIndex> },
    Pause { until: MonotonicTime },
    Note(Note),
    Leave(DriveEnd),
}

/// What comes next: a step of the client's, or the order to stop.
pub(super) enum NextStep {
    Of(Step),
    Stop,
}

impl NextStep {
    /// Whether it is one more request.
    pub(super) const fn is_request(&self) -> bool {
        matches!(self, Self::Of(Step::Execute { .. }))
    }
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
            on_error: OnError::Continue,
            is_at_error: false,
            beginning: None,
        }
    }

    /// The same of which a failed request does this to the run.
    #[must_use]
    pub fn at_error(self, on_error: OnError) -> Self {
        Self { on_error, ..self }
    }

    #[inline]
    pub(super) fn decide(&mut self, coordinator: &impl Coordinator, now: MonotonicTime) -> Action {
        loop {
            let step = self.next_step(coordinator, now);
            if let Some(action) = self.act(step) {
                return action;
            }
        }
    }

    /// What the client wants next, unless it is told to stop.
    #[inline]
    pub(super) fn next_step(&mut self, coordinator: &impl Coordinator, now: MonotonicTime) -> NextStep {
        if self.is_at_error {
            coordinator.stop_all();
        }
        if coordinator.is_stopped(self.options.rank) {
            NextStep::Stop
        } else {
            NextStep::Of(self.client.next(now))
        }
    }

    /// What its driver has to do for that; nothing, if it is only recorded.
    #[inline]
    pub(super) fn act(&mut self, step: NextStep) -> Option<Action> {
        let NextStep::Of(step) = step else {
            self.record_last_notes();
            self.end_stage(Outcome::Interrupted);
            let end = if self.is_at_error { DriveEnd::AtError } else { DriveEnd::Stopped };
            return Some(Action::Leave(end));
        };
        Some(match step {
            Step::Execute { request, intended } => Action::Execute { request, intended },
            Step::Begin { stage, value } => self.meet(value, Some(stage)),
            Step::Enter { stage } => {
                self.stage = stage;
                return None;
            }
            Step::Agree { value } => self.meet(value, None),
            Step::Pause { until } => Action::Pause { until },
            Step::Note(note) => Action::Note(note),
            Step::End => {
                self.end_stage(Outcome::Ok);
                return None;
            }
            Step::TimeOut { limit } => {
                self.cut_stage(Outcome::Timeout, limit);
                return None;
            }
            Step::Finished => {
                self.end_stage(Outcome::Ok);
                Action::Leave(DriveEnd::Finished)
            }
        })
    }

    /// Who is driven.
    pub const fn options(&self) -> &DriveOptions {
        &self.options
    }

    /// The session is being opened: a first contact that hangs is an operation in flight like any other.
    pub(super) fn begin_opening(&mut self, start: MonotonicTime, activity: Activity) {
        self.recorder.set_activity(activity);
        let attempt = AttemptId::new(self.options.client, self.sequence);
        self.recorder.announce(attempt, Operation::OpenSession, self.stage, start);
        self.recorder.begin(start);
    }

    /// The session is open, or cannot be opened.
    pub(super) fn end_opening(
        &mut self,
        start: MonotonicTime,
        end: MonotonicTime,
        code: FailureCode,
    ) -> AttemptId {
        let attempt = self.next_attempt();
        let (outcome, duration) = self.judged(Operation::OpenSession, end.since(start), code);
        let sample = Sample::new(attempt, Operation::OpenSession, start, start, duration)
            .with_outcome(outcome, code)
            .in_stage(self.stage);
        self.recorder.record(sample);
        attempt
    }

    const fn meet(&mut self, value: u64, stage: Option<StageIndex>) -> Action {
        self.meetings += 1;
        Action::Meet { number: self.meetings, value, stage }
    }

    pub(super) fn arrive(
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
    pub(super) fn met(&mut self, meeting: &Meeting, stage: Option<StageIndex>) {
        if let Some(stage) = stage {
            self.stage = stage;
            self.stage_begin = Some(meeting.begin);
            self.stage_operations = 0;
        } else if self.stage_operations == 0 {
            // Nothing of it was done before they met once more.
            self.stage_begin = self.stage_begin.map(|_| meeting.begin);
        }
        self.beginning = Some(Beginning { moment: meeting.begin, waiting: meeting.waiting });
        self.client.met(meeting, meeting.begin);
    }

    pub(super) fn starts(&mut self) {
        self.client.starts();
    }

    pub(super) fn record_note(&mut self, note: &Note) {
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

    /// Records how long the stage took this client, from the first start, or when all began, to the last end of its operations; an interrupted
    /// stage is censored at that time. A client without operations was done when the others began.
    fn end_stage(&mut self, outcome: Outcome) {
        self.cut_stage(outcome, Nanoseconds(u64::MAX));
    }

    /// The same of a stage that is known to have taken at least `limit`, and no more of it.
    fn cut_stage(&mut self, outcome: Outcome, limit: Nanoseconds) {
        let Some(begin) = self.stage_begin.take() else { return };
        let first = match self.client.stage_counts_from() {
            CountsFrom::FirstOperation => self.stage_first_start,
            CountsFrom::Meeting(delay) => begin.after(delay).min(self.stage_first_start),
        };
        let (start, end) = match self.stage_operations {
            0 => (begin, begin),
            _ => (first, self.stage_last_end),
        };
        let attempt = self.next_attempt();
        let sample = Sample::new(attempt, Operation::Stage, begin, start, end.since(start).min(limit))
            .with_outcome(outcome, FailureCode::NONE)
            .with_bytes(self.stage_operations)
            .in_stage(self.stage);
        self.recorder.record(sample);
    }

    #[inline]
    pub(super) fn next_attempt(&mut self) -> AttemptId {
        let attempt = AttemptId::new(self.options.client, self.sequence);
        self.sequence += 1;
        attempt
    }

    #[cold]
    pub(super) fn record_wait(&mut self, start: MonotonicTime, end: MonotonicTime) {
        let attempt = self.next_attempt();
        let sample =
            Sample::new(attempt, Operation::RingWait, start, start, end.since(start)).in_stage(self.stage);
        self.recorder.record(sample);
    }

    #[inline]
    pub(super) fn record(
        &mut self,
        attempt: AttemptId,
        intended: MonotonicTime,
        done: &Done,
        request: &Request,
    ) {
        let taken = done.end.since(done.start);
        let (outcome, duration) = match self.judged(request.operation, taken, done.completion.code) {
            (Outcome::Error, duration) if self.client.asks_again(request, done) => {
                (Outcome::Retried, duration)
            }
            (outcome @ (Outcome::Error | Outcome::Timeout), duration) => {
                self.is_at_error |= !self.on_error.is_continue();
                (outcome, duration)
            }
            judged => judged,
        };
        let sample = Sample::new(attempt, request.operation, intended, done.start, duration)
            .with_outcome(outcome, done.completion.code)
            .with_bytes(done.completion.bytes)
            .with_tag(done.completion.tag)
            .in_stage(self.stage);
        self.recorder.record(sample);
        // What iolag itself does before a stage is none of it; that tasks wait for each other is.
        if request.operation.level() != Level::Harness || request.operation == Operation::Edge {
            if self.stage_operations == 0 {
                self.stage_first_start = done.start;
            }
            self.stage_operations += 1;
            self.stage_last_end = done.end;
        }
        self.client.completed(request, done);
    }

    /// What an operation that took so long, and came back with this, is recorded as.
    #[inline]
    fn judged(&self, operation: Operation, taken: Nanoseconds, code: FailureCode) -> (Outcome, Nanoseconds) {
        let deadlines = &self.options.deadlines;
        if code != FailureCode::NONE {
            let outcome = outcome_of_failure(code);
            // What had not ended at its deadline took at least that; how long it took to end it says nothing.
            let is_cut = outcome == Outcome::Timeout;
            (outcome, if is_cut { taken.min(deadlines.of(operation)) } else { taken })
        } else if deadlines.has_passed(operation, taken) {
            (Outcome::Late, taken)
        } else {
            (Outcome::Ok, taken)
        }
    }

    /// The parts of the attempt that was just recorded: they have the numbers after it. Places for them are in the recorder's reserve.
    #[inline]
    pub(super) fn record_marks(&mut self, marks: &[Mark], tag: u16) {
        const { assert!(MARKS_MAX < R::RESERVE) };
        for mark in marks.iter().take(MARKS_MAX) {
            let attempt = self.next_attempt();
            let sample = Sample::new(attempt, mark.operation, mark.start, mark.start, mark.duration)
                .with_tag(tag)
                .in_stage(self.stage);
            self.recorder.record(sample);
        }
    }

    /// For a thread that other clients share: without room the text is lost, and counted.
    #[cold]
    pub(super) fn offer_message(&mut self, attempt: AttemptId, text: String) {
        self.recorder.offer_detail(&Detail { attempt, kind: DetailKind::Message, text });
    }

    #[cold]
    pub(super) fn record_message(&mut self, attempt: AttemptId, text: String) {
        self.client.explained(&text);
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
pub(super) const PAUSE_SLICE: Nanoseconds = Nanoseconds::from_milliseconds(50);
/// How often a client without room looks again.
pub(super) const ROOM_POLL: Nanoseconds = Nanoseconds(200_000);
