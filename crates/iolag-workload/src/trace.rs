//! A trace: what a program asked by itself. No client of iolag asks anything.

use std::collections::BTreeSet;

use iolag_model::{Operation, Phase, TraceSpec};

use crate::SpecError;
use crate::workload::Workload;

impl Workload for TraceSpec {
    fn validate(&self, _clients: u32) -> Result<(), SpecError> {
        Ok(())
    }

    fn phases(&self) -> Vec<(Phase, u32)> {
        Vec::new()
    }

    fn objects_needed(&self, _clients: u32) -> u64 {
        0
    }

    fn object_bytes(&self) -> u64 {
        0
    }

    fn bytes_held(&self, _clients: u32) -> u64 {
        0
    }

    fn operations_needed(&self) -> BTreeSet<Operation> {
        BTreeSet::new()
    }
}
