//! Short hands for tests of imports.
#![allow(dead_code, reason = "every test uses a part")]

use iolag_model::{Batch, BatchId, HistoryRecord, WallTime};
use iolag_store::import::{Comparison, Import, ImportOptions, ImportedSample, ImportedSeries, read};

pub fn options() -> ImportOptions {
    ImportOptions::new("nid4100")
}

pub fn import(text: &str, options: &ImportOptions) -> Import {
    read(text.as_bytes(), "sample.csv", options).unwrap_or_else(|error| panic!("{error}"))
}

/// What is stored of an import into an empty history.
pub fn records(import: &Import) -> Vec<HistoryRecord> {
    let batch = Batch {
        id: BatchId(1),
        made: WallTime(0),
        file: import.report.file.clone(),
        hash: import.report.hash.clone(),
        options: String::new(),
        author: String::new(),
        undone: None,
    };
    let comparison = Comparison::of(import, &[], None).expect("no history is asked");
    comparison.records(import, &batch).skip(1).map(|record| record.expect("it was put aside")).collect()
}

pub fn refused(text: &str, options: &ImportOptions) -> String {
    read(text.as_bytes(), "sample.csv", options).expect_err("it is to be refused").to_string()
}

pub fn samples(series: &ImportedSeries) -> Vec<ImportedSample> {
    series.samples.iter().map(|sample| sample.expect("it was put aside")).collect()
}

pub fn duration_ms(series: &ImportedSeries) -> Vec<u64> {
    samples(series).iter().map(|sample| sample.duration_ns.0 / 1_000_000).collect()
}

/// Duration in ns and outcome of every sample.
pub fn shown(series: &ImportedSeries) -> Vec<String> {
    samples(series).iter().map(|sample| format!("{} {}", sample.duration_ns.0, sample.outcome)).collect()
}
