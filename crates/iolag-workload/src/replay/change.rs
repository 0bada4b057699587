//! The system calls that change files of a copy's own.
//!
//! Every name is below the directory that was made for the copy, to which nobody else has access. No name leads up, and no link in there leads up or out, so that none leads
//! anywhere else.

use std::ffi::{CStr, c_int};
use std::os::fd::RawFd;

use iolag_backend::Completion;
use iolag_model::{GOLDEN, Operation, mix};
use iolag_trace::{Attribute, Change};

use super::answer::{Answer, failure, open};

/// What is changed, with everything that it needs.
#[derive(Debug, Clone, Copy)]
pub(super) enum Changing<'a> {
    /// With flags of ours, and a mode.
    Open(RawFd, &'a CStr, c_int, u32),
    Write(RawFd, u64),
    WriteAt(RawFd, u64, u64),
    Truncate(RawFd, u64),
    Synchronise(RawFd),
    /// With flags.
    Remove(RawFd, &'a CStr, c_int),
    MakeDirectory(RawFd, &'a CStr, u32),
    Rename(RawFd, &'a CStr, &'a CStr, u32),
    Link(RawFd, &'a CStr, &'a CStr),
    /// What it says, and where it is.
    SymbolicLink(&'a CStr, RawFd, &'a CStr),
    /// With flags.
    Attributes(RawFd, &'a CStr, c_int, Attribute),
    AttributesOf(RawFd, Attribute),
}

/// Flags of opening what is written to, as numbers of x86-64, and what they are here.
const FLAGS: [(u32, c_int); 6] = [
    (1, libc::O_WRONLY),
    (2, libc::O_RDWR),
    (0o100, libc::O_CREAT),
    (0o200, libc::O_EXCL),
    (0o1000, libc::O_TRUNC),
    (0o2000, libc::O_APPEND),
];

/// The flags with which something is opened to be written to, besides those of any opening.
pub(super) fn flags_to_write(flags: u32) -> c_int {
    FLAGS.iter().filter(|(bits, _)| flags & bits == *bits).fold(0, |all, (_, here)| all | here)
}

/// The owner of a file may always look at it, and remove what lies in a directory.
fn usable(mode: u32, own: libc::mode_t) -> libc::mode_t {
    // As permissions: no bit that gives the rights of the owner to others.
    (mode & 0o777) as libc::mode_t | own
}

impl Changing<'_> {
    /// Makes the call; what is written is the beginning of `noise`, which is long enough.
    #[inline]
    pub(super) fn make(&self, noise: &[u8]) -> Answer {
        let room = |asked: u64| (asked as usize).min(noise.len());
        // SAFETY: paths end with zero, and no call is told more bytes than there are. A descriptor that is none is answered with EBADF.
        unsafe {
            let done: i64 = match *self {
                Self::Open(at, path, flags, mode) => {
                    let mode = if flags & libc::O_CREAT == 0 { 0 } else { usable(mode, 0o600) };
                    return open(at, path, flags, mode);
                }
                Self::Write(on, length) => libc::write(on, noise.as_ptr().cast(), room(length)) as i64,
                Self::WriteAt(on, length, offset) => {
                    libc::pwrite(on, noise.as_ptr().cast(), room(length), offset.cast_signed()) as i64
                }
                Self::Truncate(on, length) => libc::ftruncate(on, length.cast_signed()).into(),
                Self::Synchronise(on) => libc::fsync(on).into(),
                Self::Remove(at, path, flags) => libc::unlinkat(at, path.as_ptr(), flags).into(),
                Self::MakeDirectory(at, path, mode) => {
                    libc::mkdirat(at, path.as_ptr(), usable(mode, 0o700)).into()
                }
                Self::Rename(at, from, to, flags) => {
                    libc::syscall(libc::SYS_renameat2, at, from.as_ptr(), at, to.as_ptr(), flags)
                }
                Self::Link(at, from, to) => libc::linkat(at, from.as_ptr(), at, to.as_ptr(), 0).into(),
                Self::SymbolicLink(text, at, path) => {
                    libc::symlinkat(text.as_ptr(), at, path.as_ptr()).into()
                }
                Self::Attributes(at, path, flags, attribute) => match attribute {
                    Attribute::Mode(mode) => libc::fchmodat(at, path.as_ptr(), usable(mode, 0o700), 0).into(),
                    Attribute::Owner => {
                        libc::fchownat(at, path.as_ptr(), libc::geteuid(), libc::getegid(), flags).into()
                    }
                    Attribute::Times => libc::utimensat(at, path.as_ptr(), std::ptr::null(), flags).into(),
                },
                Self::AttributesOf(on, attribute) => match attribute {
                    Attribute::Mode(mode) => libc::fchmod(on, usable(mode, 0o700)).into(),
                    Attribute::Owner => libc::fchown(on, libc::geteuid(), libc::getegid()).into(),
                    Attribute::Times => libc::futimens(on, std::ptr::null()).into(),
                },
            };
            let completion = match (done, self) {
                (..0, _) => failure(),
                (bytes, Self::Write(..) | Self::WriteAt(..)) => Completion::ok(bytes as u64),
                _ => Completion::ok(0),
            };
            Answer { completion, opened: None, mapping: None }
        }
    }
}

/// As what a change is recorded.
pub(super) const fn operation_of(change: &Change) -> Operation {
    const O_CREAT: u32 = 0o100;
    match change {
        Change::Open(_, flags, ..) if *flags & O_CREAT != 0 => Operation::CallCreate,
        Change::Open(..) => Operation::CallOpen,
        Change::Write(..) | Change::WriteAt(..) => Operation::CallWrite,
        Change::Truncate(..) => Operation::CallTruncate,
        Change::Synchronise(_) => Operation::CallFsync,
        Change::Remove(_) => Operation::CallUnlink,
        Change::RemoveDirectory(_) => Operation::CallRmdir,
        Change::MakeDirectory(..) => Operation::CallMkdir,
        Change::Rename(..) => Operation::CallRename,
        Change::Link(..) => Operation::CallLink,
        Change::SymbolicLink(..) => Operation::CallSymlink,
        Change::Attributes(..) | Change::AttributesOf(..) => Operation::CallSetAttributes,
    }
}

/// Bytes that do not compress, and are others in each copy.
pub(super) fn noise(bytes: u64, rank: u32) -> Vec<u8> {
    let words = bytes.div_ceil(8);
    let mut noise: Vec<u8> =
        (0..words).flat_map(|word| mix(mix(rank.into()) ^ word.wrapping_mul(GOLDEN)).to_le_bytes()).collect();
    noise.truncate(usize::try_from(bytes).unwrap_or(usize::MAX));
    noise
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_model::FailureCode;
    use std::os::fd::{AsRawFd, OwnedFd};
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    #[test]
    fn each_change_does_what_the_kernel_does() {
        let directory = tempfile::tempdir().unwrap();
        let root = OwnedFd::from(std::fs::File::open(directory.path()).unwrap());
        let at = root.as_raw_fd();
        let noise = noise(4096, 3);
        let make = |change: Changing<'_>| change.make(&noise);
        let is_ok = |answer: Answer| answer.completion.is_ok();
        assert!(is_ok(make(Changing::MakeDirectory(at, c"d", 0))), "and its owner may use it");
        let create = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC;
        let file = make(Changing::Open(at, c"d/f", create, 0)).opened.unwrap();
        assert_eq!(
            make(Changing::Open(at, c"d/f", create, 0)).completion.code,
            FailureCode::from_errno(libc::EEXIST)
        );
        assert_eq!(make(Changing::Write(file, 100)).completion, Completion::ok(100));
        assert_eq!(make(Changing::WriteAt(file, 50, 1000)).completion, Completion::ok(50));
        let found = std::fs::read(directory.path().join("d/f")).unwrap();
        assert_eq!((found.len(), &found[..100], &found[1000..]), (1050, &noise[..100], &noise[..50]));
        for change in [
            Changing::Truncate(file, 10),
            Changing::Synchronise(file),
            Changing::Link(at, c"d/f", c"d/g"),
            Changing::Rename(at, c"d/g", c"h", 0),
            Changing::SymbolicLink(c"d/f", at, c"l"),
            Changing::Attributes(at, c"h", 0, Attribute::Mode(0o4000)),
            Changing::Attributes(at, c"l", libc::AT_SYMLINK_NOFOLLOW, Attribute::Times),
            Changing::Attributes(at, c"l", libc::AT_SYMLINK_NOFOLLOW, Attribute::Owner),
            Changing::AttributesOf(file, Attribute::Owner),
            Changing::AttributesOf(file, Attribute::Times),
            Changing::AttributesOf(file, Attribute::Mode(0o640)),
        ] {
            assert!(is_ok(make(change)), "{change:?}");
        }
        let found = std::fs::metadata(directory.path().join("l")).unwrap();
        assert_eq!((found.len(), found.nlink(), found.permissions().mode() & 0o7777), (10, 2, 0o740));
        for change in [
            Changing::Remove(at, c"l", 0),
            Changing::Remove(at, c"h", 0),
            Changing::Remove(at, c"d/f", 0),
            Changing::Remove(at, c"d", libc::AT_REMOVEDIR),
        ] {
            assert!(is_ok(make(change)), "{change:?}");
        }
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
        super::super::answer::close(file);
    }

    #[test]
    fn noise_is_of_a_copy_s_own() {
        assert_eq!(noise(13, 1).len(), 13);
        assert_eq!(noise(64, 1)[..13], noise(13, 1)[..]);
        assert_ne!(noise(64, 1), noise(64, 2));
        assert_eq!(flags_to_write(0o1102), libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC);
    }
}
