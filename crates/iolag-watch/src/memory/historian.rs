//! The historian: now and then a child that writes what is spooled into the history, so that a history that hangs, is locked or
//! full never holds up a probe.
//!
//! One child at a time. The first one, if the history did not answer before the watch began, makes the history and asks it what a watch
//! has to know. The others write: each gets the oldest records and leaves them in the spool until it has said that the history has them; what it
//! could not write is tried again, later and later. One that cannot be ended is waited for: it may hold the history's lock.

use std::collections::BTreeSet;

use iolag_keeper::Awaited;
use iolag_model::{Configuration, HistoryRecord, MonotonicTime, Nanoseconds, Outage};
use serde::{Deserialize, Serialize};

use crate::Spool;
use crate::worker::{Worker, WorkerState};

/// Records for one child.
const BATCH: usize = 4096;
/// After this long without a round's end, records are written all the same.
const PATIENCE: Nanoseconds = Nanoseconds::from_seconds(10);
/// Between the starts of two children.
const INTERVAL: Nanoseconds = Nanoseconds::from_seconds(1);
/// Longest time between two attempts.
const RETRY_MAX: Nanoseconds = Nanoseconds::from_seconds(300);

/// What the history knows that a watch has to know.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Recollection {
    /// The configuration that holds on each target of this host.
    pub configurations: Vec<Configuration>,
    /// Outages of this host that it does not know to be over.
    pub open_outages: Vec<Outage>,
    /// The names of this host's targets that it has samples or renames of.
    pub names: BTreeSet<String>,
    /// Those that have become others.
    pub former_names: BTreeSet<String>,
}

/// Whether the history has been asked for its [`Recollection`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recall {
    /// It has to be asked as soon as it answers; nothing is written before.
    Due,
    /// The same, once this child of ours is gone, which has asked and waits in the kernel: others would only wait beside it.
    DueAfter(u32),
    /// It has.
    Done,
}

/// Writes the history by children.
#[derive(Debug)]
pub(crate) struct Historian {
    deadline: Nanoseconds,
    /// Whether the child under way, or else the next one, is to recall.
    recall: Recall,
    worker: Option<Worker>,
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
/// Makes the history if it is missing and asks it what a watch has to know, in a child.
pub(crate) type Recalling<'a> = dyn Fn() -> Result<Recollection, String> + 'a;

impl Historian {
    /// A child gets `deadline`.
    pub const fn new(deadline: Nanoseconds, recall: Recall) -> Self {
        Self {
            deadline,
            recall,
            worker: None,
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

    /// Whether the history has been asked what it knows.
    pub const fn recall(&self) -> Recall {
        self.recall
    }

    /// Takes a child's answer and starts the next child when it is time. Says what the history recalled, once.
    pub fn look(
        &mut self,
        spool: &mut Spool,
        recalling: &Recalling<'_>,
        remember: &Remember<'_>,
        now: MonotonicTime,
    ) -> Option<Recollection> {
        let recollection = self.hear(spool, now);
        match self.recall {
            Recall::Done => self.write(spool, remember, now),
            Recall::DueAfter(process) if !is_gone(process) => {
                self.not_before = now.after(INTERVAL);
                self.trouble = Some(format!("it has not answered process {process}, which cannot be ended"));
            }
            _ if self.worker.is_none() && now >= self.not_before => {
                self.recall = Recall::Due;
                self.start_recalling(recalling, now);
            }
            _ => {}
        }
        recollection
    }

    fn write(&mut self, spool: &mut Spool, remember: &Remember<'_>, now: MonotonicTime) {
        if self.worker.is_some() || spool.pending().is_empty() {
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
        if let Some(worker) = &self.worker {
            return worker.due();
        }
        if self.recall != Recall::Done {
            return Some(self.not_before);
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
        self.worker.iter().flat_map(Worker::awaited)
    }

    /// The child under way.
    pub fn process(&self) -> Option<u32> {
        self.worker.as_ref().map(Worker::process)
    }

    /// Whether a child is under way whose end has to be looked for.
    pub fn has_to_be_looked_at(&self) -> bool {
        self.worker.as_ref().is_some_and(|worker| !worker.has_descriptor())
    }

    /// Whether everything is written, or the last attempt has failed: nothing more is to be expected soon.
    pub fn has_finished(&self, spool: &Spool) -> bool {
        let is_hopeless = self.failures > 0 || matches!(self.recall, Recall::DueAfter(_));
        self.worker.is_none() && (spool.pending().is_empty() || is_hopeless)
    }

    /// The watch ends: the next attempt is made at once, whatever went before.
    pub const fn hurry(&mut self) {
        self.is_nudged = true;
        self.not_before = MonotonicTime(0);
        self.failures = 0;
    }

    /// The watch ends and waits no longer.
    pub fn leave(&mut self) {
        if let Some(worker) = &mut self.worker {
            worker.kill();
        }
    }

    fn hear(&mut self, spool: &mut Spool, now: MonotonicTime) -> Option<Recollection> {
        let worker = self.worker.as_mut()?;
        match worker.look(now) {
            WorkerState::UnderWay => {}
            WorkerState::Overdue => {
                self.trouble = Some(format!("the history has not answered for {}", self.deadline));
            }
            WorkerState::Done(answer) => {
                self.worker = None;
                self.failures = 0;
                self.trouble = None;
                if std::mem::replace(&mut self.recall, Recall::Done) == Recall::Due {
                    self.is_nudged = true;
                    self.not_before = now;
                    // More than a child may say is not understood; then nothing is recalled.
                    return Some(serde_json::from_slice(&answer).unwrap_or_default());
                }
                spool.remove_first(self.handed_over);
            }
            WorkerState::Failed(words) => {
                self.worker = None;
                self.failed(&String::from_utf8_lossy(&words), now);
            }
        }
        None
    }

    fn start_recalling(&mut self, recalling: &Recalling<'_>, now: MonotonicTime) {
        let body = || {
            let recollection = recalling()?;
            serde_json::to_vec(&recollection).map_err(|error| error.to_string())
        };
        self.start_child(body, now);
    }

    fn start_child(&mut self, body: impl FnOnce() -> Result<Vec<u8>, String>, now: MonotonicTime) -> bool {
        let named = || {
            // Only for who looks at the process table.
            let _ = rustix::thread::set_name(c"iolag-history");
            body()
        };
        match Worker::start("historian", now.after(self.deadline), named) {
            Ok(worker) => self.worker = Some(worker),
            Err(error) => self.failed(&error.to_string(), now),
        }
        self.worker.is_some()
    }

    fn start(&mut self, spool: &mut Spool, remember: &Remember<'_>, now: MonotonicTime) {
        let has_more = spool.pending().len() > BATCH;
        let records = spool.hand_over(BATCH);
        self.handed_over = records.len();
        self.not_before = if has_more { now } else { now.after(INTERVAL) };
        self.waiting_since = None;
        if self.start_child(|| remember(records).map(|()| Vec::new()), now) {
            self.is_nudged = has_more;
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

/// Whether this child of ours has ended.
fn is_gone(process: u32) -> bool {
    use rustix::process::{Pid, WaitOptions, waitpid};
    let child = i32::try_from(process).ok().and_then(Pid::from_raw);
    // Somebody else may have taken note of its end.
    child.is_none_or(|child| !matches!(waitpid(Some(child), WaitOptions::NOHANG), Ok(None)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Backing, RuntimeDirectory};
    use iolag_keeper::{Child, Orphanage, wait_for_any};
    use iolag_model::{Clock, MonotonicClock};

    #[test]
    fn no_other_child_asks_while_one_waits_in_the_kernel() {
        let place = tempfile::tempdir().unwrap();
        let directory = RuntimeDirectory::open_on(&place.path().join("watch"), Backing::Anything).unwrap();
        let (mut spool, _) = Spool::open(&directory).unwrap();
        let stuck = Child::fork("stuck", Orphanage::Die, || {
            std::thread::sleep(std::time::Duration::from_secs(600));
            0
        })
        .unwrap();
        let mut historian = Historian::new(Nanoseconds::from_seconds(60), Recall::DueAfter(stuck.id()));
        let recall = || Ok(Recollection::default());
        let mut look = |historian: &mut Historian| {
            historian.look(&mut spool, &recall, &|_| Ok(()), MonotonicClock.now())
        };
        assert_eq!(look(&mut historian), None);
        assert_eq!(historian.awaited().count(), 0, "nobody was sent");
        assert!(historian.trouble().unwrap().contains("cannot be ended"));
        stuck.signal(rustix::process::Signal::KILL);
        historian.hurry();
        let begin = MonotonicClock.now();
        while look(&mut historian).is_none() {
            assert!(MonotonicClock.now().since(begin) < Nanoseconds::from_seconds(60), "it is never asked");
            let awaited: Vec<_> = historian.awaited().collect();
            wait_for_any(&awaited, Some(Nanoseconds::from_milliseconds(10)));
            historian.not_before = MonotonicTime(0);
        }
        assert_eq!((historian.recall(), historian.trouble()), (Recall::Done, None));
    }
}
