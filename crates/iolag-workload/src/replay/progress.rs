//! How far the tasks of a copy are, for those that wait for them.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use iolag_trace::After;

/// Who waits looks again after this long, told or not.
const SLICE: Duration = Duration::from_millis(50);

/// Why a copy does nothing more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Over {
    /// It was ended after as long as it may take, or has come to its end.
    TimeUp = 1,
    /// A task does not come back, or could not begin.
    Lost = 2,
}

/// How far the tasks of a copy are.
#[derive(Debug)]
pub(super) struct Progress {
    /// By task: how many of its items are done.
    done: Box<[AtomicU32]>,
    /// Tasks that have begun and have not ended.
    running: AtomicU32,
    waiting: AtomicU32,
    /// Why nothing more is done, by its number; 0: it is.
    over: AtomicU32,
    lock: Mutex<()>,
    bell: Condvar,
}

impl Progress {
    pub(super) fn new(tasks: usize) -> Self {
        Self {
            done: (0..tasks).map(|_| AtomicU32::new(0)).collect(),
            running: AtomicU32::new(0),
            waiting: AtomicU32::new(0),
            over: AtomicU32::new(0),
            lock: Mutex::new(()),
            bell: Condvar::new(),
        }
    }

    /// Whether all of this is done.
    pub(super) fn is_done(&self, after: &[After]) -> bool {
        after.iter().all(|after| {
            self.done.get(after.task as usize).is_none_or(|done| done.load(Ordering::SeqCst) >= after.items)
        })
    }

    /// Whether the copy has one task alone.
    pub(super) fn is_of_one(&self) -> bool {
        self.done.len() == 1
    }

    /// So many items of a task are done.
    #[inline]
    pub(super) fn note(&self, task: u32, items: u32) {
        // Nobody waits for who is the only one, and to be seen by others takes time between calls.
        if let [only] = &*self.done {
            return only.store(items, Ordering::Relaxed);
        }
        if let Some(done) = self.done.get(task as usize) {
            done.store(items, Ordering::SeqCst);
        }
        self.ring();
    }

    /// A task begins; told by who begins it.
    pub(super) fn begins(&self) {
        self.running.fetch_add(1, Ordering::SeqCst);
    }

    /// A task has ended, however: nobody waits for what it has not done.
    pub(super) fn ended(&self, task: u32) {
        self.running.fetch_sub(1, Ordering::SeqCst);
        self.note(task, u32::MAX);
    }

    /// Whether no other task runs any more.
    pub(super) fn is_alone(&self) -> bool {
        self.running.load(Ordering::SeqCst) <= 1
    }

    /// Nothing more is done. What came first counts.
    pub(super) fn end(&self, why: Over) {
        let _ = self.over.compare_exchange(0, why as u32, Ordering::SeqCst, Ordering::SeqCst);
        self.ring();
    }

    /// Why nothing more is done, if that is so.
    pub(super) fn over(&self) -> Option<Over> {
        match self.over.load(Ordering::Acquire) {
            0 => None,
            lost if lost == Over::Lost as u32 => Some(Over::Lost),
            _ => Some(Over::TimeUp),
        }
    }

    fn ring(&self) {
        if self.waiting.load(Ordering::SeqCst) > 0 {
            // Who waits has looked under the lock, or has not looked yet.
            drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner));
            self.bell.notify_all();
        }
    }

    /// Waits until that is so, or until nobody is to wait any more.
    pub(super) fn wait_until(&self, is_so: impl Fn(&Self) -> bool, is_stopped: impl Fn() -> bool) {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        // Asked without the lock: who finds out that a task is lost ends the others.
        while !is_stopped() {
            let guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
            if is_so(self) || self.over().is_some() {
                break;
            }
            drop(self.bell.wait_timeout(guard, SLICE));
        }
        self.waiting.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    #[test]
    fn who_waits_goes_on_when_it_is_done_or_over() {
        let progress = Progress::new(2);
        let after = [After { task: 1, items: 3 }];
        let passed = AtomicU32::new(0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                progress.wait_until(|progress| progress.is_done(&after), || false);
                passed.fetch_add(1, Ordering::SeqCst);
            });
            progress.note(1, 2);
            assert!(!progress.is_done(&after));
            progress.note(1, 3);
        });
        assert_eq!(passed.load(Ordering::SeqCst), 1);
        progress.wait_until(|_| false, || true);
        // Who is asked whether it is stopped may end all.
        progress.wait_until(
            |_| false,
            || {
                progress.end(Over::TimeUp);
                false
            },
        );
        progress.end(Over::Lost);
        progress.wait_until(|_| false, || false);
        assert_eq!(progress.over(), Some(Over::TimeUp), "what came first counts");
    }

    #[test]
    fn what_a_task_that_has_ended_has_not_done_is_waited_for_by_nobody() {
        let progress = Progress::new(1);
        progress.begins();
        progress.begins();
        assert!(!progress.is_alone());
        progress.ended(0);
        assert!(progress.is_alone() && progress.is_done(&[After { task: 0, items: 9 }]));
    }
}
