//! The ledger: what is remembered, in the spool, before whoever looks on, and as the last sample of each series.

use std::collections::BTreeMap;

use iolag_model::{HistoryRecord, HistorySample, LastSample, MonotonicTime, Outcome, SeriesKey};

use crate::memory::shortage::{RuntimeFile, Shortage, SpoolCounts};
use crate::{Keeping, RuntimeError, Spool, WatchObserver};

/// Everything that a watch remembers goes through here.
pub(crate) struct Ledger<'a> {
    pub spool: &'a mut Spool,
    pub observer: &'a mut dyn WatchObserver,
    last: BTreeMap<SeriesKey, LastSample>,
    /// What was told last of each subject.
    troubles: BTreeMap<String, String>,
    shortage: Shortage,
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
        let (last, troubles) = (BTreeMap::new(), BTreeMap::new());
        Self { spool, observer, last, troubles, shortage: Shortage::default() }
    }

    /// Remembers a record.
    pub fn record(&mut self, record: HistoryRecord) {
        // Where it is kept does not change what is done.
        match self.spool.append(&record) {
            Keeping::Spooled => self.shortage.taken(RuntimeFile::Spool),
            Keeping::MemoryOnly => {
                let why = self.spool.refusal().unwrap_or_default();
                self.shortage.refused(RuntimeFile::Spool, &why);
            }
        }
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

    /// A file of the runtime directory was written, or could not be.
    pub fn kept(&mut self, file: RuntimeFile, written: Result<(), RuntimeError>) {
        match written {
            Ok(()) => self.shortage.taken(file),
            Err(error) => self.shortage.refused(file, &error.to_string()),
        }
    }

    /// Tells whoever looks on that the runtime directory has no room, or has room again: each once.
    pub fn tell_of_shortage(&mut self, now: MonotonicTime) {
        if self.spool.unspooled() == 0 {
            self.shortage.taken(RuntimeFile::Spool);
        }
        let counts =
            SpoolCounts { unspooled: self.spool.unspooled() as u64, dropped: self.spool.losses().records() };
        if let Some(news) = self.shortage.news(counts, now) {
            self.observer.troubled(&news);
        }
    }

    /// Tells whoever looks on what went wrong with `subject`, unless that was told of it last: what fails once a round is not repeated
    /// every round.
    pub fn trouble(&mut self, subject: &str, sentence: &str) -> Novelty {
        let told = self.troubles.entry(subject.to_owned()).or_default();
        if told == sentence {
            return Novelty::Known;
        }
        sentence.clone_into(told);
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
