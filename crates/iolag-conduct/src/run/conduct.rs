//! Conducting a run: the keeper's part from the first fork to the last word.
//!
//! ```text
//! scouts -> announcement -> writer (ready) -> measurers -> watch -> clean-up -> writer (done) -> result
//! ```
//! Everything that touches a file system happens in a child. The keeper survives each of them hanging.

use std::collections::BTreeSet;
use std::path::PathBuf;

use iolag_backend::Target;
use iolag_keeper::{Exchange, Messenger, Orphanage, Outbox, Room, TAG_NAMES_BYTES_MAX, TAGS_MAX};
use iolag_model::{
    Anchor, Clock, ContactEnd, MonotonicClock, Nanoseconds, PlaceToken, RunId, RunRecord, RunState,
    TargetIndex, TargetRecord, Trust, counted, ending, format_bytes,
};

use crate::contact::greeting::SERVER_PLACE_REQUESTS;
use crate::contact::scout::PLACE_REQUESTS;
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::messages::{MeasurerEnd, SetUpOutcome, Stored, ToWriter};
use crate::placed::Placed;
use crate::run::cleaning::{self, CleanUp};
use crate::run::interruption::Interruption;
use crate::run::measurer::Measurer;
use crate::run::policy::{Policy, Schedule};
use crate::run::supervision::watch;
use crate::run::telling::Attendant;
use crate::run::watched::Watched;
use crate::storing::draining::Source;
use crate::storing::place::STORE_DEADLINE;
use crate::storing::rescue::{Rescued, Rescuing};
use crate::storing::writer::WriterPlan;
use crate::storing::writing::{Trouble, Writing};

/// What a measurer does; returns the status that its process ends with.
pub type Measure<'a> = dyn Fn(&Exchange, Outbox) -> i32 + 'a;

/// A measurer to be started: its clients and what it does.
pub struct GroupPlan<'a> {
    /// What to call it.
    pub name: String,
    /// Its clients.
    pub clients: Vec<u32>,
    /// The process's body.
    pub measure: Box<Measure<'a>>,
}

/// Everything that is decided before a run starts.
pub struct RunPlan<'a> {
    /// The record as it is at the start.
    pub record: RunRecord,
    /// The store, and what is known of it.
    pub root: PathBuf,
    /// A directory for the spool, if not in the run directory.
    pub spool_parent: Option<PathBuf>,
    /// The measurers.
    pub groups: Vec<GroupPlan<'a>>,
    /// Working places that will be made: target, with its secrets, and name.
    pub planned_places: Vec<(Target, String)>,
    /// What they will be known by.
    pub token: PlaceToken,
    /// What to do with them at the end.
    pub clean_up: CleanUp,
    /// What to do about hung operations.
    pub policy: Policy,
    /// Who is told what happens.
    pub attendant: &'a mut dyn Attendant,
}

/// A run that has ended.
#[derive(Debug)]
pub struct Conducted {
    /// The stored run, from the store or from the place of rescue.
    pub stored: Box<Stored>,
    /// Where it is.
    pub run: PathBuf,
    /// What to tell the user besides the result, as sentences.
    pub notices: Vec<String>,
    /// Targets that could not be measured, with one sentence each.
    pub unusable: Vec<(u16, String)>,
    /// Targets whose measurer stood still and was ended.
    pub halted: BTreeSet<u16>,
    /// What happened to a writer that somebody stopped, as a sentence.
    pub halted_writer: Option<String>,
    /// What measurers said at their end.
    pub ends: Vec<Option<MeasurerEnd>>,
    /// The exit code that the run earned.
    pub code: ExitCode,
}

/// Conducts a run.
///
/// # Errors
/// If it cannot start, if not even a place of rescue takes what was measured, or if the user told twice to end.
pub fn conduct(plan: RunPlan<'_>, interruption: &mut Interruption<'_>) -> Result<Conducted, Failure> {
    plan.attendant.announce(&plan.record, &plan.root);
    let spec = &plan.record.spec;
    let workload = iolag_workload::workload(&spec.workload);
    let room = Room {
        clients: plan.record.clients.len() as u32,
        lanes: workload.lanes(),
        ring_bytes: spec.ring_bytes,
        samples_per_client: workload.samples_per_client(),
    };
    let exchange = Exchange::with_room(room)?;
    plan.record.clients.iter().for_each(|client| exchange.set_role(client.client.0, client.role));
    (spec.clients..spec.load_clients()).for_each(|client| exchange.set_follower(client));
    let writer_plan = writer_plan(&plan);
    let mut writing = Writing::start(writer_plan.clone(), &exchange, STORE_DEADLINE)?;
    let mut notices = Vec::new();
    let mut run_directory = plan.root.clone();
    match writing.wait_until_ready(interruption) {
        Ok((run, _)) => run_directory = run,
        Err(Trouble::NotWanted) => return Err(left_at_once(&[], &plan.record.id, &samples_of(&writing))),
        Err(trouble) => {
            notices.push(format!("{}; the run goes on, its samples stay in memory", trouble.sentence()));
        }
    }
    // Told to end before anything was measured: the run is stored as what it is, empty.
    let groups = if interruption.told().is_some() { &[] } else { plan.groups.as_slice() };
    let mut measurers = start_measurers(groups, &exchange)?;
    plan.attendant.begin(MonotonicClock.now());
    let watched = watch(
        &plan.record,
        &exchange,
        &mut measurers,
        &mut writing,
        interruption,
        plan.policy,
        plan.attendant,
    );
    let contacts_ended_by = match interruption.told() {
        Some(_) => ContactEnd::Interrupted,
        None => ContactEnd::Own,
    };
    let id = plan.record.id.clone();
    let mut left_places: Vec<Placed> = watched.all_places().cloned().collect();
    // What is left on a target is for the user to know, also by the exit code.
    let mut is_clean = false;
    if !interruption.is_leaving() {
        let deadline = plan.policy.deadline;
        let left = cleaning::clean_up(
            plan.clean_up,
            &watched,
            &plan.planned_places,
            id.as_str(),
            deadline,
            interruption,
        );
        is_clean = left.is_empty();
        if is_clean && (plan.clean_up != CleanUp::Nothing || cleaning::measurers_removed(&watched)) {
            left_places.clear();
            writing.order(&ToWriter::Removed);
        }
        notices.extend(left);
    }
    if interruption.is_leaving() {
        return Err(left_at_once(&left_places, &id, &samples_of(&writing)));
    }
    let mut record = final_record(plan.record, &watched, &writing, &exchange);
    note_contacts(&mut record, &watched, contacts_ended_by);
    let finished = finish_writing(
        &mut writing,
        &writer_plan,
        &exchange,
        &mut record,
        &mut notices,
        &mut run_directory,
        interruption,
    );
    let stored = match finished? {
        Finished::Stored(stored) => stored,
        Finished::Left { samples } => return Err(left_at_once(&left_places, &id, &samples)),
    };
    let halted_writer = writing.halted().map(str::to_owned);
    notices.extend(halted_writer.clone());
    notices.extend(watched.abandoned.iter().cloned());
    notices.extend(watched.unmeasured().map(|(_, sentence)| sentence.clone()));
    // Several targets may have one measurer, of which there is one sentence.
    notices.dedup();
    // The keeper has not seen what clients ended themselves.
    let has_timeouts = stored.summaries.summaries.iter().any(|summary| summary.timeout > 0);
    if has_timeouts && plan.policy.schedule == Schedule::Closed {
        let workload = &stored.record.spec.workload;
        let of_replay = workload.replay().and_then(|spec| spec.kill_after_ns);
        let is_of_copies = workload.set_up().and_then(|spec| spec.kill_after_ns).or(of_replay).is_some();
        notices.push(match is_of_copies {
            true => "copies whose time was up were ended".to_owned(),
            false => "what had no answer was ended at its deadline".to_owned(),
        });
    }
    let is_past_deadline = has_timeouts || watched.past_deadline > 0;
    let code = match &stored.record.state {
        // A run of which everything ended is complete; that something took longer than the user allowed, or that the user
        // told to end while it was being stored, is still told.
        RunState::Complete
            if !is_past_deadline && is_clean && interruption.told().is_none() && halted_writer.is_none() =>
        {
            ExitCode::Fine
        }
        _ => ExitCode::Incomplete,
    };
    Ok(Conducted {
        stored,
        run: run_directory,
        notices,
        unusable: watched.unusable,
        halted: watched.halted.into_keys().collect(),
        halted_writer,
        ends: watched.ends,
        code,
    })
}

fn writer_plan(plan: &RunPlan<'_>) -> WriterPlan {
    WriterPlan {
        root: plan.root.clone(),
        spool_parent: plan.spool_parent.clone(),
        record: plan.record.clone(),
        measurers: plan.groups.iter().map(|group| group.clients.clone()).collect(),
        planned_places: plan
            .planned_places
            .iter()
            .map(|(target, name)| (target.to_string(), name.clone()))
            .collect(),
        token: plan.token,
        source: Source::Pending,
        inherited_spool: None,
        begun: false,
    }
}

fn start_measurers(groups: &[GroupPlan<'_>], exchange: &Exchange) -> Result<Vec<Measurer>, Failure> {
    groups
        .iter()
        .map(|group| {
            let messenger =
                Messenger::fork("measurer", Orphanage::Die, |_, outbox| (group.measure)(exchange, outbox))
                    // The run has begun.
                    .map_err(|error| Failure::from(error).at_least(ExitCode::Incomplete))?;
            Ok(Measurer::new(messenger, group.clients.clone(), group.name.clone()))
        })
        .collect()
}

fn final_record(
    mut record: RunRecord,
    watched: &Watched,
    writing: &Writing,
    exchange: &Exchange,
) -> RunRecord {
    let mut reasons = watched.reasons.clone();
    if writing.stopped_for_room() {
        reasons.push(ending::STOPPED_FOR_ROOM.to_owned());
    }
    reasons.extend(watched.places_left_behind(&record));
    // What was left behind is told with its place.
    if watched.still_hung > watched.left_behind.len() as u64 {
        reasons.push(format!("{} not ended", counted(watched.still_hung, "operation had", "operations had")));
    }
    for (target, sentence) in watched.unmeasured() {
        if let Some(target) = record.targets.get_mut(usize::from(target)) {
            target.failure.get_or_insert_with(|| sentence.clone());
        }
    }
    reasons.extend(unusable_reasons(&record, watched));
    let lost = exchange.samples_lost();
    if lost > 0 {
        reasons.push(format!("{} {}", counted(lost, "sample", "samples"), ending::NO_ROOM));
    }
    for end in watched.ends.iter().flatten() {
        record.positions.extend(&end.positions);
        reasons.extend(end.faults.iter().cloned());
        record.tree = end.tree.clone().or(record.tree);
    }
    let unknown = watched.ends.iter().flatten().map(|end| end.unknown_objects).sum();
    if unknown > 0 {
        record.remarks.push(format!(
            "{} may be there or not: what made or removed them was cut off",
            counted(unknown, "object", "objects")
        ));
    }
    shorten(&mut reasons);
    record.state = if reasons.is_empty() {
        RunState::Complete
    } else {
        RunState::Incomplete { reason: reasons.join("; ") }
    };
    // Measurers of several file systems say the same.
    for remark in &watched.remarks {
        if !record.remarks.contains(remark) {
            record.remarks.push(remark.clone());
        }
    }
    record.remarks.extend(writing.halted().map(str::to_owned));
    record.tags = exchange.tags();
    if exchange.lacked_tags() {
        record.remarks.push(format!(
            "There are {TAGS_MAX} tags, and {} for their names: the samples of others have none.",
            format_bytes(TAG_NAMES_BYTES_MAX as u64)
        ));
    }
    record.trust.extend(watched.trust.iter().cloned());
    record.anchors.extend(&watched.anchors);
    record.generator = watched.generator.clone();
    record.memory = watched.memory.clone();
    if let Some(calibration) = watched.calibration {
        record.calibration = calibration;
    }
    record
}

/// Why targets could not be measured. A check tells that with each directory, so here it has only their number.
fn unusable_reasons(record: &RunRecord, watched: &Watched) -> Vec<String> {
    if record.spec.workload.check().is_none() {
        return watched.unmeasured().map(|(_, sentence)| sentence.clone()).collect();
    }
    let failed = record.targets.iter().filter(|target| target.failure.is_some()).count();
    let has_servers = record.targets.iter().any(TargetRecord::is_server);
    let words = if has_servers { ["target", "targets"] } else { ["directory", "directories"] };
    let all = counted(record.spec.targets.len() as u64, words[0], words[1]);
    (failed > 0).then(|| format!("{failed} of {all} could not be measured to the end")).into_iter().collect()
}

/// Says of each target how far setting up had come, and where.
fn note_contacts(record: &mut RunRecord, watched: &Watched, ended_by: ContactEnd) {
    let waited = waited(record);
    let with_clients: Vec<TargetIndex> = record.clients.iter().map(|client| client.target).collect();
    for (index, target) in (0..).zip(&mut record.targets) {
        // Who was given up before has no client, and was not interrupted.
        let has_client = with_clients.contains(&TargetIndex(index));
        let Some(contact) = target.contact.as_mut().filter(|_| has_client) else { continue };
        contact.end = ended_by;
        if watched.places.iter().any(|placed| placed.target == index) {
            contact.answered += if target.server.is_some() { SERVER_PLACE_REQUESTS } else { PLACE_REQUESTS };
        }
        match watched.set_up.get(&index) {
            Some((took, outcome)) => {
                contact.waited_ns = Nanoseconds(contact.waited_ns.0.saturating_add(took.0));
                if *outcome == SetUpOutcome::Ready {
                    contact.answered = contact.needed;
                }
            }
            None => contact.waited_ns = contact.waited_ns.max(waited),
        }
    }
    for placed in &watched.places {
        if let Some(target) = record.targets.get_mut(usize::from(placed.target)) {
            target.working_place = Some(placed.whole_path());
        }
    }
}

/// How long the run lasted.
fn waited(record: &RunRecord) -> Nanoseconds {
    let moment = |anchor: Option<&Anchor>| anchor.map(|anchor| anchor.monotonic_ns).unwrap_or_default();
    moment(record.anchors.last()).since(moment(record.anchors.first()))
}

/// Thousands of clients can have the same trouble: beyond ten reasons only their number is told.
fn shorten(reasons: &mut Vec<String>) {
    const REASONS_MAX: usize = 10;
    reasons.dedup();
    if reasons.len() > REASONS_MAX {
        // What decides how others count the run is said in any case.
        reasons.sort_by_key(|reason| !ending::decides(reason));
        let more = reasons.split_off(REASONS_MAX - 1).len();
        reasons.push(format!("and {}", counted(more as u64, "more reason", "more reasons")));
    }
}

/// The end of writing.
enum Finished {
    /// The run is in the store or in a place of rescue.
    Stored(Box<Stored>),
    /// The user leaves; what becomes of the samples, as a clause.
    Left { samples: String },
}

/// Stores the run in the store or in a place of rescue. A writer that is only not waited for goes on by itself.
fn finish_writing(
    writing: &mut Writing,
    plan: &WriterPlan,
    exchange: &Exchange,
    record: &mut RunRecord,
    notices: &mut Vec<String>,
    run_directory: &mut PathBuf,
    interruption: &mut Interruption<'_>,
) -> Result<Finished, Failure> {
    let finished = writing.finish(record, interruption);
    if matches!(finished, Err(Trouble::NotWanted)) {
        return Ok(Finished::Left { samples: samples_of(writing) });
    }
    writing.end();
    let trouble = match finished {
        Ok(stored) => return Ok(Finished::Stored(stored)),
        Err(trouble) => trouble,
    };
    let sentence = trouble.sentence();
    record.trust.push(Trust { doubt: sentence.to_owned(), advice: "look at the store's file system".into() });
    let rescued =
        Rescuing { failed: writing, trouble: &trouble, plan, exchange }.rescue(record, interruption);
    match rescued {
        Ok(Rescued::Stored { run, stored }) => {
            notices.push(format!("{sentence}; the run is kept in {} instead", run.display()));
            *run_directory = run;
            Ok(Finished::Stored(stored))
        }
        Ok(Rescued::Left { place }) => Ok(Finished::Left {
            samples: format!(
                "{sentence}; the samples are still being written to {}, and the next iolag command recovers what is there",
                place.display()
            ),
        }),
        Err(_) => Err(Failure {
            code: ExitCode::Incomplete,
            sentence: format!("{sentence}; no other place took the samples"),
        }),
    }
}

fn left_at_once(places: &[Placed], id: &RunId, samples: &str) -> Failure {
    let places: Vec<_> = places.iter().map(Placed::whole_path).collect();
    let left = match places.is_empty() {
        true => String::new(),
        false => {
            let them = if places.len() == 1 { "it" } else { "them" };
            format!(" {} may still be there: remove {them} with iolag cleanup {id};", places.join(" and "))
        }
    };
    Failure { code: ExitCode::Incomplete, sentence: format!("left at once:{left} {samples}") }
}

/// What becomes of the samples if nobody waits for the writer, as a clause. One that failed or hangs has left the rest in memory,
/// which goes with this process.
fn samples_of(writing: &Writing) -> String {
    match (writing.spool(), writing.trouble()) {
        (Some(spool), None) => {
            format!("the samples are in {}, and the next iolag command recovers them", spool.display())
        }
        (Some(spool), Some(trouble)) => format!(
            "{}; what the store has taken of the samples is in {}, the others are lost",
            trouble.sentence(),
            spool.display()
        ),
        (None, Some(trouble)) => format!("{}; what was recorded is lost", trouble.sentence()),
        (None, None) => "nothing was recorded".to_owned(),
    }
}

#[cfg(test)]
mod tests;
