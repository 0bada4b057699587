//! The calls as a copy makes them: the same system calls with the same flags.

use std::ffi::CStr;
use std::hint::black_box;
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd};
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use rustix::fs::{AtFlags, Mode, OFlags, ResolveFlags, SeekFrom, fstat, openat2, seek, statat};

use crate::program::{Call, FILE_BYTES, LIST_BYTES, Program};

/// What iolag opens with besides what the program did.
const OPEN_FLAGS: OFlags = OFlags::CLOEXEC.union(OFlags::NOCTTY).union(OFlags::NONBLOCK);

/// The program, and where it asks.
pub struct Bare<'a> {
    root: OwnedFd,
    program: &'a Program,
    buffer: Vec<u8>,
}

impl<'a> Bare<'a> {
    /// Asks below this directory.
    pub fn below(root: &Path, program: &'a Program) -> Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = rustix::fs::open(root, flags, Mode::empty())
            .with_context(|| format!("opening {}", root.display()))?;
        // Written to, so that no page of it is touched for the first time while the clock runs.
        Ok(Self { root, program, buffer: vec![0xff; LIST_BYTES] })
    }

    /// Makes all calls so many times; the seconds that took.
    pub fn ask(&mut self, passes: usize) -> Result<f64> {
        let mut seconds = 0.0;
        for _ in 0..passes {
            let start = Instant::now();
            let (looked_up, found, read) = self.pass();
            seconds += start.elapsed().as_secs_f64();
            let expected = self.program.calls.iter().filter(|call| matches!(call, Call::Stat(_))).count();
            ensure!(found == expected, "of {looked_up} look-ups {found} found something, and not {expected}");
            ensure!(read == expected * FILE_BYTES, "{read} bytes were read of {expected} files");
        }
        Ok(seconds)
    }

    /// How many look-ups there were, how many found something, and the bytes that were read.
    ///
    /// Calls are compiled into the loop: through functions of the C library it takes a quarter longer.
    fn pass(&mut self) -> (usize, usize, usize) {
        let (root, buffer) = (&self.root, &mut self.buffer);
        let (mut looked_up, mut found, mut read) = (0, 0, 0);
        let mut opened = None;
        for call in &self.program.calls {
            match (call, &opened) {
                (Call::StatAbsent(path) | Call::Stat(path), _) => {
                    looked_up += 1;
                    found += usize::from(statat(root, path.as_c_str(), AtFlags::empty()).is_ok());
                }
                (Call::Open(path), _) => opened = open(root, path, OPEN_FLAGS),
                (Call::OpenDirectory(path), _) => {
                    opened = open(root, path, OPEN_FLAGS.union(OFlags::DIRECTORY));
                }
                (Call::Attributes, Some(on)) => {
                    black_box(fstat(on).is_ok());
                }
                (Call::Seek, Some(on)) => {
                    black_box(seek(on, SeekFrom::Current(0)).is_ok());
                }
                (Call::Read, Some(on)) => {
                    read += rustix::io::read(on, &mut buffer[..=FILE_BYTES]).unwrap_or_default();
                }
                (Call::ReadEnd, Some(on)) => {
                    read += rustix::io::read(on, &mut buffer[..1]).unwrap_or_default();
                }
                (Call::List(_) | Call::ListEnd, Some(on)) => {
                    // SAFETY: the kernel is given no more room than the buffer has.
                    unsafe {
                        let data = buffer.as_mut_ptr();
                        libc::syscall(libc::SYS_getdents64, on.as_raw_fd(), data, LIST_BYTES);
                    }
                }
                (Call::Close, _) => {
                    if let Some(on) = opened.take() {
                        // SAFETY: the descriptor is open and owned, and nobody has it afterwards.
                        let _ = unsafe { rustix::io::try_close(on.into_raw_fd()) };
                    }
                }
                // The open failed, so that less is read than there is.
                (_, None) => {}
            }
        }
        (looked_up, found, read)
    }
}

/// As iolag opens, which lets nothing lead out of the directory.
#[inline(always)]
fn open(root: &OwnedFd, path: &CStr, flags: OFlags) -> Option<OwnedFd> {
    let resolve = ResolveFlags::BENEATH.union(ResolveFlags::NO_MAGICLINKS);
    openat2(root, path, flags, Mode::empty(), resolve).ok()
}
