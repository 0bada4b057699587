//! What all tasks of a copy have together.

use std::os::fd::RawFd;
use std::sync::atomic::{AtomicI32, Ordering};

use super::buffers::Buffers;
use super::paths::Paths;
use super::progress::Progress;

/// What all tasks of a copy have together.
#[derive(Debug)]
pub(super) struct Shared<'a> {
    pub paths: &'a Paths,
    pub progress: Progress,
    pub buffers: Buffers,
    /// By number of the repetition: what a descriptor is in the tables of those who have it.
    pub descriptors: Box<[AtomicI32]>,
}

impl Shared<'_> {
    #[inline]
    pub(super) fn descriptor(&self, number: u32) -> RawFd {
        self.descriptors.get(number as usize).map_or(-1, |known| known.load(Ordering::Acquire))
    }

    pub(super) fn opened(&self, number: u32, descriptor: RawFd) {
        if let Some(known) = self.descriptors.get(number as usize) {
            known.store(descriptor, Ordering::Release);
        }
    }
}
