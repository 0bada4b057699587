//! Several runs together: sweeps and repetitions, side by side; and going on with a campaign that was broken off.

use std::collections::BTreeSet;
use std::path::PathBuf;

use iolag_analysis::figure::{SweepRun, sweep_figures};
use iolag_analysis::{
    MetadataAnalysis, Recommendation, RunAnalysis, analyse_metadata, analyse_run, copies_figures,
};
use iolag_conduct::{
    Campaign, Conductor, Crew, ExitCode, Failure, PlannedRun, Stored, not_put_back, summarise, values_of,
};
use iolag_model::{RunId, RunRecord, RunState, counted, format_bytes, format_count, one_line};
use iolag_report::{CampaignRun, StreamRun, campaign_text, copies_text, coverage_text, streams_text};
use iolag_store::RunDirectory;
use serde::{Deserialize, Serialize};

use crate::args::Common;
use crate::commands::runs::jobs;
use crate::commands::runs::selection::{FoundRun, FoundRuns, Selection};
use crate::commands::runs::{opening, show};
use crate::commands::{Located, refuse_running};
use crate::look::Look;
use crate::output;

/// A run that an earlier command has stored: its number in [`Campaign::runs`], what it measured, and its place.
pub type Earlier = (usize, Stored, PathBuf);

/// A campaign that is gone on with.
pub struct GoneOn {
    /// The right to do so.
    pub conductor: Conductor,
    /// The runs of it that need not be made again.
    pub earlier: Vec<Earlier>,
    /// How the command ends because of runs that cannot be read.
    pub code: ExitCode,
}

/// Goes on with the campaign that the run `name` belongs to.
///
/// # Errors
/// If there is no such run, the campaign is another one than this, or it is still being conducted.
pub fn resume(campaign: &mut Campaign, name: &str, common: &Common) -> Result<GoneOn, Failure> {
    let located = Located::of(common)?;
    // By a run that is there: the first may be removed, and which is the last may change.
    let (id, named) = output::ask_store(&located.root, || {
        let (id, found) = ended_runs(&located, name)?;
        Ok((id, found.runs.first().map_or_else(|| name.to_owned(), |run| run.path.display().to_string())))
    })?;
    let conductor = Conductor::of(&id)?;
    // Only now it has no further runs but those that this command makes.
    let Members { records, units, unread, code } =
        output::ask_store(&located.root, || members(&located, &named))?;
    for sentence in unread {
        output::complain(&format!("{sentence}; if it is of campaign {id}, that goes on without it"));
    }
    campaign.resume(&id, &records, &units)?;
    output::notice(common, &format!("going on with campaign {id}: {}", progress(campaign)));
    not_put_back(&records).iter().for_each(|told| output::complain(told));
    let of_run = |(index, run): (usize, &PlannedRun)| {
        run.done.iter().map(|record| (index, record.id.clone())).collect::<Vec<_>>()
    };
    let done: Vec<(usize, RunId)> = campaign.runs.iter().enumerate().flat_map(of_run).collect();
    let stored = |(index, id): (usize, RunId)| {
        let (stored, run) = output::ask_store(&located.root, || stored_run(&located, &id))?;
        Ok((index, stored, run))
    };
    let earlier = done.into_iter().map(stored).collect::<Result<_, Failure>>()?;
    Ok(GoneOn { conductor, earlier, code })
}

/// As in `3 of 8 runs are already complete, and 1 hung or failed, which stays`.
fn progress(campaign: &Campaign) -> String {
    let is_complete = |run: &&PlannedRun| run.done.iter().any(|one| one.state == RunState::Complete);
    let complete = campaign.runs.iter().filter(is_complete).count();
    let bounded = campaign.runs.iter().filter(|run| !run.done.is_empty()).count() - complete;
    let all = counted(campaign.runs.len() as u64, "run is", "runs are");
    let all = format!("{complete} of {}{all} already complete", campaign.options.repeat.at_most());
    if bounded == 0 { all } else { format!("{all}, and {bounded} hung or failed, which stays") }
}

/// The campaign of a run, and all runs of it, none of which still runs.
fn ended_runs(located: &Located, name: &str) -> Result<(RunId, FoundRuns), Failure> {
    let (campaign, found) = Selection::of(located).campaign(name)?;
    found.runs.iter().try_for_each(|run| refuse_running(&run.record))?;
    Ok((campaign, found))
}

/// What the store has of a campaign.
#[derive(Serialize, Deserialize)]
struct Members {
    records: Vec<RunRecord>,
    /// Those that are units of comparisons.
    units: BTreeSet<RunId>,
    /// What is wrong with runs that may be of it, as sentences.
    unread: Vec<String>,
    /// How the command ends because of that.
    code: ExitCode,
}

fn members(located: &Located, name: &str) -> Result<Members, Failure> {
    let (_, FoundRuns { runs, mut complaints, may_belong, code }) = ended_runs(located, name)?;
    complaints.extend(may_belong);
    let mut units = BTreeSet::new();
    for run in &runs {
        if run.record.state == RunState::Complete || has_bounds(run)? {
            units.insert(run.record.id.clone());
        }
    }
    let records = runs.into_iter().map(|run| run.record).collect();
    Ok(Members { records, units, unread: complaints, code })
}

/// Whether a run that is not complete says something all the same.
fn has_bounds(run: &FoundRun) -> Result<bool, Failure> {
    let directory = RunDirectory::open(&run.path).map_err(Failure::unusable)?;
    let values = values_of(&directory, &run.record, &[]).map_err(Failure::unusable)?;
    Ok(values.standing.is_unit())
}

fn stored_run(located: &Located, id: &RunId) -> Result<(Stored, PathBuf), Failure> {
    let (run, record) = opening::open(located, id.as_str())?;
    let summaries = summarise(&run, &record).map_err(Failure::unusable)?;
    let details = run.details().map_err(Failure::unusable)?;
    Ok((Stored { record, summaries, details }, run.path().to_owned()))
}

/// A heading.
pub fn title(run: &PlannedRun) -> String {
    let clients = u64::from(run.point.spec.clients);
    let clients = match run.point.crew {
        Crew::Copies => counted(clients, "copy", "copies"),
        Crew::Clients => counted(clients, "client", "clients"),
    };
    let objects =
        precreated_objects(run).map(|objects| format!(", {} objects per dataset", format_count(objects)));
    let blocks = run.point.spec.workload.stream();
    let blocks = blocks.map(|stream| format!(", blocks of {}", format_bytes(stream.block_bytes)));
    let copies = run.point.copied_to_side().map(|to| format!(", copies to {}", one_line(to)));
    format!(
        "{}{}, {}{}, repetition {}",
        run.point.side.shown(),
        copies.unwrap_or_default(),
        clients,
        objects.or(blocks).unwrap_or_default(),
        run.repetition
    )
}

/// Whether its runs stand side by side at the end: there is a table of several runs of a workload.
pub fn has_table(campaign: &Campaign) -> bool {
    campaign.runs.len() > 1 && campaign.runs.iter().any(|run| run.point.spec.workload.tree().is_none())
}

fn precreated_objects(run: &PlannedRun) -> Option<u64> {
    Some(run.point.spec.workload.metadata()?.precreated_objects)
}

/// What all runs of a replay have in common, and the runs side by side, of each workload by themselves: see [`campaign_text`], [`copies_text`] and [`streams_text`].
pub fn text(runs: &[(&PlannedRun, &Stored)], look: Look) -> String {
    let workload = |(run, _): &(&PlannedRun, &Stored)| run.point.spec.workload.name();
    let of_workload = |runs: &[(&PlannedRun, &Stored)]| match runs {
        // Trees stand side by side in the comparison.
        [(run, _), ..] if run.point.spec.workload.tree().is_some() => String::new(),
        runs => text_of_one(runs, look),
    };
    let names: Vec<String> = runs.iter().map(|(run, _)| run.point.side.shown()).collect();
    let replays = runs.iter().zip(&names).filter_map(|((_, stored), name)| {
        Some((name.as_str(), &stored.record.spec.workload.replay()?.coverage))
    });
    let tables = runs.chunk_by(|one, other| workload(one) == workload(other)).map(of_workload);
    coverage_text(replays, look.width) + &tables.collect::<String>()
}

fn text_of_one(runs: &[(&PlannedRun, &Stored)], look: Look) -> String {
    let analyses: Vec<RunAnalysis> =
        runs.iter().map(|(_, stored)| analyse_run(&stored.record, &stored.summaries)).collect();
    let copies = runs.iter().zip(&analyses).filter_map(|((_, stored), run)| run.of_copies(&stored.record));
    let figures = copies_figures(copies);
    if !figures.is_empty() {
        return copies_text(&figures, look.width, look.colour) + &text_of_jobs(runs, look);
    }
    match runs.iter().any(|(run, _)| run.point.spec.workload.stream().is_some()) {
        true => text_of_streams(runs, &analyses, look),
        false => text_of_metadata(runs, look),
    }
}

/// How many copies of a job to run, if that was asked.
pub fn text_of_jobs(runs: &[(&PlannedRun, &Stored)], look: Look) -> String {
    jobs::text(&advised(runs), look)
}

fn advised(runs: &[(&PlannedRun, &Stored)]) -> Vec<Recommendation> {
    let analyses: Vec<RunAnalysis> =
        runs.iter().map(|(_, stored)| analyse_run(&stored.record, &stored.summaries)).collect();
    jobs::told(runs.iter().zip(&analyses).map(|((_, stored), analysis)| (&stored.record, analysis)))
}

fn text_of_streams(runs: &[(&PlannedRun, &Stored)], analyses: &[RunAnalysis], look: Look) -> String {
    let names: Vec<String> = runs.iter().map(|(run, _)| run.point.side.shown()).collect();
    let mut rows = Vec::new();
    for (((run, stored), analysis), target) in runs.iter().zip(analyses).zip(&names) {
        if let (RunAnalysis::Stream(analysis), Some(spec)) = (analysis, run.point.spec.workload.stream()) {
            rows.push(StreamRun {
                id: stored.record.id.as_str(),
                target,
                copy_to: run.point.copied_to_side(),
                state: &stored.record.state,
                clients: run.point.spec.clients,
                block_bytes: spec.block_bytes,
                repetition: run.repetition,
                analysis,
            });
        }
    }
    streams_text(&rows, look.colour)
}

fn text_of_metadata(runs: &[(&PlannedRun, &Stored)], look: Look) -> String {
    let names: Vec<String> = runs.iter().map(|(run, _)| run.point.side.shown()).collect();
    let analyses: Vec<MetadataAnalysis> =
        runs.iter().map(|(_, stored)| analyse_metadata(&stored.record, &stored.summaries)).collect();
    let swept: Vec<SweepRun<'_>> = runs
        .iter()
        .zip(&analyses)
        .map(|((_, stored), analysis)| SweepRun { record: &stored.record, analysis })
        .collect();
    let sweeps = sweep_figures(&swept);
    let rows: Vec<CampaignRun<'_>> = runs
        .iter()
        .zip(&analyses)
        .zip(&names)
        .map(|(((run, stored), analysis), target)| CampaignRun {
            id: stored.record.id.as_str(),
            target,
            clients: run.point.spec.clients,
            precreated_objects: precreated_objects(run).unwrap_or_default(),
            repetition: run.repetition,
            stages: analysis.stages.clone(),
        })
        .collect();
    campaign_text(&rows, &sweeps, look.width, look.colour)
}

/// The documents of all runs, and of what is advised of them: one object for one, an array for several.
///
/// # Errors
/// If one cannot be serialised, which is a bug.
pub fn json(runs: &[(&PlannedRun, &Stored)]) -> Result<Vec<u8>, Failure> {
    let mut documents = Vec::new();
    for (_, stored) in runs {
        let analysis = analyse_run(&stored.record, &stored.summaries).explained(&stored.details);
        documents.push(show::json(&stored.record, &analysis)?);
    }
    documents.extend(jobs::document(&advised(runs))?);
    Ok(jobs::joined(documents))
}
