//! Where the tasks of a command that is traced wait, looked up at intervals. Only /proc is read, so this is for the keeper.
//!
//! A task that strace has stopped, or that works, is found waiting nowhere. What waits for other tasks, pipes or time is found there, too: of storage are only
//! such functions as are known to be.

use iolag_keeper::{Doing, descendants, doing};
use iolag_model::{Clock, MonotonicClock, MonotonicTime, Nanoseconds, UNKNOWN_FUNCTION, Waits};

/// How often is looked.
const INTERVAL: Nanoseconds = Nanoseconds::from_milliseconds(5);
/// Of the time, looking takes one part of so many at most.
const COST: u64 = 50;
/// Of more tasks the rest is not looked at.
const TASKS_MAX: usize = 64;

/// What was found.
#[derive(Debug, Clone, Default)]
pub struct Looked {
    /// How often, and where tasks waited: a look may find several.
    pub waits: Waits,
    /// From the first look to the last.
    pub time_ns: Nanoseconds,
}

/// Looks at all that strace traces.
#[derive(Debug)]
pub(crate) struct Looker {
    strace: u32,
    begin: MonotonicTime,
    last: MonotonicTime,
    next: MonotonicTime,
    waits: Waits,
}

impl Looker {
    /// At what this process of strace traces.
    pub(crate) fn new(strace: u32, now: MonotonicTime) -> Self {
        Self { strace, begin: now, last: now, next: now.after(INTERVAL), waits: Waits::default() }
    }

    /// When to look again.
    pub(crate) const fn next(&self) -> MonotonicTime {
        self.next
    }

    /// Looks once at every task.
    pub(crate) fn look(&mut self, now: MonotonicTime) {
        self.waits.join(&Waits { looks: 1, functions: Vec::new() });
        for task in descendants(self.strace).into_iter().flat_map(tasks).take(TASKS_MAX) {
            let function = match doing(task) {
                Doing::NoWaiting => continue,
                Doing::WaitsIn(function) => function,
                Doing::WaitsSomewhere => UNKNOWN_FUNCTION.to_owned(),
            };
            self.waits.join(&Waits { looks: 0, functions: vec![(function, 1)] });
        }
        let took = MonotonicClock.now().since(now);
        self.last = now;
        self.next = now.after(INTERVAL.max(Nanoseconds(took.0.saturating_mul(COST))));
    }

    /// What was found.
    pub(crate) fn finish(self) -> Looked {
        Looked { waits: self.waits, time_ns: self.last.since(self.begin) }
    }
}

/// The threads of a process.
fn tasks(process: u32) -> Vec<u32> {
    let entries = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_that_wait_are_found_with_their_threads() {
        // Their parent stands for strace.
        let script = "sleep 60 & sleep 60 & wait";
        let mut shell = std::process::Command::new("/bin/sh").args(["-c", script]).spawn().unwrap();
        let end = MonotonicClock.now().after(Nanoseconds::from_seconds(30));
        while descendants(shell.id()).len() < 2 && MonotonicClock.now() < end {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
        let children = descendants(shell.id());
        let mut looker = Looker::new(shell.id(), MonotonicClock.now());
        (0..4).for_each(|_| looker.look(MonotonicClock.now()));
        assert!(looker.next() > looker.last);
        let looked = looker.finish();
        children.iter().for_each(|child| {
            let _ = std::process::Command::new("kill").arg(child.to_string()).status();
        });
        shell.wait().unwrap();
        assert_eq!(looked.waits.looks, 4);
        assert_eq!(looked.waits.found_in(|_| true), 8, "{looked:?}");
    }
}
