//! Examples of what is built on the contracts of the core (docs/measurement.md), each small enough to be read at once, and each a test:
//!
//! - `bystander`: a run with clients that measure what everybody else feels meanwhile;
//! - `stream`: a client with several requests in flight;
//! - `get`: tasks that ask a web server;
//! - `hosts`: a run on two hosts, each with a clock of its own.

#![allow(clippy::unwrap_used, reason = "a test ends at what it did not expect")]

mod bystander;
mod get;
mod hosts;
mod server;
mod stream;

use iolag_model::{Nanoseconds, OnHang, RunSpec};
use iolag_workload::MetadataOptions;

/// Nothing takes so long, unless it hangs.
const DEADLINE: Nanoseconds = Nanoseconds::from_seconds(60);

/// A small bench with two clients, which are asked for so many objects each.
fn small_bench(targets: &[&str], objects: u64) -> RunSpec {
    const CLIENTS: u32 = 2;
    let options = MetadataOptions { datasets: 1, objects, iterations: 1, ..MetadataOptions::default() };
    RunSpec {
        workload: options.workload(objects, CLIENTS).unwrap(),
        targets: targets.iter().copied().map(str::to_owned).collect(),
        clients: CLIENTS,
        deadline_ns: DEADLINE,
        deadlines: Vec::new(),
        on_hang: OnHang::Continue,
        seed: 1,
        ring_bytes: 1 << 20,
    }
}
