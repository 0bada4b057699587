//! The loop itself, which `loop_cost` of the crate iolag runs within one process beside iolag's own.

use std::ffi::CString;
use std::hint::black_box;
use std::ops::Range;
use std::os::fd::{IntoRawFd, OwnedFd};
use std::path::Path;

use anyhow::{Context, Result, ensure};
use rustix::fs::{AtFlags, Mode, OFlags, StatxFlags};
use rustix::time::{ClockId, clock_gettime};

pub const OPERATIONS_PER_OBJECT: u64 = 4;
/// Of a sample: six words of 8 bytes.
type Record = [u64; 6];
/// 48 MiB, as a client's share of a ring would be.
const RECORDS: usize = 1 << 20;

/// What the loop works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// The first part of the directories' names.
    pub rank: u32,
    pub datasets: usize,
    /// Objects in each data set at any time.
    pub precreated: usize,
    /// Objects per data set and iteration.
    pub objects: usize,
    /// Of an object.
    pub bytes: usize,
}

/// What is done around an operation and around a call; compiled into the loop.
pub trait Watch {
    fn object<T>(&mut self, operation: u64, work: impl FnOnce(&mut Self) -> T) -> T;
    fn call<T>(&mut self, operation: u64, work: impl FnOnce() -> T) -> T;
}

/// Where the clock's readings go.
pub trait Sink {
    fn put(&mut self, operation: u64, start_ns: u64, end_ns: u64);
}

pub struct Blind;
pub struct ObjectClock<S>(pub S);
pub struct CallClock<S>(pub S);
pub struct Forget;

pub struct Buffer {
    pub records: Vec<Record>,
    pub next: usize,
}

impl Watch for Blind {
    #[inline(always)]
    fn object<T>(&mut self, _: u64, work: impl FnOnce(&mut Self) -> T) -> T {
        work(self)
    }

    #[inline(always)]
    fn call<T>(&mut self, _: u64, work: impl FnOnce() -> T) -> T {
        work()
    }
}

impl<S: Sink> Watch for ObjectClock<S> {
    #[inline(always)]
    fn object<T>(&mut self, operation: u64, work: impl FnOnce(&mut Self) -> T) -> T {
        let start_ns = now_ns();
        let result = work(self);
        self.0.put(operation, start_ns, now_ns());
        result
    }

    #[inline(always)]
    fn call<T>(&mut self, _: u64, work: impl FnOnce() -> T) -> T {
        work()
    }
}

impl<S: Sink> Watch for CallClock<S> {
    #[inline(always)]
    fn object<T>(&mut self, _: u64, work: impl FnOnce(&mut Self) -> T) -> T {
        work(self)
    }

    #[inline(always)]
    fn call<T>(&mut self, operation: u64, work: impl FnOnce() -> T) -> T {
        let start_ns = now_ns();
        let result = work();
        self.0.put(operation, start_ns, now_ns());
        result
    }
}

impl Sink for Forget {
    #[inline(always)]
    fn put(&mut self, _: u64, start_ns: u64, end_ns: u64) {
        black_box((start_ns, end_ns));
    }
}

impl Buffer {
    pub fn new() -> Self {
        // Written, so that no page is touched first while the clock runs; not zero, which could be mapped lazily.
        Self { records: vec![[1; 6]; RECORDS], next: 0 }
    }
}

impl Sink for Buffer {
    #[inline(always)]
    fn put(&mut self, operation: u64, start_ns: u64, end_ns: u64) {
        let at = self.next & (RECORDS - 1);
        self.records[at] = [self.next as u64, start_ns, start_ns, end_ns - start_ns, 0, operation];
        black_box(&self.records[at]);
        self.next += 1;
    }
}

#[inline(always)]
fn now_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Objects are opened as iolag opens them: the same system calls means the same flags.
const OBJECT_FLAGS: OFlags = OFlags::CLOEXEC.union(OFlags::NOFOLLOW);

/// The loop's state: a queue of objects per data set, of which the oldest is removed and a new one appended.
pub struct Loop {
    shape: Shape,
    directory: OwnedFd,
    /// Number of the oldest object in each data set.
    index: usize,
    content: Pages,
    buffer: Pages,
    /// Name of the object that is read and of the one that is made, in the order of the loop.
    names: Vec<(CString, CString)>,
}

impl Loop {
    /// Makes the data sets and their objects in a directory that is empty.
    pub fn precreated(shape: Shape, place: &Path) -> Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = rustix::fs::open(place, flags, Mode::empty())
            .with_context(|| format!("opening {}", place.display()))?;
        for dataset in 0..shape.datasets {
            let name = format!("{}_{dataset}", shape.rank);
            rustix::fs::mkdirat(&directory, name.as_str(), Mode::from_raw_mode(0o700))
                .with_context(|| format!("making the directory {name}"))?;
        }
        let (content, buffer) = (Pages::new(b'x', shape.bytes), Pages::new(0, shape.bytes));
        let bare = Self { shape, directory, index: 0, content, buffer, names: Vec::new() };
        for index in 0..shape.precreated {
            for dataset in 0..shape.datasets {
                bare.create(&mut Blind, &object_name(shape.rank, dataset, index))?;
            }
        }
        Ok(bare)
    }

    /// One iteration, whose names are prepared.
    pub fn iterate(&mut self, watch: &mut impl Watch) -> Result<()> {
        let names = std::mem::take(&mut self.names);
        for (oldest, newest) in &names {
            self.cycle(watch, oldest, newest)?;
        }
        self.names = names;
        self.index += self.shape.objects;
        Ok(())
    }

    /// Of an iteration.
    pub const fn operations(&self) -> u64 {
        (self.shape.datasets * self.shape.objects) as u64 * OPERATIONS_PER_OBJECT
    }

    /// Before each iteration.
    pub fn prepare_names(&mut self) {
        let Shape { rank, datasets, precreated, objects, .. } = self.shape;
        self.names.clear();
        for index in self.index..self.index + objects {
            for dataset in 0..datasets {
                let oldest = object_name(rank, dataset, index);
                self.names.push((oldest, object_name(rank, dataset, index + precreated)));
            }
        }
    }

    #[inline(always)]
    fn cycle(&mut self, watch: &mut impl Watch, oldest: &CString, newest: &CString) -> Result<()> {
        let directory = &self.directory;
        watch.object(0, |watch| watch.call(0, || stat(directory, oldest)))?;
        watch.object(1, |watch| read(watch, directory, oldest, self.buffer.bytes_mut()))?;
        watch.object(2, |watch| {
            watch.call(4, || rustix::fs::unlinkat(directory, oldest.as_c_str(), AtFlags::empty()))
        })?;
        self.create(watch, newest)
    }

    #[inline(always)]
    fn create(&self, watch: &mut impl Watch, name: &CString) -> Result<()> {
        let written = watch.object(3, |watch| -> rustix::io::Result<usize> {
            let flags = OBJECT_FLAGS | OFlags::CREATE | OFlags::TRUNC | OFlags::WRONLY;
            let open =
                || rustix::fs::openat(&self.directory, name.as_c_str(), flags, Mode::from_raw_mode(0o644));
            let file = watch.call(5, open)?;
            let written = watch.call(6, || rustix::io::write(&file, self.content.bytes()))?;
            watch.call(7, || close(file));
            Ok(written)
        })?;
        ensure!(written == self.shape.bytes, "only {written} bytes of {name:?} were written");
        Ok(())
    }
}

/// Bytes at the beginning of a page.
struct Pages {
    bytes: Vec<u8>,
    range: Range<usize>,
}

impl Pages {
    fn new(byte: u8, length: usize) -> Self {
        let bytes = vec![byte; length + 4096];
        let start = bytes.as_ptr().align_offset(4096);
        Self { bytes, range: start..start + length }
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes[self.range.clone()]
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.range.clone()]
    }
}

#[inline(always)]
fn stat(directory: &OwnedFd, name: &CString) -> rustix::io::Result<()> {
    // AT_STATX_SYNC_AS_STAT is the absence of the other two flags.
    let attributes =
        rustix::fs::statx(directory, name.as_c_str(), AtFlags::SYMLINK_NOFOLLOW, StatxFlags::BASIC_STATS)?;
    black_box(&attributes);
    Ok(())
}

#[inline(always)]
fn read(watch: &mut impl Watch, directory: &OwnedFd, name: &CString, buffer: &mut [u8]) -> Result<()> {
    let flags = OBJECT_FLAGS | OFlags::RDONLY;
    let file = watch.call(1, || rustix::fs::openat(directory, name.as_c_str(), flags, Mode::empty()))?;
    let wanted = buffer.len();
    let read = watch.call(2, || rustix::io::read(&file, &mut *buffer))?;
    watch.call(3, || close(file));
    ensure!(read == wanted, "only {read} of {wanted} bytes of {name:?} were read");
    Ok(())
}

/// Compiled into the loop like all other calls; that of the C library would be a function, and make the loop slower.
#[inline(always)]
fn close(file: OwnedFd) {
    // SAFETY: the descriptor is open and owned, and nobody has it afterwards. An error cannot leave it open.
    let _ = unsafe { rustix::io::try_close(file.into_raw_fd()) };
}

fn object_name(rank: u32, dataset: usize, index: usize) -> CString {
    CString::new(format!("{rank}_{dataset}/file-{index}")).expect("digits and letters hold no zero byte")
}
