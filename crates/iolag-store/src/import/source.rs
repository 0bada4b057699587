//! A file as text, and the rows that were found in it, still as they are written.

use std::io::Read;

use iolag_model::SeriesKey;

use super::error::ImportError;
use super::events::{FNV_OFFSET, fnv1a};
use super::value_options::ValueUnit;

/// Reads and keeps the hash of what was read: FNV-1a with 128 bits.
pub(super) struct Hashed<R> {
    input: R,
    hash: u128,
}

impl<R> Hashed<R> {
    pub fn new(input: R) -> Self {
        Self { input, hash: FNV_OFFSET }
    }

    /// So far, hexadecimal.
    pub fn hash(&self) -> String {
        format!("{:032x}", self.hash)
    }
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.hash = fnv1a(self.hash, &buffer[..count]);
        Ok(count)
    }
}

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8, with or without a byte order mark.
    Utf8,
    /// UTF-16 with a byte order mark, as some spreadsheets write.
    Utf16,
    /// Neither: every byte is taken as the character of ISO 8859-1.
    Latin1,
}

/// Reads all of `input`, at most `bytes_max`.
///
/// # Errors
/// If it is larger, or cannot be read.
pub(super) fn read_text(
    input: impl Read,
    file: &str,
    bytes_max: u64,
) -> Result<(String, Encoding), ImportError> {
    let mut bytes = Vec::new();
    input
        .take(bytes_max.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|source| ImportError::System { file: file.to_owned(), source })?;
    if bytes.len() as u64 > bytes_max {
        return Err(ImportError::TooLarge { file: file.to_owned(), bytes_max });
    }
    Ok(decode(bytes))
}

/// Any bytes as text.
pub(super) fn decode(mut bytes: Vec<u8>) -> (String, Encoding) {
    let from_pairs = |pair: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = bytes[2..].chunks_exact(2).map(|two| pair([two[0], two[1]])).collect();
        (String::from_utf16_lossy(&units), Encoding::Utf16)
    };
    if bytes.starts_with(&[0xff, 0xfe]) {
        return from_pairs(u16::from_le_bytes);
    }
    if bytes.starts_with(&[0xfe, 0xff]) {
        return from_pairs(u16::from_be_bytes);
    }
    if bytes.starts_with(&[0xef, 0xbb, 0xbf]) {
        bytes.drain(..3);
    }
    match String::from_utf8(bytes) {
        Ok(text) => (text, Encoding::Utf8),
        Err(error) => (error.as_bytes().iter().map(|byte| char::from(*byte)).collect(), Encoding::Latin1),
    }
}

/// A piece of the text of [`RawRows`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Piece {
    begin: usize,
    length: u32,
}

/// A time as it is written. Several observations may share it.
#[derive(Debug, Clone, Copy)]
pub(super) struct RawTime {
    pub line: u64,
    pub text: Piece,
    /// Times of one group are in the order of the file; the series in files where every row names its own.
    pub group: u32,
}

/// A value as it is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct RawObservation {
    /// Index of its time.
    pub time: usize,
    /// Index of its series.
    pub series: u32,
    pub value: Piece,
    /// Empty if no column says how it ended.
    pub status: Piece,
}

/// A series that was found.
#[derive(Debug, Clone)]
pub(super) struct RawSeries {
    pub key: SeriesKey,
    /// What the caller says.
    pub unit: Option<ValueUnit>,
    /// Name of the column, for a guess of the unit.
    pub column: String,
}

/// All rows of a file as they are written. Its size is proportional to that of the file.
#[derive(Debug, Default)]
pub(super) struct RawRows {
    text: String,
    pub times: Vec<RawTime>,
    pub observations: Vec<RawObservation>,
    pub series: Vec<RawSeries>,
    /// Lines of the file.
    pub lines: u64,
    /// Lines with no value in them: comments, noise between blocks, what a pattern does not match.
    pub ignored: u64,
    /// Dates that no value follows.
    pub dates_alone: u64,
}

impl RawRows {
    /// Series in one file: more are a mistake of the options.
    pub const SERIES_MAX: usize = 10_000;

    /// No rows yet of a file with so many lines, of which so many hold nothing.
    pub fn of_lines(lines: u64, ignored: u64) -> Self {
        Self { lines, ignored, ..Self::default() }
    }

    /// Keeps `text`; one beyond 4 GiB, which no value is, is kept as empty.
    pub fn keep(&mut self, text: &str) -> Piece {
        let length = u32::try_from(text.len()).unwrap_or(0);
        let piece = Piece { begin: self.text.len(), length };
        self.text.push_str(&text[..length as usize]);
        piece
    }

    /// A kept text.
    pub fn text(&self, piece: Piece) -> &str {
        &self.text[piece.begin..piece.begin + piece.length as usize]
    }

    /// Remembers a time; says its index.
    pub fn add_time(&mut self, line: u64, text: &str, group: u32) -> usize {
        let text = self.keep(text.trim());
        self.times.push(RawTime { line, text, group });
        self.times.len() - 1
    }

    /// Remembers a value.
    pub fn add_value(&mut self, time: usize, series: u32, value: &str, status: &str) {
        let (value, status) = (self.keep(value.trim()), self.keep(status.trim()));
        self.observations.push(RawObservation { time, series, value, status });
    }

    /// Line of an observation.
    pub fn line(&self, observation: &RawObservation) -> u64 {
        self.times[observation.time].line
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn byte_order_marks_and_old_encodings_are_understood() {
        assert_eq!(decode(b"\xef\xbb\xbftime".to_vec()), ("time".into(), Encoding::Utf8));
        assert_eq!(decode(b"\xff\xfet\0\xe4\0".to_vec()), ("tä".into(), Encoding::Utf16));
        assert_eq!(decode(b"\xfe\xff\0t\0\xe4".to_vec()), ("tä".into(), Encoding::Utf16));
        assert_eq!(decode(b"Verz\xf6gerung".to_vec()), ("Verzögerung".into(), Encoding::Latin1));
    }

    #[test]
    fn a_file_beyond_the_limit_is_refused() {
        assert!(read_text(&b"12345"[..], "a.csv", 5).is_ok());
        let error = read_text(&b"123456"[..], "a.csv", 5).unwrap_err().to_string();
        assert_eq!(error, "a.csv is larger than 5 bytes; import it in pieces, cut between lines");
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_strange(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let length = bytes.len();
            let (text, _) = decode(bytes);
            prop_assert!(text.len() <= length * 3);
        }
    }
}
