//! One client of a stream.
//!
//! ```text
//! precreate: its directory (and its file, unless it is written first) | each phase: open, blocks, [fsync], close | cleanup: remove
//! ```
//! A stage is broken off by the first failure in it; the file is closed then, and what was written before is what later stages read.
//! Blocks may be in flight several at once; whatever needs them done (fsync, close) waits for them.

use std::sync::Arc;

use iolag_backend::{ObjectKey, Request};
use iolag_model::{
    Allocation, BlockDirection, Meeting, MonotonicTime, Nanoseconds, Operation, Phase, StageRecord,
    StreamSpec, mix,
};

use super::ledger::{StreamFault, StreamLedger};
use super::order::RandomOrder;
use crate::{Client, Done, Note, Step};

/// One client; `P` tells how long the processors have worked for its process until now.
#[derive(Debug)]
pub struct StreamClient<P> {
    spec: StreamSpec,
    seed: u64,
    key: ObjectKey,
    stages: Arc<[StageRecord]>,
    processor_time: P,
    ledger: StreamLedger,
    /// The stage that is next, or goes on.
    place: usize,
    state: State,
    /// Blocks of the file that were written, from its beginning; of no file, nothing.
    extent: Option<u64>,
    /// Requests in flight: whatever is no block comes after all of them.
    flying: u64,
    /// Of the stage.
    work: Work,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Before,
    Entering,
    Begun,
    MakingDirectory,
    Opening,
    Allocating,
    InBlocks,
    Closing,
    Removing,
    RemovingDirectory,
    Ending,
}

/// What was done in a stage.
#[derive(Debug, Clone, Copy)]
struct Work {
    course: Course,
    begin: MonotonicTime,
    /// When its first operation had ended: before, the client waited for the others, if need be actively.
    processor_time: Option<Nanoseconds>,
    asked: u64,
    synced: u64,
    bytes: u64,
    /// The first block, from the beginning of the file, that could not be written.
    failed_at: Option<u64>,
    failed: bool,
    /// Whether the file was made in it.
    is_made: bool,
}

impl Work {
    const fn new(course: Course, begin: MonotonicTime) -> Self {
        Self {
            course,
            begin,
            processor_time: None,
            asked: 0,
            synced: 0,
            bytes: 0,
            failed_at: None,
            failed: false,
            is_made: false,
        }
    }
}

/// Which way a stage moves blocks, and in which order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Course {
    opening: Operation,
    block: Operation,
    order: Option<RandomOrder>,
}

impl Course {
    const NEW_FILE: Self =
        Self { opening: Operation::StreamCreate, block: Operation::StreamWrite, order: None };

    fn is_written(&self) -> bool {
        self.block.block_direction() == Some(BlockDirection::Written)
    }
}

impl<P: FnMut() -> Nanoseconds> StreamClient<P> {
    /// The client with this rank, of a run with this seed.
    pub fn new(
        spec: &StreamSpec,
        (rank, seed): (u32, u64),
        stages: Arc<[StageRecord]>,
        ledger: StreamLedger,
        processor_time: P,
    ) -> Self {
        Self {
            spec: spec.clone(),
            seed,
            key: ObjectKey { rank, dataset: 0, index: 0 },
            stages,
            processor_time,
            ledger,
            place: 0,
            state: State::Before,
            extent: None,
            flying: 0,
            work: Work::new(Course::NEW_FILE, MonotonicTime(0)),
        }
    }

    fn phase(&self) -> Option<Phase> {
        self.stages.get(self.place).map(|stage| stage.phase)
    }

    /// How many blocks this stage has.
    fn blocks(&self) -> u64 {
        match self.phase() {
            Some(Phase::Precreate | Phase::Write) => self.spec.blocks(),
            _ => self.extent.unwrap_or_default(),
        }
    }

    fn course(&self) -> Course {
        let random = || {
            let seed = mix(self.seed ^ mix(u64::from(self.key.rank) << 32 | self.place as u64));
            Some(RandomOrder::new(seed, self.blocks().max(1)))
        };
        let (opening, block, order) = match self.phase() {
            Some(Phase::Read) => (Operation::StreamOpen, Operation::StreamRead, None),
            Some(Phase::RandomRead) => (Operation::StreamOpen, Operation::StreamRandomRead, random()),
            Some(Phase::Rewrite) => (Operation::StreamReopen, Operation::StreamRewrite, None),
            Some(Phase::RandomWrite) => (Operation::StreamReopen, Operation::StreamRandomWrite, random()),
            _ => return Course::NEW_FILE,
        };
        Course { opening, block, order }
    }

    fn ask(&mut self, state: State, operation: Operation, bytes: u64) -> Step {
        self.state = state;
        self.flying += 1;
        Step::Execute { request: Request::new(operation, self.key, bytes), intended: None }
    }

    /// Opens the file, or ends a stage in which there is nothing to do.
    fn open(&mut self) -> Step {
        match self.blocks() {
            0 => self.end(),
            _ => self.ask(State::Opening, self.work.course.opening, 0),
        }
    }

    /// The next block, or what comes instead.
    fn go_on(&mut self, now: MonotonicTime) -> Step {
        let course = self.work.course;
        let (all, asked) = (self.blocks(), self.work.asked);
        let is_up = self.is_timed() && asked > 0 && self.is_up(now);
        let is_done = self.work.failed || asked == all || is_up;
        let last = if is_up { asked } else { all };
        let is_to_sync = course.is_written() && !self.work.failed && asked > self.work.synced;
        let is_due = is_to_sync && self.spec.fsync.is_due(asked, last);
        // All blocks before an fsync have ended when it is asked for: what is in flight then is that.
        let is_syncing = asked > 0 && asked == self.work.synced;
        if (is_done || is_due || is_syncing) && self.flying > 0 {
            return Step::Pause { until: now };
        }
        if is_due {
            self.work.synced = asked;
            self.ask(State::InBlocks, Operation::StreamFsync, 0)
        } else if is_done && course.is_written() {
            self.ask(State::Closing, Operation::StreamCloseWritten, 0)
        } else if is_done {
            self.ask(State::Closing, Operation::StreamClose, 0)
        } else {
            self.block(course)
        }
    }

    fn block(&mut self, course: Course) -> Step {
        let asked = self.work.asked;
        self.work.asked += 1;
        self.flying += 1;
        let block = course.order.map_or(asked, |order| order.number(asked));
        let offset = block * self.spec.block_bytes;
        let bytes = self.spec.block_bytes.min(self.spec.file_bytes - offset);
        let request = Request { offset, ..Request::new(course.block, self.key, bytes) };
        Step::Execute { request, intended: None }
    }

    /// The file that all phases need is made whole.
    fn is_timed(&self) -> bool {
        self.phase() != Some(Phase::Precreate)
    }

    fn is_up(&self, now: MonotonicTime) -> bool {
        self.spec.time_limit_ns.is_some_and(|limit| now.since(self.work.begin) >= limit)
    }

    /// What comes after opening the file.
    fn opened(&mut self, now: MonotonicTime) -> Step {
        let takes_room = self.spec.allocation == Allocation::Before && self.phase() == Some(Phase::Write);
        match takes_room && !self.work.failed {
            true => self.ask(State::Allocating, Operation::StreamAllocate, self.spec.file_bytes),
            false => self.enter_blocks(now),
        }
    }

    fn enter_blocks(&mut self, now: MonotonicTime) -> Step {
        // What could not be opened is not closed.
        if self.work.failed {
            return self.end();
        }
        self.state = State::InBlocks;
        self.go_on(now)
    }

    /// The stage is over but for saying what the processors did in it.
    fn end(&mut self) -> Step {
        if let Some(extent) = &mut self.extent
            && self.work.is_made
        {
            *extent = self.work.failed_at.unwrap_or(self.work.asked);
        }
        self.state = State::Ending;
        let Some(before) = self.work.processor_time else { return self.leave_stage() };
        let taken = Nanoseconds((self.processor_time)().0.saturating_sub(before.0));
        Step::Note(Note::processor_time(self.work.begin, taken))
    }

    const fn leave_stage(&mut self) -> Step {
        self.place += 1;
        self.state = State::Before;
        Step::End
    }

    fn begin(&mut self) -> Step {
        match self.phase() {
            Some(Phase::Precreate) => self.ask(State::MakingDirectory, Operation::MakeDirectory, 0),
            Some(Phase::Cleanup) if self.extent.is_some() => self.ask(State::Removing, Operation::Delete, 0),
            Some(Phase::Cleanup) => self.ask(State::RemovingDirectory, Operation::RemoveDirectory, 0),
            _ => self.open(),
        }
    }
}

impl<P: FnMut() -> Nanoseconds + Send> Client for StreamClient<P> {
    fn next(&mut self, now: MonotonicTime) -> Step {
        if self.flying > 0 && self.state != State::InBlocks {
            return Step::Pause { until: now };
        }
        match self.state {
            State::Before => match self.stages.get(self.place) {
                Some(stage) => {
                    self.state = State::Entering;
                    Step::Begin { stage: stage.stage, value: 0 }
                }
                None => Step::Finished,
            },
            State::Begun => self.begin(),
            State::MakingDirectory if self.spec.makes_file_first() && !self.work.failed => self.open(),
            State::Opening => self.opened(now),
            State::Allocating => self.enter_blocks(now),
            State::InBlocks => self.go_on(now),
            State::MakingDirectory | State::Closing | State::RemovingDirectory => self.end(),
            State::Removing => self.ask(State::RemovingDirectory, Operation::RemoveDirectory, 0),
            State::Ending => self.leave_stage(),
            // Asked without having met: the run is over for everybody.
            State::Entering => Step::Finished,
        }
    }

    fn completed(&mut self, request: &Request, done: &Done) {
        if self.work.processor_time.is_none() {
            self.work.processor_time = Some((self.processor_time)());
        }
        let is_block = request.operation.block_direction().is_some();
        self.work.bytes += if is_block { done.completion.bytes } else { 0 };
        self.flying -= 1;
        // Room that cannot be taken is taken as it is written.
        if done.completion.is_ok() || request.operation == Operation::StreamAllocate {
            if request.operation == Operation::StreamCreate {
                (self.extent, self.work.is_made) = (Some(0), true);
            }
            return;
        }
        if request.operation == Operation::StreamWrite {
            let block = request.offset / self.spec.block_bytes;
            self.work.failed_at = Some(self.work.failed_at.map_or(block, |first| first.min(block)));
        }
        if !std::mem::replace(&mut self.work.failed, true)
            && let Some(stage) = self.stages.get(self.place)
        {
            self.ledger.note(StreamFault {
                rank: self.key.rank,
                stage: stage.stage,
                operation: request.operation,
                code: done.completion.code,
                bytes: self.work.bytes,
            });
        }
    }

    fn met(&mut self, _meeting: &Meeting, now: MonotonicTime) {
        self.work = Work::new(self.course(), now);
        self.state = State::Begun;
    }
}

#[cfg(test)]
mod tests;
