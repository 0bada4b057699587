//! Several runs together: sweeps and repetitions, side by side; and going on with a campaign that was broken off.

use std::collections::BTreeSet;
use std::path::PathBuf;

use iolag_analysis::figure::{SweepRun, sweep_figures};
use iolag_analysis::{MetadataAnalysis, RunAnalysis, Summaries, analyse_metadata, analyse_run};
use iolag_backend::HIDDEN;
use iolag_conduct::{
    Campaign, Conductor, Crew, ExitCode, Failure, PlannedRun, Stored, not_put_back, summarise, values_of,
};
use iolag_model::{
    Detail, RunId, RunRecord, RunState, WorkloadSpec, counted, format_bytes, format_count, one_line,
};
use iolag_report::{CampaignRun, StreamRun, campaign_text, common_text, streams_text, write_json};
use iolag_store::RunDirectory;
use serde::{Deserialize, Serialize};

use crate::args::Common;
use crate::commands::runs::jobs::{self, OfCopies};
use crate::commands::runs::opening;
use crate::commands::runs::selection::{FoundRun, FoundRuns, Selection};
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
    if records.iter().any(has_hidden_payload) {
        output::complain(
            "whether --payload is the same command is known but for its secrets and what stands behind them, which are not kept",
        );
    }
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

fn has_hidden_payload(record: &RunRecord) -> bool {
    let payload = record.spec.workload.job_terms().and_then(|terms| terms.payload_command.as_deref());
    payload.is_some_and(|command| command.contains(HIDDEN))
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
    let objects = precreated_objects(&run.point.spec.workload)
        .map(|objects| format!(", {} objects per dataset", format_count(objects)));
    let blocks = run.point.spec.workload.stream();
    let blocks = blocks.map(|stream| format!(", blocks of {}", format_bytes(stream.block_bytes)));
    let copies = run.point.copied_to_side().map(|to| format!(", copies to {}", one_line(to)));
    let session = run.point.coordinates.get(RunRecord::SESSION).map(|session| format!(", session {session}"));
    format!(
        "{}{}, {}{}{}, repetition {}",
        run.point.side.shown(),
        copies.unwrap_or_default(),
        clients,
        objects.or(blocks).unwrap_or_default(),
        session.unwrap_or_default(),
        run.repetition
    )
}

/// Whether its runs stand side by side at the end: there is a table of several runs of a workload.
pub fn has_table(campaign: &Campaign) -> bool {
    campaign.runs.len() > 1 && campaign.runs.iter().any(|run| run.point.spec.workload.tree().is_none())
}

fn precreated_objects(workload: &WorkloadSpec) -> Option<u64> {
    Some(workload.metadata()?.precreated_objects)
}

/// A run that is told beside others.
pub type Told<'a> = (&'a RunRecord, &'a Summaries);

/// Those that were just conducted.
pub fn told<'a>(runs: &[(&'a PlannedRun, &'a Stored)]) -> Vec<Told<'a>> {
    runs.iter().map(|(_, stored)| (&stored.record, &stored.summaries)).collect()
}

/// The runs side by side, of each workload by themselves: see [`campaign_text`], [`OfCopies::text`] and [`streams_text`].
pub fn text(runs: &[Told<'_>], look: Look) -> String {
    let of_workload = |runs: &[Told<'_>]| match runs {
        // Trees stand side by side in the comparison.
        [(record, _), ..] if record.spec.workload.tree().is_some() => String::new(),
        [(record, _), ..] if record.spec.workload.job_terms().is_some() => of_copies(runs).text(look),
        [(record, _), ..] if record.spec.workload.stream().is_some() => text_of_streams(runs, look),
        runs => text_of_metadata(runs, look),
    };
    let workload = |record: &RunRecord| record.spec.workload.name();
    runs.chunk_by(|one, other| workload(one.0) == workload(other.0)).map(of_workload).collect()
}

/// What copies come to together, if these are some.
pub fn of_copies(runs: &[Told<'_>]) -> OfCopies {
    let analyses = analysed(runs);
    OfCopies::of(runs.iter().zip(&analyses).map(|((record, _), analysis)| (*record, analysis)))
}

/// What is to be known of all runs of copies, which is not told of each; nothing of others.
pub fn in_common(runs: &[Told<'_>], look: Look) -> String {
    if !runs.iter().all(|(record, _)| record.spec.workload.job_terms().is_some()) {
        return String::new();
    }
    let analyses = analysed(runs);
    let runs: Vec<_> = runs.iter().map(|(record, _)| *record).zip(&analyses).collect();
    common_text(&runs, look.width, look.colour)
}

fn analysed(runs: &[Told<'_>]) -> Vec<RunAnalysis> {
    runs.iter().map(|(record, summaries)| analyse_run(record, summaries)).collect()
}

fn text_of_streams(runs: &[Told<'_>], look: Look) -> String {
    let (names, analyses) = (names(runs), analysed(runs));
    let mut rows = Vec::new();
    for (((record, _), analysis), target) in runs.iter().zip(&analyses).zip(&names) {
        if let (RunAnalysis::Stream(analysis), Some(spec)) = (analysis, record.spec.workload.stream()) {
            rows.push(StreamRun {
                id: record.id.as_str(),
                target,
                copy_to: record.copy_to(),
                state: &record.state,
                clients: record.spec.clients,
                block_bytes: spec.block_bytes,
                repetition: record.repetition,
                analysis,
            });
        }
    }
    streams_text(&rows, look.colour)
}

fn names(runs: &[Told<'_>]) -> Vec<String> {
    runs.iter().map(|(record, _)| one_line(record.place().unwrap_or_default())).collect()
}

fn text_of_metadata(runs: &[Told<'_>], look: Look) -> String {
    // What was varied besides clients and objects is no repetition.
    let with_session =
        |((record, _), name): (&Told<'_>, String)| match record.coordinates.get(RunRecord::SESSION) {
            Some(session) => format!("{name}, session {}", one_line(session)),
            None => name,
        };
    let names: Vec<String> = runs.iter().zip(names(runs)).map(with_session).collect();
    let analyses: Vec<MetadataAnalysis> =
        runs.iter().map(|(record, summaries)| analyse_metadata(record, summaries)).collect();
    let swept: Vec<SweepRun<'_>> =
        runs.iter().zip(&analyses).map(|((record, _), analysis)| SweepRun { record, analysis }).collect();
    let sweeps = sweep_figures(&swept);
    let rows: Vec<CampaignRun<'_>> = runs
        .iter()
        .zip(&analyses)
        .zip(&names)
        .map(|(((record, _), analysis), target)| CampaignRun {
            id: record.id.as_str(),
            target,
            clients: record.spec.clients,
            precreated_objects: precreated_objects(&record.spec.workload).unwrap_or_default(),
            repetition: record.repetition,
            stages: analysis.stages.clone(),
        })
        .collect();
    campaign_text(&rows, &sweeps, look.width, look.colour)
}

/// The documents of all runs, of each with what its clients said, and of what copies come to together: one object for one, an array for several.
///
/// # Errors
/// If one cannot be serialised, which is a bug.
pub fn json(runs: &[Told<'_>], said: &[&[Detail]]) -> Result<Vec<u8>, Failure> {
    let mut documents = Vec::new();
    for ((record, summaries), said) in runs.iter().zip(said) {
        let analysis = analyse_run(record, summaries).explained(said);
        let mut document = Vec::new();
        write_json(record, &analysis, &mut document).map_err(Failure::bug)?;
        documents.push(document);
    }
    documents.extend(of_copies(runs).documents()?);
    Ok(jobs::joined(documents))
}
