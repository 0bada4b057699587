//! What is told of made-up runs of which every number is known.

mod checks;
mod few_attempts;
#[path = "../../../iolag-analysis/tests/scenario/mod.rs"]
mod scenario;
mod stages;

use iolag_analysis::{CheckAnalysis, MetadataAnalysis, RunAnalysis, RunFindingKind, Severity};
use iolag_model::{GeneratorLimit, GeneratorRecord, MarkedSpan, MonotonicTime, Nanoseconds};
use iolag_report::write_json;
use scenario::Scenario;
use serde::Deserialize;

/// A finding as JSON has it.
#[derive(Debug, Clone, Deserialize)]
struct Told {
    kind: RunFindingKind,
    severity: Severity,
    sentence: String,
    advice: String,
    #[serde(default)]
    places: Vec<String>,
}

/// What is told of each directory of a check.
fn told_of_check(analysis: &CheckAnalysis) -> Vec<Vec<Told>> {
    let document = document(&RunAnalysis::Check(analysis.clone()));
    let directories = document["directories"].as_array().expect("there are directories");
    directories.iter().map(|directory| told(&directory["findings"])).collect()
}

/// What is told of a metadata run.
fn told_of_stages(analysis: &MetadataAnalysis) -> Vec<Told> {
    told(&document(&RunAnalysis::Metadata(analysis.clone()))["findings"])
}

fn document(analysis: &RunAnalysis) -> serde_json::Value {
    // Its head is of no interest.
    let record = Scenario::check(&["/home"]).record;
    let mut bytes = Vec::new();
    write_json(&record, analysis, &mut bytes).expect("a Vec takes everything");
    serde_json::from_slice(&bytes).expect("it is JSON")
}

fn told(findings: &serde_json::Value) -> Vec<Told> {
    serde_json::from_value(findings.clone()).expect("they are findings")
}

/// A generator that for so many of so many seconds was beyond a limit.
fn busy_generator((marked, of): (u64, u64), limit: GeneratorLimit) -> GeneratorRecord {
    let interval_ns = Nanoseconds::from_seconds(1);
    let end = MonotonicTime(interval_ns.0 * marked);
    let span = MarkedSpan {
        begin: MonotonicTime(0),
        end,
        intervals: marked,
        time_ns: Nanoseconds::ZERO,
        beyond: vec![limit],
    };
    GeneratorRecord {
        interval_ns,
        intervals: of,
        time_ns: Nanoseconds::ZERO,
        heartbeats: Vec::new(),
        measurers: Vec::new(),
        marked: vec![span],
    }
}
