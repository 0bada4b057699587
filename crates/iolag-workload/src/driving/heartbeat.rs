//! Is it the generator? A heart waits for each multiple of 10 ms and tells how late it was woken: as one more task of a worker, as one
//! more thread beside clients that are threads. It beats only while clients run, so it makes no measurer that hangs look alive.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Thread};

use iolag_model::{Clock, Coordinator, MonotonicTime, Nanoseconds};

const PERIOD: Nanoseconds = Nanoseconds::from_milliseconds(10);

/// The heart of a worker, whose first client is of this rank; beats until it is dropped.
pub(super) async fn beat_as_task(coordinator: &impl Coordinator, clock: &impl Clock, rank: u32) {
    loop {
        let due = next_beat(clock.now());
        tokio::time::sleep(due.since(clock.now()).as_duration()).await;
        coordinator.beat(rank, clock.now().since(due));
    }
}

/// The heart of clients that are threads, of which the first is of this rank; beats until its [`Heart`] is dropped.
pub(super) fn beat_as_thread(
    is_over: &AtomicBool,
    coordinator: &impl Coordinator,
    clock: &impl Clock,
    rank: u32,
) {
    while !is_over.load(Ordering::Acquire) {
        let now = clock.now();
        let due = next_beat(now);
        // Woken early it looks again; told to end it is woken at once.
        thread::park_timeout(due.since(now).as_duration());
        let now = clock.now();
        if now >= due && !is_over.load(Ordering::Acquire) {
            coordinator.beat(rank, now.since(due));
        }
    }
}

/// Ends a heart that is a thread, also if whoever has it panics.
pub(super) struct Heart<'a> {
    pub(super) is_over: &'a AtomicBool,
    pub(super) thread: Thread,
}

impl Drop for Heart<'_> {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
        self.thread.unpark();
    }
}

const fn next_beat(now: MonotonicTime) -> MonotonicTime {
    MonotonicTime((now.0 / PERIOD.0 + 1) * PERIOD.0)
}
