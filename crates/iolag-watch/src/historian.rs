//! The historian: now and then a child that writes what is spooled into the history, so that a history that hangs, is locked or
//! full never holds up a probe.
//!
//! One child at a time. It gets the oldest records and leaves them in the spool until it has said that the history has them; what it
//! could not write is tried again, later and later. One that cannot be ended is waited for: it may hold the history's lock.

use iolag_keeper::Awaited;
use iolag_model::{HistoryRecord, MonotonicTime, Nanoseconds};

use crate::Spool;
use crate::errand::{Errand, ErrandState};

/// Records for one child.
const BATCH: usize = 4096;
/// After this long without a round's end, records are written all the same.
const PATIENCE: Nanoseconds = Nanoseconds::from_seconds(10);
/// Between the starts of two children.
const INTERVAL: Nanoseconds = Nanoseconds::from_seconds(1);
/// Longest time between two attempts.
const RETRY_MAX: Nanoseconds = Nanoseconds::from_seconds(300);

/// Writes the history by children.
#[derive(Debug)]
pub(crate) struct Historian {
    deadline: Nanoseconds,
    errand: Option<Errand>,
    /// How many records it was given.
    handed_over: usize,
    /// Since when records wait for a child.
    waiting_since: Option<MonotonicTime>,
    is_nudged: bool,
    not_before: MonotonicTime,
    failures: u32,
    trouble: Option<String>,
}

/// Writes records into the history, in a child.
pub(crate) type Remember<'a> = dyn Fn(&[HistoryRecord]) -> Result<(), String> + 'a;

impl Historian {
    /// A child gets `deadline`.
    pub const fn new(deadline: Nanoseconds) -> Self {
        Self {
            deadline,
            errand: None,
            handed_over: 0,
            waiting_since: None,
            is_nudged: false,
            not_before: MonotonicTime(0),
            failures: 0,
            trouble: None,
        }
    }

    /// A round has ended: what waits is to be written.
    pub const fn nudge(&mut self) {
        self.is_nudged = true;
    }

    /// Why the history could not be written the last time.
    pub fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }

    /// Takes a child's answer and starts the next child when it is time.
    pub fn look(&mut self, spool: &mut Spool, remember: &Remember<'_>, now: MonotonicTime) {
        self.hear(spool, now);
        if self.errand.is_some() || spool.pending().is_empty() {
            self.waiting_since = None;
            return;
        }
        let since = *self.waiting_since.get_or_insert(now);
        let is_time = self.is_nudged || spool.pending().len() >= BATCH || now >= since.after(PATIENCE);
        if is_time && now >= self.not_before {
            self.start(spool, remember, now);
        }
    }

    /// When to look although nothing has come.
    pub fn due(&self, spool: &Spool) -> Option<MonotonicTime> {
        if let Some(errand) = &self.errand {
            return errand.due();
        }
        if spool.pending().is_empty() {
            return None;
        }
        let is_time = self.is_nudged || spool.pending().len() >= BATCH;
        let patient_until = self.waiting_since.map_or(MonotonicTime(0), |since| since.after(PATIENCE));
        Some(if is_time { self.not_before } else { patient_until.max(self.not_before) })
    }

    /// What to wait for.
    pub fn awaited(&self) -> impl Iterator<Item = Awaited<'_>> {
        self.errand.iter().flat_map(Errand::awaited)
    }

    /// Whether a child is under way whose end has to be looked for.
    pub fn has_to_be_looked_at(&self) -> bool {
        self.errand.as_ref().is_some_and(|errand| !errand.has_descriptor())
    }

    /// Whether everything is written, or the last attempt has failed: nothing more is to be expected soon.
    pub fn has_finished(&self, spool: &Spool) -> bool {
        self.errand.is_none() && (spool.pending().is_empty() || self.failures > 0)
    }

    /// The watch ends: the next attempt is made at once, whatever went before.
    pub const fn hurry(&mut self) {
        self.is_nudged = true;
        self.not_before = MonotonicTime(0);
        self.failures = 0;
    }

    /// The watch ends and waits no longer.
    pub fn leave(&mut self) {
        if let Some(errand) = &mut self.errand {
            errand.kill();
        }
    }

    fn hear(&mut self, spool: &mut Spool, now: MonotonicTime) {
        let Some(errand) = &mut self.errand else { return };
        match errand.look(now) {
            ErrandState::UnderWay => {}
            ErrandState::Overdue => {
                self.trouble = Some(format!("the history has not answered for {}", self.deadline));
            }
            ErrandState::Done(_) => {
                spool.remove_first(self.handed_over);
                self.errand = None;
                self.failures = 0;
                self.trouble = None;
            }
            ErrandState::Failed(words) => {
                self.errand = None;
                self.failed(&String::from_utf8_lossy(&words), now);
            }
        }
    }

    fn start(&mut self, spool: &mut Spool, remember: &Remember<'_>, now: MonotonicTime) {
        let has_more = spool.pending().len() > BATCH;
        let records = spool.hand_over(BATCH);
        self.handed_over = records.len();
        self.not_before = if has_more { now } else { now.after(INTERVAL) };
        self.waiting_since = None;
        let body = || {
            // Only for who looks at the process table.
            let _ = rustix::thread::set_name(c"iolag-history");
            remember(records).map(|()| Vec::new())
        };
        match Errand::start("historian", now.after(self.deadline), body) {
            Ok(errand) => {
                self.errand = Some(errand);
                self.is_nudged = has_more;
            }
            Err(error) => self.failed(&error.to_string(), now),
        }
    }

    fn failed(&mut self, words: &str, now: MonotonicTime) {
        self.failures = self.failures.saturating_add(1);
        let pause = Nanoseconds::from_seconds(1 << self.failures.min(9)).min(RETRY_MAX);
        self.not_before = now.after(pause);
        self.is_nudged = true;
        self.trouble = Some(match words {
            // It was ended at its deadline, and that has been said.
            "" if self.trouble.is_some() => return,
            "" => "the process that writes the history ended without a word".to_owned(),
            words => words.to_owned(),
        });
    }
}
