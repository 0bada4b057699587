//! Whatever happens to the process of a probe, nothing that it started lives on.

use std::fs::File;
use std::os::fd::AsFd;
use std::path::Path;

use iolag_fixtures::{FuseCall, FuseMount};
use iolag_model::Nanoseconds;
use iolag_workload::{PartEnding, PartRecorder, TaskOutput, TaskSpec, probe_task};

use crate::support::{PATIENCE, probe, processes_with, seconds_of, shell_command, wait_until};

/// Runs `body` in a forked process of its own process group; returns the status that it ended with.
pub fn in_child(body: impl FnOnce() -> i32) -> Option<i32> {
    let process = fork(body);
    wait_for(process)
}

/// Sets a variable in a forked process. The lock of the standard library may be held for ever there, by a thread that was
/// not copied.
pub fn set_variable(name: &str, value: &Path) {
    use std::os::unix::ffi::OsStrExt;
    let [name, value] = [name.as_bytes(), value.as_os_str().as_bytes()]
        .map(|text| std::ffi::CString::new(text).expect("there is no NUL in it"));
    // SAFETY: the process has one thread, and both strings end with NUL.
    unsafe { libc::setenv(name.as_ptr(), value.as_ptr(), 1) };
}

fn fork(body: impl FnOnce() -> i32) -> i32 {
    // SAFETY: the child uses nothing that other threads may hold but the allocator, which is made for that.
    match unsafe { libc::fork() } {
        -1 => panic!("no process is left"),
        0 => {
            // SAFETY: changes this process only, and ends it without running the test's exit handlers.
            unsafe {
                libc::setpgid(0, 0);
                let status = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body)).unwrap_or(70);
                libc::_exit(status)
            }
        }
        process => process,
    }
}

/// The status that a child ended with, if it exited. A child that waits in the kernel is not waited for for ever.
fn wait_for(process: i32) -> Option<i32> {
    let mut status = 0;
    // SAFETY: asks about a child of this process.
    let has_ended = wait_until(|| unsafe { libc::waitpid(process, &raw mut status, libc::WNOHANG) } != 0);
    assert!(has_ended, "process {process} does not end");
    libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status))
}

/// A probe in a process of its own, which is killed when this is dropped.
struct Probe {
    process: i32,
    is_over: bool,
}

impl Probe {
    fn fork(body: impl FnOnce() -> i32) -> Self {
        Self { process: fork(body), is_over: false }
    }

    /// Kills it and waits for its end.
    fn kill(mut self) {
        self.end();
        wait_for(self.process);
    }

    fn end(&mut self) {
        if !std::mem::replace(&mut self.is_over, true) {
            // SAFETY: a child of this process that nobody has waited for.
            unsafe { libc::kill(self.process, libc::SIGKILL) };
        }
    }
}

impl Drop for Probe {
    fn drop(&mut self) {
        self.end();
    }
}

/// Tells the guard to a file.
struct Telling<'a>(&'a Path);

impl PartRecorder for Telling<'_> {
    fn begin(&mut self, _part: usize) {}
    fn end(&mut self, _part: usize, _ending: PartEnding) {}
    fn end_ago(&mut self, _part: usize, _ending: PartEnding, _ago: Nanoseconds) {}
    fn guarded(&mut self, guard: u32) {
        std::fs::write(self.0, guard.to_string()).expect("the file can be written");
    }
}

fn start(place: &Path, guard: &Path, spec: &TaskSpec) -> Probe {
    Probe::fork(|| {
        let directory = File::open(place).expect("the place is there");
        let mut task = probe_task(spec, 1);
        task.prepare(directory.as_fd(), &mut Telling(guard)).expect("it can be prepared");
        task.perform(directory.as_fd(), &mut Telling(guard));
        0
    })
}

fn guard_in(file: &Path) -> u32 {
    assert!(wait_until(|| std::fs::read_to_string(file).is_ok_and(|text| !text.is_empty())));
    std::fs::read_to_string(file).expect("it is there").parse().expect("a process id")
}

fn lives(process: u32) -> bool {
    Path::new(&format!("/proc/{process}")).exists()
}

#[test]
fn nothing_lives_on_when_the_probe_is_killed() {
    let (place, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let guard = outside.path().join("guard");
    for (output, kind) in [(TaskOutput::Discard, 11), (TaskOutput::Terminal, 12)] {
        let seconds = &seconds_of(kind);
        let _ = std::fs::remove_file(&guard);
        let script = format!(
            "sleep {seconds} & setsid sleep {seconds} & (trap '' HUP TERM; setsid sh -c 'sleep {seconds} & wait' &); \
             nohup sleep {seconds} & wait"
        );
        let probe = start(place.path(), &guard, &shell_command(&script, output));
        assert!(wait_until(|| processes_with(seconds) == 4), "{output:?}: {}", processes_with(seconds));
        probe.kill();
        assert!(wait_until(|| processes_with(seconds) == 0), "{output:?}: something lives on");
        assert!(wait_until(|| !lives(guard_in(&guard))), "the guard lives on");
    }
}

#[test]
fn a_shell_and_its_startup_files_do_not_live_on() {
    let shell = if Path::new("/bin/bash").exists() { "/bin/bash" } else { "/bin/sh" };
    let (place, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let startup = home.path().join(".bashrc");
    let seconds = &seconds_of(13);
    std::fs::write(&startup, format!("setsid sleep {seconds} & nohup sleep {seconds} & sleep {seconds}\n"))
        .unwrap();
    let probe = Probe::fork(|| {
        set_variable("HOME", home.path());
        set_variable("ENV", &startup);
        let directory = File::open(place.path()).expect("the place is there");
        let mut task = probe_task(&TaskSpec::Shell { program: shell.into() }, 1);
        let guard = home.path().join("guard");
        task.prepare(directory.as_fd(), &mut Telling(&guard)).expect("it can be prepared");
        task.perform(directory.as_fd(), &mut Telling(&guard));
        0
    });
    assert!(wait_until(|| processes_with(seconds) == 3), "{}", processes_with(seconds));
    probe.kill();
    assert!(wait_until(|| processes_with(seconds) == 0), "something lives on");
}

#[test]
fn the_guard_lives_as_long_as_something_waits_in_the_kernel() {
    let backing = tempfile::tempdir().unwrap();
    let Some(mount) = FuseMount::start(backing.path()) else { return };
    let outside = tempfile::tempdir().unwrap();
    let guard = outside.path().join("guard");
    let spec = shell_command("ls -l /proc/self/cwd/", TaskOutput::Discard);
    probe(mount.path(), &spec).unwrap();
    mount.hang(FuseCall::Readdir, "*");
    let probe = start(mount.path(), &guard, &spec);
    assert!(mount.wait_until_held(1, PATIENCE));
    let guard = guard_in(&guard);
    probe.kill();
    // What hangs in the kernel cannot be killed: that is what the guard tells.
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert!(lives(guard), "ls waits in the kernel, and the guard for it");
    mount.release();
    assert!(wait_until(|| !lives(guard)), "nothing hangs any more");
}

#[test]
fn a_listing_that_is_killed_with_its_probe_stays_in_the_group_while_it_hangs() {
    let backing = tempfile::tempdir().unwrap();
    let Some(mount) = FuseMount::start(backing.path()) else { return };
    let outside = tempfile::tempdir().unwrap();
    let spec = TaskSpec::List { files: 2, output: TaskOutput::Discard };
    probe(mount.path(), &spec).unwrap();
    mount.hang(FuseCall::Opendir, "listed-2");
    mount.hang(FuseCall::Readdir, "listed-2");
    let probe = start(mount.path(), &outside.path().join("guard"), &spec);
    assert!(mount.wait_until_held(1, PATIENCE));
    let group = probe.process;
    probe.kill();
    // SAFETY: asks whether the group has members, and does nothing to them.
    let has_members = || unsafe { libc::kill(-group, 0) } == 0;
    assert!(has_members(), "ls waits in the kernel");
    mount.release();
    assert!(wait_until(|| !has_members()), "it died with its probe");
}
