//! One block of a spool file: its header as bytes and back.

use std::mem::offset_of;

use iolag_model::{Fingerprint, FormatVersion, RunId, Sample};
use zerocopy::little_endian::{U16, U32, U64};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, transmute};

/// Size of the header.
pub(super) const HEADER_BYTES: usize = size_of::<Header>();
/// Blocks start and end at multiples of this.
pub(super) const ALIGNMENT_BYTES: usize = 4096;
/// No block is longer.
pub(super) const BLOCK_BYTES_MAX: usize = 1 << 20;
/// Samples in the longest block.
pub(super) const SAMPLES_MAX: usize = (BLOCK_BYTES_MAX - HEADER_BYTES) / Sample::SIZE;
/// The format written and read here. A block of 1.0 holds samples of one ring, one of 1.1 those of many.
pub(super) const SPOOL_FORMAT: FormatVersion = FormatVersion { major: 1, minor: 1 };

const MAGIC: [u8; 8] = *b"iolagspl";

/// What a block holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockKind {
    Samples,
    Details,
    /// Added by a newer minor: skipped.
    Unknown(u8),
}

/// The header as it stands in the file. Each checksum covers what is before it, the last one the payload too.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub(super) struct Header {
    pub magic: [u8; 8],
    pub major: U16,
    pub minor: U16,
    pub kind: u8,
    pub reserved: [u8; 3],
    pub spool: U32,
    pub count: U32,
    pub hung: U32,
    pub payload_bytes: U32,
    pub sequence: U64,
    pub run_hash: U64,
    pub samples_before: U64,
    pub header_crc: U32,
    pub block_crc: U32,
}

const _: () = assert!(HEADER_BYTES == 64 && offset_of!(Header, header_crc) == 56);

impl Header {
    /// One of this kind, of the format written here, with nothing else in it.
    pub fn new(kind: BlockKind) -> Self {
        let FormatVersion { major, minor } = SPOOL_FORMAT;
        Self {
            magic: MAGIC,
            major: major.into(),
            minor: minor.into(),
            kind: kind.number(),
            ..Self::new_zeroed()
        }
    }

    /// Writes header and checksums into `block`, whose payload is already in place.
    pub fn seal(mut self, block: &mut [u8]) {
        self.header_crc = self.crc_of_itself().into();
        self.block_crc = self.crc_with_payload(block).into();
        block[..HEADER_BYTES].copy_from_slice(self.as_bytes());
    }

    /// The header in these bytes, if its own checksum is right.
    pub fn read(bytes: [u8; HEADER_BYTES]) -> Option<Self> {
        let header: Self = transmute!(bytes);
        (header.magic == MAGIC && header.header_crc == header.crc_of_itself()).then_some(header)
    }

    /// Whether the payload in `block` (header first) is the one that was sealed.
    pub fn matches(&self, block: &[u8]) -> bool {
        self.block_crc == self.crc_with_payload(block)
    }

    pub fn format(&self) -> FormatVersion {
        FormatVersion { major: self.major.get(), minor: self.minor.get() }
    }

    pub fn kind(&self) -> BlockKind {
        BlockKind::from_number(self.kind)
    }

    /// The payload in `block` (header first).
    pub fn payload<'a>(&self, block: &'a [u8]) -> &'a [u8] {
        &block[HEADER_BYTES..][..self.payload_bytes.get() as usize]
    }

    /// Whether lengths and counts agree with each other.
    pub fn is_consistent(&self) -> bool {
        let payload_bytes = self.payload_bytes.get() as usize;
        let fits = payload_bytes <= BLOCK_BYTES_MAX - HEADER_BYTES;
        match self.kind() {
            BlockKind::Samples => {
                fits && payload_bytes == self.count.get() as usize * Sample::SIZE && self.hung <= self.count
            }
            BlockKind::Details | BlockKind::Unknown(_) => fits,
        }
    }

    /// Bytes from the start of this block to the start of the next.
    pub fn block_bytes(&self) -> usize {
        (HEADER_BYTES + self.payload_bytes.get() as usize).next_multiple_of(ALIGNMENT_BYTES)
    }

    /// How many samples stand in this file after this block.
    pub fn samples_after(&self) -> u64 {
        let here = if self.kind() == BlockKind::Samples { self.count.get() } else { 0 };
        self.samples_before.get() + u64::from(here)
    }

    fn crc_of_itself(&self) -> u32 {
        crc32fast::hash(&self.as_bytes()[..offset_of!(Self, header_crc)])
    }

    fn crc_with_payload(&self, block: &[u8]) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&self.as_bytes()[..offset_of!(Self, block_crc)]);
        hasher.update(self.payload(block));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_stand_where_they_always_stood() {
        let header = Header {
            spool: 0x0102.into(),
            count: 3.into(),
            hung: 4.into(),
            payload_bytes: 2.into(),
            sequence: 5.into(),
            run_hash: 0x1122_3344_5566_7788.into(),
            samples_before: 6.into(),
            ..Header::new(BlockKind::Details)
        };
        let mut block = [&[0; HEADER_BYTES], &b"ab"[..]].concat();
        header.seal(&mut block);
        let expected = "696f6c616773706c 0100 0100 02000000 02010000 03000000 04000000 02000000 0500000000000000 \
            8877665544332211 0600000000000000 af488bae 31fb986e 6162";
        let bytes: String = block.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(bytes, expected.replace(' ', ""));
    }
}
