//! A cap on what a process gets of a block device: the block controller of cgroups, version 1 or 2.
//!
//! Limits: only direct I/O is capped for sure. Of what is written through the page cache version 1 caps nothing but what is waited for.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::skipping::{current_test, skip, skip_unless_root};

/// A group whose processes get no more than so many bytes a second of a device. Removed when dropped.
#[derive(Debug)]
pub struct Throttle {
    group: PathBuf,
    controller: Controller,
    device: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Controller {
    Version1,
    Version2,
}

impl Throttle {
    /// A group for the device of the file system at `mount_point`, with no cap yet.
    ///
    /// Returns `None`, the current test named as skipped, without root or a block controller.
    pub fn new(mount_point: &Path) -> Option<Self> {
        if skip_unless_root() {
            return None;
        }
        Self::make(mount_point).map_err(|why| skip(&current_test(), &why)).ok()
    }

    fn make(mount_point: &Path) -> Result<Self, String> {
        let device = fs::metadata(mount_point).map_err(|error| error.to_string())?.dev();
        let device = format!("{}:{}", rustix::fs::major(device), rustix::fs::minor(device));
        let name = format!("iolag-fixture-{}", std::process::id());
        for (root, controller) in [
            ("/sys/fs/cgroup/blkio", Controller::Version1),
            ("/sys/fs/cgroup", Controller::Version2),
            ("/sys/fs/cgroup/unified", Controller::Version2),
        ] {
            let root = Path::new(root);
            let is_there = match controller {
                Controller::Version1 => root.join("blkio.throttle.read_bps_device").exists(),
                Controller::Version2 => fs::read_to_string(root.join("cgroup.controllers"))
                    .is_ok_and(|controllers| controllers.split_whitespace().any(|one| one == "io")),
            };
            let made = is_there.then(|| fs::create_dir(root.join(&name)));
            match made {
                Some(Ok(())) => {
                    let throttle = Self { group: root.join(&name), controller, device };
                    // Where the controller is not handed down, that fails here and not in the test.
                    let _ = fs::write(root.join("cgroup.subtree_control"), "+io");
                    throttle.cap(1 << 30).map_err(|error| format!("no cap can be set: {error}"))?;
                    return Ok(throttle);
                }
                Some(Err(error)) => {
                    return Err(format!("no group can be made in {}: {error}", root.display()));
                }
                None => {}
            }
        }
        Err("there is no block controller of cgroups".to_owned())
    }

    /// From now on the group gets so many bytes a second, reading and writing each.
    ///
    /// # Errors
    /// What the kernel answers.
    pub fn cap(&self, bytes_per_second: u64) -> io::Result<()> {
        let device = &self.device;
        match self.controller {
            Controller::Version1 => ["read", "write"].iter().try_for_each(|way| {
                let file = self.group.join(format!("blkio.throttle.{way}_bps_device"));
                fs::write(file, format!("{device} {bytes_per_second}"))
            }),
            Controller::Version2 => fs::write(
                self.group.join("io.max"),
                format!("{device} rbps={bytes_per_second} wbps={bytes_per_second}"),
            ),
        }
    }

    /// The command, and all that it starts, will be in the group before it opens anything.
    ///
    /// # Errors
    /// If the group cannot be opened.
    pub fn hold(&self, command: &mut Command) -> io::Result<()> {
        let mut members = fs::File::options().append(true).open(self.group.join("cgroup.procs"))?;
        // SAFETY: between fork and exec there is one write to an open file; 0 is whoever writes.
        unsafe { command.pre_exec(move || members.write_all(b"0\n")) };
        Ok(())
    }
}

impl Drop for Throttle {
    fn drop(&mut self) {
        // A member that is still ending keeps it for a moment.
        for _ in 0..100 {
            if fs::remove_dir(&self.group).is_ok() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        crate::tell_what_is_left(&format!("the control group {}", self.group.display()));
    }
}
