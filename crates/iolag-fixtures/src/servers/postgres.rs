//! A real PostgreSQL server, of this test alone.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

use crate::mounts::new_directory;
use crate::servers::certificates::make_certificates;
use crate::servers::running::free_port;
use crate::skipping::{current_test, skip, tell_what_is_left};

/// Where Debian puts the versions.
const VERSIONS: &str = "/usr/lib/postgresql";
/// For a start on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// For what each signal to end is given.
const FAREWELL: Duration = Duration::from_secs(10);
/// How often a port is looked for that nobody takes before the server does.
const PORTS_MAX: u32 = 5;
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// A server in a directory among the temporary files, on a socket there and a free port of the loopback, with TLS if openssl is
/// there. Its role `iolag` may do everything and has the password [`PostgresServer::PASSWORD`], which is asked for on the port, not on
/// the socket. It forgets nothing at a crash of the server, but at one of the machine. Dropping ends and removes it.
#[derive(Debug)]
pub struct PostgresServer {
    directory: PathBuf,
    programs: PathBuf,
    port: u16,
    authority: Option<PathBuf>,
    server: Child,
}

/// Who runs the server: it refuses to run as root.
#[derive(Debug, Clone, Copy)]
struct Account {
    user: u32,
    group: u32,
}

impl PostgresServer {
    /// The password of the role `iolag`.
    pub const PASSWORD: &'static str = "Schl0ss & Riegel/42";

    /// Starts an empty server.
    ///
    /// Returns `None`, the current test named as skipped, where PostgreSQL is not installed or, as root, no account is found to run it.
    ///
    /// # Panics
    /// If it is installed and does not start: the fixture is broken, not the machine poor.
    pub fn start() -> Option<Self> {
        let Some(programs) = newest_programs() else {
            skip(&current_test(), &format!("PostgreSQL is not installed in {VERSIONS}"));
            return None;
        };
        let Some(account) = account() else {
            skip(
                &current_test(),
                "PostgreSQL does not run as root, and /etc/passwd has neither postgres nor nobody",
            );
            return None;
        };
        let directory = new_directory("postgres");
        own(&directory, account, 0o700);
        initialise(&programs, &directory, account);
        let authority = certificates_of(&directory, account);
        let port = free_port();
        let server = launch(&programs, &directory, account, port, authority.is_some());
        let mut started = Self { directory, programs, port, authority, server };
        let mut ports = 1;
        while let Err(log) = started.wait_until_it_answers() {
            let is_taken = log.contains("Address already in use");
            assert!(is_taken && ports < PORTS_MAX, "the PostgreSQL server does not serve: {log}");
            ports += 1;
            started.port = free_port();
            let has_tls = started.authority.is_some();
            started.server = launch(&started.programs, &started.directory, account, started.port, has_tls);
        }
        Some(started)
    }

    /// The URL of `database` on the port, with role and password.
    pub fn url(&self, database: &str) -> String {
        format!("postgres://iolag:{}@127.0.0.1:{}/{database}", Self::encoded_password(), self.port)
    }

    /// The password as it stands in a URL.
    pub fn encoded_password() -> String {
        Self::PASSWORD.replace(' ', "%20").replace('&', "%26").replace('/', "%2F")
    }

    /// The URL of `database` on the socket, with role and without password.
    pub fn socket_url(&self, database: &str) -> String {
        format!("postgres://iolag@/{database}?host={}&port={}", self.directory.display(), self.port)
    }

    /// The port on the loopback.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// The certificate of the authority that vouches for the server as `localhost`; `None` without openssl.
    pub fn authority(&self) -> Option<&Path> {
        self.authority.as_deref()
    }

    /// What psql answers to `statement` in `database`, as role iolag: rows as lines, columns separated by `|`.
    ///
    /// # Panics
    /// If the statement fails.
    pub fn ask(&self, database: &str, statement: &str) -> String {
        let output = self.psql(database, ["--command", statement]);
        assert!(output.status.success(), "{statement}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }

    /// Has psql execute a dump in `database`, as role iolag.
    ///
    /// # Panics
    /// If one of its statements fails.
    pub fn load(&self, database: &str, dump: &Path) {
        let output = self.psql(database, [OsStr::new("--file"), dump.as_os_str()]);
        assert!(output.status.success(), "{}: {}", dump.display(), String::from_utf8_lossy(&output.stderr));
    }

    fn psql(&self, database: &str, what: [impl AsRef<OsStr>; 2]) -> std::process::Output {
        Command::new(self.programs.join("psql"))
            .args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--username=iolag"])
            .arg("--set=ON_ERROR_STOP=1")
            .args(what)
            .arg(format!("--host={}", self.directory.display()))
            .arg(format!("--port={}", self.port))
            .arg(format!("--dbname={database}"))
            .env_clear()
            .output()
            .unwrap_or_else(|error| panic!("psql could not be started: {error}"))
    }

    /// What the server has written to its log, if it does not come to serve.
    fn wait_until_it_answers(&mut self) -> Result<(), String> {
        let begin = Instant::now();
        while !self.psql("postgres", ["--command", "SELECT 1"]).status.success() {
            let is_over = !matches!(self.server.try_wait(), Ok(None)) || begin.elapsed() > PATIENCE;
            if is_over {
                return Err(fs::read_to_string(self.directory.join("log")).unwrap_or_default());
            }
            std::thread::sleep(POLL_INTERVAL);
        }
        Ok(())
    }

    /// Asks the server to end at once (SIGINT), then to give up (SIGQUIT), and then does not ask.
    fn end(&mut self) -> bool {
        let process = Pid::from_child(&self.server);
        [Signal::INT, Signal::QUIT, Signal::KILL].into_iter().any(|signal| {
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

impl Drop for PostgresServer {
    fn drop(&mut self) {
        if self.end() {
            // What cannot be removed are files among the temporary ones.
            let _ = fs::remove_dir_all(&self.directory);
        } else {
            tell_what_is_left(&format!(
                "a PostgreSQL server, process {}, which does not end",
                self.server.id()
            ));
        }
    }
}

fn newest_programs() -> Option<PathBuf> {
    let version = |path: &PathBuf| path.file_name()?.to_str()?.parse::<u32>().ok();
    let versions = fs::read_dir(VERSIONS).ok()?.flatten().map(|entry| entry.path());
    let newest = versions.filter(|path| path.join("bin/initdb").exists()).max_by_key(version)?;
    Some(newest.join("bin"))
}

/// This process's account; as root that of postgres or nobody.
fn account() -> Option<Account> {
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    if !user.is_root() {
        return Some(Account { user: user.as_raw(), group: group.as_raw() });
    }
    let accounts = fs::read_to_string("/etc/passwd").ok()?;
    ["postgres", "nobody"].iter().find_map(|name| {
        let mut fields = accounts
            .lines()
            .map(|line| line.split(':'))
            .find(|fields| fields.clone().next() == Some(name))?;
        Some(Account { user: fields.nth(2)?.parse().ok()?, group: fields.next()?.parse().ok()? })
    })
}

fn own(path: &Path, account: Account, mode: u32) {
    chown(path, Some(account.user), Some(account.group))
        .and_then(|()| fs::set_permissions(path, fs::Permissions::from_mode(mode)))
        .unwrap_or_else(|error| panic!("{} could not be handed over: {error}", path.display()));
}

fn as_account(program: PathBuf, account: Account) -> Command {
    let mut command = Command::new(program);
    if rustix::process::geteuid().is_root() {
        command.uid(account.user).gid(account.group);
    }
    command.env_clear().env("LC_ALL", "C").current_dir("/").stdin(Stdio::null());
    command
}

fn initialise(programs: &Path, directory: &Path, account: Account) {
    let password = directory.join("password");
    fs::write(&password, PostgresServer::PASSWORD).expect("a directory that was just made can be written");
    own(&password, account, 0o600);
    let output = as_account(programs.join("initdb"), account)
        .args(["--auth-local=trust", "--auth-host=scram-sha-256", "--username=iolag", "--no-sync"])
        .args(["--locale=C", "--encoding=UTF8", "--no-instructions"])
        .arg("--pwfile")
        .arg(password)
        .arg("--pgdata")
        .arg(directory.join("data"))
        .output()
        .unwrap_or_else(|error| panic!("initdb could not be started: {error}"));
    assert!(output.status.success(), "initdb failed: {}", String::from_utf8_lossy(&output.stderr));
}

/// Makes an authority and a certificate for `localhost`; returns the authority's certificate.
fn certificates_of(directory: &Path, account: Account) -> Option<PathBuf> {
    let made = make_certificates(directory, "DNS:localhost", 3650)?;
    own(&made.key, account, 0o600);
    own(&made.certificate, account, 0o644);
    Some(made.authority)
}

fn launch(programs: &Path, directory: &Path, account: Account, port: u16, has_tls: bool) -> Child {
    let log = fs::File::create(directory.join("log")).expect("a directory that was just made can be written");
    let mut command = as_account(programs.join("postgres"), account);
    let setting = |name: &str, value: &str| format!("--{name}={value}");
    command
        .arg("-D")
        .arg(directory.join("data"))
        .arg("-k")
        .arg(directory)
        .arg(setting("listen_addresses", "127.0.0.1"))
        .arg(setting("port", &port.to_string()))
        .args([setting("fsync", "off"), setting("max_connections", "50"), setting("shared_buffers", "32MB")])
        .stdout(Stdio::null())
        .stderr(log);
    if has_tls {
        command
            .arg(setting("ssl", "on"))
            .arg(setting("ssl_cert_file", &directory.join("server.pem").display().to_string()))
            .arg(setting("ssl_key_file", &directory.join("server.key").display().to_string()));
    }
    // SAFETY: between fork and exec this makes one system call and allocates nothing.
    unsafe {
        // A killed test leaves no server behind. Set here, after the change of the user, which would undo it.
        command.pre_exec(|| Ok(rustix::process::set_parent_process_death_signal(Some(Signal::QUIT))?));
    }
    command.spawn().unwrap_or_else(|error| panic!("postgres could not be started: {error}"))
}
