//! What a meeting costs: how long after the last has arrived all clients are at work again, and how far apart they start.
//!
//! `cargo run --release -p iolag-keeper --example meeting_cost [CLIENTS]…`: threads that meet before each of a hundred stages,
//! in each of which they ask once for something that takes no time.

#![allow(clippy::print_stdout, reason = "an example prints what it measured")]

use std::time::Instant;

use iolag_backend::{Completion, Descriptors, ObjectKey, Request, Session};
use iolag_keeper::Exchange;
use iolag_model::{ClientId, MonotonicClock, MonotonicTime, Nanoseconds, Operation, StageIndex};
use iolag_workload::{Client, ClientLoop, Done, DriveOptions, IfNotOpen, Job, Step, run_threads};

const STAGES: u16 = 100;

/// Meets, asks once, meets again.
struct Meets {
    stage: u16,
    is_asking: bool,
}

impl Client for Meets {
    fn next(&mut self, _now: MonotonicTime) -> Step {
        if std::mem::take(&mut self.is_asking) {
            return Step::Execute {
                request: Request::new(Operation::Stat, ObjectKey::default(), 0),
                intended: None,
            };
        }
        if self.stage == STAGES {
            return Step::Finished;
        }
        self.stage += 1;
        self.is_asking = true;
        Step::Begin { stage: StageIndex(self.stage), value: 0 }
    }

    fn completed(&mut self, _request: &Request, _done: &Done) {}
}

struct Nothing;

impl Session for Nothing {
    fn prepare(&mut self, _request: &Request) {}

    fn execute(&mut self, _request: &Request) -> Completion {
        Completion::ok(0)
    }
}

fn main() {
    let asked: Vec<u32> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    let counts = if asked.is_empty() { vec![2, 16, 1000] } else { asked };
    println!("clients  meeting µs (median)  skew µs (median)  start-up to end ms");
    for clients in counts {
        let began = Instant::now();
        let (mut costs, mut skews) = stages(clients);
        costs.sort_unstable();
        skews.sort_unstable();
        let in_us = |sorted: &[u64]| sorted[sorted.len() / 2] as f64 / 1000.0;
        println!(
            "{clients:>7}  {:>19.1}  {:>16.1}  {:>18.0}",
            in_us(&costs),
            in_us(&skews),
            began.elapsed().as_secs_f64() * 1e3
        );
    }
}

/// From the last end of a stage to the last start of the next, and from the first to the last start of each, in ns.
fn stages(clients: u32) -> (Vec<u64>, Vec<u64>) {
    let exchange = Exchange::new(clients, u64::from(clients) * 48 * 1024).expect("shared memory");
    let jobs = (0..clients)
        .map(|rank| {
            let deadline = Nanoseconds::from_seconds(60);
            let options = DriveOptions { client: ClientId(rank), rank, deadlines: deadline.into() };
            let client =
                ClientLoop::new(Meets { stage: 0, is_asking: false }, exchange.recorder(rank), options);
            let open = || Ok(Box::new(Nothing) as Box<dyn Session>);
            Job { client, open, if_not_open: IfNotOpen::StopAll }
        })
        .collect();
    let ends = run_threads(jobs, Descriptors::Private, &exchange.coordinator(), &MonotonicClock);
    assert!(ends.iter().all(Result::is_ok), "a client did not come to its end");
    let mut spans = vec![(u64::MAX, 0, 0); usize::from(STAGES) + 1];
    for (ring, _) in exchange.readers() {
        for sample in ring.pending().iter().filter(|sample| sample.operation() == Operation::Stat) {
            let (first, last, end) = &mut spans[usize::from(sample.stage.0)];
            *first = sample.start.0.min(*first);
            *last = sample.start.0.max(*last);
            *end = sample.start.after(sample.duration).0.max(*end);
        }
    }
    let costs = spans[1..].windows(2).map(|pair| pair[1].1.saturating_sub(pair[0].2)).collect();
    let skews = spans[1..].iter().map(|(first, last, _)| last - first).collect();
    (costs, skews)
}
