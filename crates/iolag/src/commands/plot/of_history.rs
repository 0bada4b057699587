//! Figures of a history.

use std::io::Write;

use iolag_conduct::{ExitCode, Failure, absolute};
use iolag_report::{
    EcdfCurves, FigureKind, HistorySelection, HourShown, PlottedHistory, draw_history_figure,
};

use crate::args::{Common, CorrelationMethod, HistoryMethod, Plot};
use crate::commands::history::access::{Chosen, ask_history};
use crate::commands::history::page::reported;
use crate::commands::plot::asked::Asked;
use crate::commands::runs::figures::form_of;
use crate::guarded::replace_by;
use crate::output;

/// Draws it.
///
/// # Errors
/// If there is no such history, it has no such task or target, or the file cannot be written.
pub fn run(asked: &Asked<'_>, options: &Plot, common: &Common) -> Result<ExitCode, Failure> {
    let form = form_of(&options.output)?;
    refuse_without_effect(asked.kind, options)?;
    let of_preset = asked.preset.and_then(|preset| preset.task).map(str::to_owned);
    let selection = HistorySelection {
        // What is given replaces what the figure of a study chooses.
        tasks: if options.tasks.is_empty() { of_preset.into_iter().collect() } else { options.tasks.clone() },
        targets: options.targets.clone(),
        curves: asked.preset.map_or(EcdfCurves::Whole, |preset| preset.curves),
        hours: if options.longest { HourShown::Longest } else { HourShown::Median },
    };
    let method = HistoryMethod { correlations: options.correlations, stratify: None };
    let chosen = Chosen::new(&options.span.place)?;
    let path = absolute(&options.output);
    ask_history(&chosen, || {
        reported(&chosen, &options.span, &method, None, |report, figures, local_time| {
            let history = PlottedHistory {
                figures: &figures,
                by_day: &report.analysis.by_day,
                place: &report.head.place,
                zone: report.zone,
                local_time,
            };
            let figure = draw_history_figure(asked.kind, &history, &selection, asked.size, form)
                .map_err(Failure::usage)?;
            replace_by(&path, "-o", |file| file.write_all(&figure))
        })
    })?;
    output::notice(common, &format!("the figure is in {}", path.display()));
    Ok(ExitCode::Fine)
}

/// An option that changes nothing in a figure is a misunderstanding.
fn refuse_without_effect(kind: FigureKind, options: &Plot) -> Result<(), Failure> {
    let CorrelationMethod { method, tolerance } = options.correlations;
    let is_matrix = kind == FigureKind::Correlations;
    let without_effect = [
        (options.longest && kind != FigureKind::HeatMap, "--longest"),
        (method.is_some() && !is_matrix, "--method"),
        (tolerance.is_some() && !is_matrix, "--tolerance"),
        (is_matrix && !options.tasks.is_empty(), "--tasks"),
        (is_matrix && !options.targets.is_empty(), "--targets"),
    ];
    match without_effect.into_iter().find(|(is_given, _)| *is_given) {
        None => Ok(()),
        Some((_, option)) => Err(Failure::usage(format!(
            "{option} changes nothing in the figure {kind} of a history: leave it out"
        ))),
    }
}
