//! Is it the generator? A heart waits for each multiple of 10 ms and tells how late it was woken: as one more task of a worker, as one
//! more thread beside clients that are threads. With each beat it says when the next is due, so that also a worker that something blocks
//! is seen. It beats only while clients are driven, so it makes no measurer that hangs afterwards, as in closing what a session had open,
//! look alive.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, Thread};

use iolag_model::{Clock, Coordinator, MonotonicTime, Nanoseconds};

const PERIOD: Nanoseconds = Nanoseconds::from_milliseconds(10);

/// A heart that beats; dropped when it does no longer.
struct Heart<'a, N: Coordinator> {
    coordinator: &'a N,
    rank: u32,
    due: MonotonicTime,
}

impl<'a, N: Coordinator> Heart<'a, N> {
    fn begin(coordinator: &'a N, rank: u32, now: MonotonicTime) -> Self {
        let mut heart = Self { coordinator, rank, due: now };
        heart.is_woken(now);
        heart
    }

    /// It beats, unless it was woken too early.
    fn is_woken(&mut self, now: MonotonicTime) {
        if now >= self.due {
            let lag = now.since(self.due);
            self.due = next_beat(now);
            self.coordinator.beat(self.rank, lag, self.due);
        }
    }
}

impl<N: Coordinator> Drop for Heart<'_, N> {
    fn drop(&mut self) {
        self.coordinator.heart_ends(self.rank);
    }
}

/// The heart of a worker, whose first client is of this rank; beats until it is dropped.
pub(super) async fn beat_as_task(coordinator: &impl Coordinator, clock: &impl Clock, rank: u32) {
    let mut heart = Heart::begin(coordinator, rank, clock.now());
    loop {
        tokio::time::sleep(heart.due.since(clock.now()).as_duration()).await;
        heart.is_woken(clock.now());
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
        let mut beating = Heart::begin(coordinator, rank, clock.now());
        while self.left.load(Ordering::Acquire) > 0 {
            // After the last client it is woken at once.
            thread::park_timeout(beating.due.since(clock.now()).as_duration());
            if self.left.load(Ordering::Acquire) > 0 {
                beating.is_woken(clock.now());
            }
        }
    }
}

/// Does something that drives clients, beside a heart that beats meanwhile in the name of the client of this rank.
pub(crate) fn beside_a_heart<T>(
    coordinator: &impl Coordinator,
    clock: &impl Clock,
    rank: u32,
    drive: impl FnOnce() -> T,
) -> T {
    let driven = Driven::new(1);
    thread::scope(|scope| {
        // Where there is no thread for it, there is none for a client either, which is said.
        let _ = thread::Builder::new().spawn_scoped(scope, || driven.beat(coordinator, clock, rank));
        let driving = driven.one();
        let done = drive();
        drop(driving);
        done
    })
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
    use std::future::{Future, poll_fn};
    use std::pin::pin;
    use std::sync::atomic::AtomicU32;
    use std::sync::{Arc, Mutex};
    use std::time::Duration;
    use tokio::runtime::Builder;
    use tokio::time::{Instant, advance, sleep};

    /// What a heart has told.
    #[derive(Default)]
    struct Beats {
        /// How late, and when the next is due.
        told: Mutex<Vec<(Nanoseconds, MonotonicTime)>>,
        ends: AtomicU32,
    }

    impl Beats {
        fn count(&self) -> usize {
            self.told.lock().unwrap().len()
        }
    }

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

        fn beat(&self, rank: u32, lag: Nanoseconds, next: MonotonicTime) {
            assert_eq!((rank, self.ends.load(Ordering::Relaxed)), (7, 0));
            self.told.lock().unwrap().push((lag, next));
        }

        fn heart_ends(&self, rank: u32) {
            assert_eq!(rank, 7);
            self.ends.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The runtime's time.
    struct PausedClock(Instant);

    impl Clock for PausedClock {
        fn now(&self) -> MonotonicTime {
            MonotonicTime(self.0.elapsed().as_nanos() as u64)
        }

        fn sleep_until(&self, _: MonotonicTime) {
            unreachable!("a thread that others share does not sleep");
        }

        fn rest_until(&self, _: MonotonicTime) {
            unreachable!("nobody begins together");
        }
    }

    #[test]
    fn a_heart_beats_until_the_last_client_has_been_driven() {
        let (driven, beats) = (Driven::new(2), Beats::default());
        thread::scope(|scope| {
            let heart = scope.spawn(|| driven.beat(&beats, &MonotonicClock, 7));
            let (one, other) = (driven.one(), driven.one());
            drop(one);
            while beats.count() < 3 {
                thread::yield_now();
            }
            assert_eq!(beats.ends.load(Ordering::Relaxed), 0);
            drop(other);
            heart.join().unwrap();
        });
        assert_eq!(beats.ends.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn a_heart_says_how_late_it_is_and_when_its_next_beat_is_due() {
        let beats = Beats::default();
        let runtime = Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let clock = PausedClock(Instant::now());
            let mut heart = pin!(beat_as_task(&beats, &clock, 7));
            let mut work = pin!(async {
                sleep(Duration::from_millis(15)).await;
                // Something blocks the worker.
                advance(Duration::from_millis(208)).await;
                sleep(Duration::from_millis(10)).await;
            });
            poll_fn(|context| {
                assert!(heart.as_mut().poll(context).is_pending(), "it beats until it is dropped");
                work.as_mut().poll(context)
            })
            .await;
        });
        let milliseconds = Nanoseconds::from_milliseconds;
        let at = |time| MonotonicTime(milliseconds(time).0);
        let expected =
            [(0, 10), (0, 20), (203, 230), (0, 240)].map(|(lag, next)| (milliseconds(lag), at(next)));
        assert_eq!(*beats.told.lock().unwrap(), expected);
        assert_eq!(beats.ends.load(Ordering::Relaxed), 1);
    }
}
