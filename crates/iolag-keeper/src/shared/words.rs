//! Words in shared memory: a few numbers that a child writes and the keeper reads at any moment, without asking.
//!
//! They lie in anonymous memory, or in a file on a tmpfs: then they outlive the keeper too, and a later one reads what a child
//! that outlived both has written since.

use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{FallocateFlags, fallocate};

use super::memory::SharedMemory;
use crate::KeeperError;

/// A row of 64-bit numbers, zero at first.
#[derive(Debug, Clone)]
pub struct SharedWords {
    memory: SharedMemory,
    count: usize,
}

impl SharedWords {
    /// `count` words in anonymous memory.
    ///
    /// # Errors
    /// If the kernel has no memory for them.
    pub fn new(count: usize) -> Result<Self, KeeperError> {
        Ok(Self { memory: SharedMemory::new(count * size_of::<u64>())?, count })
    }

    /// `count` words in a file on a tmpfs, which is made long enough; what it holds already is kept.
    ///
    /// # Errors
    /// If there is no room for them.
    pub fn in_file(file: BorrowedFd<'_>, count: usize) -> Result<Self, KeeperError> {
        let bytes = count * size_of::<u64>();
        // Reserved now: writing to a page for which a full tmpfs has no room would kill the writer.
        fallocate(file, FallocateFlags::empty(), 0, bytes as u64)
            .map_err(|error| KeeperError::SharedMemory { bytes, error })?;
        Ok(Self { memory: SharedMemory::over(file, bytes)?, count })
    }

    /// How many there are.
    pub const fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// What was stored last at `index`, and everything that its writer stored before.
    ///
    /// # Panics
    /// If there is no such word.
    pub fn load(&self, index: usize) -> u64 {
        self.word(index).load(Ordering::Acquire)
    }

    /// Stores `value` at `index`.
    ///
    /// # Panics
    /// If there is no such word.
    pub fn store(&self, index: usize, value: u64) {
        self.word(index).store(value, Ordering::Release);
    }

    fn word(&self, index: usize) -> &AtomicU64 {
        assert!(index < self.count, "outside of the shared words");
        // SAFETY: within the memory, which lives as long as `self`; every pattern of bits is a valid atomic.
        unsafe { self.memory.at::<AtomicU64>(index * size_of::<u64>(), 1).as_ref() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Child, Ending, Orphanage};
    use iolag_model::Nanoseconds;
    use std::os::fd::AsFd;

    #[test]
    fn a_child_writes_and_the_keeper_reads() {
        let words = SharedWords::new(3).unwrap();
        assert_eq!((words.len(), words.load(2)), (3, 0));
        let theirs = words.clone();
        let mut child = Child::fork("test", Orphanage::Die, move || {
            theirs.store(2, 41);
            0
        })
        .unwrap();
        assert_eq!(child.wait(Nanoseconds::from_seconds(20)), Some(Ending::Exited(0)));
        assert_eq!(words.load(2), 41);
    }

    #[test]
    fn words_in_a_file_are_found_again() {
        let file = tempfile::tempfile().unwrap();
        SharedWords::in_file(file.as_fd(), 4).unwrap().store(1, 7);
        assert_eq!(SharedWords::in_file(file.as_fd(), 4).unwrap().load(1), 7);
    }
}
