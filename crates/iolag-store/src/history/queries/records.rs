//! Everything, as it was written.

use iolag_model::{HistoryRecord, WallSpan};

use super::circumstances::{batches, overlap, sessions};
use super::configurations::written_configurations;
use super::outages::{told_targets, written_outages};
use super::samples::{samples_statement, samples_values};
use super::series::written_series;
use crate::history::engine::Engine;
use crate::history::names::written_renames;
use crate::history::rows::{
    self, EVENT_SELECTION, EVIDENCE_SELECTION, Reader, blank_sample, list, sample_selection,
};
use crate::history::{HistoryError, RecordSink};

/// All records as they were written; samples are those of `sources`.
pub(crate) fn records(
    engine: &mut dyn Engine,
    sources: &[&str],
    span: WallSpan,
    sink: &mut RecordSink<'_>,
) -> Result<(), HistoryError> {
    let mut give = |record| sink(record).map_err(|source| HistoryError::Sink { source });
    let series = written_series(engine)?;
    for row in series.iter().filter(|row| row.is_described) {
        give(HistoryRecord::Series(row.series.clone()))?;
    }
    for configuration in written_configurations(engine)? {
        give(HistoryRecord::Configuration(configuration))?;
    }
    for content in batches(engine)?.into_iter().filter(|content| content.is_described) {
        give(HistoryRecord::Batch(content.batch))?;
    }
    for session in sessions(engine, span)? {
        give(HistoryRecord::Session(session))?;
    }
    let statement = format!(
        "SELECT {EVENT_SELECTION}, event_batch.batch FROM event JOIN event_batch ON event_batch.event = event.id \
         WHERE begin_ns < $1 AND coalesce(end_ns, begin_ns) >= $2 ORDER BY begin_ns, id, event_batch.batch"
    );
    for event in list(engine, &statement, &overlap(span), rows::event_of_batch)? {
        give(HistoryRecord::Event(event))?;
    }
    for mut outage in written_outages(engine, span)? {
        outage.targets = told_targets(engine, &outage)?;
        give(HistoryRecord::Outage(outage))?;
    }
    for rename in written_renames(engine)? {
        give(HistoryRecord::Rename(rename))?;
    }
    let location = engine.location().to_owned();
    for row in series {
        let mut sample = blank_sample(row.series.key);
        for source in sources {
            engine.query(
                &samples_statement(
                    &sample_selection(),
                    source,
                    "sample.intended_ns, sample.probe, sample.batch",
                ),
                &samples_values(row.number, span),
                &mut |row| {
                    Reader::new(row, &location).sample_into(&mut sample)?;
                    give(HistoryRecord::Sample(sample.clone()))
                },
            )?;
        }
    }
    let statement = format!(
        "SELECT {EVIDENCE_SELECTION} FROM evidence WHERE at_ns < $1 AND at_ns >= $2 ORDER BY host, probe, at_ns"
    );
    engine.query(&statement, &overlap(span), &mut |row| {
        give(HistoryRecord::Evidence(rows::evidence(Reader::new(row, &location))?))
    })
}
