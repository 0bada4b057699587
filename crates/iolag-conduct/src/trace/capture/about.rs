//! What a trace says of itself at its beginning.

use std::fs::File;
use std::os::unix::ffi::OsStrExt;

use iolag_keeper::mounts;
use iolag_model::{TraceAbout, TraceMount, TraceOrigin, TracingCost, USUAL_LISTS, one_line};

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

/// The same with the directories, which are not kept; those that many have first.
pub(super) fn named_lists() -> Vec<NamedList> {
    let variables = std::env::vars_os()
        .map(|(name, value)| (one_line(&name.to_string_lossy()), value.as_bytes().to_vec()));
    let here = std::env::current_dir().unwrap_or_default();
    let mut lists: Vec<NamedList> = variables
        .filter_map(|(name, value)| {
            directories(&name, &value, here.as_os_str().as_bytes()).map(|all| (name, all))
        })
        .collect();
    let place = |name: &str| USUAL_LISTS.iter().position(|usual| *usual == name).unwrap_or(usize::MAX);
    lists.sort_by(|(one, _), (other, _)| (place(one), one).cmp(&(place(other), other)));
    lists
}

/// The directories that a variable lists, if it does; what is relative in `here`.
fn directories(name: &str, value: &[u8], here: &[u8]) -> Option<Vec<Vec<u8>>> {
    let parts = || value.split(|byte| *byte == b':').filter(|part| !part.is_empty());
    let absolute = parts().filter(|part| part.starts_with(b"/")).count();
    let is_list = match (USUAL_LISTS.contains(&name), name.ends_with("PATH")) {
        (true, _) => absolute > 0,
        // One may be a file.
        (false, true) => absolute > 0 && parts().count() > 1,
        (false, false) => absolute > 1 && absolute == parts().count(),
    };
    let whole = |part: &[u8]| match part {
        [b'/', ..] => part.to_vec(),
        _ => [here, b"/", part].concat(),
    };
    is_list.then(|| parts().map(whole).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_known_by_its_name_and_what_it_has() {
        let of = |name, value: &str| {
            let all = directories(name, value.as_bytes(), b"/here")?;
            Some(all.iter().map(|one| String::from_utf8_lossy(one).into_owned()).collect::<Vec<_>>())
        };
        let some = |all: &[&str]| Some(all.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>());
        assert_eq!(of("PATH", "/bin"), some(&["/bin"]));
        assert_eq!(of("PATH", ":bin:/usr/bin:"), some(&["/here/bin", "/usr/bin"]));
        assert_eq!(of("SITE_PATH", ".:/a"), some(&["/here/.", "/a"]));
        assert_eq!(of("DIRECTORIES", "/a:/b"), some(&["/a", "/b"]));
        for (name, value) in [
            ("PATH", ""),
            ("PATH", "bin"),
            ("ROOTS_FILE_PATH", "/etc/roots.pem"),
            ("OPTIONS", "a:/b"),
            ("HOME", "/root"),
            ("PROXY", "http://x/y"),
        ] {
            assert_eq!(of(name, value), None, "{name}={value}");
        }
    }
}
