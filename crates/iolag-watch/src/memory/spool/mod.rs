//! The spool: records that the history does not have yet, in memory and in a file of the runtime directory.
//!
//! A record is acknowledged when [`Spool::append`] returns: it is in the file then, in one write, and no end of any process
//! loses it. The file lies in memory, so a reboot does. Records are handed to the history from the front
//! ([`Spool::hand_over`]) and removed when it has them ([`Spool::remove_first`]). A record that was handed over shortly before
//! the watch was killed may come back once more; applying it twice changes nothing.
//!
//! Invariants: what waits is in the order in which it was appended; the file holds a prefix of it, besides removed records at its
//! front. Nothing waits for anything but memory. Nothing is dropped in silence: [`Spool::losses`] counts, [`Spool::trouble`] says so.
//!
//! Limits: at most 64 MiB in the file; what does not fit, or for which the file system has no space, waits in the process alone,
//! until there is room. When either runs low, records that say nothing which a later one does not say better (heartbeats, ages of hung
//! probes) make room first: nothing is lost by that, and it is not counted. Of more than 262,144 others some are dropped: samples
//! of skipped slots first, then other samples, then whatever is left, each time the oldest that the history is not just being given.

mod compaction;
mod file;
mod frame;

use std::collections::VecDeque;

use iolag_model::{HistoryRecord, Outcome, counted};

use crate::memory::runtime::{RuntimeDirectory, RuntimeError};
use file::{Refusal, SpoolFile};

/// How much a spool may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpoolLimits {
    /// Longest file, in bytes.
    pub file_bytes_max: u64,
    /// Most records that wait.
    pub records_max: usize,
}

impl SpoolLimits {
    /// 64 MiB in the file, 262,144 records in all.
    pub const STANDARD: Self = Self { file_bytes_max: 64 << 20, records_max: 256 << 10 };
}

/// Where an appended record is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keeping {
    /// In the file: it outlives this process.
    Spooled,
    /// In this process alone, until the file has room.
    MemoryOnly,
}

/// What a spool had to give up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SpoolLosses {
    /// Bytes at the end of the file that were no whole record: what a killed watch was just writing, which was not acknowledged, or damage.
    pub torn_bytes: u64,
    /// Samples of skipped slots.
    pub skipped: u64,
    /// Other samples.
    pub samples: u64,
    /// Records of other kinds.
    pub others: u64,
}

impl SpoolLosses {
    /// Records that were dropped because too many waited.
    pub const fn records(&self) -> u64 {
        self.skipped + self.samples + self.others
    }
}

/// Records that wait for the history.
#[derive(Debug)]
pub struct Spool {
    file: SpoolFile,
    limits: SpoolLimits,
    /// Oldest first.
    pending: Vec<HistoryRecord>,
    /// For each that waits, its number; they ascend.
    sequences: VecDeque<u64>,
    /// How many of the first ones are in the file.
    spooled: usize,
    /// How many of the first ones the history is being given.
    handed_over: usize,
    next_sequence: u64,
    /// The number that was next when the file was last compacted.
    compacted_before: u64,
    losses: SpoolLosses,
    refusal: Option<Refusal>,
}

impl Spool {
    /// Opens the spool in `directory`, making it if there is none, and returns the records that an earlier watch left, oldest first. They wait
    /// here too. A torn end is cut off.
    ///
    /// # Errors
    /// If the file cannot be read or written, or a newer iolag wrote it.
    pub fn open(directory: &RuntimeDirectory) -> Result<(Self, Vec<HistoryRecord>), RuntimeError> {
        Self::open_with(directory, SpoolLimits::STANDARD)
    }

    /// [`Spool::open`] with other limits.
    ///
    /// # Errors
    /// As [`Spool::open`].
    pub fn open_with(
        directory: &RuntimeDirectory,
        limits: SpoolLimits,
    ) -> Result<(Self, Vec<HistoryRecord>), RuntimeError> {
        let (file, recovered) = SpoolFile::open(directory.files())?;
        let mut spool = Self {
            file,
            limits,
            spooled: recovered.records.len(),
            pending: recovered.records,
            sequences: recovered.sequences.into(),
            handed_over: 0,
            next_sequence: recovered.next_sequence,
            compacted_before: 0,
            losses: SpoolLosses { torn_bytes: recovered.torn_bytes, ..SpoolLosses::default() },
            refusal: None,
        };
        spool.drop_excess();
        let left_over = spool.pending.clone();
        Ok((spool, left_over))
    }

    /// Adds a record. It is acknowledged when this returns [`Keeping::Spooled`].
    pub fn append(&mut self, record: &HistoryRecord) -> Keeping {
        self.pending.push(record.clone());
        self.sequences.push_back(self.next_sequence);
        self.next_sequence += 1;
        self.write_waiting();
        let keeping = if self.spooled == self.pending.len() { Keeping::Spooled } else { Keeping::MemoryOnly };
        self.drop_excess();
        keeping
    }

    /// Takes what waits in `older`, another runtime directory of the same history, and says how much. If it does not all find room in
    /// this file, it also stays there, and comes once more later: applying it twice changes nothing.
    ///
    /// # Errors
    /// If that spool cannot be read or written, or a newer iolag wrote it.
    pub fn take_over(&mut self, older: &RuntimeDirectory) -> Result<usize, RuntimeError> {
        let (mut spool, records) = Self::open(older)?;
        let are_kept =
            records.iter().fold(true, |kept, record| kept & (self.append(record) == Keeping::Spooled));
        if are_kept {
            spool.remove_first(records.len());
        }
        Ok(records.len())
    }

    /// The records that wait, oldest first: to look at. What is given to the history comes from [`Spool::hand_over`].
    pub fn pending(&self) -> &[HistoryRecord] {
        &self.pending
    }

    /// The first records, at most `count_max`, to be given to the history. Until the next call of this or of [`Spool::remove_first`], none of
    /// them is dropped for want of room, so that the first ones remain these.
    pub fn hand_over(&mut self, count_max: usize) -> &[HistoryRecord] {
        self.handed_over = count_max.min(self.pending.len());
        &self.pending[..self.handed_over]
    }

    /// Removes the first `count` records: the history has them. Removing those that [`Spool::hand_over`] returned, or the first of them, is safe
    /// whatever was appended since.
    pub fn remove_first(&mut self, count: usize) {
        let count = count.min(self.pending.len());
        let spooled = count.min(self.spooled);
        self.pending.drain(..count);
        self.sequences.drain(..count);
        self.spooled -= spooled;
        self.handed_over = 0;
        if spooled > 0 {
            self.shorten_file();
        }
        self.write_waiting();
    }

    /// How many records wait in this process alone.
    pub fn unspooled(&self) -> usize {
        self.pending.len() - self.spooled
    }

    /// Why the file cannot take those, as a sentence for people.
    pub fn refusal(&self) -> Option<String> {
        let why = self.refusal.as_ref().map_or_else(|| "it has no room".to_owned(), ToString::to_string);
        (self.unspooled() > 0).then(|| format!("{} cannot take records: {why}", self.file.path().display()))
    }

    /// What had to be given up since this spool was opened.
    pub const fn losses(&self) -> SpoolLosses {
        self.losses
    }

    /// What is wrong, as a sentence for people, if anything is: records wait in this process alone, or some were dropped.
    pub fn trouble(&self) -> Option<String> {
        let unspooled = self.unspooled();
        let waiting = (unspooled > 0).then(|| {
            let why = self.refusal.as_ref().map_or_else(|| "it has no room".to_owned(), ToString::to_string);
            let path = self.file.path();
            let waiting = counted(
                unspooled as u64,
                "record waits in memory alone and ends",
                "records wait in memory alone and end",
            );
            format!("{waiting} with this watch, since {} cannot take them: {why}", path.display())
        });
        let dropped = (self.losses.records() > 0).then(|| {
            let SpoolLosses { skipped, samples, others, .. } = self.losses;
            format!(
                "{} dropped, since more than {} waited for the history: {skipped} of skipped slots, {samples} other samples, {others} others",
                counted(self.losses.records(), "record was", "records were"), self.limits.records_max
            )
        });
        match (waiting, dropped) {
            (Some(waiting), Some(dropped)) => Some(format!("{waiting}; {dropped}")),
            (waiting, dropped) => waiting.or(dropped),
        }
    }

    /// Brings into the file what waits in memory alone, as far as there is room.
    fn write_waiting(&mut self) {
        while let Some(record) = self.pending.get(self.spooled) {
            let sequence = self.sequences[self.spooled];
            match self.file.append(sequence, record, self.limits.file_bytes_max) {
                Ok(()) => self.spooled += 1,
                Err(refusal) if !self.compact_file() => {
                    self.refusal = Some(refusal);
                    return;
                }
                Err(_) => {}
            }
        }
        self.refusal = None;
    }

    /// Makes the file forget what stands before the first record that waits. A failure is not one of the removal: the
    /// records would come back after a crash, and be applied once more.
    fn shorten_file(&mut self) {
        let _ = match self.sequences.front() {
            Some(first) if self.spooled > 0 => self.file.forget_before(*first),
            _ => self.file.forget_all(),
        };
    }

    /// Takes out what others say better. Returns how many records that were.
    fn compact(&mut self) -> usize {
        let doomed = compaction::superseded(&self.pending, self.handed_over);
        self.take_out(&doomed);
        doomed.iter().filter(|is_doomed| **is_doomed).count()
    }

    /// The same to make room in the file; also what was dropped leaves it. Looking through all records takes its time, so it is done once for
    /// every 64th of them that is added. Returns whether another attempt to write is worth it.
    fn compact_file(&mut self) -> bool {
        if self.next_sequence - self.compacted_before <= self.pending.len() as u64 / 64 {
            return false;
        }
        self.compacted_before = self.next_sequence;
        self.compact();
        let has_dead = self.file.records() > self.spooled;
        let kept = self.sequences.iter().take(self.spooled).copied();
        // Without room for the new file beside the old one, the old one stands, and what comes back from it changes nothing.
        has_dead && self.file.keep_only(kept).is_ok()
    }

    /// Drops records if too many wait. More than necessary, so that it is seldom done.
    fn drop_excess(&mut self) {
        if self.pending.len() <= self.limits.records_max {
            return;
        }
        self.compact();
        if self.pending.len() <= self.limits.records_max {
            return;
        }
        let kept = self.limits.records_max - self.limits.records_max / 64;
        for rank in [DropRank::SkippedSlot, DropRank::Sample, DropRank::Other] {
            let excess = self.pending.len().saturating_sub(kept);
            let dropped = self.drop_oldest(rank, excess);
            match rank {
                DropRank::SkippedSlot => self.losses.skipped += dropped,
                DropRank::Sample => self.losses.samples += dropped,
                DropRank::Other => self.losses.others += dropped,
            }
        }
    }

    /// Drops up to `excess` records of this rank that are not handed over; returns how many. Those in the file stay there
    /// until the records around them are removed.
    fn drop_oldest(&mut self, rank: DropRank, excess: usize) -> u64 {
        let mut left = excess;
        let doomed: Vec<bool> = self
            .pending
            .iter()
            .enumerate()
            .map(|(index, record)| {
                let is_doomed = left > 0 && index >= self.handed_over && DropRank::of(record) == rank;
                left -= usize::from(is_doomed);
                is_doomed
            })
            .collect();
        self.take_out(&doomed);
        (excess - left) as u64
    }

    /// Takes the doomed ones out of what waits. In the file they stay until it is rewritten.
    fn take_out(&mut self, doomed: &[bool]) {
        debug_assert_eq!(doomed.len(), self.pending.len(), "one verdict for each");
        self.spooled -= doomed[..self.spooled].iter().filter(|is_doomed| **is_doomed).count();
        let mut verdicts = doomed.iter();
        self.pending.retain(|_| verdicts.next() == Some(&false));
        let mut verdicts = doomed.iter();
        self.sequences.retain(|_| verdicts.next() == Some(&false));
    }
}

/// In which order records are dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DropRank {
    SkippedSlot,
    Sample,
    Other,
}

impl DropRank {
    const fn of(record: &HistoryRecord) -> Self {
        match record {
            HistoryRecord::Sample(sample) if matches!(sample.outcome, Outcome::Skipped) => Self::SkippedSlot,
            HistoryRecord::Sample(_) => Self::Sample,
            _ => Self::Other,
        }
    }
}
