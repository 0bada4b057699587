//! A real GlusterFS: one brick and its client, on a port of the loopback, without the daemon that manages volumes.

use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::{wait_until, wait_until_mounted};
use crate::mounts::{detach, new_directory};
use crate::servers::free_port;
use crate::skipping::{current_test, skip, skip_unless_root};

/// A mounted GlusterFS whose brick is a directory among the temporary files. Unmounted, ended and removed when dropped.
#[derive(Debug)]
pub struct GlusterMount {
    directory: PathBuf,
    /// The brick's process, then the client's.
    processes: Vec<Child>,
}

impl GlusterMount {
    /// Starts the brick and mounts it.
    ///
    /// Returns `None`, the current test named as skipped, without root or GlusterFS.
    ///
    /// # Panics
    /// If it is there and does not serve: the fixture is broken, not the machine poor.
    pub fn start() -> Option<Self> {
        if skip_unless_root() {
            return None;
        }
        let directory = new_directory("gluster");
        let port = free_port();
        let written = fs::create_dir(directory.join("brick"))
            .and_then(|()| fs::create_dir(directory.join("mount")))
            .and_then(|()| fs::write(directory.join("brick.vol"), brick(&directory.join("brick"), port)))
            .and_then(|()| fs::write(directory.join("client.vol"), client(port)));
        written.expect("a directory that was just made can be written");
        let mut mount = Self { directory, processes: Vec::new() };
        match mount.launch_both(port) {
            Ok(()) => Some(mount),
            Err(error) => {
                skip(&current_test(), &format!("GlusterFS could not be started: {error}"));
                None
            }
        }
    }

    fn launch_both(&mut self, port: u16) -> std::io::Result<()> {
        let brick = self.launch("glusterfsd", "brick.vol", None)?;
        wait_until(brick, "the brick serves", || TcpStream::connect(("127.0.0.1", port)).is_ok());
        let mount_point = self.path();
        wait_until_mounted(&mount_point, self.launch("glusterfs", "client.vol", Some(&mount_point))?);
        Ok(())
    }

    fn launch(
        &mut self,
        program: &str,
        volume: &str,
        mount_point: Option<&Path>,
    ) -> std::io::Result<&mut Child> {
        let process = Command::new(program)
            .arg("--no-daemon")
            .arg(format!("--volfile={}", self.directory.join(volume).display()))
            .arg(format!("--log-file={}", self.directory.join(volume).with_extension("log").display()))
            .args(mount_point)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()?;
        Ok(self.processes.push_mut(process))
    }

    /// Where it is mounted.
    pub fn path(&self) -> PathBuf {
        self.directory.join("mount")
    }
}

fn brick(directory: &Path, port: u16) -> String {
    let directory = directory.display();
    format!(
        "volume files\n type storage/posix\n option directory {directory}\nend-volume\n\
         volume brick\n type features/locks\n subvolumes files\nend-volume\n\
         volume server\n type protocol/server\n option transport-type tcp\n\
         option transport.socket.bind-address 127.0.0.1\n option transport.socket.listen-port {port}\n\
         option auth.addr.brick.allow 127.0.0.1\n subvolumes brick\nend-volume\n"
    )
}

fn client(port: u16) -> String {
    format!(
        "volume client\n type protocol/client\n option transport-type tcp\n option remote-host 127.0.0.1\n\
         option remote-port {port}\n option remote-subvolume brick\nend-volume\n"
    )
}

impl Drop for GlusterMount {
    fn drop(&mut self) {
        detach(&self.path());
        for process in self.processes.iter_mut().rev() {
            let _ = process.kill();
            let _ = process.wait();
        }
        // Not below the mount point: that is empty now, or still mounted and busy.
        let _ = fs::remove_dir(self.path());
        let _ = fs::remove_dir_all(self.directory.join("brick"));
        for name in ["brick.vol", "client.vol", "brick.log", "client.log"] {
            let _ = fs::remove_file(self.directory.join(name));
        }
        let _ = fs::remove_dir(&self.directory);
    }
}
