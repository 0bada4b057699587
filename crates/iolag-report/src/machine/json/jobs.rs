//! How many copies of a job to run, as JSON.

use std::io::{self, Write};

use iolag_analysis::{JobAnswer, JobLevel, JobQuestion, JobSetting, Recommendation};
use serde::Serialize;

use crate::words::jobs::recommendation_sentence;

/// Raised when a reader would misread.
const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    kind: &'static str,
    schema: u32,
    targets: Vec<TargetDocument<'a>>,
}

#[derive(Serialize)]
struct TargetDocument<'a> {
    target: &'a str,
    sentence: String,
    question: JobQuestion,
    cpus: u32,
    setting: JobSetting,
    levels: &'a [JobLevel],
    answer: &'a JobAnswer,
}

/// Writes what is advised for each target, indented, with a newline at the end.
///
/// # Errors
/// Those of the writer.
pub fn write_recommendations_json(told: &[Recommendation], writer: &mut dyn Write) -> io::Result<()> {
    let targets = told.iter().map(of_target).collect();
    serde_json::to_writer_pretty(
        &mut *writer,
        &Document { kind: "recommendation", schema: SCHEMA, targets },
    )?;
    writer.write_all(b"\n")
}

fn of_target(told: &Recommendation) -> TargetDocument<'_> {
    let Recommendation { target, question, cpus, levels, setting, answer } = told;
    let sentence = recommendation_sentence(told);
    TargetDocument { target, sentence, question: *question, cpus: *cpus, setting: *setting, levels, answer }
}
