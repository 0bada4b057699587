//! What is told of a touch.

use std::io::{self, Write};

use iolag_analysis::{RunFindingKind, Summary, TouchAnalysis};
use iolag_model::{RunRecord, TouchSpec, counted, format_count};
use serde::Serialize;

use super::check::text::CheckRows;
use super::command::option;
use super::described::Described;
use super::judged::{Judged, Row};
use crate::finding::in_words::FindingInWords;
use crate::html::markup::Markup;
use crate::machine::json::run::write_document;
use crate::text::table::Colour;
use crate::words::estimates::{quantile, quantile_with_interval};

impl Described for TouchSpec {
    fn heading(&self) -> &'static str {
        "Files created and removed"
    }

    fn in_list(&self) -> String {
        "touch".to_owned()
    }

    fn in_a_line(&self, clients: u32) -> String {
        let clients = counted(u64::from(clients), "client", "clients");
        format!("touch, {clients} each with {}", counted(self.files, "file", "files"))
    }

    fn command(&self, run: &RunRecord) -> (&'static [&'static str], Vec<String>) {
        let words = [option("--clients", run.spec.clients), option("--files", self.files)].concat();
        (&["bench", "touch"], words)
    }
}

#[derive(Serialize)]
struct TouchDocument<'a> {
    target: &'a str,
    summaries: &'a [Summary],
}

impl Judged for TouchAnalysis {
    fn verdict(&self, page: &mut Markup) {
        let lines: Vec<String> = self.summaries.iter().map(line).collect();
        page.raw("<p class=\"lede\">").prose(&lines.join("; ")).raw("</p>\n");
    }

    fn findings(&self) -> Vec<FindingInWords<RunFindingKind>> {
        Vec::new()
    }

    fn rows(&self) -> Vec<Row<'_>> {
        let row = |summary| Row { place: self.target.clone(), summary, per_second: None, partial: None };
        self.summaries.iter().map(row).collect()
    }

    fn write_json(&self, run: &RunRecord, writer: &mut dyn Write) -> io::Result<()> {
        write_document(run, &TouchDocument { target: &self.target, summaries: &self.summaries }, writer)
    }

    fn text(&self, _rows: CheckRows, _width: usize, _colour: Colour) -> String {
        self.summaries.iter().map(|summary| format!("{}\n", line(summary))).collect()
    }
}

/// `create, 100 times: 20 us (median), at most 40 us`
fn line(summary: &Summary) -> String {
    let (times, durations) = (format_count(summary.attempts), &summary.durations);
    let (median, longest) = (quantile_with_interval(&durations.median), quantile(durations.max));
    format!("{}, {times} times: {median} (median), at most {longest}", summary.key.operation)
}
