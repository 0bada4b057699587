//! Samples, and what tells which are new.

use std::collections::BTreeMap;

use iolag_model::{ConfigurationKey, HistoryColumns, HistorySample, ProbeId, SeriesKey, WallSpan, WallTime};

use crate::history::engine::{Engine, Value, number};
use crate::history::names::Names;
use crate::history::rows::{
    COLUMNED_SELECTION, Reader, SAMPLE_COLUMNS, SAMPLE_SOURCE, SERIES_KEY_SELECTION, blank_sample, list,
    sample_selection,
};
use crate::history::{ChangeMark, Changes, HistoryError};

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

pub(super) fn samples_statement(selection: &str, source: &str, order: &str) -> String {
    format!(
        "SELECT {selection} FROM {source} WHERE sample.series = $1 AND sample.intended_ns >= $2 \
         AND sample.intended_ns < $3 ORDER BY {order}"
    )
}

pub(super) const fn samples_values(series: i64, span: WallSpan) -> [Value<'static>; 3] {
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
