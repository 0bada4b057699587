//! How the samples of a stream are read.

use std::collections::BTreeMap;

use iolag_model::{
    Operation, Phase, RunRecord, StageIndex, StageRecord, StreamFsync, StreamSpec, TargetIndex, counted,
    exact_bytes,
};

use super::analysis::analyse_stream;
use crate::run::summary::Summaries;
use crate::run::values::{Cell, CellStages, Pace, RunQuantity};
use crate::run::workload::{Analysed, RunAnalysis};

impl Analysed for StreamSpec {
    /// A phase is a cell, by its blocks; making what was written durable is another.
    fn cells(&self, record: &RunRecord) -> Vec<CellStages> {
        let cell = |operation, pace, stages: Vec<StageIndex>| CellStages {
            cell: Cell { operation, phase: None },
            target: TargetIndex(0),
            stages,
            pace,
        };
        let in_stages = |is_meant: &dyn Fn(&StageRecord) -> bool| -> Vec<StageIndex> {
            record.stages.iter().filter(|stage| is_meant(stage)).map(|stage| stage.stage).collect()
        };
        let mut cells: Vec<CellStages> = Vec::new();
        for phase in &self.phases {
            let Some(block) = self.block_of(*phase) else { continue };
            if cells.iter().all(|known| known.cell.operation != block) {
                cells.push(cell(block, Pace::Sets, in_stages(&|stage| stage.phase == *phase)));
            }
        }
        let writing = in_stages(&|stage| {
            matches!(stage.phase, Phase::Write | Phase::Rewrite | Phase::RandomWrite | Phase::Copy)
        });
        if self.fsync != StreamFsync::Never && !writing.is_empty() {
            cells.push(cell(Operation::StreamFsync, Pace::Follows, writing));
        }
        cells
    }

    fn compared(&self) -> RunQuantity {
        RunQuantity::Throughput
    }

    fn coordinates(&self, clients: u32) -> BTreeMap<String, String> {
        let block = exact_bytes(self.block_bytes);
        BTreeMap::from([("clients".to_owned(), clients.to_string()), ("block".to_owned(), block)])
    }

    fn title(&self, names: &str, clients: u32) -> String {
        format!("Streams of {names}, {}", counted(u64::from(clients), "client", "clients"))
    }

    fn analyse(&self, record: &RunRecord, summaries: &Summaries) -> RunAnalysis {
        RunAnalysis::Stream(analyse_stream(record, self, summaries))
    }
}
