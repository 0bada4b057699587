//! What a metadata client costs per operation, without any session: `next` and `completed` through the trait, as the loop
//! calls them. Prints nanoseconds per operation for each granularity and pattern, and for a client that always asks the same:
//! the part of it that is the trait's calls and the copying of requests.
//!
//! ```text
//! cargo run --release -p iolag-workload --example client_cost -- 20000000
//! ```
//! The argument is the number of operations per line; the default is tiny.

#![expect(clippy::print_stdout, reason = "an example tells its user")]

use std::hint::black_box;
use std::sync::Arc;

use iolag_backend::{Completion, ObjectKey, Request};
use iolag_model::{
    Access, Clock, Durability, Granularity, Meeting, MetadataSpec, MonotonicClock, MonotonicTime, Operation,
    Pattern, Phase, StageRecord, Think, Verification, Waiting,
};
use iolag_workload::{Accounting, BatchClient, Client, Done, MetadataClient, SpecError, Step, Workload};

fn main() -> Result<(), SpecError> {
    let operations = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(20_000);
    let ns = cost_ns(&mut Monotonous, operations);
    println!("the same request again {ns:5.1} ns per operation");
    for pattern in [Pattern::Code, Pattern::Batch] {
        for granularity in Granularity::ALL {
            let mut client = client(&spec(pattern, *granularity, operations))?;
            let ns = cost_ns(client.as_mut(), operations);
            println!("{pattern:<10} {granularity:<11} {ns:5.1} ns per operation");
        }
    }
    Ok(())
}

fn spec(pattern: Pattern, granularity: Granularity, operations: u64) -> MetadataSpec {
    MetadataSpec {
        pattern,
        granularity,
        phases: vec![Phase::Benchmark],
        datasets: 10,
        precreated_objects: operations.max(1),
        objects: operations.max(1),
        iterations: 1,
        object_bytes: 3901,
        offset: 1,
        think: Think::None,
        access: Access::Replace,
        time_limit: None,
        durability: Durability::Default,
        verification: Verification::Length,
        dataset_kind: iolag_model::Datasets::Made,
        connections: iolag_model::Connections::Reused,
    }
}

fn client(spec: &MetadataSpec) -> Result<Box<dyn Client>, SpecError> {
    let list: Arc<[StageRecord]> = spec.stages().into();
    let accounting = Accounting::new(spec, 4, None)?;
    Ok(match spec.pattern {
        Pattern::Batch => Box::new(BatchClient::new(spec, 0, list, &accounting)),
        _ => Box::new(MetadataClient::new(spec, 0, list, &accounting)),
    })
}

/// Asks the same again and again.
struct Monotonous;

impl Client for Monotonous {
    fn next(&mut self, _now: MonotonicTime) -> Step {
        let request = Request::new(Operation::Stat, ObjectKey::default(), 3901);
        Step::Execute { request, intended: None }
    }

    fn completed(&mut self, _request: &Request, _done: &Done) {}
}

fn cost_ns(client: &mut dyn Client, operations: u64) -> f64 {
    let clock = MonotonicClock;
    let mut now = MonotonicTime(1);
    client.next(now);
    client.met(&Meeting { values: vec![Some(0); 4].into(), begin: now, waiting: Waiting::Asleep }, now);
    let start = clock.now();
    for _ in 0..operations {
        let Step::Execute { request, .. } = black_box(&mut *client).next(now) else { break };
        let end = MonotonicTime(now.0 + 1_000);
        let done = Done { completion: Completion::ok(request.bytes), start: now, end };
        client.completed(black_box(&request), black_box(&done));
        now = end;
    }
    clock.now().since(start).0 as f64 / operations.max(1) as f64
}
