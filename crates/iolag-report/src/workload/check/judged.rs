//! What is told of a check.

use std::io::{self, Write};

use iolag_analysis::{CheckAnalysis, DirectoryAnalysis, Feeling, RunFindingKind};
use iolag_model::{Operation, RunRecord};

use super::document::CheckDocument;
use super::text::{CheckRows, check_text};
use crate::figure::FigureKind;
use crate::finding::in_words::FindingInWords;
use crate::finding::run::{findings_of_check, in_words_each};
use crate::machine::json::run::write_document;
use crate::text::table::Colour;
use crate::words::names::distance_from_users;
use crate::workload::judged::{FindingGroup, Judged, Row, Verdict};

/// What is said of the machine's own memory, which nobody asked for.
const CONTROL: &str = " (to compare with: this machine's memory)";

impl Judged for CheckAnalysis {
    fn sentence(&self) -> Option<String> {
        if self.directories.is_empty() {
            Some("Nothing was measured.".to_owned())
        } else {
            self.ranking.clone()
        }
    }

    fn verdicts<'a>(&'a self) -> Vec<Verdict<'a>> {
        let of = |directory: &'a DirectoryAnalysis| Verdict {
            place: &directory.name,
            kind: directory.kind(),
            feeling: directory.verdict.feeling,
            sentence: &directory.verdict.sentence,
        };
        self.directories.iter().map(of).collect()
    }

    /// Directories side by side; of one alone, when it was how.
    fn figure(&self) -> FigureKind {
        if self.directories.len() > 1 { FigureKind::Box } else { FigureKind::TimeLine }
    }

    fn findings(&self) -> Vec<FindingInWords<RunFindingKind>> {
        let of_directories = self.directories.iter().map(|directory| &directory.findings);
        of_directories.chain([&self.findings]).flat_map(|findings| in_words_each(findings)).collect()
    }

    fn told_findings(&self) -> Vec<FindingGroup<'_>> {
        let is_alone = self.directories.len() == 1;
        let told = findings_of_check(self).into_iter();
        told.map(|told| (told.directory.filter(|_| !is_alone), told.findings)).collect()
    }

    fn is_inconspicuous(&self) -> bool {
        self.directories.iter().all(|directory| directory.verdict.feeling == Feeling::Fast)
    }

    fn footnotes(&self) -> &[String] {
        &self.footnotes
    }

    /// As on the terminal: what people feel first. The control comes last.
    fn rows<'a>(&'a self) -> Vec<Row<'a>> {
        let of_directory = |(directory, role): (&'a DirectoryAnalysis, &'static str)| {
            let place = format!("{}{role}", directory.name);
            let partial_create = directory.partial_create;
            let row = move |summary| Row {
                place: place.clone(),
                summary,
                per_second: None,
                partial: partial_create.filter(|_| summary.key.operation == Operation::TaskCreate),
            };
            directory.summaries.iter().map(row)
        };
        let measured = self.directories.iter().map(|directory| (directory, ""));
        let control = self.control.iter().map(|control| (control, CONTROL));
        let mut rows: Vec<Row<'_>> = measured.chain(control).flat_map(of_directory).collect();
        let place = |row: &Row<'_>| self.directories.iter().position(|directory| directory.name == row.place);
        rows.sort_by_key(|row| {
            (place(row).unwrap_or(usize::MAX), distance_from_users(row.summary.key.operation.level()))
        });
        rows
    }

    fn known_rows(&self) -> &'static [Operation] {
        CheckAnalysis::known_rows(self)
    }

    fn write_json(&self, run: &RunRecord, writer: &mut dyn Write) -> io::Result<()> {
        write_document(run, &CheckDocument::from(self), writer)
    }

    fn text(&self, rows: CheckRows, width: usize, colour: Colour) -> String {
        check_text(self, rows, width, colour)
    }
}
