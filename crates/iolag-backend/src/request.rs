//! What a client asks of a session, and what comes back.

use iolag_model::{FailureCode, MonotonicTime, Operation};

/// Names an object: object `index` of dataset `dataset` of the client with rank `rank`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ObjectKey {
    /// The client that the dataset belongs to.
    pub rank: u32,
    /// The dataset within that client.
    pub dataset: u32,
    /// The object within the dataset.
    pub index: u64,
}

/// One operation to execute. Small and copied: a workload makes one per operation without allocating.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// What is asked.
    pub operation: Operation,
    /// Of which object; for operations on datasets, `index` is ignored.
    pub key: ObjectKey,
    /// The object's other name, for a rename.
    pub other: ObjectKey,
    /// Bytes to write, or bytes that a read must return.
    pub bytes: u64,
    /// Where in the object a stream's block begins. A task has no blocks: see [`Request::until`].
    pub offset: u64,
}

impl Request {
    /// `operation` on `key` with `bytes` bytes.
    #[inline]
    pub const fn new(operation: Operation, key: ObjectKey, bytes: u64) -> Self {
        Self { operation, key, other: key, bytes, offset: 0 }
    }

    /// A task that is to be ended at this moment, if it has not ended before.
    pub const fn task(operation: Operation, key: ObjectKey, until: MonotonicTime) -> Self {
        Self { offset: until.0, ..Self::new(operation, key, 0) }
    }

    /// When a task is to be ended; one that was made without such a moment goes on until it has ended.
    pub const fn until(&self) -> MonotonicTime {
        MonotonicTime(if self.offset == 0 { u64::MAX } else { self.offset })
    }
}

/// What came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    /// Bytes moved.
    pub bytes: u64,
    /// [`FailureCode::NONE`] if it succeeded.
    pub code: FailureCode,
}

impl Completion {
    /// Success with this many bytes moved.
    #[inline]
    pub const fn ok(bytes: u64) -> Self {
        Self { bytes, code: FailureCode::NONE }
    }

    /// Failure for this reason.
    #[inline]
    pub const fn failed(code: FailureCode) -> Self {
        Self { bytes: 0, code }
    }

    /// Ended by whoever measured, with this many bytes moved until then.
    pub const fn interrupted(bytes: u64) -> Self {
        Self { bytes, code: FailureCode::TIME_UP }
    }

    /// Whether it succeeded.
    #[inline]
    pub const fn is_ok(&self) -> bool {
        self.code.0 == 0
    }
}
