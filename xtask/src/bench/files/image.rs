//! An ext4 file system in an image in memory: a block device that is as fast as they get, behind which no disk makes noise.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use rustix::mount::{MountPropagationFlags, UnmountFlags, mount_change, unmount};
use rustix::thread::UnshareFlags;

use crate::bench::setting::Scratch;
use crate::places::run;

/// It is there until it is dropped, and seen by this process and its children only: it goes with them.
#[derive(Debug)]
pub struct Image {
    mounted: PathBuf,
    _scratch: Scratch,
}

impl Image {
    /// One of so many bytes.
    ///
    /// # Errors
    /// Without root, loop devices or `mkfs.ext4`.
    pub fn ext4(bytes: u64) -> Result<Self> {
        ensure!(rustix::process::geteuid().is_root(), "this takes root");
        // SAFETY: no other thread of this process has files open relative to its mounts.
        unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNS) }.context("a mount namespace")?;
        mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
        let scratch = Scratch::new(Path::new("/dev/shm"), "iolag-image")?;
        let (image, mounted) = (scratch.path().join("image"), scratch.path().join("mounted"));
        std::fs::File::create(&image)?.set_len(bytes)?;
        std::fs::create_dir(&mounted)?;
        run(Command::new("mkfs.ext4").arg("-q").arg(&image).stdout(Stdio::null()))?;
        run(Command::new("mount").args(["-o", "loop"]).arg(&image).arg(&mounted))?;
        Ok(Self { mounted, _scratch: scratch })
    }

    /// Where it is mounted.
    pub fn path(&self) -> &Path {
        &self.mounted
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        // What cannot be unmounted goes with this process.
        let _ = unmount(&self.mounted, UnmountFlags::DETACH);
    }
}
