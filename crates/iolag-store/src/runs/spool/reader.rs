//! Reads a spool file up to its first damaged block.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use iolag_model::{Detail, RunId, Sample};
use zerocopy::{FromBytes, IntoBytes};

use super::SpoolNumber;
use super::block::{BLOCK_BYTES_MAX, BlockKind, HEADER_BYTES, Header, SPOOL_FORMAT, run_hash};
use crate::{Directory, StoreError};

/// Iterates over the blocks of one spool file. Holds one block at a time.
#[derive(Debug)]
pub struct SpoolReader {
    file: File,
    path: PathBuf,
    number: SpoolNumber,
    run_hash: u64,
    file_bytes: u64,
    /// A block, in words: samples are looked at where they were read, and need a place that is a multiple of 8.
    buffer: Vec<u64>,
    details_here: Vec<Detail>,
    offset: u64,
    sequence: u64,
    samples: u64,
    damage: Option<Damage>,
}

/// The content of a block.
#[derive(Debug, PartialEq, Eq)]
pub enum Block<'a> {
    /// Samples, in the order in which they were appended.
    Samples(&'a [Sample]),
    /// Detail records.
    Details(&'a [Detail]),
}

/// Why reading stopped before the end of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Damage {
    /// The file ends within the block: its writer was killed.
    Torn,
    /// The checksum of header or payload is wrong.
    Checksum,
    /// The block is whole but does not belong here: another run, spool or place.
    Foreign,
}

/// Which blocks a pass reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pass {
    Everything,
    OnlyHung,
    OnlyDetails,
}

impl SpoolReader {
    /// Opens the file of spool `number`.
    ///
    /// # Errors
    /// If it is missing or cannot be opened.
    pub fn open(spool: &Directory, run: &RunId, number: SpoolNumber) -> Result<Self, StoreError> {
        let name = number.file_name();
        let file = spool.open_file(&name)?;
        let path = spool.path().join(name);
        let file_bytes = file.metadata().map_err(|error| StoreError::system("look at", &path, error))?.len();
        // Advice only: read-ahead is what is wanted, and a refusal changes nothing but speed.
        let _ = rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::Sequential);
        Ok(Self {
            file,
            path,
            number,
            run_hash: run_hash(run),
            file_bytes,
            buffer: vec![0; BLOCK_BYTES_MAX / size_of::<u64>()],
            details_here: Vec::new(),
            offset: 0,
            sequence: 0,
            samples: 0,
            damage: None,
        })
    }

    /// The next block, or nothing at the end or at the first damaged block.
    ///
    /// # Errors
    /// If the file cannot be read, or is of a newer format: then nothing may be concluded or removed.
    pub fn next_block(&mut self) -> Result<Option<Block<'_>>, StoreError> {
        self.advance(Pass::Everything)
    }

    /// The next block that holds hung samples; the payloads of all others are neither read nor checked.
    pub(crate) fn next_block_with_hung(&mut self) -> Result<Option<Block<'_>>, StoreError> {
        self.advance(Pass::OnlyHung)
    }

    /// The next block of details; the payloads of all others are neither read nor checked.
    pub(crate) fn next_block_of_details(&mut self) -> Result<Option<Block<'_>>, StoreError> {
        self.advance(Pass::OnlyDetails)
    }

    /// Samples in the blocks passed so far.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// Why reading stopped, if not at the end.
    pub fn damage(&self) -> Option<Damage> {
        self.damage
    }

    /// Bytes from the damage to the end of the file; zero if there is none.
    pub fn dropped_bytes(&self) -> u64 {
        if self.damage.is_some() { self.file_bytes - self.offset } else { 0 }
    }

    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    pub(super) fn sequence(&self) -> u64 {
        self.sequence
    }

    fn advance(&mut self, pass: Pass) -> Result<Option<Block<'_>>, StoreError> {
        loop {
            let Some(header) = self.read_header()? else { return Ok(None) };
            let wanted = match (header.kind(), pass) {
                (BlockKind::Unknown(_), _) => false,
                (BlockKind::Samples, Pass::OnlyHung) => header.hung.get() > 0,
                (BlockKind::Samples, Pass::OnlyDetails) | (BlockKind::Details, Pass::OnlyHung) => false,
                (BlockKind::Details, Pass::OnlyDetails) | (_, Pass::Everything) => true,
            };
            if !wanted {
                self.pass_over(&header);
                continue;
            }
            if !self.read_payload(&header)? {
                return Ok(None);
            }
            self.pass_over(&header);
            return match header.kind() {
                BlockKind::Samples => self.decode_samples(&header).map(Some),
                _ => self.decode_details(&header).map(Some),
            };
        }
    }

    fn read_header(&mut self) -> Result<Option<Header>, StoreError> {
        let left = self.file_bytes - self.offset;
        if self.damage.is_some() || left == 0 {
            return Ok(None);
        }
        if left < HEADER_BYTES as u64 {
            self.damage = Some(Damage::Torn);
            return Ok(None);
        }
        let mut bytes = [0; HEADER_BYTES];
        self.file
            .read_exact_at(&mut bytes, self.offset)
            .map_err(|error| StoreError::system("read", &self.path, error))?;
        let Some(header) = Header::read(bytes) else {
            self.damage = Some(Damage::Checksum);
            return Ok(None);
        };
        header
            .format()
            .check_readable_by(SPOOL_FORMAT)
            .map_err(|source| StoreError::Format { path: self.path.clone(), source })?;
        let belongs = header.run_hash == self.run_hash
            && header.spool == self.number.0
            && header.sequence == self.sequence
            && header.samples_before == self.samples
            && header.is_consistent();
        if !belongs {
            self.damage = Some(Damage::Foreign);
            return Ok(None);
        }
        if left < header.block_bytes() as u64 {
            self.damage = Some(Damage::Torn);
            return Ok(None);
        }
        Ok(Some(header))
    }

    fn read_payload(&mut self, header: &Header) -> Result<bool, StoreError> {
        let block = &mut self.buffer.as_mut_bytes()[..header.block_bytes()];
        self.file
            .read_exact_at(block, self.offset)
            .map_err(|error| StoreError::system("read", &self.path, error))?;
        if header.matches(block) {
            Ok(true)
        } else {
            self.damage = Some(Damage::Checksum);
            Ok(false)
        }
    }

    fn pass_over(&mut self, header: &Header) {
        self.offset += header.block_bytes() as u64;
        self.sequence += 1;
        self.samples = header.samples_after();
    }

    fn decode_samples(&mut self, header: &Header) -> Result<Block<'_>, StoreError> {
        let bytes = &mut self.buffer.as_mut_bytes()[HEADER_BYTES..][..header.payload_bytes.get() as usize];
        let samples = <[Sample]>::mut_from_bytes(bytes).expect("a consistent block holds whole samples");
        for sample in &mut *samples {
            *sample =
                sample.as_read().map_err(|source| StoreError::Sample { path: self.path.clone(), source })?;
        }
        Ok(Block::Samples(samples))
    }

    fn decode_details(&mut self, header: &Header) -> Result<Block<'_>, StoreError> {
        let mut payload = header.payload(self.buffer.as_bytes());
        self.details_here.clear();
        while !payload.is_empty() {
            let (detail, length) = Detail::from_bytes(payload)
                .map_err(|error| StoreError::damaged(&self.path, error.to_string()))?;
            self.details_here.push(detail);
            payload = &payload[length..];
        }
        Ok(Block::Details(&self.details_here))
    }
}
