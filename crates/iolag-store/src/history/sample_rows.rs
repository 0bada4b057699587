//! How samples become rows: those that count in the table `sample`, one for each series and probe, and the others in `sample_beside`.
//!
//! Invariants: each series, probe and batch is in one row of one of the tables; the one in `sample` has the greatest batch of
//! those that are not undone, and 0, no batch, is the least. A change is given once and never again, so that whoever follows them
//! misses nothing.

use std::collections::{BTreeMap, HashMap, HashSet};

use iolag_model::{Batch, BatchId, HistorySample};

use super::HistoryError;
use super::canonical::integer;
use super::engine::{Engine, Value, number};
use super::rows::SAMPLE_COLUMNS;

/// Rows per statement, greatest first: a statement costs a round trip to a server.
const ROWS_PER_STATEMENT: [usize; 4] = [64, 16, 4, 1];
const SAMPLE_COLUMN_COUNT: usize = SAMPLE_COLUMNS.len();
/// Where the columns of a key are in a row.
const KEY_COLUMNS: std::ops::Range<usize> = 1..3;

/// A condition on what counts: it is of the batch of the first parameter. That there is one is said too, as the index knows no others.
const OF_BATCH: &str = "batch = $1 AND batch <> 0";

type SampleRow = [Value<'static>; SAMPLE_COLUMN_COUNT];

/// Which of two places a row goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Table {
    /// It counts.
    Sample,
    /// It does not, for now or for good.
    Beside,
}

impl Table {
    const fn name(self) -> &'static str {
        match self {
            Self::Sample => "sample",
            Self::Beside => "sample_beside",
        }
    }

    const fn key(self) -> &'static str {
        match self {
            Self::Sample => "series, probe",
            Self::Beside => "series, probe, batch",
        }
    }
}

/// Whether the samples of a batch may count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    Living,
    Undone,
}

/// Samples on their way into statements of several rows.
pub(super) struct SampleRows {
    /// By batch.
    rows: BTreeMap<i64, Vec<SampleRow>>,
    /// Series and probe of `rows`: PostgreSQL takes no key twice in one statement.
    keys: HashSet<(i64, u64)>,
    /// The change that was given last.
    change: i64,
    /// All batches that anything is known of.
    batches: HashMap<i64, Standing>,
    /// What writes so many rows: texts of many kilobytes.
    statements: HashMap<(Table, usize), String>,
}

impl SampleRows {
    pub(super) fn begin(engine: &mut dyn Engine) -> Result<Self, HistoryError> {
        let newest = "SELECT max(change) FROM (SELECT max(change) AS change FROM sample \
                      UNION ALL SELECT max(change) FROM sample_beside) AS both_tables";
        let change = number(engine, newest, &[])?.unwrap_or(0);
        let mut batches = HashMap::new();
        engine.query("SELECT id, undone_ns FROM batch", &[], &mut |row| {
            let standing = if row.integer(1)?.is_some() { Standing::Undone } else { Standing::Living };
            batches.extend(row.integer(0)?.map(|id| (id, standing)));
            Ok(())
        })?;
        Ok(Self { rows: BTreeMap::new(), keys: HashSet::new(), change, batches, statements: HashMap::new() })
    }

    /// Takes a sample; returns how many rows were written on this occasion.
    pub(super) fn add(
        &mut self,
        engine: &mut dyn Engine,
        sample: &HistorySample,
        series: i64,
        configuration: Option<i64>,
    ) -> Result<u64, HistoryError> {
        let mut written = 0;
        if self.keys.len() == ROWS_PER_STATEMENT[0] || !self.keys.insert((series, sample.probe.0)) {
            written = self.flush(engine)?;
            self.keys.insert((series, sample.probe.0));
        }
        let batch = batch_number(sample.batch);
        self.know(engine, batch)?;
        self.change += 1;
        let row = sample_row(sample, self.change, series, configuration);
        self.rows.entry(batch).or_default().push(row);
        Ok(written)
    }

    /// A batch of which only samples or events are known so far has a row, too.
    pub(super) fn know(&mut self, engine: &mut dyn Engine, batch: i64) -> Result<(), HistoryError> {
        if batch != 0 && !self.batches.contains_key(&batch) {
            engine.execute("INSERT INTO batch (id) VALUES ($1)", &[Value::Integer(batch)])?;
            self.batches.insert(batch, Standing::Living);
        }
        Ok(())
    }

    pub(super) fn flush(&mut self, engine: &mut dyn Engine) -> Result<u64, HistoryError> {
        self.keys.clear();
        let (mut counting, mut beside) = (Vec::new(), Vec::new());
        for (batch, rows) in std::mem::take(&mut self.rows) {
            let outranked = self.outranked(engine, batch, &rows)?;
            let (lower, upper): (Vec<_>, Vec<_>) =
                rows.into_iter().partition(|row| outranked.contains(&key_of(row)));
            if batch != 0 {
                make_room(engine, batch, &upper)?;
            }
            beside.extend(lower);
            counting.extend(upper);
        }
        Ok(self.insert(engine, Table::Sample, &counting)? + self.insert(engine, Table::Beside, &beside)?)
    }

    fn insert(
        &mut self,
        engine: &mut dyn Engine,
        table: Table,
        rows: &[SampleRow],
    ) -> Result<u64, HistoryError> {
        let mut written = 0;
        for part in parts(rows) {
            let statement = self.statements.entry((table, part.len()));
            let statement = statement.or_insert_with(|| sample_statement(table, part.len()));
            written += engine.execute(statement, part.as_flattened())?;
        }
        Ok(written)
    }

    /// Where samples of `batch` do not count: the keys of those of `rows`.
    fn outranked(
        &self,
        engine: &mut dyn Engine,
        batch: i64,
        rows: &[SampleRow],
    ) -> Result<HashSet<(i64, i64)>, HistoryError> {
        if self.batches.get(&batch) == Some(&Standing::Undone) {
            return Ok(rows.iter().map(key_of).collect());
        }
        let mut outranked = HashSet::new();
        // Most histories have no imports.
        if self.batches.keys().any(|other| *other > batch) {
            for part in parts(rows) {
                let statement =
                    format!("SELECT series, probe FROM sample WHERE batch > $1 AND {}", one_of(part.len()));
                engine.query(&statement, &key_values(batch, part), &mut |row| {
                    outranked.extend(row.integer(0)?.zip(row.integer(1)?));
                    Ok(())
                })?;
            }
        }
        Ok(outranked)
    }

    /// Writes what is known of a batch; if that takes it back, what it hid counts again. Returns whether anything was new, as a count.
    pub(super) fn write_batch(
        &mut self,
        engine: &mut dyn Engine,
        batch: &Batch,
    ) -> Result<u64, HistoryError> {
        let mut written = self.flush(engine)?;
        let number = batch_number(Some(batch.id));
        self.know(engine, number)?;
        let described = engine.execute(
            "UPDATE batch SET made_ns = $1, file = $2, hash = $3, options = $4, author = $5 WHERE id = $6 \
             AND (made_ns IS NULL OR ($1, $2, $3, $4, $5) > (made_ns, file, hash, options, author))",
            &[
                Value::Integer(batch.made.0),
                Value::Text(&batch.file),
                Value::Text(&batch.hash),
                Value::Text(&batch.options),
                Value::Text(&batch.author),
                Value::Integer(number),
            ],
        )?;
        let Some(undone) = batch.undone else { return Ok(written + described) };
        let taken_back = engine.execute(
            "UPDATE batch SET undone_ns = $1 WHERE id = $2 AND (undone_ns IS NULL OR undone_ns > $1)",
            &[Value::Integer(undone.0), Value::Integer(number)],
        )?;
        if self.batches.insert(number, Standing::Undone) == Some(Standing::Living) {
            self.take_back(engine, number)?;
        }
        written += described.max(taken_back);
        Ok(written)
    }

    fn take_back(&mut self, engine: &mut dyn Engine, batch: i64) -> Result<(), HistoryError> {
        let columns = SAMPLE_COLUMNS.join(", ");
        let of_batch = [Value::Integer(batch)];
        engine.execute(
            &format!("INSERT INTO sample_beside ({columns}) SELECT {columns} FROM sample WHERE {OF_BATCH}"),
            &of_batch,
        )?;
        engine.execute(&format!("DELETE FROM sample WHERE {OF_BATCH}"), &of_batch)?;
        let others = SAMPLE_COLUMNS[1..].join(", ");
        let promote = format!(
            "INSERT INTO sample ({columns}) SELECT $1 + row_number() OVER (ORDER BY series, probe), {others} \
             FROM sample_beside AS next WHERE {} AND batch = (SELECT max(other.batch) FROM sample_beside AS other \
             WHERE other.series = next.series AND other.probe = next.probe \
             AND other.batch NOT IN (SELECT id FROM batch WHERE undone_ns IS NOT NULL)) \
             AND NOT EXISTS (SELECT 1 FROM sample WHERE sample.series = next.series AND sample.probe = next.probe)",
            beside_of_batch("next", 2)
        );
        let promoted = engine.execute(&promote, &[Value::Integer(self.change), Value::Integer(batch)])?;
        self.change += integer(promoted);
        let counts = "EXISTS (SELECT 1 FROM sample WHERE sample.series = sample_beside.series \
                      AND sample.probe = sample_beside.probe AND sample.batch = sample_beside.batch)";
        let clear =
            format!("DELETE FROM sample_beside WHERE {} AND {counts}", beside_of_batch("sample_beside", 1));
        engine.execute(&clear, &of_batch)?;
        Ok(())
    }
}

/// The number of a batch in the tables, 0 for none.
pub(super) fn batch_number(batch: Option<BatchId>) -> i64 {
    batch.map_or(0, |batch| integer(batch.0))
}

fn key_of(row: &SampleRow) -> (i64, i64) {
    match row[KEY_COLUMNS] {
        [Value::Integer(series), Value::Integer(probe)] => (series, probe),
        _ => unreachable!("sample_row writes two numbers there"),
    }
}

/// Cut into lengths for which there are statements.
fn parts(rows: &[SampleRow]) -> impl Iterator<Item = &[SampleRow]> {
    let mut rest = rows;
    std::iter::from_fn(move || {
        let count = ROWS_PER_STATEMENT.into_iter().find(|count| *count <= rest.len())?;
        let (part, later) = rest.split_at(count);
        rest = later;
        Some(part)
    })
}

/// A condition: one of `count` keys, which are the parameters from the second on.
fn one_of(count: usize) -> String {
    let one = |index: usize| format!("series = ${} AND probe = ${}", 2 + 2 * index, 3 + 2 * index);
    format!("({})", (0..count).map(one).collect::<Vec<_>>().join(" OR "))
}

fn key_values(batch: i64, rows: &[SampleRow]) -> Vec<Value<'static>> {
    let keys = rows.iter().flat_map(|row| row[KEY_COLUMNS].iter().copied());
    std::iter::once(Value::Integer(batch)).chain(keys).collect()
}

/// Puts aside what counts at the keys of `rows` and is of a lesser batch.
fn make_room(engine: &mut dyn Engine, batch: i64, rows: &[SampleRow]) -> Result<(), HistoryError> {
    let columns = SAMPLE_COLUMNS.join(", ");
    for part in parts(rows) {
        if !may_be_lower(engine, batch, part)? {
            continue;
        }
        let lower = format!("batch < $1 AND {}", one_of(part.len()));
        let values = key_values(batch, part);
        let put_aside =
            format!("INSERT INTO sample_beside ({columns}) SELECT {columns} FROM sample WHERE {lower}");
        if engine.execute(&put_aside, &values)? > 0 {
            engine.execute(&format!("DELETE FROM sample WHERE {lower}"), &values)?;
        }
    }
    Ok(())
}

/// Whether something of a lesser batch may count at the keys of `rows`. Most of what is imported is new: one look shows that nothing is there.
fn may_be_lower(engine: &mut dyn Engine, batch: i64, rows: &[SampleRow]) -> Result<bool, HistoryError> {
    let keys = || rows.iter().map(key_of);
    let (Some((series, first)), Some((last_series, last))) = (keys().min(), keys().max()) else {
        return Ok(false);
    };
    if series != last_series {
        return Ok(true);
    }
    let any =
        "SELECT probe FROM sample WHERE series = $1 AND probe >= $2 AND probe <= $3 AND batch < $4 LIMIT 1";
    let values = [series, first, last, batch].map(Value::Integer);
    Ok(number(engine, any, &values)?.is_some())
}

/// A condition on `rows`, a name of the table of those that do not count: the batch of the parameter has the same key.
fn beside_of_batch(rows: &str, parameter: usize) -> String {
    format!(
        "EXISTS (SELECT 1 FROM sample_beside AS taken WHERE taken.batch = ${parameter} AND taken.series = {rows}.series \
         AND taken.probe = {rows}.probe)"
    )
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
        Value::Integer(batch_number(sample.batch)),
    ]
}

/// The statement that writes `rows` samples, each unless a better one of the same batch, or one of another, is there.
fn sample_statement(table: Table, rows: usize) -> String {
    let columns = SAMPLE_COLUMNS.join(", ");
    let row = |first: usize| {
        let parameters = (first..first + SAMPLE_COLUMN_COUNT).map(|number| format!("${number}"));
        format!("({})", parameters.collect::<Vec<_>>().join(", "))
    };
    let values = (0..rows).map(|index| row(1 + index * SAMPLE_COLUMN_COUNT)).collect::<Vec<_>>().join(", ");
    let is_key = |column: &&str| matches!(*column, "series" | "probe" | "batch");
    let set = SAMPLE_COLUMNS.iter().filter(|column| !is_key(column));
    let set = set.map(|column| format!("{column} = excluded.{column}")).collect::<Vec<_>>().join(", ");
    let name = table.name();
    let (new, old) = (sample_rank("excluded"), sample_rank(name));
    let key = table.key();
    format!(
        "INSERT INTO {name} ({columns}) VALUES {values} ON CONFLICT ({key}) DO UPDATE SET {set} \
         WHERE {name}.batch = excluded.batch AND ({new}) > ({old})"
    )
}

/// What decides between two samples: `HistorySample::supersedes` first, then everything else.
pub(super) fn sample_rank(table: &str) -> String {
    // The numbers are those of `Outcome`: skipped, hung, timeout and interrupted; the rest knows all.
    let mut rank = vec![
        format!("CASE {table}.outcome WHEN 5 THEN 0 WHEN 3 THEN 1 WHEN 2 THEN 2 WHEN 6 THEN 2 ELSE 3 END"),
        format!("{table}.duration_ns"),
        format!("coalesce((SELECT key FROM configuration_key WHERE id = {table}.configuration), 0)"),
        format!("{table}.configuration IS NOT NULL"),
    ];
    for column in SAMPLE_COLUMNS {
        match column {
            "change" | "series" | "probe" | "batch" | "duration_ns" | "configuration" => {}
            "intended_ns" | "lag_ns" | "outcome" | "failure" => rank.push(format!("{table}.{column}")),
            _ => rank
                .extend([format!("{table}.{column} IS NOT NULL"), format!("coalesce({table}.{column}, 0)")]),
        }
    }
    rank.join(", ")
}
