//! What is asked of a history. Statements name a total order, so that equal contents give equal answers.

use std::collections::{BTreeMap, BTreeSet};

use iolag_model::{
    BatchContent, Configuration, ConfigurationKey, Event, Evidence, HistoryColumns, HistoryRecord,
    HistorySample, Outage, ProbeId, Rename, Series, SeriesKey, WallSpan, WallTime, WatchSession,
};

use super::append::number;
use super::engine::{Engine, Value};
use super::names::Names;
use super::rows::{
    self, BATCH_SELECTION, COLUMNED_SELECTION, CONFIGURATION_SELECTION, EVENT_SELECTION, EVIDENCE_SELECTION,
    OUTAGE_SELECTION, RENAME_SELECTION, Reader, SAMPLE_COLUMNS, SAMPLE_SOURCE, SERIES_KEY_SELECTION,
    SERIES_SELECTION, SESSION_SELECTION, blank_sample, sample_selection,
};
use super::{ChangeMark, Changes, HistoryError, RecordSink};

/// A series as it was written, with its number in this database.
struct SeriesRow {
    number: i64,
    series: Series,
    is_described: bool,
}

pub(crate) fn hosts(engine: &mut dyn Engine) -> Result<Vec<String>, HistoryError> {
    let statement = "SELECT host FROM series UNION SELECT host FROM session UNION SELECT host FROM outage \
                     UNION SELECT host FROM event UNION SELECT host FROM configuration ORDER BY host";
    let mut hosts = list(engine, statement, &[], |reader| reader.text(0))?;
    hosts.retain(|host| !host.is_empty());
    Ok(hosts)
}

pub(crate) fn series(engine: &mut dyn Engine) -> Result<Vec<Series>, HistoryError> {
    let names = Names::read(engine)?;
    let mut by_key: BTreeMap<SeriesKey, SeriesRow> = BTreeMap::new();
    for mut row in written_series(engine)? {
        row.series.key = names.key(row.series.key);
        let key = row.series.key.clone();
        let is_better = by_key.get(&key).is_none_or(|known| description_rank(&row) > description_rank(known));
        if is_better {
            by_key.insert(key, row);
        }
    }
    Ok(by_key.into_values().map(|row| row.series).collect())
}

/// What decides between two descriptions, as in `append.rs`.
fn description_rank(row: &SeriesRow) -> impl Ord + '_ {
    let Series { described, kind, resolution_ns, period_ns, deadline_ns, description, unit, .. } =
        &row.series;
    (row.is_described, described, kind.name(), resolution_ns, period_ns, deadline_ns, description, unit)
}

fn written_series(engine: &mut dyn Engine) -> Result<Vec<SeriesRow>, HistoryError> {
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
    let names = Names::read(engine)?;
    let Some((first, of_series)) = one_of(&numbers_of(engine, &names, key)?) else {
        return Ok(HistoryColumns::default());
    };
    let values = samples_values(first, span);
    // Counted by the index: columns that grow take twice the room.
    let statement = format!(
        "SELECT count(*) FROM sample WHERE series {of_series} AND intended_ns >= $2 AND intended_ns < $3"
    );
    let count = number(engine, &statement, &values)?.unwrap_or(0);
    let columns = HistoryColumns::with_room(usize::try_from(count).unwrap_or(0));
    // An index has this order; that of the few samples that were due at one moment is made here, as a database would sort them all for it.
    let counting = names.counting();
    let statement = format!(
        "{}SELECT {COLUMNED_SELECTION} FROM sample WHERE series {of_series} AND intended_ns >= $2 AND intended_ns < $3{} \
         ORDER BY intended_ns",
        counting.with, counting.condition
    );
    let columns = columned(engine, key, &statement, &values, columns)?;
    Ok(if columns.intended.is_sorted_by(|one, next| one < next) { columns } else { in_order(&columns) })
}

pub(crate) fn samples_from(
    engine: &mut dyn Engine,
    key: &SeriesKey,
    probe: ProbeId,
    samples_max: usize,
) -> Result<HistoryColumns, HistoryError> {
    let names = Names::read(engine)?;
    let Some((first, of_series)) = one_of(&numbers_of(engine, &names, key)?) else {
        return Ok(HistoryColumns::default());
    };
    let counting = names.counting();
    let statement = format!(
        "{}SELECT {COLUMNED_SELECTION} FROM sample WHERE series {of_series} AND probe >= $2{} ORDER BY probe LIMIT $3",
        counting.with, counting.condition
    );
    let most = Value::Integer(i64::try_from(samples_max).unwrap_or(i64::MAX));
    let values = [Value::Integer(first), Value::Integer(probe.0.cast_signed()), most];
    columned(engine, key, &statement, &values, HistoryColumns::default())
}

/// The first of some series, for `$1`, and the condition of being one of them.
fn one_of(numbers: &[i64]) -> Option<(i64, String)> {
    let [first, others @ ..] = numbers else { return None };
    let others: Vec<String> = others.iter().map(i64::to_string).collect();
    let condition =
        if others.is_empty() { "= $1".to_owned() } else { format!("IN ($1, {})", others.join(", ")) };
    Some((*first, condition))
}

/// The samples of a series that a statement selects, behind those that `columns` have.
fn columned(
    engine: &mut dyn Engine,
    key: &SeriesKey,
    statement: &str,
    values: &[Value<'_>],
    mut columns: HistoryColumns,
) -> Result<HistoryColumns, HistoryError> {
    let location = engine.location().to_owned();
    let mut sample = blank_sample(key.clone());
    let configurations = list(engine, "SELECT id, key FROM configuration_key", &[], |reader| {
        Ok((reader.integer(0)?, ConfigurationKey(reader.integer(1)?.cast_unsigned())))
    })?;
    let configurations: BTreeMap<i64, ConfigurationKey> = configurations.into_iter().collect();
    engine.query(statement, values, &mut |row| {
        Reader::new(row, &location).columned_into(&mut sample, &configurations)?;
        columns.push(&sample);
        Ok(())
    })?;
    Ok(columns)
}

/// The numbers of the series that were written under this name and under others that it has now.
fn numbers_of(engine: &mut dyn Engine, names: &Names, key: &SeriesKey) -> Result<Vec<i64>, HistoryError> {
    if let Some(numbers) = names.numbers(key) {
        return Ok(numbers);
    }
    let values = [&key.host, &key.target, &key.task, &key.part].map(|text| Value::Text(text));
    let statement = "SELECT id FROM series WHERE host = $1 AND target = $2 AND task = $3 AND part = $4";
    Ok(number(engine, statement, &values)?.into_iter().collect())
}

pub(crate) fn covered(
    engine: &mut dyn Engine,
    key: &SeriesKey,
    span: WallSpan,
) -> Result<Option<WallSpan>, HistoryError> {
    let names = Names::read(engine)?;
    let counting = names.counting();
    let mut covered: Option<WallSpan> = None;
    for series in numbers_of(engine, &names, key)? {
        // Each by itself: an index knows the least and the greatest without a look at what is between.
        let mut of = |what: &str| -> Result<Option<WallTime>, HistoryError> {
            let statement = format!(
                "{}SELECT {what}(intended_ns) FROM sample WHERE series = $1 AND intended_ns >= $2 AND intended_ns < $3{}",
                counting.with, counting.condition
            );
            Ok(number(engine, &statement, &samples_values(series, span))?.map(WallTime))
        };
        let own = of("min")?.zip(of("max")?);
        covered = match (covered, own) {
            (known, None) => known,
            (None, Some((begin, end))) => Some(WallSpan { begin, end }),
            (Some(known), Some((begin, end))) => {
                Some(WallSpan { begin: known.begin.min(begin), end: known.end.max(end) })
            }
        };
    }
    Ok(covered)
}

pub(crate) fn probe(
    engine: &mut dyn Engine,
    host: &str,
    probe: ProbeId,
    span: WallSpan,
) -> Result<Vec<HistorySample>, HistoryError> {
    let names = Names::read(engine)?;
    let counting = names.counting();
    let statement = format!(
        "{}SELECT {}, {SERIES_KEY_SELECTION} FROM {SAMPLE_SOURCE} \
         JOIN series ON series.id = sample.series WHERE series.host = $1 AND sample.probe = $2 \
         AND sample.intended_ns >= $3 AND sample.intended_ns < $4{}",
        counting.with,
        sample_selection(),
        counting.condition
    );
    let values = [
        Value::Text(host),
        Value::Integer(probe.0.cast_signed()),
        Value::Integer(span.begin.0),
        Value::Integer(span.end.0),
    ];
    let mut samples = list(engine, &statement, &values, |reader| keyed_sample(reader, &names))?;
    samples.sort_by(|one, other| one.series.cmp(&other.series));
    Ok(samples)
}

/// A sample with the key of its series after its columns.
fn keyed_sample(reader: Reader<'_>, names: &Names) -> Result<HistorySample, HistoryError> {
    let mut sample = blank_sample(names.key(reader.series_key(SAMPLE_COLUMNS.len())?));
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
    let names = Names::read(engine)?;
    let counting = names.counting();
    let statement = format!(
        "{}SELECT {}, {SERIES_KEY_SELECTION} FROM {SAMPLE_SOURCE} \
         JOIN series ON series.id = sample.series WHERE sample.change > $1{} ORDER BY sample.change LIMIT $2",
        counting.with,
        sample_selection(),
        counting.condition
    );
    let values = [Value::Integer(mark.0), Value::Integer(i64::try_from(samples_max).unwrap_or(i64::MAX))];
    let mut changes = Changes { samples: Vec::new(), mark };
    let location = engine.location().to_owned();
    engine.query(&statement, &values, &mut |row| {
        let reader = Reader::new(row, &location);
        changes.samples.push(keyed_sample(reader, &names)?);
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
    let names = Names::read(engine)?;
    list(engine, &statement, &overlap(span), |reader| Ok(names.event(rows::event(reader)?)))
}

pub(crate) fn outages(engine: &mut dyn Engine, span: WallSpan) -> Result<Vec<Outage>, HistoryError> {
    let outages = written_outages(engine, span)?;
    let names = Names::read(engine)?;
    let mut outages = with_targets(engine, outages)?;
    for outage in &mut outages {
        outage.targets = names.targets(&outage.host, std::mem::take(&mut outage.targets));
    }
    Ok(outages)
}

/// Without their targets.
fn written_outages(engine: &mut dyn Engine, span: WallSpan) -> Result<Vec<Outage>, HistoryError> {
    let statement = format!(
        "SELECT {OUTAGE_SELECTION} FROM outage WHERE begin_ns < $1 AND (end_ns IS NULL OR end_ns >= $2) \
         ORDER BY begin_ns, host, probe"
    );
    list(engine, &statement, &overlap(span), rows::outage)
}

/// The targets of outages, as they were called then, are those that were told, or else that of the probe's samples.
fn with_targets(engine: &mut dyn Engine, mut outages: Vec<Outage>) -> Result<Vec<Outage>, HistoryError> {
    for outage in &mut outages {
        let mut targets = told_targets(engine, outage)?;
        if targets.is_empty() {
            let statement = "SELECT target FROM series WHERE host = $1 AND target <> '' \
                             AND EXISTS (SELECT 1 FROM sample WHERE sample.series = series.id AND sample.probe = $2)";
            targets = targets_by(engine, statement, outage)?;
        }
        outage.targets = targets;
    }
    Ok(outages)
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
    let names = Names::read(engine)?;
    let mut all = written_configurations(engine)?;
    for configuration in &mut all {
        configuration.target = names.target(&configuration.host, std::mem::take(&mut configuration.target));
    }
    all.sort_by(|one, other| place_and_key(one).cmp(&place_and_key(other)));
    // What was seen under several names is one, as `append.rs` has it: seen since the earliest sight, with the greater facts.
    all.dedup_by(|later, earlier| {
        let is_same = place_and_key(later) == place_and_key(earlier);
        if is_same {
            earlier.first_seen = earlier.first_seen.min(later.first_seen);
            if in_json(&later.facts) > in_json(&earlier.facts) {
                std::mem::swap(&mut later.facts, &mut earlier.facts);
            }
        }
        is_same
    });
    let order = |one: &Configuration| (one.first_seen, one.key.0.cast_signed());
    all.sort_by(|one, other| {
        (&one.host, &one.target, order(one)).cmp(&(&other.host, &other.target, order(other)))
    });
    Ok(all)
}

/// As the tables have them.
fn in_json(facts: &BTreeMap<String, String>) -> String {
    serde_json::to_string(facts).expect("a map of texts is JSON")
}

fn place_and_key(configuration: &Configuration) -> (&str, &str, ConfigurationKey) {
    (&configuration.host, &configuration.target, configuration.key)
}

fn written_configurations(engine: &mut dyn Engine) -> Result<Vec<Configuration>, HistoryError> {
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
        let target = row.text(0)?.unwrap_or_default().to_owned();
        let known = newest.entry(target).or_insert(found);
        *known = found.max(*known);
        Ok(())
    })?;
    let last_known = |known: &Configuration| match newest.get(&known.target) {
        Some((intended, _, key)) if *key == known.key => (known.first_seen.max(*intended), true),
        _ => (known.first_seen, false),
    };
    let mut present: Vec<Configuration> = Vec::new();
    for known in written_configurations(engine)?.into_iter().filter(|known| known.host == host) {
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
    let outages = list(engine, &statement, &[Value::Text(host)], rows::outage)?;
    with_targets(engine, outages)
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
