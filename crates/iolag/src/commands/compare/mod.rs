//! `iolag compare`: which side is faster, by how much, and how sure that is.

mod of_history;
pub mod parts;
mod rendering;
pub mod resolve;

use std::io::Write;
use std::path::Path;

use iolag_analysis::compare::{CompareError, CompareOptions, ComparedTable, compare_sides};
use iolag_conduct::{ExitCode, Failure, absolute};
use iolag_model::WallSpan;

use crate::args::{Common, Compare, SideChoice, SideName};
use crate::commands::Located;
use crate::commands::compare::rendering::{Rendered, rendered};
use crate::commands::compare::resolve::{Resolved, Wanted, resolve};
use crate::commands::history::access::{Chosen, ask_history, here};
use crate::guarded::{in_child, replace_by};
use crate::look::Look;
use crate::output;
use crate::progress::Counter;

/// Runs the command.
///
/// # Errors
/// If nothing can be compared, or the result cannot be delivered.
pub fn run(options: &Compare, common: &Common) -> Result<ExitCode, Failure> {
    refuse_without_effect(options)?;
    output::refuse_lost_files(options.report.as_deref(), common)?;
    let located = located_for(&options.sides, common)?;
    // The terminal is this process's; children have none.
    let (look, counter) = (Look::of_terminal(common), Counter::new(common));
    let work = || {
        let (resolved, table) = compared(&located, options)?;
        rendered(&resolved, &table, options, common, look, &counter)
    };
    let Rendered { printed, page } = match are_histories(&options.sides) {
        true => ask_history(&Chosen::new(&options.place)?, work)?,
        false => output::ask_store(&located.root, work)?,
    };
    let code = printed.code;
    let delivered = output::tell(common, printed);
    if let (Some(path), Some(page)) = (&options.report, page) {
        write_page(path, &page, common).map_err(|failure| failure.at_least(code))?;
    }
    delivered
}

/// The store that the sides are looked for in: histories alone need none, and do not wait for one that hangs.
///
/// # Errors
/// As [`Located::of`].
pub fn located_for(sides: &[SideName], common: &Common) -> Result<Located, Failure> {
    if are_histories(sides) { Ok(Located::nowhere()) } else { Located::of(common) }
}

fn are_histories(sides: &[SideName]) -> bool {
    sides.iter().all(|side| matches!(side.choice, SideChoice::History(_)))
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
            times: (options.since.as_deref(), options.until.as_deref()),
            place: &options.place,
            workload: options.workload.as_deref(),
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
///
/// # Errors
/// If there is one.
pub fn refuse_without_effect(options: &Compare) -> Result<(), Failure> {
    let spans = [(&options.since, "--since"), (&options.until, "--until")];
    let given = spans.into_iter().find(|(time, _)| time.is_some()).map(|(_, option)| option);
    let is_history = |choice: &SideChoice| matches!(choice, SideChoice::History(_));
    let is_by_time = |choice: &SideChoice| is_history(choice) || matches!(choice, SideChoice::Label { .. });
    if options.place.history.is_some() && !options.sides.iter().any(|side| is_history(&side.choice)) {
        return Err(Failure::usage("--history is read for sides that are history:TARGET, and there is none"));
    }
    if options.workload.is_some() && !options.sides.iter().any(|side| is_history(&side.choice)) {
        return Err(Failure::usage(
            "--workload chooses among the benchmarks that a history remembers: no side is history:TARGET",
        ));
    }
    match given {
        Some(option) if !options.sides.iter().any(|side| is_by_time(&side.choice)) => {
            Err(Failure::usage(format!(
                "{option} chooses among the runs of a label, or in a history: no side is label:NAME=VALUE or history:TARGET"
            )))
        }
        _ => Ok(()),
    }
}

/// Reads the zone files, so only in a child.
fn span(options: &Compare) -> Result<WallSpan, Failure> {
    match (&options.since, &options.until) {
        (None, None) => Ok(WallSpan::ALL),
        (since, until) => {
            let span = here().span(since.as_deref(), until.as_deref());
            span.map_err(|error| Failure::usage(format!("--since and --until: {error}")))
        }
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
