//! One line of the spool file: its form as bytes and back.
//!
//! ```text
//! r1 00000000000000a7 0000012f 9a8b7c6d {"record":…}
//! m1 00000000000000a9 00000000 1b2c3d4e
//! ^  ^                ^        ^        ^
//! |  sequence         length   CRC-32   payload, then a line feed
//! kind and version
//! ```
//! Numbers are lower-case hexadecimal of fixed width. The length is the payload's in bytes; the CRC-32 (IEEE) covers everything before it
//! in the line, and the payload. `r` is a record with its sequence number; `m` is a mark, which says that the records before
//! that number are removed.

use std::io::{self, Read};
use std::mem::offset_of;

use iolag_model::HistoryRecord;
use zerocopy::{FromBytes, transmute};

/// What stands in a line before its payload.
#[derive(FromBytes)]
#[repr(C)]
struct Header {
    kind: u8,
    version: u8,
    blank: u8,
    sequence: Number<16>,
    length: Number<8>,
    crc: Number<8>,
}

#[derive(FromBytes)]
#[repr(C)]
struct Number<const DIGITS: usize> {
    digits: [u8; DIGITS],
    blank: u8,
}

/// Bytes of a line before its payload.
pub(super) const HEADER_BYTES: usize = size_of::<Header>();
/// What is checked of the header: everything before the CRC.
const CRC_AT: usize = offset_of!(Header, crc);

const _: () = assert!(HEADER_BYTES == 38 && CRC_AT == 29);

const VERSION: u8 = b'1';
/// Numbers stay below this, so that the next one is always a number too.
const SEQUENCE_END: u64 = 1 << 63;

/// What stands in a line.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Frame {
    /// A record and its number.
    Record(u64, Box<HistoryRecord>),
    /// Records with a smaller number are removed.
    Mark(u64),
}

/// What comes next in a spool file.
#[derive(Debug, PartialEq)]
pub(super) enum Next {
    /// A whole line of this many bytes.
    Frame(Frame, u64),
    /// A whole line that only a newer iolag understands.
    Newer,
    /// The end, or the first byte that belongs to no whole line.
    End,
}

/// A record as a line.
pub(super) fn record_line(sequence: u64, record: &HistoryRecord) -> serde_json::Result<Vec<u8>> {
    let mut line = vec![0; HEADER_BYTES];
    serde_json::to_writer(&mut line, record)?;
    seal(&mut line, b'r', sequence);
    Ok(line)
}

/// A mark as a line.
pub(super) fn mark_line(sequence: u64) -> Vec<u8> {
    let mut line = vec![0; HEADER_BYTES];
    seal(&mut line, b'm', sequence);
    line
}

/// The next line of `source`, of which at most `left` bytes are left.
///
/// # Errors
/// Only if `source` cannot be read.
pub(super) fn read_frame(source: &mut impl Read, left: u64) -> io::Result<Next> {
    let mut bytes = [0; HEADER_BYTES];
    if left <= HEADER_BYTES as u64 || !fill(source, &mut bytes)? {
        return Ok(Next::End);
    }
    let header: Header = transmute!(bytes);
    let Some([sequence, length, crc]) = header.numbers() else { return Ok(Next::End) };
    // Checked before it is believed: nobody is to allocate for a length that is damage.
    let line_bytes = HEADER_BYTES as u64 + length + 1;
    if line_bytes > left {
        return Ok(Next::End);
    }
    let mut payload = vec![0; length as usize + 1];
    if !fill(source, &mut payload)? || payload.pop() != Some(b'\n') || crc != crc_of(&bytes, &payload) {
        return Ok(Next::End);
    }
    let frame = match (header.kind, header.version) {
        (b'm', VERSION) if payload.is_empty() => Some(Frame::Mark(sequence)),
        (b'r', VERSION) => {
            serde_json::from_slice(&payload).ok().map(|record| Frame::Record(sequence, Box::new(record)))
        }
        _ => None,
    };
    Ok(frame.map_or(Next::Newer, |frame| Next::Frame(frame, line_bytes)))
}

/// Writes the header of a line whose payload is in place, and ends the line.
fn seal(line: &mut Vec<u8>, kind: u8, sequence: u64) {
    let length = line.len() - HEADER_BYTES;
    let head = format!("{}{} {sequence:016x} {length:08x} ", char::from(kind), char::from(VERSION));
    line[..CRC_AT].copy_from_slice(head.as_bytes());
    let (header, payload) = line.split_at(HEADER_BYTES);
    let crc = format!("{:08x} ", crc_of(header, payload));
    line[CRC_AT..HEADER_BYTES].copy_from_slice(crc.as_bytes());
    line.push(b'\n');
}

fn crc_of(header: &[u8], payload: &[u8]) -> u64 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&header[..CRC_AT]);
    hasher.update(payload);
    u64::from(hasher.finalize())
}

impl Header {
    /// Sequence, length and CRC, if it has the form of a header.
    fn numbers(&self) -> Option<[u64; 3]> {
        let sequence = self.sequence.value().filter(|sequence| *sequence < SEQUENCE_END)?;
        (self.blank == b' ').then_some([sequence, self.length.value()?, self.crc.value()?])
    }
}

impl<const DIGITS: usize> Number<DIGITS> {
    /// Only the one spelling: lower case, no sign, a blank behind it.
    fn value(&self) -> Option<u64> {
        let value = self.digits.iter().try_fold(0, |value, digit| {
            let digit = match digit {
                b'0'..=b'9' => digit - b'0',
                b'a'..=b'f' => digit - b'a' + 10,
                _ => return None,
            };
            Some(value << 4 | u64::from(digit))
        });
        value.filter(|_| self.blank == b' ')
    }
}

/// Whether `bytes` could be filled.
fn fill(source: &mut impl Read, bytes: &mut [u8]) -> io::Result<bool> {
    match source.read_exact(bytes) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_stands_as_it_always_stood() {
        assert_eq!(mark_line(0xa9), b"m1 00000000000000a9 00000000 3e0646b0 \n");
    }
}
