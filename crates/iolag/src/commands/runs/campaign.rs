//! Runs that belong together, which are named together: `campaign:RUN`.

use iolag_analysis::compare::ComparedTable;
use iolag_conduct::{ExitCode, Failure, summarise};
use iolag_model::{Detail, RunRecord};
use iolag_report::comparison_text;
use iolag_store::RunDirectory;

use crate::args::{Common, Compare, MetadataForm, Show, parse_side};
use crate::commands::Located;
use crate::commands::bench::campaign::{in_common, json, text};
use crate::commands::compare::compared;
use crate::commands::compare::parts::parts_of;
use crate::commands::runs::jobs::judge_by;
use crate::commands::runs::selection::{FoundRun, FoundRuns, Selection};
use crate::look::Look;
use crate::output::Printed;

/// What stands in front of one of its runs.
const CAMPAIGN: &str = "campaign:";

/// The run whose campaign is meant, if one is.
pub fn meant(name: &str) -> Option<&str> {
    name.strip_prefix(CAMPAIGN)
}

/// The runs of the campaign of a run, in the order of tables: by side or target, by size, by repetition.
///
/// # Errors
/// If there is no such run, or its store cannot be read.
pub fn runs_of(located: &Located, run: &str) -> Result<FoundRuns, Failure> {
    let (_, mut found) = Selection::of(located).campaign(run)?;
    let parts = parts_of(&found.runs);
    let place = |record: &RunRecord| parts.iter().position(|part| part.has(record));
    found.runs.sort_by_key(|FoundRun { record, .. }| {
        let size = record.spec.workload.metadata().map(|spec| spec.precreated_objects);
        (place(record), record.spec.clients, size, record.repetition, record.id.clone())
    });
    Ok(found)
}

/// The comparison of the sides of the campaign of a run; nothing if it has one only.
///
/// # Errors
/// If they cannot be compared.
pub fn comparison(located: &Located, run: &str, runs: &[FoundRun]) -> Result<Option<ComparedTable>, Failure> {
    if parts_of(runs).len() < 2 {
        return Ok(None);
    }
    let side = parse_side(&format!("{CAMPAIGN}{run}")).map_err(Failure::usage)?;
    compared(located, &Compare::of(vec![side])).map(|(_, table)| Some(table))
}

/// What was told at its end, again.
///
/// # Errors
/// If there is no such run, or one cannot be read.
pub fn shown(
    options: &Show,
    run: &str,
    located: &Located,
    common: &Common,
    look: Look,
) -> Result<Printed, Failure> {
    refuse_of_one(options)?;
    let FoundRuns { runs, mut complaints, may_belong, code } = runs_of(located, run)?;
    complaints.extend(may_belong);
    let mut read = Vec::new();
    for FoundRun { path, record } in &runs {
        let mut record = record.clone();
        judge_by(&options.asked, &mut record)?;
        let directory = RunDirectory::open(path).map_err(Failure::unusable)?;
        let summaries = summarise(&directory, &record).map_err(Failure::unusable)?;
        let details = directory.details().map_err(Failure::unusable)?;
        read.push((record, summaries, details));
    }
    let told: Vec<_> = read.iter().map(|(record, summaries, _)| (record, summaries)).collect();
    let said: Vec<&[Detail]> = read.iter().map(|(_, _, details)| details.as_slice()).collect();
    let document = || String::from_utf8(json(&told, &said)?).map_err(Failure::bug);
    let of_all = match options.format {
        MetadataForm::Json => document()?,
        _ => {
            let compared = match comparison(located, run, &runs) {
                Ok(None) => String::new(),
                Ok(Some(table)) => format!("\n{}", comparison_text(&table, look.width, look.colour)),
                Err(failure) => {
                    complaints.push(failure.sentence);
                    String::new()
                }
            };
            text(&told, look) + &compared + &in_common(&told, look)
        }
    };
    let document = common.json.as_ref().map(|_| document()).transpose()?;
    Ok(Printed { text: of_all, document, complaints, code: code.max(ExitCode::Fine) })
}

/// Of a campaign there is what was told at its end.
fn refuse_of_one(options: &Show) -> Result<(), Failure> {
    let asked = match options.format {
        _ if options.plot => "--plot",
        _ if options.full => "--full",
        MetadataForm::Csv => "--format csv",
        MetadataForm::MdWorkbench => "--format md-workbench",
        MetadataForm::Text | MetadataForm::Json => return Ok(()),
    };
    Err(Failure::usage(format!("{asked} is for one run: name it without {CAMPAIGN} (iolag list shows runs)")))
}
