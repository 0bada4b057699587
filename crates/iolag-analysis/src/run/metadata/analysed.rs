//! How the samples of a metadata run are read.

use std::collections::BTreeMap;

use iolag_model::{MetadataSpec, Pattern, RunRecord, counted};

use super::analysis::analyse_metadata;
use super::cells::cells;
use crate::run::summary::Summaries;
use crate::run::values::{CellStages, RunQuantity};
use crate::run::workload::{Analysed, RunAnalysis};

impl Analysed for MetadataSpec {
    fn cells(&self, record: &RunRecord) -> Vec<CellStages> {
        cells(self, &record.stages)
    }

    /// In mdtest's school each operation has a rate of its own; where operations take turns all have the same.
    fn compared(&self) -> RunQuantity {
        match self.pattern {
            Pattern::Batch => RunQuantity::Rate,
            Pattern::Code | Pattern::Paper => RunQuantity::Median,
        }
    }

    fn coordinates(&self, clients: u32) -> BTreeMap<String, String> {
        let (clients, objects) = (clients.to_string(), self.precreated_objects.to_string());
        BTreeMap::from([("clients".to_owned(), clients), ("objects".to_owned(), objects)])
    }

    fn title(&self, names: &str, clients: u32) -> String {
        let clients = counted(u64::from(clients), "client", "clients");
        format!("Metadata benchmark of {names}, {clients}")
    }

    fn analyse(&self, record: &RunRecord, summaries: &Summaries) -> RunAnalysis {
        RunAnalysis::Metadata(analyse_metadata(record, summaries))
    }
}
