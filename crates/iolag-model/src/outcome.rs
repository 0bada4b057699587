//! How an attempt ended, and why it failed.
//!
//! A failed operation is data: it is recorded with its duration and its cause, and no estimator may drop it.

use std::fmt;

use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use zerocopy::{FromBytes, Immutable, IntoBytes};

/// How an attempt ended. The number is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[repr(u8)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It succeeded within its deadline.
    Ok = 0,
    /// The target answered with an error; the failure code says which.
    Error = 1,
    /// It was ended at its deadline: the true duration is at least the recorded one.
    Timeout = 2,
    /// It had not ended when it was last looked at: the recorded duration is its age.
    Hung = 3,
    /// It succeeded after its deadline; the duration is the true one.
    Late = 4,
    /// It was due and not started; the detail record says because of which attempt.
    Skipped = 5,
    /// Whoever measured ended it before its deadline: the true duration is at least the recorded one, and the target has done nothing wrong.
    Interrupted = 6,
}

impl Outcome {
    /// Every outcome, in the order of their numbers.
    pub const ALL: [Self; 7] =
        [Self::Ok, Self::Error, Self::Timeout, Self::Hung, Self::Late, Self::Skipped, Self::Interrupted];

    /// Whether the true duration is known to be longer than the recorded one, but not how long.
    pub const fn is_censored(self) -> bool {
        matches!(self, Self::Timeout | Self::Hung | Self::Skipped | Self::Interrupted)
    }

    /// Whether this says how the attempt ended, so that it supersedes [`Outcome::Hung`] of the same attempt.
    pub const fn is_final(self) -> bool {
        !matches!(self, Self::Hung)
    }

    /// Whether an attempt that ended so, with this code, took at least its recorded duration: then it is in the durations.
    pub const fn is_lower_bound(self, code: FailureCode) -> bool {
        match self {
            Self::Timeout | Self::Hung => true,
            Self::Skipped => code.0 != FailureCode::REMOVAL.0,
            Self::Interrupted => code.0 != FailureCode::CUT.0 && code.0 != FailureCode::REMOVAL.0,
            Self::Ok | Self::Error | Self::Late => false,
        }
    }

    /// The name in tables and files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Error => "error",
            Self::Timeout => "timeout",
            Self::Hung => "hung",
            Self::Late => "late",
            Self::Skipped => "skipped",
            Self::Interrupted => "interrupted",
        }
    }
}

/// A stored number that is no outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0} is not the number of an outcome")]
pub struct UnknownOutcome(pub u8);

impl TryFrom<u8> for Outcome {
    type Error = UnknownOutcome;

    fn try_from(code: u8) -> Result<Self, UnknownOutcome> {
        Self::ALL.get(usize::from(code)).copied().ok_or(UnknownOutcome(code))
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// Why an attempt failed, in 16 bits: 0 is no failure, below 0xf000 an errno of Linux, from there iolag's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
#[derive(FromBytes, IntoBytes, Immutable)]
#[repr(transparent)]
pub struct FailureCode(pub u16);

impl From<Errno> for FailureCode {
    #[inline]
    fn from(errno: Errno) -> Self {
        Self::from_errno(errno.raw_os_error())
    }
}

impl FailureCode {
    /// No failure.
    pub const NONE: Self = Self(0);
    /// Fewer bytes were read or written than asked, without an error.
    pub const SHORT: Self = Self(0xf001);
    /// The bytes read were not the bytes written.
    pub const MISMATCH: Self = Self(0xf002);
    /// A program ended with a status other than 0, or by a signal.
    pub const EXIT: Self = Self(0xf003);
    /// The store answered in a way that iolag does not understand.
    pub const PROTOCOL: Self = Self(0xf004);
    /// The process that executed the operation ended before it did.
    pub const ABANDONED: Self = Self(0xf005);
    /// It was ended at its deadline by whoever executed it: the loop makes [`Outcome::Timeout`] of it.
    pub const DEADLINE: Self = Self(0xf006);
    /// It was ended because the run ends: the loop makes [`Outcome::Interrupted`] of it.
    pub const CUT: Self = Self(0xf007);
    /// It was ended when the time that was left for it was used up: the loop makes [`Outcome::Interrupted`] of it, too, but it
    /// takes at least so long.
    pub const TIME_UP: Self = Self(0xf008);
    /// It was due and not made, because iolag itself was still removing what the one before had made: nothing is known of how
    /// long it would have taken.
    pub const REMOVAL: Self = Self(0xf009);
    /// Nothing is mounted where the target was seen mounted.
    pub const NOT_MOUNTED: Self = Self(0xf00a);

    /// The code of an errno.
    pub const fn from_errno(errno: i32) -> Self {
        if errno > 0 && errno < 0xf000 { Self(errno as u16) } else { Self(libc_eio()) }
    }

    /// The errno, if it is one.
    pub const fn errno(self) -> Option<i32> {
        if self.0 > 0 && self.0 < 0xf000 { Some(self.0 as i32) } else { None }
    }

    /// The kind of failure that users think in.
    pub fn class(self) -> ErrorClass {
        match self.0 {
            0 => ErrorClass::None,
            0xf001 => ErrorClass::Short,
            0xf002 => ErrorClass::Mismatch,
            0xf003 => ErrorClass::Exit,
            0xf004 => ErrorClass::Protocol,
            0xf005 => ErrorClass::Abandoned,
            0xf00a => ErrorClass::NotMounted,
            2 => ErrorClass::NotFound,
            17 => ErrorClass::Exists,
            1 | 13 => ErrorClass::Permission,
            28 | 122 => ErrorClass::NoSpace,
            30 => ErrorClass::ReadOnly,
            116 => ErrorClass::Stale,
            5 => ErrorClass::InputOutput,
            11 | 16 => ErrorClass::Busy,
            4 | 0xf008 | 0xf009 => ErrorClass::Interrupted,
            110 | 62 => ErrorClass::TimedOut,
            38 | 95 => ErrorClass::NotSupported,
            32 | 103 | 104 | 107 | 111 | 112 | 113 => ErrorClass::Connection,
            39 => ErrorClass::NotEmpty,
            23 | 24 => ErrorClass::TooManyFiles,
            _ => ErrorClass::Other,
        }
    }
}

const fn libc_eio() -> u16 {
    5
}

impl fmt::Display for FailureCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.errno() {
            Some(errno) => write!(formatter, "{} (errno {errno})", self.class()),
            None => write!(formatter, "{}", self.class()),
        }
    }
}

/// Failures by the kind that users think in; several errno may share one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the display text of each is its documentation")]
pub enum ErrorClass {
    None,
    NotFound,
    Exists,
    Permission,
    NoSpace,
    ReadOnly,
    Stale,
    InputOutput,
    Busy,
    Interrupted,
    TimedOut,
    NotSupported,
    Connection,
    NotEmpty,
    TooManyFiles,
    Short,
    Mismatch,
    Exit,
    Protocol,
    Abandoned,
    NotMounted,
    Other,
}

impl fmt::Display for ErrorClass {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::None => "no failure",
            Self::NotFound => "not found",
            Self::Exists => "exists already",
            Self::Permission => "permission denied",
            Self::NoSpace => "no space left",
            Self::ReadOnly => "read-only",
            Self::Stale => "stale handle",
            Self::InputOutput => "input/output error",
            Self::Busy => "busy",
            Self::Interrupted => "interrupted",
            Self::TimedOut => "timed out by the target",
            Self::NotSupported => "not supported",
            Self::Connection => "connection lost",
            Self::NotEmpty => "not empty",
            Self::TooManyFiles => "too many open files",
            Self::Short => "short transfer",
            Self::Mismatch => "wrong content",
            Self::Exit => "program failed",
            Self::Protocol => "unexpected answer",
            Self::NotMounted => "not mounted",
            Self::Abandoned => "abandoned",
            Self::Other => "other error",
        })
    }
}

/// A failed operation: data, not an error of the harness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failure {
    /// Why.
    pub code: FailureCode,
}

impl Failure {
    /// A failure with an errno.
    pub const fn from_errno(errno: i32) -> Self {
        Self { code: FailureCode::from_errno(errno) }
    }
}

impl From<FailureCode> for Failure {
    fn from(code: FailureCode) -> Self {
        Self { code }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_lead_back_from_their_numbers() {
        for outcome in Outcome::ALL {
            assert_eq!(Outcome::try_from(outcome as u8), Ok(outcome));
        }
        assert_eq!(Outcome::try_from(7), Err(UnknownOutcome(7)));
    }

    #[test]
    fn an_errno_out_of_range_is_an_input_output_error() {
        assert_eq!(FailureCode::from_errno(28).class(), ErrorClass::NoSpace);
        assert_eq!(FailureCode::from_errno(-1).errno(), Some(5));
        assert_eq!(FailureCode::SHORT.errno(), None);
        assert_eq!(FailureCode::SHORT.to_string(), "short transfer");
    }
}
