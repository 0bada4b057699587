//! What is said before a run begins: what will be done, how much is written, and where the run is kept.

use std::path::Path;

use iolag_conduct::PlannedPing;
use iolag_model::{
    CheckSpec, PingProbe, RunRecord, TargetIndex, counted, format_bytes, format_count, one_line,
};
use iolag_workload::{Workload, check_bytes_of_servers, workload};

/// Of a check or a bench that is about to begin and will be kept in the store at `root`; a bench works in the directory `working_name`.
pub fn announcement(record: &RunRecord, root: &Path, working_name: &str) -> Vec<String> {
    match record.spec.workload.check() {
        Some(check) => of_check(record, check, root),
        None => vec![of_bench(record, root, working_name)],
    }
}

fn kept(record: &RunRecord, root: &Path) -> String {
    format!("the run is kept as {} in {}", record.id, root.display())
}

fn of_bench(record: &RunRecord, root: &Path, working_name: &str) -> String {
    let (workload, clients) = (workload(&record.spec.workload), record.spec.clients);
    if let Some(stream) = record.spec.workload.stream() {
        let phases: Vec<&str> = stream.phases.iter().map(|phase| phase.name()).collect();
        return format!(
            "measuring {}{} with {}: {} of {} in blocks of {}; {} are written in all, at most {} are there at one time, in the directory \
             {working_name}; run {} in {}",
            one_line(&record.targets[0].name),
            // Others than those of the spec are of who measures beside it.
            record
                .targets
                .get(1)
                .filter(|_| record.spec.targets.len() > 1)
                .map_or_else(String::new, |to| format!(", copies to {},", one_line(&to.name))),
            counted(clients.into(), "client", "clients"),
            phases.join(", "),
            match clients {
                1 => format!("a file of {}", format_bytes(stream.file_bytes)),
                _ => format!("a file each of {}", format_bytes(stream.file_bytes)),
            },
            format_bytes(stream.block_bytes),
            format_bytes(workload.bytes_needed(clients)),
            format_bytes(workload.bytes_held(clients)),
            record.id,
            root.display()
        );
    }
    if let Some(tree) = record.spec.workload.tree() {
        let phases: Vec<&str> = tree.phases.iter().map(|phase| phase.name()).collect();
        return format!(
            "reading the tree {} with {}: all directories, then {}; it is only read, nothing is made, changed or removed in it; run {} in {}",
            one_line(&record.targets[0].name),
            counted(clients.into(), "client", "clients"),
            phases.join(", "),
            record.id,
            root.display()
        );
    }
    if let Some(replay) = record.spec.workload.replay() {
        let place = record.targets[0].working_place.as_deref().filter(|_| replay.own.is_some());
        let touched = match place {
            None => "files are only read, nothing is made, changed or removed".to_owned(),
            Some(place) => format!(
                "files are only read, but for those of its own in {}, which are removed again",
                one_line(place)
            ),
        };
        return format!(
            "repeating {} in {} by {}, each of which makes {}; {touched}; run {} in {}",
            one_line(replay.program.as_deref().unwrap_or(&replay.trace)),
            one_line(&record.targets[0].name),
            counted(clients.into(), "copy", "copies"),
            counted(replay.coverage.repeated, "call", "calls"),
            record.id,
            root.display()
        );
    }
    let who = match record.spec.workload.set_up() {
        Some(spec) => format!(
            "{}, each of which makes {} stat and {} open calls",
            counted(clients.into(), "copy", "copies"),
            format_count(spec.stats),
            format_count(spec.opens)
        ),
        None => counted(clients.into(), "client", "clients"),
    };
    let place = if record.targets[0].server.is_some() { "under the name" } else { "in the directory" };
    format!(
        "measuring {} with {}: {} objects of {} in all ({}), at most {} at one time, {place} {working_name}; run {} in {}",
        one_line(&record.targets[0].name),
        who,
        format_count(workload.objects_needed(clients)),
        format_bytes(workload.object_bytes()),
        format_bytes(workload.bytes_needed(clients)),
        format_bytes(workload.bytes_held(clients)),
        record.id,
        root.display()
    )
}

fn of_check(record: &RunRecord, check: &CheckSpec, root: &Path) -> Vec<String> {
    let is_control = |target: TargetIndex| check.control == Some(target);
    let name = |target: TargetIndex| one_line(record.shown_name(target));
    let measured: Vec<TargetIndex> =
        record.clients.iter().map(|client| client.target).filter(|target| !is_control(*target)).collect();
    let names: Vec<String> = measured.iter().map(|target| name(*target)).collect();
    let is_server = |target: &TargetIndex| record.targets[usize::from(target.0)].server.is_some();
    let servers = measured.iter().copied().filter(is_server).count() as u32;
    let directories = measured.len() as u32 - servers;
    let what = match (directories, servers) {
        (_, 0) => "listing, creating, compiling, single operations, a short stream",
        (0, _) => "small objects are put, looked at, read, listed and deleted",
        _ => {
            "listing, creating, compiling, single operations, a short stream; on servers small objects are put, looked at, read, listed and deleted"
        }
    };
    let mut sentences = vec![format!(
        "measuring {} for at most {} in all, first contact and cleaning up included: {what}",
        names.join(" and "),
        check.budget_ns
    )];
    if directories > 0 {
        let each = if servers > 0 { "each directory" } else { "each" };
        sentences.push(format!(
            "{each} gets a directory iolag-check-{}: at most {} are written in all, at most {} are there at one time, and \
             everything is removed again",
            record.id,
            format_bytes(check.bytes_needed(directories)),
            format_bytes(check.bytes_held(directories)),
        ));
    }
    if servers > 0 {
        let each = if directories > 0 { "each server" } else { "each" };
        sentences.push(format!(
            "{each} gets a working place iolag-check-{}, with one object of {} at a time: at most {} are written in all, and everything is removed again",
            record.id,
            format_bytes(check.object_bytes),
            format_bytes(check_bytes_of_servers(check, servers)),
        ));
    }
    sentences.extend(record.remarks.iter().map(|remark| one_line(remark)));
    if let Some(control) = check.control {
        let memory = name(control);
        sentences
            .push(format!("a little is done in {memory}, too: the machine's own memory, to compare with"));
    }
    sentences.push(kept(record, root));
    sentences
}

/// When the probes of a ping are due and lost, and what each is.
pub fn probes_in_words(plan: &PlannedPing) -> String {
    let what = match (&plan.task, &plan.spec.probe) {
        (Some(task), _) => {
            format!("{}, in a process of its own; starting that is part of the total", task.describe())
        }
        (None, PingProbe::Operations { object_bytes }) if plan.target.is_server() => {
            let bytes = format_bytes(*object_bytes);
            format!(
                "stat and read of an object, create of another, {bytes} each, by a connection that is kept"
            )
        }
        (None, PingProbe::Operations { object_bytes }) => format!(
            "stat of a file, open and read of it, create of another, {} each; no program is started",
            format_bytes(*object_bytes)
        ),
        (None, PingProbe::Object) => "stat and read of the object that it names; nothing is made".to_owned(),
        (None, PingProbe::Task { name }) => name.clone(),
    };
    format!("every {}, lost after {}: {what}", plan.spec.every_ns, plan.deadline)
}

/// Of a ping that is about to begin, whose probes are described.
pub fn of_ping(record: &RunRecord, probes: &str, root: &Path) -> [String; 2] {
    let target = one_line(&record.targets[0].name);
    let what =
        match (&record.spec.workload.ping().map(|ping| &ping.probe), record.targets[0].backend.as_str()) {
            (Some(PingProbe::Object), _) => {
                return [format!("a probe of {target} {probes}"), kept(record, root)];
            }
            (_, "posix") => "directory",
            _ => "working place",
        };
    let place = format!("in the {what} iolag-ping-{}, which is removed again", record.id);
    [format!("a probe of {target} {probes}; {place}"), kept(record, root)]
}
