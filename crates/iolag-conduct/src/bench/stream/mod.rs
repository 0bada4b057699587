//! A stream: its campaign, and what a client does in its measurer.

pub(super) mod copying;

use std::collections::BTreeMap;
use std::sync::Arc;

use iolag_model::{
    FailureCode, Standpoint, StreamEngine, StreamSpec, WorkloadSpec, exact_bytes, format_bytes,
};
use iolag_workload::{
    Copies, CopyPlace, DriveEnd, ProcessorTimes, StreamClient, StreamFault, StreamLedger, Workload,
};

use crate::bench::Benched;
use crate::bench::campaign::Campaign;
use crate::bench::floor::{Floor, Sessions};
use crate::bench::options::BenchOptions;
use crate::bench::plan::{plan_bench, refuse_empty, refuse_equal};
use crate::bench::stream::copying::{copying_with, longest, refuse_copies, refused};
use crate::environment::limits::Limits;
use crate::environment::processors::Processors;
use crate::failure::Failure;
use crate::messages::MeasurerEnd;

/// How large the file of each client is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FileSize {
    /// So many bytes.
    Bytes(u64),
    /// The files of all clients together are so many times the memory of the machine.
    OfMemory(f64),
}

impl FileSize {
    /// The bytes of each of so many clients' files, of whole blocks if the memory decides.
    fn of_each(self, clients: u32, block_bytes: u64, installed_bytes: Option<u64>) -> Result<u64, String> {
        match (self, installed_bytes) {
            (Self::Bytes(bytes), _) => Ok(bytes),
            (Self::OfMemory(times), Some(installed)) => {
                let each = (installed as f64 * times / f64::from(clients.max(1))) as u64;
                Ok(each.div_ceil(block_bytes.max(1)).max(1).saturating_mul(block_bytes))
            }
            (Self::OfMemory(times), None) => Err(format!(
                "--file-size {times}x needs to know how much memory this machine has, and the system does not say: give a size in bytes"
            )),
        }
    }
}

/// Plans the runs of a stream, with blocks of each of these sizes.
///
/// # Errors
/// As [`plan_bench`], and if the stream cannot be.
pub fn plan_stream(
    options: BenchOptions,
    spec: &StreamSpec,
    file: FileSize,
    blocks: &[u64],
    limits: &Limits,
) -> Result<Campaign, Failure> {
    refuse_empty("--block", blocks)?;
    refuse_equal("--block", blocks, |bytes| exact_bytes(*bytes))?;
    let variant =
        |block_bytes: &u64| (BTreeMap::from([("block".to_owned(), exact_bytes(*block_bytes))]), *block_bytes);
    let variants: Vec<_> = blocks.iter().map(variant).collect();
    let workload = |block_bytes: &u64, clients| {
        let file_bytes = file.of_each(clients, *block_bytes, limits.installed_bytes)?;
        let spec = StreamSpec { block_bytes: *block_bytes, file_bytes, ..spec.clone() };
        spec.validate(clients).map_err(|error| error.to_string())?;
        Ok(WorkloadSpec::Stream(spec))
    };
    refuse_copies(&options, spec)?;
    plan_bench(options, &variants, workload, limits)
}

impl Benched for StreamSpec {
    fn sizes(&self) -> (&'static str, &'static str) {
        ("--file-size or --clients", "--clients")
    }

    fn objects_held(&self, clients: u32) -> u64 {
        self.objects_needed(clients)
    }

    fn standpoints(&self) -> &'static [Standpoint] {
        &[Standpoint::File, Standpoint::Directory, Standpoint::Sibling, Standpoint::Control]
    }

    fn measure(&self, floor: &Floor<'_>) -> Result<(DriveEnd, MeasurerEnd), String> {
        let ledger = StreamLedger::default();
        let copying = self.copy_with.map(|with| copying_with(with, floor.copy_to.clone()));
        let sessions = Sessions {
            verification: self.verification,
            stream_io: self.io,
            compressible_percent: self.compressible_percent,
            copying: copying.clone(),
            lanes: (self.engine == StreamEngine::IoUring).then_some(self.depth),
            ..Sessions::default()
        };
        let place = if floor.copy_to.is_some() { CopyPlace::Elsewhere } else { CopyPlace::Beside };
        let copies = Copies { place, longest: longest(floor.spec) };
        let clocks = match self.engine {
            StreamEngine::Sync => Processors::WithPrograms,
            StreamEngine::IoUring => Processors::WithWorkers,
        };
        let processors = ProcessorTimes::new(floor.stages.len(), clocks);
        let client = |rank| {
            let (of_run, stages) = ((rank, floor.spec.seed), Arc::clone(floor.stages));
            StreamClient::new(self, of_run, copies, stages, ledger.clone(), Arc::clone(&processors))
        };
        let driven = floor.run(&sessions, client)?;
        let faults = ledger.faults().iter().map(|fault| in_words(self, fault, floor)).collect();
        let doubts = copying.as_ref().and_then(refused).into_iter().collect();
        Ok((driven, MeasurerEnd { faults, doubts, ..MeasurerEnd::default() }))
    }
}

/// As in `client 0 broke off write after 1.20 GiB of 4 GiB: stream.write failed: no space left (errno 28)`.
fn in_words(spec: &StreamSpec, fault: &StreamFault, floor: &Floor<'_>) -> String {
    let stage = floor.stages.iter().find(|stage| stage.stage == fault.stage);
    let phase = stage.map_or_else(String::new, |stage| format!(" {}", stage.phase));
    let place = stage.and_then(|stage| floor.spec.place_of(stage.phase, fault.operation));
    let place = place.map_or_else(String::new, |place| format!(" in {place}"));
    let (moved, all) = (format_bytes(fault.bytes), format_bytes(spec.file_bytes));
    let StreamFault { rank, operation, code, .. } = fault;
    let said = fault.said.as_ref().map_or_else(String::new, |said| format!(": {said}"));
    let how = match *code {
        FailureCode::DEADLINE => "timed out: it was ended at its deadline".to_owned(),
        code => format!("failed: {code}{said}"),
    };
    format!("client {rank} broke off{phase} after {moved} of {all}: {operation}{place} {how}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_files_together_are_as_many_times_the_memory_as_was_said() {
        let file = FileSize::OfMemory(2.0);
        assert_eq!(file.of_each(4, 1 << 20, Some(8 << 30)), Ok(4 << 30));
        assert_eq!(file.of_each(3, 1000, Some(1000)), Ok(1000), "whole blocks");
        assert!(file.of_each(1, 1000, None).unwrap_err().starts_with("--file-size 2x needs to know"));
        assert_eq!(FileSize::Bytes(5).of_each(4, 1000, None), Ok(5));
    }
}
