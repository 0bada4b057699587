//! Words in shared memory: a few numbers that a child writes and the keeper reads at any moment, without asking.
//!
//! They lie in anonymous memory, or in a file on a tmpfs: then they outlive the keeper too, and a later one reads what a child
//! that outlived both has written since.

use std::marker::PhantomData;
use std::ops::Deref;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{FallocateFlags, fallocate};

use super::memory::SharedMemory;
use crate::KeeperError;

/// A number, zero at first.
#[derive(Debug)]
#[repr(transparent)]
pub struct Word(AtomicU64);

impl Word {
    /// What was stored last, and everything that its writer stored before.
    pub fn load(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }

    /// Stores `value`.
    pub fn store(&self, value: u64) {
        self.0.store(value, Ordering::Release);
    }
}

/// What may lie in memory that processes share.
///
/// # Safety
/// It is made of nothing but [`Word`]s, and what it is made of stands in a fixed order: `#[repr(C)]`.
pub unsafe trait MadeOfWords {}

// SAFETY: it is one.
unsafe impl MadeOfWords for Word {}
// SAFETY: an array stands in order.
unsafe impl<T: MadeOfWords, const COUNT: usize> MadeOfWords for [T; COUNT] {}

/// Words that each process sees which was forked after they were made.
#[derive(Debug)]
pub struct SharedWords<T> {
    memory: SharedMemory,
    layout: PhantomData<T>,
}

impl<T: MadeOfWords> SharedWords<T> {
    /// Words in anonymous memory.
    ///
    /// # Errors
    /// If the kernel has no memory for them.
    pub fn new() -> Result<Self, KeeperError> {
        Ok(Self { memory: SharedMemory::new(size_of::<T>())?, layout: PhantomData })
    }

    /// Words in a file on a tmpfs, which is made long enough; what it holds already is kept.
    ///
    /// # Errors
    /// If there is no room for them.
    pub fn in_file(file: BorrowedFd<'_>) -> Result<Self, KeeperError> {
        let bytes = size_of::<T>();
        // Reserved now: writing to a page for which a full tmpfs has no room would kill the writer.
        fallocate(file, FallocateFlags::empty(), 0, bytes as u64)
            .map_err(|error| KeeperError::SharedMemory { bytes, error })?;
        Ok(Self { memory: SharedMemory::over(file, bytes)?, layout: PhantomData })
    }
}

impl<T: MadeOfWords> Deref for SharedWords<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the memory is as long and lives as long as `self`; in words every pattern of bits is valid, and only atomics touch it.
        unsafe { self.memory.at::<T>(0, 1).as_ref() }
    }
}

impl<T> Clone for SharedWords<T> {
    fn clone(&self) -> Self {
        Self { memory: self.memory.clone(), layout: PhantomData }
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
        let words = SharedWords::<[Word; 3]>::new().unwrap();
        assert_eq!(words[2].load(), 0);
        let theirs = words.clone();
        let mut child = Child::fork("test", Orphanage::Die, move || {
            theirs[2].store(41);
            0
        })
        .unwrap();
        assert_eq!(child.wait(Nanoseconds::from_seconds(20)), Some(Ending::Exited(0)));
        assert_eq!(words[2].load(), 41);
    }

    #[test]
    fn words_in_a_file_are_found_again() {
        let file = tempfile::tempfile().unwrap();
        let words = || SharedWords::<[Word; 4]>::in_file(file.as_fd()).unwrap();
        words()[1].store(7);
        assert_eq!(words()[1].load(), 7);
    }
}
