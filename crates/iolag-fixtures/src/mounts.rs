//! Small real file systems: ext4, XFS and Btrfs on loop devices, and tmpfs.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::mount::{MountFlags, UnmountFlags};

use crate::skipping::{current_test, skip, skip_unless_root};

/// What an image holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiskFormat {
    /// Without a journal and without reserved blocks, so that root too sees it full.
    Ext4,
    /// Takes 300 MiB at least, of which few are written.
    Xfs,
    /// Takes 128 MiB at least, of which few are written.
    Btrfs,
}

impl DiskFormat {
    /// What makes it.
    fn command(self) -> Command {
        let (program, options): (_, &[&str]) = match self {
            Self::Ext4 => ("mkfs.ext4", &["-q", "-F", "-m", "0", "-O", "^has_journal"]),
            Self::Xfs => ("mkfs.xfs", &["-q", "-f"]),
            Self::Btrfs => ("mkfs.btrfs", &["-q", "-f"]),
        };
        let mut command = Command::new(program);
        command.args(options);
        command
    }
}

/// A file system in a file of `std::env::temp_dir()`, mounted. Unmounted and removed when dropped.
#[derive(Debug)]
pub struct LoopMount {
    mount_point: PathBuf,
    image: PathBuf,
    directory: PathBuf,
}

impl LoopMount {
    /// Makes and mounts an ext4 of this size: see [`Self::new`].
    ///
    /// # Panics
    /// If the temporary directory cannot be written.
    pub fn ext4(megabytes: u32) -> Option<Self> {
        Self::new(DiskFormat::Ext4, megabytes)
    }

    /// Makes and mounts a file system of this size.
    ///
    /// Returns `None`, the current test named as skipped, without root, what makes such file systems, loop devices or a kernel that knows them.
    ///
    /// # Panics
    /// If the temporary directory cannot be written.
    pub fn new(format: DiskFormat, megabytes: u32) -> Option<Self> {
        if skip_unless_root() {
            return None;
        }
        let directory = new_directory("loop");
        let (image, mount_point) = (directory.join("image"), directory.join("mount"));
        fs::create_dir(&mount_point).expect("a directory that was just made can be written");
        let mount = Self { mount_point, image, directory };
        match mount.build(format, megabytes) {
            Ok(()) => Some(mount),
            Err(why) => {
                skip(&current_test(), &why);
                None
            }
        }
    }

    fn build(&self, format: DiskFormat, megabytes: u32) -> Result<(), String> {
        fs::File::create(&self.image)
            .and_then(|file| file.set_len(u64::from(megabytes) << 20))
            .map_err(|error| format!("a file of {megabytes} MiB could not be made: {error}"))?;
        run(format.command().arg(&self.image))?;
        run(Command::new("mount").args(["-o", "loop"]).arg(&self.image).arg(&self.mount_point))
    }

    /// Where it is mounted.
    pub fn path(&self) -> &Path {
        &self.mount_point
    }

    /// Makes it read-only while it is in use by readers.
    ///
    /// # Errors
    /// What mount(2) answers; EBUSY while a file is open for writing.
    pub fn remount_read_only(&self) -> io::Result<()> {
        Ok(rustix::mount::mount_remount(&self.mount_point, MountFlags::RDONLY, c"")?)
    }

    /// Makes it writable again.
    ///
    /// # Errors
    /// What mount(2) answers.
    pub fn remount_writable(&self) -> io::Result<()> {
        Ok(rustix::mount::mount_remount(&self.mount_point, MountFlags::empty(), c"")?)
    }

    /// Writes one file until not a byte more fits.
    ///
    /// # Errors
    /// Any answer other than "no space left".
    pub fn fill(&self) -> io::Result<()> {
        fill(&self.mount_point)
    }
}

impl Drop for LoopMount {
    fn drop(&mut self) {
        detach(&self.mount_point);
        // What cannot be removed is an empty directory and an image of a few MiB among the temporary files.
        let _ = fs::remove_file(&self.image);
        let _ = fs::remove_dir(&self.mount_point);
        let _ = fs::remove_dir(&self.directory);
    }
}

/// A mounted tmpfs of a given size. Unmounted and removed when dropped.
#[derive(Debug)]
pub struct TmpfsMount {
    mount_point: PathBuf,
}

impl TmpfsMount {
    /// Mounts a tmpfs that holds this many bytes, rounded up to pages.
    ///
    /// Returns `None`, the current test named as skipped, without root or where mounting is not permitted.
    ///
    /// # Panics
    /// If the temporary directory cannot be written.
    pub fn new(bytes: u64) -> Option<Self> {
        if skip_unless_root() {
            return None;
        }
        let mount = Self { mount_point: new_directory("tmpfs") };
        let options = std::ffi::CString::new(format!("size={bytes},mode=0755"))
            .expect("digits and letters hold no zero byte");
        match rustix::mount::mount(
            c"iolag-fixture",
            &mount.mount_point,
            c"tmpfs",
            MountFlags::empty(),
            &*options,
        ) {
            Ok(()) => Some(mount),
            Err(error) => {
                skip(&current_test(), &format!("a tmpfs could not be mounted: {error}"));
                None
            }
        }
    }

    /// Where it is mounted.
    pub fn path(&self) -> &Path {
        &self.mount_point
    }

    /// Writes one file until not a byte more fits.
    ///
    /// # Errors
    /// Any answer other than "no space left".
    pub fn fill(&self) -> io::Result<()> {
        fill(&self.mount_point)
    }
}

impl Drop for TmpfsMount {
    fn drop(&mut self) {
        detach(&self.mount_point);
        // What cannot be removed is an empty directory among the temporary files.
        let _ = fs::remove_dir(&self.mount_point);
    }
}

/// A directory of a mounted file system that is seen at a second place, until it is unmounted there or dropped.
#[derive(Debug)]
pub struct BindMount {
    mount_point: PathBuf,
}

impl BindMount {
    /// Shows `source` at `mount_point`, which is there.
    ///
    /// # Errors
    /// What mount(2) answers.
    pub fn new(source: &Path, mount_point: &Path) -> io::Result<Self> {
        rustix::mount::mount_bind(source, mount_point)?;
        Ok(Self { mount_point: mount_point.to_owned() })
    }
}

impl Drop for BindMount {
    fn drop(&mut self) {
        detach(&self.mount_point);
    }
}

/// Makes a directory that nobody else uses among the temporary files; readable by all, as a mount point is.
pub(crate) fn new_directory(kind: &str) -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("iolag-fixture-{kind}-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        match fs::create_dir(&path) {
            Ok(()) => return path,
            // Left behind by an earlier process of the same number.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => panic!("{} could not be made: {error}", path.display()),
        }
    }
}

/// Takes a mount out of the tree at once, whoever still uses it, without asking the file system.
pub(crate) fn detach(mount_point: &Path) {
    // Not mounted is what was wanted.
    let _ = rustix::mount::unmount(mount_point, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW);
}

fn fill(mount_point: &Path) -> io::Result<()> {
    let mut file = fs::File::create(mount_point.join("filling"))?;
    for block in [&[b'x'; 1 << 16][..], b"x"] {
        loop {
            match io::Write::write(&mut file, block) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::StorageFull => break,
                Err(error) => return Err(error),
            }
        }
    }
    Ok(())
}

fn run(command: &mut Command) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    match command.output() {
        Err(error) => Err(format!("{name} could not be started: {error}")),
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(format!("{name} failed: {}", String::from_utf8_lossy(&output.stderr))),
    }
}
