//! What all clients of the bare side share.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};

use iolag_model::Random;

use crate::window::Counted;

/// Who counts, and whether it is over.
pub struct Shared {
    pub counted: Counted,
    pub is_over: AtomicBool,
    /// All threads, and who looks.
    pub begin: Barrier,
}

impl Shared {
    /// Whether there is nothing more to ask.
    pub fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }
}

/// What nobody can compress, as iolag sends it: a database would else have less to keep.
pub fn noise(bytes: u64) -> Vec<u8> {
    let mut random = Random::new(1);
    let words = std::iter::repeat_with(|| random.bits().to_le_bytes());
    words.flatten().take(bytes as usize).collect()
}
