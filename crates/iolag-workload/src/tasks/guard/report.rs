//! What the guard tells the probe of a program, as it goes through a pipe.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use iolag_model::{FailureCode, Nanoseconds};

use crate::tasks::PartEnding;
use crate::tasks::launching::usage::Usage;

/// Bytes of one report.
pub(crate) const REPORT_BYTES: usize = 40;

/// What the guard tells of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Report {
    /// It runs, with this process id.
    Started(u32),
    /// It could not be started.
    NotStarted(FailureCode),
    /// It has ended: the status as `wait` gives it, and what it and all it waited for used.
    Ended(i32, Usage),
}

impl Report {
    /// How its part ended; `None` if the program still runs.
    pub(crate) fn ending(self) -> Option<PartEnding> {
        match self {
            Self::Started(_) => None,
            Self::NotStarted(failure) => Some(PartEnding { failure, ..PartEnding::default() }),
            Self::Ended(status, usage) => {
                let exit_status = libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status));
                let failure = if exit_status == Some(0) { FailureCode::NONE } else { FailureCode::EXIT };
                let Usage { processor, resident_bytes_max } = usage;
                Some(PartEnding { failure, exit_status, processor, resident_bytes_max, value: None })
            }
        }
    }

    /// How `program` ended, for people: `exit status: 2`.
    pub(crate) fn describe(self, program: &str) -> String {
        match self {
            Self::Started(_) => format!("{program} runs"),
            Self::NotStarted(failure) => {
                let error = io::Error::from_raw_os_error(failure.errno().unwrap_or(libc::EIO));
                format!("{program} cannot be run: {error}")
            }
            Self::Ended(status, _) => ExitStatus::from_raw(status).to_string(),
        }
    }

    pub(crate) fn to_bytes(self) -> [u8; REPORT_BYTES] {
        let words = match self {
            Self::Started(process) => [0, u64::from(process), 0, 0, 0],
            Self::NotStarted(failure) => [1, u64::from(failure.0), 0, 0, 0],
            Self::Ended(status, usage) => {
                let [user, system] = usage.processor;
                [2, u64::from(status as u32), user.0, system.0, usage.resident_bytes_max]
            }
        };
        let mut bytes = [0; REPORT_BYTES];
        for (bytes, word) in bytes.chunks_exact_mut(8).zip(words) {
            bytes.copy_from_slice(&word.to_ne_bytes());
        }
        bytes
    }

    /// `None` for bytes that are no report.
    pub(crate) fn from_bytes(bytes: &[u8; REPORT_BYTES]) -> Option<Self> {
        let mut words = [0; 5];
        for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = u64::from_ne_bytes(bytes.try_into().ok()?);
        }
        match words {
            [0, process, ..] => Some(Self::Started(u32::try_from(process).ok()?)),
            [1, failure, ..] => Some(Self::NotStarted(FailureCode(u16::try_from(failure).ok()?))),
            [2, status, user, system, resident_bytes_max] => {
                let processor = [Nanoseconds(user), Nanoseconds(system)];
                let status = u32::try_from(status).ok()? as i32;
                Some(Self::Ended(status, Usage { processor, resident_bytes_max }))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn reports_come_back_from_their_bytes(
            process in 0_u32..,
            failure in 0_u16..,
            status in any::<i32>(),
            numbers in any::<[u64; 3]>(),
        ) {
            let usage = Usage {
                processor: [Nanoseconds(numbers[0]), Nanoseconds(numbers[1])],
                resident_bytes_max: numbers[2],
            };
            for report in [
                Report::Started(process),
                Report::NotStarted(FailureCode(failure)),
                Report::Ended(status, usage),
            ] {
                prop_assert_eq!(Report::from_bytes(&report.to_bytes()), Some(report));
            }
        }

        #[test]
        fn other_bytes_are_refused_or_a_report(bytes in any::<[u8; REPORT_BYTES]>()) {
            let _ = Report::from_bytes(&bytes);
        }
    }

    #[test]
    fn a_status_becomes_an_ending() {
        let ended = |status| Report::Ended(status, Usage::default()).ending().unwrap();
        assert_eq!((ended(0).failure, ended(0).exit_status), (FailureCode::NONE, Some(0)));
        assert_eq!((ended(3 << 8).failure, ended(3 << 8).exit_status), (FailureCode::EXIT, Some(3)));
        assert_eq!((ended(9).failure, ended(9).exit_status), (FailureCode::EXIT, None));
        assert_eq!(Report::Started(1).ending(), None);
    }
}
