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
    /// Bytes to write, or bytes that a read must return; see [`Request::TO_THE_END`].
    pub bytes: u64,
    /// Where in the object a stream's block begins. A task has no blocks: see [`Request::until`].
    pub offset: u64,
}

impl Request {
    /// As the length of a read: to the end of the object, however long it is. What was read is compared with nothing.
    pub const TO_THE_END: u64 = u64::MAX;

    /// As the length of a stat or an open: the object is not to be there. [`expecting_absence`](crate::expecting_absence) makes
    /// that a success.
    pub const ABSENT: u64 = u64::MAX - 1;

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
    /// Which server answered, which other target or which kind of path it was: a number that the backend gave that name; 0
    /// where there is nothing to tell apart.
    pub tag: u16,
}

/// It comes back in registers.
const _: () = assert!(size_of::<Completion>() == 16);

impl Completion {
    /// Success with this many bytes moved.
    #[inline]
    pub const fn ok(bytes: u64) -> Self {
        Self::partly(bytes, FailureCode::NONE)
    }

    /// Failure for this reason.
    #[inline]
    pub const fn failed(code: FailureCode) -> Self {
        Self::partly(0, code)
    }

    /// This many bytes moved, and then that.
    #[inline]
    pub const fn partly(bytes: u64, code: FailureCode) -> Self {
        Self { bytes, code, tag: 0 }
    }

    /// The same, and of whom or of what it tells.
    #[inline]
    pub const fn tagged(self, tag: u16) -> Self {
        Self { tag, ..self }
    }

    /// A read for which the object had only so many bytes: short, unless it was to go on to the end.
    #[cold]
    pub(crate) const fn at_the_end(bytes: u64, asked: u64) -> Self {
        match asked {
            Request::TO_THE_END => Self::ok(bytes),
            _ => Self::partly(bytes, FailureCode::SHORT),
        }
    }

    /// Ended by whoever measured, with this many bytes moved until then.
    pub const fn interrupted(bytes: u64) -> Self {
        Self::partly(bytes, FailureCode::TIME_UP)
    }

    /// Whether it succeeded.
    #[inline]
    pub const fn is_ok(&self) -> bool {
        self.code.0 == 0
    }
}
