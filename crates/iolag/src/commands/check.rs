//! `iolag check`: how does this storage feel right now?

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;

use iolag_analysis::analyse_check;
use iolag_backend::Target;
use iolag_model::{
    CheckSpec, ClientId, ClientRecord, Clock, ContactEnd, ContactRecord, FileSystem, MonotonicClock,
    MonotonicTime, Nanoseconds, OnHang, RunSpec, TargetIndex, TargetRecord, WorkloadSpec, counted,
    format_bytes,
};
use iolag_report::{CheckRows, Judged, check_text, one_line, write_json};
use iolag_workload::{CheckTurns, bytes_held, bytes_to_write, stages, validate};

use super::report::write_report_of;
use super::start::{self, Beginning, Found, Keeper};
use crate::args::{Check, Common};
use crate::conduct::cleaning::CleanUp;
use crate::conduct::measurer_check::{self, CheckAssignment, CheckedDirectory, Role};
use crate::conduct::messages::DirectoryFacts;
use crate::conduct::progress::{Extent, Progress, Verbosity};
use crate::conduct::scout::{self, Answer, CONTACT_REQUESTS, Patience};
use crate::conduct::supervision::{AtSignal, Policy, Schedule};
use crate::conduct::{Conducted, GroupPlan, PLACE_REQUESTS, RunPlan, conduct, unanswered};
use crate::exit_code::{ExitCode, Failure};
use crate::output;

/// Shared memory per directory: a check takes a few thousand samples a second at most.
const RING_BYTES: u64 = 4 << 20;
/// Where the machine's own memory can be written like a directory, for the control.
const MEMORY_PLACES: [&str; 3] = ["/dev/shm", "/run/shm", "/tmp"];
/// Requests that a client sends before it measures something, about: opening its session.
const SESSION_REQUESTS: u64 = 4;

/// Runs the command.
///
/// # Errors
/// If nothing can be measured.
pub fn run(options: &Check, common: &Common) -> Result<ExitCode, Failure> {
    let end = MonotonicClock.now().after(options.budget);
    let labels = super::labels(&options.run)?;
    let mut check = spec(options);
    let directories = directories(options, |name| std::env::var_os(name));
    validate(&WorkloadSpec::Check(check.clone()), directories.len() as u32).map_err(Failure::usage)?;
    let keeper = start::become_keeper(common)?;
    output::refuse_lost_document(common)?;
    start::leave_current_directory();
    // Whoever does not answer may have half of the time; the other half is for those who do.
    let patience = Patience { deadline: options.deadline, in_all: Nanoseconds(options.budget.0 / 2) };
    let memory = MEMORY_PLACES.map(PathBuf::from);
    let asked = [directories.as_slice(), &memory].concat();
    let mut found = start::send_scouts(&keeper, &asked, patience)?;
    let memory = found.directories.split_off(directories.len());
    start::tell_notices(common, &found.notices);
    let Chosen { targets, left_out } = targets(options, &directories, &found)?;
    let control = control(&memory, &targets, &check);
    check.control = control.map(|_| TargetIndex(targets.len() as u16));
    let asked = Asked { options, labels, check, control, left_out, end };
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
    /// Its first contact did not come to an end in time.
    Silent {
        name: PathBuf,
        age: Nanoseconds,
        came_back: u64,
    },
}

impl Scouted {
    fn is_silent(&self) -> bool {
        matches!(self, Self::Silent { .. })
    }
}

/// What is measured, and in a sentence each what the user might miss.
struct Chosen {
    targets: Vec<Scouted>,
    left_out: Vec<String>,
}

/// What the scouts found. Without arguments one directory per mounted file system stays, and what does not exist is left
/// out; a directory that the user named and that cannot be measured is an error before anything is written.
fn targets(options: &Check, directories: &[PathBuf], found: &Found) -> Result<Chosen, Failure> {
    let by_default = options.directories.is_empty();
    let mut chosen = Chosen { targets: Vec::new(), left_out: Vec::new() };
    let mut trouble = Vec::new();
    for (name, answer) in directories.iter().zip(&found.directories) {
        match answer {
            Answer::Given(Ok(facts)) => match known(&chosen.targets, facts, by_default) {
                None => chosen.targets.push(Scouted::Answers(Box::new(facts.clone()))),
                Some(known) if known.path != facts.path => chosen.left_out.push(format!(
                    "{} is left out: it lies on the file system of {}.",
                    facts.path.display(),
                    known.path.display()
                )),
                Some(_) => {}
            },
            Answer::Given(Err(sentence)) => trouble.push(sentence.clone()),
            Answer::None { age, came_back, .. } => {
                chosen.targets.push(Scouted::Silent { name: name.clone(), age: *age, came_back: *came_back });
            }
        }
    }
    if chosen.targets.is_empty() || (!by_default && !trouble.is_empty()) {
        return Err(Failure::unusable(trouble.join("\niolag: ")));
    }
    chosen.left_out.extend(trouble.into_iter().map(|sentence| format!("Left out: {sentence}.")));
    Ok(chosen)
}

/// The target that stands for this directory, too.
fn known<'a>(targets: &'a [Scouted], facts: &DirectoryFacts, by_default: bool) -> Option<&'a DirectoryFacts> {
    let is_same = |known: &&DirectoryFacts| {
        known.path == facts.path || (by_default && known.file_system.device == facts.file_system.device)
    };
    answering(targets).map(|(_, facts)| facts).find(is_same)
}

fn answering(targets: &[Scouted]) -> impl Iterator<Item = (u16, &DirectoryFacts)> {
    (0..).zip(targets).filter_map(|(index, target)| match target {
        Scouted::Answers(facts) => Some((index, facts.as_ref())),
        Scouted::Silent { .. } => None,
    })
}

/// A directory in the machine's own memory with which the others are compared: one that is not among them.
fn control<'a>(
    memory: &'a [Answer<crate::conduct::messages::ScoutAnswer>],
    targets: &[Scouted],
    check: &CheckSpec,
) -> Option<&'a DirectoryFacts> {
    let needed = bytes_held(&WorkloadSpec::Check(check.clone()), 1);
    let is_fit = |facts: &&DirectoryFacts| {
        let file_system = &facts.file_system;
        file_system.kind == "tmpfs"
            && file_system.free_bytes.is_none_or(|free| free > needed)
            && answering(targets).all(|(_, known)| known.file_system.device != file_system.device)
    };
    let given = memory.iter().filter_map(|answer| match answer {
        Answer::Given(Ok(facts)) => Some(facts),
        _ => None,
    });
    given.into_iter().find(is_fit)
}

/// What the user asked for, and what was made of it.
struct Asked<'a> {
    options: &'a Check,
    labels: Vec<(String, String)>,
    check: CheckSpec,
    control: Option<&'a DirectoryFacts>,
    left_out: Vec<String>,
    /// When everything is to be over.
    end: MonotonicTime,
}

fn measure(
    asked: &Asked<'_>,
    common: &Common,
    keeper: &Keeper,
    found: &Found,
    targets: &[Scouted],
) -> Result<Conducted, Failure> {
    let Asked { options, labels, check, control, left_out, end } = asked;
    let answering: Vec<(u16, &DirectoryFacts)> = answering(targets).collect();
    if answering.is_empty() {
        return Err(nothing_answers(targets));
    }
    let answering = with_room(options, common, check, answering)?;
    let control = control.map(|facts| (targets.len() as u16, facts));
    let clients: Vec<(u16, &DirectoryFacts)> = answering.iter().copied().chain(control).collect();
    let workload = WorkloadSpec::Check(check.clone());
    let spec = RunSpec {
        workload: workload.clone(),
        targets: targets.iter().map(|target| target_of(target).to_string()).collect(),
        clients: 1,
        deadline_ns: options.deadline,
        on_hang: OnHang::Continue,
        seed: options.run.seed,
        ring_bytes: RING_BYTES * clients.len() as u64,
    };
    let mut trust = Vec::new();
    let measured: Vec<u64> =
        answering.iter().filter_map(|(_, facts)| device_number(&facts.file_system)).collect();
    let spool_parent = start::choose_spool(found, &measured, &mut trust);
    let id = start::new_run_id(found)?;
    announce(asked, common, &answering, found, &id);
    let beginning = Beginning {
        campaign: id.clone(),
        id: id.clone(),
        repetition: 1,
        labels: labels.clone(),
        spec: spec.clone(),
        targets: targets
            .iter()
            .map(target_record)
            .chain(control.map(|(_, facts)| record_of(facts)))
            .collect(),
        clients: (0..)
            .zip(&clients)
            .map(|(client, (target, _))| ClientRecord {
                client: ClientId(client),
                target: TargetIndex(*target),
                rank: 0,
            })
            .collect(),
        stages: stages(&workload),
        trust,
    };
    let mut record = start::record(keeper, found, beginning);
    record.remarks.extend(left_out.iter().cloned());
    if control.is_none() && answering.iter().all(|(_, facts)| facts.file_system.kind != "tmpfs") {
        record
            .remarks
            .push("Nothing was compared with this machine's memory: no tmpfs was found.".to_owned());
    }
    let working_name = format!("iolag-check-{id}");
    let now = MonotonicClock.now();
    let turns = CheckTurns::of_all(now, end.since(now), answering.len() as u32);
    let assignment = CheckAssignment {
        directories: checked_directories(&clients, control.is_some(), &turns),
        working_name: working_name.clone(),
        spec,
        check: check.clone(),
        end: *end,
    };
    let verbosity = if common.quiet { Verbosity::Quiet } else { Verbosity::Normal };
    let mut progress = Progress::new(Extent::Time(end.since(now)), verbosity);
    let plan = RunPlan {
        record,
        root: found.root.clone(),
        spool_parent,
        thresholds: check.thresholds_ns.clone(),
        groups: groups(assignment, &clients),
        planned_places: clients
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

/// One client per directory; the control's is the last.
fn checked_directories(
    clients: &[(u16, &DirectoryFacts)],
    has_control: bool,
    turns: &[CheckTurns],
) -> Vec<CheckedDirectory> {
    let measured = clients.len() - usize::from(has_control);
    (0..)
        .zip(clients)
        .zip(turns)
        .map(|((client, (target, facts)), turns)| CheckedDirectory {
            target: *target,
            client,
            path: facts.path.display().to_string(),
            turns: *turns,
            role: if (client as usize) < measured { Role::Measured } else { Role::Control },
        })
        .collect()
}

/// One measurer per mounted file system.
fn groups<'a>(assignment: CheckAssignment, clients: &[(u16, &DirectoryFacts)]) -> Vec<GroupPlan<'a>> {
    let mut grouped: Vec<(&str, Vec<CheckedDirectory>)> = Vec::new();
    for (directory, (_, facts)) in assignment.directories.iter().zip(clients) {
        let mount = facts.file_system.device.as_str();
        match grouped.iter_mut().find(|(known, _)| *known == mount && !mount.is_empty()) {
            Some((_, directories)) => directories.push(directory.clone()),
            None => grouped.push((mount, vec![directory.clone()])),
        }
    }
    grouped
        .into_iter()
        .map(|(_, directories)| {
            let names: Vec<_> = directories.iter().map(|directory| directory.path.clone()).collect();
            let clients = directories.iter().map(|directory| directory.client).collect();
            let assignment = CheckAssignment { directories, ..assignment.clone() };
            GroupPlan {
                name: names.join(", "),
                clients,
                measure: Box::new(move |exchange, outbox| {
                    measurer_check::measure(&assignment, exchange, outbox)
                }),
            }
        })
        .collect()
}

fn announce(
    asked: &Asked<'_>,
    common: &Common,
    answering: &[(u16, &DirectoryFacts)],
    found: &Found,
    id: &iolag_model::RunId,
) {
    let Asked { options, check, control, left_out, .. } = asked;
    let names: Vec<_> =
        answering.iter().map(|(_, facts)| one_line(&facts.path.display().to_string())).collect();
    let directories = answering.len() as u32;
    output::notice(
        common,
        &format!(
            "measuring {} for at most {} in all, setting up and cleaning up included: listing, creating, compiling, single \
             operations, a short stream",
            names.join(" and "),
            options.budget
        ),
    );
    output::notice(
        common,
        &format!(
            "each gets a directory iolag-check-{id}: at most {} are written in all, at most {} are there at one time, and \
             everything is removed again",
            format_bytes(bytes_to_write(check, directories)),
            format_bytes(bytes_held(&WorkloadSpec::Check(check.clone()), directories)),
        ),
    );
    for sentence in left_out {
        output::notice(common, &one_line(sentence));
    }
    if let Some(facts) = control {
        let memory = one_line(&facts.path.display().to_string());
        output::notice(
            common,
            &format!("a little is done in {memory}, too: the machine's own memory, to compare with"),
        );
    }
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
    let sentence = |target: &Scouted| match target {
        Scouted::Silent { name, age, came_back: 0 } => {
            let name = name.display();
            Some(format!("{name} does not answer: the first contact has been waiting for {age}"))
        }
        Scouted::Silent { name, age, came_back } => Some(format!(
            "{} is too slow for this budget: {} came back in {age}; choose a longer --budget",
            name.display(),
            counted(*came_back, "request", "requests")
        )),
        Scouted::Answers(_) => None,
    };
    let sentences: Vec<_> = targets.iter().filter_map(sentence).collect();
    Failure { code: ExitCode::Incomplete, sentence: sentences.join("\niolag: ") }
}

fn target_of(scouted: &Scouted) -> Target {
    match scouted {
        Scouted::Answers(facts) => facts.path.clone().into(),
        Scouted::Silent { name, .. } => name.clone().into(),
    }
}

fn target_record(scouted: &Scouted) -> TargetRecord {
    match scouted {
        Scouted::Answers(facts) => record_of(facts),
        Scouted::Silent { age, came_back: 0, .. } => unanswered(&target_of(scouted), *age),
        Scouted::Silent { age, came_back, .. } => TargetRecord {
            unanswered_ns: None,
            contact: Some(ContactRecord {
                answered: *came_back,
                needed: CONTACT_REQUESTS + PLACE_REQUESTS + SESSION_REQUESTS,
                waited_ns: *age,
                end: ContactEnd::Own,
            }),
            ..unanswered(&target_of(scouted), *age)
        },
    }
}

fn record_of(facts: &DirectoryFacts) -> TargetRecord {
    let target = Target::from(facts.path.clone());
    TargetRecord {
        name: target.to_string(),
        backend: target.kind().into(),
        working_place: None,
        file_system: Some(facts.file_system.clone()),
        unanswered_ns: None,
        contact: Some(ContactRecord {
            answered: CONTACT_REQUESTS,
            needed: CONTACT_REQUESTS + PLACE_REQUESTS + SESSION_REQUESTS,
            waited_ns: Nanoseconds::ZERO,
            end: ContactEnd::Own,
        }),
        failure: None,
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
    let unmeasured = analysis.directories.iter().any(|directory| directory.summaries.is_empty());
    let silent = unmeasured || targets.iter().any(Scouted::is_silent);
    Ok(match conducted.unusable.len() {
        0 if silent => ExitCode::Incomplete,
        0 => conducted.code,
        unusable if unusable == targets.len() => ExitCode::Unusable,
        _ => ExitCode::Incomplete,
    })
}
