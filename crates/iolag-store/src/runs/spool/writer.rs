//! Appends blocks to one spool file.
//!
//! The rule that keeps samples from being doubled or lost: each ring is read in order, the writer gathers samples of many into
//! a block and writes it, and only then advances the tails of these rings. A writer that is killed between the two leaves a
//! spool with *more* samples than the tails say. The next writer therefore takes the spool for the truth: it asks
//! [`Resumed::stored_of`] how many of those that wait in a ring are in it, and advances the tail past them.

use std::collections::HashMap;
use std::fs::File;
use std::path::PathBuf;

use iolag_model::{AttemptId, ClientId, Detail, Outcome, RunId, Sample};
use rustix::fs::OFlags;
use rustix::io::Errno;

use super::block::{
    ALIGNMENT_BYTES, BLOCK_BYTES_MAX, BlockKind, HEADER_BYTES, Header, SAMPLES_MAX, run_hash,
};
use super::{Block, SpoolNumber, SpoolReader};
use crate::directory::lock_file;
use crate::{Directory, StoreError};

/// Writes one spool file. One buffer of 1 MiB, made once; appending samples allocates nothing.
#[derive(Debug)]
pub struct SpoolWriter {
    file: File,
    path: PathBuf,
    number: SpoolNumber,
    run_hash: u64,
    /// Longer than a block by the alignment: the block starts at the first aligned byte.
    buffer: Vec<u8>,
    buffer_start: usize,
    offset: u64,
    sequence: u64,
    samples: u64,
    /// Samples in the buffer that are not in the file yet, and how many of them are hung.
    gathered: usize,
    gathered_hung: u32,
}

/// What an earlier writer left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resumed {
    /// Samples that are safely in the file.
    pub samples: u64,
    /// Bytes of a torn or damaged tail that were cut off.
    pub dropped_bytes: u64,
    /// The last sample of each client in it.
    last: HashMap<ClientId, AttemptId>,
}

impl Resumed {
    /// How many of the samples that wait in a client's ring, oldest first, are in the file already. Ring and file have them
    /// in one order, whatever their numbers are: everything up to the last one in the file is, and nothing if that one does
    /// not wait any more.
    /// They stand in two pieces, where they go across the end of the ring.
    pub fn stored_of(&self, [older, newer]: [&[Sample]; 2]) -> usize {
        let is_last = |sample: &Sample| self.last.get(&sample.attempt.client()) == Some(&sample.attempt);
        let newer = newer.iter().rposition(is_last).map(|place| older.len() + place + 1);
        newer.or_else(|| Some(older.iter().rposition(is_last)? + 1)).unwrap_or(0)
    }
}

impl SpoolWriter {
    /// Makes the file of spool `number` in the spool directory and locks it.
    ///
    /// # Errors
    /// If it exists already (then [`SpoolWriter::resume`] is meant) or cannot be made.
    pub fn create(spool: &Directory, run: &RunId, number: SpoolNumber) -> Result<Self, StoreError> {
        let file = open_direct(spool, &number.file_name(), OFlags::RDWR | OFlags::CREATE | OFlags::EXCL)?;
        let writer = Self::new(file, spool, run, number)?;
        spool.sync()?;
        Ok(writer)
    }

    /// Opens the file of spool `number` after its writer ended, cuts off what is torn, and says what is in it.
    ///
    /// # Errors
    /// [`StoreError::Locked`] while the earlier writer still has it open (it may be stuck in the kernel: write to
    /// another spool then); else if it is missing or cannot be read or cut.
    pub fn resume(
        spool: &Directory,
        run: &RunId,
        number: SpoolNumber,
    ) -> Result<(Self, Resumed), StoreError> {
        let file = open_direct(spool, &number.file_name(), OFlags::RDWR)?;
        let mut writer = Self::new(file, spool, run, number)?;
        let mut reader = SpoolReader::open(spool, run, number)?;
        let mut last = HashMap::new();
        while let Some(block) = reader.next_block()? {
            if let Block::Samples(samples) = block {
                last.extend(samples.iter().map(|sample| (sample.attempt.client(), sample.attempt)));
            }
        }
        writer.offset = reader.offset();
        writer.sequence = reader.sequence();
        writer.samples = reader.samples();
        let resumed = Resumed { samples: reader.samples(), dropped_bytes: reader.dropped_bytes(), last };
        writer.cut_tail()?;
        Ok((writer, resumed))
    }

    /// Takes samples into the block that is being filled, as many as fit, and says how many. They are safe only after
    /// [`SpoolWriter::flush`]: no ring may be told before.
    ///
    /// # Errors
    /// If one of them is invalid; none is taken then.
    pub fn gather(&mut self, samples: &[Sample]) -> Result<usize, StoreError> {
        let gathered = self.gathered;
        let taken = &samples[..samples.len().min(SAMPLES_MAX - gathered)];
        self.check(taken)?;
        let mut hung = 0;
        let payload = &mut self.block()[HEADER_BYTES + gathered * Sample::SIZE..];
        for (sample, bytes) in taken.iter().zip(payload.as_chunks_mut::<{ Sample::SIZE }>().0) {
            *bytes = sample.to_bytes();
            hung += u32::from(sample.outcome() == Outcome::Hung);
        }
        self.gathered += taken.len();
        self.gathered_hung += hung;
        Ok(taken.len())
    }

    /// Writes what was gathered; when this returns, it survives the end of this process.
    ///
    /// # Errors
    /// If the file cannot be written: what was gathered is not in it, and is to be gathered again.
    pub fn flush(&mut self) -> Result<(), StoreError> {
        let count = std::mem::take(&mut self.gathered);
        let hung = std::mem::take(&mut self.gathered_hung);
        if count == 0 {
            return Ok(());
        }
        self.write_block(BlockKind::Samples, count, hung, count * Sample::SIZE)
    }

    /// Appends samples; when this returns, they survive the end of this process. Invalid samples are refused whole.
    ///
    /// # Errors
    /// If the file cannot be written. [`SpoolWriter::samples`] then says how many are in it.
    pub fn append(&mut self, mut samples: &[Sample]) -> Result<(), StoreError> {
        self.check(samples)?;
        while !samples.is_empty() {
            let taken = self.gather(samples)?;
            samples = &samples[taken..];
            self.flush()?;
        }
        Ok(())
    }

    /// Appends detail records, after what was gathered.
    ///
    /// # Errors
    /// If the file cannot be written; some of them may be in it.
    pub fn append_details(&mut self, details: &[Detail]) -> Result<(), StoreError> {
        self.flush()?;
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

    fn new(file: File, spool: &Directory, run: &RunId, number: SpoolNumber) -> Result<Self, StoreError> {
        let path = spool.path().join(number.file_name());
        lock_file(&file, &path)?;
        let buffer = vec![0; BLOCK_BYTES_MAX + ALIGNMENT_BYTES];
        let buffer_start = buffer.as_ptr().align_offset(ALIGNMENT_BYTES);
        let run_hash = run_hash(run);
        Ok(Self {
            file,
            path,
            number,
            run_hash,
            buffer,
            buffer_start,
            offset: 0,
            sequence: 0,
            samples: 0,
            gathered: 0,
            gathered_hung: 0,
        })
    }

    fn check(&self, samples: &[Sample]) -> Result<(), StoreError> {
        samples.iter().try_for_each(|sample| {
            sample
                .checked()
                .map(drop)
                .map_err(|source| StoreError::Sample { path: self.path.clone(), source })
        })
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
            spool: self.number.0.into(),
            count: (count as u32).into(),
            hung: hung.into(),
            payload_bytes: (payload_bytes as u32).into(),
            sequence: self.sequence.into(),
            run_hash: self.run_hash.into(),
            samples_before: self.samples.into(),
            ..Header::new(kind)
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
