//! The ledger: what is remembered, in the spool, before whoever looks on, and as the last sample of each series.

use std::collections::BTreeMap;

use iolag_model::{HistoryRecord, HistorySample, LastSample, Outcome, SeriesKey};

use crate::{Spool, WatchObserver};

/// Everything that a watch remembers goes through here.
pub(crate) struct Ledger<'a> {
    pub spool: &'a mut Spool,
    pub observer: &'a mut dyn WatchObserver,
    last: BTreeMap<SeriesKey, LastSample>,
    last_trouble: String,
}

/// Whether a trouble has just been told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Novelty {
    New,
    Known,
}

impl<'a> Ledger<'a> {
    /// An empty ledger.
    pub fn new(spool: &'a mut Spool, observer: &'a mut dyn WatchObserver) -> Self {
        Self { spool, observer, last: BTreeMap::new(), last_trouble: String::new() }
    }

    /// Remembers a record.
    pub fn record(&mut self, record: HistoryRecord) {
        // Where it is kept does not change what is done: a spool that has no room says so as its trouble.
        let _ = self.spool.append(&record);
        if let HistoryRecord::Sample(sample) = &record {
            self.note_last(sample);
        }
        self.observer.recorded(&record);
    }

    /// Remembers samples.
    pub fn record_samples(&mut self, samples: Vec<HistorySample>) {
        for sample in samples {
            self.record(HistoryRecord::Sample(sample));
        }
    }

    /// Tells whoever looks on what went wrong, unless that was told last: what fails once a round is not repeated every round.
    pub fn trouble(&mut self, sentence: &str) -> Novelty {
        if self.last_trouble == sentence {
            return Novelty::Known;
        }
        sentence.clone_into(&mut self.last_trouble);
        self.observer.troubled(sentence);
        Novelty::New
    }

    /// The last end of each series.
    pub fn last(&self) -> Vec<LastSample> {
        self.last.values().cloned().collect()
    }

    fn note_last(&mut self, sample: &HistorySample) {
        // A slot that was skipped says nothing of how things are; the probe in its way is shown by itself.
        if sample.outcome == Outcome::Skipped {
            return;
        }
        let last = LastSample {
            series: sample.series.clone(),
            start: sample.start,
            duration_ns: sample.duration_ns,
            value: sample.value,
            outcome: sample.outcome,
        };
        self.last.insert(sample.series.clone(), last);
    }
}
