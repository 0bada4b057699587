//! What a summary of a stored run costs: quantiles by operation and client, from the run's Parquet files.
//!
//! ```text
//! cargo run --release -p iolag --example summary_cost -- make STORE SAMPLES CLIENTS stored|mixed
//! cargo run --release -p iolag --example summary_cost -- read STORE histogram|exact SECONDS
//! ```
//! `make` stores one run of stat, read, delete and create with log-normal durations: `stored` with many samples of each
//! client in turn, as the writer of a real run does, `mixed` with clients that alternate at random row by row. `read` summarises it again and again for SECONDS, and prints the seconds of
//! each time and the most memory that the process had resident. Without arguments a small run, so that it can serve as a
//! test.
#![expect(clippy::print_stdout, reason = "a measurement prints its result")]

#[path = "../../iolag-store/tests/support/mod.rs"]
mod support;

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use iolag_analysis::{Engine, Grouping, Precision, Summaries};
use iolag_model::{Column, RunState, SampleColumns};
use iolag_store::{RunDirectory, Sink, SpoolNumber, SpoolWriter, Store};
use support::{Client, record, run_id};

const AT_ONCE: usize = 8192;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["make", store, samples, clients, order] => {
            make(Path::new(store), samples.parse()?, clients.parse()?, Order::parse(order)?)
        }
        ["read", store, precision, seconds] => {
            read(Path::new(store), parse_precision(precision)?, seconds.parse()?)
        }
        [] => {
            let place = tempfile::tempdir()?;
            make(place.path(), 20_000, 3, Order::Mixed)?;
            read(place.path(), Precision::Histogram, 0.0)?;
            read(place.path(), Precision::Exact, 0.0)
        }
        _ => bail!(
            "usage: summary_cost make STORE SAMPLES CLIENTS stored|mixed | read STORE histogram|exact SECONDS"
        ),
    }
}

/// In which order clients stand in the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    Stored,
    Mixed,
}

impl Order {
    fn parse(text: &str) -> Result<Self> {
        match text {
            "stored" => Ok(Self::Stored),
            "mixed" => Ok(Self::Mixed),
            _ => bail!("{text:?} is no order: expected stored or mixed"),
        }
    }
}

fn parse_precision(text: &str) -> Result<Precision> {
    match text {
        "histogram" => Ok(Precision::Histogram),
        "exact" => Ok(Precision::Exact),
        _ => bail!("{text:?} is no precision: expected histogram or exact"),
    }
}

fn make(root: &Path, samples: usize, clients: u32, order: Order) -> Result<()> {
    ensure!(clients > 0, "a run has at least one client");
    let store = Store::open(root)?;
    let id = run_id(clients as u16);
    let mut record = record(&id, 1, clients);
    let run = store.create_run(&record)?;
    let spool = run.create_spool()?;
    let mut all: Vec<Client> = (0..clients).map(Client::new).collect();
    match order {
        Order::Stored => {
            let mut writer = SpoolWriter::create(&spool, &id, SpoolNumber(0))?;
            let mut left: Vec<usize> = (1..=clients as usize)
                .map(|client| samples * client / clients as usize - samples * (client - 1) / clients as usize)
                .collect();
            while left.iter().any(|left| *left > 0) {
                for (client, left) in all.iter_mut().zip(&mut left) {
                    let chunk = client.take((*left).min(AT_ONCE));
                    *left -= chunk.len();
                    writer.append(&chunk)?;
                }
            }
            writer.finish()?;
        }
        Order::Mixed => {
            let mut random = 0x9e37_79b9_7f4a_7c15_u64;
            spool_ring(SpoolWriter::create(&spool, &id, SpoolNumber(0))?, samples, || {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                all[(((random >> 32) * u64::from(clients)) >> 32) as usize].next()
            })?;
        }
    }
    record.state = RunState::Complete;
    let encoded = run.finish(&mut record, &spool)?;
    println!("{} samples in {} parts in {}", encoded.samples, encoded.parts.len(), run.path().display());
    Ok(())
}

fn spool_ring(
    mut writer: SpoolWriter,
    samples: usize,
    mut next: impl FnMut() -> iolag_model::Sample,
) -> Result<()> {
    let mut left = samples;
    while left > 0 {
        let chunk: Vec<_> = (0..left.min(AT_ONCE)).map(|_| next()).collect();
        writer.append(&chunk)?;
        left -= chunk.len();
    }
    Ok(writer.finish()?)
}

fn read(root: &Path, precision: Precision, seconds: f64) -> Result<()> {
    let listed = Store::open(root)?.list()?;
    let id = &listed.first().with_context(|| format!("the store {} holds no run", root.display()))?.id;
    let run = Store::open(root)?.run(id)?;
    let record = run.record()?;
    let clients = NonZeroU32::new(record.clients.len() as u32);
    let grouping = Grouping { clients, ..Grouping::default() };
    let wanted: u64 = record.parts.iter().map(|part| part.samples).sum();
    let begin = Instant::now();
    loop {
        let start = Instant::now();
        let summaries = summarise(&run, grouping, precision)?;
        let taken = start.elapsed().as_secs_f64();
        ensure!(summaries.samples == wanted, "{} samples were read, {wanted} are stored", summaries.samples);
        println!("{taken:.6}");
        if begin.elapsed().as_secs_f64() >= seconds {
            break;
        }
    }
    println!("resident {} MiB", resident_mib_max());
    Ok(())
}

fn summarise(run: &RunDirectory, grouping: Grouping, precision: Precision) -> Result<Summaries> {
    const COLUMNS: &[Column] =
        &[Column::Client, Column::OperationCode, Column::OutcomeCode, Column::DurationNs];
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let engine = run.scan(COLUMNS, threads, || Summarising(Engine::new(grouping, precision)))?.0;
    Ok(engine.finish())
}

struct Summarising(Engine);

impl Sink for Summarising {
    fn batch(&mut self, samples: SampleColumns<'_>) {
        self.0.batch(samples);
    }

    fn merge(&mut self, other: Self) {
        self.0.merge(other.0);
    }
}

fn resident_mib_max() -> u64 {
    let status = std::fs::read_to_string(PathBuf::from("/proc/self/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")).and_then(|kib| kib.parse().ok()).unwrap_or(0) / 1024
}
