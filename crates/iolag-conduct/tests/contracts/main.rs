//! Examples of what is built on the contracts of the core (docs/measurement.md), each small enough to be read at once, and each a test:
//!
//! - `bystander`: a run with clients that measure what everybody else feels meanwhile;
//! - `stream`: a client with several requests in flight;
//! - `get`: tasks that ask a web server;
//! - `tags`: several measurers whose samples say who answered;
//! - `hosts`: a run on two hosts, each with a clock of its own.

#![allow(clippy::unwrap_used, reason = "a test ends at what it did not expect")]

mod bystander;
mod get;
mod hosts;
mod server;
mod stream;
mod tags;

use std::path::Path;

use iolag_backend::Request;
use iolag_conduct::{CleanUp, Conducted, GroupPlan, Interruption, Policy, RunPlan, conduct};
use iolag_keeper::Signals;
use iolag_model::{MonotonicTime, Nanoseconds, OnError, OnHang, PlaceToken, RunRecord, RunSpec};
use iolag_workload::{Client, Done, MetadataOptions, Step};

/// Nothing takes so long, unless it hangs.
const DEADLINE: Nanoseconds = Nanoseconds::from_seconds(60);

/// A small bench with two clients, which are asked for so many objects each.
fn small_bench(targets: &[&str], objects: u64) -> RunSpec {
    const CLIENTS: u32 = 2;
    let options = MetadataOptions { datasets: 1, objects, iterations: 1, ..MetadataOptions::default() };
    RunSpec {
        workload: options.workload(options.variants()[0].1, CLIENTS).unwrap(),
        targets: targets.iter().copied().map(str::to_owned).collect(),
        clients: CLIENTS,
        deadline_ns: DEADLINE,
        deadlines: Vec::new(),
        on_hang: OnHang::Continue,
        on_error: OnError::Continue,
        seed: 1,
        ring_bytes: 1 << 20,
        caches: iolag_model::CacheState::Asis,
        drop_command: None,
        bystander: None,
    }
}

/// Conducts a whole run: keeper, writer and these measurers, each a process.
fn conducted(record: RunRecord, groups: Vec<GroupPlan<'_>>, root: &Path) -> Conducted {
    let plan = RunPlan {
        policy: Policy::of(&record.spec),
        record,
        root: root.to_owned(),
        spool_parent: None,
        groups,
        planned_places: Vec::new(),
        token: PlaceToken(1),
        clean_up: CleanUp::Nothing,
        attendant: &mut (),
    };
    conduct(plan, &mut Interruption::new(&Signals::block().unwrap())).unwrap()
}

/// Takes these steps, whatever happens.
struct Walks(std::vec::IntoIter<Step>);

impl Client for Walks {
    fn next(&mut self, _now: MonotonicTime) -> Step {
        self.0.next().unwrap_or(Step::Finished)
    }

    fn completed(&mut self, _request: &Request, _done: &Done) {}
}
