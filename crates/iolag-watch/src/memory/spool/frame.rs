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

use iolag_model::HistoryRecord;

/// Bytes of a line before its payload.
pub(super) const HEADER_BYTES: usize = 38;
const CRC_AT: usize = 29;
/// What is checked of the header: everything before the CRC.
const CHECKED_BYTES: usize = CRC_AT;
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
    let mut header = [0; HEADER_BYTES];
    if left <= HEADER_BYTES as u64 || !fill(source, &mut header)? {
        return Ok(Next::End);
    }
    let Some((sequence, length, crc)) = numbers_in(&header) else { return Ok(Next::End) };
    // Checked before it is believed: nobody is to allocate for a length that is damage.
    let line_bytes = HEADER_BYTES as u64 + length + 1;
    if line_bytes > left {
        return Ok(Next::End);
    }
    let mut payload = vec![0; length as usize + 1];
    if !fill(source, &mut payload)? || payload.pop() != Some(b'\n') || crc != crc_of(&header, &payload) {
        return Ok(Next::End);
    }
    let frame = match (header[0], header[1]) {
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

fn crc_of(header: &[u8], payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&header[..CHECKED_BYTES]);
    hasher.update(payload);
    hasher.finalize()
}

/// Sequence, length and CRC of a header, if it has the form of one.
fn numbers_in(header: &[u8; HEADER_BYTES]) -> Option<(u64, u64, u32)> {
    let has_blanks = [2, 19, 28, 37].iter().all(|at| header[*at] == b' ');
    let (sequence, length) = (hexadecimal(&header[3..19])?, hexadecimal(&header[20..28])?);
    let crc = hexadecimal(&header[CRC_AT..CRC_AT + 8])? as u32;
    (has_blanks && sequence < SEQUENCE_END).then_some((sequence, length, crc))
}

/// Only the one spelling: lower case, no sign.
fn hexadecimal(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0, |value, digit| {
        let digit = match digit {
            b'0'..=b'9' => digit - b'0',
            b'a'..=b'f' => digit - b'a' + 10,
            _ => return None,
        };
        Some(value << 4 | u64::from(digit))
    })
}

/// Whether `bytes` could be filled.
fn fill(source: &mut impl Read, bytes: &mut [u8]) -> io::Result<bool> {
    match source.read_exact(bytes) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}
