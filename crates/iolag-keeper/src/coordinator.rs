//! Meetings and stopping, in shared memory.
//!
//! A client arrives by storing the meeting's number in its slot and then looks whether everybody has; the last one opens
//! the meeting and wakes the others. The keeper does the same look after it has given a client up, so that a hung client
//! holds nobody for longer than its deadline.

use std::sync::atomic::Ordering;
use std::time::Duration;

use iolag_model::{Coordinator, Meeting};
use rustix::thread::futex;

use crate::layout::Exchange;
use crate::slot::GIVEN_UP;

/// Where the clients of an [`Exchange`] meet.
#[derive(Debug, Clone)]
pub struct SharedCoordinator {
    exchange: Exchange,
}

impl SharedCoordinator {
    pub(crate) const fn new(exchange: Exchange) -> Self {
        Self { exchange }
    }

    /// Whether everything is to stop.
    pub fn is_stopping(&self) -> bool {
        self.exchange.shared.control().stop_all.load(Ordering::Acquire) != 0
    }

    fn open_if_complete(&self, number: u32) {
        let shared = &self.exchange.shared;
        let complete = (0..shared.clients).all(|client| {
            let slot = shared.slot(client);
            slot.arrived.load(Ordering::SeqCst) >= number || slot.standing.load(Ordering::SeqCst) == GIVEN_UP
        });
        if complete {
            shared.control().open_meeting.fetch_max(number, Ordering::SeqCst);
            self.wake();
        }
    }

    fn wake(&self) {
        // Clients wait with a time limit, so a lost wake costs milliseconds and a failed one nothing else.
        let _ =
            futex::wake(&self.exchange.shared.control().open_meeting, futex::Flags::empty(), i32::MAX as u32);
    }
}

impl Coordinator for SharedCoordinator {
    #[inline]
    fn is_stopped(&self, rank: u32) -> bool {
        self.exchange.shared.slot(rank as usize).stop.load(Ordering::Relaxed) != 0
    }

    fn stop_all(&self) {
        let shared = &self.exchange.shared;
        shared.control().stop_all.store(1, Ordering::Release);
        for client in 0..shared.clients {
            shared.slot(client).stop.store(1, Ordering::Release);
        }
        self.wake();
    }

    fn give_up(&self, rank: u32) {
        let slot = self.exchange.shared.slot(rank as usize);
        if slot.standing.swap(GIVEN_UP, Ordering::SeqCst) != GIVEN_UP {
            self.exchange.shared.control().given_up.fetch_add(1, Ordering::SeqCst);
        }
        slot.stop.store(1, Ordering::Release);
        let next = self.exchange.shared.control().open_meeting.load(Ordering::SeqCst) + 1;
        self.open_if_complete(next);
    }

    fn arrive(&self, rank: u32, number: u32, value: u64) {
        let shared = &self.exchange.shared;
        let slot = shared.slot(rank as usize);
        slot.values[number as usize % 2].store(value, Ordering::SeqCst);
        slot.arrived.store(number, Ordering::SeqCst);
        let arrivals = shared.control().arrivals.fetch_add(1, Ordering::SeqCst) + 1;
        let given_up = u64::from(shared.control().given_up.load(Ordering::SeqCst));
        // Everyone who is expected has arrived at every meeting up to this one, so nobody before the last can see this many:
        // with thousands of clients, looking at all slots at every arrival would take seconds.
        if arrivals >= u64::from(number) * (shared.clients as u64).saturating_sub(given_up) {
            self.open_if_complete(number);
        }
    }

    fn meeting(&self, number: u32) -> Option<Meeting> {
        let shared = &self.exchange.shared;
        if shared.control().open_meeting.load(Ordering::SeqCst) < number {
            return None;
        }
        let value = |client: usize| {
            let slot = shared.slot(client);
            // A client that was given up may have brought its value before.
            (slot.arrived.load(Ordering::SeqCst) >= number)
                .then(|| slot.values[number as usize % 2].load(Ordering::SeqCst))
        };
        Some(Meeting { values: (0..shared.clients).map(value).collect() })
    }

    fn wait_for_meeting(&self, rank: u32, number: u32) -> Option<Meeting> {
        const SLICE: Duration = Duration::from_millis(100);
        let word = &self.exchange.shared.control().open_meeting;
        loop {
            let open = word.load(Ordering::SeqCst);
            if open >= number {
                return self.meeting(number);
            }
            if self.is_stopped(rank) {
                return None;
            }
            let limit = futex::Timespec { tv_sec: 0, tv_nsec: i64::from(SLICE.subsec_nanos()) };
            // Any answer means the same: look again.
            let _ = futex::wait(word, futex::Flags::empty(), open, Some(&limit));
        }
    }
}
