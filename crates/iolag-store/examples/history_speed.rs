//! How fast a history takes samples, how large they are there, and how fast one series is read.
//!
//! `cargo run --release -p iolag-store --example history_speed -- PLACE [SAMPLES]`, where PLACE is a file that does not exist or a
//! `postgres://` URL of an empty database.
#![allow(clippy::print_stdout, reason = "an example tells its result")]

#[allow(dead_code, reason = "the tests use the rest")]
#[path = "../tests/history/arbitrary.rs"]
mod arbitrary;

use std::error::Error;
use std::time::Instant;

use iolag_model::{HistoryRecord, Outcome, WallSpan};
use iolag_store::history::{Access, is_server, open_history};

use arbitrary::{key, sample};

const BATCH: u64 = 1000;
/// Series of 350,000 samples: one each 15 minutes for 10 years; the first series is full.
const SERIES_LENGTH: u64 = 350_000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let place = arguments.next().ok_or("name a place")?;
    let count: u64 = arguments.next().map_or(Ok(1_050_000), |text| text.parse())?;
    let mut history = open_history(&place, Access::Create)?;
    let series: Vec<_> =
        (0..=(count - 1) / SERIES_LENGTH).map(|number| key("login1", &format!("task{number}"))).collect();
    let begin = Instant::now();
    // Rounds: each asks every series, as a watch does, until its length is reached.
    let rounds = (0..SERIES_LENGTH).flat_map(|round| series.iter().map(move |series| (round, series)));
    let samples: Vec<_> = rounds.take(count as usize).collect();
    for batch in samples.chunks(BATCH as usize) {
        let records: Vec<_> = batch
            .iter()
            .map(|(round, series)| {
                let duration_ns = 3_000_000 + round.wrapping_mul(2_654_435_761) % 40_000_000;
                HistoryRecord::Sample(sample(series, *round, Outcome::Ok, duration_ns))
            })
            .collect();
        history.append(&records)?;
    }
    let elapsed = begin.elapsed().as_secs_f64();
    println!("{count} samples appended in {elapsed:.1} s: {:.0} per second", count as f64 / elapsed);
    let begin = Instant::now();
    let columns = history.samples(&series[0], WallSpan::ALL)?;
    println!("{} samples of one series read in {:.2} s", columns.len(), begin.elapsed().as_secs_f64());
    let begin = Instant::now();
    let mark = history.newest_change()?;
    let changes = history.changes_after(iolag_store::history::ChangeMark(mark.0 - 40), 1000)?;
    println!("{} newest changes read in {:.4} s", changes.samples.len(), begin.elapsed().as_secs_f64());
    drop(history);
    if !is_server(&place) {
        let bytes = std::fs::metadata(&place)?.len();
        println!("{:.1} MiB: {:.1} bytes per sample", bytes as f64 / 1048576.0, bytes as f64 / count as f64);
    }
    Ok(())
}
