//! A file as text, which is put aside to be read as often as needed.

use std::io::{self, BufRead, Read};
use std::path::Path;
use std::sync::Arc;

use super::error::ImportError;
use super::fingerprint::{FNV_OFFSET, fnv1a};
use crate::import::aside::bytes::{Aside, AsideError, AsideReader};

/// Reads and keeps the hash of what was read: FNV-1a with 128 bits.
pub(crate) struct Hashed<R> {
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
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
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

/// How much is read at once.
const READ_BYTES: usize = 64 << 10;

/// A file as UTF-8.
pub(crate) struct Text {
    aside: Aside,
    /// How it was written.
    pub encoding: Encoding,
    /// The first byte behind a byte order mark.
    begin: u64,
}

impl Text {
    /// Reads all of `input`, at most `bytes_max`, and puts it aside in `directory`.
    ///
    /// # Errors
    /// If it is larger, or cannot be read.
    pub fn read(
        input: impl Read,
        file: &str,
        bytes_max: u64,
        directory: &Arc<Path>,
    ) -> Result<Self, ImportError> {
        let mut input = input.take(bytes_max.saturating_add(1));
        let (mut bytes, mut judge) = (Aside::new(directory), Utf8Judge::default());
        let mut buffer = vec![0; READ_BYTES];
        loop {
            let count = match input.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(source) => return Err(ImportError::System { file: file.to_owned(), source }),
            };
            judge.look_at(&buffer[..count]);
            bytes.write(&buffer[..count])?;
        }
        if bytes.len() > bytes_max {
            return Err(ImportError::TooLarge { file: file.to_owned(), bytes_max });
        }
        Ok(Self::decoded(bytes, judge.is_utf8(), directory)?)
    }

    /// Any bytes as text.
    fn decoded(bytes: Aside, is_utf8: bool, directory: &Arc<Path>) -> Result<Self, AsideError> {
        let mut mark = Vec::new();
        let mut reader = bytes.read_from(0);
        (&mut reader).take(3).read_to_end(&mut mark).map_err(|source| reader.failed(source))?;
        let from_pair: fn([u8; 2]) -> u16 = match mark.as_slice() {
            [0xff, 0xfe, ..] => u16::from_le_bytes,
            [0xfe, 0xff, ..] => u16::from_be_bytes,
            [0xef, 0xbb, 0xbf] if is_utf8 => {
                return Ok(Self { aside: bytes, encoding: Encoding::Utf8, begin: 3 });
            }
            _ if is_utf8 => return Ok(Self { aside: bytes, encoding: Encoding::Utf8, begin: 0 }),
            mark => {
                let begin = if mark == [0xef, 0xbb, 0xbf] { 3 } else { 0 };
                let aside = from_latin1(bytes.read_from(begin), directory)?;
                return Ok(Self { aside, encoding: Encoding::Latin1, begin: 0 });
            }
        };
        let aside = from_utf16(bytes.read_from(2), from_pair, directory)?;
        Ok(Self { aside, encoding: Encoding::Utf16, begin: 0 })
    }

    /// Reads the text from its first byte on.
    pub fn reader(&self) -> AsideReader<'_> {
        self.reader_from(0)
    }

    /// Reads the text on from a byte of it.
    pub fn reader_from(&self, byte: u64) -> AsideReader<'_> {
        self.aside.read_from(self.begin + byte)
    }

    /// The text as a whole; for short ones.
    pub fn whole(&self) -> Result<String, AsideError> {
        let (mut reader, mut text) = (self.reader(), String::new());
        reader.read_to_string(&mut text).map_err(|source| reader.failed(source))?;
        Ok(text)
    }
}

/// Whether bytes that come in pieces are UTF-8.
#[derive(Default)]
struct Utf8Judge {
    /// The begin of a character whose end has not come yet.
    begun: Vec<u8>,
    is_other: bool,
}

impl Utf8Judge {
    fn look_at(&mut self, bytes: &[u8]) {
        if self.is_other {
            return;
        }
        self.begun.extend_from_slice(bytes);
        match std::str::from_utf8(&self.begun) {
            Ok(_) => self.begun.clear(),
            Err(error) => {
                self.is_other = error.error_len().is_some();
                self.begun.drain(..error.valid_up_to());
            }
        }
    }

    fn is_utf8(&self) -> bool {
        !self.is_other && self.begun.is_empty()
    }
}

fn from_latin1(mut reader: AsideReader<'_>, directory: &Arc<Path>) -> Result<Aside, AsideError> {
    let mut aside = Aside::new(directory);
    loop {
        let bytes = reader.fill_buf().map(<[u8]>::to_vec).map_err(|source| reader.failed(source))?;
        if bytes.is_empty() {
            return Ok(aside);
        }
        let text: String = bytes.iter().map(|byte| char::from(*byte)).collect();
        aside.write(text.as_bytes())?;
        reader.consume(bytes.len());
    }
}

fn from_utf16(
    mut reader: AsideReader<'_>,
    from_pair: fn([u8; 2]) -> u16,
    directory: &Arc<Path>,
) -> Result<Aside, AsideError> {
    let mut aside = Aside::new(directory);
    let mut failed = None;
    // A byte without a second one is none.
    let units = std::iter::from_fn(|| {
        let mut pair = [0; 2];
        match reader.read_exact(&mut pair) {
            Ok(()) => Some(from_pair(pair)),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => None,
            Err(error) => {
                failed = Some(error);
                None
            }
        }
    });
    for character in char::decode_utf16(units) {
        let character = character.unwrap_or(char::REPLACEMENT_CHARACTER);
        aside.write(character.encode_utf8(&mut [0; 4]).as_bytes())?;
    }
    match failed {
        Some(source) => Err(reader.failed(source)),
        None => Ok(aside),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(bytes: &[u8], bytes_max: u64) -> Result<Text, ImportError> {
        Text::read(bytes, "a.csv", bytes_max, &Arc::from(std::env::temp_dir()))
    }

    fn decode(bytes: Vec<u8>) -> (String, Encoding) {
        let text = text(&bytes, 1 << 20).unwrap();
        (text.whole().unwrap(), text.encoding)
    }

    #[test]
    fn byte_order_marks_and_old_encodings_are_understood() {
        assert_eq!(decode(b"\xef\xbb\xbftime".to_vec()), ("time".into(), Encoding::Utf8));
        assert_eq!(decode(b"\xff\xfet\0\xe4\0".to_vec()), ("tä".into(), Encoding::Utf16));
        assert_eq!(decode(b"\xfe\xff\0t\0\xe4".to_vec()), ("tä".into(), Encoding::Utf16));
        assert_eq!(decode(b"Verz\xf6gerung".to_vec()), ("Verzögerung".into(), Encoding::Latin1));
    }

    #[test]
    fn a_file_beyond_the_limit_is_refused() {
        assert!(text(b"12345", 5).is_ok());
        let error = text(b"123456", 5).map(|_| ()).unwrap_err().to_string();
        assert_eq!(error, "a.csv is larger than 5 bytes; import it in pieces, cut between lines");
    }

    /// As a whole, without pieces.
    fn decoded_at_once(bytes: &[u8]) -> (String, Encoding) {
        let units = |from_pair: fn([u8; 2]) -> u16| {
            let pairs = bytes[2..].chunks_exact(2).map(|two| from_pair([two[0], two[1]]));
            (String::from_utf16_lossy(&pairs.collect::<Vec<_>>()), Encoding::Utf16)
        };
        match bytes {
            [0xff, 0xfe, ..] => units(u16::from_le_bytes),
            [0xfe, 0xff, ..] => units(u16::from_be_bytes),
            _ => {
                let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
                match std::str::from_utf8(bytes) {
                    Ok(text) => (text.to_owned(), Encoding::Utf8),
                    Err(_) => (bytes.iter().map(|byte| char::from(*byte)).collect(), Encoding::Latin1),
                }
            }
        }
    }

    proptest! {
        #[test]
        fn characters_that_come_in_two_pieces_are_whole(
            mark in proptest::sample::select(vec![&b""[..], b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf"]),
            text in "[aä€𝄞]{0,6}",
            stray in proptest::option::of(any::<u8>()),
            before in READ_BYTES - 8..READ_BYTES,
        ) {
            let mut bytes = mark.to_vec();
            bytes.resize(before, b'x');
            bytes.extend(text.as_bytes());
            bytes.extend(stray);
            bytes.extend(text.as_bytes());
            prop_assert_eq!(decode(bytes.clone()), decoded_at_once(&bytes));
        }

        #[test]
        fn no_bytes_are_too_strange(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let length = bytes.len();
            let (text, _) = decode(bytes);
            prop_assert!(text.len() <= length * 3);
        }
    }
}
