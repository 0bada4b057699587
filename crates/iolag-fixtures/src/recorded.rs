//! A recorder that keeps everything.

use std::sync::{Arc, Mutex};

use iolag_model::{Activity, AttemptId, Detail, MonotonicTime, Operation, Recorder, Sample, StageIndex};

/// What was recorded, by however many clients: copies are the same.
#[derive(Debug, Clone, Default)]
pub struct Recorded {
    /// In the order in which they were recorded.
    pub samples: Arc<Mutex<Vec<Sample>>>,
    /// The same of texts.
    pub details: Arc<Mutex<Vec<Detail>>>,
}

impl Recorder for Recorded {
    fn set_lane(&mut self, _: u32) {}

    fn has_room(&mut self) -> bool {
        true
    }

    fn announce(&mut self, _: AttemptId, _: Operation, _: StageIndex, _: MonotonicTime) {}

    fn begin(&mut self, _: MonotonicTime) {}

    fn record(&mut self, sample: Sample) {
        self.samples.lock().expect("nobody panics with it").push(sample);
    }

    fn record_detail(&mut self, detail: &Detail) {
        self.details.lock().expect("nobody panics with it").push(detail.clone());
    }

    fn offer_detail(&mut self, detail: &Detail) {
        self.record_detail(detail);
    }

    fn set_activity(&mut self, _: Activity) {}
}
