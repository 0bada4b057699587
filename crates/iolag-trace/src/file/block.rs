//! Header and blocks as bytes.

use std::io::{self, Read, Write};

use iolag_model::FormatVersion;

use super::error::TraceFileError;

/// The format written and read here.
pub const TRACE_FORMAT: FormatVersion = FormatVersion { major: 1, minor: 0 };

/// How a trace begins.
pub const TRACE_BEGINNING: [u8; 8] = *b"iolagtrc";
const HEADER_BYTES: usize = 16;
const BLOCK_HEADER_BYTES: usize = 20;
/// No block is longer, stored or unpacked.
pub(super) const BLOCK_BYTES_MAX: usize = 16 << 20;
/// Fast, and four times smaller than the text it is made of, whose own shrinks to a tenth.
const LEVEL: i32 = 3;

/// What a block holds. The numbers are format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockKind {
    About,
    Names,
    Paths,
    Tasks,
    Calls,
    Edges,
    Ending,
    /// Of a newer minor: skipped.
    Unknown,
}

impl BlockKind {
    const ALL: [Self; 7] =
        [Self::About, Self::Names, Self::Paths, Self::Tasks, Self::Calls, Self::Edges, Self::Ending];

    fn of(code: u8) -> Self {
        let place = usize::from(code).checked_sub(1);
        place.and_then(|place| Self::ALL.get(place)).copied().unwrap_or(Self::Unknown)
    }

    fn code(self) -> u8 {
        // There are eight.
        Self::ALL.iter().position(|kind| *kind == self).map_or(0, |place| place as u8 + 1)
    }
}

/// Writes what every file begins with.
pub(super) fn write_header(output: &mut impl Write) -> io::Result<()> {
    let mut header = [0; HEADER_BYTES];
    header[..8].copy_from_slice(&TRACE_BEGINNING);
    header[8..10].copy_from_slice(&TRACE_FORMAT.major.to_le_bytes());
    header[10..12].copy_from_slice(&TRACE_FORMAT.minor.to_le_bytes());
    let check = crc32fast::hash(&header[..12]);
    header[12..].copy_from_slice(&check.to_le_bytes());
    output.write_all(&header)
}

/// Reads what every file begins with.
pub(super) fn read_header(input: &mut impl Read) -> Result<(), TraceFileError> {
    let mut header = Vec::with_capacity(HEADER_BYTES);
    input.take(HEADER_BYTES as u64).read_to_end(&mut header)?;
    if header.len() < TRACE_BEGINNING.len() || header[..8] != TRACE_BEGINNING {
        return Err(TraceFileError::Foreign);
    }
    let Ok(header) = <[u8; HEADER_BYTES]>::try_from(header) else {
        return Err(TraceFileError::Cut { calls: 0 });
    };
    if crc32fast::hash(&header[..12]) != word(&header, 12) {
        return Err(TraceFileError::Damaged {
            what: "its first bytes are others than were written",
            calls: 0,
        });
    }
    let half = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
    FormatVersion { major: half(8), minor: half(10) }.check_readable_by(TRACE_FORMAT)?;
    Ok(())
}

/// Writes a block.
pub(super) fn write_block(
    output: &mut impl Write,
    kind: BlockKind,
    count: usize,
    plain: &[u8],
) -> io::Result<()> {
    let stored = zstd::bulk::compress(plain, LEVEL)?;
    let too_long = || io::Error::other("a block of a trace is too long");
    let length = |length: usize| u32::try_from(length).map_err(|_| too_long());
    if plain.len() > BLOCK_BYTES_MAX || stored.len() > BLOCK_BYTES_MAX {
        return Err(too_long());
    }
    let mut header = [0; BLOCK_HEADER_BYTES];
    header[0] = kind.code();
    header[4..8].copy_from_slice(&length(stored.len())?.to_le_bytes());
    header[8..12].copy_from_slice(&length(plain.len())?.to_le_bytes());
    header[12..16].copy_from_slice(&length(count)?.to_le_bytes());
    let check = checksum(&header, &stored);
    header[16..].copy_from_slice(&check.to_le_bytes());
    output.write_all(&header)?;
    output.write_all(&stored)
}

/// A block as it was written.
#[derive(Debug)]
pub(super) struct Block {
    pub kind: BlockKind,
    /// Things in it.
    pub count: usize,
    pub plain: Vec<u8>,
}

/// Why there is no next block.
#[derive(Debug)]
pub(super) enum NoBlock {
    /// The file stops here, or within the block.
    Cut,
    /// The block is not what was written.
    Damaged(&'static str),
    Read(io::Error),
}

impl From<io::Error> for NoBlock {
    fn from(error: io::Error) -> Self {
        Self::Read(error)
    }
}

/// Reads the next block.
pub(super) fn read_block(input: &mut impl Read) -> Result<Block, NoBlock> {
    let mut header = Vec::with_capacity(BLOCK_HEADER_BYTES);
    input.take(BLOCK_HEADER_BYTES as u64).read_to_end(&mut header)?;
    let Ok(header) = <[u8; BLOCK_HEADER_BYTES]>::try_from(header) else { return Err(NoBlock::Cut) };
    let (stored_bytes, plain_bytes) = (word(&header, 4) as usize, word(&header, 8) as usize);
    if stored_bytes > BLOCK_BYTES_MAX || plain_bytes > BLOCK_BYTES_MAX {
        return Err(NoBlock::Damaged("a block has an impossible length"));
    }
    // Grows as it is read: what is not there takes no memory.
    let mut stored = Vec::new();
    input.take(stored_bytes as u64).read_to_end(&mut stored)?;
    if stored.len() < stored_bytes {
        return Err(NoBlock::Cut);
    }
    if checksum(&header, &stored) != word(&header, 16) {
        return Err(NoBlock::Damaged("a block has other bytes than were written"));
    }
    let kind = BlockKind::of(header[0]);
    if kind == BlockKind::Unknown {
        return Ok(Block { kind, count: 0, plain: Vec::new() });
    }
    let plain = zstd::bulk::decompress(&stored, plain_bytes)
        .ok()
        .filter(|plain| plain.len() == plain_bytes)
        .ok_or(NoBlock::Damaged("a block cannot be unpacked"))?;
    Ok(Block { kind, count: word(&header, 12) as usize, plain })
}

fn checksum(header: &[u8; BLOCK_HEADER_BYTES], stored: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&header[..16]);
    hasher.update(stored);
    hasher.finalize()
}

fn word(bytes: &[u8], at: usize) -> u32 {
    let mut word = [0; 4];
    word.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(word)
}
