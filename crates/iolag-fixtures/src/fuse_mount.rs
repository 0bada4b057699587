//! A FUSE mount in the hands of a test.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command as Program, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::fuse_daemon::USUAL_LIFE;
use crate::fuse_rules::{Command, FuseCall, Rule, Verdict};
use crate::mounts::{detach, new_directory};
use crate::skipping::{current_test, skip, skip_unless_root, tell_what_is_left};

/// The environment variable that names the daemon's binary, so that it need not be built here.
const DAEMON_VARIABLE: &str = "IOLAG_FUSE_FIXTURE";
/// For everything that a living daemon does at once, on a machine that has other things to do.
const PATIENCE: Duration = Duration::from_secs(60);
/// For each step of a drop: those after it free the callers, too.
const FAREWELL: Duration = Duration::from_secs(10);
const POLL_INTERVAL: Duration = Duration::from_millis(5);
const CONNECTIONS: &str = "/sys/fs/fuse/connections";

/// A directory mounted through FUSE by a process of its own, which answers as it is told.
///
/// While a request hangs, its caller first sleeps (state S) and, once it was sent SIGKILL, is unkillable (state D)
/// until [`FuseMount::release`] or the drop of this. Dropping answers what is held, aborts the connection, unmounts
/// and ends the process, whatever hangs.
#[derive(Debug)]
pub struct FuseMount {
    mount_point: PathBuf,
    directory: PathBuf,
    connection_number: Option<u32>,
    control: Mutex<BufReader<UnixStream>>,
    daemon: Child,
}

impl FuseMount {
    /// Mounts `backing` (a directory, which stays as it is afterwards) at a new directory among the temporary files.
    ///
    /// Returns `None`, the current test named as skipped, without /dev/fuse or root.
    ///
    /// # Panics
    /// If the daemon cannot be built or does not serve within 60 s: the fixture is broken, not the machine poor.
    pub fn start(backing: &Path) -> Option<Self> {
        Self::start_for(backing, USUAL_LIFE)
    }

    /// The same for a test that takes long: the mount vanishes after `longest_life`, whatever becomes of the test.
    ///
    /// # Panics
    /// As [`FuseMount::start`].
    pub fn start_for(backing: &Path, longest_life: Duration) -> Option<Self> {
        if skip_unless_root() {
            return None;
        }
        if let Err(error) = fs::OpenOptions::new().read(true).write(true).open("/dev/fuse") {
            skip(&current_test(), &format!("/dev/fuse cannot be opened: {error}"));
            return None;
        }
        let directory = new_directory("fuse");
        let (mount_point, socket) = (directory.join("mount"), directory.join("control"));
        fs::create_dir(&mount_point).expect("a directory that was just made can be written");
        let mut daemon = Program::new(daemon_binary())
            .args([backing, &mount_point, &socket])
            .arg(longest_life.as_secs().to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .current_dir("/")
            .spawn()
            .unwrap_or_else(|error| panic!("the FUSE daemon could not be started: {error}"));
        let control = connect(&mut daemon, &socket, &mount_point);
        let connection_number = connection_number(&mount_point);
        Some(Self { mount_point, directory, connection_number, control: Mutex::new(control), daemon })
    }

    /// Where it is mounted.
    pub fn path(&self) -> &Path {
        &self.mount_point
    }

    /// The process id of the daemon, for example to stop it.
    pub fn daemon_pid(&self) -> u32 {
        self.daemon.id()
    }

    /// From now on takes every request and answers none.
    pub fn hang_all(&self) {
        self.add(None, "*", Verdict::Hang);
    }

    /// From now on takes requests of this kind about this name (last component, `*` for any text) without answering.
    pub fn hang(&self, call: FuseCall, name: &str) {
        self.add(Some(call), name, Verdict::Hang);
    }

    /// From now on executes requests of this kind about this name at once, and does not answer them.
    pub fn withhold(&self, call: FuseCall, name: &str) {
        self.add(Some(call), name, Verdict::Withhold);
    }

    /// From now on counts the requests that change something, executes the one with this number, from 1, and does not answer it.
    pub fn withhold_change(&self, change: u32) {
        self.tell(&Command::Trap { change, verdict: Verdict::Withhold });
    }

    /// From now on counts the requests that change something, and answers the one with this number, from 1, with `errno`, without
    /// executing it.
    pub fn fail_change(&self, change: u32, errno: i32) {
        self.tell(&Command::Trap { change, verdict: Verdict::Fail(errno) });
    }

    /// How many requests have changed something since then.
    ///
    /// # Panics
    /// If the daemon does not answer within 60 s.
    pub fn changes(&self) -> u32 {
        let answer = self.tell(&Command::Changes);
        answer.parse().unwrap_or_else(|_| panic!("the FUSE daemon answered {answer:?} instead of a count"))
    }

    /// From now on executes and answers every request after `time`, which is rounded down to milliseconds.
    pub fn delay_all(&self, time: Duration) {
        self.add(None, "*", Verdict::Delay(time));
    }

    /// From now on serves one request at a time, each for `time`, which is rounded down to milliseconds, in the order in which they come.
    pub fn serve_one_at_a_time(&self, time: Duration) {
        self.add(None, "*", Verdict::Serial(time));
    }

    /// How many requests came since the mount, of this kind or of all, about this name (last component, `*` for any text).
    ///
    /// # Panics
    /// If the daemon does not answer within 60 s.
    pub fn requests(&self, call: Option<FuseCall>, name: &str) -> u64 {
        let answer = self.tell(&Command::Requests { call, pattern: name.to_owned() });
        answer.parse().unwrap_or_else(|_| panic!("the FUSE daemon answered {answer:?} instead of a count"))
    }

    /// From now on executes and answers requests of this kind about this name after `time`.
    pub fn delay(&self, call: FuseCall, name: &str, time: Duration) {
        self.add(Some(call), name, Verdict::Delay(time));
    }

    /// From now on answers requests of this kind about this name with `errno`, without executing them.
    pub fn fail(&self, call: FuseCall, name: &str, errno: i32) {
        self.add(Some(call), name, Verdict::Fail(errno));
    }

    /// From now on answers every request with `errno`.
    pub fn fail_all(&self, errno: i32) {
        self.add(None, "*", Verdict::Fail(errno));
    }

    /// From now on answers requests of this kind about this name at once, whatever was said before.
    pub fn answer(&self, call: FuseCall, name: &str) {
        self.add(Some(call), name, Verdict::Answer);
    }

    /// Forgets what was said, executes and answers everything that is held.
    pub fn release(&self) {
        self.tell(&Command::Release);
    }

    /// How many requests were taken and are not answered.
    ///
    /// # Panics
    /// If the daemon does not answer within 60 s, as all methods that speak with it.
    pub fn held(&self) -> usize {
        let answer = self.tell(&Command::Held);
        answer.parse().unwrap_or_else(|_| panic!("the FUSE daemon answered {answer:?} instead of a count"))
    }

    /// Waits until at least `count` requests are held; returns whether that happened in time.
    pub fn wait_until_held(&self, count: usize, limit: Duration) -> bool {
        wait_until(limit, || self.held() >= count)
    }

    /// Makes the kernel give up the connection: everybody who waits gets ENOTCONN, and so does everybody later.
    ///
    /// # Errors
    /// If the connection is unknown, or the fusectl file system can be neither found nor mounted.
    pub fn abort(&self) -> std::io::Result<()> {
        let number = self.connection_number.ok_or(std::io::ErrorKind::NotFound)?;
        let file = format!("{CONNECTIONS}/{number}/abort");
        if !Path::new(&file).exists() {
            let flags = rustix::mount::MountFlags::empty();
            // Somebody else may do the same at this moment; whether the file is there now is what counts.
            let _ = rustix::mount::mount(c"none", CONNECTIONS, c"fusectl", flags, c"");
        }
        fs::OpenOptions::new().write(true).open(file)?.write_all(b"1")
    }

    fn add(&self, call: Option<FuseCall>, pattern: &str, verdict: Verdict) {
        let answer = self.tell(&Command::Add(Rule { call, pattern: pattern.to_owned(), verdict }));
        assert_eq!(answer, "ok", "the FUSE daemon refused a rule");
    }

    fn tell(&self, command: &Command) -> String {
        let answer = self.try_to_tell(command);
        answer.unwrap_or_else(|error| panic!("the FUSE daemon did not answer {command:?}: {error}"))
    }

    fn limit_answers_to(&self, limit: Duration) -> std::io::Result<()> {
        let control = self.control.lock().unwrap_or_else(PoisonError::into_inner);
        control.get_ref().set_read_timeout(Some(limit))?;
        control.get_ref().set_write_timeout(Some(limit))
    }

    fn try_to_tell(&self, command: &Command) -> std::io::Result<String> {
        let mut control = self.control.lock().unwrap_or_else(PoisonError::into_inner);
        let mut answer = String::new();
        control.get_mut().write_all(format!("{command}\n").as_bytes())?;
        control.read_line(&mut answer)?;
        Ok(answer.trim_end().to_owned())
    }
}

impl Drop for FuseMount {
    fn drop(&mut self) {
        // Each step frees the callers by itself; a failed one is made good by the next. The connection is aborted before the daemon is
        // killed: who waits in the kernel for it would not die with it.
        let _ = self.limit_answers_to(FAREWELL).and_then(|()| self.try_to_tell(&Command::Release));
        let _ = self.abort();
        detach(&self.mount_point);
        let _ = self.daemon.kill();
        if !wait_until(FAREWELL, || !matches!(self.daemon.try_wait(), Ok(None))) {
            tell_what_is_left(&format!("the FUSE daemon, process {}, which does not end", self.daemon.id()));
        }
        // Never recursively: if the mount is still there, its content is the backing directory's.
        let _ = fs::remove_file(self.directory.join("control"));
        let _ = fs::remove_dir(&self.mount_point);
        let _ = fs::remove_dir(&self.directory);
    }
}

fn wait_until(limit: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    loop {
        if condition() {
            return true;
        }
        if start.elapsed() > limit {
            return false;
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// The control socket exists as soon as the mount is there.
fn connect(daemon: &mut Child, socket: &Path, mount_point: &Path) -> BufReader<UnixStream> {
    let mut connection = None;
    let mut ended = false;
    wait_until(PATIENCE, || {
        connection = UnixStream::connect(socket).ok();
        ended = !matches!(daemon.try_wait(), Ok(None));
        connection.is_some() || ended
    });
    let Some(connection) = connection else {
        let _ = daemon.kill();
        detach(mount_point);
        ended |= wait_until(FAREWELL, || !matches!(daemon.try_wait(), Ok(None)));
        let mut complaint = String::new();
        if let (true, Some(mut stderr)) = (ended, daemon.stderr.take()) {
            let _ = stderr.read_to_string(&mut complaint);
        }
        panic!("the FUSE daemon does not serve: {}", complaint.trim());
    };
    connection
        .set_read_timeout(Some(PATIENCE))
        .and_then(|()| connection.set_write_timeout(Some(PATIENCE)))
        .expect("a time that is not zero can be set on a socket");
    BufReader::new(connection)
}

/// The number of the connection is the minor device number, which the mount table tells without asking the mount.
fn connection_number(mount_point: &Path) -> Option<u32> {
    let table = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let line = table.lines().find(|line| line.split(' ').nth(4).map(Path::new) == Some(mount_point))?;
    line.split(' ').nth(2)?.split_once(':')?.1.parse().ok()
}

/// The daemon's binary: named by the environment, or built once per process next to the running test.
///
/// Cargo builds no binaries of a dependency, so the tests of another crate have to ask for it.
fn daemon_binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| match std::env::var_os(DAEMON_VARIABLE) {
        Some(path) => path.into(),
        None => build_daemon(),
    })
}

fn build_daemon() -> PathBuf {
    const NAME: &str = "iolag-fuse-fixture";
    let test = std::env::current_exe().expect("a running program has a path");
    // …/TARGET/PROFILE/deps/test-0123456789abcdef
    let profile_directory = test.parent().and_then(Path::parent).expect("cargo puts tests into PROFILE/deps");
    let target_directory = profile_directory.parent().expect("cargo puts profiles into the target directory");
    let profile = match profile_directory.file_name().and_then(|name| name.to_str()) {
        Some("debug") | None => "dev",
        Some(name) => name,
    };
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    // Any directory of the workspace does; the one told at run time is right after the clone was moved, too.
    let workspace =
        std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    let output = Program::new(cargo)
        .args(["build", "--quiet", "--package", env!("CARGO_PKG_NAME"), "--bin", NAME, "--profile", profile])
        .arg("--target-dir")
        .arg(target_directory)
        .current_dir(&workspace)
        .output()
        .unwrap_or_else(|error| panic!("cargo could not be started to build {NAME}: {error}"));
    if !output.status.success() {
        panic!("cargo could not build {NAME}: {}", String::from_utf8_lossy(&output.stderr));
    }
    profile_directory.join(NAME)
}
