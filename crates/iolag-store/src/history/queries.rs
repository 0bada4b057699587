//! What is asked of a history. Statements name a total order, so that equal contents give equal answers.

use std::collections::{BTreeMap, BTreeSet};

use iolag_model::{
    BatchContent, Configuration, ConfigurationKey, Event, Evidence, HistoryColumns, HistoryRecord,
    HistorySample, Outage, ProbeId, Rename, Series, SeriesKey, WallSpan, WallTime, WatchSession,
};

use super::append::number;
use super::engine::{Engine, Value};
use super::rows::{
    self, BATCH_SELECTION, COLUMNED_SELECTION, CONFIGURATION_SELECTION, EVENT_SELECTION, EVIDENCE_SELECTION,
    OUTAGE_SELECTION, RENAME_SELECTION, Reader, SAMPLE_COLUMNS, SAMPLE_SOURCE, SERIES_SELECTION,
    SESSION_SELECTION, blank_sample, sample_selection,
};
use super::{ChangeMark, Changes, HistoryError, RecordSink};

/// A series with its number in this database.
pub(crate) struct SeriesRow {
    number: i64,
    pub(crate) series: Series,
    is_described: bool,
}

pub(crate) fn hosts(engine: &mut dyn Engine) -> Result<Vec<String>, HistoryError> {
    let statement = "SELECT host FROM series UNION SELECT host FROM session UNION SELECT host FROM outage \
                     UNION SELECT host FROM event UNION SELECT host FROM configuration ORDER BY host";
    let mut hosts = list(engine, statement, &[], |reader| reader.text(0))?;
    hosts.retain(|host| !host.is_empty());
    Ok(hosts)
}

pub(crate) fn series(engine: &mut dyn Engine) -> Result<Vec<SeriesRow>, HistoryError> {
    let statement = format!("SELECT {SERIES_SELECTION}, id FROM series ORDER BY host, target, task, part");
    list(engine, &statement, &[], |reader| {
        let (series, is_described) = rows::series(reader)?;
        Ok(SeriesRow { number: reader.integer(11)?, series, is_described })
    })
}

pub(crate) fn samples(
    engine: &mut dyn Engine,
    key: &SeriesKey,
    span: WallSpan,
) -> Result<HistoryColumns, HistoryError> {
    let Some(series) = number_of(engine, key)? else { return Ok(HistoryColumns::default()) };
    // Counted by the index: columns that grow take twice the room.
    let statement =
        "SELECT count(*) FROM sample WHERE series = $1 AND intended_ns >= $2 AND intended_ns < $3";
    let count = number(engine, statement, &samples_values(series, span))?.unwrap_or(0);
    let mut columns = HistoryColumns::with_room(usize::try_from(count).unwrap_or(0));
    let location = engine.location().to_owned();
    let mut sample = blank_sample(key.clone());
    let statement = "SELECT id, key FROM configuration_key";
    let configurations = list(engine, statement, &[], |reader| {
        Ok((reader.integer(0)?, ConfigurationKey(reader.integer(1)?.cast_unsigned())))
    })?;
    let configurations: BTreeMap<i64, ConfigurationKey> = configurations.into_iter().collect();
    // An index has this order; that of the few samples that were due at one moment is made here, as a database would sort them all for it.
    let statement = samples_statement(COLUMNED_SELECTION, "sample", "intended_ns");
    engine.query(&statement, &samples_values(series, span), &mut |row| {
        Reader::new(row, &location).columned_into(&mut sample, &configurations)?;
        columns.push(&sample);
        Ok(())
    })?;
    Ok(if columns.intended.is_sorted_by(|one, next| one < next) { columns } else { in_order(&columns) })
}

fn number_of(engine: &mut dyn Engine, key: &SeriesKey) -> Result<Option<i64>, HistoryError> {
    let values = [&key.host, &key.target, &key.task, &key.part].map(|text| Value::Text(text));
    number(
        engine,
        "SELECT id FROM series WHERE host = $1 AND target = $2 AND task = $3 AND part = $4",
        &values,
    )
}

pub(crate) fn covered(
    engine: &mut dyn Engine,
    key: &SeriesKey,
    span: WallSpan,
) -> Result<Option<WallSpan>, HistoryError> {
    let Some(series) = number_of(engine, key)? else { return Ok(None) };
    // Each by itself: an index knows the least and the greatest without a look at what is between.
    let mut of = |what: &str| {
        let statement = format!(
            "SELECT {what}(intended_ns) FROM sample WHERE series = $1 AND intended_ns >= $2 AND intended_ns < $3"
        );
        Ok(number(engine, &statement, &samples_values(series, span))?.map(WallTime))
    };
    Ok(of("min")?.zip(of("max")?).map(|(begin, end)| WallSpan { begin, end }))
}

pub(crate) fn probe(
    engine: &mut dyn Engine,
    host: &str,
    probe: ProbeId,
    span: WallSpan,
) -> Result<Vec<HistorySample>, HistoryError> {
    let statement = format!(
        "SELECT {}, series.host, series.target, series.task, series.part FROM {SAMPLE_SOURCE} \
         JOIN series ON series.id = sample.series WHERE series.host = $1 AND sample.probe = $2 \
         AND sample.intended_ns >= $3 AND sample.intended_ns < $4 \
         ORDER BY series.target, series.task, series.part",
        sample_selection()
    );
    let values = [
        Value::Text(host),
        Value::Integer(probe.0.cast_signed()),
        Value::Integer(span.begin.0),
        Value::Integer(span.end.0),
    ];
    list(engine, &statement, &values, keyed_sample)
}

/// A sample with the key of its series after its columns.
fn keyed_sample(reader: Reader<'_>) -> Result<HistorySample, HistoryError> {
    let mut sample = blank_sample(reader.series_key(SAMPLE_COLUMNS.len())?);
    reader.sample_into(&mut sample)?;
    Ok(sample)
}

fn in_order(columns: &HistoryColumns) -> HistoryColumns {
    let mut rows: Vec<usize> = (0..columns.len()).collect();
    rows.sort_by_key(|row| (columns.intended[*row], columns.probe[*row].0.cast_signed()));
    columns.rows(&rows)
}

fn samples_statement(selection: &str, source: &str, order: &str) -> String {
    format!(
        "SELECT {selection} FROM {source} WHERE sample.series = $1 AND sample.intended_ns >= $2 \
         AND sample.intended_ns < $3 ORDER BY {order}"
    )
}

const fn samples_values(series: i64, span: WallSpan) -> [Value<'static>; 3] {
    [Value::Integer(series), Value::Integer(span.begin.0), Value::Integer(span.end.0)]
}

pub(crate) fn newest_change(engine: &mut dyn Engine) -> Result<ChangeMark, HistoryError> {
    Ok(ChangeMark(number(engine, "SELECT max(change) FROM sample", &[])?.unwrap_or(0)))
}

pub(crate) fn changes_after(
    engine: &mut dyn Engine,
    mark: ChangeMark,
    samples_max: usize,
) -> Result<Changes, HistoryError> {
    let statement = format!(
        "SELECT {}, series.host, series.target, series.task, series.part FROM {SAMPLE_SOURCE} \
         JOIN series ON series.id = sample.series WHERE sample.change > $1 ORDER BY sample.change LIMIT $2",
        sample_selection()
    );
    let values = [Value::Integer(mark.0), Value::Integer(i64::try_from(samples_max).unwrap_or(i64::MAX))];
    let mut changes = Changes { samples: Vec::new(), mark };
    let location = engine.location().to_owned();
    engine.query(&statement, &values, &mut |row| {
        let reader = Reader::new(row, &location);
        changes.samples.push(keyed_sample(reader)?);
        changes.mark = ChangeMark(reader.integer(0)?);
        Ok(())
    })?;
    Ok(changes)
}

pub(crate) fn events(engine: &mut dyn Engine, span: WallSpan) -> Result<Vec<Event>, HistoryError> {
    let statement = format!(
        "SELECT {EVENT_SELECTION} FROM event WHERE begin_ns < $1 AND coalesce(end_ns, begin_ns) >= $2 AND removed = 0 \
         AND EXISTS (SELECT 1 FROM event_batch WHERE event_batch.event = event.id \
         AND event_batch.batch NOT IN (SELECT batch.id FROM batch WHERE undone_ns IS NOT NULL)) ORDER BY begin_ns, id"
    );
    list(engine, &statement, &overlap(span), rows::event)
}

pub(crate) fn outages(engine: &mut dyn Engine, span: WallSpan) -> Result<Vec<Outage>, HistoryError> {
    let statement = format!(
        "SELECT {OUTAGE_SELECTION} FROM outage WHERE begin_ns < $1 AND (end_ns IS NULL OR end_ns >= $2) \
         ORDER BY begin_ns, host, probe"
    );
    let mut outages = list(engine, &statement, &overlap(span), rows::outage)?;
    outages.iter_mut().try_for_each(|outage| attribute(engine, outage))?;
    Ok(outages)
}

/// Adds the targets of an outage: those that were told, or else that of its probe's samples.
fn attribute(engine: &mut dyn Engine, outage: &mut Outage) -> Result<(), HistoryError> {
    outage.targets = told_targets(engine, outage)?;
    if outage.targets.is_empty() {
        let statement = "SELECT target FROM series WHERE host = $1 AND target <> '' \
                         AND EXISTS (SELECT 1 FROM sample WHERE sample.series = series.id AND sample.probe = $2)";
        outage.targets = targets_by(engine, statement, outage)?;
    }
    Ok(())
}

fn told_targets(engine: &mut dyn Engine, outage: &Outage) -> Result<BTreeSet<String>, HistoryError> {
    targets_by(engine, "SELECT target FROM outage_target WHERE host = $1 AND probe = $2", outage)
}

fn targets_by(
    engine: &mut dyn Engine,
    statement: &str,
    outage: &Outage,
) -> Result<BTreeSet<String>, HistoryError> {
    let values = [Value::Text(&outage.host), Value::Integer(outage.probe.0.cast_signed())];
    Ok(list(engine, statement, &values, |reader| reader.text(0))?.into_iter().collect())
}

pub(crate) fn renames(engine: &mut dyn Engine) -> Result<Vec<Rename>, HistoryError> {
    let statement = format!("SELECT {RENAME_SELECTION} FROM rename ORDER BY host, made_ns, old_name");
    list(engine, &statement, &[], rows::rename)
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

/// What begins before the end of the span, and ends after its begin.
const fn overlap(span: WallSpan) -> [Value<'static>; 2] {
    [Value::Integer(span.end.0), Value::Integer(span.begin.0)]
}

pub(crate) fn configurations(engine: &mut dyn Engine) -> Result<Vec<Configuration>, HistoryError> {
    let statement = format!(
        "SELECT {CONFIGURATION_SELECTION} FROM configuration \
         JOIN configuration_key ON configuration_key.id = configuration.configuration \
         ORDER BY configuration.host, configuration.target, first_seen_ns, configuration_key.key"
    );
    list(engine, &statement, &[], rows::configuration)
}

pub(crate) fn present_configurations(
    engine: &mut dyn Engine,
    host: &str,
) -> Result<Vec<Configuration>, HistoryError> {
    // Written so that every database looks at one sample of each series, found by the index; imported ones have no configuration to find.
    let newest = |column: &str| {
        format!(
            "(SELECT {column} FROM sample WHERE sample.series = series.id AND sample.configuration IS NOT NULL \
             ORDER BY sample.intended_ns DESC LIMIT 1)"
        )
    };
    let statement = format!(
        "SELECT target, {}, {}, (SELECT key FROM configuration_key WHERE id = {}) FROM series \
         WHERE host = $1 AND coalesce(kind, 'task') IN ('task', 'control') ORDER BY target",
        newest("intended_ns"),
        newest("probe"),
        newest("configuration"),
    );
    let mut newest: BTreeMap<String, (WallTime, i64, ConfigurationKey)> = BTreeMap::new();
    engine.query(&statement, &[Value::Text(host)], &mut |row| {
        // Nothing was measured in this series yet.
        let (Some(intended), Some(probe), Some(key)) = (row.integer(1)?, row.integer(2)?, row.integer(3)?)
        else {
            return Ok(());
        };
        let found = (WallTime(intended), probe, ConfigurationKey(key.cast_unsigned()));
        let known = newest.entry(row.text(0)?.unwrap_or_default().to_owned()).or_insert(found);
        *known = found.max(*known);
        Ok(())
    })?;
    let statement = format!(
        "SELECT {CONFIGURATION_SELECTION} FROM configuration \
         JOIN configuration_key ON configuration_key.id = configuration.configuration \
         WHERE configuration.host = $1 ORDER BY configuration.target, first_seen_ns, configuration_key.key"
    );
    let last_known = |known: &Configuration| match newest.get(&known.target) {
        Some((intended, _, key)) if *key == known.key => (known.first_seen.max(*intended), true),
        _ => (known.first_seen, false),
    };
    let mut present: Vec<Configuration> = Vec::new();
    for known in list(engine, &statement, &[Value::Text(host)], rows::configuration)? {
        match present.last_mut() {
            Some(last) if last.target == known.target => {
                if last_known(&known) >= last_known(last) {
                    *last = known;
                }
            }
            _ => present.push(known),
        }
    }
    Ok(present)
}

pub(crate) fn open_outages(engine: &mut dyn Engine, host: &str) -> Result<Vec<Outage>, HistoryError> {
    let statement = format!(
        "SELECT {OUTAGE_SELECTION} FROM outage WHERE host = $1 AND end_ns IS NULL ORDER BY begin_ns, probe"
    );
    let mut outages = list(engine, &statement, &[Value::Text(host)], rows::outage)?;
    outages.iter_mut().try_for_each(|outage| attribute(engine, outage))?;
    Ok(outages)
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

/// All records; samples are those of `sources`.
pub(crate) fn records(
    engine: &mut dyn Engine,
    sources: &[&str],
    span: WallSpan,
    sink: &mut RecordSink<'_>,
) -> Result<(), HistoryError> {
    let mut give = |record| sink(record).map_err(|source| HistoryError::Sink { source });
    let series = series(engine)?;
    for row in series.iter().filter(|row| row.is_described) {
        give(HistoryRecord::Series(row.series.clone()))?;
    }
    for configuration in configurations(engine)? {
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
    for mut outage in outages(engine, span)? {
        outage.targets = told_targets(engine, &outage)?;
        give(HistoryRecord::Outage(outage))?;
    }
    for rename in renames(engine)? {
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

fn list<T>(
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
