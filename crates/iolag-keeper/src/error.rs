//! What can go wrong with processes and shared memory.

use rustix::io::Errno;

/// The harness itself cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum KeeperError {
    /// No shared memory.
    #[error("cannot make {bytes} bytes of shared memory for samples: {error}; {}", of_memory(*error))]
    SharedMemory {
        /// How much was wanted.
        bytes: usize,
        /// What the kernel said.
        error: Errno,
    },
    /// Too many clients for the rings.
    #[error(
        "{ring_bytes} bytes for samples are too few for {clients} clients: --buffer must be at least {needed}"
    )]
    RingsTooSmall {
        /// What was given.
        ring_bytes: u64,
        /// For how many.
        clients: u32,
        /// What is needed.
        needed: u64,
    },
    /// No process.
    #[error("cannot start the {role} process: {error}")]
    Fork {
        /// Which of the three.
        role: &'static str,
        /// What the kernel said.
        error: Errno,
    },
    /// Signals cannot be received.
    #[error("cannot receive signals: {error}")]
    Signals {
        /// What the kernel said.
        error: Errno,
    },
}

/// What to do where there is no shared memory.
const fn of_memory(error: Errno) -> &'static str {
    match error {
        Errno::FBIG => "allow this process larger files (ulimit -f), since shared memory counts as one",
        _ => "a smaller --buffer needs less",
    }
}
