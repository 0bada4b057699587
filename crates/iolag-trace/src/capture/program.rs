//! Which strace it is, and what it can do.

use std::fmt;

/// The oldest that knows `%file`, and skips calls of a list that it does not know.
const OLDEST: StraceVersion = StraceVersion { major: 4, minor: 17 };

/// Its version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct StraceVersion {
    /// 6 of 6.1.
    pub major: u16,
    /// 1 of 6.1.
    pub minor: u16,
}

impl fmt::Display for StraceVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.major, self.minor)
    }
}

/// A strace that can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StraceProgram {
    /// Its version.
    pub version: StraceVersion,
    /// Whether the program stops only at the calls that are traced.
    pub stops: Stops,
    /// How precise its times are.
    pub precision: Precision,
}

/// Where a traced program stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stops {
    /// At every call.
    All,
    /// At those that are traced (`--seccomp-bpf`).
    Traced,
}

/// How precise times are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// Microseconds.
    Microseconds,
    /// Nanoseconds.
    Nanoseconds,
}

/// Why a program cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unsuitable {
    /// It is too old.
    #[error("strace {0} is too old: {OLDEST} or newer is needed (of 2017)")]
    TooOld(StraceVersion),
    /// It is not strace.
    #[error("the strace in PATH does not say its version as strace does: put the real one first")]
    NotStrace,
}

impl StraceProgram {
    /// By what `strace -V` and `strace --help` print.
    ///
    /// # Errors
    /// If it cannot be used.
    pub fn of(version: &str, help: &str) -> Result<Self, Unsuitable> {
        let version = version_of(version).ok_or(Unsuitable::NotStrace)?;
        if version < OLDEST {
            return Err(Unsuitable::TooOld(version));
        }
        let has = |option: &str| help.contains(option);
        let stops = if has("--seccomp-bpf") { Stops::Traced } else { Stops::All };
        let is_precise = has("--syscall-times[=PRECISION]") && has("--absolute-timestamps=");
        let precision = if is_precise { Precision::Nanoseconds } else { Precision::Microseconds };
        Ok(Self { version, stops, precision })
    }
}

/// `strace -- version 6.1`, `strace -- version 5.19.0.42.abcd`.
fn version_of(text: &str) -> Option<StraceVersion> {
    let number = text.lines().next()?.strip_prefix("strace -- version ")?;
    let mut parts = number.split(['.', '-', ' ']);
    let mut next = || parts.next()?.parse().ok();
    Some(StraceVersion { major: next()?, minor: next()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELP: &str = "  --absolute-timestamps=[[format:]FORMAT[,[precision:]PRECISION]]\n  -T, --syscall-times[=PRECISION]\n";

    #[test]
    fn what_it_can_is_what_it_says() {
        let newest =
            StraceProgram::of("strace -- version 6.1\nCopyright\n", &format!("{HELP}  --seccomp-bpf"))
                .unwrap();
        let version = StraceVersion { major: 6, minor: 1 };
        assert_eq!(
            newest,
            StraceProgram { version, stops: Stops::Traced, precision: Precision::Nanoseconds }
        );
        let older =
            StraceProgram::of("strace -- version 4.24\n", "usage: strace [-CdffhiqrtttTvVwxxy]").unwrap();
        assert_eq!((older.stops, older.precision), (Stops::All, Precision::Microseconds));
        let snapshot = StraceProgram::of("strace -- version 5.19.0.42.abcd", "").unwrap();
        assert_eq!(snapshot.version, StraceVersion { major: 5, minor: 19 });
    }

    #[test]
    fn what_cannot_be_used_is_told() {
        let told = |version: &str| StraceProgram::of(version, "").unwrap_err().to_string();
        assert_eq!(told("strace -- version 4.8"), "strace 4.8 is too old: 4.17 or newer is needed (of 2017)");
        assert!(told("GNU bash, version 5.2").contains("put the real one first"));
        assert!(told("").contains("put the real one first"));
    }
}
