//! How rows become records again, and the names that stand for enums in the tables.

use std::collections::{BTreeMap, BTreeSet};

use iolag_model::{
    Batch, BatchId, Configuration, ConfigurationKey, Event, EventSource, EventState, Evidence, HistorySample,
    Outage, OutageEnding, OutageKind, ProbeId, Rename, Series, SeriesKey, SeriesKind, SessionEnd,
    Surroundings, WallTime, WatchSession,
};
use iolag_model::{FailureCode, Nanoseconds, Outcome};

use super::HistoryError;
use super::engine::{Engine, Row, Value};

/// The columns of the table `sample`, in the order in which they are written and read.
pub(crate) const SAMPLE_COLUMNS: [&str; 26] = [
    "change",
    "series",
    "probe",
    "intended_ns",
    "lag_ns",
    "duration_ns",
    "outcome",
    "failure",
    "value",
    "exit_status",
    "blocker",
    "configuration",
    "user_ns",
    "system_ns",
    "resident_bytes_max",
    "load_1min_milli",
    "load_5min_milli",
    "load_15min_milli",
    "runnable",
    "blocked",
    "stalled_cpu_us",
    "stalled_io_some_us",
    "stalled_io_full_us",
    "stalled_memory_some_us",
    "stalled_memory_full_us",
    "batch",
];

/// What is selected for [`Reader::sample_into`], with the table named: the columns, where the configuration is its key.
pub(crate) fn sample_selection() -> String {
    let column = |name: &str| match name {
        "configuration" => "configuration_key.key".to_owned(),
        name => format!("sample.{name}"),
    };
    SAMPLE_COLUMNS.map(column).join(", ")
}

/// What is selected for [`Reader::columned_into`], of the table `sample` alone: each column and each table more costs time in every row of a year.
pub(crate) const COLUMNED_SELECTION: &str = "probe, intended_ns, lag_ns, duration_ns, outcome, value, blocker, \
     configuration, user_ns, system_ns, load_5min_milli, runnable, blocked, stalled_io_some_us";

/// Where [`sample_selection`] is selected from.
pub(crate) const SAMPLE_SOURCE: &str =
    "sample LEFT JOIN configuration_key ON configuration_key.id = sample.configuration";

/// The same of those that do not count.
pub(crate) const SAMPLE_BESIDE_SOURCE: &str =
    "sample_beside AS sample LEFT JOIN configuration_key ON configuration_key.id = sample.configuration";

/// Reads one row after the other, with where to complain.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a> {
    row: &'a dyn Row,
    location: &'a str,
}

impl<'a> Reader<'a> {
    pub(crate) const fn new(row: &'a dyn Row, location: &'a str) -> Self {
        Self { row, location }
    }

    fn damaged(&self, what: String) -> HistoryError {
        HistoryError::Damaged { location: self.location.to_owned(), what }
    }

    fn lacks(&self, column: usize) -> HistoryError {
        self.damaged(format!("column {column} of an answer is empty"))
    }

    pub(crate) fn integer(&self, column: usize) -> Result<i64, HistoryError> {
        self.row.integer(column)?.ok_or_else(|| self.lacks(column))
    }

    fn time(&self, column: usize) -> Result<WallTime, HistoryError> {
        self.integer(column).map(WallTime)
    }

    fn optional_time(&self, column: usize) -> Result<Option<WallTime>, HistoryError> {
        Ok(self.row.integer(column)?.map(WallTime))
    }

    pub(crate) fn unsigned(&self, column: usize) -> Result<u64, HistoryError> {
        self.optional_unsigned(column)?.ok_or_else(|| self.lacks(column))
    }

    fn optional_unsigned(&self, column: usize) -> Result<Option<u64>, HistoryError> {
        self.narrow(self.row.integer(column)?)
    }

    fn duration(&self, column: usize) -> Result<Nanoseconds, HistoryError> {
        self.unsigned(column).map(Nanoseconds)
    }

    fn probe(&self, column: usize) -> Result<ProbeId, HistoryError> {
        self.integer(column).map(|number| ProbeId(number.cast_unsigned()))
    }

    /// The number in a smaller type.
    fn narrow<T: TryFrom<i64>>(&self, number: Option<i64>) -> Result<Option<T>, HistoryError> {
        number
            .map(|number| {
                T::try_from(number)
                    .map_err(|_| self.damaged(format!("the number {number} is out of its range")))
            })
            .transpose()
    }

    pub(crate) fn text(&self, column: usize) -> Result<String, HistoryError> {
        self.row.text(column)?.map(str::to_owned).ok_or_else(|| self.lacks(column))
    }

    /// What `known` calls by the name in this column.
    fn named<T: Copy>(
        &self,
        column: usize,
        known: &[T],
        name: impl Fn(T) -> &'static str,
    ) -> Result<Option<T>, HistoryError> {
        let Some(text) = self.row.text(column)? else { return Ok(None) };
        let found = known.iter().copied().find(|one| name(*one) == text);
        found.map(Some).ok_or_else(|| self.damaged(format!("{text:?} is not a name that this iolag knows")))
    }

    /// Host, target, task, part.
    pub(crate) fn series_key(&self, first: usize) -> Result<SeriesKey, HistoryError> {
        Ok(SeriesKey {
            host: self.text(first)?,
            target: self.text(first + 1)?,
            task: self.text(first + 2)?,
            part: self.text(first + 3)?,
        })
    }

    /// Overwrites `sample` with the row, all but its series.
    pub(crate) fn sample_into(&self, sample: &mut HistorySample) -> Result<(), HistoryError> {
        sample.probe = self.probe(2)?;
        sample.intended = self.time(3)?;
        sample.start = WallTime(sample.intended.0.wrapping_add(self.integer(4)?));
        sample.duration_ns = self.duration(5)?;
        sample.outcome = self.outcome(6)?;
        sample.failure = FailureCode(self.narrow(Some(self.integer(7)?))?.ok_or_else(|| self.lacks(7))?);
        sample.value = self.row.real(8)?;
        sample.exit_status = self.narrow(self.row.integer(9)?)?;
        sample.blocker = self.row.integer(10)?.map(|number| ProbeId(number.cast_unsigned()));
        sample.configuration = self.row.integer(11)?.map(|number| ConfigurationKey(number.cast_unsigned()));
        sample.processor_ns = self.pair(12)?;
        sample.resident_bytes_max = self.optional_unsigned(14)?;
        sample.surroundings = self.surroundings(15)?;
        sample.batch = self.batch(25)?;
        Ok(())
    }

    /// Overwrites what [`iolag_model::HistoryColumns`] have of a sample with the row; `configurations` are the keys by their numbers.
    pub(crate) fn columned_into(
        &self,
        sample: &mut HistorySample,
        configurations: &BTreeMap<i64, ConfigurationKey>,
    ) -> Result<(), HistoryError> {
        sample.probe = self.probe(0)?;
        sample.intended = self.time(1)?;
        sample.start = WallTime(sample.intended.0.wrapping_add(self.integer(2)?));
        sample.duration_ns = self.duration(3)?;
        sample.outcome = self.outcome(4)?;
        sample.value = self.row.real(5)?;
        sample.blocker = self.row.integer(6)?.map(|number| ProbeId(number.cast_unsigned()));
        sample.configuration = self.row.integer(7)?.and_then(|number| configurations.get(&number).copied());
        sample.processor_ns = self.pair(8)?;
        sample.surroundings = match self.narrow(self.row.integer(10)?)? {
            None => None,
            Some(load_5min) => Some(Surroundings {
                load_milli: [0, load_5min, 0],
                runnable: self.small(11)?,
                blocked: self.small(12)?,
                stalled_cpu_us: None,
                stalled_io_us: self.optional_unsigned(13)?.map(|some| [some, 0]),
                stalled_memory_us: None,
            }),
        };
        Ok(())
    }

    fn outcome(&self, column: usize) -> Result<Outcome, HistoryError> {
        let number = self.integer(column)?;
        let outcome = u8::try_from(number).ok().and_then(|number| Outcome::try_from(number).ok());
        outcome.ok_or_else(|| {
            self.damaged(format!("{number} is not the number of an outcome that this iolag knows"))
        })
    }

    fn batch(&self, column: usize) -> Result<Option<BatchId>, HistoryError> {
        self.unsigned(column).map(|number| (number > 0).then_some(BatchId(number)))
    }

    fn pair(&self, first: usize) -> Result<Option<[u64; 2]>, HistoryError> {
        let Some(one) = self.optional_unsigned(first)? else { return Ok(None) };
        Ok(self.optional_unsigned(first + 1)?.map(|other| [one, other]))
    }

    fn small(&self, column: usize) -> Result<u32, HistoryError> {
        self.narrow(Some(self.integer(column)?))?.ok_or_else(|| self.lacks(column))
    }

    fn surroundings(&self, first: usize) -> Result<Option<Surroundings>, HistoryError> {
        let Some(load_1min) = self.narrow(self.row.integer(first)?)? else { return Ok(None) };
        Ok(Some(Surroundings {
            load_milli: [load_1min, self.small(first + 1)?, self.small(first + 2)?],
            runnable: self.small(first + 3)?,
            blocked: self.small(first + 4)?,
            stalled_cpu_us: self.optional_unsigned(first + 5)?,
            stalled_io_us: self.pair(first + 6)?,
            stalled_memory_us: self.pair(first + 8)?,
        }))
    }
}

/// A sample to be overwritten by [`Reader::sample_into`].
pub(crate) const fn blank_sample(series: SeriesKey) -> HistorySample {
    HistorySample::new(series, ProbeId(0), WallTime(0), Nanoseconds::ZERO, Outcome::Ok)
}

/// What is selected for [`Reader::series_key`].
pub(crate) const SERIES_KEY_SELECTION: &str = "series.host, series.target, series.task, series.part";

/// What is selected for [`series`].
pub(crate) const SERIES_SELECTION: &str =
    "host, target, task, part, kind, resolution_ns, period_ns, deadline_ns, description, unit, described_ns";

/// A series and whether it was ever described.
pub(crate) fn series(reader: Reader<'_>) -> Result<(Series, bool), HistoryError> {
    let described = reader.optional_time(10)?;
    let kind = reader.named(4, &SERIES_KINDS, SeriesKind::name)?.unwrap_or(SeriesKind::Task);
    let series = Series {
        key: reader.series_key(0)?,
        kind,
        resolution_ns: reader.duration(5)?,
        period_ns: reader.duration(6)?,
        deadline_ns: reader.duration(7)?,
        description: reader.text(8)?,
        unit: reader.text(9)?,
        described: described.unwrap_or_default(),
    };
    Ok((series, described.is_some()))
}

/// What is selected for [`configuration`].
pub(crate) const CONFIGURATION_SELECTION: &str =
    "configuration_key.key, configuration.host, configuration.target, first_seen_ns, facts";

pub(crate) fn configuration(reader: Reader<'_>) -> Result<Configuration, HistoryError> {
    let facts = reader.text(4)?;
    Ok(Configuration {
        key: ConfigurationKey(reader.integer(0)?.cast_unsigned()),
        host: reader.text(1)?,
        target: reader.text(2)?,
        first_seen: reader.time(3)?,
        facts: serde_json::from_str(&facts)
            .map_err(|error| reader.damaged(format!("facts are not JSON: {error}")))?,
    })
}

/// What is selected for [`event`].
pub(crate) const EVENT_SELECTION: &str =
    "id, begin_ns, end_ns, host, target, source, kind, text, link, author, revised_ns, removed";

pub(crate) fn event(reader: Reader<'_>) -> Result<Event, HistoryError> {
    let source = reader.named(5, &EVENT_SOURCES, event_source_name)?.ok_or_else(|| reader.lacks(5))?;
    Ok(Event {
        id: reader.text(0)?,
        begin: reader.time(1)?,
        end: reader.optional_time(2)?,
        host: reader.text(3)?,
        target: reader.text(4)?,
        source,
        kind: reader.text(6)?,
        text: reader.text(7)?,
        link: reader.row.text(8)?.map(str::to_owned),
        author: reader.text(9)?,
        revised: reader.optional_time(10)?,
        state: if reader.integer(11)? == 0 { EventState::Holds } else { EventState::Removed },
        batch: None,
    })
}

/// The same with a batch that brought it behind.
pub(crate) fn event_of_batch(reader: Reader<'_>) -> Result<Event, HistoryError> {
    Ok(Event { batch: reader.batch(12)?, ..event(reader)? })
}

/// What is selected for [`batch`].
pub(crate) const BATCH_SELECTION: &str = "id, made_ns, file, hash, options, author, undone_ns";

/// A batch and whether it was ever described.
pub(crate) fn batch(reader: Reader<'_>) -> Result<(Batch, bool), HistoryError> {
    let made = reader.optional_time(1)?;
    let batch = Batch {
        id: BatchId(reader.unsigned(0)?),
        made: made.unwrap_or_default(),
        file: reader.text(2)?,
        hash: reader.text(3)?,
        options: reader.text(4)?,
        author: reader.text(5)?,
        undone: reader.optional_time(6)?,
    };
    Ok((batch, made.is_some()))
}

/// What is selected for [`outage`].
pub(crate) const OUTAGE_SELECTION: &str = "host, mount, probe, begin_ns, end_ns, ending, skipped, kind";

/// Its targets are in a table of their own.
pub(crate) fn outage(reader: Reader<'_>) -> Result<Outage, HistoryError> {
    Ok(Outage {
        kind: reader.named(7, &OUTAGE_KINDS, outage_kind_name)?.unwrap_or_default(),
        targets: BTreeSet::new(),
        host: reader.text(0)?,
        mount: reader.text(1)?,
        probe: reader.probe(2)?,
        begin: reader.time(3)?,
        end: reader.optional_time(4)?,
        ending: reader.named(5, &OUTAGE_ENDINGS, outage_ending_name)?,
        skipped: reader.unsigned(6)?,
    })
}

/// What is selected for [`rename`].
pub(crate) const RENAME_SELECTION: &str = "host, old_name, new_name, made_ns, author";

pub(crate) fn rename(reader: Reader<'_>) -> Result<Rename, HistoryError> {
    Ok(Rename {
        host: reader.text(0)?,
        old: reader.text(1)?,
        new: reader.text(2)?,
        at: reader.time(3)?,
        author: reader.text(4)?,
    })
}

/// What is selected for [`evidence`].
pub(crate) const EVIDENCE_SELECTION: &str = "host, probe, at_ns, text";

pub(crate) fn evidence(reader: Reader<'_>) -> Result<Evidence, HistoryError> {
    Ok(Evidence {
        host: reader.text(0)?,
        probe: reader.probe(1)?,
        at: reader.time(2)?,
        text: reader.text(3)?,
    })
}

/// What is selected for [`session`].
pub(crate) const SESSION_SELECTION: &str = "host, boot_id, begin_ns, last_seen_ns, stopped, iolag_version";

pub(crate) fn session(reader: Reader<'_>) -> Result<WatchSession, HistoryError> {
    Ok(WatchSession {
        host: reader.text(0)?,
        boot_id: reader.text(1)?,
        begin: reader.time(2)?,
        last_seen: reader.time(3)?,
        end: if reader.integer(4)? == 0 { SessionEnd::Open } else { SessionEnd::Stopped },
        iolag_version: reader.text(5)?,
    })
}

/// What a statement gives, row by row.
pub(crate) fn list<T>(
    engine: &mut dyn Engine,
    statement: &str,
    values: &[Value<'_>],
    read: impl Fn(Reader<'_>) -> Result<T, HistoryError>,
) -> Result<Vec<T>, HistoryError> {
    let location = engine.location().to_owned();
    let mut list = Vec::new();
    engine.query(statement, values, &mut |row| {
        list.push(read(Reader::new(row, &location))?);
        Ok(())
    })?;
    Ok(list)
}

const SERIES_KINDS: [SeriesKind; 7] = [
    SeriesKind::Task,
    SeriesKind::Control,
    SeriesKind::Covariate,
    SeriesKind::ImportedDuration,
    SeriesKind::ImportedValue,
    SeriesKind::Benchmark,
    SeriesKind::BenchmarkControl,
];

const EVENT_SOURCES: [EventSource; 5] = [
    EventSource::Note,
    EventSource::Configuration,
    EventSource::List,
    EventSource::Journal,
    EventSource::Watch,
];

/// The name in the tables: the one in exports.
pub(crate) const fn event_source_name(source: EventSource) -> &'static str {
    match source {
        EventSource::Note => "note",
        EventSource::Configuration => "configuration",
        EventSource::List => "list",
        EventSource::Journal => "journal",
        EventSource::Watch => "watch",
    }
}

const OUTAGE_KINDS: [OutageKind; 2] = [OutageKind::NoAnswer, OutageKind::NotMounted];

/// The name in the tables: the one in exports.
pub(crate) const fn outage_kind_name(kind: OutageKind) -> &'static str {
    match kind {
        OutageKind::NoAnswer => "no-answer",
        OutageKind::NotMounted => "not-mounted",
    }
}

const OUTAGE_ENDINGS: [OutageEnding; 4] =
    [OutageEnding::Recovered, OutageEnding::Remounted, OutageEnding::Unmounted, OutageEnding::Rebooted];

/// The name in the tables: the one in exports.
pub(crate) const fn outage_ending_name(ending: OutageEnding) -> &'static str {
    match ending {
        OutageEnding::Recovered => "recovered",
        OutageEnding::Remounted => "remounted",
        OutageEnding::Unmounted => "unmounted",
        OutageEnding::Rebooted => "rebooted",
    }
}
