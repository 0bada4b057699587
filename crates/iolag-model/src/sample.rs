//! The sample: what happened, in 48 bytes.
//!
//! Little endian in files; the machine's own order in shared memory, which never leaves the machine.

use std::mem::offset_of;

use zerocopy::{FromBytes, Immutable, IntoBytes, transmute};

use crate::{
    AttemptId, FailureCode, MonotonicTime, Nanoseconds, Operation, Outcome, StageIndex, UnknownOutcome,
};

/// What happened to one attempt. `response time = start - intended + duration`, `service time = duration`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub struct Sample {
    /// Which attempt of which client.
    pub attempt: AttemptId,
    /// When it should have started; equal to `start` in a closed loop without a schedule.
    pub intended: MonotonicTime,
    /// When it started.
    pub start: MonotonicTime,
    /// How long it took; for a censored outcome, at least how long.
    pub duration: Nanoseconds,
    /// Bytes moved.
    pub bytes: u64,
    operation: u8,
    outcome: u8,
    /// Why it failed, if it did.
    pub code: FailureCode,
    /// In which stage of the run.
    pub stage: StageIndex,
    /// Which server, second target or kind of path ([`crate::TagRecord`]); 0 where there is nothing to tell apart.
    pub tag: u16,
}

const _: () = assert!(size_of::<Sample>() == Sample::SIZE && align_of::<Sample>() == 8);
const _: () = assert!(offset_of!(Sample, operation) == 40 && offset_of!(Sample, tag) == 46);

/// Bytes that are no sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SampleError {
    /// The operation's number is unknown: written by a newer iolag, or damaged.
    #[error("{0} is not the number of an operation")]
    Operation(u8),
    /// The outcome's number is unknown.
    #[error(transparent)]
    Outcome(#[from] UnknownOutcome),
}

impl Sample {
    /// Bytes of a sample in memory and in the spool.
    pub const SIZE: usize = 48;

    /// A sample that succeeded, the rest to be set by the caller.
    #[inline]
    pub const fn new(
        attempt: AttemptId,
        operation: Operation,
        intended: MonotonicTime,
        start: MonotonicTime,
        duration: Nanoseconds,
    ) -> Self {
        Self {
            attempt,
            intended,
            start,
            duration,
            bytes: 0,
            operation: operation as u8,
            outcome: Outcome::Ok as u8,
            code: FailureCode::NONE,
            stage: StageIndex(0),
            tag: 0,
        }
    }

    /// The same with this outcome and cause.
    #[inline]
    pub const fn with_outcome(mut self, outcome: Outcome, code: FailureCode) -> Self {
        self.outcome = outcome as u8;
        self.code = code;
        self
    }

    /// The same with this many bytes moved.
    #[inline]
    pub const fn with_bytes(mut self, bytes: u64) -> Self {
        self.bytes = bytes;
        self
    }

    /// The same, and of whom or of what it tells: a number that run.json has a name for.
    #[inline]
    pub const fn with_tag(mut self, tag: u16) -> Self {
        self.tag = tag;
        self
    }

    /// The same in this stage.
    #[inline]
    pub const fn in_stage(mut self, stage: StageIndex) -> Self {
        self.stage = stage;
        self
    }

    /// What was asked. Samples are checked when they enter (see [`Sample::as_read`]), so this cannot fail.
    #[inline]
    pub fn operation(&self) -> Operation {
        Operation::from_code(self.operation).expect("samples are checked when they are read")
    }

    /// How it ended.
    #[inline]
    pub fn outcome(&self) -> Outcome {
        Outcome::try_from(self.outcome).expect("samples are checked when they are read")
    }

    /// The operation's stored number.
    #[inline]
    pub const fn operation_code(&self) -> u8 {
        self.operation
    }

    /// Checks what the compiler cannot: the numbers of a sample that came through shared memory.
    ///
    /// # Errors
    /// If operation or outcome is not a known number.
    #[inline]
    pub fn checked(self) -> Result<Self, SampleError> {
        Operation::from_code(self.operation).ok_or(SampleError::Operation(self.operation))?;
        Outcome::try_from(self.outcome)?;
        Ok(self)
    }

    /// Time from the intended start to the end: what a user of an open schedule waits for.
    pub fn response(&self) -> Nanoseconds {
        Nanoseconds(self.start.since(self.intended).0.saturating_add(self.duration.0))
    }

    /// When it ended, or was last looked at.
    pub fn end(&self) -> MonotonicTime {
        self.start.after(self.duration)
    }

    /// Whether this sample replaces `other`, which has the same attempt: an end replaces "hung", and of two ages the
    /// greater one counts.
    pub fn supersedes(&self, other: &Self) -> bool {
        debug_assert_eq!(self.attempt, other.attempt);
        match (self.outcome().is_final(), other.outcome().is_final()) {
            (true, false) => true,
            (false, true) => false,
            _ => self.duration > other.duration,
        }
    }

    /// The sample as it stands in a file.
    #[inline]
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        transmute!(self.little_endian())
    }

    /// The sample of which this has the bytes as they stand in a file.
    ///
    /// # Errors
    /// If operation or outcome is not a known number.
    #[inline]
    pub fn as_read(self) -> Result<Self, SampleError> {
        self.little_endian().checked()
    }

    /// Between the machine's order of bytes and that of files, which is the same on most.
    #[inline]
    const fn little_endian(&self) -> Self {
        Self {
            attempt: AttemptId(self.attempt.0.to_le()),
            intended: MonotonicTime(self.intended.0.to_le()),
            start: MonotonicTime(self.start.0.to_le()),
            duration: Nanoseconds(self.duration.0.to_le()),
            bytes: self.bytes.to_le(),
            code: FailureCode(self.code.0.to_le()),
            stage: StageIndex(self.stage.0.to_le()),
            tag: self.tag.to_le(),
            ..*self
        }
    }
}

/// A part of a request that is worth a sample of its own: resolving a name, connecting, the TLS handshake, the wait for the first byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// What the part was: an operation of level call.
    pub operation: Operation,
    /// When it began, not before its request.
    pub start: MonotonicTime,
    /// How long it took; it ended not after its request.
    pub duration: Nanoseconds,
}

/// So many marks has a request at most: a recorder keeps room for them.
pub const MARKS_MAX: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ClientId;

    fn read(bytes: [u8; Sample::SIZE]) -> Result<Sample, SampleError> {
        let sample: Sample = transmute!(bytes);
        sample.as_read()
    }

    fn sample(outcome: Outcome, duration_ns: u64) -> Sample {
        Sample::new(
            AttemptId::new(ClientId(3), 9),
            Operation::Read,
            MonotonicTime(10),
            MonotonicTime(15),
            Nanoseconds(duration_ns),
        )
        .with_outcome(outcome, FailureCode::NONE)
        .with_bytes(3901)
        .in_stage(StageIndex(2))
    }

    #[test]
    fn bytes_lead_back() {
        let sample = sample(Outcome::Late, 77).with_outcome(Outcome::Error, FailureCode(28));
        assert_eq!(read(sample.to_bytes()), Ok(sample));
    }

    #[test]
    fn bytes_stand_where_they_always_stood() {
        let mut sample =
            sample(Outcome::Error, 0x0102_0304_0506_0708).with_outcome(Outcome::Error, FailureCode(0x1c02));
        sample.tag = 0x0a0b;
        let expected = "0900000000030000 0a00000000000000 0f00000000000000 0807060504030201 3d0f000000000000 \
            0201 021c 0200 0b0a";
        let bytes: String = sample.to_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(bytes, expected.replace(' ', ""));
    }

    #[test]
    fn damaged_numbers_are_refused() {
        let mut bytes = sample(Outcome::Ok, 1).to_bytes();
        bytes[41] = 99;
        assert_eq!(read(bytes), Err(SampleError::Outcome(UnknownOutcome(99))));
        bytes[40] = 0;
        assert_eq!(read(bytes), Err(SampleError::Operation(0)));
    }

    #[test]
    fn an_end_supersedes_hung_whatever_the_order_and_the_greater_age_counts() {
        let (young, old, late) =
            (sample(Outcome::Hung, 5), sample(Outcome::Hung, 9), sample(Outcome::Late, 7));
        assert!(late.supersedes(&old) && !old.supersedes(&late));
        assert!(old.supersedes(&young) && !young.supersedes(&old));
    }

    #[test]
    fn response_time_counts_from_the_intended_start() {
        assert_eq!(sample(Outcome::Ok, 100).response(), Nanoseconds(105));
    }
}
