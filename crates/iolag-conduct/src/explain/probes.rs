//! What is asked of a place. All of this runs in processes that may hang.

use std::ffi::OsStr;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use iolag_model::{Clock, FileSystem, MonotonicClock, Nanoseconds};
use iolag_workload::become_a_users_program;
use rustix::fs::{AtFlags, Dir, Mode, OFlags, open, statat};
use serde::{Deserialize, Serialize};

/// Names that are asked about, at most.
const NAMES_MOST: usize = 500;
/// Who takes long for each is asked about fewer: all of them are asked about a dozen times.
const FIRST_TIME: Nanoseconds = Nanoseconds::from_seconds(1);
const LIST_PROGRAM: &str = "/bin/ls";
/// The shell's code for a program that cannot be started.
pub(super) const CANNOT_START: i32 = 127;
/// Connections that are made.
const CONNECTIONS: usize = 5;
const CONNECTION_TIME: Duration = Duration::from_secs(2);
const NFS_PORT: u16 = 2049;

/// What a pass found.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Passed {
    pub(super) names: Vec<Vec<u8>>,
    pub(super) took: Nanoseconds,
}

/// Reads the directory and asks for the attributes of its names: as many as there are, or as the time is enough for. Of a directory without names, its own.
///
/// # Errors
/// One sentence, if it cannot be read.
pub(super) fn pass_for_the_first_time(directory: &Path) -> Result<Passed, String> {
    let start = MonotonicClock.now();
    let (opened, mut names) = read_names(directory, NAMES_MOST)?;
    let mut asked = 0;
    for name in &names {
        // A name that is gone was asked about, too.
        let _ = statat(&opened, OsStr::from_bytes(name), AtFlags::SYMLINK_NOFOLLOW);
        asked += 1;
        if MonotonicClock.now().since(start) >= FIRST_TIME {
            break;
        }
    }
    let took = MonotonicClock.now().since(start);
    names.truncate(asked);
    Ok(Passed { names, took })
}

/// The same for names that are known.
///
/// # Errors
/// One sentence, if the directory cannot be read.
pub(super) fn pass_again(directory: &Path, names: &[Vec<u8>]) -> Result<Passed, String> {
    let start = MonotonicClock.now();
    // Not more of the directory is read than before.
    let (opened, _) = read_names(directory, names.len())?;
    for name in names {
        let _ = statat(&opened, OsStr::from_bytes(name), AtFlags::SYMLINK_NOFOLLOW);
    }
    Ok(Passed { names: Vec::new(), took: MonotonicClock.now().since(start) })
}

fn read_names(directory: &Path, most: usize) -> Result<(OwnedFd, Vec<Vec<u8>>), String> {
    let sentence = |error: rustix::io::Errno| {
        format!("cannot list {}: {error}; choose a directory that you may read", directory.display())
    };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = open(directory, flags, Mode::empty()).map_err(sentence)?;
    let mut names = Vec::new();
    for entry in Dir::read_from(&opened).map_err(sentence)? {
        let entry = entry.map_err(sentence)?;
        let name = entry.file_name().to_bytes();
        if !matches!(name, b"." | b"..") {
            names.push(name.to_vec());
        }
        if names.len() >= most {
            break;
        }
    }
    if names.is_empty() {
        names.push(b".".to_vec());
    }
    Ok((opened, names))
}

/// What `ls` shows of the owners.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owners {
    /// Their names: `-l`.
    Names,
    /// Their numbers: `-n`.
    Numbers,
}

/// Becomes an `ls` of these names in this directory, all of whose output is dropped. Comes back only if that is not possible.
pub(super) fn become_ls(directory: &Path, owners: Owners, names: &[Vec<u8>]) -> i32 {
    let option = match owners {
        Owners::Names => "-ld",
        Owners::Numbers => "-nd",
    };
    let mut command = Command::new(LIST_PROGRAM);
    command.arg(option).arg("--").args(names.iter().map(|name| OsStr::from_bytes(name)));
    command.env_clear().env("PATH", "/usr/bin:/bin").env("LC_ALL", "C").current_dir(directory);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    become_a_users_program();
    let _ = command.exec();
    CANNOT_START
}

/// The address of the NFS server of a mount, or why it is not known.
///
/// # Errors
/// A few words.
pub(super) fn address_of(file_system: &FileSystem) -> Result<SocketAddr, String> {
    let option = |wanted: &str| {
        file_system
            .options
            .split(',')
            .filter_map(|option| option.split_once('='))
            .find(|(name, _)| *name == wanted)
            .map(|(_, value)| value)
    };
    match option("proto") {
        Some("tcp" | "tcp6") | None => {}
        Some(other) => return Err(format!("it is reached by {other}, and iolag tries only TCP")),
    }
    let address = option("addr").and_then(|address| address.parse::<IpAddr>().ok());
    let address = address.ok_or("the mount options do not tell the server's address")?;
    if address.is_loopback() {
        return Err("its address is this machine's own, where something may pass requests on".into());
    }
    let port = option("port").and_then(|port| port.parse().ok()).filter(|port| *port != 0);
    Ok(SocketAddr::new(address, port.unwrap_or(NFS_PORT)))
}

/// How long it takes to open a connection: the middle of several.
///
/// # Errors
/// A few words, if none can be opened.
pub(super) fn connect(address: SocketAddr) -> Result<Nanoseconds, String> {
    let mut took = Vec::with_capacity(CONNECTIONS);
    for _ in 0..CONNECTIONS {
        let start = MonotonicClock.now();
        TcpStream::connect_timeout(&address, CONNECTION_TIME)
            .map_err(|error| format!("no connection to {address} can be opened: {error}"))?;
        took.push(MonotonicClock.now().since(start));
    }
    took.sort_unstable();
    Ok(took[CONNECTIONS / 2])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_asked_about_and_an_empty_directory_stands_for_itself() {
        let directory = tempfile::tempdir().unwrap();
        let empty = pass_for_the_first_time(directory.path()).unwrap();
        assert_eq!(empty.names, [b".".to_vec()]);
        for name in 0..NAMES_MOST + 7 {
            std::fs::write(directory.path().join(name.to_string()), "").unwrap();
        }
        let first = pass_for_the_first_time(directory.path()).unwrap();
        // On a machine that is very busy the time may be over before.
        assert!(first.names.len() == NAMES_MOST || first.took >= FIRST_TIME, "{}", first.names.len());
        assert!(pass_again(directory.path(), &first.names).unwrap().took > Nanoseconds::ZERO);
        let absent = pass_for_the_first_time(&directory.path().join("absent")).unwrap_err();
        assert!(absent.starts_with("cannot list /") && absent.contains("absent: "), "{absent}");
    }

    #[test]
    fn the_server_of_a_mount_is_in_its_options() {
        let of = |options: &str| address_of(&FileSystem { options: options.into(), ..FileSystem::default() });
        assert_eq!(of("rw,proto=tcp,port=0,addr=10.0.0.2"), Ok("10.0.0.2:2049".parse().unwrap()));
        assert_eq!(of("rw,proto=tcp6,port=20490,addr=fe80::1"), Ok("[fe80::1]:20490".parse().unwrap()));
        assert!(of("rw,proto=rdma,addr=10.0.0.2").unwrap_err().contains("rdma"));
        assert!(of("rw,proto=tcp,addr=127.0.0.1").unwrap_err().contains("this machine's own"));
        assert!(of("rw,clientaddr=10.0.0.2").unwrap_err().contains("do not tell"));
    }

    #[test]
    fn opening_a_connection_is_timed_and_one_that_is_refused_is_said() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        assert!(connect(address).unwrap() > Nanoseconds::ZERO);
        drop(listener);
        let refused = connect(address).unwrap_err();
        assert!(refused.starts_with("no connection to 127.0.0.1:"), "{refused}");
    }
}
