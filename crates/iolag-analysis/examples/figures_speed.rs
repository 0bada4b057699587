//! How fast figures are made: `cargo run --release -p iolag-analysis --example figures_speed -- SAMPLES THREADS`.
//! Without arguments a small input, so that it can serve as a test. A third argument `wide` spreads durations
//! over all decades, the worst case of the density grid.

use std::io::Write;
use std::time::Instant;

use iolag_analysis::figure::{FigureEngine, FigurePlan, Figures, TimeSpan};
use iolag_model::Random;
use iolag_model::{MonotonicTime, Operation, Outcome, RunRecord, SampleColumns};

const BATCH_ROWS: usize = 65_536;
const BATCHES: usize = 16;
const ROW_NS: i64 = 5_000;
const CLIENTS: usize = 8;

/// A batch that is given out again and again; starts are moved on.
struct Batch {
    client: Vec<i32>,
    stage: Vec<i32>,
    target: Vec<i32>,
    operation_code: Vec<i32>,
    outcome_code: Vec<i32>,
    failure_code: Vec<i32>,
    start_ns: Vec<i64>,
    duration_ns: Vec<i64>,
    bytes: Vec<i64>,
}

impl Batch {
    fn new(seed: u64, is_wide: bool) -> Self {
        let rows = BATCH_ROWS;
        let mut noise = Random::new(seed);
        let operations = [Operation::Stat, Operation::Read, Operation::Delete, Operation::Create];
        let fails: Vec<bool> = (0..rows).map(|_| noise.bits().is_multiple_of(20_000)).collect();
        let duration = |noise: &mut Random| {
            let decades = if is_wide { 15.0 * noise.unit() } else { 4.5 + 0.3 * noise.normal() };
            10f64.powf(decades) as i64
        };
        Self {
            client: (0..rows).map(|row| (row % CLIENTS) as i32).collect(),
            stage: vec![0; rows],
            target: vec![0; rows],
            operation_code: (0..rows).map(|row| operations[row / CLIENTS % 4] as i32).collect(),
            outcome_code: fails
                .iter()
                .map(|fails| if *fails { Outcome::Error as i32 } else { Outcome::Ok as i32 })
                .collect(),
            failure_code: fails.iter().map(|fails| if *fails { 28 } else { 0 }).collect(),
            start_ns: (0..rows as i64).map(|row| row * ROW_NS).collect(),
            duration_ns: (0..rows).map(|_| duration(&mut noise)).collect(),
            bytes: vec![3901; rows],
        }
    }

    fn give(&mut self, engine: &mut FigureEngine, rows: usize) {
        engine.batch(SampleColumns {
            client: &self.client[..rows],
            target: &self.target[..rows],
            stage: &self.stage[..rows],
            operation_code: &self.operation_code[..rows],
            outcome_code: &self.outcome_code[..rows],
            failure_code: &self.failure_code[..rows],
            start_ns: &self.start_ns[..rows],
            duration_ns: &self.duration_ns[..rows],
            bytes: &self.bytes[..rows],
            ..SampleColumns::default()
        });
    }
}

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let samples: usize = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(100_000);
    let threads: usize = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(2);
    let is_wide = arguments.next().as_deref() == Some("wide");
    let record: RunRecord = serde_json::from_str(include_str!("figures_speed_run.json"))?;
    let end = MonotonicTime(samples as u64 * ROW_NS as u64);
    let plan = FigurePlan::new(&record, TimeSpan { begin: MonotonicTime(0), end });

    let mut batches: Vec<Vec<Batch>> = (0..threads)
        .map(|thread| (0..BATCHES).map(|batch| Batch::new((thread * 64 + batch) as u64, is_wide)).collect())
        .collect();
    let begin = Instant::now();
    let mut engines: Vec<FigureEngine> = std::thread::scope(|scope| {
        let plan = &plan;
        let take = |(thread, batches): (usize, &'_ mut Vec<Batch>)| -> FigureEngine {
            let mut engine = FigureEngine::new(plan.clone());
            let (mut taken, own) = (samples * thread / threads, samples * (thread + 1) / threads);
            for batch in (0..BATCHES).cycle() {
                let rows = BATCH_ROWS.min(own - taken);
                if rows == 0 {
                    break;
                }
                let first_ns = taken as i64 * ROW_NS - batches[batch].start_ns[0];
                batches[batch].start_ns.iter_mut().for_each(|start_ns| *start_ns += first_ns);
                batches[batch].give(&mut engine, rows);
                taken += rows;
            }
            engine
        };
        let handles: Vec<_> =
            batches.iter_mut().enumerate().map(|own| scope.spawn(move || take(own))).collect();
        handles.into_iter().filter_map(|handle| handle.join().ok()).collect()
    });
    let recorded = begin.elapsed();
    let mut engine = engines.remove(0);
    engines.into_iter().for_each(|other| engine.merge(other));
    let figures = engine.finish();
    let finished = begin.elapsed();
    let mut document = Figures::new(vec![figures], Vec::new());
    let columns = document.detach_columns();
    let column_bytes: usize = columns.iter().map(|column| column.bytes_le.len()).sum();
    let json_bytes = serde_json::to_vec(&document)?.len();
    let detached = begin.elapsed();
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("VmHWM: unknown");
    writeln!(
        std::io::stdout(),
        "{samples} samples, {threads} threads: recorded {:.3} s, merged and drawn {:.3} s, detached {:.3} s; {} columns of \
{column_bytes} bytes, JSON {json_bytes} bytes, {peak}",
        recorded.as_secs_f64(),
        (finished - recorded).as_secs_f64(),
        (detached - finished).as_secs_f64(),
        columns.len(),
    )
}
