//! What a trace says of itself at its beginning.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;

use iolag_keeper::mounts;
use iolag_model::{TraceAbout, TraceMount, TraceOrigin, TracingCost, one_line};

use iolag_trace::NamedList;

use super::plan::{Capture, CaptureSubject};
use super::program::Strace;

/// Of more mounts nothing is told.
const MOUNTS_MAX: usize = 1000;

/// What is known before the first call.
pub(super) fn about(plan: &Capture, strace: &Strace, cost: TracingCost) -> TraceAbout {
    let (origin, program) = match &plan.subject {
        CaptureSubject::Command(command) => (TraceOrigin::Captured, command.first().cloned()),
        // The name that the kernel has; its arguments are nobody's business.
        CaptureSubject::Process(number) => {
            let name = std::fs::read_to_string(format!("/proc/{number}/comm")).ok();
            (TraceOrigin::Attached, name.map(|name| name.trim().into()))
        }
    };
    let name = |program: std::ffi::OsString| one_line(&program.to_string_lossy());
    let system = rustix::system::uname();
    TraceAbout {
        origin,
        program: program.map(name),
        host: Some(one_line(&system.nodename().to_string_lossy())),
        kernel: Some(one_line(&system.release().to_string_lossy())),
        strace: Some(strace.program.version.to_string()),
        network: plan.network,
        lists: lists(plan),
        mounts: mounts(plan),
        cost: Some(cost),
        ..TraceAbout::default()
    }
}

/// What is mounted for whom is traced, secrets removed.
fn mounts(plan: &Capture) -> Vec<TraceMount> {
    let process = match plan.subject {
        CaptureSubject::Command(_) => std::process::id(),
        CaptureSubject::Process(number) => number,
    };
    let table = File::open(format!("/proc/{process}/mountinfo"));
    let mounted = table.map_or_else(|_| Vec::new(), |table| mounts::parse_mountinfo(mounts::text_of(table)));
    let told = |mount: mounts::Mount| TraceMount {
        point: one_line(&mount.mount_point.to_string_lossy()),
        kind: mount.kind,
        source: mount.source,
    };
    mounted.into_iter().take(MOUNTS_MAX).map(told).collect()
}

/// Variables of the command's environment that are lists of directories, by name.
fn lists(plan: &Capture) -> Vec<String> {
    match plan.subject {
        CaptureSubject::Process(_) => Vec::new(),
        CaptureSubject::Command(_) => named_lists().into_iter().map(|(name, _)| name).collect(),
    }
}

/// The same with the directories, which are not kept.
pub(super) fn named_lists() -> Vec<NamedList> {
    let is_list = |name: &str, value: &str| {
        let is_directory = |part: &str| part.is_empty() || part.starts_with('/');
        (name.ends_with("PATH") || value.contains(':'))
            && value.contains('/')
            && value.split(':').all(is_directory)
    };
    let directories = |value: &OsStr| -> Vec<Vec<u8>> {
        let parts = value.as_bytes().split(|byte| *byte == b':');
        parts.filter(|part| !part.is_empty()).map(<[u8]>::to_vec).collect()
    };
    let variables = std::env::vars_os().map(|(name, value)| (name.to_string_lossy().into_owned(), value));
    let mut lists: Vec<NamedList> = variables
        .filter(|(name, value)| is_list(name, &value.to_string_lossy()))
        .map(|(name, value)| (name, directories(&value)))
        .collect();
    // What is in several is of the first: rather of one that is named as search paths are.
    lists.sort_unstable_by_key(|(name, _)| (!name.ends_with("PATH"), name.clone()));
    lists
}
