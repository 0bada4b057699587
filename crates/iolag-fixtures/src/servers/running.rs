//! A server that runs until it is dropped.

use std::fs;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

use crate::skipping::tell_what_is_left;

/// For a start on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// For what each signal to end is given.
const FAREWELL: Duration = Duration::from_secs(10);
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// How often a port is looked for that nobody takes before the server does.
const PORTS_MAX: u32 = 5;

/// What makes the command for a directory and a port.
type Making = Box<dyn Fn(&Path, u16) -> Command + Send + Sync>;

/// A process that serves a port, and its directory.
pub(super) struct Running {
    pub(super) directory: PathBuf,
    pub(super) port: u16,
    server: Child,
    command: Making,
}

impl std::fmt::Debug for Running {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Running")
            .field("directory", &self.directory)
            .field("port", &self.port)
            .finish()
    }
}

impl Running {
    /// Starts what `command` makes for a port and a directory, and waits until the port is served.
    ///
    /// # Panics
    /// If it does not come to serve: the fixture is broken, not the machine poor.
    pub(super) fn start(
        directory: PathBuf,
        command: impl Fn(&Path, u16) -> Command + Send + Sync + 'static,
    ) -> Self {
        for attempt in 1.. {
            let port = free_port();
            let (mut server, said) = launch(&directory, command(&directory, port), port);
            if said.is_none() {
                return Self { directory, port, server, command: Box::new(command) };
            }
            let said = said.unwrap_or_default();
            let _ = server.kill();
            let _ = server.wait();
            assert!(said.contains("in use") && attempt < PORTS_MAX, "it does not serve: {said}");
        }
        unreachable!("the loop ends with a server or a panic")
    }

    /// Starts it again on its port, after it was killed.
    ///
    /// # Panics
    /// If it does not come to serve.
    pub(super) fn restart(&mut self) {
        let (server, said) = launch(&self.directory, (self.command)(&self.directory, self.port), self.port);
        self.server = server;
        assert_eq!(said, None, "it does not serve again");
    }

    /// The process.
    pub(super) fn id(&self) -> u32 {
        self.server.id()
    }

    /// Ends the process at once, as a crash would.
    pub(super) fn kill(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }

    /// Asks the process to end (SIGTERM), and then does not ask.
    fn end(&mut self) -> bool {
        let process = Pid::from_child(&self.server);
        [Signal::TERM, Signal::KILL].into_iter().any(|signal| {
            // Already gone is what is wanted.
            let _ = rustix::process::kill_process(process, signal);
            let begin = Instant::now();
            while begin.elapsed() < FAREWELL {
                if !matches!(self.server.try_wait(), Ok(None)) {
                    return true;
                }
                std::thread::sleep(POLL_INTERVAL);
            }
            false
        })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.end() {
            // What cannot be removed are files among the temporary ones.
            let _ = fs::remove_dir_all(&self.directory);
        } else {
            tell_what_is_left(&format!("a server, process {}, which does not end", self.server.id()));
        }
    }
}

/// The server, and what it has said if it does not serve.
fn launch(directory: &Path, mut command: Command, port: u16) -> (Child, Option<String>) {
    let log = directory.join("log");
    let file = fs::File::create(&log).expect("a directory that was just made can be written");
    let errors = file.try_clone().expect("a file has a second descriptor");
    command.stdin(Stdio::null()).stdout(file).stderr(errors).current_dir("/");
    // SAFETY: between fork and exec this makes one system call and allocates nothing.
    unsafe {
        // A killed test leaves no server behind.
        command.pre_exec(|| Ok(rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?));
    }
    let mut server =
        command.spawn().unwrap_or_else(|error| panic!("{command:?} could not be started: {error}"));
    let said = (!serves(&mut server, port)).then(|| fs::read_to_string(&log).unwrap_or_default());
    (server, said)
}

fn serves(server: &mut Child, port: u16) -> bool {
    let begin = Instant::now();
    while begin.elapsed() < PATIENCE && matches!(server.try_wait(), Ok(None)) {
        if TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return true;
        }
        std::thread::sleep(POLL_INTERVAL);
    }
    false
}

/// A port of the loopback that nobody had a moment ago.
pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("the loopback has a free port");
    listener.local_addr().expect("a bound socket has an address").port()
}

/// A program that `cargo xtask test` builds and installs outside of the clone, or one on the path.
pub(super) fn program(name: &str) -> Option<PathBuf> {
    let home = || std::env::home_dir().map(|home| home.join(".cache/iolag/servers"));
    let own = std::env::var_os("IOLAG_SERVERS")
        .map(PathBuf::from)
        .or_else(home)
        .map(|directory| directory.join(name));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let others = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]);
    own.into_iter().chain(others.map(|directory| directory.join(name))).find(|program| program.is_file())
}
