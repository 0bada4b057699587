//! Driving the real program: each scene has a store, a home and a target of its own, every wait is bounded, and nothing
//! that was started outlives its test.

#![allow(dead_code, reason = "each test binary uses a part of this")]

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use iolag_fixtures::tell_what_is_left;

/// For whatever must happen on a busy machine, unless something hangs.
pub const PATIENCE: Duration = Duration::from_secs(90);
/// For what was killed to be gone, where nothing is asserted any more.
const FAREWELL: Duration = Duration::from_secs(5);
const POLL: Duration = Duration::from_millis(5);
/// Every process of a scene carries it in its environment, so that survivors are found.
const MARK: &str = "IOLAG_TEST_SCENE";

/// The caches of this machine, of which one test at a time has what is in them: who makes them cold empties them for everybody. Held as
/// long as it lives; nothing where these arguments leave caches as they are, or where this process cannot drop any.
pub fn caches_of_the_machine(arguments: &[&str]) -> Option<fs::File> {
    let makes_them = arguments.iter().skip_while(|word| **word != "--caches").nth(1);
    makes_them.filter(|state| **state != "asis")?;
    // No test has a directory in common with the others. The switch is the machine's, and each opens it as the same file.
    let switch = fs::File::options().write(true).open("/proc/sys/vm/drop_caches").ok()?;
    switch.lock().unwrap();
    Some(switch)
}

/// A store, a home and a target that nobody else uses.
pub struct Scene {
    directory: tempfile::TempDir,
    mark: String,
}

impl Scene {
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let directory = tempfile::tempdir().unwrap();
        for name in ["home", "target"] {
            fs::create_dir(directory.path().join(name)).unwrap();
        }
        Self { directory, mark: format!("{}-{number}", std::process::id()) }
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    pub fn target(&self) -> PathBuf {
        self.path().join("target")
    }

    pub fn store(&self) -> PathBuf {
        self.path().join("store")
    }

    pub fn home(&self) -> PathBuf {
        self.path().join("home")
    }

    /// The program without a store named.
    pub fn bare_command(&self, program: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env(MARK, &self.mark)
            .env("HOME", self.home())
            .env("XDG_DATA_HOME", self.home().join("data"))
            .env_remove("IOLAG_STORE")
            .env_remove("IOLAG_HISTORY")
            .current_dir(self.path())
            .stdin(Stdio::null());
        // Tests may run in the background of a shell, which ignores Ctrl-C there; the program is to see it.
        // SAFETY: between fork and exec only system calls are made.
        unsafe {
            command.pre_exec(|| {
                for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
                    libc::signal(signal, libc::SIG_DFL);
                }
                Ok(())
            });
        }
        command
    }

    /// The program with the scene's store.
    pub fn command(&self, arguments: &[&str]) -> Command {
        self.command_of(Path::new(env!("CARGO_BIN_EXE_iolag")), arguments)
    }

    /// A copy of the program with the scene's store.
    pub fn command_of(&self, program: &Path, arguments: &[&str]) -> Command {
        let store = self.store();
        let mut all = vec!["--store", store.to_str().unwrap()];
        all.extend(arguments);
        self.bare_command(program, &all)
    }

    /// Starts the program with the scene's store.
    pub fn start(&self, arguments: &[&str]) -> Running {
        Running::start(self.command(arguments))
    }

    /// Runs the program with the scene's store to its end.
    pub fn run(&self, arguments: &[&str]) -> Finished {
        let _caches = caches_of_the_machine(arguments);
        self.start(arguments).finish()
    }

    /// `bench metadata` on `target`, with a working set that takes about a second.
    pub fn bench_arguments<'a>(target: &'a str, more: &[&'a str]) -> Vec<&'a str> {
        let mut arguments = vec!["bench", "metadata", target, "-D2", "-P200", "-I50"];
        arguments.extend(more);
        arguments
    }

    /// The samples of the last run as `iolag export` writes them.
    pub fn exported(&self) -> Vec<Exported> {
        let done = self.run(&["export", "last", "--format", "json"]);
        assert_eq!(done.code, Some(0), "{done:?}");
        exported(&done.stdout)
    }

    /// Asserts that within `PATIENCE` no process of this scene is left.
    pub fn assert_nobody_is_left(&self) {
        let nobody = wait_until(PATIENCE, || self.processes().is_empty());
        assert!(nobody, "processes are left: {:?}", self.processes());
    }

    /// Processes of this scene that live.
    pub fn processes(&self) -> Vec<(u32, String)> {
        self.find_processes().unwrap()
    }

    fn find_processes(&self) -> std::io::Result<Vec<(u32, String)>> {
        let wanted = format!("{MARK}={}", self.mark);
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc")?.flatten() {
            let Some(process) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
                continue;
            };
            let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
            if environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes()) {
                let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
                found.push((process, stat));
            }
        }
        Ok(found)
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        // Whatever the test has said counts; nothing here may fail, and nothing is waited for for long.
        let mut left = Vec::new();
        let are_gone = wait_until(FAREWELL, || {
            left = self.find_processes().unwrap_or_default();
            left.iter().for_each(|(process, _)| kill(*process, libc::SIGKILL));
            left.is_empty()
        });
        if !are_gone {
            tell_what_is_left(&format!("{left:?}"));
        }
    }
}

/// A sample as it was exported.
#[derive(Debug, Clone)]
pub struct Exported {
    pub client: u64,
    pub sequence: u64,
    pub operation: String,
    pub outcome: String,
    /// By the monotonic clock.
    pub start: Duration,
    pub duration: Duration,
}

pub fn exported(lines: &str) -> Vec<Exported> {
    lines
        .lines()
        .map(|line| {
            let value: serde_json::Value = serde_json::from_str(line).unwrap();
            let attempt = value["attempt"].as_u64().unwrap();
            Exported {
                client: attempt >> 40,
                sequence: attempt & ((1 << 40) - 1),
                operation: value["operation"].as_str().unwrap().to_owned(),
                outcome: value["outcome"].as_str().unwrap().to_owned(),
                start: Duration::from_nanos(value["start_ns"].as_u64().unwrap()),
                duration: Duration::from_nanos(value["duration_ns"].as_u64().unwrap()),
            }
        })
        .collect()
}

/// Asserts that no sample is missing: the numbers of each client go from 0 without a gap. Returns how many there are.
pub fn assert_gapless(samples: &[Exported]) -> usize {
    const OF_THE_KEEPER: u64 = (1 << 40) - 1;
    let mut clients: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for sample in samples.iter().filter(|sample| sample.sequence != OF_THE_KEEPER) {
        clients.entry(sample.client).or_default().push(sample.sequence);
    }
    for (client, mut numbers) in clients {
        numbers.sort_unstable();
        let expected: Vec<u64> = (0..numbers.len() as u64).collect();
        assert!(numbers == expected, "client {client} lacks or doubles samples: {numbers:?}");
    }
    samples.len()
}

/// The program while it runs. Killed when dropped.
pub struct Running {
    child: Child,
    started: Instant,
    stdout: Heard,
    stderr: Heard,
}

struct Heard {
    /// Not text yet: a letter of several bytes may come in two pieces.
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
}

/// How the program ended.
#[derive(Debug)]
pub struct Finished {
    pub code: Option<i32>,
    pub signal: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    pub elapsed: Duration,
}

impl Heard {
    fn new(mut source: impl Read + Send + 'static) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&bytes);
        let reader = std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(read @ 1..) = source.read(&mut buffer) {
                kept.lock().unwrap().extend_from_slice(&buffer[..read]);
            }
        });
        Self { bytes, reader: Some(reader) }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes.lock().unwrap()).into_owned()
    }

    fn has_ended(&self) -> bool {
        self.reader.as_ref().is_none_or(JoinHandle::is_finished)
    }
}

impl Running {
    pub fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let stdout = Heard::new(child.stdout.take().unwrap());
        let stderr = Heard::new(child.stderr.take().unwrap());
        Self { child, started: Instant::now(), stdout, stderr }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn signal(&self, signal: i32) {
        kill(self.id(), signal);
    }

    pub fn stdout(&self) -> String {
        self.stdout.text()
    }

    pub fn stderr(&self) -> String {
        self.stderr.text()
    }

    /// Waits until the program has said this on standard error.
    pub fn wait_for(&mut self, text: &str) {
        let said = wait_until(PATIENCE, || self.stderr().contains(text) || self.has_ended());
        assert!(said && self.stderr().contains(text), "{text:?} was not said: {}", self.stderr());
    }

    pub fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Waits for the end, and that nobody holds its output any more.
    pub fn finish(mut self) -> Finished {
        let ended =
            wait_until(PATIENCE, || self.has_ended() && self.stdout.has_ended() && self.stderr.has_ended());
        let (stdout, stderr) = (self.stdout.text(), self.stderr.text());
        assert!(ended, "the program, or whoever holds its output, does not end: {stdout}\n{stderr}");
        let status = self.child.wait().unwrap();
        Finished {
            code: status.code(),
            signal: status.signal(),
            stdout,
            stderr,
            elapsed: self.started.elapsed(),
        }
    }

    /// The writer: the child that holds files of a spool open.
    pub fn writer(&self) -> Option<u32> {
        children(self.id()).into_iter().find(|child| holds_spool(*child))
    }

    /// The measurer: the child whose threads have begun.
    pub fn measurer(&self) -> Option<u32> {
        children(self.id()).into_iter().find(|child| threads(*child) > 1)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The guard of a test that failed; after `finish` the child is gone.
        end(&mut self.child);
    }
}

/// Ends a child and waits for that, but not for long: one that waits in the kernel for a mount ends only when that is given up, and
/// fixtures that were there before it are dropped after it.
pub fn end(child: &mut Child) {
    let _ = child.kill();
    wait_until(FAREWELL, || !matches!(child.try_wait(), Ok(None)));
}

/// Waits until `condition` holds; returns whether it did within `limit`.
pub fn wait_until(limit: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    loop {
        if condition() {
            return true;
        }
        if start.elapsed() > limit {
            return false;
        }
        std::thread::sleep(POLL);
    }
}

/// Like [`wait_until`], for something that appears.
pub fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let mut found = None;
    wait_until(PATIENCE, || {
        found = look();
        found.is_some()
    });
    found.unwrap_or_else(|| panic!("{what} did not appear"))
}

pub fn kill(process: u32, signal: i32) {
    // SAFETY: kill takes plain numbers; a process that is gone is no harm.
    unsafe { libc::kill(process as i32, signal) };
}

pub fn children(process: u32) -> Vec<u32> {
    let listed = fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap_or_default();
    listed.split_ascii_whitespace().filter_map(|child| child.parse().ok()).collect()
}

fn threads(process: u32) -> usize {
    fs::read_dir(format!("/proc/{process}/task")).map_or(0, Iterator::count)
}

fn holds_spool(process: u32) -> bool {
    let Ok(descriptors) = fs::read_dir(format!("/proc/{process}/fd")) else { return false };
    let mut names = descriptors.flatten().filter_map(|entry| fs::read_link(entry.path()).ok());
    names.any(|name| name.extension().is_some_and(|extension| extension == "spool"))
}

/// Names in a directory that iolag would have made.
pub fn leftovers(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with("iolag")).collect()
}

/// Asserts that something was said in whole sentences that begin with the program's name.
pub fn assert_says(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is missing in: {text}");
    }
}

/// Removes a run that was kept in memory, and the store there if that was its last run.
pub fn remove_rescued_run(run: &Path) -> std::io::Result<()> {
    fs::remove_dir_all(run)?;
    for directory in run.ancestors().skip(1).take(2) {
        // Other tests and users may keep runs there.
        let _ = fs::remove_dir(directory);
    }
    Ok(())
}
