//! One client of a stream.
//!
//! ```text
//! precreate: its directory (and its file, unless it is written first) | each phase: open, blocks, [fsync], close | cleanup: remove
//! ```
//! To copy is to open the file, make the copy, [fsync] and close that, and close the file. What lies in shared blocks, and whether the copy is
//! what was copied, is found out before it is removed: that is no part of a phase.
//!
//! A stage is broken off by the first failure in it; the file is closed then, and what was written before is what later stages read.
//! Blocks may be in flight several at once; whatever needs them done (fsync, close) waits for them.

use std::sync::Arc;

use iolag_backend::{ObjectKey, Request};
use iolag_model::{
    Allocation, BlockDirection, CopyWith, Meeting, MonotonicTime, Nanoseconds, Operation, Phase, StageRecord,
    StreamSpec, Verification, mix,
};

use super::ledger::{StreamFault, StreamLedger};
use super::order::RandomOrder;
use crate::processors::{ProcessorClocks, ProcessorMeter, ProcessorTimes};
use crate::{Client, Done, Step};

/// One client.
#[derive(Debug)]
pub struct StreamClient<P> {
    spec: StreamSpec,
    seed: u64,
    key: ObjectKey,
    copies: Copies,
    stages: Arc<[StageRecord]>,
    processors: ProcessorMeter<P>,
    ledger: StreamLedger,
    /// The stage that is next, or goes on.
    place: usize,
    state: State,
    /// Blocks of the file that were written, from its beginning; of no file, nothing.
    extent: Option<u64>,
    /// Bytes of the copy, if there is one.
    copied: Option<u64>,
    /// Requests in flight: whatever is no block comes after all of them.
    flying: u64,
    /// Of the stage.
    work: Work,
}

/// Where a client makes its copy, and how long a program may take for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Copies {
    /// In which place.
    pub place: CopyPlace,
    /// A program that has not ended after this long is ended.
    pub longest: Nanoseconds,
}

/// In which place a copy is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyPlace {
    /// Where the file is: the client removes it.
    Beside,
    /// In that of another target: it goes with the place.
    Elsewhere,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Before,
    Entering,
    Begun,
    MakingDirectory,
    Opening,
    MakingCopy,
    Allocating,
    InBlocks,
    Closing,
    ClosingSource,
    LookingAtCopy,
    ComparingCopy,
    RemovingCopy,
    Removing,
    RemovingDirectory,
    Ending,
}

/// What was done in a stage.
#[derive(Debug, Clone, Copy)]
struct Work {
    course: Course,
    begin: MonotonicTime,
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
        Self { course, begin, asked: 0, synced: 0, bytes: 0, failed_at: None, failed: false, is_made: false }
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
        self.is_copied() || self.block.block_direction() == Some(BlockDirection::Written)
    }

    const fn is_copied(&self) -> bool {
        matches!(self.block, Operation::StreamCopy | Operation::StreamCp)
    }
}

impl<P: ProcessorClocks> StreamClient<P> {
    /// The client with this rank, of a run with this seed.
    pub fn new(
        spec: &StreamSpec,
        (rank, seed): (u32, u64),
        copies: Copies,
        stages: Arc<[StageRecord]>,
        ledger: StreamLedger,
        processors: Arc<ProcessorTimes<P>>,
    ) -> Self {
        Self {
            spec: spec.clone(),
            seed,
            key: ObjectKey { rank, dataset: 0, index: 0 },
            copies,
            stages,
            processors: ProcessorMeter::new(processors),
            ledger,
            place: 0,
            state: State::Before,
            extent: None,
            copied: None,
            flying: 0,
            work: Work::new(Course::NEW_FILE, MonotonicTime(0)),
        }
    }

    fn phase(&self) -> Option<Phase> {
        self.stages.get(self.place).map(|stage| stage.phase)
    }

    /// Bytes of this stage's blocks.
    fn block_bytes(&self) -> u64 {
        match self.phase() {
            Some(Phase::Precreate) => self.spec.making_block_bytes(),
            _ => self.spec.block_bytes,
        }
    }

    /// How many blocks this stage has.
    fn blocks(&self) -> u64 {
        match self.phase() {
            Some(Phase::Precreate | Phase::Write) => self.spec.file_bytes.div_ceil(self.block_bytes().max(1)),
            _ => self.extent.unwrap_or_default(),
        }
    }

    /// How many requests that takes.
    fn requests(&self) -> u64 {
        match self.work.course.block {
            Operation::StreamCp => self.blocks().min(1),
            _ => self.blocks(),
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
            Some(Phase::Copy) => {
                let is_program = self.spec.copy_with == Some(CopyWith::Cp);
                let block = if is_program { Operation::StreamCp } else { Operation::StreamCopy };
                (Operation::StreamOpen, block, None)
            }
            _ => return Course::NEW_FILE,
        };
        Course { opening, block, order }
    }

    fn ask(&mut self, state: State, operation: Operation, bytes: u64) -> Step {
        self.request(state, Request::new(operation, self.key, bytes))
    }

    fn ask_of_copy(&mut self, state: State, operation: Operation, bytes: u64) -> Step {
        let request = Request::new(operation, self.key, bytes);
        self.request(state, self.about_copy(request))
    }

    fn request(&mut self, state: State, request: Request) -> Step {
        self.state = state;
        self.flying += 1;
        Step::Execute { request, intended: None }
    }

    /// The same of the copy, which is known by what it is one of.
    const fn about_copy(&self, request: Request) -> Request {
        Request { key: ObjectKey { index: 1, ..self.key }, other: self.key, ..request }
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
        let (all, asked) = (self.requests(), self.work.asked);
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
            match course.is_copied() {
                true => self.ask_of_copy(State::InBlocks, Operation::StreamFsync, 0),
                false => self.ask(State::InBlocks, Operation::StreamFsync, 0),
            }
        } else if is_done && course.is_copied() {
            self.ask_of_copy(State::Closing, Operation::StreamCloseWritten, 0)
        } else if is_done && course.is_written() {
            self.ask(State::Closing, Operation::StreamCloseWritten, 0)
        } else if is_done {
            self.ask(State::Closing, Operation::StreamClose, 0)
        } else {
            self.block(course, now)
        }
    }

    fn block(&mut self, course: Course, now: MonotonicTime) -> Step {
        let asked = self.work.asked;
        self.work.asked += 1;
        self.flying += 1;
        if course.block == Operation::StreamCp {
            let request = Request::task(course.block, self.key, now.after(self.copies.longest));
            let bytes = self.held_bytes();
            return Step::Execute { request: self.about_copy(Request { bytes, ..request }), intended: None };
        }
        let block = course.order.map_or(asked, |order| order.number(asked));
        let offset = block * self.block_bytes();
        let bytes = self.block_bytes().min(self.spec.file_bytes - offset);
        let request = Request { offset, ..Request::new(course.block, self.key, bytes) };
        let request = if course.is_copied() { self.about_copy(request) } else { request };
        Step::Execute { request, intended: None }
    }

    /// Bytes of the file that were written.
    fn held_bytes(&self) -> u64 {
        let blocks = self.extent.unwrap_or_default();
        blocks.saturating_mul(self.spec.block_bytes).min(self.spec.file_bytes)
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
        if self.work.course.is_copied() && !self.work.failed {
            return self.ask_of_copy(State::MakingCopy, Operation::StreamCreate, 0);
        }
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
        if self.copied.is_some() && self.work.course.is_copied() {
            self.copied = Some(self.work.bytes);
        }
        if self.work.is_made {
            let written = self.work.failed_at.unwrap_or(self.work.asked) * self.block_bytes();
            self.extent = Some(written.min(self.spec.file_bytes).div_ceil(self.spec.block_bytes.max(1)));
        }
        self.state = State::Ending;
        match self.processors.end(self.place, self.work.begin) {
            Some(note) => Step::Note(note),
            None => self.leave_stage(),
        }
    }

    const fn leave_stage(&mut self) -> Step {
        self.place += 1;
        self.state = State::Before;
        Step::End
    }

    fn begin(&mut self) -> Step {
        match self.phase() {
            Some(Phase::Precreate) => self.ask(State::MakingDirectory, Operation::MakeDirectory, 0),
            Some(Phase::Cleanup) if self.copied.is_some() => self.look_at_copy(),
            Some(Phase::Cleanup) => self.remove(),
            _ => self.open(),
        }
    }

    fn look_at_copy(&mut self) -> Step {
        self.ask_of_copy(State::LookingAtCopy, Operation::CopyShared, self.copied.unwrap_or_default())
    }

    fn compare_copy(&mut self) -> Step {
        let bytes = self.copied.unwrap_or_default();
        match self.spec.verification {
            Verification::Content if bytes > 0 => {
                self.ask_of_copy(State::ComparingCopy, Operation::StreamCompare, bytes)
            }
            _ => self.remove_copy(),
        }
    }

    fn remove_copy(&mut self) -> Step {
        match self.copies.place {
            CopyPlace::Beside => self.ask_of_copy(State::RemovingCopy, Operation::Delete, 0),
            CopyPlace::Elsewhere => self.remove(),
        }
    }

    fn remove(&mut self) -> Step {
        match self.extent {
            Some(_) => self.ask(State::Removing, Operation::Delete, 0),
            None => self.ask(State::RemovingDirectory, Operation::RemoveDirectory, 0),
        }
    }
}

impl<P: ProcessorClocks> Client for StreamClient<P> {
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
            // Without a copy there is the file to close.
            State::MakingCopy if self.work.failed => {
                self.ask(State::ClosingSource, Operation::StreamClose, 0)
            }
            State::MakingCopy | State::Allocating => self.enter_blocks(now),
            State::InBlocks => self.go_on(now),
            State::Closing if self.work.course.is_copied() => {
                self.ask(State::ClosingSource, Operation::StreamClose, 0)
            }
            State::LookingAtCopy => self.compare_copy(),
            State::ComparingCopy => self.remove_copy(),
            State::RemovingCopy => self.remove(),
            State::MakingDirectory | State::Closing | State::ClosingSource | State::RemovingDirectory => {
                self.end()
            }
            State::Removing => self.ask(State::RemovingDirectory, Operation::RemoveDirectory, 0),
            State::Ending => self.leave_stage(),
            // Asked without having met: the run is over for everybody.
            State::Entering => Step::Finished,
        }
    }

    fn completed(&mut self, request: &Request, done: &Done) {
        let is_block = request.operation.moves_blocks();
        self.work.bytes += if is_block { done.completion.bytes } else { 0 };
        self.flying -= 1;
        // Room that cannot be taken is taken as it is written; what cannot be told of a copy is not told.
        let is_optional = matches!(request.operation, Operation::StreamAllocate | Operation::CopyShared);
        if done.completion.is_ok() || is_optional {
            match request.operation {
                Operation::StreamCreate if request.key == self.key => {
                    (self.extent, self.work.is_made) = (Some(0), true);
                }
                Operation::StreamCreate => self.copied = Some(0),
                _ => {}
            }
            return;
        }
        if request.operation == Operation::StreamWrite {
            let block = request.offset / self.block_bytes();
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
                said: None,
                bytes: self.work.bytes,
            });
        }
    }

    /// A file system that cannot tell what is shared has not failed.
    fn asks_again(&self, request: &Request, done: &Done) -> bool {
        request.operation == Operation::CopyShared && !done.completion.is_ok()
    }

    fn explained(&mut self, said: &str) {
        self.ledger.explain(self.key.rank, said);
    }

    fn met(&mut self, _meeting: &Meeting, now: MonotonicTime) {
        self.work = Work::new(self.course(), now);
        self.state = State::Begun;
    }

    fn starts(&mut self) {
        self.processors.start(self.place);
    }
}

#[cfg(test)]
mod tests;
