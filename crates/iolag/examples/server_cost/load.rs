//! What both sides ask.

/// As studies of metadata have it.
pub const OBJECT_BYTES: u64 = 3901;
/// Objects that a client has at any time.
pub const OBJECTS: u64 = 100;

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    Objects,
    Get { bytes: u64 },
    Idle,
}

/// What both sides do.
pub struct Load {
    pub what: What,
    pub target: String,
    pub clients: u32,
    pub seconds: u64,
}

/// Threads that ask: iolag has as many workers.
pub fn workers(clients: u32) -> usize {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    processors.min(clients as usize).max(1)
}
