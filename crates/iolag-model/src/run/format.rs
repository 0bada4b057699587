//! Versions of formats.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The format of run directories that this iolag writes, but for those of [`RUN_FORMAT_WITH_PING`] and [`RUN_FORMAT_WITH_TRACES`].
pub const RUN_FORMAT: FormatVersion = FormatVersion { major: 1, minor: 1 };

/// The same with the workload ping, its operation and its outcomes, which readers of major 1 do not know: they refuse such a run
/// and ask for a newer iolag.
pub const RUN_FORMAT_WITH_PING: FormatVersion = FormatVersion { major: 2, minor: 0 };

/// The same with the workloads trace, whose runs have calls of a program in a file of their own and no samples, setup, stream, tree and replay.
pub const RUN_FORMAT_WITH_TRACES: FormatVersion = FormatVersion { major: 3, minor: 0 };

/// Version of a format. A reader reads its own major with any minor up to and above its own: a minor only adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct FormatVersion {
    /// Changes when old readers would misread.
    pub major: u16,
    /// Changes when something is added.
    pub minor: u16,
}

/// Why a format cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// Written by a newer iolag.
    #[error("it has a newer format ({found}); this iolag reads up to {supported}: use a newer iolag")]
    TooNew {
        /// What the file says.
        found: FormatVersion,
        /// What this program reads.
        supported: FormatVersion,
    },
    /// Written by an older iolag that this one no longer understands.
    #[error("it has format {found}, this iolag reads {supported}: use an iolag of that time to export it")]
    TooOld {
        /// What the file says.
        found: FormatVersion,
        /// What this program reads.
        supported: FormatVersion,
    },
    /// Not a version at all.
    #[error("{0:?} is not a format version")]
    Unreadable(String),
}

impl FormatVersion {
    /// Whether this iolag reads a run directory of this format: a newer major only adds to the one before.
    ///
    /// # Errors
    /// As [`FormatVersion::check_readable_by`].
    pub fn check_readable_run(self) -> Result<(), FormatError> {
        let newest = RUN_FORMAT_WITH_TRACES;
        match (RUN_FORMAT.major..newest.major).contains(&self.major) {
            true => Ok(()),
            false => self.check_readable_by(newest),
        }
    }

    /// Whether a program that supports `supported` may read this.
    ///
    /// # Errors
    /// If it may not, saying in which direction to look for help.
    pub fn check_readable_by(self, supported: Self) -> Result<(), FormatError> {
        match self.major.cmp(&supported.major) {
            std::cmp::Ordering::Equal => Ok(()),
            std::cmp::Ordering::Greater => Err(FormatError::TooNew { found: self, supported }),
            std::cmp::Ordering::Less => Err(FormatError::TooOld { found: self, supported }),
        }
    }
}

impl fmt::Display for FormatVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.major, self.minor)
    }
}

impl FromStr for FormatVersion {
    type Err = FormatError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let unreadable = || FormatError::Unreadable(text.to_owned());
        let (major, minor) = text.split_once('.').ok_or_else(unreadable)?;
        Ok(Self {
            major: major.parse().map_err(|_| unreadable())?,
            minor: minor.parse().map_err(|_| unreadable())?,
        })
    }
}

impl TryFrom<String> for FormatVersion {
    type Error = FormatError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<FormatVersion> for String {
    fn from(version: FormatVersion) -> Self {
        version.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_checked_in_both_directions() {
        let supported = FormatVersion { major: 2, minor: 1 };
        let version = |text: &str| text.parse::<FormatVersion>().unwrap();
        assert!(version("2.0").check_readable_by(supported).is_ok());
        assert!(version("2.9").check_readable_by(supported).is_ok());
        let newer = version("3.0").check_readable_by(supported).unwrap_err();
        assert_eq!(
            newer.to_string(),
            "it has a newer format (3.0); this iolag reads up to 2.1: use a newer iolag"
        );
        assert!(matches!(version("1.4").check_readable_by(supported), Err(FormatError::TooOld { .. })));
        assert!("x".parse::<FormatVersion>().is_err());
    }

    #[test]
    fn a_run_of_ping_is_too_new_for_who_does_not_know_it_and_older_runs_stay_readable() {
        let of_ping = RUN_FORMAT_WITH_PING;
        let refused = of_ping.check_readable_by(RUN_FORMAT).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "it has a newer format (2.0); this iolag reads up to 1.1: use a newer iolag"
        );
        let later = FormatVersion { major: 3, minor: 7 };
        for readable in [of_ping, RUN_FORMAT, RUN_FORMAT_WITH_TRACES, later] {
            assert!(readable.check_readable_run().is_ok(), "{readable}");
        }
        let next = FormatVersion { major: 4, minor: 0 }.check_readable_run();
        assert!(matches!(next, Err(FormatError::TooNew { .. })));
        let none = FormatVersion { major: 0, minor: 9 }.check_readable_run();
        assert!(matches!(none, Err(FormatError::TooOld { .. })));
    }
}
