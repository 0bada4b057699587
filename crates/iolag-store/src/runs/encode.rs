//! Turns the spool of a run into Parquet parts.
//!
//! Order of steps: parts and details are written under temporary names, made durable and named; then run.json is
//! replaced; then the spool is removed. Whoever is killed in between leaves either a spool that run.json still points to
//! (encoding it again gives the same files, byte for byte) or a spool that nothing needs any more.
//!
//! Superseding: an attempt that was recorded as hung may be recorded again with its end, or with a greater age. A first
//! pass over the block headers reads only blocks that hold hung samples and notes their attempts. The main pass holds
//! back every sample of those attempts, keeps the one that supersedes the others, and writes it at the end of its
//! target's last part. What was never hung is written in spool order. Clients on other hosts have parts of their own, since they
//! have other clocks.

use std::collections::{BTreeMap, HashSet};

use iolag_model::{AttemptId, HostIndex, Outcome, PartRecord, RunRecord, Sample, TargetIndex};

use super::part::{DetailsWriter, PartContext, PartWriter};
use super::spool::{Block, SpoolNumber, SpoolReader, spools};
use crate::{Directory, StoreError};

/// How much stands where, at most.
#[derive(Debug, Clone, Copy)]
struct Limits {
    /// Rows of a full row group.
    group_rows: usize,
    /// Rows after which a part is full.
    part_rows: u64,
    /// Samples for which there is room in memory, over all targets.
    pending: usize,
    /// Room that a target gets at first.
    pending_first: usize,
}

/// 6 MiB of waiting samples for each target, 96 MiB for all. Columns of row groups of this length find room in a processor's cache, and memory is used
/// again instead of made: what that takes and costs stands in docs/store-format.md.
const LIMITS: Limits =
    Limits { group_rows: 128 << 10, part_rows: 32 << 20, pending: 2 << 20, pending_first: 1 << 10 };

/// What encoding made of a spool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Encoded {
    /// The parts, durable and in order of target.
    pub parts: Vec<PartRecord>,
    /// Samples in them.
    pub samples: u64,
    /// Samples that another of the same attempt superseded.
    pub superseded: u64,
    /// Attempts whose last word is that they hung.
    pub still_hung: u64,
    /// Detail records.
    pub details: u64,
    /// Damaged spools, with the bytes that could not be read.
    pub dropped: Vec<(SpoolNumber, u64)>,
}

/// Encodes the spool into parts in the run directory, durable under their final names. Neither run.json nor the spool
/// is touched. Memory: 6 MiB for the samples of a target, at most 96 MiB for all, and about 10 MiB for encoding, whatever the size.
///
/// # Errors
/// If the spool cannot be read, a part cannot be written, or the spool is of a newer format.
pub fn encode(spool: &Directory, run: &Directory, record: &RunRecord) -> Result<Encoded, StoreError> {
    encode_within(LIMITS, spool, run, record)
}

fn encode_within(
    limits: Limits,
    spool: &Directory,
    run: &Directory,
    record: &RunRecord,
) -> Result<Encoded, StoreError> {
    let numbers = spools(spool)?;
    let hung = HungAttempts::find(spool, record, &numbers)?;
    let mut held: BTreeMap<AttemptId, Sample> = BTreeMap::new();
    let mut parts = Parts::new(limits, run, record)?;
    let mut details = DetailsWriter::new(run)?;
    let mut dropped = Vec::new();
    let mut superseded = 0;
    for number in numbers {
        let mut reader = SpoolReader::open(spool, &record.id, number)?;
        while let Some(block) = reader.next_block()? {
            match block {
                Block::Details(more) => details.append(more)?,
                Block::Samples(samples) => {
                    for sample in samples {
                        if hung.contains(sample.attempt) {
                            superseded += hold(&mut held, sample);
                        } else {
                            parts.push(sample)?;
                        }
                    }
                }
            }
        }
        if reader.dropped_bytes() > 0 {
            dropped.push((number, reader.dropped_bytes()));
        }
    }
    let still_hung = held.values().filter(|sample| sample.outcome() == Outcome::Hung).count() as u64;
    for sample in held.values() {
        parts.push(sample)?;
    }
    let details = details.finish()?;
    let parts = parts.finish()?;
    let samples = parts.iter().map(|part| part.samples).sum();
    Ok(Encoded { parts, samples, superseded, still_hung, details, dropped })
}

/// Keeps the sample that counts; says how many it put aside.
fn hold(held: &mut BTreeMap<AttemptId, Sample>, sample: &Sample) -> u64 {
    match held.get_mut(&sample.attempt) {
        Some(other) => {
            if sample.supersedes(other) {
                *other = *sample;
            }
            1
        }
        None => {
            held.insert(sample.attempt, *sample);
            0
        }
    }
}

/// The attempts that were ever recorded as hung. Asked once per sample, nearly always in vain: a bit per hash value
/// answers first.
struct HungAttempts {
    bits: Vec<u64>,
    attempts: HashSet<AttemptId>,
}

impl HungAttempts {
    fn find(spool: &Directory, record: &RunRecord, numbers: &[SpoolNumber]) -> Result<Self, StoreError> {
        let mut found = Self { bits: vec![0; 1 << 10], attempts: HashSet::new() };
        for number in numbers {
            let mut reader = SpoolReader::open(spool, &record.id, *number)?;
            while let Some(block) = reader.next_block_with_hung()? {
                if let Block::Samples(samples) = block {
                    let hung = samples.iter().filter(|sample| sample.outcome() == Outcome::Hung);
                    hung.for_each(|sample| found.insert(sample.attempt));
                }
            }
        }
        Ok(found)
    }

    fn insert(&mut self, attempt: AttemptId) {
        let (word, bit) = Self::place(attempt);
        self.bits[word] |= bit;
        self.attempts.insert(attempt);
    }

    #[inline]
    fn contains(&self, attempt: AttemptId) -> bool {
        let (word, bit) = Self::place(attempt);
        self.bits[word] & bit != 0 && self.attempts.contains(&attempt)
    }

    /// Fibonacci hashing to 16 bits.
    #[inline]
    fn place(attempt: AttemptId) -> (usize, u64) {
        let hash = attempt.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48;
        ((hash >> 6) as usize, 1 << (hash & 63))
    }
}

/// The parts that are being written, a sequence per target and host.
struct Parts<'a> {
    limits: Limits,
    run: &'a Directory,
    record: &'a RunRecord,
    context: PartContext,
    /// The sequence of every client, by its number.
    sequence_of_client: Vec<usize>,
    /// In the order of target and host.
    sequences: Vec<Sequence>,
}

struct Sequence {
    of: (TargetIndex, HostIndex),
    pending: Vec<Sample>,
    writer: Option<PartWriter>,
    done: Vec<PartRecord>,
}

impl<'a> Parts<'a> {
    fn new(limits: Limits, run: &'a Directory, record: &'a RunRecord) -> Result<Self, StoreError> {
        let mut places: Vec<(TargetIndex, HostIndex)> =
            record.clients.iter().map(|client| (client.target, client.host)).collect();
        places.push((TargetIndex(0), HostIndex(0)));
        places.sort_unstable();
        places.dedup();
        let mut sequence_of_client = Vec::new();
        for client in &record.clients {
            let number = client.client.0 as usize;
            if sequence_of_client.len() <= number {
                sequence_of_client.resize(number + 1, 0);
            }
            sequence_of_client[number] =
                places.partition_point(|place| *place < (client.target, client.host));
        }
        let sequence = |of| Sequence { of, pending: Vec::new(), writer: None, done: Vec::new() };
        let (context, sequences) = (PartContext::new(record)?, places.into_iter().map(sequence).collect());
        Ok(Self { limits, run, record, context, sequence_of_client, sequences })
    }

    fn push(&mut self, sample: &Sample) -> Result<(), StoreError> {
        // A client that run.json does not know yet (it was killed before it could be said) is one of the first target and host.
        let client = sample.attempt.client().0 as usize;
        let own = self.sequence_of_client.get(client).copied().unwrap_or(0);
        let pending = &mut self.sequences[own].pending;
        if pending.len() == pending.capacity() {
            self.grow(own)?;
        }
        let pending = &mut self.sequences[own].pending;
        pending.push(*sample);
        if pending.len() == self.limits.group_rows { self.flush(own) } else { Ok(()) }
    }

    /// Doubles the room of a sequence; if that is too much memory, others write what they have and give theirs back.
    fn grow(&mut self, own: usize) -> Result<(), StoreError> {
        let wanted = (self.sequences[own].pending.capacity() * 2)
            .clamp(self.limits.pending_first, self.limits.group_rows);
        loop {
            let others = (0..self.sequences.len()).filter(|other| *other != own);
            let held: usize = others.clone().map(|other| self.sequences[other].pending.capacity()).sum();
            let largest = others.max_by_key(|other| self.sequences[*other].pending.capacity());
            match largest {
                Some(other) if held > 0 && held + wanted > self.limits.pending => {
                    self.flush(other)?;
                    self.sequences[other].pending = Vec::new();
                }
                _ => break,
            }
        }
        let pending = &mut self.sequences[own].pending;
        pending.reserve_exact(wanted - pending.len());
        Ok(())
    }

    fn flush(&mut self, own: usize) -> Result<(), StoreError> {
        // Hosts count the parts of a target on.
        let (target, _) = self.sequences[own].of;
        let of_target = self.sequences.iter().filter(|other| other.of.0 == target);
        let begun: usize =
            of_target.map(|other| other.done.len() + usize::from(other.writer.is_some())).sum();
        let sequence = &mut self.sequences[own];
        if sequence.pending.is_empty() {
            return Ok(());
        }
        let mut writer = match sequence.writer.take() {
            Some(writer) => writer,
            None => {
                let name = format!("samples-{}-{begun}.parquet", target.0);
                PartWriter::create(self.run, name, &self.context, self.record, sequence.of)?
            }
        };
        writer.write(&mut self.context, &sequence.pending)?;
        sequence.pending.clear();
        if writer.rows() >= self.limits.part_rows {
            sequence.done.push(writer.finish(self.run)?);
        } else {
            sequence.writer = Some(writer);
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<PartRecord>, StoreError> {
        for own in 0..self.sequences.len() {
            self.flush(own)?;
            let sequence = &mut self.sequences[own];
            if let Some(writer) = sequence.writer.take() {
                sequence.done.push(writer.finish(self.run)?);
            }
        }
        Ok(self.sequences.into_iter().flat_map(|sequence| sequence.done).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support::{Client, record, run_id};
    use crate::{SpoolWriter, Store};

    #[test]
    fn many_targets_in_little_memory_lose_nothing_and_parts_follow_each_other() {
        const TARGETS: u16 = 12;
        const SAMPLES: usize = 3000;
        let place = tempfile::tempdir().unwrap();
        let store = Store::open(place.path()).unwrap();
        let mut record = record(&run_id(1), TARGETS, 1);
        let run = store.create_run(&record).unwrap();
        let spool = run.create_spool().unwrap();
        let mut clients: Vec<Client> = (0..u32::from(TARGETS)).map(Client::new).collect();
        let mut writer = SpoolWriter::create(&spool, run.id(), SpoolNumber(0)).unwrap();
        for round in 0..SAMPLES {
            // Bursts, so that targets take turns at being the fullest.
            let client = &mut clients[round / 37 % usize::from(TARGETS)];
            writer.append(&client.take(10)).unwrap();
        }
        let limits = Limits { group_rows: 1000, part_rows: 1500, pending: 2000, pending_first: 16 };
        let encoded = encode_within(limits, &spool, run.directory(), &record).unwrap();
        assert_eq!(encoded.samples, SAMPLES as u64 * 10);
        assert!(encoded.parts.iter().any(|part| part.file.ends_with("-1.parquet")), "{:?}", encoded.parts);
        record.parts = encoded.parts;
        run.write_record(&record).unwrap();
        let mut expected: Vec<Client> = (0..u32::from(TARGETS)).map(Client::new).collect();
        for stored in run.samples().unwrap() {
            let stored = stored.unwrap();
            let client = stored.sample.attempt.client().0;
            assert_eq!(stored.target, client as i32);
            assert_eq!(stored.sample, expected[client as usize].next());
        }
    }
}
