//! Runs as JSON: what was measured and judged of one, and the list of them.

use std::collections::BTreeMap;
use std::io::{self, Write};

use iolag_analysis::RunAnalysis;
use iolag_model::{Environment, MemoryCourse, RunId, RunRecord, RunState};
use serde::Serialize;

use crate::text::BaselineContent;
use crate::workload::judged;

#[derive(Serialize)]
struct Document<'a, T> {
    kind: &'static str,
    run: RunHead<'a>,
    #[serde(flatten)]
    analysis: &'a T,
}

#[derive(Serialize)]
struct RunHead<'a> {
    id: &'a RunId,
    campaign: &'a RunId,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    coordinates: &'a BTreeMap<String, String>,
    repetition: u32,
    labels: &'a BTreeMap<String, String>,
    command: &'a [String],
    started_realtime_ns: Option<u64>,
    state: &'a RunState,
    environment: &'a Environment,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory: Option<&'a MemoryCourse>,
}

/// Writes a document, indented; its `schema` is [`iolag_analysis::SUMMARY_SCHEMA`], with a newline at the
/// end.
///
/// # Errors
/// Those of the writer.
pub fn write_json(run: &RunRecord, analysis: &RunAnalysis, writer: &mut dyn Write) -> io::Result<()> {
    judged(analysis).write_json(run, writer)
}

/// Writes what was found out behind what is known of the run.
pub(crate) fn write_document<T: Serialize>(
    run: &RunRecord,
    analysis: &T,
    writer: &mut dyn Write,
) -> io::Result<()> {
    let kind = run.spec.workload.name();
    let run = RunHead {
        id: &run.id,
        campaign: &run.campaign,
        coordinates: &run.coordinates,
        repetition: run.repetition,
        labels: &run.labels,
        command: &run.command,
        started_realtime_ns: run.anchors.first().map(|anchor| anchor.realtime_ns),
        state: &run.state,
        environment: &run.environment,
        memory: run.memory.as_ref(),
    };
    serde_json::to_writer_pretty(&mut *writer, &Document { kind, run, analysis })?;
    writer.write_all(b"\n")
}

/// Writes runs as an array of their records: `iolag list --json`.
///
/// # Errors
/// Those of the writer.
pub fn write_list_json(runs: &[RunRecord], writer: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *writer, runs)?;
    writer.write_all(b"\n")
}

/// Of a baseline: the runs that it names, and those of them that are gone, or cannot be read.
#[derive(Serialize)]
struct BaselineDocument<'a> {
    name: &'a str,
    set_ns: u64,
    runs: &'a [RunId],
    gone: Vec<&'a RunId>,
}

/// Writes baselines as an array: `iolag baseline list --json`.
///
/// # Errors
/// Those of the writer.
pub fn write_baselines_json(baselines: &[BaselineContent], writer: &mut dyn Write) -> io::Result<()> {
    fn document(baseline: &BaselineContent) -> BaselineDocument<'_> {
        let is_gone = |id: &&RunId| baseline.left.iter().all(|run| run.id != **id);
        BaselineDocument {
            name: &baseline.name,
            set_ns: baseline.set_ns,
            runs: &baseline.runs,
            gone: baseline.runs.iter().filter(is_gone).collect(),
        }
    }
    serde_json::to_writer_pretty(&mut *writer, &baselines.iter().map(document).collect::<Vec<_>>())?;
    writer.write_all(b"\n")
}
