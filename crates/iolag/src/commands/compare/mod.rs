//! `iolag compare`: which side is faster, by how much, and how sure that is.

mod parts;
mod rendering;
pub mod resolve;

use std::io::Write;
use std::path::Path;

use iolag_analysis::compare::{CompareError, CompareOptions, ComparedTable, compare_sides};
use iolag_conduct::{ExitCode, Failure, absolute};
use iolag_model::WallSpan;

use crate::args::{Common, Compare, SideChoice};
use crate::commands::Located;
use crate::commands::compare::rendering::{Rendered, rendered};
use crate::commands::compare::resolve::{Resolved, Wanted, resolve};
use crate::commands::history::access::here;
use crate::guarded::{in_child, replace_by};
use crate::look::Look;
use crate::output;

/// Runs the command.
///
/// # Errors
/// If nothing can be compared, or the result cannot be delivered.
pub fn run(options: &Compare, common: &Common) -> Result<ExitCode, Failure> {
    refuse_without_effect(options)?;
    output::refuse_lost_document(common)?;
    output::refuse_lost_report(options.report.as_deref())?;
    let located = Located::of(common)?;
    // The terminal is this process's; children have none.
    let look = Look::of_terminal(common);
    let Rendered { printed, page } = output::ask_store(&located.root, || {
        let (resolved, table) = compared(&located, options)?;
        rendered(&resolved, &table, options, common, look)
    })?;
    let code = printed.code;
    let delivered = output::tell(common, printed);
    if let (Some(path), Some(page)) = (&options.report, page) {
        write_page(path, &page, common).map_err(|failure| failure.at_least(code))?;
    }
    delivered
}

/// Finds, reads and compares the sides; what went wrong before stands in front of a failure.
pub fn compared(located: &Located, options: &Compare) -> Result<(Resolved, ComparedTable), Failure> {
    let resolved = resolve(
        located,
        &Wanted {
            sides: &options.sides,
            span: span(options)?,
            quantity: options.value,
            rules: &options.rules,
        },
    )?;
    let told = |failure: Failure| {
        let sentences: Vec<_> = resolved.complaints.iter().cloned().chain([failure.sentence]).collect();
        Failure { code: failure.code.max(resolved.code), sentence: sentences.join("\niolag: ") }
    };
    let comparing = CompareOptions {
        quantity: options.value,
        same_within: options.same_within,
        across: options.across.clone(),
        phases: options.phases.clone(),
        rules: options.rules.clone(),
    };
    let table = compare_sides(resolved.sides.clone(), &comparing).map_err(|error| told(failure(error)))?;
    Ok((resolved, table))
}

fn failure(error: CompareError) -> Failure {
    match error {
        CompareError::Asked(sentence) => Failure::usage(sentence),
        CompareError::NothingMeasured(sentence) => Failure::unusable(sentence),
    }
}

/// An option that changes nothing is a misunderstanding.
fn refuse_without_effect(options: &Compare) -> Result<(), Failure> {
    let spans = [(&options.since, "--since"), (&options.until, "--until")];
    let given = spans.into_iter().find(|(time, _)| time.is_some()).map(|(_, option)| option);
    let is_by_time = |choice: &SideChoice| matches!(choice, SideChoice::Label { .. });
    match given {
        Some(option) if !options.sides.iter().any(|side| is_by_time(&side.choice)) => Err(Failure::usage(
            format!("{option} chooses among the runs of a label: no side is label:NAME=VALUE"),
        )),
        _ => Ok(()),
    }
}

/// Reads the zone files, so only in a child.
fn span(options: &Compare) -> Result<WallSpan, Failure> {
    match (&options.since, &options.until) {
        (None, None) => Ok(WallSpan::ALL),
        (since, until) => here().span(since.as_deref(), until.as_deref()).map_err(Failure::usage),
    }
}

fn write_page(path: &Path, page: &str, common: &Common) -> Result<(), Failure> {
    let path = absolute(path);
    let code = in_child("report", || {
        replace_by(&path, "--report", |file| file.write_all(page.as_bytes()))?;
        output::notice(common, &format!("the report is in {}", path.display()));
        Ok(())
    })?;
    match code {
        ExitCode::Fine => Ok(()),
        code => Err(Failure { code, sentence: format!("the report {} is not complete", path.display()) }),
    }
}
