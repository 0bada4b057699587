//! What was around the samples: events, sessions of watching, imports, evidence.

use iolag_model::{BatchContent, Event, Evidence, ProbeId, WallSpan, WatchSession};

use crate::history::HistoryError;
use crate::history::engine::{Engine, Value};
use crate::history::names::Names;
use crate::history::rows::{
    self, BATCH_SELECTION, EVENT_SELECTION, EVIDENCE_SELECTION, SESSION_SELECTION, list,
};

pub(crate) fn events(engine: &mut dyn Engine, span: WallSpan) -> Result<Vec<Event>, HistoryError> {
    let statement = format!(
        "SELECT {EVENT_SELECTION} FROM event WHERE begin_ns < $1 AND coalesce(end_ns, begin_ns) >= $2 AND removed = 0 \
         AND EXISTS (SELECT 1 FROM event_batch WHERE event_batch.event = event.id \
         AND event_batch.batch NOT IN (SELECT batch.id FROM batch WHERE undone_ns IS NOT NULL)) ORDER BY begin_ns, id"
    );
    let names = Names::read(engine)?;
    list(engine, &statement, &overlap(span), |reader| Ok(names.event(rows::event(reader)?)))
}

pub(crate) fn sessions(engine: &mut dyn Engine, span: WallSpan) -> Result<Vec<WatchSession>, HistoryError> {
    let statement = format!(
        "SELECT {SESSION_SELECTION} FROM session WHERE begin_ns < $1 AND last_seen_ns >= $2 ORDER BY begin_ns, host"
    );
    list(engine, &statement, &overlap(span), rows::session)
}

pub(crate) fn batches(engine: &mut dyn Engine) -> Result<Vec<BatchContent>, HistoryError> {
    // That there is a batch is said where the index knows no others.
    let count = |table: &str, more: &str| {
        format!("(SELECT count(*) FROM {table} WHERE {table}.batch = batch.id{more})")
    };
    let statement = format!(
        "SELECT {BATCH_SELECTION}, {}, {}, {} FROM batch ORDER BY id",
        count("sample", " AND sample.batch <> 0"),
        count("sample_beside", ""),
        count("event_batch", ""),
    );
    list(engine, &statement, &[], |reader| {
        let (batch, is_described) = rows::batch(reader)?;
        Ok(BatchContent {
            batch,
            is_described,
            samples_counting: reader.unsigned(7)?,
            samples_beside: reader.unsigned(8)?,
            events: reader.unsigned(9)?,
        })
    })
}

pub(crate) fn evidence(
    engine: &mut dyn Engine,
    host: &str,
    probe: ProbeId,
) -> Result<Vec<Evidence>, HistoryError> {
    let statement =
        format!("SELECT {EVIDENCE_SELECTION} FROM evidence WHERE host = $1 AND probe = $2 ORDER BY at_ns");
    list(engine, &statement, &[Value::Text(host), Value::Integer(probe.0.cast_signed())], rows::evidence)
}

/// What begins before the end of the span, and ends after its begin.
pub(super) const fn overlap(span: WallSpan) -> [Value<'static>; 2] {
    [Value::Integer(span.end.0), Value::Integer(span.begin.0)]
}
