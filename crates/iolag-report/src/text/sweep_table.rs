//! The table of a sweep, the same in pages and on terminals: what more clients, or more objects, do.

use iolag_analysis::figure::{SweepFigure, SweepFigurePoint, Varied};
use iolag_analysis::{QuantileValue, median_of};
use iolag_model::{Level, Nanoseconds, Phase, format_count};

use super::table::{Cell, ColumnGroup, Side, Table};
use crate::words::estimates::quantile;
use crate::words::numbers::rate;

const WORDS: &str =
    "Operations per second, median and p99 are medians over runs and iterations; max is the longest of all.";

/// A column: what stands above it, and its name with its unit in CSV.
pub(crate) struct SweepColumn {
    pub title: &'static str,
    pub name: &'static str,
    pub side: Side,
}

/// A number as people read it, and raw; empty where there is none.
pub(crate) struct SweepCell {
    pub text: String,
    pub raw: String,
}

/// Clients, rate, rate per client, median, p99 and maximum, then what they are of.
pub(crate) struct SweepTable {
    /// What stands above it.
    pub title: &'static str,
    /// What the numbers are.
    pub words: &'static str,
    pub columns: Vec<SweepColumn>,
    pub rows: Vec<Vec<SweepCell>>,
}

impl SweepTable {
    /// The table of these sweeps, a row per size and operation of the steady phase; `None` if nothing was swept.
    pub(crate) fn new(sweeps: &[SweepFigure]) -> Option<Self> {
        let told = told(sweeps);
        let first = told.first()?;
        let has = Optional {
            per_dataset: told
                .iter()
                .any(|sweep| sweep.varied == Varied::Objects || sweep.fixed != first.fixed),
            phase: told.iter().any(|sweep| sweep.phase != first.phase),
            target: told.iter().any(|sweep| sweep.target != first.target),
        };
        let rows = told.iter().flat_map(|sweep| rows_of(sweep, has)).collect();
        let title = match first.varied {
            Varied::Clients => "What more clients do",
            Varied::Objects => "What more objects do",
        };
        Some(Self { title, words: WORDS, columns: columns(has), rows })
    }

    /// For a terminal.
    pub(crate) fn for_terminal(&self) -> Table {
        let indented = |index: usize, title: &str| format!("{}{title}", if index == 0 { "  " } else { "" });
        let columns = self.columns.iter().enumerate();
        let columns = columns.map(|(index, column)| (indented(index, column.title).into(), column.side));
        let mut table = Table::new(vec![ColumnGroup { title: String::new(), columns: columns.collect() }]);
        for row in &self.rows {
            table.row(row.iter().map(|cell| Cell::new(cell.text.as_str())).collect());
        }
        table
    }
}

/// Columns that not every sweep needs.
#[derive(Clone, Copy)]
struct Optional {
    per_dataset: bool,
    phase: bool,
    target: bool,
}

/// What the table is about: clients if they were varied, whole operations, the benchmark phase; else all of the others.
fn told(sweeps: &[SweepFigure]) -> Vec<&SweepFigure> {
    let varied = sweeps.iter().map(|sweep| sweep.varied).min();
    let mut told: Vec<&SweepFigure> = sweeps.iter().filter(|sweep| Some(sweep.varied) == varied).collect();
    let conditions: [fn(&&SweepFigure) -> bool; 2] =
        [|sweep| sweep.operation.level() == Level::Object, |sweep| sweep.phase == Phase::Benchmark];
    for condition in conditions {
        if told.iter().any(condition) {
            told.retain(condition);
        }
    }
    told
}

fn columns(has: Optional) -> Vec<SweepColumn> {
    let column = |title, name, side| Some(SweepColumn { title, name, side });
    let right = Side::Right;
    [
        column("clients", "clients", right),
        column("per s", "per_second", right),
        column("per client", "per_second_and_client", right),
        column("median", "median_ns", right),
        column("p99", "p99_ns", right),
        column("max", "max_ns", right),
        column("operation", "operation", Side::Left),
        column("per dataset", "objects_per_dataset", right).filter(|_| has.per_dataset),
        column("phase", "phase", Side::Left).filter(|_| has.phase),
        column("target", "target", Side::Left).filter(|_| has.target),
        column("results", "results", right),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn rows_of(sweep: &SweepFigure, has: Optional) -> Vec<Vec<SweepCell>> {
    let by_size = sweep.points.chunk_by(|left, right| left.size == right.size);
    let row = |points: &[SweepFigurePoint]| {
        let size = points[0].size;
        let (clients, objects) = match sweep.varied {
            Varied::Clients => (size, sweep.fixed),
            Varied::Objects => (sweep.fixed, size),
        };
        let rates: Vec<f64> = points.iter().map(|point| point.per_second).collect();
        let per_second = median_of(&rates).unwrap_or_default();
        let count = |number: u64| SweepCell { text: format_count(number), raw: number.to_string() };
        let of_rate = |per_second: f64| SweepCell { text: rate(per_second), raw: format!("{per_second}") };
        let name = |text: &str| SweepCell { text: text.to_owned(), raw: text.to_owned() };
        [
            Some(count(clients)),
            Some(of_rate(per_second)),
            Some(of_rate(per_second / clients.max(1) as f64)),
            Some(duration(median_over(points, |point| point.median.value))),
            Some(duration(median_over(points, |point| point.p99.value))),
            Some(duration(longest(points))),
            Some(name(sweep.operation.name())),
            has.per_dataset.then(|| count(objects)),
            has.phase.then(|| name(sweep.phase.name())),
            has.target.then(|| name(&sweep.target)),
            Some(count(points.len() as u64)),
        ]
        .into_iter()
        .flatten()
        .collect()
    };
    by_size.map(row).collect()
}

fn duration(value: QuantileValue) -> SweepCell {
    let raw = value.bound().map(|ns| ns.0.to_string()).unwrap_or_default();
    SweepCell { text: quantile(value), raw }
}

/// The median over runs and iterations of a quantile at one size, as it stands in figures; at least that long if one of them is.
pub(crate) fn median_over(
    points: &[SweepFigurePoint],
    of: impl Fn(&SweepFigurePoint) -> QuantileValue,
) -> QuantileValue {
    let values: Vec<f64> =
        points.iter().filter_map(|point| of(point).lower_bound()).map(|ns| ns.0 as f64).collect();
    let Some(median) = median_of(&values) else {
        return points.first().map_or(QuantileValue::TooFew { needed: 1, have: 0 }, of);
    };
    let median = Nanoseconds(median.round() as u64);
    match points.iter().any(|point| matches!(of(point), QuantileValue::AtLeast(_))) {
        true => QuantileValue::AtLeast(median),
        false => QuantileValue::Exactly(median),
    }
}

/// The longest of all runs and iterations at one size.
fn longest(points: &[SweepFigurePoint]) -> QuantileValue {
    let by_bound = |value: &QuantileValue| (value.lower_bound(), matches!(value, QuantileValue::AtLeast(_)));
    let longest = points.iter().map(|point| point.max).max_by_key(by_bound);
    longest.unwrap_or(QuantileValue::TooFew { needed: 1, have: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::tests::samples::several_runs;
    use crate::text::table::Colour;
    use iolag_model::{Operation, RunId};

    #[test]
    fn a_sweep_begins_with_clients_rates_median_p99_and_max() {
        let table = SweepTable::new(&several_runs(1).sweeps).expect("clients were varied");
        let names: Vec<&str> = table.columns.iter().map(|column| column.title).collect();
        assert_eq!(names[..6], ["clients", "per s", "per client", "median", "p99", "max"]);
        insta::assert_snapshot!(table.for_terminal().render(Colour::Never));
    }

    #[test]
    fn other_phases_and_levels_are_not_in_the_table_of_a_benchmark() {
        let mut sweeps = several_runs(1).sweeps;
        let rows = SweepTable::new(&sweeps).expect("clients were varied").rows.len();
        let mut other = sweeps[0].clone();
        other.phase = Phase::Precreate;
        let mut calls = sweeps[0].clone();
        calls.operation = Operation::CallStat;
        sweeps.extend([other, calls]);
        assert_eq!(SweepTable::new(&sweeps).expect("clients were varied").rows.len(), rows);
        sweeps.retain(|sweep| sweep.phase == Phase::Precreate);
        assert_eq!(SweepTable::new(&sweeps).expect("clients were varied").rows.len(), 6);
        assert!(SweepTable::new(&[]).is_none());
    }

    #[test]
    fn what_one_run_did_not_see_the_end_of_is_at_least_that_long() {
        let mut sweep = several_runs(1).sweeps.remove(0);
        let mut hung = sweep.points[0].clone();
        hung.run = RunId::new("20261120-185900", 99).expect("the form of an id");
        hung.max = QuantileValue::AtLeast(Nanoseconds::from_seconds(90));
        hung.median.value = QuantileValue::AtLeast(Nanoseconds::from_seconds(1));
        sweep.points.insert(1, hung);
        let table = SweepTable::new(&[sweep]).expect("clients were varied");
        let row: Vec<&str> = table.rows[0].iter().map(|cell| cell.text.as_str()).collect();
        assert_eq!((row[5], table.rows[0][5].raw.as_str()), ("≥ 90.0 s", "90000000000"));
        assert!(row[3].starts_with("≥ 500"), "{row:?}");
        assert_eq!(*row.last().expect("there are columns"), "2");
    }
}
