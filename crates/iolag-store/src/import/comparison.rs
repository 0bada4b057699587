//! What an import would change in a history: moments that are new, others of which the history knows another value, and what it
//! knows already. Only the first two are stored, so that a log that grows and is imported every night is not stored every night.
//!
//! Limit: of what a history knows, time, duration, value and outcome are compared; two rows that differ in their exit status alone
//! are the same.

use std::collections::HashSet;

use iolag_model::{
    Batch, Event, HistoryColumns, HistoryRecord, HistorySample, Nanoseconds, Outcome, ProbeId, SeriesKey,
    WallSpan, WallTime,
};

use super::imported::{Import, ImportedSample};
use crate::history::{History, HistoryError};

/// How many moments with another value are shown.
const EXAMPLES_MAX: usize = 3;

/// What an import would change.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Samples at moments that the history does not know.
    pub new: u64,
    /// Samples with another value than the history has at their moment.
    pub different: u64,
    /// The first of these.
    pub examples: Vec<Difference>,
    /// Samples and events that are known.
    pub known: u64,
    /// Events that are new, or say something else.
    pub events: u64,
    /// Of each series the samples to be stored, by their places.
    samples: Vec<Vec<usize>>,
    /// The events to be stored, by their places.
    event_places: Vec<usize>,
}

/// A moment with two values.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// Of which series.
    pub series: SeriesKey,
    /// Its unit, empty for durations.
    pub unit: String,
    /// When.
    pub time: WallTime,
    /// What the history says.
    pub known: Reading,
    /// What the file says.
    pub read: Reading,
}

/// What is compared of a sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reading {
    /// How long it took, for a censored one at least; zero for values.
    pub duration_ns: Nanoseconds,
    /// What was read, for series of values.
    pub value: Option<f64>,
    /// How it ended.
    pub outcome: Outcome,
}

impl Comparison {
    /// Compares `import` with what counts in `history`, if there is one, and with files that are imported before it.
    ///
    /// # Errors
    /// If the history cannot be read.
    pub fn of(
        import: &Import,
        earlier: &[&Import],
        mut history: Option<&mut (dyn History + 'static)>,
    ) -> Result<Self, HistoryError> {
        let mut comparison = Self {
            new: 0,
            different: 0,
            examples: Vec::new(),
            known: 0,
            events: 0,
            samples: Vec::new(),
            event_places: Vec::new(),
        };
        for imported in &import.series {
            let key = &imported.series.key;
            let span = span_of(imported.samples.iter().map(|sample| sample.time));
            let columns = match history.as_deref_mut() {
                Some(history) => history.samples(key, span)?,
                None => HistoryColumns::default(),
            };
            let known = Known::new(&columns, key, earlier);
            let mut places = Vec::new();
            for (place, sample) in imported.samples.iter().enumerate() {
                let read = reading(sample);
                match known.at(sample.probe) {
                    None => comparison.new += 1,
                    Some((time, known)) if (time, known) == (sample.time, read) => {
                        comparison.known += 1;
                        continue;
                    }
                    Some((_, known)) => {
                        comparison.different += 1;
                        if comparison.examples.len() < EXAMPLES_MAX {
                            let (series, unit) = (key.clone(), imported.series.unit.clone());
                            comparison.examples.push(Difference {
                                series,
                                unit,
                                time: sample.time,
                                known,
                                read,
                            });
                        }
                    }
                }
                places.push(place);
            }
            comparison.samples.push(places);
        }
        comparison.compare_events(import, earlier, history)?;
        Ok(comparison)
    }

    fn compare_events(
        &mut self,
        import: &Import,
        earlier: &[&Import],
        history: Option<&mut (dyn History + 'static)>,
    ) -> Result<(), HistoryError> {
        if import.events.is_empty() {
            return Ok(());
        }
        let known = match history {
            Some(history) => history.events(WallSpan::ALL)?,
            None => Vec::new(),
        };
        let known: HashSet<String> =
            known.iter().chain(earlier.iter().flat_map(|import| &import.events)).map(content).collect();
        for (place, event) in import.events.iter().enumerate() {
            if known.contains(&content(event)) {
                self.known += 1;
            } else {
                self.events += 1;
                self.event_places.push(place);
            }
        }
        Ok(())
    }

    /// Whether nothing is to be stored.
    pub fn is_empty(&self) -> bool {
        self.new + self.different + self.events == 0
    }

    /// What is to be stored of `import`, which this is the comparison of, as `batch`: the batch, each series and its samples, then events.
    pub fn records<'a>(
        &'a self,
        import: &'a Import,
        batch: &'a Batch,
    ) -> impl Iterator<Item = HistoryRecord> + 'a {
        let series = import.series.iter().zip(&self.samples).flat_map(|(imported, places)| {
            let samples = places.iter().map(|place| {
                let sample = imported.samples[*place].record(&imported.series);
                HistoryRecord::Sample(HistorySample { batch: Some(batch.id), ..sample })
            });
            std::iter::once(HistoryRecord::Series(imported.series.clone())).chain(samples)
        });
        let event = |place: &usize| Event { batch: Some(batch.id), ..import.events[*place].clone() };
        let events = self.event_places.iter().map(event).map(HistoryRecord::Event);
        std::iter::once(HistoryRecord::Batch(batch.clone())).chain(series).chain(events)
    }
}

/// What is known of a series, found by probe.
struct Known<'a> {
    columns: &'a HistoryColumns,
    /// Probes with their rows, ascending.
    rows: Vec<(ProbeId, usize)>,
    /// Samples of the same series that come before, the latest file first; ascending.
    earlier: Vec<&'a [ImportedSample]>,
}

impl<'a> Known<'a> {
    fn new(columns: &'a HistoryColumns, key: &SeriesKey, earlier: &[&'a Import]) -> Self {
        let mut rows: Vec<_> = columns.probe.iter().copied().zip(0..).collect();
        rows.sort_unstable();
        let of_series = |import: &&'a Import| {
            let same = import.series.iter().find(|imported| imported.series.key == *key);
            same.map(|imported| &imported.samples[..])
        };
        Self { columns, rows, earlier: earlier.iter().rev().filter_map(of_series).collect() }
    }

    fn at(&self, probe: ProbeId) -> Option<(WallTime, Reading)> {
        let in_file = |samples: &&'a [ImportedSample]| {
            let place = samples.binary_search_by_key(&probe, |sample| sample.probe).ok()?;
            Some((samples[place].time, reading(&samples[place])))
        };
        self.earlier.iter().find_map(in_file).or_else(|| {
            let place = self.rows.binary_search_by_key(&probe, |(probe, _)| *probe).ok()?;
            let (row, columns) = (self.rows[place].1, self.columns);
            let value = Some(columns.value[row]).filter(|value| !value.is_nan());
            let (duration_ns, outcome) = (columns.duration_ns[row], columns.outcome[row]);
            Some((columns.intended[row], Reading { duration_ns, value, outcome }))
        })
    }
}

fn reading(sample: &ImportedSample) -> Reading {
    // As a history keeps it.
    let value = sample.value.filter(|value| value.is_finite()).map(|value| value + 0.0);
    let duration_ns = Nanoseconds(sample.duration_ns.0.min(i64::MAX as u64));
    Reading { duration_ns, value, outcome: sample.outcome }
}

fn span_of(times: impl Iterator<Item = WallTime> + Clone) -> WallSpan {
    match (times.clone().min(), times.max()) {
        (Some(begin), Some(end)) => WallSpan { begin, end: end.after(Nanoseconds(1)) },
        _ => WallSpan { begin: WallTime(0), end: WallTime(0) },
    }
}

/// All that an event says, without how it came.
fn content(event: &Event) -> String {
    let said = Event { revised: None, batch: None, ..event.clone() };
    serde_json::to_string(&said).unwrap_or_default()
}
