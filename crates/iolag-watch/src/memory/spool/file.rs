//! The file of a spool: appended to, marked, shortened, read once.
//!
//! Invariants: every change leaves a file whose whole lines tell the truth: an append is one write, and what a failed one left is cut off; a
//! rewritten file replaces the old one by renaming. Offsets of records ascend.

use std::collections::VecDeque;
use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::PathBuf;

use iolag_model::HistoryRecord;
use rustix::fs::OFlags;
use rustix::io::Errno;

use super::frame::{Frame, Next, mark_line, read_frame, record_line};
use crate::memory::runtime::{PrivateDirectory, RuntimeError, errno_of, new_name};

const NAME: &str = "spool";
/// Less than this is not worth a rewriting.
const DEAD_BYTES_MIN: u64 = 64 << 10;

/// The file, open.
#[derive(Debug)]
pub(super) struct SpoolFile {
    directory: PrivateDirectory,
    file: File,
    /// Bytes of whole lines.
    bytes: u64,
    /// Whether a part of a line may stand behind them.
    is_torn: bool,
    /// Number and offset of each record in the file that has not been forgotten, in ascending order.
    places: VecDeque<(u64, u64)>,
}

/// What was in the file.
#[derive(Debug, Default)]
pub(super) struct Recovered {
    pub records: Vec<HistoryRecord>,
    /// The number of each record.
    pub sequences: Vec<u64>,
    pub next_sequence: u64,
    pub torn_bytes: u64,
}

/// Why the file did not take something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refusal {
    /// It would become longer than it may.
    TooLong(u64),
    /// The system said no.
    System(Errno),
    /// It has no form as text.
    Form(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong(bytes_max) => write!(formatter, "it has the {bytes_max} bytes that it may have"),
            Self::System(errno) => write!(formatter, "{errno}"),
            Self::Form(why) => formatter.write_str(why),
        }
    }
}

impl SpoolFile {
    /// Opens the file, making it if it is missing, reads it and cuts off a torn end.
    pub fn open(directory: &PrivateDirectory) -> Result<(Self, Recovered), RuntimeError> {
        let directory = directory.try_clone()?;
        // What a killed watch was rewriting; the old file stands.
        directory.remove_file(&new_name(NAME))?;
        let file = directory.open_file(NAME, OFlags::RDWR | OFlags::CREATE | OFlags::APPEND)?;
        let mut spool = Self { directory, file, bytes: 0, is_torn: false, places: VecDeque::new() };
        let recovered = spool.read()?;
        if recovered.torn_bytes > 0 {
            let failed =
                |error: io::Error| spool.directory.error("cut the torn end of", NAME, errno_of(&error));
            spool.file.set_len(spool.bytes).map_err(failed)?;
        }
        Ok((spool, recovered))
    }

    /// Where it is, for messages.
    pub fn path(&self) -> PathBuf {
        self.directory.path_of(NAME)
    }

    /// Adds a record in one write, unless the file would become longer than `bytes_max`.
    pub fn append(&mut self, sequence: u64, record: &HistoryRecord, bytes_max: u64) -> Result<(), Refusal> {
        let line = record_line(sequence, record).map_err(|error| Refusal::Form(error.to_string()))?;
        if self.bytes + line.len() as u64 > bytes_max {
            return Err(Refusal::TooLong(bytes_max));
        }
        let offset = self.bytes;
        self.write(&line)?;
        self.places.push_back((sequence, offset));
        Ok(())
    }

    /// Forgets all records: nothing of them comes back.
    pub fn forget_all(&mut self) -> Result<(), Refusal> {
        self.file.set_len(0).map_err(refused)?;
        self.bytes = 0;
        self.is_torn = false;
        self.places.clear();
        Ok(())
    }

    /// Forgets the records with a smaller number than `sequence`, of which there is one in the file: by a mark, or by rewriting the
    /// file when more than half of it is dead.
    pub fn forget_before(&mut self, sequence: u64) -> Result<(), Refusal> {
        while self.places.front().is_some_and(|(number, _)| *number < sequence) {
            self.places.pop_front();
        }
        let dead_bytes = self.places.front().map_or(self.bytes, |(_, offset)| *offset);
        if dead_bytes > DEAD_BYTES_MIN && dead_bytes > self.bytes / 2 {
            let places = self.places.iter().map(|(number, offset)| (*number, *offset - dead_bytes)).collect();
            if self.rewrite(std::slice::from_ref(&(dead_bytes..self.bytes)), places).is_ok() {
                return Ok(());
            }
        }
        self.write(&mark_line(sequence))
    }

    /// Records in the file that have not been forgotten.
    pub fn records(&self) -> usize {
        self.places.len()
    }

    /// Rewrites the file with these of its records alone; `kept` are numbers in ascending order. If there is no room for that, it
    /// stands as it is.
    pub fn keep_only(&mut self, kept: impl Iterator<Item = u64>) -> Result<(), RuntimeError> {
        let mut kept = kept.peekable();
        let (mut parts, mut places, mut bytes): (Vec<Range<u64>>, _, _) = (Vec::new(), VecDeque::new(), 0);
        for (index, (sequence, begin)) in self.places.iter().enumerate() {
            while kept.next_if(|kept| kept < sequence).is_some() {}
            if kept.peek() != Some(sequence) {
                continue;
            }
            // Marks behind a record go with it: they mean what stands before it.
            let end = self.places.get(index + 1).map_or(self.bytes, |(_, next)| *next);
            places.push_back((*sequence, bytes));
            bytes += end - begin;
            match parts.last_mut() {
                Some(last) if last.end == *begin => last.end = end,
                _ => parts.push(*begin..end),
            }
        }
        self.rewrite(&parts, places)
    }

    /// Appends in one write. A short one (no space is left) is undone, before anything else is appended: behind a torn line
    /// nothing is read.
    fn write(&mut self, line: &[u8]) -> Result<(), Refusal> {
        self.cut_torn_end()?;
        let error = match rustix::io::retry_on_intr(|| rustix::io::write(&self.file, line)) {
            Ok(written) if written == line.len() => {
                self.bytes += line.len() as u64;
                return Ok(());
            }
            Ok(_) => {
                self.is_torn = true;
                Errno::NOSPC
            }
            Err(errno) => errno,
        };
        self.cut_torn_end()?;
        Err(Refusal::System(error))
    }

    fn cut_torn_end(&mut self) -> Result<(), Refusal> {
        if self.is_torn {
            self.file.set_len(self.bytes).map_err(refused)?;
            self.is_torn = false;
        }
        Ok(())
    }

    /// Replaces the file by these parts of it, in which the records have these places. The old one stands if that fails.
    fn rewrite(&mut self, parts: &[Range<u64>], places: VecDeque<(u64, u64)>) -> Result<(), RuntimeError> {
        let new = new_name(NAME);
        let result = self.copy(parts, &new).and_then(|file| {
            self.directory.rename(&new, NAME)?;
            Ok(file)
        });
        match result {
            Ok(file) => {
                self.file = file;
                self.bytes = parts.iter().map(|part| part.end - part.start).sum();
                self.is_torn = false;
                self.places = places;
                Ok(())
            }
            Err(error) => {
                let _ = self.directory.remove_file(&new);
                Err(error)
            }
        }
    }

    fn copy(&mut self, parts: &[Range<u64>], new: &str) -> Result<File, RuntimeError> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::APPEND;
        self.directory.remove_file(new)?;
        let mut copy = self.directory.open_file(new, flags)?;
        let failed = |error: io::Error| self.directory.error("rewrite", NAME, errno_of(&error));
        let mut source = &self.file;
        for part in parts {
            let bytes = part.end - part.start;
            source.seek(SeekFrom::Start(part.start)).map_err(failed)?;
            if io::copy(&mut source.take(bytes), &mut copy).map_err(failed)? != bytes {
                return Err(failed(io::ErrorKind::UnexpectedEof.into()));
            }
        }
        Ok(copy)
    }

    /// Reads the whole lines; `self.bytes` ends behind the last of them.
    fn read(&mut self) -> Result<Recovered, RuntimeError> {
        let failed = |error: io::Error| self.directory.error("read", NAME, errno_of(&error));
        let file_bytes = self.file.metadata().map_err(failed)?.len();
        let mut source = BufReader::new(&self.file);
        let mut recovered = Recovered::default();
        let (mut offset, mut mark) = (0, 0);
        loop {
            match read_frame(&mut source, file_bytes - offset).map_err(failed)? {
                // Numbers only ascend: anything else was not written by a spool.
                Next::Frame(Frame::Record(sequence, record), line_bytes)
                    if sequence >= recovered.next_sequence =>
                {
                    recovered.records.push(*record);
                    recovered.sequences.push(sequence);
                    recovered.next_sequence = sequence.saturating_add(1);
                    self.places.push_back((sequence, offset));
                    offset += line_bytes;
                }
                Next::Frame(Frame::Mark(sequence), line_bytes) => {
                    mark = sequence.max(mark);
                    offset += line_bytes;
                }
                Next::Newer => {
                    let what = format!(
                        "what stands at byte {offset} was written by a newer iolag; start that one, or remove the file and lose what it holds"
                    );
                    return Err(RuntimeError::Damaged { path: self.path(), what });
                }
                Next::Frame(Frame::Record(..), _) | Next::End => break,
            }
        }
        recovered.torn_bytes = file_bytes - offset;
        recovered.forget_before(mark);
        self.places.retain(|(sequence, _)| *sequence >= mark);
        self.bytes = offset;
        Ok(recovered)
    }
}

impl Recovered {
    fn forget_before(&mut self, mark: u64) {
        let removed = self.sequences.partition_point(|sequence| *sequence < mark);
        self.sequences.drain(..removed);
        self.records.drain(..removed);
        self.next_sequence = self.next_sequence.max(mark);
    }
}

fn refused(error: io::Error) -> Refusal {
    Refusal::System(errno_of(&error))
}
