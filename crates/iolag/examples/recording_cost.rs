//! What recording a sample costs: the loop, slot and ring of a real run around an operation that does nothing.
//!
//! `cargo run --release -p iolag --example recording_cost [SECONDS]` measures for that long, reading the clock and
//! recording samples in turn, and prints the median nanoseconds of a clock reading and of a sample, its two clock readings
//! included; by default once. The ring is emptied between the batches, as the writer does meanwhile in a run.
#![expect(clippy::print_stdout, reason = "a measurement prints its result")]

use std::hint::black_box;

use anyhow::Result;
use iolag_backend::{Completion, ObjectKey, Request, Session};
use iolag_keeper::{Exchange, RingReader};
use iolag_model::{ClientId, Clock, MonotonicClock, MonotonicTime, Nanoseconds, Operation, Sample};
use iolag_workload::{Client, ClientLoop, Done, DriveOptions, Step, drive_blocking};

const OPERATIONS: u64 = 20_000;

fn main() -> Result<()> {
    let seconds: f64 = std::env::args().nth(1).map_or(Ok(0.0), |text| text.parse())?;
    let exchange = Exchange::new(1, 2 * OPERATIONS * Sample::SIZE as u64)?;
    exchange.prefault(0);
    let (ring, _) = exchange.readers().swap_remove(0);
    let (mut clock, mut sample) = (Vec::new(), Vec::new());
    let begin = MonotonicClock.now();
    loop {
        clock.push(clock_read_ns());
        sample.push(sample_ns(&exchange, &ring));
        if MonotonicClock.now().since(begin).0 as f64 >= seconds * 1e9 {
            break;
        }
    }
    println!("{:.3} {:.3}", median(clock), median(sample));
    Ok(())
}

fn clock_read_ns() -> f64 {
    let start = MonotonicClock.now();
    for _ in 0..OPERATIONS {
        black_box(MonotonicClock.now());
    }
    MonotonicClock.now().since(start).0 as f64 / OPERATIONS as f64
}

fn sample_ns(exchange: &Exchange, ring: &RingReader) -> f64 {
    let options =
        DriveOptions { client: ClientId(0), rank: 0, deadlines: Nanoseconds::from_seconds(60).into() };
    let client = ClientLoop::new(Box::new(Idle { left: OPERATIONS }), exchange.recorder(0), options);
    let start = MonotonicClock.now();
    drive_blocking(client, &mut Nothing, &exchange.coordinator(), &MonotonicClock);
    let taken = MonotonicClock.now().since(start).0 as f64 / OPERATIONS as f64;
    while !ring.pending().is_empty() {
        ring.consume(ring.pending().len() as u64);
    }
    taken
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

struct Idle {
    left: u64,
}

impl Client for Idle {
    fn next(&mut self, _now: MonotonicTime) -> Step {
        if self.left == 0 {
            return Step::Finished;
        }
        self.left -= 1;
        let key = ObjectKey { rank: 0, dataset: 0, index: self.left };
        Step::Execute { request: Request::new(Operation::Stat, key, 0), intended: None }
    }

    fn completed(&mut self, _request: &Request, _done: &Done) {}
}

struct Nothing;

impl Session for Nothing {
    fn prepare(&mut self, _request: &Request) {}

    fn execute(&mut self, _request: &Request) -> Completion {
        black_box(Completion::ok(0))
    }
}
