//! `iolag plot`: a picture of runs for a paper.

use std::collections::BTreeSet;
use std::io::Write;
use std::ops::RangeInclusive;

use iolag_analysis::figure::{Apart, FigureChoice, Figures};
use iolag_conduct::{ExitCode, Failure, absolute};
use iolag_model::{RunRecord, counted};
use iolag_report::{FigureKind, FigureSelection, FigureSize, plot};

use crate::args::{Common, Plot};
use crate::commands::Located;
use crate::commands::runs::pictures::{figures_of, form_of, picture};
use crate::commands::runs::show;
use crate::guarded::{in_child, replace_by};
use crate::output;

/// More clients than these stand together in one panel, as in the page.
const CLIENT_PANELS_MAX: u64 = 16;

/// Runs the command.
///
/// # Errors
/// If there is no such run, the figure cannot be drawn, or the file cannot be written.
pub fn run(options: &Plot, common: &Common) -> Result<ExitCode, Failure> {
    output::refuse_document(common, "plot")?;
    let form = form_of(&options.output)?;
    let kind: FigureKind = options.kind.parse().map_err(Failure::usage)?;
    let size = size_of(&options.size)?;
    let selection = FigureSelection {
        operations: options.operations.clone(),
        targets: options.targets.clone(),
        phases: options.phases.clone(),
        clients: options.clients.clone(),
    };
    if kind == FigureKind::Sweep && !options.clients.is_empty() {
        let sentence = "a sweep is over whole runs: leave out --clients, or choose another kind of figure";
        return Err(Failure::usage(sentence));
    }
    let located = Located::of(common)?;
    let path = absolute(&options.output);
    let choice = FigureChoice {
        apart: apart(kind, &options.clients),
        phases: options.phases.clone(),
        clients: options.clients.clone(),
    };
    in_child("plot", || {
        let mut runs = Vec::new();
        for name in &options.runs {
            let (run, record) = show::open(&located, name)?;
            refuse_unknown_clients(&record, &options.clients)?;
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
fn refuse_unknown_targets(figures: &Figures, selection: &FigureSelection) -> Result<(), Failure> {
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

/// A few clients that were chosen stand side by side over time; elsewhere they are drawn as one.
fn apart(kind: FigureKind, clients: &[RangeInclusive<u32>]) -> Apart {
    let count: u64 = clients.iter().map(|range| u64::from(range.end() - range.start()) + 1).sum();
    let is_apart = kind == FigureKind::TimeLine && (1..=CLIENT_PANELS_MAX).contains(&count);
    if is_apart { Apart::Clients } else { Apart::Nothing }
}

/// A client that a run does not have would be an empty figure.
fn refuse_unknown_clients(record: &RunRecord, clients: &[RangeInclusive<u32>]) -> Result<(), Failure> {
    let count = (record.clients.len() as u32).max(record.spec.clients);
    let Some(unknown) = clients.iter().map(|range| *range.end()).find(|client| *client >= count) else {
        return Ok(());
    };
    let known = match count {
        0 | 1 => "client 0 only".to_owned(),
        count => format!("clients 0 to {}", count - 1),
    };
    Err(Failure::usage(format!("run {} has no client {unknown}: it has {known}", record.id)))
}

/// `160x100mm` or `1200x800px`.
fn size_of(text: &str) -> Result<FigureSize, Failure> {
    let sides =
        |text: &str| text.split_once('x').map(|(width, height)| (width.to_owned(), height.to_owned()));
    let size = if let Some((width, height)) = text.strip_suffix("mm").and_then(sides) {
        width
            .parse()
            .ok()
            .zip(height.parse().ok())
            .map(|(width, height)| FigureSize::Millimetres { width, height })
    } else {
        let pixels = text.strip_suffix("px").and_then(sides);
        pixels.and_then(|(width, height)| {
            width
                .parse()
                .ok()
                .zip(height.parse().ok())
                .map(|(width, height)| FigureSize::Pixels { width, height })
        })
    };
    size.ok_or_else(|| Failure::usage(format!("{text:?} is not a size: expected 160x100mm or 1200x800px")))
}
