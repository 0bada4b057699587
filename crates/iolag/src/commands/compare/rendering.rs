//! What is printed and written of a comparison.

use std::collections::{BTreeMap, BTreeSet};

use iolag_analysis::analysed;
use iolag_analysis::compare::{ComparedTable, LeftOut, RuleJudgement};
use iolag_analysis::figure::FigureChoice;
use iolag_conduct::{ExitCode, Failure, summarise_with_figures};
use iolag_model::{Anchor, Phase, RunRecord, StageIndex, counted};
use iolag_report::{
    ComparisonReport, SideCurve, comparison_csv, comparison_markdown, comparison_text, rule_sentences,
    side_curves, write_comparison_html, write_comparison_json,
};
use iolag_store::{RunDirectory, StoreError};
use serde::{Deserialize, Serialize};

use super::resolve::Resolved;
use crate::args::{Common, Compare, CompareForm, SideChoice, SideName};
use crate::commands::runs::figures::one_series_each;
use crate::commands::runs::selection::FoundRun;
use crate::commands::typed;
use crate::look::Look;
use crate::output::Printed;
use crate::progress::Counter;

/// The run that began last.
const LAST: &str = "last";

/// What a child made of a comparison.
#[derive(Debug, Serialize, Deserialize)]
pub struct Rendered {
    /// What is printed.
    pub printed: Printed,
    /// The page, if it was asked for.
    pub page: Option<String>,
}

/// A comparison in the forms that are asked for.
///
/// # Errors
/// If a run cannot be read again for its curve, or a form cannot be made, which is a bug.
pub fn rendered(
    resolved: &Resolved,
    table: &ComparedTable,
    options: &Compare,
    common: &Common,
    look: Look,
    counter: &Counter,
) -> Result<Rendered, Failure> {
    // Whoever gets a file has not seen what the terminal was told.
    let whole = with_what_was_told(table, &resolved.complaints);
    let text = match options.format {
        CompareForm::Text => comparison_text(table, look.width, look.colour),
        CompareForm::Csv => comparison_csv(table),
        CompareForm::Markdown => comparison_markdown(&whole),
    };
    let document = match common.json {
        Some(_) => Some(made(|writer| write_comparison_json(&whole, writer))?),
        None => None,
    };
    let page = match options.report {
        Some(_) => {
            let command = lasting(typed(), &options.sides, resolved);
            Some(page(resolved, &whole, &command, counter)?)
        }
        None => None,
    };
    let judged = judged(table, options, common);
    let complaints = resolved.complaints.iter().cloned().chain(judged.sentences).collect();
    let printed = Printed { text, document, complaints, code: resolved.code.max(judged.code) };
    Ok(Rendered { printed, page })
}

/// The table with these sentences under what is left out; of sides without a run it says so already.
fn with_what_was_told(table: &ComparedTable, sentences: &[String]) -> ComparedTable {
    let silent: Vec<String> =
        table.silent().into_iter().map(|side| format!("{} has no run", table.sides[side].name)).collect();
    let is_new = |sentence: &&String| !silent.iter().any(|told| sentence.starts_with(told));
    let told = sentences.iter().filter(is_new).map(|sentence| LeftOut::Unread { sentence: sentence.clone() });
    ComparedTable { left_out: table.left_out.iter().cloned().chain(told).collect(), ..table.clone() }
}

/// What is said of the rules.
struct Judged {
    sentences: Vec<String>,
    code: ExitCode,
}

/// What a rule found is told to those who want no notices, too.
fn judged(table: &ComparedTable, options: &Compare, common: &Common) -> Judged {
    let (mut sentences, mut code, mut kept) = (Vec::new(), ExitCode::Fine, 0);
    for rule in rule_sentences(table) {
        let own = match rule.judgement {
            RuleJudgement::Kept => {
                kept += 1;
                continue;
            }
            RuleJudgement::Broken => ExitCode::Found,
            RuleJudgement::CannotBeTold { .. } if options.fail_unless_shown => ExitCode::Found,
            RuleJudgement::CannotBeTold { .. } => ExitCode::Fine,
        };
        sentences.push(rule.sentence);
        code = code.max(own);
    }
    if kept > 0 && sentences.is_empty() && !common.quiet {
        sentences.push(format!("the rules are kept in {}", counted(kept, "cell", "cells")));
    }
    Judged { sentences, code }
}

/// The command as it was typed, with the names of runs in the place of `last`, which is another one tomorrow.
fn lasting(mut command: Vec<String>, typed: &[SideName], resolved: &Resolved) -> Vec<String> {
    // Of one campaign all sides are; of what could not be read there are none.
    if typed.len() > 1 && typed.len() != resolved.runs.len() {
        return command;
    }
    for (side, runs) in typed.iter().zip(&resolved.runs) {
        let record = match runs.first().or_else(|| resolved.runs.iter().flatten().next()) {
            Some(run) => &run.record,
            None => continue,
        };
        let lasting = match &side.choice {
            SideChoice::Named if side.text == LAST => record.id.to_string(),
            SideChoice::Campaign { run, part } if run == LAST => {
                let part = part.as_ref().map_or_else(String::new, |part| format!(":{part}"));
                format!("campaign:{}{part}", record.campaign)
            }
            _ => continue,
        };
        command.iter_mut().filter(|word| **word == side.text).for_each(|word| word.clone_from(&lasting));
    }
    command
}

fn page(
    resolved: &Resolved,
    table: &ComparedTable,
    command: &[String],
    counter: &Counter,
) -> Result<String, Failure> {
    let curves = all_curves(resolved, table, counter);
    counter.clear();
    let report = ComparisonReport {
        title: None,
        table,
        curves: &curves.map_err(Failure::unusable)?,
        command,
        written_realtime_ns: Some(Anchor::take().realtime_ns),
    };
    made(|writer| write_comparison_html(&report, writer))
}

/// Runs are read again, which may take long.
fn all_curves(
    resolved: &Resolved,
    table: &ComparedTable,
    counter: &Counter,
) -> Result<Vec<SideCurve>, StoreError> {
    let mut curves = Vec::new();
    let (mut read, all) = (0, resolved.runs.iter().map(Vec::len).sum());
    for (side, (compared, runs)) in table.sides.iter().zip(&resolved.runs).enumerate() {
        let by_id: BTreeMap<&str, &FoundRun> = runs.iter().map(|run| (run.record.id.as_str(), run)).collect();
        for (place, id) in compared.runs.iter().enumerate() {
            if let Some(run) = by_id.get(id.as_str()) {
                curves.extend(curves_of(run, table, side, place)?);
                read += 1;
                counter.show(read, all, "runs read for the report");
            }
        }
    }
    Ok(curves)
}

fn curves_of(
    run: &FoundRun,
    table: &ComparedTable,
    side: usize,
    place: usize,
) -> Result<Vec<SideCurve>, StoreError> {
    let directory = RunDirectory::open(&run.path)?;
    let choice = FigureChoice { phases: phases_of_rows(&run.record), ..one_series_each() };
    let (_, figures) = summarise_with_figures(&directory, &run.record, &choice)?;
    Ok(side_curves(table, side, place, &figures))
}

/// The phases that rows are of which name none; none where a run has no such parts.
fn phases_of_rows(record: &RunRecord) -> Vec<Phase> {
    let cells = analysed(&record.spec.workload).cells(record);
    let meant = cells.iter().filter(|cell| cell.cell.phase.is_none()).flat_map(|cell| &cell.stages);
    let meant: BTreeSet<&StageIndex> = meant.collect();
    let stages = record.stages.iter().filter(|stage| meant.contains(&stage.stage));
    stages.map(|stage| stage.phase).collect::<BTreeSet<_>>().into_iter().collect()
}

fn made(write: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    write(&mut bytes).map_err(Failure::bug)?;
    String::from_utf8(bytes).map_err(Failure::bug)
}
