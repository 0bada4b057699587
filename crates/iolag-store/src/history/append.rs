//! How records become rows, and which of two with the same key remains. Every rule is a join of a semilattice, so neither order
//! nor repetition matters:
//!
//! - sample: the one that [`HistorySample::supersedes`]; between two that know the same (which no watch writes) the greater content,
//!   column by column;
//! - series: the later description, then the greater one;
//! - outage: the earlier begin, the greater count; an end wins over none, the later over the earlier, and brings its ending;
//! - session: the later sign of life; stopped wins over open;
//! - configuration: the earlier first sight; facts are the same where the key is, else the greater;
//! - event, evidence: as they are; if two differ under one key (somebody edited an export), an event that ended wins over one that
//!   did not, then the greater content.
//!
//! Texts compare byte by byte.

use std::collections::{HashMap, HashSet};

use iolag_model::{
    Configuration, Event, Evidence, HistoryRecord, HistorySample, Outage, Series, SeriesKey, SessionEnd,
    WatchSession,
};

use super::canonical::{canonical, integer};
use super::engine::{Engine, Value};
use super::rows::{SAMPLE_COLUMNS, event_source_name, outage_ending_name};
use super::{Appended, HistoryError};

/// Rows per statement, greatest first: a statement costs a round trip to a server.
const ROWS_PER_STATEMENT: [usize; 4] = [64, 16, 4, 1];
const SAMPLE_COLUMN_COUNT: usize = SAMPLE_COLUMNS.len();

type SampleRow = [Value<'static>; SAMPLE_COLUMN_COUNT];

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
            HistoryRecord::Event(event) => write_event(engine, &event)?,
            HistoryRecord::Outage(outage) => write_outage(engine, &outage)?,
            HistoryRecord::Evidence(evidence) => write_evidence(engine, &evidence)?,
            HistoryRecord::Session(session) => write_session(engine, &session)?,
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

/// The only number in the answer, if there is one.
pub(crate) fn number(
    engine: &mut dyn Engine,
    statement: &str,
    values: &[Value<'_>],
) -> Result<Option<i64>, HistoryError> {
    let mut number = None;
    engine.query(statement, values, &mut |row| {
        number = row.integer(0)?;
        Ok(())
    })?;
    Ok(number)
}

/// Samples on their way into statements of several rows.
struct SampleRows {
    rows: Vec<SampleRow>,
    /// Series and probe of `rows`: PostgreSQL takes no key twice in one statement.
    keys: HashSet<(i64, u64)>,
    /// The change that was given last.
    change: i64,
}

impl SampleRows {
    fn begin(engine: &mut dyn Engine) -> Result<Self, HistoryError> {
        let change = number(engine, "SELECT max(change) FROM sample", &[])?.unwrap_or(0);
        Ok(Self { rows: Vec::with_capacity(ROWS_PER_STATEMENT[0]), keys: HashSet::new(), change })
    }

    /// Takes a sample; returns how many rows were written on this occasion.
    fn add(
        &mut self,
        engine: &mut dyn Engine,
        sample: &HistorySample,
        series: i64,
        configuration: Option<i64>,
    ) -> Result<u64, HistoryError> {
        let mut written = 0;
        if self.rows.len() == ROWS_PER_STATEMENT[0] || !self.keys.insert((series, sample.probe.0)) {
            written = self.flush(engine)?;
            self.keys.insert((series, sample.probe.0));
        }
        self.change += 1;
        self.rows.push(sample_row(sample, self.change, series, configuration));
        Ok(written)
    }

    fn flush(&mut self, engine: &mut dyn Engine) -> Result<u64, HistoryError> {
        let mut written = 0;
        let mut rest = &self.rows[..];
        while let Some(count) = ROWS_PER_STATEMENT.into_iter().find(|count| *count <= rest.len()) {
            let (now, later) = rest.split_at(count);
            written += engine.execute(&sample_statement(count), now.as_flattened())?;
            rest = later;
        }
        self.rows.clear();
        self.keys.clear();
        Ok(written)
    }
}

fn sample_row(sample: &HistorySample, change: i64, series: i64, configuration: Option<i64>) -> SampleRow {
    let whole = |number: Option<u64>| Value::optional(number.map(integer));
    let around = sample.surroundings.as_ref();
    let small = |number: Option<u32>| Value::optional(number.map(i64::from));
    let pair = |pair: Option<[u64; 2]>, index: usize| whole(pair.map(|both| both[index]));
    [
        Value::Integer(change),
        Value::Integer(series),
        Value::Integer(sample.probe.0.cast_signed()),
        Value::Integer(sample.intended.0),
        // Wraps where the two are centuries apart, and wraps back when it is read.
        Value::Integer(sample.start.0.wrapping_sub(sample.intended.0)),
        Value::Integer(integer(sample.duration_ns.0)),
        Value::Integer(i64::from(sample.outcome as u8)),
        Value::Integer(i64::from(sample.failure.0)),
        sample.value.map_or(Value::Null, Value::Real),
        Value::optional(sample.exit_status.map(i64::from)),
        Value::optional(sample.blocker.map(|probe| probe.0.cast_signed())),
        Value::optional(configuration),
        pair(sample.processor_ns, 0),
        pair(sample.processor_ns, 1),
        whole(sample.resident_bytes_max),
        small(around.map(|all| all.load_milli[0])),
        small(around.map(|all| all.load_milli[1])),
        small(around.map(|all| all.load_milli[2])),
        small(around.map(|all| all.runnable)),
        small(around.map(|all| all.blocked)),
        whole(around.and_then(|all| all.stalled_cpu_us)),
        pair(around.and_then(|all| all.stalled_io_us), 0),
        pair(around.and_then(|all| all.stalled_io_us), 1),
        pair(around.and_then(|all| all.stalled_memory_us), 0),
        pair(around.and_then(|all| all.stalled_memory_us), 1),
    ]
}

/// The statement that writes `rows` samples, each unless a better one is there.
fn sample_statement(rows: usize) -> String {
    let columns = SAMPLE_COLUMNS.join(", ");
    let row = |first: usize| {
        let parameters = (first..first + SAMPLE_COLUMN_COUNT).map(|number| format!("${number}"));
        format!("({})", parameters.collect::<Vec<_>>().join(", "))
    };
    let values = (0..rows).map(|index| row(1 + index * SAMPLE_COLUMN_COUNT)).collect::<Vec<_>>().join(", ");
    let is_key = |column: &&str| matches!(*column, "series" | "probe");
    let set = SAMPLE_COLUMNS.iter().filter(|column| !is_key(column));
    let set = set.map(|column| format!("{column} = excluded.{column}")).collect::<Vec<_>>().join(", ");
    let (new, old) = (sample_rank("excluded"), sample_rank("sample"));
    format!(
        "INSERT INTO sample ({columns}) VALUES {values} ON CONFLICT (series, probe) DO UPDATE SET {set} WHERE ({new}) > ({old})"
    )
}

/// What decides between two samples: `HistorySample::supersedes` first, then everything else.
fn sample_rank(table: &str) -> String {
    // The numbers are those of `Outcome`: skipped, hung, timeout and interrupted; the rest knows all.
    let mut rank = vec![
        format!("CASE {table}.outcome WHEN 5 THEN 0 WHEN 3 THEN 1 WHEN 2 THEN 2 WHEN 6 THEN 2 ELSE 3 END"),
        format!("{table}.duration_ns"),
        format!("coalesce((SELECT key FROM configuration_key WHERE id = {table}.configuration), 0)"),
        format!("{table}.configuration IS NOT NULL"),
    ];
    for column in SAMPLE_COLUMNS {
        match column {
            "change" | "series" | "probe" | "duration_ns" | "configuration" => {}
            "intended_ns" | "lag_ns" | "outcome" | "failure" => rank.push(format!("{table}.{column}")),
            _ => rank
                .extend([format!("{table}.{column} IS NOT NULL"), format!("coalesce({table}.{column}, 0)")]),
        }
    }
    rank.join(", ")
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
            "({table}.end_ns IS NOT NULL, coalesce({table}.end_ns, 0), {table}.begin_ns, {table}.host, {table}.target, \
             {table}.source, {table}.kind, {table}.text, {table}.link IS NOT NULL, coalesce({table}.link, ''), {table}.author)"
        )
    };
    let statement = format!(
        "INSERT INTO event (id, begin_ns, end_ns, host, target, source, kind, text, link, author) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (id) DO UPDATE SET begin_ns = excluded.begin_ns, \
         end_ns = excluded.end_ns, host = excluded.host, target = excluded.target, source = excluded.source, \
         kind = excluded.kind, text = excluded.text, link = excluded.link, author = excluded.author WHERE {} > {}",
        rank("excluded"),
        rank("event")
    );
    engine.execute(
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
        ],
    )
}

fn write_outage(engine: &mut dyn Engine, outage: &Outage) -> Result<u64, HistoryError> {
    let ending = |table: &str| {
        format!("({table}.end_ns IS NOT NULL, coalesce({table}.end_ns, 0), coalesce({table}.ending, ''))")
    };
    let ends = format!("{} > {}", ending("excluded"), ending("outage"));
    let statement = format!(
        "INSERT INTO outage (host, probe, mount, begin_ns, end_ns, ending, skipped) VALUES ($1, $2, $3, $4, $5, $6, $7) \
         ON CONFLICT (host, probe) DO UPDATE SET \
         mount = CASE WHEN excluded.mount > outage.mount THEN excluded.mount ELSE outage.mount END, \
         begin_ns = CASE WHEN excluded.begin_ns < outage.begin_ns THEN excluded.begin_ns ELSE outage.begin_ns END, \
         end_ns = CASE WHEN {ends} THEN excluded.end_ns ELSE outage.end_ns END, \
         ending = CASE WHEN {ends} THEN excluded.ending ELSE outage.ending END, \
         skipped = CASE WHEN excluded.skipped > outage.skipped THEN excluded.skipped ELSE outage.skipped END \
         WHERE excluded.mount > outage.mount OR excluded.begin_ns < outage.begin_ns OR {ends} \
         OR excluded.skipped > outage.skipped"
    );
    engine.execute(
        &statement,
        &[
            Value::Text(&outage.host),
            Value::Integer(outage.probe.0.cast_signed()),
            Value::Text(&outage.mount),
            Value::Integer(outage.begin.0),
            Value::optional(outage.end.map(|end| end.0)),
            Value::optional_text(outage.ending.map(outage_ending_name)),
            Value::Integer(integer(outage.skipped)),
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
