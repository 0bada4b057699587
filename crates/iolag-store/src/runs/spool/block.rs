//! One block of a spool file: its header as bytes and back.

use iolag_model::{Fingerprint, FormatVersion, RunId, Sample};

use super::SpoolNumber;

/// Size of the header.
pub(super) const HEADER_BYTES: usize = 64;
/// Blocks start and end at multiples of this.
pub(super) const ALIGNMENT_BYTES: usize = 4096;
/// No block is longer.
pub(super) const BLOCK_BYTES_MAX: usize = 1 << 20;
/// Samples in the longest block.
pub(super) const SAMPLES_MAX: usize = (BLOCK_BYTES_MAX - HEADER_BYTES) / Sample::SIZE;
/// The format written and read here. A block of 1.0 holds samples of one ring, one of 1.1 those of many.
pub(super) const SPOOL_FORMAT: FormatVersion = FormatVersion { major: 1, minor: 1 };

const MAGIC: [u8; 8] = *b"iolagspl";
const HEADER_CHECKED_BYTES: usize = 56;
const BLOCK_CHECKED_BYTES: usize = 60;

/// What a block holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockKind {
    Samples,
    Details,
    /// Added by a newer minor: skipped.
    Unknown(u8),
}

/// The fields of a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    pub format: FormatVersion,
    pub kind: BlockKind,
    pub spool: SpoolNumber,
    pub count: u32,
    pub hung: u32,
    pub payload_bytes: u32,
    pub sequence: u64,
    pub run_hash: u64,
    pub samples_before: u64,
}

impl Header {
    /// Writes header and checksums into `block`, whose payload is already in place.
    pub fn seal(&self, block: &mut [u8]) {
        block[0..8].copy_from_slice(&MAGIC);
        block[8..10].copy_from_slice(&self.format.major.to_le_bytes());
        block[10..12].copy_from_slice(&self.format.minor.to_le_bytes());
        block[12..16].copy_from_slice(&[self.kind.number(), 0, 0, 0]);
        block[16..20].copy_from_slice(&self.spool.0.to_le_bytes());
        block[20..24].copy_from_slice(&self.count.to_le_bytes());
        block[24..28].copy_from_slice(&self.hung.to_le_bytes());
        block[28..32].copy_from_slice(&self.payload_bytes.to_le_bytes());
        block[32..40].copy_from_slice(&self.sequence.to_le_bytes());
        block[40..48].copy_from_slice(&self.run_hash.to_le_bytes());
        block[48..56].copy_from_slice(&self.samples_before.to_le_bytes());
        let header_crc = crc32fast::hash(&block[..HEADER_CHECKED_BYTES]);
        block[56..60].copy_from_slice(&header_crc.to_le_bytes());
        let block_crc = self.block_crc(block);
        block[60..64].copy_from_slice(&block_crc.to_le_bytes());
    }

    /// The header at the start of `bytes`, if its own checksum is right.
    pub fn read(bytes: &[u8; HEADER_BYTES]) -> Option<Self> {
        let word = |at: usize| u64::from(half(bytes, at)) | u64::from(half(bytes, at + 4)) << 32;
        let quarter = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        if bytes[..8] != MAGIC || crc32fast::hash(&bytes[..HEADER_CHECKED_BYTES]) != half(bytes, 56) {
            return None;
        }
        Some(Self {
            format: FormatVersion { major: quarter(8), minor: quarter(10) },
            kind: BlockKind::from_number(bytes[12]),
            spool: SpoolNumber(half(bytes, 16)),
            count: half(bytes, 20),
            hung: half(bytes, 24),
            payload_bytes: half(bytes, 28),
            sequence: word(32),
            run_hash: word(40),
            samples_before: word(48),
        })
    }

    /// Whether the payload in `block` (header first) is the one that was sealed.
    pub fn matches(&self, block: &[u8]) -> bool {
        self.block_crc(block) == half(block, 60)
    }

    /// Whether lengths and counts agree with each other.
    pub fn is_consistent(&self) -> bool {
        let payload_bytes = self.payload_bytes as usize;
        let fits = payload_bytes <= BLOCK_BYTES_MAX - HEADER_BYTES;
        match self.kind {
            BlockKind::Samples => {
                fits && payload_bytes == self.count as usize * Sample::SIZE && self.hung <= self.count
            }
            BlockKind::Details | BlockKind::Unknown(_) => fits,
        }
    }

    /// Bytes from the start of this block to the start of the next.
    pub fn block_bytes(&self) -> usize {
        (HEADER_BYTES + self.payload_bytes as usize).next_multiple_of(ALIGNMENT_BYTES)
    }

    /// How many samples stand in this file after this block.
    pub fn samples_after(&self) -> u64 {
        let here = if self.kind == BlockKind::Samples { self.count } else { 0 };
        self.samples_before + u64::from(here)
    }

    fn block_crc(&self, block: &[u8]) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&block[..BLOCK_CHECKED_BYTES]);
        hasher.update(&block[HEADER_BYTES..HEADER_BYTES + self.payload_bytes as usize]);
        hasher.finalize()
    }
}

impl BlockKind {
    fn number(self) -> u8 {
        match self {
            Self::Samples => 1,
            Self::Details => 2,
            Self::Unknown(number) => number,
        }
    }

    fn from_number(number: u8) -> Self {
        match number {
            1 => Self::Samples,
            2 => Self::Details,
            other => Self::Unknown(other),
        }
    }
}

/// Of the run's name: a block of another run is never taken for one of this.
pub(super) fn run_hash(run: &RunId) -> u64 {
    Fingerprint::of(run.as_str())
}

fn half(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}
