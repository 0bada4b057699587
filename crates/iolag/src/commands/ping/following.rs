//! From samples in shared memory to probes that have ended: what a ping tells needs neither the writer nor the store.

use iolag_keeper::RingReader;
use iolag_model::{AttemptId, ClientId, FailureCode, Level, MonotonicTime, Operation, Outcome, Sample};
use iolag_workload::{PingSchedule, unsent_number};

/// Samples that are looked at in one go.
const AT_ONCE: usize = 4096;

/// What became of a probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Probed {
    /// It was sent, or was the first contact.
    Sent {
        /// Which, from 1.
        number: u64,
        /// What became of it.
        sample: Sample,
        /// What it consisted of, as far as that ended.
        parts: Vec<Sample>,
    },
    /// It was due and was not sent.
    Unsent {
        /// Which, from 1.
        number: u64,
        /// Why: skipped because of one that was lost, or interrupted.
        sample: Sample,
        /// Which one was in the way, itself or the removal of its file, if one was.
        blocker: Option<u64>,
    },
    /// So many samples were written over before anybody could look at them; the store has them.
    Unseen(u64),
}

/// The attempt of a probe, from 0, that was not sent as an operation.
pub fn unsent_attempt(probe: u64) -> AttemptId {
    AttemptId::new(ClientId(0), unsent_number(probe).get())
}

/// Looks on while the client records.
#[derive(Debug)]
pub struct Follower {
    schedule: PingSchedule,
    position: u64,
    start: Option<MonotonicTime>,
    /// Sent, and its parts may still come.
    open: Option<Probed>,
    /// The last one that was sent.
    last_sent: u64,
    /// How many are known to have been due.
    known: u64,
}

impl Follower {
    /// Nothing seen yet.
    pub const fn new(schedule: PingSchedule) -> Self {
        Self { schedule, position: 0, start: None, open: None, last_sent: 0, known: 0 }
    }

    /// When the first probe was due, once that is known.
    pub const fn start(&self) -> Option<MonotonicTime> {
        self.start
    }

    /// The schedule began then, unless it is known to have begun already.
    pub fn begin_at(&mut self, start: MonotonicTime) {
        self.start.get_or_insert(start);
    }

    /// How many probes are known to have been due: the next one has this number, from 0.
    pub const fn known(&self) -> u64 {
        self.known
    }

    /// The number, from 1, of the probe that was due then.
    pub fn number_of(&self, due: MonotonicTime) -> u64 {
        self.start.map_or(1, |start| self.schedule.number_of(start, due) + 1)
    }

    /// What has come since the last time. `is_settled` says that before this call the client had nothing more to record of what it
    /// had done.
    pub fn follow(&mut self, ring: &RingReader, is_settled: bool) -> Vec<Probed> {
        let mut probed = Vec::new();
        match ring.look_back(self.position, AT_ONCE) {
            Some(samples) => {
                self.position += samples.len() as u64;
                samples.into_iter().filter_map(|sample| sample.checked().ok()).for_each(|sample| {
                    self.take(sample, &mut probed);
                });
            }
            None => {
                let kept = ring.capacity() as u64 / 2;
                let next = ring.head().saturating_sub(kept);
                probed.extend(self.open.take());
                probed.push(Probed::Unseen(next - self.position));
                self.position = next;
            }
        }
        if is_settled && self.position == ring.head() {
            probed.extend(self.open.take());
        }
        probed
    }

    /// A probe of which the keeper knows, and no client has told.
    pub fn take(&mut self, sample: Sample, probed: &mut Vec<Probed>) {
        match sample.operation() {
            Operation::Probe => {
                probed.extend(self.open.take());
                self.begin_at(sample.intended);
                let number = self.number_of(sample.intended);
                self.known = self.known.max(number);
                if is_unsent(&sample) {
                    let is_blocked = sample.outcome() == Outcome::Skipped
                        || matches!(sample.code, FailureCode::TIME_UP | FailureCode::REMOVAL);
                    let blocker = is_blocked.then_some(self.last_sent);
                    probed.push(Probed::Unsent { number, sample, blocker });
                } else {
                    self.last_sent = number;
                    self.open = Some(Probed::Sent { number, sample, parts: Vec::new() });
                }
            }
            // Removing what a probe made is no part of it; iolag's own operations are none either.
            operation if operation == Operation::Delete || operation.level() == Level::Harness => {}
            _ => {
                if let Some(Probed::Sent { parts, .. }) = &mut self.open {
                    parts.push(sample);
                }
            }
        }
    }

    /// The last one that was sent: no more of its parts will come.
    pub fn settle(&mut self) -> Option<Probed> {
        self.open.take()
    }
}

/// Whether a probe was due and not sent.
fn is_unsent(sample: &Sample) -> bool {
    match sample.outcome() {
        Outcome::Skipped => true,
        Outcome::Interrupted => sample.attempt.is_unsent(),
        _ => false,
    }
}
