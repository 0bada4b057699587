//! A client by itself.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use iolag_model::{Arrival, Coordinator, Meeting, MonotonicTime, Waiting};

/// The coordinator of one client, which meets nobody: a meeting is open as soon as it arrives, and begins then. Copies are the same.
#[derive(Debug, Clone, Default)]
pub struct Alone(Arc<State>);

#[derive(Debug, Default)]
struct State {
    is_stopped: AtomicBool,
    arrived_ns: AtomicU64,
    asleep: (Mutex<()>, Condvar),
}

impl Alone {
    fn news(&self) -> u32 {
        u32::from(self.is_stopped(0))
    }
}

impl Coordinator for Alone {
    fn is_stopped(&self, _: u32) -> bool {
        self.0.is_stopped.load(Ordering::Relaxed)
    }

    fn stop_all(&self) {
        self.0.is_stopped.store(true, Ordering::Relaxed);
        let (mutex, news) = &self.0.asleep;
        drop(mutex.lock());
        news.notify_all();
    }

    fn give_up(&self, _: u32, _: MonotonicTime) {
        self.stop_all();
    }

    fn arrive(&self, arrival: Arrival) {
        self.0.arrived_ns.store(arrival.now.0, Ordering::Relaxed);
    }

    fn meeting(&self, _: u32, _: u32) -> Option<Arc<Meeting>> {
        let begin = MonotonicTime(self.0.arrived_ns.load(Ordering::Relaxed));
        Some(Arc::new(Meeting { values: [Some(0)].into(), begin, waiting: Waiting::Asleep }))
    }

    fn wait_for_meeting(&self, rank: u32, number: u32) -> Option<Arc<Meeting>> {
        self.meeting(rank, number)
    }

    fn wait_for_news(&self, seen: u32) -> u32 {
        let (mutex, news) = &self.0.asleep;
        let asleep = mutex.lock().expect("nobody panics with it");
        let limit = Duration::from_millis(100);
        drop(
            news.wait_timeout_while(asleep, limit, |()| self.news() == seen).expect("nobody panics with it"),
        );
        self.news()
    }
}
