//! A watch is a guest: it needs no privileges, sleeps between rounds, and takes little room.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::time::Duration;

use iolag_fixtures::skip_unless_root;
use iolag_model::Outcome;

use crate::remembered::assert_all_fine;
use crate::stage::{Stage, target};
use crate::support::{PATIENCE, Running, wait_until};

/// `nobody`, who may do nothing.
const NOBODY: u32 = 65_534;

fn own(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
}

#[test]
fn an_ordinary_user_watches_with_a_copied_program() {
    if skip_unless_root() {
        return;
    }
    let stage = Stage::new();
    let directory = stage.directory("scratch");
    let file = stage.configure(&format!(
        "tasks = [\"stat\", \"list\", \"create\", \"hangs\"]\ngrace = \"2s\"\n[task.create]\nfiles = 3\n\
         [task.hangs]\ncommand = [\"sh\", \"-c\", \"trap '' TERM; sleep 300; sleep 300\"]\nsoft-deadline = \"100ms\"\ndeadline = \"1s\"\n\
         [[target]]\nname = \"scratch\"\ndirectory = {directory:?}\n"
    ));
    let program = stage.scene.path().join("iolag");
    fs::copy(env!("CARGO_BIN_EXE_iolag"), &program).unwrap();
    own(&program, 0o700);
    // Nobody else's, as for somebody who logs in.
    for path in
        [stage.scene.path().to_owned(), stage.scene.home(), directory.as_str().into(), file.as_str().into()]
    {
        own(&path, 0o700);
    }
    let memory = tempfile::Builder::new().prefix("iolag-test-").tempdir_in("/dev/shm").unwrap();
    own(memory.path(), 0o700);
    let runtime = memory.path().join("run").display().to_string();
    let watch = |more: &[&str]| {
        let mut arguments = vec!["watch", "--history", &stage.history, "--runtime", &runtime, "-c", &file];
        arguments.extend(more);
        let mut command = stage.scene.command_of(&program, &arguments);
        command.uid(NOBODY).gid(NOBODY);
        Running::start(command).finish()
    };
    let done = watch(&["--rounds", "2", "--every", "3s"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    stage.scene.assert_nobody_is_left();
    let status = watch(&["--status"]);
    assert!(status.stdout.contains("stat on scratch"), "{status:?}");

    let remembered = stage.remembered();
    for task in ["stat", "list", "create"] {
        assert_all_fine(&remembered.wholes("scratch", task), 1);
        assert_all_fine(&remembered.wholes("host memory", task), 1);
    }
    let hangs = remembered.wholes("scratch", "hangs");
    let ended = hangs.iter().find(|sample| sample.outcome == Outcome::Timeout).unwrap();
    let evidence = remembered.evidence(ended.probe).join("\n");
    assert!(evidence.contains("state S"), "what one's own processes wait for may be read: {evidence}");
    let samples = remembered.samples().filter(|sample| sample.outcome == Outcome::Ok);
    assert!(
        samples.into_iter().all(|sample| sample.surroundings.is_some() && sample.configuration.is_some())
    );
    let removed = watch(&["--remove"]);
    assert_eq!(removed.code, Some(0), "{removed:?}");
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 0);
}

/// A line of /proc/PID/status, in KiB.
fn kib(process: u32, name: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Time that a process has spent on processors.
fn work(process: u32) -> Duration {
    let spent = fs::read_to_string(format!("/proc/{process}/schedstat")).unwrap();
    Duration::from_nanos(spent.split_ascii_whitespace().next().unwrap().parse().unwrap())
}

#[test]
fn between_rounds_nothing_works_and_little_is_resident() {
    const IDLE: Duration = Duration::from_secs(5);
    let stage = Stage::new();
    let (one, two) = (stage.directory("one"), stage.directory("two"));
    let file = stage.configure(&format!(
        "every = \"1h\"\n{}{}[[covariate]]\nname = \"jobs\"\ncommand = [\"echo\", \"17\"]\n",
        target("one", &one, "list"),
        target("two", &two, "create")
    ));
    let watch = stage.start(&["-c", &file]);
    let process = watch.id();
    stage.wait_for("an idle watch", |status| {
        status.in_flight.is_empty() && status.last.len() >= 8 && status.waiting_records == 0
    });
    // Its last child may still be on its way out.
    assert!(wait_until(PATIENCE, || stage.processes() == 1));
    // Who mounts wakes every watch of the machine, and other tests mount: one that works by itself works at all times.
    let worked_in = || {
        let before = work(process);
        std::thread::sleep(IDLE);
        work(process) - before
    };
    let mut worked = Vec::new();
    let is_idle = (0..12).any(|_| {
        worked.push(worked_in());
        worked.last() < Some(&(IDLE / 1000))
    });
    // The program itself, from its copy in memory, is as large as it was built; the watch's own is what it keeps.
    let program_kib = kib(process, "RssShmem");
    let own_kib = kib(process, "RssAnon") + kib(process, "RssFile");
    watch.signal(libc::SIGTERM);
    assert_eq!(watch.finish().code, Some(0));
    assert!(is_idle, "0.1 % of a core are {:?}: {worked:?}", IDLE / 1000);
    assert!(own_kib < 6 << 10 && program_kib < 25 << 10, "{own_kib} KiB, {program_kib} KiB");
}
