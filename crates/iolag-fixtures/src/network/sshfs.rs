//! A real sshfs: the client that people use, with OpenSSH's server of files behind it, but no network and no sshd between them.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::wait_until_mounted;
use crate::mounts::{detach, new_directory};
use crate::skipping::{current_test, skip, skip_unless_root};

/// Where distributions put the server.
const SERVERS: [&str; 3] =
    ["/usr/lib/openssh/sftp-server", "/usr/libexec/openssh/sftp-server", "/usr/lib/ssh/sftp-server"];

/// A mounted sshfs that shows a directory among the temporary files. Unmounted and removed when dropped.
#[derive(Debug)]
pub struct SshfsMount {
    directory: PathBuf,
    mount_point: PathBuf,
    client: Child,
}

impl SshfsMount {
    /// Mounts it. What sshfs takes for ssh is a script that executes the server.
    ///
    /// Returns `None`, the current test named as skipped, without root, sshfs or its server.
    ///
    /// # Panics
    /// If they are there and do not serve: the fixture is broken, not the machine poor.
    pub fn start() -> Option<Self> {
        Self::start_as(0, "rw")
    }

    /// The same with the server's files belonging to this user there, whoever asks here, and with more options for sshfs.
    ///
    /// # Panics
    /// As [`Self::start`].
    pub fn start_as(user: u32, options: &str) -> Option<Self> {
        if skip_unless_root() {
            return None;
        }
        let Some(server) = SERVERS.into_iter().find(|server| Path::new(server).exists()) else {
            skip(&current_test(), "OpenSSH's sftp-server is not installed");
            return None;
        };
        let directory = new_directory("sshfs");
        let (mount_point, served, ssh) =
            (directory.join("mount"), directory.join("served"), directory.join("ssh"));
        let script = format!("#!/bin/sh\nexec setpriv --reuid={user} --clear-groups {server}\n");
        fs::create_dir(&mount_point)
            .and_then(|()| fs::create_dir(&served))
            .and_then(|()| fs::write(&ssh, script))
            .and_then(|()| chown(&served, Some(user), None))
            .and_then(|()| fs::set_permissions(&ssh, fs::Permissions::from_mode(0o755)))
            .expect("a directory that was just made can be written");
        let client = Command::new("sshfs")
            .arg("-f")
            .arg("-o")
            .arg(format!("ssh_command={},{options}", ssh.display()))
            .arg(format!("nowhere:{}", served.display()))
            .arg(&mount_point)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn();
        match client {
            Ok(client) => {
                let mut mount = Self { directory, mount_point, client };
                wait_until_mounted(&mount.mount_point, &mut mount.client);
                Some(mount)
            }
            Err(error) => {
                skip(&current_test(), &format!("sshfs could not be started: {error}"));
                let _ = fs::remove_dir_all(&directory);
                None
            }
        }
    }

    /// Where it is mounted.
    pub fn path(&self) -> &Path {
        &self.mount_point
    }
}

impl Drop for SshfsMount {
    fn drop(&mut self) {
        detach(&self.mount_point);
        // Its server ends with it: it reads the end of what sshfs sends.
        let _ = self.client.kill();
        let _ = self.client.wait();
        // Not below the mount point: that is empty now, or still mounted and busy.
        let _ = fs::remove_dir(&self.mount_point);
        let _ = fs::remove_dir_all(self.directory.join("served"));
        let _ = fs::remove_file(self.directory.join("ssh"));
        let _ = fs::remove_dir(&self.directory);
    }
}
