//! The detail record: what few samples need and 48 bytes cannot hold, joined to its sample by attempt id.
//!
//! ```text
//! offset  0        8      10       12        16
//!         attempt  kind   length   reserved  text (UTF-8, `length` bytes)
//!         u64      u16    u16      u32
//! ```

use serde::{Deserialize, Serialize};

use crate::AttemptId;

/// The longest text of a detail record in bytes; longer texts are cut at a character.
pub const MAXIMUM_DETAIL_BYTES: usize = 4096;

const HEADER_BYTES: usize = 16;

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
        let mut end = self.text.len().min(MAXIMUM_DETAIL_BYTES);
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        let mut bytes = Vec::with_capacity(HEADER_BYTES + end);
        bytes.extend_from_slice(&self.attempt.0.to_le_bytes());
        bytes.extend_from_slice(&(self.kind as u16).to_le_bytes());
        bytes.extend_from_slice(&(end as u16).to_le_bytes());
        bytes.extend_from_slice(&[0; 4]);
        bytes.extend_from_slice(&self.text.as_bytes()[..end]);
        bytes
    }

    /// The first record in `bytes` and how many bytes it took.
    ///
    /// # Errors
    /// If the bytes end too early or say something unknown.
    pub fn from_bytes(bytes: &[u8]) -> Result<(Self, usize), DetailError> {
        let header = bytes.get(..HEADER_BYTES).ok_or(DetailError::Truncated)?;
        let attempt = header[..8].iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        let number = u16::from_le_bytes([header[8], header[9]]);
        let kind = DetailKind::ALL
            .into_iter()
            .find(|kind| *kind as u16 == number)
            .ok_or(DetailError::Kind(number))?;
        let end = HEADER_BYTES + usize::from(u16::from_le_bytes([header[10], header[11]]));
        let text = bytes.get(HEADER_BYTES..end).ok_or(DetailError::Truncated)?;
        let text = std::str::from_utf8(text).map_err(|_| DetailError::Text)?.to_owned();
        Ok((Self { attempt: AttemptId(attempt), kind, text }, end))
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
    fn truncated_and_unknown_records_are_refused() {
        let detail = Detail { attempt: AttemptId(7), kind: DetailKind::Blocker, text: "x".into() };
        let mut bytes = detail.to_bytes();
        assert_eq!(Detail::from_bytes(&bytes[..bytes.len() - 1]), Err(DetailError::Truncated));
        bytes[8] = 200;
        assert_eq!(Detail::from_bytes(&bytes), Err(DetailError::Kind(200)));
    }
}
