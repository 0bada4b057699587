//! What streams could not do, for whoever ran their clients.

use std::sync::{Arc, Mutex, PoisonError};

use iolag_model::{FailureCode, Operation, StageIndex};

/// The first failure of each stage of each client.
#[derive(Debug, Clone, Default)]
pub struct StreamLedger(Arc<Mutex<Vec<StreamFault>>>);

/// A stage that was broken off because something failed in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamFault {
    /// Whose.
    pub rank: u32,
    /// Which stage.
    pub stage: StageIndex,
    /// What failed.
    pub operation: Operation,
    /// Why.
    pub code: FailureCode,
    /// What a program said of it last.
    pub said: Option<String>,
    /// Bytes that had been moved in the stage.
    pub bytes: u64,
}

impl StreamLedger {
    /// All of them, by client.
    pub fn faults(&self) -> Vec<StreamFault> {
        let mut faults = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        faults.sort_by_key(|fault| (fault.rank, fault.stage));
        faults
    }

    #[cold]
    pub(super) fn note(&self, fault: StreamFault) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(fault);
    }

    /// Adds what was said of the last fault of a client.
    #[cold]
    pub(super) fn explain(&self, rank: u32, said: &str) {
        let mut faults = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(fault) = faults.iter_mut().rfind(|fault| fault.rank == rank) {
            fault.said.get_or_insert_with(|| said.to_owned());
        }
    }
}
