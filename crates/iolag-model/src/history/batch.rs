//! Batches: what one import brought, as a whole that can be taken back.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::WallTime;

/// Identifies an import: milliseconds since 1970 in the upper 44 bits, then chance in 20. The later of two imports has the greater
/// one: a moment's value is that of the greatest batch that was not undone. At most `i64::MAX`, never zero. As a text, also in JSON, 16
/// hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct BatchId(pub u64);

impl BatchId {
    const CHANCE_BITS: u32 = 20;

    /// A new one, greater than `newest`, whatever the clock says.
    pub fn new(now: WallTime, chance: u32, newest: Option<Self>) -> Self {
        let milliseconds = u64::try_from(now.0 / 1_000_000).unwrap_or(0);
        let chance = u64::from(chance) & ((1 << Self::CHANCE_BITS) - 1);
        let number = (milliseconds << Self::CHANCE_BITS) | chance;
        let least = newest.map_or(1, |newest| newest.0.saturating_add(1));
        Self(number.max(least)).bounded()
    }

    /// The nearest that a database holds.
    pub fn bounded(self) -> Self {
        Self(self.0.clamp(1, i64::MAX as u64))
    }
}

impl fmt::Display for BatchId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:016x}", self.0)
    }
}

impl FromStr for BatchId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_plain = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = is_plain.then(|| u64::from_str_radix(text, 16).ok()).flatten();
        number.filter(|number| (1..=i64::MAX as u64).contains(number)).map(Self).ok_or_else(|| {
            format!(
                "{text:?} is no batch; expected 16 hexadecimal digits, as `iolag history batches` lists them"
            )
        })
    }
}

impl From<BatchId> for String {
    fn from(id: BatchId) -> Self {
        id.to_string()
    }
}

impl TryFrom<String> for BatchId {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

/// An import. Identified by its id; an undone one stays undone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    /// Which one.
    pub id: BatchId,
    /// When it was made.
    pub made: WallTime,
    /// What was read: the name of a file, or "standard input".
    pub file: String,
    /// Of its bytes, hexadecimal: tells that the same file was imported before, nothing else.
    pub hash: String,
    /// How it was read, as on the command line.
    pub options: String,
    /// Who imported it.
    pub author: String,
    /// When it was taken back: its samples and events count no longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undone: Option<WallTime>,
}

/// An import and what a history has of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchContent {
    /// The import; of one that is not described nothing but its id is known.
    #[serde(flatten)]
    pub batch: Batch,
    /// Whether more of it has come than some samples or events.
    pub is_described: bool,
    /// Its samples that count.
    pub samples_counting: u64,
    /// Its samples that do not: a later import has others at their moments, or it was undone.
    pub samples_beside: u64,
    /// Its events.
    pub events: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_import_has_the_greater_id_also_where_the_clock_was_set_back() {
        let at = |seconds: i64| WallTime::from_seconds(seconds);
        let first = BatchId::new(at(1_700_000_000), u32::MAX, None);
        let second = BatchId::new(WallTime(at(1_700_000_000).0 + 1_000_000), 0, Some(first));
        assert!(second > first);
        assert_eq!(BatchId::new(at(1), 5, Some(second)), BatchId(second.0 + 1));
        assert_eq!(BatchId::new(at(-5), 0, None), BatchId(1));
    }

    #[test]
    fn an_id_is_read_as_it_is_shown() {
        let id = BatchId::new(WallTime::from_seconds(1_700_000_000), 7, None);
        assert_eq!(id.to_string().parse(), Ok(id));
        let json = serde_json::to_string(&id).unwrap();
        assert_eq!(json, "\"18bcfe5680000007\"");
        assert_eq!(serde_json::from_str::<BatchId>(&json).unwrap(), id);
        for text in
            ["", "last", "0000000000000000", "ffffffffffffffff", "+00000000000000a", "18bcfe568000000"]
        {
            assert!(text.parse::<BatchId>().is_err(), "{text}");
        }
    }
}
