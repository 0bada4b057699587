//! `iolag check`: how does this storage feel right now?

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use iolag_analysis::analyse_check;
use iolag_backend::Target;
use iolag_model::{
    CheckSpec, ClientId, ClientRecord, FileSystem, Nanoseconds, OnHang, RunSpec, StageRecord, TargetIndex,
    TargetRecord, WorkloadSpec, format_bytes,
};
use iolag_report::{CheckRows, Judged, check_text, one_line, write_json};
use iolag_workload::{bytes_held, bytes_to_write, stages, validate};

use super::report::write_report_of;
use super::start::{self, Beginning, Found, Keeper};
use crate::args::{Check, Common};
use crate::conduct::cleaning::CleanUp;
use crate::conduct::measurer_check::{self, CheckAssignment, CheckedDirectory};
use crate::conduct::messages::DirectoryFacts;
use crate::conduct::progress::{Extent, Progress, Verbosity};
use crate::conduct::scout::{self, Answer};
use crate::conduct::supervision::{AtSignal, Policy, Schedule};
use crate::conduct::{Conducted, GroupPlan, RunPlan, conduct, unanswered};
use crate::exit_code::{ExitCode, Failure};
use crate::output;

/// Shared memory per directory: a check takes a few thousand samples a second at most.
const RING_BYTES: u64 = 4 << 20;
/// What is left of the budget for measuring, at least.
const MEASURING_MIN: Nanoseconds = Nanoseconds::from_seconds(2);

/// Runs the command.
///
/// # Errors
/// If nothing can be measured.
pub fn run(options: &Check, common: &Common) -> Result<ExitCode, Failure> {
    let labels = super::labels(&options.run)?;
    let mut check = spec(options);
    let directories = directories(options, |name| std::env::var_os(name));
    validate(&WorkloadSpec::Check(check.clone()), directories.len() as u32).map_err(Failure::usage)?;
    let keeper = start::become_keeper(common)?;
    output::refuse_lost_document(common)?;
    start::leave_current_directory();
    let found = start::send_scouts(&keeper, &directories, options.deadline.min(options.budget))?;
    start::tell_notices(common, &found.notices);
    let targets = targets(options, &directories, &found)?;
    let slowest = targets.iter().filter_map(|target| target.unanswered_ns()).max().unwrap_or_default();
    check.budget_ns = Nanoseconds(options.budget.0.saturating_sub(slowest.0)).max(MEASURING_MIN);
    let asked = Asked { options, labels, check };
    let conducted = measure(&asked, common, &keeper, &found, &targets)?;
    report(options, common, &conducted, &targets)
}

fn spec(options: &Check) -> CheckSpec {
    CheckSpec {
        budget_ns: options.budget,
        listed_files: 6,
        created_files: 500,
        stream_bytes: options.stream_size,
        block_bytes: options.stream_size.min(1 << 20),
        object_bytes: 3901,
        thresholds_ns: options.thresholds.iter().copied().collect::<BTreeSet<_>>().into_iter().collect(),
        control: None,
    }
}

/// The directories to measure, absolute, as far as that can be said without touching them.
fn directories(options: &Check, variable: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let given: Vec<PathBuf> = if options.directories.is_empty() {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let temporary = set("TMPDIR").unwrap_or_else(|| PathBuf::from("/tmp"));
        set("HOME").into_iter().chain([temporary, PathBuf::from(".")]).collect()
    } else {
        options.directories.clone()
    };
    given.iter().map(|directory| scout::absolute(directory)).collect()
}

/// What the scouts found out about a directory.
enum Scouted {
    Answers(Box<DirectoryFacts>),
    Silent { name: PathBuf, age: Nanoseconds },
}

impl Scouted {
    fn unanswered_ns(&self) -> Option<Nanoseconds> {
        match self {
            Self::Answers(_) => None,
            Self::Silent { age, .. } => Some(*age),
        }
    }
}

/// What the scouts found. Without arguments one directory per mounted file system stays, and what does not exist is left
/// out; a directory that the user named and that cannot be measured is an error before anything is written.
fn targets(options: &Check, directories: &[PathBuf], found: &Found) -> Result<Vec<Scouted>, Failure> {
    let by_default = options.directories.is_empty();
    let mut targets: Vec<Scouted> = Vec::new();
    let mut trouble = Vec::new();
    for (name, answer) in directories.iter().zip(&found.directories) {
        match answer {
            Answer::Given(Ok(facts)) => {
                let is_known = |target: &Scouted| match target {
                    Scouted::Answers(known) => {
                        known.path == facts.path
                            || (by_default && known.file_system.device == facts.file_system.device)
                    }
                    Scouted::Silent { .. } => false,
                };
                if !targets.iter().any(is_known) {
                    targets.push(Scouted::Answers(Box::new(facts.clone())));
                }
            }
            Answer::Given(Err(sentence)) => trouble.push(sentence.clone()),
            Answer::None { age, .. } => targets.push(Scouted::Silent { name: name.clone(), age: *age }),
        }
    }
    if targets.is_empty() || (!by_default && !trouble.is_empty()) {
        return Err(Failure::unusable(trouble.join("\niolag: ")));
    }
    Ok(targets)
}

/// What the user asked for.
struct Asked<'a> {
    options: &'a Check,
    labels: Vec<(String, String)>,
    check: CheckSpec,
}

fn measure(
    asked: &Asked<'_>,
    common: &Common,
    keeper: &Keeper,
    found: &Found,
    targets: &[Scouted],
) -> Result<Conducted, Failure> {
    let Asked { options, labels, check } = asked;
    let answering: Vec<(u16, &DirectoryFacts)> = (0..)
        .zip(targets)
        .filter_map(|(index, target)| match target {
            Scouted::Answers(facts) => Some((index, facts.as_ref())),
            Scouted::Silent { .. } => None,
        })
        .collect();
    if answering.is_empty() {
        return Err(nothing_answers(targets));
    }
    let answering = with_room(options, common, check, answering)?;
    let workload = WorkloadSpec::Check(check.clone());
    let clients = answering.len() as u32;
    let spec = RunSpec {
        workload: workload.clone(),
        targets: targets.iter().map(|target| target_of(target).to_string()).collect(),
        clients: 1,
        deadline_ns: options.deadline,
        on_hang: OnHang::Continue,
        seed: options.run.seed,
        ring_bytes: RING_BYTES * u64::from(clients),
    };
    let mut trust = Vec::new();
    let measured: Vec<u64> =
        answering.iter().filter_map(|(_, facts)| device_number(&facts.file_system)).collect();
    let spool_parent = start::choose_spool(found, &measured, &mut trust);
    let id = start::new_run_id(0);
    announce(common, check, &answering, found, &id);
    let stages: Arc<[StageRecord]> = stages(&workload).into();
    let beginning = Beginning {
        campaign: id.clone(),
        id: id.clone(),
        repetition: 1,
        labels: labels.clone(),
        spec: spec.clone(),
        targets: targets.iter().map(target_record).collect(),
        clients: (0..)
            .zip(&answering)
            .map(|(client, (target, _))| ClientRecord {
                client: ClientId(client),
                target: TargetIndex(*target),
                rank: 0,
            })
            .collect(),
        stages: stages.to_vec(),
        trust,
    };
    let working_name = format!("iolag-check-{id}");
    let groups = groups(&answering, &working_name, &spec, check, &stages);
    let verbosity = if common.quiet { Verbosity::Quiet } else { Verbosity::Normal };
    let mut progress = Progress::new(Extent::Time(check.budget_ns), verbosity);
    let plan = RunPlan {
        record: start::record(keeper, found, beginning),
        root: found.root.clone(),
        spool_parent,
        thresholds: check.thresholds_ns.clone(),
        groups,
        planned_places: answering
            .iter()
            .map(|(_, facts)| (facts.path.display().to_string(), working_name.clone()))
            .collect(),
        clean_up: CleanUp::Everything,
        policy: Policy {
            deadline: options.deadline,
            on_hang: OnHang::Continue,
            give_up_after: options.deadline,
            schedule: Schedule::Closed,
            at_signal: AtSignal::Incomplete,
        },
        attendant: &mut progress,
    };
    conduct(plan, &keeper.signals)
}

/// One measurer per mounted file system.
fn groups<'a>(
    answering: &[(u16, &DirectoryFacts)],
    working_name: &str,
    spec: &RunSpec,
    check: &CheckSpec,
    stages: &Arc<[StageRecord]>,
) -> Vec<GroupPlan<'a>> {
    let mut grouped: Vec<(String, Vec<CheckedDirectory>)> = Vec::new();
    for (client, (target, facts)) in (0..).zip(answering) {
        let directory = CheckedDirectory { target: *target, client, path: facts.path.display().to_string() };
        let mount = facts.file_system.device.clone();
        match grouped.iter_mut().find(|(known, _)| *known == mount && !mount.is_empty()) {
            Some((_, directories)) => directories.push(directory),
            None => grouped.push((mount, vec![directory])),
        }
    }
    grouped
        .into_iter()
        .map(|(_, directories)| {
            let assignment = CheckAssignment {
                all_directories: answering.len() as u32,
                working_name: working_name.to_owned(),
                spec: spec.clone(),
                check: check.clone(),
                stages: Arc::clone(stages),
                directories,
            };
            GroupPlan {
                name: assignment
                    .directories
                    .iter()
                    .map(|directory| directory.path.clone())
                    .collect::<Vec<_>>()
                    .join(", "),
                clients: assignment.directories.iter().map(|directory| directory.client).collect::<Vec<_>>(),
                measure: Box::new(move |exchange, outbox| {
                    measurer_check::measure(&assignment, exchange, outbox)
                }),
            }
        })
        .collect()
}

fn announce(
    common: &Common,
    check: &CheckSpec,
    answering: &[(u16, &DirectoryFacts)],
    found: &Found,
    id: &iolag_model::RunId,
) {
    let names: Vec<_> =
        answering.iter().map(|(_, facts)| one_line(&facts.path.display().to_string())).collect();
    output::notice(
        common,
        &format!(
            "measuring {} for at most {}: listing, creating, compiling, single operations, a short stream; each gets a directory \
             iolag-check-{id}, at most {} are written in all, at most {} are there at one time, and everything is removed again",
            names.join(" and "),
            check.budget_ns,
            format_bytes(bytes_to_write(check, answering.len() as u32)),
            format_bytes(bytes_held(&WorkloadSpec::Check(check.clone()), answering.len() as u32)),
        ),
    );
    output::notice(common, &format!("the run is kept as {id} in {}", found.root.display()));
}

/// Leaves out directories without room: as an error if the user named them, else by saying so.
fn with_room<'a>(
    options: &Check,
    common: &Common,
    check: &CheckSpec,
    answering: Vec<(u16, &'a DirectoryFacts)>,
) -> Result<Vec<(u16, &'a DirectoryFacts)>, Failure> {
    let needed = bytes_held(&WorkloadSpec::Check(check.clone()), 1);
    let lacks_room = |facts: &DirectoryFacts| facts.file_system.free_bytes.is_some_and(|free| free < needed);
    let sentence = |facts: &DirectoryFacts| {
        format!(
            "cannot measure in {}: {} are free and {} are needed; free some space, or reduce --stream-size",
            facts.path.display(),
            format_bytes(facts.file_system.free_bytes.unwrap_or(0)),
            format_bytes(needed)
        )
    };
    let (full, with_room): (Vec<_>, Vec<_>) = answering.into_iter().partition(|(_, facts)| lacks_room(facts));
    if let Some((_, facts)) = full.first().filter(|_| !options.directories.is_empty() || with_room.is_empty())
    {
        return Err(Failure::unusable(sentence(facts)));
    }
    for (_, facts) in full {
        output::notice(common, &sentence(facts));
    }
    Ok(with_room)
}

fn nothing_answers(targets: &[Scouted]) -> Failure {
    let sentences: Vec<_> = targets
        .iter()
        .map(|target| {
            let age = target.unanswered_ns().unwrap_or_default();
            format!("{} does not answer: the first contact has been waiting for {age}", target_of(target))
        })
        .collect();
    Failure { code: ExitCode::Incomplete, sentence: sentences.join("\niolag: ") }
}

fn target_of(scouted: &Scouted) -> Target {
    match scouted {
        Scouted::Answers(facts) => facts.path.clone().into(),
        Scouted::Silent { name, .. } => name.clone().into(),
    }
}

fn target_record(scouted: &Scouted) -> TargetRecord {
    let target = target_of(scouted);
    match scouted {
        Scouted::Answers(facts) => TargetRecord {
            name: target.to_string(),
            backend: target.kind().into(),
            working_place: None,
            file_system: Some(facts.file_system.clone()),
            unanswered_ns: None,
            contact: None,
        },
        Scouted::Silent { age, .. } => unanswered(&target, *age),
    }
}

/// The device number in the form of stat(2), from `major:minor`.
pub fn device_number(file_system: &FileSystem) -> Option<u64> {
    let (major, minor) = file_system.device.split_once(':')?;
    Some(rustix::fs::makedev(major.parse().ok()?, minor.parse().ok()?))
}

fn report(
    options: &Check,
    common: &Common,
    conducted: &Conducted,
    targets: &[Scouted],
) -> Result<ExitCode, Failure> {
    let stored = &conducted.stored;
    let analysis = analyse_check(&stored.record, &stored.summaries);
    let colour = output::colour(common, |name| std::env::var_os(name));
    let rows = if options.full { CheckRows::All } else { CheckRows::Known };
    let text = check_text(&analysis, rows, output::width(), colour);
    output::deliver(common, &text, || {
        let mut document = Vec::new();
        write_json(&stored.record, Judged::Check(&analysis), &mut document).map_err(Failure::bug)?;
        Ok(document)
    })?;
    start::tell_outcome(common, conducted);
    if let Some(path) = &options.report {
        write_report_of(std::slice::from_ref(&conducted.run), path, common)?;
    }
    let silent = targets.iter().any(|target| target.unanswered_ns().is_some());
    Ok(match conducted.unusable.len() {
        0 if silent => ExitCode::Incomplete,
        0 => conducted.code,
        unusable if unusable == targets.len() => ExitCode::Unusable,
        _ => ExitCode::Incomplete,
    })
}
