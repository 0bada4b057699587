//! `iolag trace` where something ends, hangs or is killed: the command is never worse off than it would be, and what was seen is kept.

use std::time::Duration;

use iolag_fixtures::{FuseCall, FuseMount};

use super::may_trace;
use crate::support::{PATIENCE, Running, Scene, assert_says, children, kill, wait_for, wait_until};

/// `iolag trace` of a script that says on standard error when it is there.
fn traced(scene: &Scene, script: &str) -> Running {
    let mut running = scene.start(&["trace", "--", "/bin/sh", "-c", &format!("echo ready >&2; {script}")]);
    running.wait_for("ready");
    running
}

/// The process that reads what strace writes, and has started it. (The keeper has scouts for a moment, too.)
fn capturer(keeper: u32) -> u32 {
    let is_strace = |process: &u32| {
        let name = std::fs::read_to_string(format!("/proc/{process}/comm"));
        name.is_ok_and(|name| name.trim() == "strace")
    };
    let has_strace = |process: &u32| children(*process).iter().any(is_strace);
    wait_for("the capturer", || children(keeper).into_iter().find(has_strace))
}

fn tracer_of(process: u32) -> u32 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("TracerPid:"));
    line.and_then(|tracer| tracer.trim().parse().ok()).unwrap_or(0)
}

#[test]
fn who_tells_iolag_to_end_ends_the_command_and_keeps_the_trace() {
    if !may_trace() {
        return;
    }
    let scene = Scene::new();
    let running = traced(&scene, "trap 'echo asked >&2; exit 6' TERM; while :; do sleep 0.05; done");
    running.signal(libc::SIGTERM);
    let done = running.finish();
    assert_says(&done.stderr, &["asked"]);
    assert_says(&done.stdout, &["status 6"]);
    scene.assert_nobody_is_left();
    // One that does not heed that is ended all the same.
    let running = traced(&scene, "trap '' TERM; while :; do sleep 0.05; done");
    running.signal(libc::SIGTERM);
    let done = running.finish();
    assert_eq!(done.code, Some(4), "{done:?}");
    scene.assert_nobody_is_left();
    let listed = scene.run(&["list"]).stdout;
    assert_says(&listed, &["complete", "incomplete"]);
}

#[test]
fn a_keeper_that_is_killed_takes_neither_the_command_nor_the_trace_along() {
    if !may_trace() {
        return;
    }
    let scene = Scene::new();
    let running = traced(&scene, "while [ ! -e go ]; do sleep 0.05; done; ls > listed");
    running.signal(libc::SIGKILL);
    drop(running);
    std::fs::write(scene.path().join("go"), "").unwrap();
    scene.assert_nobody_is_left();
    assert!(scene.path().join("listed").exists(), "the command has not ended as it should");
    let shown = scene.run(&["show", "last"]);
    assert_eq!(shown.code, Some(0), "{shown:?}");
    assert_says(&shown.stdout, &["complete", "status 0"]);
}

#[test]
fn of_a_capturer_that_is_killed_what_was_written_stays() {
    if !may_trace() {
        return;
    }
    let scene = Scene::new();
    let running = traced(&scene, "ls / > /dev/null; while [ ! -e go ]; do sleep 0.05; done; echo done > end");
    // What has come is written at least once in a second.
    std::thread::sleep(Duration::from_secs(3));
    kill(capturer(running.id()), libc::SIGKILL);
    let wanted = scene.path().join("go");
    std::fs::write(wanted, "").unwrap();
    let done = running.finish();
    assert_eq!(done.code, Some(4), "{done:?}");
    assert_says(&done.stderr, &["ended by signal 9: what it had written is in "]);
    let shown = scene.run(&["show", "last"]);
    assert_eq!(shown.code, Some(0), "{shown:?}");
    assert_says(&shown.stdout, &["recovered", "execve"]);
}

#[test]
fn attaching_never_kills() {
    if !may_trace() {
        return;
    }
    let scene = Scene::new();
    let mut traced = scene
        .bare_command("/bin/sh".as_ref(), &["-c", "while :; do test -e /etc/hostname; sleep 0.02; done"])
        .spawn()
        .unwrap();
    let process = traced.id();
    let attach = || {
        let mut running = scene.start(&["trace", "--attach", &process.to_string()]);
        running.wait_for("until Ctrl-C");
        assert!(wait_until(PATIENCE, || tracer_of(process) != 0), "it is not attached: {}", running.stderr());
        running
    };
    let running = attach();
    std::thread::sleep(Duration::from_millis(500));
    running.signal(libc::SIGINT);
    let done = running.finish();
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(tracer_of(process), 0);
    let shown = scene.run(&["show", "last", "--json", "-"]).stdout;
    assert_says(&shown, &["/etc"]);
    // Everybody who traces is killed, one after the other.
    for whom in 0..3 {
        let running = attach();
        let keeper = running.id();
        let capturer = capturer(keeper);
        let strace = tracer_of(process);
        kill([keeper, capturer, strace][whom], libc::SIGKILL);
        let is_free = wait_until(PATIENCE, || tracer_of(process) == 0);
        assert!(is_free, "it is still traced after {whom} was killed");
        assert!(traced.try_wait().unwrap().is_none(), "it was ended with {whom}");
        drop(running);
    }
    crate::support::end(&mut traced);
    let done = scene.run(&["trace", "--attach", &process.to_string()]);
    assert_eq!(done.code, Some(3), "{done:?}");
    assert_says(&done.stderr, &["there is no process "]);
}

/// A shell that looks along PATH is refused a program at a time.
#[test]
fn what_was_refused_to_a_process_before_iolag_looked_is_no_reason_to_throw_its_trace_away() {
    if !may_trace() {
        return;
    }
    let scene = Scene::new();
    let failing = "import os, time\n\
                   while True:\n\
                   \ttry: os.execv('/no-such-program', ['x'])\n\
                   \texcept OSError: time.sleep(0.02)";
    let mut traced = scene.bare_command("python3".as_ref(), &["-c", failing]).spawn().unwrap();
    let mut running = scene.start(&["trace", "--attach", &traced.id().to_string()]);
    running.wait_for("until Ctrl-C");
    assert!(wait_until(PATIENCE, || tracer_of(traced.id()) != 0), "{}", running.stderr());
    std::thread::sleep(Duration::from_millis(500));
    running.signal(libc::SIGINT);
    let done = running.finish();
    crate::support::end(&mut traced);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_says(&scene.run(&["show", "last"]).stdout, &["execve"]);
}

#[test]
fn a_command_that_hangs_in_the_kernel_can_be_left_and_is_told() {
    if !may_trace() {
        return;
    }
    let scene = Scene::new();
    let Some(fuse) = FuseMount::start(&scene.target()) else { return };
    fuse.hang(FuseCall::Lookup, "gone");
    let mut running = traced(&scene, &format!("ls {}/gone", fuse.path().display()));
    assert!(fuse.wait_until_held(1, PATIENCE));
    running.signal(libc::SIGTERM);
    // Whoever hangs holds its output still.
    assert!(wait_until(PATIENCE, || running.has_ended()), "{}", running.stderr());
    fuse.release();
    let done = running.finish();
    assert_eq!(done.code, Some(4), "{done:?}");
    assert_says(&done.stdout, &["told to end"]);
    let answer: String = done.stdout.lines().take(4).collect::<Vec<_>>().join(" ");
    let explain = format!("Ask whether the storage answers: `iolag explain {}`", fuse.path().display());
    assert_says(&answer, &[&explain, "/gone had not come back after", "when the trace ended"]);
    assert_says(&done.stderr, &["cannot be ended and was left behind: ls (", "request_wait_answer"]);
    let asked = scene.run(&["export", "last", "--format", "strace"]);
    assert_says(&asked.stdout, &["/gone"]);
    scene.assert_nobody_is_left();
}

#[test]
fn a_process_that_hung_before_it_was_traced_is_told_let_go_and_goes_on() {
    if !may_trace() {
        return;
    }
    let scene = Scene::new();
    let Some(fuse) = FuseMount::start(&scene.target()) else { return };
    std::fs::write(fuse.path().join("data"), "hello").unwrap();
    fuse.hang(FuseCall::Open, "data");
    let file = fuse.path().join("data").display().to_string();
    let hung = scene
        .bare_command("/bin/cat".as_ref(), &[&file])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    assert!(fuse.wait_until_held(1, PATIENCE));
    let mut running = scene.start(&["trace", "--attach", &hung.id().to_string()]);
    running.wait_for("nothing is seen of it until it comes back from there");
    running.signal(libc::SIGINT);
    let done = running.finish();
    assert_eq!(done.code, Some(4), "{done:?}");
    assert_says(&done.stdout, &["No call on files was seen.", "strace did not let it go, and was ended"]);
    assert_says(&done.stdout, &["that call is not in the trace", "request_wait_answer"]);
    assert_eq!(tracer_of(hung.id()), 0);
    fuse.release();
    let went_on = hung.wait_with_output().unwrap();
    assert_eq!((went_on.status.code(), &went_on.stdout[..]), (Some(0), &b"hello"[..]));
}

#[test]
fn a_store_that_hangs_does_not_stop_the_command() {
    if !may_trace() {
        return;
    }
    let scene = Scene::new();
    std::fs::create_dir(scene.store()).unwrap();
    let Some(fuse) = FuseMount::start(&scene.store()) else { return };
    let store = fuse.path().to_str().unwrap();
    let script = "echo ready >&2; while [ ! -e go ]; do sleep 0.05; done; for i in 1 2 3 4 5 6 7 8 9; do ls -l /usr/bin > /dev/null; done; echo ended >&2";
    let arguments = ["trace", "--store", store, "--", "/bin/sh", "-c", script];
    let command = scene.bare_command(std::path::Path::new(env!("CARGO_BIN_EXE_iolag")), &arguments);
    let mut running = Running::start(command);
    running.wait_for("ready");
    fuse.hang_all();
    std::fs::write(scene.path().join("go"), "").unwrap();
    let done = running.finish();
    assert_eq!(done.code, Some(4), "{done:?}");
    assert_says(&done.stderr, &["ended", "has not answered"]);
    assert_says(&done.stdout, &["status 0"]);
    fuse.release();
    scene.assert_nobody_is_left();
}
