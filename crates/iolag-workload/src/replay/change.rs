//! The system calls that change files of a copy's own.
//!
//! Every name is below the directory that was made for the copy, to which nobody else has access. No name leads up, and no link in there leads up or out, so that none leads
//! anywhere else.

use std::ffi::c_int;

use iolag_model::Operation;
use iolag_trace::{Attribute, Change};

use super::records::{Records, flags_here, opening};
use super::shared::Shared;
use super::system_call::{Gives, SystemCall, named, on};

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

/// What is asked of the kernel for that; what is written is the beginning of `noise`, which is long enough.
///
/// # Safety
/// The records outlive the call, and open nothing else before it was made.
pub(super) unsafe fn changing<'a>(
    change: &Change,
    shared: &'a Shared<'_>,
    noise: &'a [u8],
    records: &Records,
) -> SystemCall<'a> {
    use Gives::{Bytes, Nothing};
    let place = |place| {
        let (at, path) = shared.paths.of(place);
        (on(at), named(path))
    };
    let of = |number: u32| on(shared.descriptor(number));
    let (data, room) = (noise.as_ptr().expose_provenance(), |asked: u64| (asked as usize).min(noise.len()));
    let mode = |mode: u32, own| usable(mode, own) as usize;
    // SAFETY: paths end with zero, and no call is told more bytes than there are. A descriptor that is none is answered with EBADF.
    unsafe {
        match *change {
            Change::Open(name, flags, mode, _) => {
                let (at, path) = shared.paths.of(name);
                let flags = flags_here(flags) | flags_to_write(flags);
                let mode = if flags & libc::O_CREAT == 0 { 0 } else { usable(mode, 0o600) };
                opening(at, path, flags, mode, records)
            }
            Change::Write(number, length, _) => {
                SystemCall::new(libc::SYS_write, [of(number), data, room(length)], Bytes)
            }
            Change::WriteAt(number, length, _, offset) => {
                let arguments = [of(number), data, room(length), offset as usize];
                SystemCall::new(libc::SYS_pwrite64, arguments, Bytes)
            }
            Change::Truncate(number, length) => {
                SystemCall::new(libc::SYS_ftruncate, [of(number), length as usize], Nothing)
            }
            Change::Synchronise(number) => SystemCall::new(libc::SYS_fsync, [of(number)], Nothing),
            Change::Remove(name) => removing(place(name), 0),
            Change::RemoveDirectory(name) => removing(place(name), libc::AT_REMOVEDIR),
            Change::MakeDirectory(name, bits) => {
                let (at, path) = place(name);
                SystemCall::new(libc::SYS_mkdirat, [at, path, mode(bits, 0o700)], Nothing)
            }
            Change::Rename(from, to, flags) => {
                let ((at, from), (_, to)) = (place(from), place(to));
                SystemCall::new(libc::SYS_renameat2, [at, from, at, to, flags as usize], Nothing)
            }
            Change::Link(from, to) => {
                let ((at, from), (_, to)) = (place(from), place(to));
                SystemCall::new(libc::SYS_linkat, [at, from, at, to, 0], Nothing)
            }
            Change::SymbolicLink(text, name) => {
                let ((_, text), (at, path)) = (place(text), place(name));
                SystemCall::new(libc::SYS_symlinkat, [text, at, path], Nothing)
            }
            Change::Attributes(name, flags, attribute) => {
                let ((at, path), flags) = (place(name), flags as usize);
                match attribute {
                    Attribute::Mode(bits) => {
                        SystemCall::new(libc::SYS_fchmodat, [at, path, mode(bits, 0o700)], Nothing)
                    }
                    Attribute::Owner => {
                        let [user, group] = own_ids();
                        SystemCall::new(libc::SYS_fchownat, [at, path, user, group, flags], Nothing)
                    }
                    Attribute::Times => SystemCall::new(libc::SYS_utimensat, [at, path, 0, flags], Nothing),
                }
            }
            Change::AttributesOf(number, attribute) => match attribute {
                Attribute::Mode(bits) => {
                    SystemCall::new(libc::SYS_fchmod, [of(number), mode(bits, 0o700)], Nothing)
                }
                Attribute::Owner => {
                    let [user, group] = own_ids();
                    SystemCall::new(libc::SYS_fchown, [of(number), user, group], Nothing)
                }
                Attribute::Times => SystemCall::new(libc::SYS_utimensat, [of(number), 0, 0, 0], Nothing),
            },
        }
    }
}

/// unlinkat(2).
///
/// # Safety
/// The name outlives the call.
unsafe fn removing<'a>((at, path): (usize, usize), flags: c_int) -> SystemCall<'a> {
    // SAFETY: as the caller promises.
    unsafe { SystemCall::new(libc::SYS_unlinkat, [at, path, flags as usize], Gives::Nothing) }
}

/// To whom belongs already what is ours.
fn own_ids() -> [usize; 2] {
    [rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw()].map(|id| id as usize)
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::sync::atomic::AtomicI32;

    use iolag_backend::Completion;
    use iolag_model::FailureCode;
    use iolag_trace::{Place, PlaceId, Repetition};

    use crate::replay::buffers::{Buffers, noise};
    use crate::replay::paths::{MapRoot, Paths};
    use crate::replay::progress::Progress;
    use crate::replay::system_call::{Answer, close};

    #[test]
    fn each_change_does_what_the_kernel_does() {
        let directory = tempfile::tempdir().unwrap();
        let root = MapRoot::open(directory.path()).unwrap();
        let place = |name: &str| Place { map: 0, path: name.as_bytes().to_vec() };
        let [d, f, g, h, l] = [0, 1, 2, 3, 4].map(PlaceId);
        let paths = Paths::new(vec![root], &["d", "d/f", "d/g", "h", "l"].map(place));
        let (noise, records) = (noise(4096, 3), Records::new());
        let shared = Shared {
            paths: &paths,
            progress: Progress::new(1),
            buffers: Buffers::new(&Repetition::default(), 0),
            descriptors: Box::new([AtomicI32::new(-1)]),
        };
        let make = |change: &Change| {
            // SAFETY: all of it is there until it was made.
            let call = unsafe { changing(change, &shared, &noise, &records) };
            call.answer(call.make())
        };
        let is_ok = |answer: Answer| answer.completion.is_ok();
        assert!(is_ok(make(&Change::MakeDirectory(d, 0))), "and its owner may use it");
        // To read and write, to be made, and not to be there yet.
        let create = Change::Open(f, 0o302, 0, Some(0));
        let file = make(&create).opened.unwrap();
        assert_eq!(make(&create).completion.code, FailureCode::from_errno(libc::EEXIST));
        shared.opened(0, file);
        assert_eq!(make(&Change::Write(0, 100, 100)).completion, Completion::ok(100));
        assert_eq!(make(&Change::WriteAt(0, 50, 50, 1000)).completion, Completion::ok(50));
        let found = std::fs::read(directory.path().join("d/f")).unwrap();
        assert_eq!((found.len(), &found[..100], &found[1000..]), (1050, &noise[..100], &noise[..50]));
        for change in [
            Change::Truncate(0, 10),
            Change::Synchronise(0),
            Change::Link(f, g),
            Change::Rename(g, h, 0),
            Change::SymbolicLink(f, l),
            Change::Attributes(h, 0, Attribute::Mode(0o4000)),
            Change::Attributes(l, 0x100, Attribute::Times),
            Change::Attributes(l, 0x100, Attribute::Owner),
            Change::AttributesOf(0, Attribute::Owner),
            Change::AttributesOf(0, Attribute::Times),
            Change::AttributesOf(0, Attribute::Mode(0o640)),
        ] {
            assert!(is_ok(make(&change)), "{change:?}");
        }
        let found = std::fs::metadata(directory.path().join("l")).unwrap();
        assert_eq!((found.len(), found.nlink(), found.permissions().mode() & 0o7777), (10, 2, 0o740));
        for change in [Change::Remove(l), Change::Remove(h), Change::Remove(f), Change::RemoveDirectory(d)] {
            assert!(is_ok(make(&change)), "{change:?}");
        }
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
        close(file);
    }

    #[test]
    fn what_is_written_to_is_opened_so() {
        assert_eq!(flags_to_write(0o1102), libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC);
    }
}
