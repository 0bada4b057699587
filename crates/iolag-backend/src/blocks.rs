//! Buffers that many sessions share: thousands of connections that drop what they read need no place of their own for it.

use std::sync::{Arc, Mutex, PoisonError};

use iolag_model::ClientId;

use crate::paged::{PagedBytes, buffer_bytes};

/// What the sessions of a worker read into and write from, one after the other.
#[derive(Debug, Clone)]
pub struct Blocks {
    read: Arc<Mutex<PagedBytes>>,
    written: Arc<PagedBytes>,
}

impl Blocks {
    /// Blocks of up to so many bytes, with noise of the seed and of the worker's first client.
    pub fn new(seed: u64, client: ClientId, bytes_max: u64) -> Self {
        let length = buffer_bytes(bytes_max);
        Self {
            read: Arc::new(Mutex::new(PagedBytes::new(0xff, length))),
            written: Arc::new(PagedBytes::noise(seed, client, length)),
        }
    }

    /// What is written: bytes that do not compress.
    pub fn written(&self) -> &[u8] {
        &self.written
    }

    /// Reads into the block. It is this session's for as long as that lasts, which is never over a wait: the others of the worker
    /// overwrite it then.
    pub fn read_into<T>(&self, read: impl FnOnce(&mut [u8]) -> T) -> T {
        // What a session left there when it panicked is overwritten like everything else.
        read(&mut self.read.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_share_one_place_that_has_room_and_noise() {
        let blocks = Blocks::new(1, ClientId(0), 10_000);
        let other = blocks.clone();
        blocks.read_into(|bytes| bytes[..3].copy_from_slice(b"abc"));
        assert_eq!(other.read_into(|bytes| (bytes.len(), bytes[..3].to_vec())), (10_000, b"abc".to_vec()));
        assert_eq!(other.written().as_ptr(), blocks.written().as_ptr());
        assert_eq!(other.written().len(), 10_000);
        assert_ne!(blocks.written(), Blocks::new(1, ClientId(1), 10_000).written());
    }
}
