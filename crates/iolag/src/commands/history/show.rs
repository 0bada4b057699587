//! `iolag show history`: what a history means.

use iolag_analysis::history::{HistoryAnalysis, HistoryPoints, analyse_history, history_figures};
use iolag_conduct::{ExitCode, Failure};
use iolag_model::WallSpan;
use iolag_report::{
    HistoryHead, PlottedHistory, TerminalSize, history_text, terminal_history_ecdf,
    terminal_history_time_line, write_history_json,
};
use iolag_store::history::{Access, History};

use crate::args::{Common, MetadataForm, Show};
use crate::commands::history::access::{Chosen, ask_history, failure, here};
use crate::commands::history::moment::Here;
use crate::commands::history::page::zone_name;
use crate::commands::history::reading::{analysis_options, read};
use crate::commands::history::source::analyse;
use crate::look::Look;
use crate::output::{self, Kept, Printed};

/// Runs `iolag show history`.
///
/// # Errors
/// If there is no such history, it cannot be read, or an option does not suit it.
pub fn run(options: &Show, common: &Common) -> Result<ExitCode, Failure> {
    let chosen = Chosen::new(&options.span.place)?;
    if options.plot && options.format != MetadataForm::Text {
        return Err(Failure::usage("--plot draws below the text: leave it out, or --format"));
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
        let (analysis, figures) = if options.plot {
            drawn(history.as_mut(), span, options, &here, &chosen, look)?
        } else {
            let analysis = analyse(history.as_mut(), span, &options.method, &here.zone);
            (analysis.map_err(failure)?, String::new())
        };
        let head = HistoryHead { place: chosen.shown(), span };
        let json = || document(&head, &analysis);
        Ok(match options.format {
            MetadataForm::Json => Printed {
                text: json()?,
                document: if wants_document { Some(json()?) } else { None },
                ..Printed::default()
            },
            _ => {
                let text = history_text(&head, &analysis, look.width, look.colour) + &figures;
                let document = if wants_document { Some(json()?) } else { None };
                Printed { text, document, ..Printed::default() }
            }
        })
    })?;
    let document = printed.document.unwrap_or_default();
    output::deliver(common, &printed.text, Kept::Sources, || Ok(document.into_bytes()))?;
    Ok(ExitCode::Fine)
}

/// Figures need all samples, which numbers alone do not.
fn drawn(
    history: &mut dyn History,
    span: WallSpan,
    options: &Show,
    here: &Here,
    chosen: &Chosen,
    look: Look,
) -> Result<(HistoryAnalysis, String), Failure> {
    let input = read(history, span).map_err(failure)?;
    let how = analysis_options(input.covered(), &options.method, &here.zone);
    let analysis = analyse_history(&input, &how);
    let figures = history_figures(&input, &analysis, HistoryPoints::default());
    let plotted = PlottedHistory {
        figures: &figures,
        by_day: &analysis.by_day,
        place: &chosen.shown(),
        zone: &zone_name(&here.zone),
        local_time: &how.summary.local_time,
    };
    let size = TerminalSize { columns: look.width, ..TerminalSize::USUAL };
    let ecdf = terminal_history_ecdf(&plotted, size, look.colour);
    let time_line = terminal_history_time_line(&plotted, size, look.colour);
    Ok((analysis, format!("\n{ecdf}\n{time_line}")))
}

fn document(head: &HistoryHead, analysis: &HistoryAnalysis) -> Result<String, Failure> {
    let mut document = Vec::new();
    write_history_json(head, analysis, &mut document).map_err(Failure::bug)?;
    String::from_utf8(document).map_err(Failure::bug)
}
