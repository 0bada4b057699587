//! Opening what is below a directory, and nothing else.

use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags, ResolveFlags, Statx, openat, openat2};
use rustix::io::Errno;

use crate::posix::directory::{DIRECTORY, own_attributes, retry};

/// No link is followed, nothing is waited for, and no terminal becomes ours.
const FILE: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);
const BENEATH: ResolveFlags = ResolveFlags::BENEATH
    .union(ResolveFlags::NO_SYMLINKS)
    .union(ResolveFlags::NO_MAGICLINKS)
    .union(ResolveFlags::NO_XDEV);
/// The kernel gives up where somebody renames meanwhile, and is asked again so often.
const ATTEMPTS: u32 = 100;

/// A directory, and how what is below it is opened.
#[derive(Debug)]
pub(super) struct Reach {
    root: OwnedFd,
    device: (u32, u32),
    way: Way,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// The kernel sees to it (openat2(2)).
    AtOnce,
    /// Each name by itself.
    NameByName,
}

/// Whether reading sets the time of the last access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AccessTime {
    /// It stays.
    Kept,
    /// As the file system is mounted.
    Usual,
}

impl AccessTime {
    const fn flag(self) -> OFlags {
        match self {
            Self::Kept => OFlags::NOATIME,
            Self::Usual => OFlags::empty(),
        }
    }
}

impl Reach {
    /// Below this directory.
    pub(super) fn below(root: OwnedFd) -> Result<Self, Errno> {
        let probed = openat2(&root, c".", DIRECTORY, Mode::empty(), BENEATH);
        Self::by(root, if probed.is_ok() { Way::AtOnce } else { Way::NameByName })
    }

    fn by(root: OwnedFd, way: Way) -> Result<Self, Errno> {
        let device = device_of(&own_attributes(root.as_fd())?);
        Ok(Self { root, device, way })
    }

    #[cfg(test)]
    pub(super) fn name_by_name(root: OwnedFd) -> Result<Self, Errno> {
        Self::by(root, Way::NameByName)
    }

    /// Whether these attributes are of what lies on the same device.
    pub(super) fn is_own_device(&self, attributes: &Statx) -> bool {
        device_of(attributes) == self.device
    }

    /// Opens a directory by its path below the root, without setting its access time if that is allowed.
    ///
    /// EXDEV: it is mounted there.
    pub(super) fn directory(&self, path: &CStr) -> Result<OwnedFd, Errno> {
        match self.directory_with(path, AccessTime::Kept) {
            Err(Errno::PERM) => self.directory_with(path, AccessTime::Usual),
            opened => opened,
        }
    }

    fn directory_with(&self, path: &CStr, time: AccessTime) -> Result<OwnedFd, Errno> {
        let flags = DIRECTORY | time.flag();
        if self.way == Way::AtOnce {
            match beneath(self.root.as_fd(), path, flags) {
                Err(Errno::NAMETOOLONG) => {}
                opened => return opened,
            }
        }
        let mut at = retry(|| openat(&self.root, c".", DIRECTORY, Mode::empty()))?;
        let names: Vec<&[u8]> = path.to_bytes().split(|byte| *byte == b'/').collect();
        for (number, name) in names.iter().enumerate() {
            // Only the last one is read.
            let flags = if number + 1 == names.len() { flags } else { DIRECTORY };
            at = retry(|| openat(&at, *name, flags, Mode::empty()))?;
            if !self.is_own_device(&own_attributes(at.as_fd())?) {
                return Err(Errno::XDEV);
            }
        }
        Ok(at)
    }

    /// Opens a file by its name in a directory that was opened here.
    ///
    /// EPERM: its access time cannot be kept; EXDEV: it is mounted there.
    pub(super) fn file(
        &self,
        directory: BorrowedFd<'_>,
        name: &CStr,
        time: AccessTime,
    ) -> Result<OwnedFd, Errno> {
        let flags = FILE | time.flag();
        match self.way {
            Way::AtOnce => beneath(directory, name, flags),
            Way::NameByName => retry(|| openat(directory, name, flags, Mode::empty())),
        }
    }
}

fn beneath(directory: BorrowedFd<'_>, path: &CStr, flags: OFlags) -> Result<OwnedFd, Errno> {
    let mut attempts = 0;
    loop {
        attempts += 1;
        match openat2(directory, path, flags, Mode::empty(), BENEATH) {
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) if attempts < ATTEMPTS => {}
            opened => return opened,
        }
    }
}

const fn device_of(attributes: &Statx) -> (u32, u32) {
    (attributes.stx_dev_major, attributes.stx_dev_minor)
}
