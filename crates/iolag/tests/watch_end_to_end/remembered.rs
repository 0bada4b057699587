//! What a history holds, as it is exported.

use std::collections::BTreeSet;

use iolag_model::{
    Configuration, HistoryRecord, HistorySample, Outage, Outcome, ProbeId, SeriesKey, WatchSession,
};

/// The records of a history.
pub struct Remembered(pub Vec<HistoryRecord>);

impl Remembered {
    pub fn samples(&self) -> impl Iterator<Item = &HistorySample> {
        self.0.iter().filter_map(|record| match record {
            HistoryRecord::Sample(sample) => Some(sample),
            _ => None,
        })
    }

    /// The samples of a whole task on a target, in the order in which they were due.
    pub fn wholes(&self, target: &str, task: &str) -> Vec<&HistorySample> {
        let is_it = |sample: &&HistorySample| {
            let key = &sample.series;
            key.target == target && key.task == task && key.part.is_empty()
        };
        let mut found: Vec<_> = self.samples().filter(is_it).collect();
        found.sort_by_key(|sample| (sample.intended, sample.probe));
        found
    }

    pub fn outages(&self) -> Vec<&Outage> {
        self.all(|record| match record {
            HistoryRecord::Outage(outage) => Some(outage),
            _ => None,
        })
    }

    pub fn sessions(&self) -> Vec<&WatchSession> {
        self.all(|record| match record {
            HistoryRecord::Session(session) => Some(session),
            _ => None,
        })
    }

    /// In the order in which they were first seen.
    pub fn configurations(&self) -> Vec<&Configuration> {
        let mut found: Vec<&Configuration> = self.all(|record| match record {
            HistoryRecord::Configuration(configuration) => Some(configuration),
            _ => None,
        });
        found.sort_by_key(|configuration| configuration.first_seen);
        found
    }

    /// What was said to have happened when a configuration changed.
    pub fn events(&self) -> Vec<&str> {
        self.all(|record| match record {
            HistoryRecord::Event(event) if event.kind == "configuration" => Some(event.text.as_str()),
            _ => None,
        })
    }

    /// What was seen of a probe.
    pub fn evidence(&self, probe: ProbeId) -> Vec<&str> {
        self.all(|record| match record {
            HistoryRecord::Evidence(evidence) if evidence.probe == probe => Some(evidence.text.as_str()),
            _ => None,
        })
    }

    fn all<'a, T: ?Sized>(&'a self, wanted: impl Fn(&'a HistoryRecord) -> Option<&'a T>) -> Vec<&'a T> {
        self.0.iter().filter_map(wanted).collect()
    }

    /// Asserts that no series has two samples of one probe. Returns how many samples there are.
    pub fn assert_nothing_is_double(&self) -> usize {
        let mut seen: BTreeSet<(&SeriesKey, ProbeId)> = BTreeSet::new();
        for sample in self.samples() {
            assert!(seen.insert((&sample.series, sample.probe)), "twice in the history: {sample:?}");
        }
        seen.len()
    }
}

/// How many samples had this outcome.
pub fn count(samples: &[&HistorySample], outcome: Outcome) -> usize {
    samples.iter().filter(|sample| sample.outcome == outcome).count()
}

/// Asserts that nothing is amiss, and that at least so many probes were fine. On a busy machine the probe before may still be under way
/// when a slot comes; then it is skipped. One may also have been under way when the watch was told to stop; then it was cut short.
pub fn assert_all_fine(samples: &[&HistorySample], least: usize) {
    let is_amiss = |sample: &&&HistorySample| {
        !matches!(sample.outcome, Outcome::Ok | Outcome::Skipped | Outcome::Interrupted)
    };
    let amiss: Vec<_> = samples.iter().filter(is_amiss).collect();
    assert!(amiss.is_empty(), "{amiss:#?}");
    let fine = count(samples, Outcome::Ok);
    assert!(fine >= least, "{fine} of {} were fine instead of {least}", samples.len());
}
