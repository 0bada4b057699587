//! How the samples of a tree are read.

use std::collections::BTreeMap;

use iolag_model::{Phase, RunRecord, TargetIndex, TreeSpec, counted};

use super::analysis::{analyse_tree, operation_of};
use crate::run::summary::Summaries;
use crate::run::values::{Cell, CellStages, Pace, RunQuantity};
use crate::run::workload::{Analysed, RunAnalysis};

impl Analysed for TreeSpec {
    /// A phase is a cell, by what it does with each name.
    fn cells(&self, record: &RunRecord) -> Vec<CellStages> {
        let mut cells: Vec<CellStages> = Vec::new();
        for stage in &record.stages {
            let Some(operation) = operation_of(stage.phase) else { continue };
            // Between two attributes a file is read: that is another rate than of attributes alone.
            let cell = Cell { operation, phase: Some(stage.phase).filter(|phase| *phase == Phase::Combined) };
            match cells.iter_mut().find(|known| known.cell == cell) {
                Some(known) => known.stages.push(stage.stage),
                None => cells.push(CellStages {
                    cell,
                    target: TargetIndex(0),
                    stages: vec![stage.stage],
                    pace: Pace::Sets,
                }),
            }
        }
        cells
    }

    /// A run is compared by one quantity, and attributes have no bytes. For trees of small files, which are what people wait for, files per
    /// second say more of the storage than bytes per second do; of equal trees the one follows from the other.
    fn compared(&self) -> RunQuantity {
        RunQuantity::Rate
    }

    fn coordinates(&self, clients: u32) -> BTreeMap<String, String> {
        BTreeMap::from([("clients".to_owned(), clients.to_string())])
    }

    fn title(&self, names: &str, clients: u32) -> String {
        format!("Trees of {names}, {}", counted(u64::from(clients), "client", "clients"))
    }

    fn analyse(&self, record: &RunRecord, summaries: &Summaries) -> RunAnalysis {
        RunAnalysis::Tree(analyse_tree(record, summaries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_model::{
        CacheState, Nanoseconds, OnError, OnHang, Operation, RunId, RunSpec, RunState, StageIndex,
        StageRecord, WorkloadSpec,
    };

    fn record(spec: &TreeSpec, phases: &[Phase]) -> RunRecord {
        let spec = RunSpec {
            workload: WorkloadSpec::Tree(spec.clone()),
            targets: vec!["/usr/local".to_owned()],
            clients: 1,
            deadline_ns: Nanoseconds::from_seconds(15),
            deadlines: Vec::new(),
            on_hang: OnHang::Continue,
            on_error: OnError::Continue,
            seed: 1,
            ring_bytes: 1 << 20,
            caches: CacheState::Asis,
            drop_command: None,
            bystander: None,
        };
        let stages = (0..).zip(phases);
        let stages = stages.map(|(stage, phase)| StageRecord {
            stage: StageIndex(stage),
            phase: *phase,
            iteration: 0,
        });
        let new = RunRecord::new(RunId::new("20261127-120000", 1).unwrap(), spec, RunState::Complete);
        RunRecord { stages: stages.collect(), ..new }
    }

    #[test]
    fn a_phase_that_comes_again_is_the_same_cell_and_a_combined_one_another() {
        let spec = TreeSpec::default();
        let phases = [Phase::Walk, Phase::Stat, Phase::Sum, Phase::Combined, Phase::Stat];
        let cells = spec.cells(&record(&spec, &phases));
        let told: Vec<(Operation, Option<Phase>, Vec<u16>)> = cells
            .iter()
            .map(|of| (of.cell.operation, of.cell.phase, of.stages.iter().map(|stage| stage.0).collect()))
            .collect();
        let expected = [
            (Operation::TreeList, None, vec![0]),
            (Operation::TreeStat, None, vec![1, 4]),
            (Operation::TreeRead, None, vec![2]),
            (Operation::TreeStat, Some(Phase::Combined), vec![3]),
        ];
        assert_eq!(told, expected);
    }
}
