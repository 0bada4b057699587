//! The ends of the rings at which samples come in: a client's, with its slots, and the keeper's own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use iolag_model::{Activity, AttemptId, Detail, MonotonicTime, Operation, Recorder, Sample, StageIndex};

use super::detail_ring::DetailProducer;
use super::layout::{Exchange, Places};
use super::ring::RingProducer;
use super::slot::Slot;

impl Exchange {
    /// The recorder of `client`. To be taken once, by the process that runs the client.
    pub fn recorder(&self, client: u32) -> SharedRecorder {
        let ring = client as usize;
        SharedRecorder {
            client: ring,
            slot: self.shared.slot(ring),
            lane: self.shared.slot(ring),
            room_asked: SharedRecorder::RESERVE as u64 + u64::from(self.lanes()),
            producer: RingProducer::new(self.shared.ring(ring)),
            details: DetailProducer::new(self.shared.details(ring)),
            lost: &self.shared.control().samples_lost,
            shared: Arc::clone(&self.shared),
        }
    }

    /// The keeper's own ring, for hung attempts.
    pub fn keeper_ring(&self) -> KeeperRing {
        KeeperRing {
            producer: RingProducer::new(self.shared.ring(self.shared.clients)),
            details: DetailProducer::new(self.shared.details(self.shared.clients)),
        }
    }
}

/// A client's recorder in shared memory.
#[derive(Debug)]
pub struct SharedRecorder {
    client: usize,
    slot: *const Slot,
    /// The slot of the lane that is spoken of.
    lane: *const Slot,
    /// Places that there must be for an operation to begin: the reserve, and one for each that may be in flight.
    room_asked: u64,
    producer: RingProducer,
    details: DetailProducer,
    lost: *const AtomicU64,
    shared: Arc<Places>,
}

// SAFETY: the pointers refer to atomics in shared memory that `shared` keeps mapped.
unsafe impl Send for SharedRecorder {}

impl SharedRecorder {
    #[inline]
    fn slot(&self) -> &Slot {
        // SAFETY: points into the mapping that `shared` keeps.
        unsafe { &*self.slot }
    }

    #[inline]
    fn lane(&self) -> &Slot {
        // SAFETY: points into the mapping that `shared` keeps.
        unsafe { &*self.lane }
    }

    /// Tells the keeper which thread runs the client; called by that thread.
    pub fn register_thread(&self) {
        let process = rustix::process::getpid().as_raw_nonzero().get() as u32;
        let thread = rustix::thread::gettid().as_raw_nonzero().get() as u32;
        self.slot().set_thread(process, thread);
    }

    /// Number of clients in the exchange.
    pub fn clients(&self) -> u32 {
        self.shared.clients as u32
    }
}

impl Recorder for SharedRecorder {
    #[inline]
    fn set_lane(&mut self, lane: u32) {
        self.lane = self.shared.lane(self.client, lane as usize);
    }

    #[inline]
    fn has_room(&mut self) -> bool {
        self.producer.has_room_for(self.room_asked)
    }

    #[inline]
    fn announce(
        &mut self,
        attempt: AttemptId,
        operation: Operation,
        stage: StageIndex,
        intended: MonotonicTime,
    ) {
        self.lane().announce(attempt, operation, stage, intended);
    }

    #[inline]
    fn begin(&mut self, start: MonotonicTime) {
        self.lane().begin(start);
    }

    #[inline]
    fn record(&mut self, sample: Sample) {
        self.lane().end();
        if self.producer.push(sample).is_err() {
            // SAFETY: points into the mapping that `shared` keeps.
            unsafe { &*self.lost }.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn record_detail(&mut self, detail: &Detail) {
        self.details.push(detail);
        self.shared.control().call.store(1, Ordering::Release);
    }

    fn offer_detail(&mut self, detail: &Detail) {
        self.details.push_at_once(detail);
        self.shared.control().call.store(1, Ordering::Release);
    }

    #[inline]
    fn set_activity(&mut self, activity: Activity) {
        if self.slot().thread().1 == 0 {
            self.register_thread();
        }
        self.slot().set_activity(activity);
    }
}

/// The keeper's own ring.
#[derive(Debug)]
pub struct KeeperRing {
    producer: RingProducer,
    details: DetailProducer,
}

impl KeeperRing {
    /// Records a sample; returns whether there was room. The ring holds 16 Ki samples and hung attempts are few.
    pub fn record(&mut self, sample: Sample) -> bool {
        self.producer.push(sample).is_ok()
    }

    /// Adds a text to an attempt. The keeper does not wait: without room the text is counted as lost.
    pub fn record_detail(&mut self, detail: &Detail) -> bool {
        self.details.push_at_once(detail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Room;

    #[test]
    fn an_empty_ring_of_the_least_size_has_room_for_any_number_of_lanes() {
        for (lanes, clients) in [(1, 1), (1, 501), (48, 501), (49, 1), (49, 501), (128, 1), (128, 501)] {
            let kept = SharedRecorder::RESERVE as u64 + u64::from(lanes);
            let ring_samples = (2 * kept).max(64);
            let samples_per_client = (clients == 1).then_some(20);
            let ring_bytes = ring_samples * Sample::SIZE as u64 * u64::from(clients);
            let room = Room { clients, lanes, ring_bytes, samples_per_client };
            let exchange = Exchange::with_room(room).unwrap();
            assert!(exchange.recorder(0).has_room(), "{room:?}");
        }
    }
}
