//! The system calls of a repetition: what stands between the two readings of the clock.
//!
//! Every open is below the directory that is mapped, whatever links lie on the way (openat2(2) with RESOLVE_BENEATH), waits for nobody who would open the other end of
//! a pipe, and makes no terminal ours.

use std::ffi::{CStr, c_int};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, RawFd};

use iolag_backend::Completion;
use rustix::fs::{AtFlags, SeekFrom, StatxFlags, fstat, readlinkat_raw, seek, statat, statx};
use rustix::io::{pread, read, try_close};

use super::answer::{Answer, came, failure, on, open, opened};
use super::change::Changing;

/// What is asked, with everything that it needs.
#[derive(Debug, Clone, Copy)]
pub(super) enum Call<'a> {
    Stat(RawFd, &'a CStr, u32),
    Statx(RawFd, &'a CStr, u32),
    /// With flags.
    Access(RawFd, &'a CStr, u32, u32),
    ReadLink(RawFd, &'a CStr, u64),
    Open(RawFd, &'a CStr, u32),
    StatFs(&'a CStr),
    ChangeDirectory(&'a CStr),
    TellDirectory,
    ChangeDirectoryTo(RawFd),
    Attributes(RawFd),
    StatFsOf(RawFd),
    Read(RawFd, u64),
    ReadAt(RawFd, u64, u64),
    Seek(RawFd, i64, u32),
    List(RawFd, u64),
    Map(RawFd, u64, u64),
    Flags(RawFd),
    IsTerminal(RawFd),
    /// With what it is to be a copy in the place of, if there is something.
    Duplicate(RawFd, Option<RawFd>),
    Close(RawFd),
    /// Changes files of the copy's own.
    Change(Changing<'a>),
}

/// Where what is read goes, and how much of it may come. Nobody looks at it, so that threads may have it together.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    pub data: *mut u8,
    pub bytes: usize,
    pub whose: Whose,
}

/// Who reads into a room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    /// One task.
    Task,
    /// All tasks of a copy, at the same time.
    All,
}

impl Room {
    /// The beginning of it.
    ///
    /// # Safety
    /// It is one task's, and that task has no other part of it at this time.
    unsafe fn begin<'a>(self, bytes: usize) -> &'a mut [u8] {
        // SAFETY: as the caller promises; it has as many bytes, which were written to.
        unsafe { std::slice::from_raw_parts_mut(self.data, bytes.min(self.bytes)) }
    }
}

// SAFETY: the kernel writes to it, and nobody reads.
unsafe impl Send for Room {}

const O_PATH: u32 = 0o10_000_000;
const SEEK_CUR: u32 = 1;
/// Flags of opening, as numbers of x86-64, and what they are here. Those that write have no place in a repetition.
const FLAGS: [(u32, c_int); 8] = [
    (0o4_000, libc::O_NONBLOCK),
    (0o40_000, libc::O_DIRECT),
    (0o200_000, libc::O_DIRECTORY),
    (0o400_000, libc::O_NOFOLLOW),
    (0o1_000_000, libc::O_NOATIME),
    (0o2_000_000, libc::O_CLOEXEC),
    (0o4_010_000, libc::O_SYNC),
    (O_PATH, libc::O_PATH),
];

pub(super) fn flags_here(flags: u32) -> c_int {
    let set = FLAGS.iter().filter(|(bits, _)| flags & bits == *bits).fold(0, |all, (_, here)| all | here);
    match flags & O_PATH {
        // Nothing else goes with it.
        0 => set | libc::O_NOCTTY | libc::O_NONBLOCK,
        _ => set & (libc::O_PATH | libc::O_DIRECTORY | libc::O_NOFOLLOW | libc::O_CLOEXEC),
    }
}

impl Call<'_> {
    /// Makes it; `room` is for whatever it reads, and `noise` is as long as whatever it writes.
    ///
    /// What programs ask most is compiled into the loop, as in the sessions of objects: to return from a function in which the kernel was entered takes some 0.2 µs,
    /// which would be told as the call's.
    #[inline(always)]
    pub(super) fn make(&self, own: Room, noise: &[u8]) -> Answer {
        let Room { bytes: most, data, whose } = own;
        let room = |asked: u64| (asked as usize).min(most);
        // SAFETY: paths end with zero, records are as large as the kernel's, and no call is given more room than its buffer has. A descriptor that is none is
        // answered with EBADF. A task makes one call at a time.
        unsafe {
            let done: i64 = match *self {
                Self::Stat(at, path, flags) => {
                    return came(statat(on(at), path, AtFlags::from_bits_retain(flags)).map(|_| 0));
                }
                Self::Statx(at, path, flags) => {
                    let flags = AtFlags::from_bits_retain(flags);
                    return came(statx(on(at), path, flags, StatxFlags::BASIC_STATS).map(|_| 0));
                }
                Self::Access(at, path, mode, 0) => {
                    libc::syscall(libc::SYS_faccessat, at, path.as_ptr(), mode)
                }
                Self::Access(at, path, mode, flags) => {
                    libc::syscall(libc::SYS_faccessat2, at, path.as_ptr(), mode, flags)
                }
                Self::ReadLink(at, path, length) if whose == Whose::Task => {
                    return came(readlinkat_raw(on(at), path, own.begin(room(length))).map(|_| 0));
                }
                Self::ReadLink(at, path, length) => {
                    libc::readlinkat(at, path.as_ptr(), data.cast(), room(length)) as i64
                }
                Self::Open(at, path, flags) => return open(at, path, flags_here(flags), 0),
                Self::StatFs(path) => {
                    let mut record = MaybeUninit::<libc::statfs>::uninit();
                    libc::statfs(path.as_ptr(), record.as_mut_ptr()).into()
                }
                Self::StatFsOf(on) => {
                    let mut record = MaybeUninit::<libc::statfs>::uninit();
                    libc::fstatfs(on, record.as_mut_ptr()).into()
                }
                Self::ChangeDirectory(path) => libc::chdir(path.as_ptr()).into(),
                Self::ChangeDirectoryTo(on) => libc::fchdir(on).into(),
                Self::TellDirectory => {
                    let mut told = MaybeUninit::<[u8; libc::PATH_MAX as usize]>::uninit();
                    libc::syscall(libc::SYS_getcwd, told.as_mut_ptr(), libc::PATH_MAX as usize)
                }
                Self::Attributes(at) => return came(fstat(on(at)).map(|_| 0)),
                Self::Read(at, length) if whose == Whose::Task => {
                    return came(read(on(at), own.begin(room(length))).map(|bytes| bytes as u64));
                }
                Self::ReadAt(at, length, offset) if whose == Whose::Task => {
                    return came(pread(on(at), own.begin(room(length)), offset).map(|bytes| bytes as u64));
                }
                Self::Read(on, length) => libc::read(on, data.cast(), room(length)) as i64,
                Self::ReadAt(on, length, offset) => {
                    libc::pread(on, data.cast(), room(length), offset.cast_signed()) as i64
                }
                Self::Seek(at, offset, SEEK_CUR) => {
                    return came(seek(on(at), SeekFrom::Current(offset)).map(|_| 0));
                }
                Self::Seek(on, offset, whence) => libc::lseek(on, offset, whence as c_int),
                Self::List(on, length) => libc::syscall(libc::SYS_getdents64, on, data, room(length)),
                Self::Map(on, length, offset) => return mapped(on, length as usize, offset.cast_signed()),
                Self::Flags(on) => libc::fcntl(on, libc::F_GETFD).into(),
                Self::IsTerminal(on) => {
                    let mut record = MaybeUninit::<libc::termios>::uninit();
                    libc::ioctl(on, libc::TCGETS, record.as_mut_ptr()).into()
                }
                Self::Duplicate(on, None) => return opened(libc::fcntl(on, libc::F_DUPFD_CLOEXEC, 3).into()),
                Self::Duplicate(on, Some(over)) => {
                    return opened(libc::dup3(on, over, libc::O_CLOEXEC).into());
                }
                Self::Close(at) => return came(try_close(on(at).as_raw_fd()).map(|()| 0)),
                Self::Change(ref change) => return change.make(noise),
            };
            let is_transfer = matches!(self, Self::Read(..) | Self::ReadAt(..) | Self::List(..));
            let completion = match done {
                ..0 => failure(),
                bytes if is_transfer => Completion::ok(bytes as u64),
                _ => Completion::ok(0),
            };
            Answer { completion, opened: None, mapping: None }
        }
    }
}

unsafe fn mapped(on: RawFd, length: usize, offset: i64) -> Answer {
    // SAFETY: a new mapping that nobody reads; it goes before anything else is asked.
    let address =
        unsafe { libc::mmap(std::ptr::null_mut(), length, libc::PROT_READ, libc::MAP_PRIVATE, on, offset) };
    match address {
        libc::MAP_FAILED => Answer { completion: failure(), opened: None, mapping: None },
        address => Answer {
            completion: Completion::ok(0),
            opened: None,
            mapping: Some((address.expose_provenance(), length)),
        },
    }
}

/// Whether a descriptor is of what may be in a repetition: a file, a directory, or a link that is only pointed at. What else stands there since the look is not asked anything.
pub(super) fn is_file(descriptor: RawFd) -> bool {
    fstat(on(descriptor)).is_ok_and(|found| {
        matches!(found.st_mode & libc::S_IFMT, libc::S_IFREG | libc::S_IFDIR | libc::S_IFLNK)
    })
}

/// Takes back a mapping.
pub(super) fn unmap((address, length): (usize, usize)) {
    // SAFETY: it was made by a call of a repetition, and nobody looks into it.
    unsafe { libc::munmap(std::ptr::with_exposed_provenance_mut(address), length) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::OwnedFd;

    fn directory() -> (tempfile::TempDir, OwnedFd) {
        let directory = tempfile::tempdir().unwrap();
        let opened = OwnedFd::from(std::fs::File::open(directory.path()).unwrap());
        (directory, opened)
    }

    #[test]
    fn no_open_leaves_the_directory_or_waits() {
        let (directory, root) = directory();
        let mut buffer = [0; 64];
        let room = Room { data: buffer.as_mut_ptr(), bytes: buffer.len(), whose: Whose::Task };
        let make = |call: Call<'_>| call.make(room, &[]);
        let errno = |answer: Answer| answer.completion.code.errno();
        std::os::unix::fs::symlink("/etc/passwd", directory.path().join("out")).unwrap();
        std::os::unix::fs::symlink("file", directory.path().join("in")).unwrap();
        std::fs::write(directory.path().join("file"), "text").unwrap();
        let fifo = directory.path().join("fifo");
        rustix::fs::mknodat(CWD, &fifo, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0).unwrap();
        let open = |path| make(Call::Open(root.as_raw_fd(), path, 0));
        assert_eq!(errno(open(c"out")), Some(libc::EXDEV));
        assert_eq!(errno(open(c"../x")), Some(libc::EXDEV));
        for path in [c"in", c"fifo"] {
            let new = open(path).opened.unwrap();
            assert_eq!(is_file(new), path != c"fifo");
            assert!(path == c"fifo" || make(Call::Read(new, 64)).completion.bytes == 4);
            assert_eq!(errno(make(Call::Close(new))), None);
        }
        assert_eq!(errno(open(c"absent")), Some(libc::ENOENT));
    }

    use rustix::fs::CWD;

    #[test]
    fn each_call_answers_as_the_kernel_does() {
        let (directory, root) = directory();
        let at = root.as_raw_fd();
        std::fs::write(directory.path().join("file"), "0123456789").unwrap();
        std::os::unix::fs::symlink("file", directory.path().join("link")).unwrap();
        let mut buffer = vec![0; 4096];
        let room = Room { data: buffer.as_mut_ptr(), bytes: buffer.len(), whose: Whose::Task };
        let make = |call: Call<'_>| call.make(room, &[]);
        let file = make(Call::Open(at, c"file", 0o2_000_000)).opened.unwrap();
        let bytes = |answer: Answer| (answer.completion.is_ok(), answer.completion.bytes);
        assert_eq!(bytes(make(Call::Read(file, 4))), (true, 4));
        assert_eq!(bytes(make(Call::ReadAt(file, 100, 8))), (true, 2));
        for call in [
            Call::Stat(at, c"file", 0),
            Call::Statx(at, c"link", 0x100),
            Call::Access(at, c"file", 4, 0),
            Call::Access(at, c"link", 4, 0x100),
            Call::ReadLink(at, c"link", 100),
            Call::StatFs(c"/"),
            Call::StatFsOf(file),
            Call::ChangeDirectoryTo(at),
            Call::TellDirectory,
            Call::Attributes(file),
            Call::Seek(file, 0, 0),
            Call::Flags(file),
        ] {
            assert_eq!(bytes(make(call)), (true, 0), "{call:?}");
        }
        assert!(bytes(make(Call::List(at, 4096))).1 >= 24);
        let mapping = make(Call::Map(file, 10, 0)).mapping.unwrap();
        unmap(mapping);
        let copy = make(Call::Duplicate(file, None)).opened.unwrap();
        assert_eq!(make(Call::Duplicate(at, Some(copy))).opened, Some(copy));
        assert_eq!(make(Call::IsTerminal(file)).completion.code.errno(), Some(libc::ENOTTY));
        assert_eq!(make(Call::Read(-1, 1)).completion.code.errno(), Some(libc::EBADF));
        [file, copy].into_iter().for_each(super::super::answer::close);
    }
}
