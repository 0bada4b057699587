//! What an import would change in a history: moments that are new, others of which the history knows another value, and what it
//! knows already. Only the first two are stored, so that a log that grows and is imported every night is not stored every night.
//!
//! The latest import describes a series, unless a watch does: a description that came with an import that was undone does not stay. A file
//! that has something else of a series than the history, durations instead of jobs, is told apart.
//!
//! Limit: of what a history knows, time, duration, value and outcome are compared; two rows that differ in their exit status alone
//! are the same.

use std::collections::HashSet;

use iolag_model::{
    Batch, Event, HistoryColumns, HistoryRecord, HistorySample, Nanoseconds, Outcome, ProbeId, Series,
    SeriesKey, SeriesKind, WallSpan, WallTime,
};

use super::imported::{Import, ImportedSample, ImportedSeries};
use crate::history::{History, HistoryError};

/// How many moments with another value are shown.
const EXAMPLES_MAX: usize = 3;

/// What an import would change.
#[derive(Debug, Clone, Default, PartialEq)]
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
    /// The first series that is of something else in the history; its samples cannot be mixed.
    pub other_quantity: Option<OtherQuantity>,
    /// Of each series the samples to be stored, by their places.
    samples: Vec<Vec<usize>>,
    /// Of each series whether its description is to hold from now on.
    descriptions: Vec<Description>,
    /// The events to be stored, by their places.
    event_places: Vec<usize>,
}

/// What becomes of the description of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Description {
    /// It is the latest, so that what was undone describes nothing for good.
    Holds,
    /// That of a watch, or of an import that brought the same samples, is better.
    Yields,
}

/// A series that holds something else than the file has of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherQuantity {
    /// Which series.
    pub series: SeriesKey,
    /// What the history has of it: `durations`, or values as in `values in jobs`.
    pub known: String,
    /// What the file has.
    pub read: String,
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
        let described = match history.as_deref_mut() {
            Some(history) => history.series()?,
            None => Vec::new(),
        };
        let mut comparison = Self::default();
        for imported in &import.series {
            let key = &imported.series.key;
            let (columns, is_empty) = match history.as_deref_mut() {
                Some(history) => {
                    let span = span_of(imported.samples.iter().map(|sample| sample.time));
                    (history.samples(key, span)?, history.covered(key, WallSpan::ALL)?.is_none())
                }
                None => (HistoryColumns::default(), true),
            };
            // A history gives series by key.
            let described = described.binary_search_by(|series| series.key.cmp(key)).map(|at| &described[at]);
            let described = described.ok().filter(|_| !is_empty);
            let places = comparison.compare_series(imported, &Known::new(&columns, key, earlier));
            comparison.describe(&imported.series, described, !places.is_empty());
            comparison.samples.push(places);
        }
        comparison.compare_events(import, earlier, history)?;
        Ok(comparison)
    }

    /// The places of the samples that are to be stored.
    fn compare_series(&mut self, imported: &ImportedSeries, known: &Known<'_>) -> Vec<usize> {
        let mut places = Vec::new();
        for (place, sample) in imported.samples.iter().enumerate() {
            let read = reading(sample);
            match known.at(sample.probe) {
                None => self.new += 1,
                Some((time, known)) if (time, known) == (sample.time, read) => {
                    self.known += 1;
                    continue;
                }
                Some((_, known)) => {
                    self.different += 1;
                    if self.examples.len() < EXAMPLES_MAX {
                        let (series, unit) = (imported.series.key.clone(), imported.series.unit.clone());
                        self.examples.push(Difference { series, unit, time: sample.time, known, read });
                    }
                }
            }
            places.push(place);
        }
        places
    }

    /// `known` describes samples that count, if any do.
    fn describe(&mut self, read: &Series, known: Option<&Series>, brings_samples: bool) {
        let is_watched = known.is_some_and(|known| !is_imported(known.kind));
        let holds = brings_samples && !is_watched;
        self.descriptions.push(if holds { Description::Holds } else { Description::Yields });
        // Of what nobody described nothing is known.
        let is_described = |known: &&Series| is_imported(known.kind) || known.described > WallTime::default();
        if let Some(known) = known.filter(is_described)
            && quantity(known) != quantity(read)
            && self.other_quantity.is_none()
        {
            let (known, of_file) = (quantity(known), quantity(read));
            self.other_quantity = Some(OtherQuantity { series: read.key.clone(), known, read: of_file });
        }
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
        let described = import.series.iter().zip(&self.descriptions);
        let series = described.zip(&self.samples).flat_map(|((imported, description), places)| {
            let described = match description {
                Description::Holds => batch.made,
                Description::Yields => imported.series.described,
            };
            let series = Series { described, ..imported.series.clone() };
            let samples = places.iter().map(|place| {
                let sample = imported.samples[*place].record(&imported.series);
                HistoryRecord::Sample(HistorySample { batch: Some(batch.id), ..sample })
            });
            std::iter::once(HistoryRecord::Series(series)).chain(samples)
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

const fn is_imported(kind: SeriesKind) -> bool {
    matches!(kind, SeriesKind::ImportedDuration | SeriesKind::ImportedValue)
}

fn quantity(series: &Series) -> String {
    match (series.kind.is_duration(), series.unit.as_str()) {
        (true, _) => "durations".to_owned(),
        (false, "") => "values without a unit".to_owned(),
        (false, unit) => format!("values in {unit}"),
    }
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
