//! How fast the engines are: `cargo run --release -p iolag-analysis --example engine_speed -- SAMPLES exact|histogram`.
//! A third argument `alike` makes all durations equal, the worst case of exact quantiles. Without arguments a
//! small input, so that it can serve as a test.

use std::io::Write;
use std::num::NonZeroU32;
use std::time::Instant;

use iolag_analysis::{Engine, Grouping, Precision};
use iolag_model::{Random, SampleColumns};

const BATCH_ROWS: usize = 65_536;
const BATCHES: usize = 16;

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let samples: usize = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(1_000_000);
    let precision = match arguments.next().as_deref() {
        Some("exact") => Precision::Exact,
        _ => Precision::Histogram,
    };
    let spread = if arguments.next().as_deref() == Some("alike") { 0.0 } else { 0.6 };
    let mut noise = Random::new(1);
    let rows = BATCH_ROWS * BATCHES;
    let duration_ns: Vec<i64> =
        (0..rows).map(|_| (5_000.0 * (spread * noise.normal()).exp()) as i64 + 300).collect();
    let operation_code: Vec<i32> = (0..rows).map(|row| [3, 2, 4, 1][row % 4]).collect();
    let client: Vec<i32> = (0..rows).map(|row| (row / 4096 % 8) as i32).collect();
    let stage = vec![0; rows];
    let outcome_code = vec![0; rows];
    let start_ns: Vec<i64> = (0..rows as i64).map(|row| row * 7_000).collect();
    let bytes = vec![3901_i64; rows];

    let grouping = Grouping { stages: NonZeroU32::new(1), targets: None, clients: NonZeroU32::new(8) };
    let mut engine = Engine::new(grouping, precision);
    let begin = Instant::now();
    let mut taken = 0;
    while taken < samples {
        for first in (0..rows).step_by(BATCH_ROWS) {
            let batch = first..first + BATCH_ROWS.min(samples - taken);
            taken += batch.len();
            engine.batch(SampleColumns {
                client: &client[batch.clone()],
                stage: &stage[batch.clone()],
                operation_code: &operation_code[batch.clone()],
                outcome_code: &outcome_code[batch.clone()],
                start_ns: &start_ns[batch.clone()],
                duration_ns: &duration_ns[batch.clone()],
                bytes: &bytes[batch],
                ..SampleColumns::default()
            });
        }
    }
    let recorded = begin.elapsed();
    let summaries = engine.finish();
    let finished = begin.elapsed() - recorded;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("VmHWM: unknown");
    writeln!(
        std::io::stdout(),
        "{samples} samples, {} groups, {precision:?}: {:.2} ns per sample, finish {:.3} s, {peak}",
        summaries.summaries.len(),
        recorded.as_nanos() as f64 / samples as f64,
        finished.as_secs_f64(),
    )
}
