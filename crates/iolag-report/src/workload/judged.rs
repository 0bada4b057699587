//! What a report asks what was found out about a run. Each workload answers in its own folder.

use std::io::{self, Write};

use iolag_analysis::{
    BesideAnalysis, Feeling, PartialCreate, RunAnalysis, RunFindingKind, StageAnalysis, Summary, stage_name,
    whatever_analysis,
};
use iolag_model::{Operation, RunRecord, TraceBranch};

use super::beside::table::beside_text;
use super::check::text::CheckRows;
use super::trace::over_time::OverTime;
use super::trace::tables::TraceTable;
use crate::figure::FigureKind;
use crate::finding::in_words::FindingInWords;
use crate::text::table::Colour;

/// Findings, with the place that they are about if there are several.
pub(crate) type FindingGroup<'a> = (Option<&'a str>, Vec<FindingInWords<RunFindingKind>>);

/// A row of the table of a run: where something was measured, and its rate.
pub(crate) struct Row<'a> {
    pub(crate) place: String,
    pub(crate) summary: &'a Summary,
    pub(crate) per_second: Option<f64>,
    pub(crate) partial: Option<PartialCreate>,
}

impl<'a> Row<'a> {
    /// The rows of each stage, with its name as their place.
    pub(crate) fn of_stages(stages: &'a [StageAnalysis]) -> Vec<Self> {
        let of_stage = |stage: &'a StageAnalysis| {
            let place = stage_name(stage.phase, stage.iteration);
            stage.rows.iter().map(move |row| Row {
                place: match &row.place {
                    Some(target) => format!("{place} in {target}"),
                    None => place.clone(),
                },
                summary: &row.summary,
                per_second: Some(row.per_second),
                partial: None,
            })
        };
        stages.iter().flat_map(of_stage).collect()
    }
}

/// What is said of a place.
pub(crate) struct Verdict<'a> {
    pub(crate) place: &'a str,
    /// Its kind of file system, if it is known.
    pub(crate) kind: Option<&'a str>,
    pub(crate) feeling: Feeling,
    pub(crate) sentence: &'a str,
}

/// What a report says of what was found out about a run.
pub(crate) trait Judged {
    /// What it comes to, in a sentence or a few; nothing where the verdicts say all.
    fn sentence(&self) -> Option<String>;

    /// The verdict on each place, where places are judged one by one.
    fn verdicts(&self) -> Vec<Verdict<'_>> {
        Vec::new()
    }

    /// The figure that shows what it comes to, if nothing was in trouble.
    fn figure(&self) -> FigureKind;

    /// What everybody else felt meanwhile, if somebody measured that.
    fn beside(&self) -> Option<&BesideAnalysis> {
        None
    }

    /// All findings, the gravest of a place first.
    fn findings(&self) -> Vec<FindingInWords<RunFindingKind>>;

    /// The findings, each told once.
    fn told_findings(&self) -> Vec<FindingGroup<'_>> {
        vec![(None, self.findings())]
    }

    /// Whether the verdict leaves nothing to be found.
    fn is_inconspicuous(&self) -> bool {
        true
    }

    /// What is to be known of nearly every result.
    fn footnotes(&self) -> &[String] {
        &[]
    }

    /// What it says of the configuration, by name.
    fn facts(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// What was measured, in the order of the table.
    fn rows(&self) -> Vec<Row<'_>>;

    /// How its numbers came about, if not as those of attempts do.
    fn method(&self) -> Option<&'static str> {
        None
    }

    /// The tables of what was not measured in attempts: of a trace.
    fn lists(&self) -> Vec<TraceTable> {
        Vec::new()
    }

    /// What was done when, if it is known otherwise than by attempts: of a trace.
    fn over_time(&self) -> Option<OverTime<'_>> {
        None
    }

    /// What was asked of directories, as a tree: of a trace.
    fn tree(&self) -> &[TraceBranch] {
        &[]
    }

    /// The rows that a user knows, if the others are only for those who look for them.
    fn known_rows(&self) -> &'static [Operation] {
        &[]
    }

    /// What the rows are told apart by: for people, and in CSV.
    fn place_column(&self) -> (&'static str, &'static str) {
        ("Directory", "target")
    }

    /// What an operation is called in the table.
    fn operation_name(&self, operation: Operation) -> &'static str {
        operation.name()
    }

    /// Writes it as JSON.
    ///
    /// # Errors
    /// Those of the writer.
    fn write_json(&self, run: &RunRecord, writer: &mut dyn Write) -> io::Result<()>;

    /// Renders it for a terminal of so many columns.
    fn text(&self, rows: CheckRows, width: usize, colour: Colour) -> String;
}

/// What was found out about a run.
pub(crate) const fn judged(analysis: &RunAnalysis) -> &dyn Judged {
    whatever_analysis!(analysis, it => it)
}

/// What was found out about a run, for a terminal of `width` columns.
pub fn run_text(analysis: &RunAnalysis, rows: CheckRows, width: usize, colour: Colour) -> String {
    let judged = judged(analysis);
    let beside = judged.beside().map_or_else(String::new, |beside| beside_text(beside, width, colour));
    judged.text(rows, width, colour) + &beside
}
