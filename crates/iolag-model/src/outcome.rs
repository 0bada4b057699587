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
    /// It failed, and its client asked again: what came of that is the attempt after it.
    Retried = 7,
}

impl Outcome {
    /// Every outcome, in the order of their numbers.
    pub const ALL: [Self; 8] = [
        Self::Ok,
        Self::Error,
        Self::Timeout,
        Self::Hung,
        Self::Late,
        Self::Skipped,
        Self::Interrupted,
        Self::Retried,
    ];

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
            Self::Ok | Self::Error | Self::Late | Self::Retried => false,
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
            Self::Retried => "retried",
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

/// Why an attempt failed, in 16 bits: 0 is no failure, [`FailureOrigin`] tells whose number it is. The numbers are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
#[derive(FromBytes, IntoBytes, Immutable)]
#[repr(transparent)]
pub struct FailureCode(pub u16);

/// Where the ranges of codes begin and end. The numbers in between are free.
const HTTP: u16 = 0x1000;
const HTTP_FIRST: u16 = HTTP + 100;
const HTTP_LAST: u16 = HTTP + 999;
const SQL_STATE: u16 = 0x2000;
const SQL_STATE_LAST: u16 = SQL_STATE + SQL_DIGITS * SQL_DIGITS - 1;
const TLS: u16 = 0x3000;
const TLS_LAST: u16 = TLS + 0xff;
const RESOLUTION: u16 = 0x3800;
const RESOLUTION_LAST: u16 = RESOLUTION + 0xff;
/// Values that a character of a SQLSTATE may have: digits and capitals.
const SQL_DIGITS: u16 = 36;
const EIO: u16 = 5;

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

    /// The code of an errno. Linux has none above 4095.
    pub const fn from_errno(errno: i32) -> Self {
        if errno > 0 && errno < HTTP as i32 { Self(errno as u16) } else { Self(EIO) }
    }

    /// The code of an HTTP status. What is none is an answer that nobody understands.
    pub const fn http(status: u16) -> Self {
        match status {
            100..=999 => Self(HTTP + status),
            _ => Self::PROTOCOL,
        }
    }

    /// The code of a SQLSTATE's class, its first two characters: the whole of it belongs into the text of the attempt.
    pub const fn sql_state(class: [u8; 2]) -> Self {
        match (digit_of(class[0]), digit_of(class[1])) {
            (Some(first), Some(second)) => Self(SQL_STATE + SQL_DIGITS * first + second),
            _ => Self::PROTOCOL,
        }
    }

    /// The code of an alert of TLS (RFC 8446, 6.2), theirs or ours: what we say of a certificate has an alert, too.
    pub const fn tls(alert: u8) -> Self {
        Self(TLS + alert as u16)
    }

    /// The code of a name that was not resolved: what `getaddrinfo` returned (`EAI_NONAME`), without its sign.
    pub const fn resolution(code: u8) -> Self {
        Self(RESOLUTION + code as u16)
    }

    /// Whose number it is.
    pub const fn origin(self) -> FailureOrigin {
        match self.0 {
            0 => FailureOrigin::None,
            1..HTTP => FailureOrigin::Errno(self.0 as i32),
            HTTP_FIRST..=HTTP_LAST => FailureOrigin::Http(self.0 - HTTP),
            SQL_STATE..=SQL_STATE_LAST => {
                let class = self.0 - SQL_STATE;
                FailureOrigin::SqlState([character_of(class / SQL_DIGITS), character_of(class % SQL_DIGITS)])
            }
            TLS..=TLS_LAST => FailureOrigin::Tls((self.0 - TLS) as u8),
            RESOLUTION..=RESOLUTION_LAST => FailureOrigin::Resolution((self.0 - RESOLUTION) as u8),
            _ => FailureOrigin::Own,
        }
    }

    /// The errno, if it is one.
    pub const fn errno(self) -> Option<i32> {
        match self.origin() {
            FailureOrigin::Errno(errno) => Some(errno),
            _ => None,
        }
    }

    /// The kind of failure that users think in.
    pub fn class(self) -> ErrorClass {
        match self.origin() {
            FailureOrigin::None => ErrorClass::None,
            FailureOrigin::Errno(errno) => class_of_errno(errno),
            FailureOrigin::Http(status) => class_of_http(status),
            FailureOrigin::SqlState(class) => class_of_sql_state(class),
            FailureOrigin::Tls(_) => ErrorClass::Tls,
            FailureOrigin::Resolution(_) => ErrorClass::NameResolution,
            FailureOrigin::Own => self.class_of_own(),
        }
    }

    fn class_of_own(self) -> ErrorClass {
        match self {
            Self::SHORT => ErrorClass::Short,
            Self::MISMATCH => ErrorClass::Mismatch,
            Self::EXIT => ErrorClass::Exit,
            Self::PROTOCOL => ErrorClass::Protocol,
            Self::ABANDONED => ErrorClass::Abandoned,
            Self::TIME_UP | Self::REMOVAL => ErrorClass::Interrupted,
            Self::NOT_MOUNTED => ErrorClass::NotMounted,
            _ => ErrorClass::Other,
        }
    }
}

fn class_of_errno(errno: i32) -> ErrorClass {
    match errno {
        2 => ErrorClass::NotFound,
        17 => ErrorClass::Exists,
        1 | 13 => ErrorClass::Permission,
        28 | 122 => ErrorClass::NoSpace,
        30 => ErrorClass::ReadOnly,
        116 => ErrorClass::Stale,
        5 => ErrorClass::InputOutput,
        11 | 16 => ErrorClass::Busy,
        4 => ErrorClass::Interrupted,
        110 | 62 => ErrorClass::TimedOut,
        38 | 95 => ErrorClass::NotSupported,
        32 | 103 | 104 | 107 | 111 | 112 | 113 => ErrorClass::Connection,
        39 => ErrorClass::NotEmpty,
        23 | 24 => ErrorClass::TooManyFiles,
        _ => ErrorClass::Other,
    }
}

fn class_of_http(status: u16) -> ErrorClass {
    match status {
        404 | 410 => ErrorClass::NotFound,
        401 | 403 => ErrorClass::Permission,
        409 | 412 => ErrorClass::Exists,
        408 | 504 => ErrorClass::TimedOut,
        405 | 501 => ErrorClass::NotSupported,
        429 | 503 => ErrorClass::Throttled,
        507 => ErrorClass::NoSpace,
        500..=599 => ErrorClass::Server,
        _ => ErrorClass::Other,
    }
}

fn class_of_sql_state(class: [u8; 2]) -> ErrorClass {
    match &class {
        b"08" => ErrorClass::Connection,
        b"0A" => ErrorClass::NotSupported,
        b"23" => ErrorClass::Exists,
        b"25" => ErrorClass::ReadOnly,
        b"28" => ErrorClass::Permission,
        b"3D" => ErrorClass::NotFound,
        b"40" | b"55" => ErrorClass::Busy,
        b"53" => ErrorClass::Throttled,
        b"57" | b"58" | b"XX" => ErrorClass::Server,
        _ => ErrorClass::Other,
    }
}

/// The value of a character of a SQLSTATE.
const fn digit_of(character: u8) -> Option<u16> {
    match character {
        b'0'..=b'9' => Some((character - b'0') as u16),
        b'A'..=b'Z' => Some((character - b'A') as u16 + 10),
        _ => None,
    }
}

/// The character of a value below [`SQL_DIGITS`].
const fn character_of(digit: u16) -> u8 {
    if digit < 10 { b'0' + digit as u8 } else { b'A' + (digit as u8 - 10) }
}

impl fmt::Display for FailureCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let class = self.class();
        match self.origin() {
            FailureOrigin::None | FailureOrigin::Own => write!(formatter, "{class}"),
            FailureOrigin::Errno(errno) => write!(formatter, "{class} (errno {errno})"),
            FailureOrigin::Http(status) => write!(formatter, "{class} (HTTP {status})"),
            FailureOrigin::SqlState([first, second]) => {
                write!(formatter, "{class} (SQLSTATE {}{}...)", char::from(first), char::from(second))
            }
            FailureOrigin::Tls(alert) => write!(formatter, "{class} (alert {alert})"),
            FailureOrigin::Resolution(code) => write!(formatter, "{class} (getaddrinfo -{code})"),
        }
    }
}

/// Whose number a [`FailureCode`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureOrigin {
    /// Nobody's: no failure.
    None,
    /// Linux: an errno.
    Errno(i32),
    /// An HTTP server: its status.
    Http(u16),
    /// A database: the class of its SQLSTATE.
    SqlState([u8; 2]),
    /// Either end of a TLS connection: the alert.
    Tls(u8),
    /// The resolver of names: what `getaddrinfo` returned, without its sign.
    Resolution(u8),
    /// iolag, this one or a later one.
    Own,
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
    NameResolution,
    Tls,
    Throttled,
    Server,
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
            Self::NameResolution => "name not resolved",
            Self::Tls => "TLS failed",
            Self::Throttled => "throttled",
            Self::Server => "server error",
            Self::Other => "other error",
        })
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
        assert_eq!(Outcome::try_from(8), Err(UnknownOutcome(8)));
    }

    #[test]
    fn what_was_asked_again_is_an_end_without_a_duration() {
        let again = Outcome::Retried;
        assert!(again.is_final() && !again.is_censored() && !again.is_lower_bound(FailureCode::http(503)));
    }

    #[test]
    fn an_errno_out_of_range_is_an_input_output_error() {
        assert_eq!(FailureCode::from_errno(28).class(), ErrorClass::NoSpace);
        assert_eq!(FailureCode::from_errno(-1).errno(), Some(5));
        assert_eq!(FailureCode::SHORT.errno(), None);
        assert_eq!(FailureCode::SHORT.to_string(), "short transfer");
    }
    /// What every number meant before there were others than errno and iolag's own: stored ones mean that for good.
    #[test]
    fn no_stored_number_changes_its_class() {
        use ErrorClass::*;
        let known: [(ErrorClass, &[u16]); 21] = [
            (None, &[0]),
            (NotFound, &[2]),
            (Exists, &[17]),
            (Permission, &[1, 13]),
            (NoSpace, &[28, 122]),
            (ReadOnly, &[30]),
            (Stale, &[116]),
            (InputOutput, &[5]),
            (Busy, &[11, 16]),
            (Interrupted, &[4, 0xf008, 0xf009]),
            (TimedOut, &[110, 62]),
            (NotSupported, &[38, 95]),
            (Connection, &[32, 103, 104, 107, 111, 112, 113]),
            (NotEmpty, &[39]),
            (TooManyFiles, &[23, 24]),
            (Short, &[0xf001]),
            (Mismatch, &[0xf002]),
            (Exit, &[0xf003]),
            (Protocol, &[0xf004]),
            (Abandoned, &[0xf005]),
            (NotMounted, &[0xf00a]),
        ];
        for code in (0..0x1000).chain(0xf000..=u16::MAX) {
            let class =
                known.iter().find(|(_, codes)| codes.contains(&code)).map_or(Other, |(class, _)| *class);
            assert_eq!(FailureCode(code).class(), class, "{code:#x}");
            let errno = (1..0x1000).contains(&code).then_some(i32::from(code));
            assert_eq!(FailureCode(code).errno(), errno, "{code:#x}");
        }
    }

    #[test]
    fn a_code_leads_back_to_what_it_was_made_of() {
        for status in 100..=999 {
            assert_eq!(FailureCode::http(status).origin(), FailureOrigin::Http(status));
        }
        let characters = || (b'0'..=b'9').chain(b'A'..=b'Z');
        for class in characters().flat_map(|first| characters().map(move |second| [first, second])) {
            assert_eq!(FailureCode::sql_state(class).origin(), FailureOrigin::SqlState(class));
        }
        for code in 0..=u8::MAX {
            assert_eq!(FailureCode::tls(code).origin(), FailureOrigin::Tls(code));
            assert_eq!(FailureCode::resolution(code).origin(), FailureOrigin::Resolution(code));
        }
        let nonsense = [FailureCode::http(99), FailureCode::http(1000), FailureCode::sql_state(*b"4o")];
        assert_eq!(nonsense, [FailureCode::PROTOCOL; 3]);
        for free in [0x1000, 0x1063, 0x13e8, 0x1fff, 0x2510, 0x3100, 0x37ff, 0x3900, 0xefff] {
            assert_eq!(FailureCode(free).origin(), FailureOrigin::Own, "{free:#x}");
            assert_eq!(FailureCode(free).class(), ErrorClass::Other, "{free:#x}");
        }
    }

    #[test]
    fn failures_of_servers_are_told_in_the_same_words() {
        for (code, told) in [
            (FailureCode::http(404), "not found (HTTP 404)"),
            (FailureCode::http(503), "throttled (HTTP 503)"),
            (FailureCode::http(502), "server error (HTTP 502)"),
            (FailureCode::http(301), "other error (HTTP 301)"),
            (FailureCode::sql_state(*b"40"), "busy (SQLSTATE 40...)"),
            (FailureCode::tls(48), "TLS failed (alert 48)"),
            (FailureCode::resolution(2), "name not resolved (getaddrinfo -2)"),
        ] {
            assert_eq!(code.to_string(), told);
        }
    }
}
