//! Is it the generator? A heart waits for each multiple of 10 ms and tells how late it was woken: as one more task of a worker, as one
//! more thread beside clients that are threads. It beats only while clients are driven, so it makes no measurer that hangs afterwards,
//! as in closing what a session had open, look alive.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
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

/// Clients that are threads, and the heart that beats until the last of them has been driven.
pub(super) struct Driven {
    left: AtomicUsize,
    heart: OnceLock<Thread>,
}

/// One client that is to be driven, or is; dropped when it has been.
pub(super) struct Driving<'a>(&'a Driven);

impl Driven {
    /// So many.
    pub(super) const fn new(clients: usize) -> Self {
        Self { left: AtomicUsize::new(clients), heart: OnceLock::new() }
    }

    /// For each of them once.
    pub(super) const fn one(&self) -> Driving<'_> {
        Driving(self)
    }

    /// The heart: tells the coordinator in the name of the client of this rank.
    pub(super) fn beat(&self, coordinator: &impl Coordinator, clock: &impl Clock, rank: u32) {
        let heart = self.heart.get_or_init(thread::current);
        debug_assert_eq!(heart.id(), thread::current().id(), "there is one");
        while self.left.load(Ordering::Acquire) > 0 {
            let now = clock.now();
            let due = next_beat(now);
            // Woken early it looks again; after the last client it is woken at once.
            thread::park_timeout(due.since(now).as_duration());
            let now = clock.now();
            if now >= due && self.left.load(Ordering::Acquire) > 0 {
                coordinator.beat(rank, now.since(due));
            }
        }
    }
}

impl Drop for Driving<'_> {
    fn drop(&mut self) {
        if self.0.left.fetch_sub(1, Ordering::AcqRel) == 1
            && let Some(heart) = self.0.heart.get()
        {
            heart.unpark();
        }
    }
}

const fn next_beat(now: MonotonicTime) -> MonotonicTime {
    MonotonicTime((now.0 / PERIOD.0 + 1) * PERIOD.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_model::{Arrival, Meeting, MonotonicClock};
    use std::sync::Arc;
    use std::sync::atomic::AtomicU32;

    /// Counts beats.
    #[derive(Default)]
    struct Beats(AtomicU32);

    impl Coordinator for Beats {
        fn is_stopped(&self, _: u32) -> bool {
            false
        }

        fn stop_all(&self) {}

        fn give_up(&self, _: u32, _: MonotonicTime) {}

        fn arrive(&self, _: Arrival) {}

        fn meeting(&self, _: u32, _: u32) -> Option<Arc<Meeting>> {
            None
        }

        fn wait_for_meeting(&self, _: u32, _: u32) -> Option<Arc<Meeting>> {
            None
        }

        fn wait_for_news(&self, seen: u32) -> u32 {
            seen
        }

        fn beat(&self, rank: u32, _: Nanoseconds) {
            assert_eq!(rank, 7);
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn a_heart_beats_until_the_last_client_has_been_driven() {
        let (driven, beats) = (Driven::new(2), Beats::default());
        thread::scope(|scope| {
            let heart = scope.spawn(|| driven.beat(&beats, &MonotonicClock, 7));
            let (one, other) = (driven.one(), driven.one());
            drop(one);
            while beats.0.load(Ordering::Relaxed) < 3 {
                thread::yield_now();
            }
            drop(other);
            heart.join().unwrap();
        });
        assert!(beats.0.load(Ordering::Relaxed) >= 3);
    }
}
