//! The guard of one test: a process between the runner and the test, so that nothing outlives the test and the runner waits for nothing.
//!
//! `xtask guard SECONDS DIRECTORY PROGRAM ARGUMENT…` runs PROGRAM with its output in DIRECTORY/output and DIRECTORY/tmp for its temporary
//! files, and prints a [`Report`].
//!
//! Invariants:
//! - Whoever the test starts stays a descendant of the guard, also when its parent ends: the guard is a child subreaper (prctl(2)).
//! - As root, the test mounts in a mount namespace of its own: what it leaves mounted is seen by nobody else and goes with it.
//! - FUSE connections are aborted before anything is killed: who waits for a dead file server cannot be killed.
//! - Every wait is bounded. If the runner goes away, the guard ends the test and removes DIRECTORY.
//!
//! Limits: a process that waits in the kernel for anything but FUSE cannot be ended; it is named as stuck. If the guard itself is killed, only
//! the test ends with it, not whom the test started.

use std::ffi::OsString;
use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, getpid, getppid};

use super::processes::{Process, descendants};
use super::report::{End, Report};
use super::space::{Space, names_in};

/// What is about to end when its test has ended is not left behind.
const GRACE: Duration = Duration::from_secs(3);
/// For processes to go that were killed.
const PATIENCE: Duration = Duration::from_secs(20);
/// How often is looked whether the runner is still there.
const LOOK_INTERVAL: Duration = Duration::from_millis(200);
const KILL_INTERVAL: Duration = Duration::from_millis(50);

/// Runs one test to its end and prints the report.
pub fn guard(words: &[&str]) -> Result<ExitCode> {
    let order = Order::parse(words)?;
    let runner = getppid();
    rustix::process::set_child_subreaper(Some(getpid())).context("becoming a subreaper")?;
    set_signals(libc::SIG_IGN);
    // The guard leads the session, and the test does not: a leader that opens a terminal gets its hang-up. (Refused to who leads already.)
    let _ = rustix::process::setsid();
    let space = Space::enter();
    let test = order.start()?;
    let (tell, reaped) = channel();
    std::thread::spawn(move || reap(&tell));
    let watch = Watch { runner, test, reaped, limit: order.limit };
    let end = watch.wait();
    let mut report = Report { end, ..Report::default() };
    watch.clear(&space, &mut report);
    report.left.extend(space.unmount_rest());
    report.left.extend(space.files_in_memory());
    report.left.extend(names_in(&order.temporary()).map(|names| format!("temporary files: {names}")));
    if getppid() != runner {
        order.remove();
    }
    // A runner that went away reads nothing.
    let _ = std::io::stdout().write_all(report.to_string().as_bytes());
    Ok(ExitCode::SUCCESS)
}

/// What the guard is asked for.
struct Order {
    limit: Duration,
    directory: PathBuf,
    program: OsString,
    arguments: Vec<OsString>,
}

impl Order {
    fn parse(words: &[&str]) -> Result<Self> {
        let [seconds, directory, program, arguments @ ..] = words else {
            bail!("usage: xtask guard SECONDS DIRECTORY PROGRAM ARGUMENT…")
        };
        Ok(Self {
            limit: Duration::from_secs_f64(seconds.parse().context("the limit is a number of seconds")?),
            directory: directory.into(),
            program: program.into(),
            arguments: arguments.iter().map(OsString::from).collect(),
        })
    }

    fn temporary(&self) -> PathBuf {
        self.directory.join("tmp")
    }

    /// Starts the test as a shell does in the foreground: a process group of its own, and signals that act.
    fn start(&self) -> Result<Pid> {
        let temporary = self.temporary();
        fs::create_dir(&temporary)
            // As /tmp is: some tests become another user.
            .and_then(|()| fs::set_permissions(&temporary, Permissions::from_mode(0o1777)))
            .with_context(|| format!("making {}", temporary.display()))?;
        let path = self.directory.join("output");
        let output = File::options()
            .append(true)
            .create_new(true)
            .open(&path)
            .with_context(|| format!("making {}", path.display()))?;
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .env("TMPDIR", temporary)
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(output.try_clone().context("doubling a descriptor")?)
            .stderr(output);
        // SAFETY: between fork and exec only system calls are made.
        unsafe {
            command.pre_exec(|| {
                set_signals(libc::SIG_DFL);
                let mut none = std::mem::zeroed();
                libc::sigemptyset(&raw mut none);
                libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
                // If the guard is killed, its test has nobody to clear up after it.
                Ok(rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?)
            });
        }
        let child =
            command.spawn().with_context(|| format!("starting {}", self.program.to_string_lossy()))?;
        Ok(Pid::from_child(&child))
    }

    /// Does what the runner would have done. What cannot be removed are files among the temporary ones.
    fn remove(&self) {
        let _ = fs::remove_dir_all(&self.directory);
        // The last guard finds the runner's directory empty.
        let _ = self.directory.parent().map(fs::remove_dir);
    }
}

/// A started test, and who waits for it.
struct Watch {
    runner: Option<Pid>,
    test: Pid,
    reaped: Receiver<Reaped>,
    limit: Duration,
}

/// A descendant that ended, or that there are none any more.
enum Reaped {
    Process(Pid, ExitStatus),
    Nobody,
}

/// Collects whoever ended, at once: a test that looks whether a process is gone is not to find it as a zombie.
fn reap(tell: &Sender<Reaped>) {
    loop {
        let reaped = match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((process, status))) => Reaped::Process(process, ExitStatus::from_raw(status.as_raw())),
            Ok(None) | Err(Errno::INTR) => continue,
            Err(_) => Reaped::Nobody,
        };
        let is_last = matches!(reaped, Reaped::Nobody);
        // Nobody listens once the report is printed.
        let _ = tell.send(reaped);
        if is_last {
            return;
        }
    }
}

impl Watch {
    fn wait(&self) -> End {
        let begin = Instant::now();
        loop {
            match self.reaped.recv_timeout(LOOK_INTERVAL) {
                Ok(Reaped::Process(process, status)) if process == self.test => {
                    return status.signal().map_or(End::Code(status.code().unwrap_or(-1)), End::Signal);
                }
                Ok(_) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return End::Code(-1),
            }
            if getppid() != self.runner {
                return End::Abandoned;
            }
            if begin.elapsed() > self.limit {
                return End::Limit;
            }
        }
    }

    /// Ends whoever is still there, and names them.
    fn clear(&self, space: &Space, report: &mut Report) {
        let grace = if matches!(report.end, End::Limit | End::Abandoned) { Duration::ZERO } else { GRACE };
        if self.is_nobody_left_within(grace) {
            return;
        }
        let describe = |processes: &[Process]| processes.iter().map(Process::to_string).collect();
        let processes = descendants(getpid());
        // Before anything is asked for that a process may hold while it waits, as its command line.
        space.abort_fuse(&processes);
        report.left = describe(&processes);
        let begin = Instant::now();
        while begin.elapsed() < PATIENCE {
            let processes = descendants(getpid());
            space.abort_fuse(&processes);
            for process in &processes {
                // Who is gone by now is gone.
                let _ = rustix::process::kill_process(process.id, Signal::KILL);
            }
            if self.is_nobody_left_within(KILL_INTERVAL) {
                return;
            }
        }
        report.stuck = describe(&descendants(getpid()));
    }

    fn is_nobody_left_within(&self, time: Duration) -> bool {
        let begin = Instant::now();
        loop {
            match self.reaped.recv_timeout(time.saturating_sub(begin.elapsed())) {
                Ok(Reaped::Nobody) | Err(RecvTimeoutError::Disconnected) => return true,
                Ok(Reaped::Process(..)) => {}
                Err(RecvTimeoutError::Timeout) => return false,
            }
        }
    }
}

/// Ctrl-C and its kin: ignored by the guard, which ends when the runner has gone, and as usual for the test, also if a shell started
/// the whole in the background, where it ignores Ctrl-C.
fn set_signals(disposition: libc::sighandler_t) {
    const KIN: [i32; 7] = [
        libc::SIGINT,
        libc::SIGQUIT,
        libc::SIGTERM,
        libc::SIGHUP,
        libc::SIGTSTP,
        libc::SIGTTIN,
        libc::SIGTTOU,
    ];
    for signal in KIN {
        // SAFETY: neither disposition is a function.
        unsafe { libc::signal(signal, disposition) };
    }
    // Ignored, nobody could be waited for.
    // SAFETY: the same.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
}
