//! What is chosen of a bench, whatever its workload.

use iolag_model::{Nanoseconds, OnHang, Order};

use crate::bench::sides::Side;

/// How long a run waits for a hung operation that it is to wait for.
const GIVE_UP_AFTER: Nanoseconds = Nanoseconds::from_seconds(3600);

/// What every bench is told besides its workload, with its defaults: the one place of them.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchOptions {
    /// What the campaign is called, if a plan gives it a name.
    pub name: Option<String>,
    /// Where to measure.
    pub sides: Vec<Side>,
    /// Clients per side; several numbers make a sweep.
    pub clients: Vec<u64>,
    /// How often everything is done.
    pub repeat: u64,
    /// In which order.
    pub order: Order,
    /// After this long an operation counts as hung.
    pub deadline: Nanoseconds,
    /// What a hung operation does to the run.
    pub on_hang: OnHang,
    /// Where it is waited for: how long; else an hour.
    pub give_up_after: Option<Nanoseconds>,
    /// Shared memory for samples, at most; else what is usual for the number of clients.
    pub buffer_bytes: Option<u64>,
    /// Name of the working directory in the target.
    pub working_name: String,
    /// Seed of everything random.
    pub seed: u64,
    /// What the user attaches.
    pub labels: Vec<(String, String)>,
}

impl Default for BenchOptions {
    fn default() -> Self {
        Self {
            name: None,
            sides: Vec::new(),
            clients: vec![1],
            repeat: 1,
            order: Order::default(),
            deadline: Nanoseconds::from_seconds(15),
            on_hang: OnHang::Continue,
            give_up_after: None,
            buffer_bytes: None,
            working_name: "iolag-work".to_owned(),
            seed: 1,
            labels: Vec::new(),
        }
    }
}

impl BenchOptions {
    /// How long a hung operation is waited for.
    pub(super) fn patience(&self) -> Nanoseconds {
        match self.on_hang {
            OnHang::Wait => self.give_up_after.unwrap_or(GIVE_UP_AFTER),
            OnHang::Continue | OnHang::Stop => self.deadline,
        }
    }

    pub(super) fn is_swept(&self) -> bool {
        self.clients.len() > 1 || self.repeat > 1
    }
}
