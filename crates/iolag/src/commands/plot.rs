//! `iolag plot`: a picture of runs for a paper.

use std::collections::BTreeSet;
use std::io::Write;

use iolag_analysis::figure::{FigureChoice, Figures};
use iolag_model::counted;
use iolag_report::{PlotKind, PlotSelection, PlotSize, plot};

use super::pictures::{figures_of, form_of, one_series_each, picture};
use super::{Located, show};
use crate::args::{Common, Plot};
use crate::conduct::scout::absolute;
use crate::exit_code::{ExitCode, Failure};
use crate::guarded::{in_child, replace_by};
use crate::output;

/// Runs the command.
///
/// # Errors
/// If there is no such run, the figure cannot be drawn, or the file cannot be written.
pub fn run(options: &Plot, common: &Common) -> Result<ExitCode, Failure> {
    output::refuse_document(common, "plot")?;
    let form = form_of(&options.output)?;
    let kind: PlotKind = options.kind.parse().map_err(Failure::usage)?;
    let size = size_of(&options.size)?;
    let selection = PlotSelection {
        operations: options.operations.clone(),
        targets: options.targets.clone(),
        phases: options.phases.clone(),
    };
    let located = Located::of(common)?;
    let path = absolute(&options.output);
    let choice = FigureChoice { phases: options.phases.clone(), ..one_series_each() };
    in_child("plot", || {
        let mut runs = Vec::new();
        for name in &options.runs {
            let (run, record) = show::open(&located, name)?;
            runs.push(picture(&run, record, &choice).map_err(Failure::unusable)?);
        }
        let (figures, _) = figures_of(runs);
        refuse_unknown_targets(&figures, &selection)?;
        let unknown: u64 = figures.runs.iter().map(|run| run.counts.unknown).sum();
        if unknown > 0 {
            let samples = counted(unknown, "sample", "samples");
            output::complain(&format!(
                "{samples} that this iolag does not know are in no figure: use a newer one"
            ));
        }
        let picture = plot(kind, &figures, &selection, size, form).map_err(Failure::usage)?;
        replace_by(&path, "-o", |file| file.write_all(&picture))?;
        output::notice(common, &format!("the figure is in {}", path.display()));
        Ok(())
    })
}

/// A target that no run has is a slip of the pen: the figure would be empty.
fn refuse_unknown_targets(figures: &Figures, selection: &PlotSelection) -> Result<(), Failure> {
    let known: BTreeSet<&str> =
        figures.runs.iter().flat_map(|run| &run.run.targets).map(|target| target.name.as_str()).collect();
    match selection.targets.iter().find(|target| !known.contains(target.as_str())) {
        None => Ok(()),
        Some(unknown) => Err(Failure::usage(format!(
            "no target of these runs is called {unknown:?}: choose from {}",
            known.into_iter().collect::<Vec<_>>().join(", ")
        ))),
    }
}

/// `160x100mm` or `1200x800px`.
fn size_of(text: &str) -> Result<PlotSize, Failure> {
    let sides =
        |text: &str| text.split_once('x').map(|(width, height)| (width.to_owned(), height.to_owned()));
    let size = if let Some((width, height)) = text.strip_suffix("mm").and_then(sides) {
        width
            .parse()
            .ok()
            .zip(height.parse().ok())
            .map(|(width, height)| PlotSize::Millimetres { width, height })
    } else {
        let pixels = text.strip_suffix("px").and_then(sides);
        pixels.and_then(|(width, height)| {
            width
                .parse()
                .ok()
                .zip(height.parse().ok())
                .map(|(width, height)| PlotSize::Pixels { width, height })
        })
    };
    size.ok_or_else(|| Failure::usage(format!("{text:?} is not a size: expected 160x100mm or 1200x800px")))
}
