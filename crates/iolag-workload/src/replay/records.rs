//! What calls point to besides paths and buffers, and how anything is opened.
//!
//! Every open is below the directory that is mapped, whatever links lie on the way (openat2(2) with RESOLVE_BENEATH), waits for nobody who would open the other end of
//! a pipe, and makes no terminal ours.

use std::cell::UnsafeCell;
use std::ffi::{CStr, c_int};
use std::os::fd::RawFd;

use super::system_call::{Gives, SystemCall, named, on};

/// What else a call points to.
#[derive(Debug)]
pub(super) struct Records(Box<UnsafeCell<Record>>);

#[derive(Debug)]
#[repr(C, align(64))]
struct Record {
    how: How,
    /// Where the kernel writes records of any kind.
    written: [u8; libc::PATH_MAX as usize],
}

/// How something is opened: `struct open_how` of openat2(2).
#[derive(Debug)]
#[repr(C)]
struct How {
    flags: u64,
    mode: u64,
    resolve: u64,
}

impl Records {
    pub(super) fn new() -> Self {
        let how = How { flags: 0, mode: 0, resolve: libc::RESOLVE_BENEATH | libc::RESOLVE_NO_MAGICLINKS };
        // Written to, so that no page of it is touched for the first time while the clock runs.
        Self(Box::new(UnsafeCell::new(Record { how, written: [0xff; libc::PATH_MAX as usize] })))
    }

    /// As an argument.
    #[inline(always)]
    pub(super) fn written(&self) -> usize {
        // SAFETY: a field of what the box holds.
        unsafe { (&raw mut (*self.0.get()).written).expose_provenance() }
    }

    /// As the third argument of openat2(2), until the next one is asked.
    #[inline(always)]
    fn how(&self, flags: c_int, mode: u32) -> usize {
        let record = self.0.get();
        // SAFETY: nobody else has a part of it, and no call is under way that reads it.
        unsafe {
            (*record).how.flags = flags as u32 as u64;
            (*record).how.mode = mode.into();
            (&raw const (*record).how).expose_provenance()
        }
    }

    /// Whether what fstat(2) said last is of what may be in a repetition: a file, a directory, or a link that is only pointed at.
    pub(super) fn is_of_file(&self) -> bool {
        // SAFETY: it was written as long as this, and is aligned as the largest.
        let told = unsafe { (&raw const (*self.0.get()).written).cast::<libc::stat>().read() };
        matches!(told.st_mode & libc::S_IFMT, libc::S_IFREG | libc::S_IFDIR | libc::S_IFLNK)
    }
}

const O_PATH: u32 = 0o10_000_000;
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

/// Asks for what lies below this directory, with these flags of ours.
///
/// # Safety
/// The records outlive the call, and open nothing else before it was made.
#[inline(always)]
pub(super) unsafe fn opening<'a>(
    at: RawFd,
    path: &'a CStr,
    flags: c_int,
    mode: u32,
    records: &Records,
) -> SystemCall<'a> {
    let arguments = [on(at), named(path), records.how(flags, mode), size_of::<How>()];
    // SAFETY: as the caller promises.
    unsafe { SystemCall::new(libc::SYS_openat2, arguments, Gives::Descriptor) }
}
