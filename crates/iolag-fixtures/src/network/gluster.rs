//! A real GlusterFS: one brick and its client, on a port of the loopback, without the daemon that manages volumes.

use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use super::{PATIENCE, POLL_INTERVAL, wait_until_mounted};
use crate::mounts::{detach, new_directory};
use crate::postgres_server::free_port;
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
        if let Err(why) = mount.launch("glusterfsd", "brick.vol", None) {
            skip(&current_test(), &format!("GlusterFS could not be started: {why}"));
            return None;
        }
        let begin = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            let ended = mount.processes[0].try_wait().ok().flatten();
            assert!(ended.is_none() && begin.elapsed() < PATIENCE, "the brick does not serve: {ended:?}");
            std::thread::sleep(POLL_INTERVAL);
        }
        let mount_point = mount.directory.join("mount");
        mount
            .launch("glusterfs", "client.vol", Some(&mount_point))
            .expect("where the brick is, the client is");
        wait_until_mounted(&mount_point, &mut mount.processes[1]);
        Some(mount)
    }

    fn launch(&mut self, program: &str, volume: &str, mount_point: Option<&Path>) -> std::io::Result<()> {
        let process = Command::new(program)
            .arg("--no-daemon")
            .arg(format!("--volfile={}", self.directory.join(volume).display()))
            .arg(format!("--log-file={}", self.directory.join(volume).with_extension("log").display()))
            .args(mount_point)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()?;
        self.processes.push(process);
        Ok(())
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
