//! Figures of runs.

use std::collections::BTreeSet;
use std::io::Write;
use std::ops::RangeInclusive;

use iolag_analysis::figure::{Apart, FigureChoice, Figures};
use iolag_conduct::{ExitCode, Failure, absolute};
use iolag_model::{Phase, RunRecord, counted};
use iolag_report::{FigureKind, FigurePreset, FigureSelection, all_void_sentence, draw_figure};

use crate::args::{Common, Plot};
use crate::commands::Located;
use crate::commands::plot::asked::Asked;
use crate::commands::runs::figures::{figures_of, form_of, with_figures};
use crate::commands::runs::{campaign, jobs, opening};
use crate::guarded::{in_child, replace_by};
use crate::output;

/// More clients than these stand together in one panel, as in the page.
const CLIENT_PANELS_MAX: u64 = 16;

/// Runs the command.
///
/// # Errors
/// If there is no such run, the figure cannot be drawn, or the file cannot be written.
pub fn run(asked: &Asked<'_>, options: &Plot, common: &Common) -> Result<ExitCode, Failure> {
    let form = form_of(&options.output)?;
    let (kind, size) = (asked.kind, asked.size);
    let selection = FigureSelection {
        operations: options.operations.clone(),
        targets: options.targets.clone(),
        phases: phases(asked, options),
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
        phases: selection.phases.clone(),
        clients: options.clients.clone(),
    };
    in_child("plot", || {
        let mut runs = Vec::new();
        for name in sources(asked, &located)? {
            let (run, mut record) = opening::open_measured(&located, &name, "figure")?;
            refuse_other_workload(asked, &record)?;
            if kind == FigureKind::Jobs {
                jobs::judge_by(&options.asked, &mut record)?;
                refuse_without_payload(&record)?;
            }
            refuse_unknown_clients(&record, &options.clients)?;
            runs.push(with_figures(&run, record, &choice).map_err(Failure::unusable)?);
        }
        if matches!(kind, FigureKind::Jobs | FigureKind::Sweep)
            && let Some(void) = all_void_sentence(runs.iter().map(|run| (&run.record, &run.analysis)))
        {
            return Err(Failure::usage(void));
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
        let figure = draw_figure(kind, &figures, &selection, size, form).map_err(Failure::usage)?;
        replace_by(&path, "-o", |file| file.write_all(&figure))?;
        output::notice(common, &format!("the figure is in {}", path.display()));
        Ok(())
    })
}

/// The runs that were named, those of campaigns by their places. Where a figure is over a campaign, one run stands for all of it.
fn sources(asked: &Asked<'_>, located: &Located) -> Result<Vec<String>, Failure> {
    let named = if asked.sources.is_empty() { &["last"][..] } else { &asked.sources };
    let is_of_campaign = named.len() == 1 && is_of_campaign(asked.kind, asked.preset.as_ref());
    let mut runs = Vec::new();
    for name in named {
        match campaign::meant(name).or(is_of_campaign.then_some(*name)) {
            None => runs.push((*name).to_owned()),
            Some(run) => {
                let found = campaign::runs_of(located, run)?;
                runs.extend(found.runs.iter().map(|run| run.path.display().to_string()));
            }
        }
    }
    Ok(runs)
}

fn is_of_campaign(kind: FigureKind, preset: Option<&FigurePreset>) -> bool {
    kind == FigureKind::Jobs || preset.is_some_and(|preset| preset.kind == FigureKind::Sweep)
}

/// Without a payload there are no jobs.
fn refuse_without_payload(record: &RunRecord) -> Result<(), Failure> {
    match record.spec.workload.job_terms() {
        Some(terms) if terms.has_payload() => Ok(()),
        Some(_) => Err(Failure::usage(format!(
            "run {} was asked for no payload, without which there are no jobs: add --payload 2h",
            record.id
        ))),
        None => Err(Failure::usage(format!(
            "jobs are drawn of runs of iolag bench setup; {} is a {}",
            record.id,
            record.spec.workload.name()
        ))),
    }
}

/// What is given replaces what the figure of a study chooses.
fn phases(asked: &Asked<'_>, options: &Plot) -> Vec<Phase> {
    let of_preset = asked.preset.and_then(|preset| preset.phase);
    if options.phases.is_empty() { of_preset.into_iter().collect() } else { options.phases.clone() }
}

/// Figures of a benchmark's phase would be empty of others.
fn refuse_other_workload(asked: &Asked<'_>, record: &RunRecord) -> Result<(), Failure> {
    // Copies are copies, of whichever job.
    let is_like = |workload: &str| workload == "setup" && record.spec.workload.replay().is_some();
    match &asked.preset {
        Some(preset) if preset.workload != record.spec.workload.name() && !is_like(preset.workload) => {
            Err(Failure::usage(format!(
                "figure {} is drawn of runs of `iolag bench {}`, and run {} is another: write `iolag plot {} {}`",
                preset.name, preset.workload, record.id, preset.kind, record.id
            )))
        }
        _ => Ok(()),
    }
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
