//! How records become rows, and which of two with the same key remains. Every rule is a join of a semilattice, so neither order
//! nor repetition matters:
//!
//! - sample: of one batch the one that [`HistorySample::supersedes`](iolag_model::HistorySample::supersedes); between two that know
//!   the same (which no watch writes) the greater content, column by column; which batch counts see `sample_rows.rs`;
//! - batch: the greater description; the earliest time at which it was taken back;
//! - series: the later description, then the greater one;
//! - outage: the earlier begin, the greater count; an end wins over none, the later over the earlier, and brings its ending;
//! - session: the later sign of life; stopped wins over open;
//! - configuration: the earlier first sight; facts are the same where the key is, else the greater;
//! - event: one that was removed, then the one that was edited last, then one that ended, then the greater content; the batches that
//!   brought it are all kept;
//! - evidence: as it is; if two differ under one key (somebody edited an export), the greater content.
//!
//! Texts compare byte by byte.

use std::collections::HashMap;

use iolag_model::{
    Configuration, Event, EventState, Evidence, HistoryRecord, Outage, Rename, Series, SeriesKey, SessionEnd,
    WatchSession,
};

use super::canonical::{canonical, integer};
use super::engine::{Engine, Value, number};
use super::rows::{event_source_name, outage_ending_name, outage_kind_name};
use super::sample_rows::{SampleRows, batch_number};
use super::{Appended, HistoryError};

/// Numbers that stand for keys within one database.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    series: HashMap<SeriesKey, i64>,
    configurations: HashMap<u64, i64>,
}

/// Writes `records` within the transaction that is open.
pub(crate) fn write(
    engine: &mut dyn Engine,
    numbers: &mut Numbers,
    records: &[HistoryRecord],
) -> Result<Appended, HistoryError> {
    let mut appended = Appended { records: records.len() as u64, changed: 0 };
    let mut samples = SampleRows::begin(engine)?;
    for record in records {
        appended.changed += match canonical(record.clone()) {
            HistoryRecord::Sample(sample) => {
                let series = numbers.series(engine, &sample.series)?;
                let configuration = match sample.configuration {
                    Some(key) => Some(numbers.configuration(engine, key.0)?),
                    None => None,
                };
                samples.add(engine, &sample, series, configuration)?
            }
            HistoryRecord::Series(series) => {
                let number = numbers.series(engine, &series.key)?;
                write_series(engine, number, &series)?
            }
            HistoryRecord::Configuration(configuration) => {
                let number = numbers.configuration(engine, configuration.key.0)?;
                write_configuration(engine, number, &configuration)?
            }
            HistoryRecord::Event(event) => {
                samples.know(engine, batch_number(event.batch))?;
                write_event(engine, &event)?
            }
            HistoryRecord::Outage(outage) => write_outage(engine, &outage)?,
            HistoryRecord::Evidence(evidence) => write_evidence(engine, &evidence)?,
            HistoryRecord::Session(session) => write_session(engine, &session)?,
            HistoryRecord::Batch(batch) => samples.write_batch(engine, &batch)?,
            HistoryRecord::Rename(rename) => write_rename(engine, &rename)?,
        };
    }
    appended.changed += samples.flush(engine)?;
    Ok(appended)
}

impl Numbers {
    /// The number of a series, which is made if it is new.
    fn series(&mut self, engine: &mut dyn Engine, key: &SeriesKey) -> Result<i64, HistoryError> {
        if let Some(number) = self.series.get(key) {
            return Ok(*number);
        }
        let values = [&key.host, &key.target, &key.task, &key.part].map(|text| Value::Text(text));
        let find = "SELECT id FROM series WHERE host = $1 AND target = $2 AND task = $3 AND part = $4";
        let make = "INSERT INTO series (host, target, task, part) VALUES ($1, $2, $3, $4)";
        let number = find_or_make(engine, find, make, &values)?;
        self.series.insert(key.clone(), number);
        Ok(number)
    }

    /// The number of a configuration, which is made if it is new.
    fn configuration(&mut self, engine: &mut dyn Engine, key: u64) -> Result<i64, HistoryError> {
        if let Some(number) = self.configurations.get(&key) {
            return Ok(*number);
        }
        let values = [Value::Integer(key.cast_signed())];
        let find = "SELECT id FROM configuration_key WHERE key = $1";
        let number = find_or_make(engine, find, "INSERT INTO configuration_key (key) VALUES ($1)", &values)?;
        self.configurations.insert(key, number);
        Ok(number)
    }

    /// To be called when a transaction was taken back, and the numbers made in it with it.
    pub(crate) fn forget(&mut self) {
        self.series.clear();
        self.configurations.clear();
    }
}

fn find_or_make(
    engine: &mut dyn Engine,
    find: &str,
    make: &str,
    values: &[Value<'_>],
) -> Result<i64, HistoryError> {
    if let Some(number) = number(engine, find, values)? {
        return Ok(number);
    }
    engine.execute(make, values)?;
    number(engine, find, values)?.ok_or_else(|| HistoryError::Damaged {
        location: engine.location().to_owned(),
        what: "a row that was just written is not there".into(),
    })
}

fn write_series(engine: &mut dyn Engine, number: i64, series: &Series) -> Result<u64, HistoryError> {
    engine.execute(
        "UPDATE series SET described_ns = $1, kind = $2, resolution_ns = $3, period_ns = $4, deadline_ns = $5, description = $6, \
         unit = $7 WHERE id = $8 AND (described_ns IS NULL OR ($1, $2, $3, $4, $5, $6, $7) > \
         (described_ns, kind, resolution_ns, period_ns, deadline_ns, description, unit))",
        &[
            Value::Integer(series.described.0),
            Value::Text(series.kind.name()),
            Value::Integer(integer(series.resolution_ns.0)),
            Value::Integer(integer(series.period_ns.0)),
            Value::Integer(integer(series.deadline_ns.0)),
            Value::Text(&series.description),
            Value::Text(&series.unit),
            Value::Integer(number),
        ],
    )
}

fn write_configuration(
    engine: &mut dyn Engine,
    number: i64,
    configuration: &Configuration,
) -> Result<u64, HistoryError> {
    let facts = serde_json::to_string(&configuration.facts).expect("a map of texts is JSON");
    engine.execute(
        "INSERT INTO configuration (host, target, configuration, first_seen_ns, facts) VALUES ($1, $2, $3, $4, $5) \
         ON CONFLICT (host, target, configuration) DO UPDATE SET \
         first_seen_ns = CASE WHEN excluded.first_seen_ns < configuration.first_seen_ns THEN excluded.first_seen_ns \
         ELSE configuration.first_seen_ns END, \
         facts = CASE WHEN excluded.facts > configuration.facts THEN excluded.facts ELSE configuration.facts END \
         WHERE excluded.first_seen_ns < configuration.first_seen_ns OR excluded.facts > configuration.facts",
        &[
            Value::Text(&configuration.host),
            Value::Text(&configuration.target),
            Value::Integer(number),
            Value::Integer(configuration.first_seen.0),
            Value::Text(&facts),
        ],
    )
}

fn write_event(engine: &mut dyn Engine, event: &Event) -> Result<u64, HistoryError> {
    let rank = |table: &str| {
        format!(
            "({table}.removed, {table}.revised_ns IS NOT NULL, coalesce({table}.revised_ns, 0), \
             {table}.end_ns IS NOT NULL, coalesce({table}.end_ns, 0), {table}.begin_ns, {table}.host, {table}.target, \
             {table}.source, {table}.kind, {table}.text, {table}.link IS NOT NULL, coalesce({table}.link, ''), {table}.author)"
        )
    };
    let statement = format!(
        "INSERT INTO event (id, begin_ns, end_ns, host, target, source, kind, text, link, author, revised_ns, removed) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT (id) DO UPDATE SET begin_ns = excluded.begin_ns, \
         end_ns = excluded.end_ns, host = excluded.host, target = excluded.target, source = excluded.source, \
         kind = excluded.kind, text = excluded.text, link = excluded.link, author = excluded.author, \
         revised_ns = excluded.revised_ns, removed = excluded.removed WHERE {} > {}",
        rank("excluded"),
        rank("event")
    );
    let written = engine.execute(
        &statement,
        &[
            Value::Text(&event.id),
            Value::Integer(event.begin.0),
            Value::optional(event.end.map(|end| end.0)),
            Value::Text(&event.host),
            Value::Text(&event.target),
            Value::Text(event_source_name(event.source)),
            Value::Text(&event.kind),
            Value::Text(&event.text),
            Value::optional_text(event.link.as_deref()),
            Value::Text(&event.author),
            Value::optional(event.revised.map(|revised| revised.0)),
            Value::Integer(match event.state {
                EventState::Holds => 0,
                EventState::Removed => 1,
            }),
        ],
    )?;
    let brought = engine.execute(
        "INSERT INTO event_batch (event, batch) VALUES ($1, $2) ON CONFLICT (event, batch) DO NOTHING",
        &[Value::Text(&event.id), Value::Integer(batch_number(event.batch))],
    )?;
    Ok(written.max(brought))
}

fn write_outage(engine: &mut dyn Engine, outage: &Outage) -> Result<u64, HistoryError> {
    let ending = |table: &str| {
        format!("({table}.end_ns IS NOT NULL, coalesce({table}.end_ns, 0), coalesce({table}.ending, ''))")
    };
    let ends = format!("{} > {}", ending("excluded"), ending("outage"));
    let statement = format!(
        "INSERT INTO outage (host, probe, kind, mount, begin_ns, end_ns, ending, skipped) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (host, probe) DO UPDATE SET \
         kind = CASE WHEN excluded.kind > outage.kind THEN excluded.kind ELSE outage.kind END, \
         mount = CASE WHEN excluded.mount > outage.mount THEN excluded.mount ELSE outage.mount END, \
         begin_ns = CASE WHEN excluded.begin_ns < outage.begin_ns THEN excluded.begin_ns ELSE outage.begin_ns END, \
         end_ns = CASE WHEN {ends} THEN excluded.end_ns ELSE outage.end_ns END, \
         ending = CASE WHEN {ends} THEN excluded.ending ELSE outage.ending END, \
         skipped = CASE WHEN excluded.skipped > outage.skipped THEN excluded.skipped ELSE outage.skipped END \
         WHERE excluded.mount > outage.mount OR excluded.begin_ns < outage.begin_ns OR {ends} \
         OR excluded.skipped > outage.skipped OR excluded.kind > outage.kind"
    );
    let probe = Value::Integer(outage.probe.0.cast_signed());
    let mut changed = engine.execute(
        &statement,
        &[
            Value::Text(&outage.host),
            probe,
            Value::Text(outage_kind_name(outage.kind)),
            Value::Text(&outage.mount),
            Value::Integer(outage.begin.0),
            Value::optional(outage.end.map(|end| end.0)),
            Value::optional_text(outage.ending.map(outage_ending_name)),
            Value::Integer(integer(outage.skipped)),
        ],
    )?;
    for target in &outage.targets {
        let statement = "INSERT INTO outage_target (host, probe, target) VALUES ($1, $2, $3) \
                         ON CONFLICT (host, probe, target) DO NOTHING";
        let values = [Value::Text(&outage.host), probe, Value::Text(target)];
        changed = changed.max(engine.execute(statement, &values)?);
    }
    Ok(changed)
}

fn write_rename(engine: &mut dyn Engine, rename: &Rename) -> Result<u64, HistoryError> {
    let rank = |table: &str| format!("({table}.new_name, {table}.author)");
    let statement = format!(
        "INSERT INTO rename (host, old_name, made_ns, new_name, author) VALUES ($1, $2, $3, $4, $5) \
         ON CONFLICT (host, old_name, made_ns) DO UPDATE SET new_name = excluded.new_name, author = excluded.author \
         WHERE {} > {}",
        rank("excluded"),
        rank("rename")
    );
    engine.execute(
        &statement,
        &[
            Value::Text(&rename.host),
            Value::Text(&rename.old),
            Value::Integer(rename.at.0),
            Value::Text(&rename.new),
            Value::Text(&rename.author),
        ],
    )
}

fn write_evidence(engine: &mut dyn Engine, evidence: &Evidence) -> Result<u64, HistoryError> {
    engine.execute(
        "INSERT INTO evidence (host, probe, at_ns, text) VALUES ($1, $2, $3, $4) ON CONFLICT (host, probe, at_ns) \
         DO UPDATE SET text = excluded.text WHERE excluded.text > evidence.text",
        &[
            Value::Text(&evidence.host),
            Value::Integer(evidence.probe.0.cast_signed()),
            Value::Integer(evidence.at.0),
            Value::Text(&evidence.text),
        ],
    )
}

fn write_session(engine: &mut dyn Engine, session: &WatchSession) -> Result<u64, HistoryError> {
    let greater = |column: &str| {
        format!(
            "{column} = CASE WHEN excluded.{column} > session.{column} THEN excluded.{column} ELSE session.{column} END"
        )
    };
    let columns = ["boot_id", "last_seen_ns", "stopped", "iolag_version"];
    let statement = format!(
        "INSERT INTO session (host, begin_ns, boot_id, last_seen_ns, stopped, iolag_version) VALUES ($1, $2, $3, $4, $5, $6) \
         ON CONFLICT (host, begin_ns) DO UPDATE SET {} WHERE {}",
        columns.map(greater).join(", "),
        columns.map(|column| format!("excluded.{column} > session.{column}")).join(" OR ")
    );
    engine.execute(
        &statement,
        &[
            Value::Text(&session.host),
            Value::Integer(session.begin.0),
            Value::Text(&session.boot_id),
            Value::Integer(session.last_seen.0),
            Value::Integer(match session.end {
                SessionEnd::Open => 0,
                SessionEnd::Stopped => 1,
            }),
            Value::Text(&session.iolag_version),
        ],
    )
}
