//! What a command is, has and hears while it is traced is what it would be, have and hear without.

use std::path::Path;
use std::process::Command;

use super::may_trace;
use super::session::Session;
use crate::support::{Scene, assert_says};

const CTRL_C: &str = "\x03";
const CTRL_BACKSLASH: &str = "\x1c";

/// `iolag trace` of a script.
fn traced(scene: &Scene, script: &str) -> Command {
    scene.command(&["trace", "--", "/bin/sh", "-c", script])
}

#[test]
fn the_command_has_terminal_directory_environment_and_signals_and_no_descriptor_more() {
    if !may_trace() {
        return;
    }
    let script = "test -t 0 && test -t 1 && test -t 2 && echo a terminal; stty size; pwd; echo $FOO; umask; ulimit -a; ls /proc/self/fd; \
                  grep -E 'Sig(Ign|Blk)|CoreDumping' /proc/self/status; cat /proc/self/coredump_filter; \
                  set -- $(cat /proc/$$/stat); test $5 = $8 && echo in the foreground; exit 7";
    let scene = Scene::new();
    let mut native = scene.bare_command(Path::new("/bin/sh"), &["-c", script]);
    native.env("FOO", "a b");
    let (expected, status) = Session::start(native).finish();
    assert_eq!(status.code(), Some(7), "{expected}");
    let mut traced = traced(&scene, script);
    traced.env("FOO", "a b");
    let (shown, status) = Session::start(traced).finish();
    assert_eq!(status.code(), Some(0), "{shown}");
    let (before, after) = shown.split_once("a terminal\n").expect("it has a terminal");
    let expected = expected.strip_prefix("a terminal\n").unwrap();
    assert!(after.starts_with(expected), "{after}\ninstead of\n{expected}");
    assert_says(before, &["tracing /bin/sh, with strace ", "each traced call takes about "]);
    assert_says(&after[expected.len()..], &["status 7"]);
    scene.assert_nobody_is_left();
}

#[test]
fn what_is_typed_is_for_the_command() {
    if !may_trace() {
        return;
    }
    let scene = Scene::new();
    // A terminal that sends a signal then drops what is still to be shown, so that the answer waits a little.
    let script = "trap 'sleep 0.5; echo heard; exit 5' INT; trap 'sleep 0.5; echo quit' QUIT; echo ready; while :; do sleep 0.05; done";
    let mut session = Session::start(traced(&scene, script));
    session.wait_for("ready");
    session.type_in(CTRL_BACKSLASH);
    session.wait_for("quit\n");
    session.type_in(CTRL_C);
    let (shown, status) = session.finish();
    assert_eq!(status.code(), Some(0), "{shown}");
    assert_says(&shown, &["heard\n", "status 5"]);
    let mut session = Session::start(traced(&scene, "echo ready; exec sleep 600"));
    session.wait_for("ready");
    session.type_in(CTRL_C);
    let (shown, status) = session.finish();
    assert_eq!(status.code(), Some(0), "{shown}");
    assert_says(&shown, &["signal 2"]);
    scene.assert_nobody_is_left();
}

#[test]
fn a_command_that_cannot_be_executed_leaves_no_run() {
    if !may_trace() {
        return;
    }
    let scene = Scene::new();
    let told = |arguments: &[&str]| {
        let done = scene.run(&[&["trace", "--"], arguments].concat());
        assert!(done.stdout.is_empty(), "{done:?}");
        (done.code, done.stderr)
    };
    let (code, said) = told(&["no-such-program"]);
    assert_eq!(code, Some(2), "{said}");
    assert_says(&said, &["there is no program \"no-such-program\": give its path, or look at PATH"]);
    let (code, said) = told(&["cd", "/"]);
    assert_eq!(code, Some(2), "{said}");
    assert_says(&said, &["cd is a shell's own command", "sh -c 'cd …'"]);
    let file = scene.path().join("data");
    std::fs::write(&file, "hello").unwrap();
    let (code, said) = told(&[file.to_str().unwrap()]);
    assert_eq!(code, Some(2), "{said}");
    assert_says(&said, &["no program that may be executed"]);
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let (code, said) = told(&[file.to_str().unwrap()]);
    assert_eq!(code, Some(3), "{said}");
    assert_says(&said, &["cannot be executed: Exec format error"]);
    std::fs::write(&file, "#!/no/such/shell\n").unwrap();
    let (code, said) = told(&[file.to_str().unwrap()]);
    assert_eq!(code, Some(3), "{said}");
    assert_says(&said, &["cannot be executed: what its first line names"]);
    let (code, said) = told(&[]);
    assert_eq!(code, Some(2), "{said}");
    assert_says(&said, &["give a command"]);
    assert_eq!(scene.run(&["list"]).stdout.matches("trace").count(), 0);
}

#[test]
fn what_cannot_be_done_while_a_command_runs_is_refused_before_it_is_started() {
    let scene = Scene::new();
    std::fs::write(scene.path().join("no-trace"), "somebody's work").unwrap();
    let refused = |code, options: &[&str], expected: &str| {
        let done =
            scene.run(&[&["trace"], options, &["--", "/bin/sh", "-c", "echo started > started"]].concat());
        assert_eq!(done.code, Some(code), "{options:?}: {done:?}");
        assert_says(&done.stderr, &[expected]);
    };
    refused(2, &["--anonymise"], "--anonymise goes with --from");
    refused(2, &["--json", "-"], "name a file with --json FILE");
    refused(2, &["--witth", "network"], "--with");
    if may_trace() {
        refused(3, &["-o", "no-trace"], "is no trace");
        refused(3, &["-o", "/dev/null"], "is no file");
    }
    assert!(!scene.path().join("started").exists());
    assert_eq!(std::fs::read_to_string(scene.path().join("no-trace")).unwrap(), "somebody's work");
}

#[test]
fn without_a_strace_that_can_be_used_nothing_is_started() {
    let scene = Scene::new();
    let programs = scene.path().join("bin");
    std::fs::create_dir(&programs).unwrap();
    let told = |path: &str| {
        let mut command = scene.command(&["trace", "--", "/bin/sh", "-c", "echo it was started"]);
        command.env("PATH", path);
        let done = crate::support::Running::start(command).finish();
        assert_eq!((done.code, done.stdout.as_str()), (Some(3), ""), "{done:?}");
        done.stderr
    };
    let path = programs.to_str().unwrap();
    assert_says(&told(path), &["strace, which does the tracing, is not to be found in PATH: install it"]);
    let fake = |text: &str| {
        let strace = programs.join("strace");
        std::fs::write(&strace, format!("#!/bin/sh\n{text}\n")).unwrap();
        std::fs::set_permissions(&strace, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    };
    fake("echo 'strace -- version 4.8'");
    assert_says(&told(path), &["strace 4.8 is too old: 4.17 or newer is needed"]);
    fake("echo hello");
    assert_says(&told(path), &["put the real one first"]);
    assert_eq!(scene.run(&["list"]).stdout.matches("trace").count(), 0);
}

/// In a container that does not let its processes trace each other.
#[test]
fn a_system_that_forbids_tracing_is_told_before_the_command_is_started() {
    if !may_trace() {
        return;
    }
    let scene = Scene::new();
    let mut command = scene.command(&["trace", "--", "/bin/sh", "-c", "echo it was started"]);
    // SAFETY: between fork and exec only system calls are made, on memory of this frame.
    unsafe { std::os::unix::process::CommandExt::pre_exec(&mut command, forbid_tracing) };
    let done = crate::support::Running::start(command).finish();
    assert_eq!((done.code, done.stdout.as_str()), (Some(3), ""), "{done:?}");
    assert_says(&done.stderr, &["this system does not let you trace programs", "SYS_PTRACE"]);
    scene.assert_nobody_is_left();
}

/// From here on ptrace(2) is refused, as container engines do.
fn forbid_tracing() -> std::io::Result<()> {
    let statement = |code: u32, k: u32| libc::sock_filter { code: code as u16, jt: 0, jf: 0, k };
    let mut filter = [
        // The number of the call.
        statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0),
        libc::sock_filter {
            code: (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16,
            jt: 0,
            jf: 1,
            k: libc::SYS_ptrace as u32,
        },
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32),
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: the program outlives the call.
    let installed = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &program) == 0
    };
    if installed { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

/// What a program is given, and what it reads and writes, is nobody's business.
#[test]
fn nothing_of_what_a_program_handles_is_kept() {
    const SECRETS: [&str; 5] =
        ["hunter2-argument", "hunter2-variable", "hunter2-read", "hunter2-written", "hunter2-link"];
    if !may_trace() {
        return;
    }
    let scene = Scene::new();
    let [argument, variable, read, written, linked] = SECRETS;
    std::fs::write(scene.path().join("in"), read).unwrap();
    let script = format!(
        "cat in > out; printf {written} >> out; : $SECRET; /bin/echo {argument} > /dev/null; ln -s {linked} l; readlink l; setfattr -n user.x -v {argument} out 2>/dev/null; true"
    );
    let mut command =
        scene.command(&["trace", "-o", "kept.iolag", "--with", "network", "--", "/bin/sh", "-c", &script]);
    command.env("SECRET", variable);
    let done = crate::support::Running::start(command).finish();
    assert_eq!(done.code, Some(0), "{done:?}");
    let done = crate::support::Running::start(traced(&scene, &script)).finish();
    assert_eq!(done.code, Some(0), "{done:?}");
    let mut trace = iolag_trace::Trace::default();
    let file = std::fs::File::open(scene.path().join("kept.iolag")).unwrap();
    let mut reader = iolag_trace::TraceReader::new(file).unwrap();
    reader.read_into(&mut trace).unwrap();
    let names = reader.tables().paths.iter().map(|path| String::from_utf8_lossy(path).into_owned());
    let paths: Vec<String> = names.collect();
    assert!(paths.iter().any(|path| path.ends_with("/out")), "{paths:?}");
    let run = std::fs::read_dir(scene.store().join("runs")).unwrap().next().unwrap().unwrap().path();
    let record = std::fs::read_to_string(run.join("run.json")).unwrap();
    let all = format!("{paths:?} {:?} {:?} {record}", reader.about(), reader.ending());
    // The text of a symbolic link is a path that is asked for.
    for secret in SECRETS.iter().filter(|secret| **secret != linked) {
        assert!(!all.contains(secret), "{secret}: {all}");
    }
}
