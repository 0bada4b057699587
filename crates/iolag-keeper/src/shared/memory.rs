//! Shared memory: an anonymous file, mapped by keeper, measurers and writer alike.
//!
//! Invariants: the region outlives every process that maps it; no pointer is stored in it; everything in it that two
//! processes touch is atomic, or is handed over by an atomic (see [`super::ring`]).

use std::os::fd::{AsFd, BorrowedFd};
use std::ptr::NonNull;
use std::sync::Arc;

use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, munmap};

use crate::KeeperError;

/// A region of memory that is shared with every process forked after it was made.
#[derive(Debug, Clone)]
pub struct SharedMemory {
    mapping: Arc<Mapping>,
}

#[derive(Debug)]
struct Mapping {
    base: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the mapping is plain memory; what is in it is accessed by atomics or handed over by them.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl SharedMemory {
    /// Makes a zeroed region of `bytes` bytes. Pages are not yet there: see [`SharedMemory::prefault`].
    ///
    /// # Errors
    /// If the kernel has no memory for it.
    pub fn new(bytes: usize) -> Result<Self, KeeperError> {
        let failed = |error| KeeperError::SharedMemory { bytes, error };
        let file = memfd_create(c"iolag-rings", MemfdFlags::CLOEXEC).map_err(failed)?;
        ftruncate(&file, bytes as u64).map_err(failed)?;
        Self::over(file.as_fd(), bytes)
    }

    /// The first `bytes` bytes of a file that is that long and lies in memory (anonymous, or on a tmpfs).
    pub(crate) fn over(file: BorrowedFd<'_>, bytes: usize) -> Result<Self, KeeperError> {
        let failed = |error| KeeperError::SharedMemory { bytes, error };
        // SAFETY: a new mapping at an address of the kernel's choice touches no memory in use.
        let base = unsafe {
            mmap(std::ptr::null_mut(), bytes, ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED, file, 0)
        }
        .map_err(failed)?;
        let base = NonNull::new(base.cast()).expect("mmap never returns null");
        Ok(Self { mapping: Arc::new(Mapping { base, bytes }) })
    }

    /// Size in bytes.
    pub fn bytes(&self) -> usize {
        self.mapping.bytes
    }

    /// Makes the pages of `offset..offset + bytes` present in this process, so that recording never faults. On kernels
    /// before 5.14 the pages are made present by touching them.
    pub fn prefault(&self, offset: usize, bytes: usize) {
        let page = rustix::param::page_size();
        let start = offset / page * page;
        let end = (offset + bytes).min(self.bytes());
        if start >= end {
            return;
        }
        let address = self.at::<u8>(start, end - start);
        // SAFETY: the range lies in the mapping.
        let populated = unsafe { madvise(address.as_ptr().cast(), end - start, Advice::LinuxPopulateWrite) };
        if populated.is_err() {
            for touched in (start..end).step_by(page) {
                // SAFETY: one byte within the mapping; adding 0 atomically disturbs no other process.
                unsafe { &*self.at::<std::sync::atomic::AtomicU8>(touched, 1).as_ptr() }
                    .fetch_add(0, std::sync::atomic::Ordering::Relaxed);
            }
        }
    }

    /// The address of `count` values of type `T` at `offset`.
    ///
    /// # Panics
    /// If they do not lie within the region or are not aligned: a wrong layout, that is a bug.
    pub(crate) fn at<T>(&self, offset: usize, count: usize) -> NonNull<T> {
        let end = size_of::<T>().checked_mul(count).and_then(|bytes| bytes.checked_add(offset));
        assert!(end.is_some_and(|end| end <= self.mapping.bytes), "outside of the shared memory");
        assert_eq!(offset % align_of::<T>(), 0, "misaligned in the shared memory");
        // SAFETY: within the mapping, as just checked.
        unsafe { self.mapping.base.add(offset) }.cast()
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the last handle goes; nothing refers to the mapping any more. A failure would only leak it.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), self.bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn copies_of_the_handle_see_the_same_zeroed_memory() {
        let memory = SharedMemory::new(1 << 16).unwrap();
        memory.prefault(0, memory.bytes());
        let copy = memory.clone();
        let word = |memory: &SharedMemory| {
            // SAFETY: zeroed shared memory is a valid atomic.
            unsafe { &*memory.at::<AtomicU64>(4096, 1).as_ptr() }.load(Ordering::SeqCst)
        };
        assert_eq!(word(&memory), 0);
        // SAFETY: as above.
        unsafe { &*memory.at::<AtomicU64>(4096, 1).as_ptr() }.store(7, Ordering::SeqCst);
        assert_eq!(word(&copy), 7);
    }

    #[test]
    #[should_panic(expected = "outside of the shared memory")]
    fn nothing_lies_outside() {
        let _ = SharedMemory::new(4096).unwrap().at::<u64>(4090, 1);
    }
}
