//! What `iolag ping` does: an open schedule of probes, one at a time.
//!
//! ```text
//! due 0     due 1     due 2     due 3     due 4          start + k * interval, whatever happens
//! |probe 1| |probe 2 ................|    |probe 5|      probes are counted from 1
//!                     skipped   skipped                  due while another was in flight, and on record as such
//! ```
//! No coordinated omission: a probe that is due while another is in flight is not sent and recorded: it would have waited at least
//! until that ended, which is its lower bound. It counts as skipped, and as lost, if what was in its way passed the deadline; otherwise
//! only the interval was shorter than a probe, which loses nothing, and its outcome is interrupted for want of time. One that is due
//! while the file of the one before is being removed is recorded likewise, but without a bound: a probe removes nothing, so that says
//! nothing of how long it would have taken. One that is missed because this process itself was stopped, or got no processor for an
//! interval or longer, is recorded as interrupted: that says nothing of the target. In no case are probes made up for: after a gap the schedule goes on with the next moment that is due.
//!
//! Probe 1 is the first contact if that took longer than the deadline: then the schedule began with it.
//!
//! Limits: a probe starts when a sleeping thread was woken, some microseconds after it was due; the sample holds both moments.

use std::collections::VecDeque;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Receiver;

use iolag_backend::{ObjectKey, Request};
use iolag_model::{
    AttemptId, FailureCode, Meeting, MonotonicTime, Nanoseconds, Operation, Outcome, Sample, StageIndex,
};

use crate::{Client, Done, Note, Part, Step};

/// The number of the attempt of a probe, counted from 0, that was not sent. Client and keeper both may record it: by this
/// number it counts once.
pub const fn unsent_number(probe: u64) -> NonZeroU64 {
    NonZeroU64::MIN.saturating_add(AttemptId::UNSENT + probe)
}

/// When probes are due, and when one is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PingSchedule {
    /// From one to the next.
    pub every: Nanoseconds,
    /// How many; without, until the client is stopped.
    pub count: Option<u64>,
    /// After this long the first contact is lost.
    pub deadline: Nanoseconds,
}

impl PingSchedule {
    /// When the probe with this number, from 0, is due.
    pub const fn due(&self, start: MonotonicTime, probe: u64) -> MonotonicTime {
        MonotonicTime(start.0.saturating_add(self.every.0.saturating_mul(probe)))
    }

    /// Which probe, from 0, was due at this moment.
    pub const fn number_of(&self, start: MonotonicTime, due: MonotonicTime) -> u64 {
        (due.since(start).0 + self.every.0 / 2) / self.every.0
    }
}

/// Since when the first contact has been made: known to whoever makes it, which is before there is a client.
#[derive(Debug, Clone, Default)]
pub struct Contact(Arc<AtomicU64>);

/// So far everything was answered in time, and nothing is being asked.
const ANSWERED: u64 = u64::MAX;

impl Contact {
    /// One that began at `start`.
    pub fn begun(start: MonotonicTime) -> Self {
        Self(Arc::new(AtomicU64::new(start.0)))
    }

    /// The target has answered. If that was in time, what follows counts from [`Contact::goes_on`].
    pub fn answered(&self, now: MonotonicTime, deadline: Nanoseconds) {
        if now.since(self.start()) <= deadline {
            self.0.store(ANSWERED, Ordering::Relaxed);
        }
    }

    /// The target is asked for more, which belongs to the first contact too.
    pub fn goes_on(&self, now: MonotonicTime) {
        let _ = self.0.compare_exchange(ANSWERED, now.0, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Since when, as far as that was not answered in time.
    pub fn start(&self) -> MonotonicTime {
        MonotonicTime(self.0.load(Ordering::Relaxed))
    }
}

/// The one client of a ping.
#[derive(Debug)]
pub struct PingClient {
    schedule: PingSchedule,
    contact: Contact,
    parts: Receiver<Part>,
    start: MonotonicTime,
    /// The probe that is due next, from 0.
    next: u64,
    /// What was due when.
    due: MonotonicTime,
    notes: VecDeque<Note>,
    skipping: Option<Skipping>,
    removal: Option<Request>,
    state: State,
}

/// Probes that are to be recorded as not sent: a hang of an hour makes many, so they are not made all at once.
#[derive(Debug, Clone, Copy)]
struct Skipping {
    /// Up to this one, from 0, itself not among them.
    until: u64,
    /// What was in the way; without, that was this process itself.
    obstacle: Option<Obstacle>,
    /// What was in the way, from 1; told once.
    blocker: Option<NonZeroU64>,
}

/// What was in the way of a probe that was due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Obstacle {
    /// Since when it no longer is.
    pub free: MonotonicTime,
    /// How long it took.
    pub pace: Pace,
    /// What it did.
    pub doing: Doing,
}

/// How long something was in the way of probes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// It passed the deadline.
    Lost,
    /// It took longer than the interval, and no longer than it may.
    Slow,
}

/// What was in the way of probes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doing {
    /// A probe, or the first contact: a further one would have waited as long.
    Probing,
    /// Removing the file of a probe, which is no part of one.
    Removing,
}

impl Doing {
    /// What an operation of the client is.
    pub const fn of(operation: Operation) -> Self {
        match operation {
            Operation::Delete => Self::Removing,
            _ => Self::Probing,
        }
    }
}

impl Obstacle {
    /// The probe that was due then and not sent because of it.
    pub fn unsent(self, due: MonotonicTime) -> Sample {
        let (outcome, code) = match (self.pace, self.doing) {
            (Pace::Lost, Doing::Probing) => (Outcome::Skipped, FailureCode::NONE),
            (Pace::Slow, Doing::Probing) => (Outcome::Interrupted, FailureCode::TIME_UP),
            (Pace::Lost, Doing::Removing) => (Outcome::Skipped, FailureCode::REMOVAL),
            (Pace::Slow, Doing::Removing) => (Outcome::Interrupted, FailureCode::REMOVAL),
        };
        let at_least = match self.doing {
            Doing::Probing => self.free.since(due),
            Doing::Removing => Nanoseconds::ZERO,
        };
        unsent(due, at_least).with_outcome(outcome, code)
    }
}

fn unsent(due: MonotonicTime, at_least: Nanoseconds) -> Sample {
    Sample::new(AttemptId(0), Operation::Probe, due, due, at_least)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Opening,
    Entering,
    Probing,
    Ending,
    Over,
}

impl PingClient {
    /// A client whose session sends what probes consist of through the other end of `parts`.
    pub const fn new(schedule: PingSchedule, contact: Contact, parts: Receiver<Part>) -> Self {
        Self {
            schedule,
            contact,
            parts,
            start: MonotonicTime(0),
            next: 0,
            due: MonotonicTime(0),
            notes: VecDeque::new(),
            skipping: None,
            removal: None,
            state: State::Opening,
        }
    }

    fn is_wanted(&self, probe: u64) -> bool {
        self.schedule.count.is_none_or(|count| probe < count)
    }

    fn next_due(&self) -> MonotonicTime {
        self.schedule.due(self.start, self.next)
    }

    fn probe(&mut self, now: MonotonicTime) -> Step {
        if let Some(request) = self.removal.take() {
            return Step::Execute { request, intended: None };
        }
        if !self.is_wanted(self.next) {
            self.state = State::Ending;
            return Step::End;
        }
        let due = self.next_due();
        if now < due {
            return Step::Pause { until: due };
        }
        let missed = now.since(due).0 / self.schedule.every.0;
        if missed > 0 {
            self.skip_until(self.next + missed, None);
            return self.note().map_or(Step::Pause { until: now }, Step::Note);
        }
        self.due = due;
        let key = ObjectKey { rank: 0, dataset: 0, index: self.next + 1 };
        self.next += 1;
        Step::Execute { request: Request::new(Operation::Probe, key, 0), intended: Some(due) }
    }

    /// What was due while the probe before, or the removal of its file, was in the way.
    fn skip_blocked(&mut self, obstacle: Obstacle) {
        let waited = obstacle.free.since(self.next_due()).0;
        if waited > 0 {
            self.skip_until(self.next + waited.div_ceil(self.schedule.every.0), Some(obstacle));
        }
    }

    fn skip_until(&mut self, until: u64, obstacle: Option<Obstacle>) {
        let until = self.schedule.count.map_or(until, |count| until.min(count));
        if until > self.next {
            let blocker = obstacle.and_then(|_| NonZeroU64::new(self.next));
            self.skipping = Some(Skipping { until, obstacle, blocker });
        }
    }

    fn note(&mut self) -> Option<Note> {
        if let Some(note) = self.notes.pop_front() {
            return Some(note);
        }
        let skipping = self.skipping.as_mut()?;
        let blocker = skipping.blocker.take();
        let (obstacle, until) = (skipping.obstacle, skipping.until);
        let (probe, due) = (self.next, self.schedule.due(self.start, self.next));
        self.next += 1;
        if self.next >= until {
            self.skipping = None;
        }
        let sample = match obstacle {
            Some(obstacle) => obstacle.unsent(due),
            // This process stood still.
            None => unsent(due, Nanoseconds::ZERO).with_outcome(Outcome::Interrupted, FailureCode::CUT),
        };
        Some(Note { sample, number: Some(unsent_number(probe)), blocker })
    }
}

impl Client for PingClient {
    fn next(&mut self, now: MonotonicTime) -> Step {
        match self.state {
            State::Opening => {
                self.state = State::Entering;
                Step::Begin { stage: StageIndex(0), value: 0 }
            }
            State::Probing => match self.note() {
                Some(note) => Step::Note(note),
                None => self.probe(now),
            },
            State::Ending => {
                self.state = State::Over;
                Step::Finished
            }
            // Asked without having met: then the run is over.
            State::Entering | State::Over => Step::Finished,
        }
    }

    fn completed(&mut self, request: &Request, done: &Done) {
        if request.operation == Operation::Probe {
            while let Ok(part) = self.parts.try_recv() {
                if part.operation == Operation::Create {
                    self.removal = Some(Request::new(Operation::Delete, request.key, 0));
                }
                let sample = part.sample(self.due);
                self.notes.push_back(Note { sample, number: None, blocker: None });
            }
        }
        let is_lost = done.end.since(done.start) > self.schedule.deadline
            || done.completion.code == FailureCode::DEADLINE;
        let pace = if is_lost { Pace::Lost } else { Pace::Slow };
        self.skip_blocked(Obstacle { free: done.end, pace, doing: Doing::of(request.operation) });
    }

    fn met(&mut self, _meeting: &Meeting, now: MonotonicTime) {
        self.state = State::Probing;
        let contact = self.contact.start();
        let waited = now.since(contact);
        if waited <= self.schedule.deadline {
            self.start = now;
            return;
        }
        // The first contact came too late to count as an answer: it was the first probe.
        self.start = contact;
        self.next = 1;
        let sample = Sample::new(AttemptId(0), Operation::Probe, contact, contact, waited)
            .with_outcome(Outcome::Late, FailureCode::NONE);
        self.notes.push_back(Note { sample, number: Some(unsent_number(0)), blocker: None });
        self.skip_blocked(Obstacle { free: now, pace: Pace::Lost, doing: Doing::Probing });
    }

    fn last_note(&mut self) -> Option<Note> {
        self.note()
    }
}
