//! What it costs to read the values of all runs of a store, as a comparison does.
//!
//! ```text
//! cargo run --release -p iolag --example values_cost -- STORE rate,median,p95,over:100ms
//! ```
//! Prints how many runs and samples were read, the seconds from opening the store to the values, and the most MiB that were resident.
//! Without arguments of a small run, so that it can serve as a test.
#![expect(clippy::print_stdout, reason = "a measurement prints its result")]

#[path = "../../iolag-store/tests/support/mod.rs"]
mod support;

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use iolag_analysis::RunQuantity;
use iolag_conduct::values_of_all;
use iolag_model::{RunState, parse_duration};
use iolag_store::{SpoolNumber, SpoolWriter, Store};
use support::{Client, record, run_id};

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        [store, quantities] => read(Path::new(store), quantities),
        [] => {
            let place = tempfile::tempdir()?;
            make(place.path())?;
            read(place.path(), "rate,median,p95,over:100ms")
        }
        _ => bail!("usage: values_cost STORE rate,median,p95,over:DURATION"),
    }
}

fn make(root: &Path) -> Result<()> {
    let id = run_id(1);
    let mut record = record(&id, 1, 1);
    let run = Store::open(root)?.create_run(&record)?;
    let spool = run.create_spool()?;
    let mut writer = SpoolWriter::create(&spool, &id, SpoolNumber(0))?;
    writer.append(&Client::new(0).take(20_000))?;
    writer.finish()?;
    record.state = RunState::Complete;
    run.finish(&mut record, &spool)?;
    Ok(())
}

fn read(root: &Path, quantities: &str) -> Result<()> {
    let quantities = quantities.split(',').map(parsed).collect::<Result<Vec<_>>>()?;
    let begin = Instant::now();
    let store = Store::open(root)?;
    let listed = store.list()?;
    let of_listed = |one: &iolag_store::Listed| {
        let record = one.record.as_deref().map_err(|flaw| anyhow::anyhow!("{}", flaw.sentence))?;
        Ok((store.run(&one.id)?, record.clone()))
    };
    let runs = listed.iter().map(of_listed).collect::<Result<Vec<_>>>()?;
    let values = values_of_all(&runs, &quantities).into_iter().collect::<Result<Vec<_>, _>>()?;
    let seconds = begin.elapsed().as_secs_f64();
    ensure!(values.iter().all(|run| !run.cells.is_empty()), "a run has no values");
    let samples: u64 = runs.iter().flat_map(|(_, record)| &record.parts).map(|part| part.samples).sum();
    println!("{} {samples} {seconds:.4} {}", values.len(), resident_mib_max());
    Ok(())
}

fn parsed(text: &str) -> Result<RunQuantity> {
    Ok(match text {
        "rate" => RunQuantity::Rate,
        "median" => RunQuantity::Median,
        "p95" => RunQuantity::P95,
        _ => {
            let threshold = text.strip_prefix("over:").with_context(|| format!("{text:?} is no quantity"))?;
            RunQuantity::ShareOver(parse_duration(threshold)?)
        }
    })
}

fn resident_mib_max() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")).and_then(|kib| kib.parse().ok()).unwrap_or(0) / 1024
}
