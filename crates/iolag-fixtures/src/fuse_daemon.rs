//! The process behind a FUSE mount: serves the file system and obeys its control socket.
//!
//! It ends, and by ending frees everybody who waits in the mount, when its standard input is closed (its test is over
//! or was killed) or when it has lived for as long as it was given.

use std::fmt;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::time::Duration;

use fuser::{Config, MountOption, SessionACL};

use crate::fuse_filesystem::FuseFilesystem;
use crate::fuse_gate::Gate;
use crate::fuse_rules::Command;
use crate::mounts::detach;
use crate::passthrough::Passthrough;

/// Hardly any test takes this long: a mount that is still there was forgotten by a process that cannot end.
pub const USUAL_LIFE: Duration = Duration::from_secs(15 * 60);

/// Why the file system could not be served: what was tried, on what, what the system answered.
#[derive(Debug)]
pub struct DaemonError(String);

impl fmt::Display for DaemonError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for DaemonError {}

/// Mounts `backing` at `mount_point` and serves it until standard input ends, but no longer than `longest_life`; `control`
/// is the socket that obeys.
/// The socket accepts connections only when the mount is there.
///
/// # Errors
/// If one of the three cannot be opened, mounted or bound.
pub fn serve(
    backing: &Path,
    mount_point: &Path,
    control: &Path,
    longest_life: Duration,
) -> Result<(), DaemonError> {
    let failed = |what: &str, path: &Path, error: &dyn fmt::Display| {
        DaemonError(format!("{what} {} failed: {error}", path.display()))
    };
    // The kernel has applied the caller's umask already.
    rustix::process::umask(rustix::fs::Mode::empty());
    allow_many_descriptors();
    let directory = Passthrough::new(backing)
        .map_err(|error| failed("opening the backing directory", backing, &error))?;
    let gate = Gate::default();
    let mut config = Config::default();
    config.acl = SessionACL::All;
    config.n_threads = Some(2);
    config.mount_options = vec![
        MountOption::FSName("iolag-fixture".to_owned()),
        MountOption::Subtype("iolag".to_owned()),
        MountOption::DefaultPermissions,
        MountOption::Exec,
    ];
    let filesystem = FuseFilesystem::new(directory, gate.clone());
    let session = fuser::spawn_mount(filesystem, mount_point, &config)
        .map_err(|error| failed("mounting at", mount_point, &error))?;
    let listener =
        UnixListener::bind(control).map_err(|error| failed("making the control socket", control, &error))?;
    std::thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            let gate = gate.clone();
            std::thread::spawn(move || obey(connection, &gate));
        }
    });
    wait_for_end(longest_life);
    // Everything is to be abandoned, held requests too: the end of this process does that, an orderly end would wait.
    std::mem::forget(session);
    detach(mount_point);
    // Only the mount was promised to be gone; what cannot be removed is empty.
    let _ = std::fs::remove_file(control);
    let _ = std::fs::remove_dir(mount_point);
    Ok(())
}

fn obey(connection: UnixStream, gate: &Gate) {
    let Ok(reader) = connection.try_clone().map(BufReader::new) else { return };
    let mut writer = connection;
    for line in reader.lines() {
        let Ok(line) = line else { return };
        let answer = match line.parse::<Command>() {
            Ok(command) => gate.command(command),
            Err(error) => format!("bad: {error}"),
        };
        if writeln!(writer, "{answer}").is_err() {
            return;
        }
    }
}

fn wait_for_end(longest_life: Duration) {
    let (over, is_over) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut rest = Vec::new();
        let read = std::io::stdin().read_to_end(&mut rest);
        // The receiver is gone only if the longest life is over.
        let _ = over.send(read);
    });
    // Either way the life is over.
    let _ = is_over.recv_timeout(longest_life);
}

/// Each file that the kernel knows is a descriptor here.
fn allow_many_descriptors() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    const WANTED: u64 = 1 << 20;
    let unlimited = Rlimit { current: Some(WANTED), maximum: Some(WANTED) };
    if setrlimit(Resource::Nofile, unlimited).is_err() {
        let maximum = getrlimit(Resource::Nofile).maximum;
        // Fewer descriptors do for all but the largest tests.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    }
}
