//! Where the clients of a bench run.

use std::sync::Arc;

use iolag_backend::{Backend, SessionOptions};
use iolag_keeper::Exchange;
use iolag_model::{ClientId, Durability, MonotonicClock, Role, RunSpec, StageRecord, Verification};
use iolag_workload::{Client, ClientLoop, DriveEnd, DriveOptions, IfNotOpen, Job, run_threads, workload};

/// A target that is ready to be measured.
pub(super) struct Floor<'a> {
    /// The run's spec.
    pub spec: &'a RunSpec,
    /// The stages.
    pub stages: &'a Arc<[StageRecord]>,
    /// Where an earlier run on the same working set left each client.
    pub positions: Option<&'a [u64]>,
    /// Its sessions.
    pub backend: &'a dyn Backend,
    /// Where samples go.
    pub exchange: &'a Exchange,
}

impl Floor<'_> {
    /// Runs a client of each rank as a thread, all to their ends: whether one was stopped.
    pub fn run<K: Client>(
        &self,
        durability: Durability,
        verification: Verification,
        client: impl Fn(u32) -> K,
    ) -> Result<DriveEnd, String> {
        let bytes_max = workload(&self.spec.workload).object_bytes();
        let jobs = (0..self.exchange.clients())
            .map(|rank| {
                let client_id = ClientId(rank);
                let seed = self.spec.seed;
                let numbered = SessionOptions::new(client_id, rank, seed, bytes_max);
                let options = SessionOptions { durability, verification, ..numbered };
                let drive =
                    DriveOptions { client: client_id, rank, deadlines: self.spec.deadlines_of(Role::Load) };
                Job {
                    client: ClientLoop::new(client(rank), self.exchange.recorder(rank), drive),
                    open: move || self.backend.open_session(&options),
                    if_not_open: IfNotOpen::StopAll,
                }
            })
            .collect();
        let mut all = DriveEnd::Finished;
        let descriptors = self.backend.capabilities().semantics.descriptors;
        for end in run_threads(jobs, descriptors, &self.exchange.coordinator(), &MonotonicClock) {
            if end.map_err(|error| error.to_string())? == DriveEnd::Stopped {
                all = DriveEnd::Stopped;
            }
        }
        Ok(all)
    }
}
