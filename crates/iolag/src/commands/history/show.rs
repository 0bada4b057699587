//! `iolag show history`: what a history means.

use iolag_analysis::history::HistoryAnalysis;
use iolag_conduct::{ExitCode, Failure};
use iolag_report::{HistoryHead, history_text, write_history_json};
use iolag_store::history::Access;

use crate::args::{Common, MetadataForm, Show};
use crate::commands::history::access::{Chosen, ask_history, failure, here};
use crate::commands::history::source::analyse;
use crate::look::Look;
use crate::output::{self, Printed};

/// Runs `iolag show history`.
///
/// # Errors
/// If there is no such history, it cannot be read, or an option does not suit it.
pub fn run(options: &Show, common: &Common) -> Result<ExitCode, Failure> {
    let chosen = Chosen::new(&options.span.place)?;
    if options.plot {
        return Err(Failure::usage("--plot draws runs; for a history leave it out"));
    }
    if matches!(options.format, MetadataForm::Csv | MetadataForm::MdWorkbench) {
        return Err(Failure::usage(
            "a history is shown as text or json; for its samples, run: iolag export history",
        ));
    }
    output::refuse_lost_document(common)?;
    // The terminal is this process's; children have none.
    let look = Look::of_terminal(common);
    let wants_document = common.json.is_some();
    let printed: Printed = ask_history(&chosen, || {
        let here = here();
        let span = here
            .span(options.span.since.as_deref(), options.span.until.as_deref())
            .map_err(Failure::usage)?;
        let mut history = chosen.open(Access::ReadOnly)?;
        let analysis = analyse(history.as_mut(), span, &options.method, &here.zone).map_err(failure)?;
        let head = HistoryHead { place: chosen.shown(), span };
        let json = || document(&head, &analysis);
        Ok(match options.format {
            MetadataForm::Json => Printed {
                text: json()?,
                document: if wants_document { Some(json()?) } else { None },
                ..Printed::default()
            },
            _ => {
                let text = history_text(&head, &analysis, look.width, look.colour);
                let document = if wants_document { Some(json()?) } else { None };
                Printed { text, document, ..Printed::default() }
            }
        })
    })?;
    let document = printed.document.unwrap_or_default();
    output::deliver(common, &printed.text, || Ok(document.into_bytes()))?;
    Ok(ExitCode::Fine)
}

fn document(head: &HistoryHead, analysis: &HistoryAnalysis) -> Result<String, Failure> {
    let mut document = Vec::new();
    write_history_json(head, analysis, &mut document).map_err(Failure::bug)?;
    String::from_utf8(document).map_err(Failure::bug)
}
