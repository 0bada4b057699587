//! What an import would change in a history: moments that are new, others of which the history knows another value, and what it
//! knows already. Only the first two are stored, so that a log that grows and is imported every night is not stored every night.
//!
//! The latest import describes a series, unless a watch does: a description that came with an import that was undone does not stay. A file
//! that has something else of a series than the history, durations instead of jobs, is told apart.
//!
//! Limit: of what a history knows, time, duration, value and outcome are compared; two rows that differ in their exit status alone
//! are the same.

use std::collections::HashSet;
use std::iter::Peekable;

use iolag_model::{
    Batch, Event, HistoryColumns, HistoryRecord, HistorySample, Nanoseconds, Outcome, ProbeId, Series,
    SeriesKey, SeriesKind, WallSpan, WallTime,
};

use crate::history::{History, HistoryError};
use crate::import::aside::bytes::{Aside, AsideError};
use crate::import::series::imported::{Import, ImportedSeries};
use crate::import::series::imported_samples::{ImportedSample, SamplesPlace, SamplesReader};

/// How many moments with another value are shown.
const EXAMPLES_MAX: usize = 3;

/// How many samples are asked of a history at once.
const SAMPLES_PER_LOOK: usize = 4096;

/// What an import would change.
#[derive(Debug)]
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
    /// The samples to be stored, put aside.
    samples: Aside,
    /// Where those of each series are.
    places: Vec<SamplesPlace>,
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
        let mut comparison = Self {
            new: 0,
            different: 0,
            examples: Vec::new(),
            known: 0,
            events: 0,
            other_quantity: None,
            samples: Aside::new(&import.directory),
            places: Vec::new(),
            descriptions: Vec::new(),
            event_places: Vec::new(),
        };
        for imported in &import.series {
            let key = &imported.series.key;
            let is_known = match history.as_deref_mut() {
                Some(history) => history.covered(key, WallSpan::ALL)?.is_some(),
                None => false,
            };
            let known = Known::new(history.as_deref_mut().filter(|_| is_known), imported, earlier);
            // A history gives series by key.
            let described = described.binary_search_by(|series| series.key.cmp(key)).map(|at| &described[at]);
            let described = described.ok().filter(|_| is_known);
            let place = comparison.compare_series(imported, known)?;
            comparison.describe(&imported.series, described, place.count > 0);
            comparison.places.push(place);
        }
        comparison.compare_events(import, earlier, history)?;
        Ok(comparison)
    }

    /// Where the samples that are to be stored are.
    fn compare_series(
        &mut self,
        imported: &ImportedSeries,
        mut known: Known<'_>,
    ) -> Result<SamplesPlace, HistoryError> {
        let mut place = SamplesPlace { begin: self.samples.len(), count: 0 };
        for sample in imported.samples.iter() {
            let sample = sample?;
            let read = reading(&sample);
            match known.at(sample.probe)? {
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
            self.samples.write_with(|bytes| sample.put(bytes))?;
            place.count += 1;
        }
        Ok(place)
    }

    /// `known` describes samples that count, if any do.
    fn describe(&mut self, read: &Series, known: Option<&Series>, brings_samples: bool) {
        let is_watched = known.is_some_and(|known| !is_imported(known.kind));
        let holds = brings_samples && !is_watched;
        self.descriptions.push(if holds { Description::Holds } else { Description::Yields });
        if let (Some(known), Some(of_file)) = (known.and_then(quantity), quantity(read))
            && known != of_file
            && self.other_quantity.is_none()
        {
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
    /// Each is an error if what was put aside cannot be read.
    pub fn records<'a>(
        &'a self,
        import: &'a Import,
        batch: &'a Batch,
    ) -> impl Iterator<Item = Result<HistoryRecord, HistoryError>> + 'a {
        let described = import.series.iter().zip(&self.descriptions);
        let series = described.zip(&self.places).flat_map(|((imported, description), place)| {
            let described = match description {
                Description::Holds => batch.made,
                Description::Yields => imported.series.described,
            };
            let series = Series { described, ..imported.series.clone() };
            let samples = place.read(&self.samples).map(|sample| {
                let sample = sample?.record(&imported.series);
                Ok(HistoryRecord::Sample(HistorySample { batch: Some(batch.id), ..sample }))
            });
            std::iter::once(Ok(HistoryRecord::Series(series))).chain(samples)
        });
        let event = |place: &usize| Event { batch: Some(batch.id), ..import.events[*place].clone() };
        let events = self.event_places.iter().map(event).map(HistoryRecord::Event).map(Ok);
        std::iter::once(Ok(HistoryRecord::Batch(batch.clone()))).chain(series).chain(events)
    }
}

/// What is known of a series, found by probes that ascend.
struct Known<'a> {
    /// One that may know more of the series.
    history: Option<&'a mut (dyn History + 'static)>,
    key: &'a SeriesKey,
    /// From the first sample that is compared to the last one.
    span: Option<WallSpan>,
    /// What was asked of the history last, by probe.
    columns: HistoryColumns,
    /// Samples of the same series that come before, the latest file first; ascending.
    earlier: Vec<Earlier<'a>>,
}

type Earlier<'a> = Peekable<SamplesReader<'a>>;

impl<'a> Known<'a> {
    fn new(
        history: Option<&'a mut (dyn History + 'static)>,
        imported: &'a ImportedSeries,
        earlier: &[&'a Import],
    ) -> Self {
        let key = &imported.series.key;
        let of_series = |import: &&'a Import| {
            let same = import.series.iter().find(|imported| imported.series.key == *key);
            same.map(|imported| imported.samples.iter().peekable())
        };
        Self {
            history,
            key,
            span: imported.span,
            columns: HistoryColumns::default(),
            earlier: earlier.iter().rev().filter_map(of_series).collect(),
        }
    }

    fn at(&mut self, probe: ProbeId) -> Result<Option<(WallTime, Reading)>, HistoryError> {
        let mut found = None;
        for samples in &mut self.earlier {
            let sample = sample_of(samples, probe)?;
            found = found.or(sample.map(|sample| (sample.time, reading(&sample))));
        }
        if let Some(history) =
            self.history.as_deref_mut().filter(|_| self.columns.probe.last() < Some(&probe))
        {
            self.columns = history.samples_from(self.key, probe, SAMPLES_PER_LOOK)?;
            self.history = self.history.take().filter(|_| self.columns.len() == SAMPLES_PER_LOOK);
        }
        Ok(found.or_else(|| self.in_columns(probe)))
    }

    fn in_columns(&self, probe: ProbeId) -> Option<(WallTime, Reading)> {
        let columns = &self.columns;
        let row = columns.probe.binary_search(&probe).ok()?;
        let value = Some(columns.value[row]).filter(|value| !value.is_nan());
        let (duration_ns, outcome) = (columns.duration_ns[row], columns.outcome[row]);
        let time = columns.intended[row];
        let is_compared = self.span.is_some_and(|span| span.begin <= time && time <= span.end);
        is_compared.then_some((time, Reading { duration_ns, value, outcome }))
    }
}

/// Passes over samples of lesser probes.
fn sample_of(samples: &mut Earlier<'_>, probe: ProbeId) -> Result<Option<ImportedSample>, AsideError> {
    loop {
        let next = samples.next_if(|sample| !matches!(sample, Ok(sample) if sample.probe > probe));
        match next.transpose()? {
            Some(sample) if sample.probe < probe => {}
            found => return Ok(found),
        }
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

/// What a series holds: `durations`, or values as in `values in jobs`. Of what nobody described nothing is known.
pub fn quantity(series: &Series) -> Option<String> {
    let is_described = is_imported(series.kind) || series.described > WallTime::default();
    is_described.then(|| match (series.kind.is_duration(), series.unit.as_str()) {
        (true, _) => "durations".to_owned(),
        (false, "") => "values without a unit".to_owned(),
        (false, unit) => format!("values in {unit}"),
    })
}

/// All that an event says, without how it came.
fn content(event: &Event) -> String {
    let said = Event { revised: None, batch: None, ..event.clone() };
    serde_json::to_string(&said).unwrap_or_default()
}
