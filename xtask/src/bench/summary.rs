//! The summary of a stored run by operation and client, against DuckDB computing the same quantiles over the same columns of
//! the same files.
//!
//! The runs are made once, by the store's own encoder, and kept in the cache. Both sides read the files anew each time
//! (they stay in the page cache), with as many threads as there are processors; each measurement is a process of its own
//! that asks again for at least 2 s, and its median counts.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::setting::{Setting, Size};
use crate::machine;
use crate::pairs::{self, Requirement, TABLE_HEAD, quantile, sorted};
use crate::places::output;

const SCRIPT: &str = "xtask/src/bench/duckdb_quantiles.py";

/// A run, and how closely it is looked at.
struct Dataset {
    samples: u64,
    clients: u32,
    order: &'static str,
    pairs: usize,
}

impl Dataset {
    fn name(&self) -> String {
        let order = if self.order == "stored" { "as the writer stores them" } else { "row by row" };
        format!("{} million samples, {} clients {order}", self.samples / 1_000_000, self.clients)
    }
}

/// Enough for an interval, for those that only show that another layout changes nothing.
const FEW_PAIRS: usize = 7;

fn datasets(size: Size) -> Vec<Dataset> {
    let full = |clients, order, pairs| Dataset { samples: 100_000_000, clients, order, pairs };
    match size {
        Size::Full => {
            vec![full(8, "mixed", size.pairs()), full(50, "mixed", FEW_PAIRS), full(4, "stored", FEW_PAIRS)]
        }
        Size::Tiny => vec![Dataset { samples: 50_000, clients: 8, order: "mixed", pairs: size.pairs() }],
    }
}

/// One precision, what it is compared with, and its limits.
struct Row {
    precision: &'static str,
    ratio_max: f64,
    resident_mib_max: u64,
}

const ROWS: [Row; 2] = [
    Row { precision: "histogram", ratio_max: 0.5, resident_mib_max: 500 },
    Row { precision: "exact", ratio_max: 1.0, resident_mib_max: 1024 },
];

/// All datasets, then the short run without a rival.
pub fn run(setting: &Setting<'_>) -> Result<()> {
    let ours = Reader { program: setting.build_example("iolag", "summary_cost")?, size: setting.size };
    println!("{TABLE_HEAD}");
    let mut memory = Vec::new();
    for dataset in datasets(setting.size) {
        compare(setting, &ours, &dataset, &mut memory)?;
    }
    println!();
    memory.iter().for_each(|line| println!("{line}"));
    short_run(setting, &ours)
}

fn compare(setting: &Setting<'_>, ours: &Reader, dataset: &Dataset, memory: &mut Vec<String>) -> Result<()> {
    let store = stored(setting, ours, dataset)?;
    let python = setting.places.python();
    if !python.exists() {
        println!(
            "DuckDB is left out: there is no {}; cargo xtask test --only install makes it",
            python.display()
        );
        ours.read(&store, "histogram")?;
        return Ok(());
    }
    let theirs =
        Rival { python, script: setting.places.root.join(SCRIPT), files: parts(&store)?, size: setting.size };
    let (exactly, approximately) = (theirs.read("quantile_cont")?, theirs.read("approx_quantile")?);
    let faster = if exactly.seconds <= approximately.seconds { "quantile_cont" } else { "approx_quantile" };
    for row in ROWS {
        let quantile = if row.precision == "histogram" { faster } else { "quantile_cont" };
        let (mut our_mib, mut their_mib) = (0, 0);
        let first = || {
            let measured = ours.read(&store, row.precision)?;
            our_mib = our_mib.max(measured.resident_mib);
            Ok(measured.seconds)
        };
        let second = || {
            let measured = theirs.read(quantile)?;
            their_mib = their_mib.max(measured.resident_mib);
            Ok(measured.seconds)
        };
        let comparison = pairs::measure(dataset.pairs, first, second)?;
        let name = format!("summary by {} against DuckDB's {quantile}, {}", row.precision, dataset.name());
        let required = Some(Requirement::AtMost(row.ratio_max));
        println!("{}", comparison.row(&name, "s", required, &machine::description()));
        let verdict = match setting.size {
            Size::Tiny => "not judged",
            Size::Full if our_mib < row.resident_mib_max => "met",
            Size::Full => "missed",
        };
        memory.push(format!(
            "| memory of the summary by {}, {} | {our_mib} MiB (DuckDB {their_mib} MiB) | under {} MiB | {verdict} |",
            row.precision,
            dataset.name(),
            row.resident_mib_max
        ));
    }
    Ok(())
}

/// 10 million samples by histogram.
fn short_run(setting: &Setting<'_>, ours: &Reader) -> Result<()> {
    const MOST_S: f64 = 0.5;
    let samples = if setting.size == Size::Full { 10_000_000 } else { 10_000 };
    let dataset = Dataset { samples, clients: 8, order: "mixed", pairs: 0 };
    let store = stored(setting, ours, &dataset)?;
    let times = (0..setting.size.pairs()).map(|_| Ok(ours.read(&store, "histogram")?.seconds));
    let times = sorted(times.collect::<Result<Vec<f64>>>()?.into_iter());
    let (median, p95) = (quantile(&times, 0.5), quantile(&times, 0.95));
    let verdict = match setting.size {
        Size::Tiny => "not judged",
        Size::Full if p95 < MOST_S => "met",
        Size::Full => "missed",
    };
    println!(
        "| summary by histogram, {} | median {median:.3} s, p95 {p95:.3} s | under {MOST_S} s | {verdict} |",
        dataset.name()
    );
    Ok(())
}

/// The store with this run, made if it is not in the cache. A half-made one is made again.
fn stored(setting: &Setting<'_>, ours: &Reader, dataset: &Dataset) -> Result<PathBuf> {
    let name = format!("summary-{}-{}-{}", dataset.samples, dataset.clients, dataset.order);
    let store = setting.places.cache.join(&name);
    if !store.exists() {
        let unfinished = setting.places.cache.join(format!("{name}-unfinished"));
        if unfinished.exists() {
            std::fs::remove_dir_all(&unfinished)
                .with_context(|| format!("removing {}", unfinished.display()))?;
        }
        let mut command = Command::new(&ours.program);
        command.arg("make").arg(&unfinished);
        command.args([dataset.samples.to_string(), dataset.clients.to_string(), dataset.order.to_owned()]);
        output(&mut command)?;
        std::fs::rename(&unfinished, &store).with_context(|| format!("naming {}", store.display()))?;
    }
    Ok(store)
}

fn parts(store: &Path) -> Result<Vec<PathBuf>> {
    let runs = store.join("runs");
    let entries = std::fs::read_dir(&runs).with_context(|| format!("listing {}", runs.display()))?;
    let run = entries.flatten().next().with_context(|| format!("{} holds no run", runs.display()))?.path();
    let entries = std::fs::read_dir(&run).with_context(|| format!("listing {}", run.display()))?;
    let parts: Vec<PathBuf> = entries
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("samples"))
        .map(|entry| entry.path())
        .collect();
    ensure!(!parts.is_empty(), "{} holds no parts", run.display());
    Ok(parts)
}

/// What one process measured.
#[derive(Debug, Clone, Copy)]
struct Measured {
    seconds: f64,
    resident_mib: u64,
}

impl Measured {
    /// Of lines with seconds, and a last one `resident 123 MiB`.
    fn parse(text: &str) -> Result<Self> {
        let resident = text.lines().find_map(|line| line.strip_prefix("resident "));
        let resident = resident.and_then(|rest| rest.split(' ').next()).context("no memory was printed")?;
        let times = text.lines().filter_map(|line| line.parse::<f64>().ok());
        let times = sorted(times);
        ensure!(!times.is_empty(), "no time was printed: {text:?}");
        Ok(Self { seconds: quantile(&times, 0.5), resident_mib: resident.parse()? })
    }
}

const fn seconds_at_least(size: Size) -> &'static str {
    match size {
        Size::Full => "2",
        Size::Tiny => "0",
    }
}

/// iolag's side.
struct Reader {
    program: PathBuf,
    size: Size,
}

impl Reader {
    fn read(&self, store: &Path, precision: &str) -> Result<Measured> {
        let mut command = Command::new(&self.program);
        command.arg("read").arg(store).args([precision, seconds_at_least(self.size)]);
        Measured::parse(&output(&mut command)?)
    }
}

/// DuckDB's side.
struct Rival {
    python: PathBuf,
    script: PathBuf,
    files: Vec<PathBuf>,
    size: Size,
}

impl Rival {
    fn read(&self, quantile: &str) -> Result<Measured> {
        let mut command = Command::new(&self.python);
        command.arg(&self.script).args([quantile, seconds_at_least(self.size)]).args(&self.files);
        Measured::parse(&output(&mut command)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_a_process_counts() {
        let measured = Measured::parse("3.5\n1.5\n2.5\nresident 77 MiB\n").unwrap();
        assert_eq!((measured.seconds, measured.resident_mib), (2.5, 77));
        assert!(Measured::parse("1.0\n").is_err(), "no memory");
        assert!(Measured::parse("resident 7 MiB\n").is_err(), "no time");
    }
}
