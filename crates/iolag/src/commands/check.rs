//! `iolag check`: how does this storage feel right now?

mod scouted;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;

use iolag_analysis::analyse_check;
use iolag_conduct::{
    Answer, AtSignal, Beginning, CheckAssignment, CheckedDirectory, CleanUp, Conducted, DirectoryFacts,
    ExitCode, Failure, Found, GroupPlan, Keeper, Patience, Policy, Role, RunPlan, Schedule, absolute,
    become_keeper, choose_spool, conduct, leave_current_directory, maker, measure_check, new_run_id, record,
    send_scouts,
};
use iolag_model::{
    CheckSpec, ClientId, ClientRecord, Clock, FileSystem, MonotonicClock, MonotonicTime, Nanoseconds, OnHang,
    RunSpec, TargetIndex, TargetRecord, WorkloadSpec, format_bytes,
};
use iolag_report::{CheckRows, Judged, check_text, one_line, write_json};
use iolag_workload::{CheckTurns, bytes_held, bytes_to_write, stages, validate};

use super::report::write_report_of;
use crate::args::{Check, Common};
use crate::commands::store_of;
use crate::output;
use crate::progress::{Extent, Progress, Verbosity};
use scouted::{Chosen, Scouted, answering, nothing_to_measure, record_of, target_of, target_record, targets};

/// Shared memory per directory: a check takes a few thousand samples a second at most.
const RING_BYTES: u64 = 4 << 20;
/// Where the machine's own memory can be written like a directory, for the control.
const MEMORY_PLACES: [&str; 3] = ["/dev/shm", "/run/shm", "/tmp"];

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
    let keeper = become_keeper(store_of(common))?;
    output::refuse_lost_document(common)?;
    output::refuse_lost_report(options.report.as_deref())?;
    leave_current_directory();
    // Whoever does not answer may have half of the time; the other half is for those who do.
    let patience = Patience { deadline: options.deadline, in_all: Nanoseconds(options.budget.0 / 2) };
    let memory = MEMORY_PLACES.map(PathBuf::from);
    let asked = [directories.as_slice(), &memory].concat();
    let mut found = send_scouts(&keeper, &asked, patience)?;
    let memory = found.directories.split_off(directories.len());
    output::tell_notices(common, &found.notices);
    let Chosen { targets, left_out } =
        targets(options, &check, &directories, &found, end.since(MonotonicClock.now()))?;
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
    given.iter().map(|directory| absolute(directory)).collect()
}

/// A directory in the machine's own memory with which the others are compared: one that is not among them.
fn control<'a>(
    memory: &'a [Answer<iolag_conduct::ScoutAnswer>],
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
        return Err(nothing_to_measure(targets, left_out));
    }
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
    let spool_parent = choose_spool(found, &measured, &mut trust);
    let id = new_run_id(found)?;
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
    let mut record = record(keeper, found, beginning);
    record.remarks.extend(left_out.iter().cloned());
    if control.is_none() && answering.iter().all(|(_, facts)| facts.file_system.kind != "tmpfs") {
        record
            .remarks
            .push("Nothing was compared with this machine's memory: no tmpfs was found.".to_owned());
    }
    let working_name = format!("iolag-check-{id}");
    let maker = maker(&id)?;
    let token = maker.token;
    let now = MonotonicClock.now();
    let turns = CheckTurns::of_all(now, end.since(now), answering.len() as u32);
    let assignment = CheckAssignment {
        directories: checked_directories(&clients, control.is_some(), &turns),
        working_name: working_name.clone(),
        maker,
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
        token,
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
                measure: Box::new(move |exchange, outbox| measure_check(&assignment, exchange, outbox)),
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
            "measuring {} for at most {} in all, first contact and cleaning up included: listing, creating, compiling, single \
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
    let delivered = output::deliver(common, &text, || {
        let mut document = Vec::new();
        write_json(&stored.record, Judged::Check(&analysis), &mut document).map_err(Failure::bug)?;
        Ok(document)
    });
    output::tell_outcome(common, conducted);
    if let Some(path) = &options.report {
        write_report_of(std::slice::from_ref(&conducted.run), path, common)?;
    }
    let unmeasured = analysis.directories.iter().any(|directory| directory.summaries.is_empty());
    let silent = unmeasured || targets.iter().any(Scouted::is_silent);
    let is_unusable = |(index, (target, scouted)): &(u16, (&TargetRecord, &Scouted))| {
        target.failure.is_some() && !scouted.is_silent() && !conducted.halted.contains(index)
    };
    let unusable = (0..).zip(stored.record.targets.iter().zip(targets)).filter(is_unusable).count();
    let code = match unusable {
        0 if silent => ExitCode::Incomplete,
        0 => conducted.code,
        unusable if unusable == targets.len() => ExitCode::Unusable,
        _ => ExitCode::Incomplete,
    };
    delivered.map_or_else(|failure| Err(failure.at_least(code)), |()| Ok(code))
}
