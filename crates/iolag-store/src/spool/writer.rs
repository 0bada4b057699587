//! Appends blocks to one spool file.
//!
//! The rule that keeps samples from being doubled or lost: the ring is read in order, the writer appends, and only then
//! advances the ring's tail, which counts every sample ever consumed. A writer that is killed between the two leaves a
//! spool with *more* samples than the tail says. The next writer therefore takes the spool's count for the truth: it
//! asks [`Resumed::samples_to_skip`] and advances the tail by that many before it reads the first sample.

use std::fs::File;
use std::path::PathBuf;

use iolag_model::{Detail, Outcome, RunId, Sample};
use rustix::fs::OFlags;
use rustix::io::Errno;

use super::block::{
    ALIGNMENT_BYTES, BLOCK_BYTES_MAX, BlockKind, HEADER_BYTES, Header, SAMPLES_MAX, SPOOL_FORMAT, run_hash,
};
use super::{RingNumber, SpoolReader};
use crate::directory::lock_file;
use crate::{Directory, StoreError};

/// Writes one spool file. One buffer of 1 MiB, made once; appending samples allocates nothing.
#[derive(Debug)]
pub struct SpoolWriter {
    file: File,
    path: PathBuf,
    ring: RingNumber,
    run_hash: u64,
    /// Longer than a block by the alignment: the block starts at the first aligned byte.
    buffer: Vec<u8>,
    buffer_start: usize,
    offset: u64,
    sequence: u64,
    samples: u64,
}

/// What an earlier writer left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resumed {
    /// Samples that are safely in the file.
    pub samples: u64,
    /// Bytes of a torn or damaged tail that were cut off.
    pub dropped_bytes: u64,
}

impl Resumed {
    /// How far to advance a ring's tail that says `consumed` samples, before the first new sample is read from it.
    ///
    /// # Errors
    /// [`StoreError::SamplesLost`] if the spool holds fewer: its tail was damaged after the ring had let go of them.
    pub fn samples_to_skip(&self, consumed: u64, spool: &SpoolWriter) -> Result<u64, StoreError> {
        self.samples.checked_sub(consumed).ok_or_else(|| StoreError::SamplesLost {
            path: spool.path.clone(),
            stored: self.samples,
            consumed,
        })
    }
}

impl SpoolWriter {
    /// Makes the file of `ring` in the spool directory and locks it.
    ///
    /// # Errors
    /// If it exists already (then [`SpoolWriter::resume`] is meant) or cannot be made.
    pub fn create(spool: &Directory, run: &RunId, ring: RingNumber) -> Result<Self, StoreError> {
        let file = open_direct(spool, &ring.file_name(), OFlags::RDWR | OFlags::CREATE | OFlags::EXCL)?;
        let writer = Self::new(file, spool, run, ring)?;
        spool.sync()?;
        Ok(writer)
    }

    /// Opens the file of `ring` after its writer ended, cuts off what is torn, and says what is in it.
    ///
    /// # Errors
    /// [`StoreError::Locked`] while the earlier writer still has it open (it may be stuck in the kernel: write to
    /// another ring's file then); else if it is missing or cannot be read or cut.
    pub fn resume(spool: &Directory, run: &RunId, ring: RingNumber) -> Result<(Self, Resumed), StoreError> {
        let file = open_direct(spool, &ring.file_name(), OFlags::RDWR)?;
        let mut writer = Self::new(file, spool, run, ring)?;
        let mut reader = SpoolReader::open(spool, run, ring)?;
        while reader.next_block()?.is_some() {}
        writer.offset = reader.offset();
        writer.sequence = reader.sequence();
        writer.samples = reader.samples();
        let resumed = Resumed { samples: reader.samples(), dropped_bytes: reader.dropped_bytes() };
        writer.cut_tail()?;
        Ok((writer, resumed))
    }

    /// Appends samples; when this returns, they survive the end of this process. Invalid samples are refused whole.
    ///
    /// # Errors
    /// If the file cannot be written. [`SpoolWriter::samples`] then says how many are in it, so that the caller may
    /// advance its ring by those, and try the rest again later.
    pub fn append(&mut self, samples: &[Sample]) -> Result<(), StoreError> {
        for sample in samples {
            if let Err(source) = sample.checked() {
                return Err(StoreError::Sample { path: self.path.clone(), source });
            }
        }
        for samples in samples.chunks(SAMPLES_MAX) {
            let mut hung = 0;
            let payload = &mut self.block()[HEADER_BYTES..];
            for (sample, bytes) in samples.iter().zip(payload.as_chunks_mut::<{ Sample::SIZE }>().0) {
                *bytes = sample.to_bytes();
                hung += u32::from(sample.outcome() == Outcome::Hung);
            }
            self.write_block(BlockKind::Samples, samples.len(), hung, samples.len() * Sample::SIZE)?;
        }
        Ok(())
    }

    /// Appends detail records.
    ///
    /// # Errors
    /// If the file cannot be written; some of them may be in it.
    pub fn append_details(&mut self, details: &[Detail]) -> Result<(), StoreError> {
        let (mut count, mut length) = (0, 0);
        for detail in details {
            let bytes = detail.to_bytes();
            if HEADER_BYTES + length + bytes.len() > BLOCK_BYTES_MAX {
                self.write_block(BlockKind::Details, count, 0, length)?;
                (count, length) = (0, 0);
            }
            let at = HEADER_BYTES + length;
            self.block()[at..at + bytes.len()].copy_from_slice(&bytes);
            count += 1;
            length += bytes.len();
        }
        if count > 0 { self.write_block(BlockKind::Details, count, 0, length) } else { Ok(()) }
    }

    /// Samples in the file, those of earlier writers included.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// Bytes in the file.
    pub fn bytes(&self) -> u64 {
        self.offset
    }

    /// Makes what was appended survive a power failure too.
    ///
    /// # Errors
    /// If the system cannot promise it.
    pub fn sync(&self) -> Result<(), StoreError> {
        rustix::fs::fdatasync(&self.file)
            .map_err(|errno| StoreError::system("make durable", &self.path, errno))
    }

    /// Syncs and closes.
    ///
    /// # Errors
    /// As [`SpoolWriter::sync`].
    pub fn finish(self) -> Result<(), StoreError> {
        self.sync()
    }

    fn new(file: File, spool: &Directory, run: &RunId, ring: RingNumber) -> Result<Self, StoreError> {
        let path = spool.path().join(ring.file_name());
        lock_file(&file, &path)?;
        let buffer = vec![0; BLOCK_BYTES_MAX + ALIGNMENT_BYTES];
        let buffer_start = buffer.as_ptr().align_offset(ALIGNMENT_BYTES);
        let run_hash = run_hash(run);
        Ok(Self { file, path, ring, run_hash, buffer, buffer_start, offset: 0, sequence: 0, samples: 0 })
    }

    fn block(&mut self) -> &mut [u8] {
        &mut self.buffer[self.buffer_start..self.buffer_start + BLOCK_BYTES_MAX]
    }

    fn write_block(
        &mut self,
        kind: BlockKind,
        count: usize,
        hung: u32,
        payload_bytes: usize,
    ) -> Result<(), StoreError> {
        let header = Header {
            format: SPOOL_FORMAT,
            kind,
            ring: self.ring,
            count: count as u32,
            hung,
            payload_bytes: payload_bytes as u32,
            sequence: self.sequence,
            run_hash: self.run_hash,
            samples_before: self.samples,
        };
        let block_bytes = header.block_bytes();
        let block = &mut self.block()[..block_bytes];
        block[HEADER_BYTES + payload_bytes..].fill(0);
        header.seal(block);
        if let Err(errno) = self.write_whole(block_bytes) {
            // Half a block would only be dropped by the reader: give its space back, which a full disk needs.
            // If that fails too, the checksum still keeps the half from being read.
            let _ = self.cut_tail();
            return Err(StoreError::system("append to", &self.path, errno));
        }
        self.offset += block_bytes as u64;
        self.sequence += 1;
        self.samples = header.samples_after();
        Ok(())
    }

    fn write_whole(&mut self, block_bytes: usize) -> Result<(), Errno> {
        let mut written = 0;
        while written < block_bytes {
            let bytes = &self.buffer[self.buffer_start + written..self.buffer_start + block_bytes];
            match rustix::io::pwrite(&self.file, bytes, self.offset + written as u64) {
                Ok(0) => return Err(Errno::NOSPC),
                Ok(more) => written += more,
                Err(Errno::INTR) => {}
                // The file system takes the flag and then not the write; or a short write broke the alignment.
                Err(Errno::INVAL) if self.stop_direct()? => {}
                Err(errno) => return Err(errno),
            }
        }
        Ok(())
    }

    /// Goes on with buffered writes; whether there was anything to change.
    fn stop_direct(&self) -> Result<bool, Errno> {
        let flags = rustix::fs::fcntl_getfl(&self.file)?;
        if !flags.contains(OFlags::DIRECT) {
            return Ok(false);
        }
        rustix::fs::fcntl_setfl(&self.file, flags - OFlags::DIRECT)?;
        Ok(true)
    }

    fn cut_tail(&self) -> Result<(), StoreError> {
        self.file.set_len(self.offset).map_err(|error| StoreError::system("shorten", &self.path, error))
    }
}

/// Opens with direct I/O where the file system takes it, else buffered.
fn open_direct(spool: &Directory, name: &str, flags: OFlags) -> Result<File, StoreError> {
    match spool.open_with(name, flags | OFlags::DIRECT, "open") {
        Err(error) if error.errno() == Some(Errno::INVAL.raw_os_error()) => {
            // Some file systems make the file before they refuse the flag; it is empty, and nobody else's: O_EXCL.
            if flags.contains(OFlags::EXCL) {
                spool.remove_file(name)?;
            }
            spool.open_with(name, flags, "open")
        }
        other => other,
    }
}
