//! Reads samples back: columns for the analysis, whole samples for exports.
//!
//! Row groups are handed out to threads one by one, each thread with a sink of its own; at the end the sinks are merged.
//! Batches have at most 64 Ki rows, in buffers that are reused. Memory: per thread, the compressed columns of one row
//! group and one batch. What clients of other hosts recorded is on their clocks in the parts, and on the first host's from here on.

use std::sync::atomic::{AtomicUsize, Ordering};

use iolag_model::{
    AttemptId, Column, FailureCode, MonotonicTime, Nanoseconds, Operation, Outcome, PartRecord, Sample,
    SampleColumns, StageIndex,
};

use super::part::{ColumnBuffer, PartReader};
use super::run_directory::{RECORD_FILE, RunDirectory};
use crate::StoreError;

/// Rows of a full batch.
pub const BATCH_ROWS: usize = 1 << 16;

/// Takes samples in, batch by batch.
pub trait Sink: Send {
    /// Columns that were not asked for are empty. The order of batches is that of the file within a row group only.
    fn batch(&mut self, samples: SampleColumns<'_>);

    /// Adds what another thread's sink took in.
    fn merge(&mut self, other: Self);
}

impl RunDirectory {
    /// Reads these columns of all samples by `threads` threads, each into a sink of its own, and merges the sinks.
    ///
    /// # Errors
    /// If a part is missing, damaged, or not what run.json says. What sinks had taken in is dropped.
    pub fn scan<S: Sink>(
        &self,
        columns: &[Column],
        threads: usize,
        make: impl Fn() -> S + Sync,
    ) -> Result<S, StoreError> {
        let parts = self.open_parts()?;
        let groups: Vec<(&PartReader, usize)> =
            parts.iter().flat_map(|part| (0..part.groups()).map(move |group| (part, group))).collect();
        let next = AtomicUsize::new(0);
        let work = || -> Result<S, StoreError> {
            let (mut sink, mut batch) = (make(), Batch::default());
            while let Some((part, group)) = groups.get(next.fetch_add(1, Ordering::Relaxed)) {
                let result = batch.read_group(part, *group, columns, &mut sink);
                if result.is_err() {
                    // The others need not go on.
                    next.store(groups.len(), Ordering::Relaxed);
                    result?;
                }
            }
            Ok(sink)
        };
        let threads = threads.clamp(1, groups.len().max(1));
        std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            let mut merged = work();
            for thread in others {
                // A sink's panic is the caller's bug and goes on where the caller is.
                let other = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                merged = merged.and_then(|mut merged| {
                    merged.merge(other?);
                    Ok(merged)
                });
            }
            merged
        })
    }

    /// All samples in stored order: by target, then as recorded.
    ///
    /// # Errors
    /// If a part is missing or not what run.json says. Damage inside is told by the iterator, which then ends.
    pub fn samples(&self) -> Result<Samples, StoreError> {
        Ok(Samples { parts: self.open_parts()?, place: Place::default(), batch: Batch::default() })
    }

    fn open_parts(&self) -> Result<Vec<PartReader>, StoreError> {
        let record = self.record()?;
        let open = |part: &PartRecord| {
            let host = record.further_host(part.host);
            if host.is_none() && !part.host.is_first() {
                let what = format!("{} is of host {}, which is not there", part.file, part.host.0);
                return Err(StoreError::damaged(self.directory().path().join(RECORD_FILE), what));
            }
            Ok(PartReader::open(self.directory(), part)?.on(host.cloned()))
        };
        record.parts.iter().map(open).collect()
    }
}

/// One batch of every column that was asked for.
#[derive(Default)]
struct Batch {
    attempt: ColumnBuffer,
    client: ColumnBuffer,
    target: ColumnBuffer,
    stage: ColumnBuffer,
    operation_code: ColumnBuffer,
    outcome_code: ColumnBuffer,
    failure_code: ColumnBuffer,
    intended_ns: ColumnBuffer,
    start_ns: ColumnBuffer,
    duration_ns: ColumnBuffer,
    bytes: ColumnBuffer,
    tag: ColumnBuffer,
}

impl Batch {
    fn read_group(
        &mut self,
        part: &PartReader,
        group: usize,
        columns: &[Column],
        sink: &mut impl Sink,
    ) -> Result<(), StoreError> {
        self.begin(part, group, columns)?;
        let mut left = part.group_rows(group);
        while left > 0 {
            let rows = left.min(BATCH_ROWS);
            self.advance(part, columns, rows)?;
            sink.batch(self.columns());
            left -= rows;
        }
        Ok(())
    }

    fn begin(&mut self, part: &PartReader, group: usize, columns: &[Column]) -> Result<(), StoreError> {
        columns.iter().try_for_each(|column| part.begin(group, column.name(), self.buffer(*column)))
    }

    /// Replaces the batch by the next rows.
    fn advance(&mut self, part: &PartReader, columns: &[Column], rows: usize) -> Result<(), StoreError> {
        for column in columns {
            let buffer = self.buffer(*column);
            let host = part.host().filter(|_| matches!(column, Column::IntendedNs | Column::StartNs));
            if host.is_some() {
                // A column of one value is only lengthened, but what is in it was converted.
                buffer.wide.clear();
            }
            part.advance(buffer, rows)?;
            if let Some(host) = host {
                buffer.wide.iter_mut().for_each(|ns| *ns = host.to_first(MonotonicTime(*ns as u64)).0 as i64);
            }
        }
        Ok(())
    }

    fn buffer(&mut self, column: Column) -> &mut ColumnBuffer {
        match column {
            Column::Attempt => &mut self.attempt,
            Column::Client => &mut self.client,
            Column::Target => &mut self.target,
            Column::Stage => &mut self.stage,
            Column::OperationCode => &mut self.operation_code,
            Column::OutcomeCode => &mut self.outcome_code,
            Column::FailureCode => &mut self.failure_code,
            Column::IntendedNs => &mut self.intended_ns,
            Column::StartNs => &mut self.start_ns,
            Column::DurationNs => &mut self.duration_ns,
            Column::Bytes => &mut self.bytes,
            Column::Tag => &mut self.tag,
        }
    }

    fn columns(&self) -> SampleColumns<'_> {
        SampleColumns {
            attempt: &self.attempt.wide,
            client: &self.client.narrow,
            target: &self.target.narrow,
            stage: &self.stage.narrow,
            operation_code: &self.operation_code.narrow,
            outcome_code: &self.outcome_code.narrow,
            failure_code: &self.failure_code.narrow,
            intended_ns: &self.intended_ns.wide,
            start_ns: &self.start_ns.wide,
            duration_ns: &self.duration_ns.wide,
            bytes: &self.bytes.wide,
            tag: &self.tag.narrow,
        }
    }
}

/// See [`RunDirectory::samples`].
pub struct Samples {
    parts: Vec<PartReader>,
    place: Place,
    batch: Batch,
}

#[derive(Default)]
struct Place {
    part: usize,
    group: usize,
    /// Rows of the group that are not in a batch yet.
    group_left: usize,
    batch_row: usize,
    batch_rows: usize,
}

/// A sample that came from disk, and the target that it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredSample {
    /// The sample.
    pub sample: Sample,
    /// Index into the run's targets.
    pub target: i32,
}

const SAMPLE_COLUMNS: &[Column] = &[
    Column::Attempt,
    Column::Target,
    Column::Stage,
    Column::OperationCode,
    Column::OutcomeCode,
    Column::FailureCode,
    Column::IntendedNs,
    Column::StartNs,
    Column::DurationNs,
    Column::Bytes,
    Column::Tag,
];

impl Samples {
    /// Fills the batch with the next rows; false at the end.
    fn fill(&mut self) -> Result<bool, StoreError> {
        while self.place.group_left == 0 {
            let Some(part) = self.parts.get(self.place.part) else { return Ok(false) };
            if self.place.group == part.groups() {
                self.place.part += 1;
                self.place.group = 0;
                continue;
            }
            self.batch.begin(part, self.place.group, SAMPLE_COLUMNS)?;
            self.place.group_left = part.group_rows(self.place.group);
            self.place.group += 1;
        }
        let rows = self.place.group_left.min(BATCH_ROWS);
        let part = &self.parts[self.place.part];
        self.batch.advance(part, SAMPLE_COLUMNS, rows)?;
        self.place.group_left -= rows;
        (self.place.batch_row, self.place.batch_rows) = (0, rows);
        Ok(true)
    }

    fn sample_at(&self, row: usize) -> Result<StoredSample, StoreError> {
        let batch = &self.batch;
        let operation = u8::try_from(batch.operation_code.narrow[row]).ok().and_then(Operation::from_code);
        let outcome =
            u8::try_from(batch.outcome_code.narrow[row]).ok().and_then(|code| Outcome::try_from(code).ok());
        let (Some(operation), Some(outcome)) = (operation, outcome) else {
            let what = format!(
                "operation {} with outcome {} is not known to this iolag; use a newer one",
                batch.operation_code.narrow[row], batch.outcome_code.narrow[row]
            );
            return Err(StoreError::damaged(self.parts[self.place.part].path(), what));
        };
        let sample = Sample::new(
            AttemptId(batch.attempt.wide[row] as u64),
            operation,
            MonotonicTime(batch.intended_ns.wide[row] as u64),
            MonotonicTime(batch.start_ns.wide[row] as u64),
            Nanoseconds(batch.duration_ns.wide[row] as u64),
        )
        .with_outcome(outcome, FailureCode(batch.failure_code.narrow[row] as u16))
        .with_bytes(batch.bytes.wide[row] as u64)
        .in_stage(StageIndex(batch.stage.narrow[row] as u16))
        .with_tag(batch.tag.narrow[row] as u16);
        Ok(StoredSample { sample, target: batch.target.narrow[row] })
    }

    fn end(&mut self) {
        self.parts.clear();
        self.place = Place::default();
    }
}

impl Iterator for Samples {
    type Item = Result<StoredSample, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.place.batch_row == self.place.batch_rows {
            match self.fill() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => {
                    self.end();
                    return Some(Err(error));
                }
            }
        }
        let row = self.place.batch_row;
        self.place.batch_row += 1;
        let stored = self.sample_at(row);
        if stored.is_err() {
            self.end();
        }
        Some(stored)
    }
}
