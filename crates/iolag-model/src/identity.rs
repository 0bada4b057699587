//! Who: clients, attempts, targets, stages and runs.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use zerocopy::{FromBytes, Immutable, IntoBytes};

const SEQUENCE_BITS: u32 = 40;

/// One simulated user or job, numbered from 0 within a run, over all its targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(transparent)]
pub struct ClientId(pub u32);

/// One execution of one operation: the client in the upper 24 bits, its sequence number in the lower 40.
///
/// Unique within a run. A sample that says "hung" and the later one that says how it ended carry the same attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
#[derive(FromBytes, IntoBytes, Immutable)]
#[repr(transparent)]
pub struct AttemptId(pub u64);

impl AttemptId {
    /// Sequence numbers of attempts that were never executed begin here; no client executes so many. They are counted on their
    /// own: a client may record one of these, and go on with a lower number.
    pub const UNSENT: u64 = 1 << (SEQUENCE_BITS - 1);

    /// The attempt number `sequence` of `client`.
    #[inline]
    pub const fn new(client: ClientId, sequence: u64) -> Self {
        Self(((client.0 as u64) << SEQUENCE_BITS) | (sequence & ((1 << SEQUENCE_BITS) - 1)))
    }

    /// Whose attempt this is.
    #[inline]
    pub const fn client(self) -> ClientId {
        ClientId((self.0 >> SEQUENCE_BITS) as u32)
    }

    /// Its number within its client.
    #[inline]
    pub const fn sequence(self) -> u64 {
        self.0 & ((1 << SEQUENCE_BITS) - 1)
    }

    /// Whether it was due and never executed.
    #[inline]
    pub const fn is_unsent(self) -> bool {
        self.sequence() >= Self::UNSENT
    }
}

/// One host of a run: 0 is the one that run.json describes itself, n its n-th further one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct HostIndex(pub u16);

impl HostIndex {
    /// Whether it is the one that is in every run: nothing is said of it in run.json.
    pub const fn is_first(&self) -> bool {
        self.0 == 0
    }
}

/// Which directory a working place is, so that clean-up touches no other of the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PlaceIdentity {
    /// Device number; absent if it means nothing any more: network file systems, btrfs and tmpfs get another one whenever
    /// they are mounted, above all after a reboot.
    pub device: Option<u64>,
    /// Inode number.
    pub inode: u64,
}

impl PlaceIdentity {
    /// What remains of it on another boot.
    pub const fn across_boots(self) -> Self {
        Self { device: None, ..self }
    }

    /// Whether `other` may be the same directory.
    pub fn admits(self, other: Self) -> bool {
        self.inode == other.inode && (self.device.is_none() || self.device == other.device)
    }
}

/// A number that nobody can guess, by which a working place is known for its run's own: a file in the place is named after it. The run's
/// manifest has it before the place is made, so that the place is known whenever its maker is killed, and inodes and device numbers,
/// which are given out again, prove nothing. Text: 32 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PlaceToken(pub u128);

/// A text that is not a token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not the token of a working place: expected 32 hexadecimal digits")]
pub struct PlaceTokenError(String);

impl fmt::Display for PlaceToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:032x}", self.0)
    }
}

impl FromStr for PlaceToken {
    type Err = PlaceTokenError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        let number = (text.len() == 32 && text.bytes().all(is_digit)).then(|| u128::from_str_radix(text, 16));
        number.and_then(Result::ok).map(Self).ok_or_else(|| PlaceTokenError(text.to_owned()))
    }
}

impl TryFrom<String> for PlaceToken {
    type Error = PlaceTokenError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<PlaceToken> for String {
    fn from(token: PlaceToken) -> Self {
        token.to_string()
    }
}

/// Who makes a working place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceMaker {
    /// Its run.
    pub run: RunId,
    /// What the place is known by.
    pub token: PlaceToken,
}

/// Index into the targets of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(transparent)]
pub struct TargetIndex(pub u16);

/// Index into the stages of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(transparent)]
#[derive(FromBytes, IntoBytes, Immutable)]
#[repr(transparent)]
pub struct StageIndex(pub u16);

/// Name of a run: `YYYYMMDD-HHMMSS-xxxx`, UTC and four hexadecimal digits. It is a directory name, so nothing else
/// is accepted: a run id never contains a separator or a dot.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(type = "string"))]
#[serde(try_from = "String", into = "String")]
pub struct RunId(String);

/// A text that is not a run id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a run id: expected the form 20261120-185900-3fa7")]
pub struct RunIdError(String);

impl RunId {
    /// The id of a run that starts at `date_time` (`YYYYMMDD-HHMMSS`), told apart from others by `salt`.
    ///
    /// # Errors
    /// If `date_time` does not have that form.
    pub fn new(date_time: &str, salt: u16) -> Result<Self, RunIdError> {
        format!("{date_time}-{salt:04x}").parse()
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for RunId {
    type Err = RunIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bytes = text.as_bytes();
        let has_form = bytes.len() == 20
            && bytes.iter().enumerate().all(|(index, byte)| match index {
                8 | 15 => *byte == b'-',
                0..=14 => byte.is_ascii_digit(),
                _ => byte.is_ascii_digit() || (b'a'..=b'f').contains(byte),
            });
        if has_form { Ok(Self(text.to_owned())) } else { Err(RunIdError(text.to_owned())) }
    }
}

impl TryFrom<String> for RunId {
    type Error = RunIdError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<RunId> for String {
    fn from(id: RunId) -> Self {
        id.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_keeps_client_and_sequence() {
        let attempt = AttemptId::new(ClientId(0xff_ffff), (1 << 40) - 1);
        assert_eq!(attempt.client(), ClientId(0xff_ffff));
        assert_eq!(attempt.sequence(), (1 << 40) - 1);
    }

    #[test]
    fn a_place_is_known_by_device_and_inode_and_on_another_boot_by_inode() {
        let place = PlaceIdentity { device: Some(7), inode: 9 };
        let remounted = PlaceIdentity { device: Some(8), inode: 9 };
        assert!(place.admits(place) && !place.admits(remounted));
        assert!(place.across_boots().admits(remounted));
        assert!(!place.across_boots().admits(PlaceIdentity { device: Some(7), inode: 10 }));
    }

    #[test]
    fn a_token_is_32_digits() {
        let token = PlaceToken(0x2a);
        assert_eq!(token.to_string(), "0000000000000000000000000000002a");
        assert_eq!(token.to_string().parse(), Ok(token));
        for bad in ["", "2a", "0000000000000000000000000000002A", "+000000000000000000000000000002a"] {
            assert!(bad.parse::<PlaceToken>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_run_id_is_a_plain_name() {
        assert_eq!(
            RunId::new("20261120-185900", 0x3fa7).map(String::from),
            Ok("20261120-185900-3fa7".into())
        );
        for bad in ["", "..", "20261120-185900-3fa", "20261120-185900-3fa7/", "20261120/185900-3fa7"] {
            assert!(bad.parse::<RunId>().is_err(), "{bad}");
        }
    }
}
