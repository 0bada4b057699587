//! What the keeper itself puts on record: operations that no client will tell of any more.

use iolag_keeper::{Exchange, KeeperRing, evidence};
use iolag_model::{
    AttemptId, Clock, Detail, DetailKind, MonotonicClock, Nanoseconds, Sample, counted, ending::NO_ROOM,
};

use crate::run::measurer::STOP_GRACE;

/// The keeper's own samples.
pub(super) struct Recording<'a> {
    exchange: &'a Exchange,
    ring: KeeperRing,
    /// Samples that found no room in the ring.
    lost: u64,
}

impl<'a> Recording<'a> {
    pub(super) fn new(exchange: &'a Exchange) -> Self {
        Self { exchange, ring: exchange.keeper_ring(), lost: 0 }
    }

    pub(super) fn record(&mut self, sample: Sample) {
        self.lost += u64::from(!self.ring.record(sample));
    }

    /// There may be more than the keeper's ring holds: the writer is given a moment to take them.
    pub(super) fn record_last(&mut self, samples: Vec<Sample>) {
        const PAUSE: Nanoseconds = Nanoseconds::from_milliseconds(5);
        let end = MonotonicClock.now().after(STOP_GRACE);
        for sample in samples {
            while !self.ring.record(sample) {
                if MonotonicClock.now() > end {
                    self.lost += 1;
                    break;
                }
                MonotonicClock.sleep_until(MonotonicClock.now().after(PAUSE));
            }
        }
    }

    /// A client's operation that hangs, and where its thread waits.
    pub(super) fn record_hung(&mut self, client: u32, sample: Sample) {
        self.record(sample);
        if let Some((process, thread)) = self.exchange.thread(client) {
            self.record_waiting(sample.attempt, process, thread);
        }
    }

    /// Where a thread waits in the kernel.
    pub(super) fn record_waiting(&mut self, attempt: AttemptId, process: u32, thread: u32) {
        let text = evidence(process, thread);
        self.ring.record_detail(&Detail { attempt, kind: DetailKind::Waiting, text });
    }

    /// What is not on record, as a sentence fragment.
    pub(super) fn shortfall(&self) -> Option<String> {
        let what = counted(self.lost, "record of a hung operation", "records of hung operations");
        (self.lost > 0).then(|| format!("{what} {NO_ROOM}"))
    }
}
