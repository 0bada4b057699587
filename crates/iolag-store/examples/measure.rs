//! Measures the store on samples like those of a metadata benchmark: append, encode, scan.
//!
//! `cargo run --release -p iolag-store --example measure [SAMPLES [STORE]]`: 200 thousand samples in a temporary directory
//! by default. With STORE the run is kept there, for other readers. Prints a sum over all durations, so that the work
//! cannot be left out and readers can be compared.
#![expect(clippy::print_stdout, reason = "a measurement prints its result")]

#[path = "../tests/support/mod.rs"]
mod support;

use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;

use iolag_model::{Column, RunState, SampleColumns};
use iolag_store::{Sink, SpoolNumber, SpoolWriter, Store};
use support::{Client, record, run_id};

const SPOOLS: u32 = 2;
const APPENDED_AT_ONCE: usize = 8192;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let samples: usize = arguments.next().map_or(Ok(200_000), |text| text.parse())?;
    let place = tempfile::tempdir()?;
    let root = arguments.next().map_or_else(|| place.path().to_owned(), PathBuf::from);
    let store = Store::open(&root)?;
    let id = run_id(std::process::id() as u16);
    let mut record = record(&id, 1, SPOOLS);
    let run = store.create_run(&record)?;
    let spool = run.create_spool()?;

    let (mut append_ns, mut append_cpu_s) = (0, 0.0);
    for number in 0..SPOOLS {
        let mut client = Client::new(number);
        let mut writer = SpoolWriter::create(&spool, &id, SpoolNumber(number))?;
        let mut left = samples / SPOOLS as usize;
        while left > 0 {
            let chunk = client.take(left.min(APPENDED_AT_ONCE));
            let (begin, cpu) = (Instant::now(), cpu_s());
            writer.append(&chunk)?;
            append_ns += begin.elapsed().as_nanos();
            append_cpu_s += cpu_s() - cpu;
            left -= chunk.len();
        }
        writer.finish()?;
    }
    println!(
        "append   {:8.2} ns/sample, {:.2} ns of CPU",
        append_ns as f64 / samples as f64,
        append_cpu_s * 1e9 / samples as f64
    );

    let (begin, cpu) = (Instant::now(), cpu_s());
    record.state = RunState::Complete;
    let encoded = run.finish(&mut record, &spool)?;
    let bytes: u64 = store.list()?.iter().filter(|listed| listed.id == id).map(|listed| listed.bytes).sum();
    println!(
        "encode   {:8.2} s, {:.2} s of CPU, {} samples in {} parts, {:.3} bytes/sample, {} MiB resident at most",
        begin.elapsed().as_secs_f64(),
        cpu_s() - cpu,
        encoded.samples,
        encoded.parts.len(),
        bytes as f64 / encoded.samples as f64,
        resident_mib_max()
    );

    let columns =
        [Column::Stage, Column::OperationCode, Column::OutcomeCode, Column::Client, Column::DurationNs];
    for (threads, columns) in [(1, &columns[..]), (2, &columns[..]), (2, Column::ALL)] {
        for _ in 0..2 {
            let begin = Instant::now();
            let Sum { rows, sum } = run.scan(columns, threads, Sum::default)?;
            println!(
                "scan     {:8.3} s, {} columns, {threads} threads, {rows} rows, sum of durations {sum} ns",
                begin.elapsed().as_secs_f64(),
                columns.len(),
            );
        }
    }
    println!("memory   {:8} MiB resident at most", resident_mib_max());
    Ok(())
}

#[derive(Default)]
struct Sum {
    rows: usize,
    sum: i64,
}

impl Sink for Sum {
    fn batch(&mut self, samples: SampleColumns<'_>) {
        self.rows += samples.duration_ns.len();
        self.sum += samples.duration_ns.iter().sum::<i64>();
    }

    fn merge(&mut self, other: Self) {
        self.rows += other.rows;
        self.sum += other.sum;
    }
}

fn cpu_s() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn resident_mib_max() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")).and_then(|kib| kib.parse().ok()).unwrap_or(0) / 1024
}
