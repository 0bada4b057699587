//! What a repetition asks, as system calls; made ready before the clock is read.

use std::ffi::c_int;
use std::os::fd::RawFd;

use iolag_trace::Ask;

use super::buffers::Room;
use super::change::changing;
use super::records::{Records, flags_here, opening};
use super::shared::Shared;
use super::system_call::{Gives, SystemCall, named, on};

/// fstat(2) of what is open.
///
/// # Safety
/// The records outlive the call.
#[inline(always)]
pub(super) unsafe fn attributes<'a>(of: RawFd, records: &Records) -> SystemCall<'a> {
    // SAFETY: as the caller promises.
    unsafe { SystemCall::new(libc::SYS_fstat, [on(of), records.written()], Gives::Nothing) }
}

/// What is asked of the kernel for that; nothing if it is no call. What is read goes to `room`, and `noise` is as long as whatever is written.
///
/// # Safety
/// Room and records outlive the call, and have to do with no other before it was made.
#[inline(always)]
pub(super) unsafe fn asked<'a>(
    ask: &Ask,
    shared: &'a Shared<'_>,
    own: Room,
    noise: &'a [u8],
    records: &Records,
) -> Option<SystemCall<'a>> {
    use Gives::{Bytes, Descriptor, Mapping, Nothing};
    let paths = shared.paths;
    let of = |number: u32| on(shared.descriptor(number));
    let data = own.data.expose_provenance();
    let room = |asked: u64| (asked as usize).min(own.bytes);
    let looked_up = |name| {
        let (at, path) = paths.looked_up(name, |number| shared.descriptor(number));
        (on(at), named(path))
    };
    let flag = |flag: c_int| flag as usize;
    // SAFETY: paths end with zero and outlive the call, records are as large as the kernel's, and no call is given more room than its buffer has. A descriptor that
    // is none is answered with EBADF.
    unsafe {
        Some(match *ask {
            Ask::Stat(name, flags) => {
                let (at, path) = looked_up(name);
                let arguments = [at, path, records.written(), flags as usize];
                SystemCall::new(libc::SYS_newfstatat, arguments, Nothing)
            }
            Ask::Statx(name, flags) => {
                let (at, path) = looked_up(name);
                let basic = libc::STATX_BASIC_STATS as usize;
                let arguments = [at, path, flags as usize, basic, records.written()];
                SystemCall::new(libc::SYS_statx, arguments, Nothing)
            }
            Ask::Access(name, mode, 0) => {
                let (at, path) = looked_up(name);
                SystemCall::new(libc::SYS_faccessat, [at, path, mode as usize], Nothing)
            }
            Ask::Access(name, mode, flags) => {
                let (at, path) = looked_up(name);
                let arguments = [at, path, mode as usize, flags as usize];
                SystemCall::new(libc::SYS_faccessat2, arguments, Nothing)
            }
            Ask::ReadLink(name, length) => {
                let (at, path) = looked_up(name);
                SystemCall::new(libc::SYS_readlinkat, [at, path, data, room(length)], Nothing)
            }
            Ask::Open(name, flags, _) => {
                let (at, path) = paths.looked_up(name, |number| shared.descriptor(number));
                opening(at, path, flags_here(flags), 0, records)
            }
            Ask::StatFs(place) => {
                SystemCall::new(libc::SYS_statfs, [named(paths.whole(place)), records.written()], Nothing)
            }
            Ask::StatFsOf(number) => {
                SystemCall::new(libc::SYS_fstatfs, [of(number), records.written()], Nothing)
            }
            Ask::ChangeDirectory(place) => {
                SystemCall::new(libc::SYS_chdir, [named(paths.whole(place))], Nothing)
            }
            Ask::ChangeDirectoryTo(number) => SystemCall::new(libc::SYS_fchdir, [of(number)], Nothing),
            Ask::TellDirectory => {
                let arguments = [records.written(), libc::PATH_MAX as usize];
                SystemCall::new(libc::SYS_getcwd, arguments, Nothing)
            }
            Ask::Attributes(number) => attributes(shared.descriptor(number), records),
            Ask::Read(number, length, _) => {
                SystemCall::new(libc::SYS_read, [of(number), data, room(length)], Bytes)
            }
            Ask::ReadAt(number, length, _, offset) => {
                let arguments = [of(number), data, room(length), offset as usize];
                SystemCall::new(libc::SYS_pread64, arguments, Bytes)
            }
            Ask::Seek(number, offset, whence) => {
                SystemCall::new(libc::SYS_lseek, [of(number), offset as usize, whence as usize], Nothing)
            }
            Ask::List(number, length, _) => {
                SystemCall::new(libc::SYS_getdents64, [of(number), data, room(length)], Bytes)
            }
            Ask::Map(number, length, offset) => {
                let (read, private) = (flag(libc::PROT_READ), flag(libc::MAP_PRIVATE));
                let arguments = [0, length as usize, read, private, of(number), offset as usize];
                SystemCall::new(libc::SYS_mmap, arguments, Mapping)
            }
            Ask::Flags(number) => {
                SystemCall::new(libc::SYS_fcntl, [of(number), flag(libc::F_GETFD)], Nothing)
            }
            Ask::IsTerminal(number) => {
                let arguments = [of(number), libc::TCGETS as usize, records.written()];
                SystemCall::new(libc::SYS_ioctl, arguments, Nothing)
            }
            Ask::Duplicate(from, _, over) => match over.map(|over| shared.descriptor(over)) {
                Some(over) if over >= 0 => {
                    let arguments = [of(from), on(over), flag(libc::O_CLOEXEC)];
                    SystemCall::new(libc::SYS_dup3, arguments, Descriptor)
                }
                _ => {
                    let arguments = [of(from), flag(libc::F_DUPFD_CLOEXEC), 3];
                    SystemCall::new(libc::SYS_fcntl, arguments, Descriptor)
                }
            },
            Ask::Close(ref all) => SystemCall::new(libc::SYS_close, [of(*all.first()?)], Nothing),
            Ask::Change(ref change) => changing(change, shared, noise, records),
            Ask::Fork(_) | Ask::Execute(_) | Ask::Wait | Ask::CloseAll(_) => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicI32;

    use iolag_trace::{At, Name, Place, PlaceId, Repetition};
    use rustix::fs::{CWD, FileType, Mode};

    use crate::replay::buffers::Buffers;
    use crate::replay::paths::{MapRoot, Paths};
    use crate::replay::progress::Progress;
    use crate::replay::system_call::{Answer, close, unmap};

    /// The calls of a repetition below one directory, of which descriptor 0 is the first thing opened.
    struct Below {
        directory: tempfile::TempDir,
        paths: Paths,
        opened: RawFd,
        buffer: Vec<u8>,
        records: Records,
    }

    impl Below {
        fn new(names: &[&str]) -> Self {
            let directory = tempfile::tempdir().unwrap();
            let root = MapRoot::open(directory.path()).unwrap();
            let place = |name: &&str| Place { map: 0, path: name.as_bytes().to_vec() };
            let paths = Paths::new(vec![root], &names.iter().map(place).collect::<Vec<_>>());
            Self { directory, paths, opened: -1, buffer: vec![0; 4096], records: Records::new() }
        }

        fn make(&mut self, ask: &Ask) -> Answer {
            let shared = Shared {
                paths: &self.paths,
                progress: Progress::new(1),
                buffers: Buffers::new(&Repetition::default(), 0),
                descriptors: Box::new([AtomicI32::new(self.opened)]),
            };
            let room = Room { data: self.buffer.as_mut_ptr(), bytes: self.buffer.len() };
            // SAFETY: all of it is there until it was made.
            let call = unsafe { asked(ask, &shared, room, &[], &self.records) }.unwrap();
            call.answer(call.make())
        }

        fn open(&mut self, name: u32) -> Answer {
            let answer = self.make(&Ask::Open(named(name), 0o2_000_000, None));
            self.opened = answer.opened.unwrap_or(-1);
            answer
        }
    }

    fn named(place: u32) -> Name {
        Name { place: PlaceId(place), at: At::Map }
    }

    #[test]
    fn no_open_leaves_the_directory_or_waits() {
        let mut below = Below::new(&["out", "../x", "in", "fifo", "absent"]);
        let errno = |answer: Answer| answer.completion.code.errno();
        let path = below.directory.path().to_owned();
        std::os::unix::fs::symlink("/etc/passwd", path.join("out")).unwrap();
        std::os::unix::fs::symlink("file", path.join("in")).unwrap();
        std::fs::write(path.join("file"), "text").unwrap();
        rustix::fs::mknodat(CWD, path.join("fifo"), FileType::Fifo, Mode::RUSR, 0).unwrap();
        assert_eq!(errno(below.open(0)), Some(libc::EXDEV));
        assert_eq!(errno(below.open(1)), Some(libc::EXDEV));
        for (name, is_file) in [(2, true), (3, false)] {
            assert_eq!(errno(below.open(name)), None);
            assert_eq!(errno(below.make(&Ask::Attributes(0))), None);
            assert_eq!(below.records.is_of_file(), is_file);
            assert!(!is_file || below.make(&Ask::Read(0, 64, 4)).completion.bytes == 4);
            assert_eq!(errno(below.make(&Ask::Close(vec![0]))), None);
        }
        assert_eq!(errno(below.open(4)), Some(libc::ENOENT));
    }

    #[test]
    fn each_call_answers_as_the_kernel_does() {
        let mut below = Below::new(&["file", "link", "", "."]);
        let path = below.directory.path().to_owned();
        std::fs::write(path.join("file"), "0123456789").unwrap();
        std::os::unix::fs::symlink("file", path.join("link")).unwrap();
        let bytes = |answer: Answer| (answer.completion.is_ok(), answer.completion.bytes);
        below.open(0);
        assert_eq!(bytes(below.make(&Ask::Read(0, 4, 4))), (true, 4));
        assert_eq!(bytes(below.make(&Ask::ReadAt(0, 100, 2, 8))), (true, 2));
        assert_eq!(below.buffer[..4], *b"8923");
        for ask in [
            Ask::Stat(named(0), 0),
            Ask::Statx(named(1), 0x100),
            Ask::Access(named(0), 4, 0),
            Ask::Access(named(1), 4, 0x100),
            Ask::ReadLink(named(1), 100),
            Ask::StatFs(PlaceId(0)),
            Ask::StatFsOf(0),
            Ask::TellDirectory,
            Ask::Attributes(0),
            Ask::Seek(0, 0, 0),
            Ask::Flags(0),
        ] {
            assert_eq!(bytes(below.make(&ask)), (true, 0), "{ask:?}");
        }
        let mapping = below.make(&Ask::Map(0, 10, 0)).mapping.unwrap();
        assert_eq!(mapping.1, 10);
        unmap(mapping);
        let copy = below.make(&Ask::Duplicate(0, 1, None)).opened.unwrap();
        assert!(copy >= 3 && copy != below.opened);
        close(copy);
        assert_eq!(below.make(&Ask::Duplicate(0, 1, Some(0))).completion.code.errno(), Some(libc::EINVAL));
        assert_eq!(below.make(&Ask::IsTerminal(0)).completion.code.errno(), Some(libc::ENOTTY));
        assert_eq!(bytes(below.make(&Ask::Close(vec![0]))), (true, 0));
        below.open(3);
        assert!(bytes(below.make(&Ask::List(0, 4096, 48))).1 >= 24);
        close(below.opened);
        below.opened = -1;
        assert_eq!(below.make(&Ask::Read(0, 1, 1)).completion.code.errno(), Some(libc::EBADF));
    }
}
