//! A history in a database, whichever it is.

use iolag_model::{
    BatchContent, Configuration, Event, Evidence, HistoryColumns, HistoryRecord, HistorySample, Outage,
    ProbeId, Rename, Series, SeriesKey, WallSpan, WatchSession,
};

use super::append::{self, Numbers};
use super::engine::{Engine, Purpose};
use super::names;
use super::queries;
use super::rows::{SAMPLE_BESIDE_SOURCE, SAMPLE_SOURCE};
use super::{Appended, ChangeMark, Changes, History, HistoryError, RecordSink};

/// A history in a database that is reached through `E`.
#[derive(Debug)]
pub struct DatabaseHistory<E> {
    engine: E,
    numbers: Numbers,
    /// The connection through which the numbers were learnt.
    connections: u64,
}

impl<E: Engine> DatabaseHistory<E> {
    pub(crate) fn new(engine: E) -> Self {
        let connections = engine.connections();
        Self { engine, numbers: Numbers::default(), connections }
    }

    pub(crate) const fn engine(&self) -> &E {
        &self.engine
    }

    /// Does `work` in a transaction.
    fn transact<T>(
        &mut self,
        purpose: Purpose,
        work: impl FnOnce(&mut E, &mut Numbers) -> Result<T, HistoryError>,
    ) -> Result<T, HistoryError> {
        self.engine.begin(purpose)?;
        if self.engine.connections() != self.connections {
            self.numbers.forget();
            self.connections = self.engine.connections();
        }
        let done = work(&mut self.engine, &mut self.numbers);
        let done = done.and_then(|value| self.engine.commit().map(|()| value));
        if done.is_err() {
            self.engine.roll_back();
            self.numbers.forget();
        }
        done
    }
}

impl<E: Engine> History for DatabaseHistory<E> {
    fn location(&self) -> &str {
        self.engine.location()
    }

    fn append(&mut self, records: &[HistoryRecord]) -> Result<Appended, HistoryError> {
        if records.is_empty() {
            return Ok(Appended::default());
        }
        self.transact(Purpose::Write, |engine, numbers| append::write(engine, numbers, records))
    }

    fn hosts(&mut self) -> Result<Vec<String>, HistoryError> {
        queries::hosts(&mut self.engine)
    }

    fn series(&mut self) -> Result<Vec<Series>, HistoryError> {
        queries::series(&mut self.engine)
    }

    fn samples(&mut self, series: &SeriesKey, span: WallSpan) -> Result<HistoryColumns, HistoryError> {
        // Of one moment: a configuration that comes while samples are read is in neither.
        self.transact(Purpose::Snapshot, |engine, _| queries::samples(engine, series, span))
    }

    fn samples_from(
        &mut self,
        series: &SeriesKey,
        probe: ProbeId,
        samples_max: usize,
    ) -> Result<HistoryColumns, HistoryError> {
        self.transact(Purpose::Snapshot, |engine, _| {
            queries::samples_from(engine, series, probe, samples_max)
        })
    }

    fn covered(&mut self, series: &SeriesKey, span: WallSpan) -> Result<Option<WallSpan>, HistoryError> {
        queries::covered(&mut self.engine, series, span)
    }

    fn probe(
        &mut self,
        host: &str,
        probe: ProbeId,
        span: WallSpan,
    ) -> Result<Vec<HistorySample>, HistoryError> {
        queries::probe(&mut self.engine, host, probe, span)
    }

    fn newest_change(&mut self) -> Result<ChangeMark, HistoryError> {
        queries::newest_change(&mut self.engine)
    }

    fn changes_after(&mut self, mark: ChangeMark, samples_max: usize) -> Result<Changes, HistoryError> {
        queries::changes_after(&mut self.engine, mark, samples_max)
    }

    fn events(&mut self, span: WallSpan) -> Result<Vec<Event>, HistoryError> {
        queries::events(&mut self.engine, span)
    }

    fn outages(&mut self, span: WallSpan) -> Result<Vec<Outage>, HistoryError> {
        queries::outages(&mut self.engine, span)
    }

    fn renames(&mut self) -> Result<Vec<Rename>, HistoryError> {
        names::written_renames(&mut self.engine)
    }

    fn batches(&mut self) -> Result<Vec<BatchContent>, HistoryError> {
        queries::batches(&mut self.engine)
    }

    fn sessions(&mut self, span: WallSpan) -> Result<Vec<WatchSession>, HistoryError> {
        queries::sessions(&mut self.engine, span)
    }

    fn configurations(&mut self) -> Result<Vec<Configuration>, HistoryError> {
        queries::configurations(&mut self.engine)
    }

    fn present_configurations(&mut self, host: &str) -> Result<Vec<Configuration>, HistoryError> {
        queries::present_configurations(&mut self.engine, host)
    }

    fn open_outages(&mut self, host: &str) -> Result<Vec<Outage>, HistoryError> {
        queries::open_outages(&mut self.engine, host)
    }

    fn evidence(&mut self, host: &str, probe: ProbeId) -> Result<Vec<Evidence>, HistoryError> {
        queries::evidence(&mut self.engine, host, probe)
    }

    fn records(&mut self, span: WallSpan, sink: &mut RecordSink<'_>) -> Result<(), HistoryError> {
        let sources = [SAMPLE_SOURCE, SAMPLE_BESIDE_SOURCE];
        self.transact(Purpose::Snapshot, |engine, _| queries::records(engine, &sources, span, sink))
    }

    fn counting_records(&mut self, span: WallSpan, sink: &mut RecordSink<'_>) -> Result<(), HistoryError> {
        let sources = [SAMPLE_SOURCE];
        self.transact(Purpose::Snapshot, |engine, _| queries::records(engine, &sources, span, sink))
    }
}
