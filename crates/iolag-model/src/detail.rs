//! The detail record: what few samples need and 48 bytes cannot hold, joined to its sample by attempt id.

use serde::{Deserialize, Serialize};
use zerocopy::little_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes};

use crate::AttemptId;

/// The longest text of a detail record in bytes; longer texts are cut at a character.
pub const MAXIMUM_DETAIL_BYTES: usize = 4096;

/// What stands in a file before the text.
#[derive(FromBytes, IntoBytes, Immutable)]
#[repr(C)]
struct Header {
    attempt: U64,
    kind: U16,
    text_bytes: U16,
    reserved: U32,
}

const _: () = assert!(size_of::<Header>() == 16);

/// What a detail record tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[repr(u16)]
#[serde(rename_all = "kebab-case")]
pub enum DetailKind {
    /// The path, key or command that the attempt was about.
    Subject = 1,
    /// Where a hung attempt waits: process state, wait channel, system call and, where permitted, stack.
    Waiting = 2,
    /// Which attempt stood in the way of a skipped one.
    Blocker = 3,
    /// What the target or a program said when it failed.
    Message = 4,
}

impl DetailKind {
    const ALL: [Self; 4] = [Self::Subject, Self::Waiting, Self::Blocker, Self::Message];

    /// The name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Subject => "subject",
            Self::Waiting => "waiting",
            Self::Blocker => "blocker",
            Self::Message => "message",
        }
    }
}

/// A text that belongs to an attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Detail {
    /// The attempt that it belongs to.
    pub attempt: AttemptId,
    /// What it tells.
    pub kind: DetailKind,
    /// The text.
    pub text: String,
}

/// Bytes that are no detail record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DetailError {
    /// Fewer bytes than the header says.
    #[error("the detail record ends too early")]
    Truncated,
    /// An unknown kind.
    #[error("{0} is not the number of a kind of detail")]
    Kind(u16),
    /// Text that is no UTF-8.
    #[error("the text of the detail record is not UTF-8")]
    Text,
}

impl Detail {
    /// The record as bytes; a text over [`MAXIMUM_DETAIL_BYTES`] is cut.
    pub fn to_bytes(&self) -> Vec<u8> {
        let text = &self.text[..self.text.floor_char_boundary(MAXIMUM_DETAIL_BYTES)];
        let header = Header {
            attempt: self.attempt.0.into(),
            kind: (self.kind as u16).into(),
            text_bytes: (text.len() as u16).into(),
            reserved: U32::ZERO,
        };
        [header.as_bytes(), text.as_bytes()].concat()
    }

    /// The first record in `bytes` and how many bytes it took.
    ///
    /// # Errors
    /// If the bytes end too early or say something unknown.
    pub fn from_bytes(bytes: &[u8]) -> Result<(Self, usize), DetailError> {
        let (header, rest) = Header::read_from_prefix(bytes).map_err(|_| DetailError::Truncated)?;
        let number = header.kind.get();
        let kind = DetailKind::ALL
            .into_iter()
            .find(|kind| *kind as u16 == number)
            .ok_or(DetailError::Kind(number))?;
        let text = rest.get(..header.text_bytes.into()).ok_or(DetailError::Truncated)?;
        let text = std::str::from_utf8(text).map_err(|_| DetailError::Text)?.to_owned();
        let record_bytes = size_of::<Header>() + text.len();
        Ok((Self { attempt: AttemptId(header.attempt.get()), kind, text }, record_bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ClientId;

    #[test]
    fn bytes_lead_back_and_long_texts_are_cut_at_a_character() {
        let attempt = AttemptId::new(ClientId(1), 2);
        let detail = Detail { attempt, kind: DetailKind::Waiting, text: "S request_wait_answer".into() };
        let bytes = detail.to_bytes();
        assert_eq!(Detail::from_bytes(&bytes), Ok((detail, bytes.len())));

        let long = Detail { attempt, kind: DetailKind::Message, text: "é".repeat(MAXIMUM_DETAIL_BYTES) };
        let (cut, _) = Detail::from_bytes(&long.to_bytes()).unwrap();
        assert_eq!(cut.text.len(), MAXIMUM_DETAIL_BYTES);
    }

    #[test]
    fn bytes_stand_where_they_always_stood() {
        let detail = Detail { attempt: AttemptId(0x0102), kind: DetailKind::Blocker, text: "ab".into() };
        assert_eq!(detail.to_bytes(), *b"\x02\x01\0\0\0\0\0\0\x03\0\x02\0\0\0\0\0ab");
    }

    #[test]
    fn truncated_and_unknown_records_are_refused() {
        let detail = Detail { attempt: AttemptId(7), kind: DetailKind::Blocker, text: "x".into() };
        let mut bytes = detail.to_bytes();
        assert_eq!(Detail::from_bytes(&bytes[..bytes.len() - 1]), Err(DetailError::Truncated));
        bytes[8] = 200;
        assert_eq!(Detail::from_bytes(&bytes), Err(DetailError::Kind(200)));
    }
}
