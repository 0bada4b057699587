//! The short stream of a check.

use iolag_backend::{ObjectKey, Request};
use iolag_model::{MonotonicTime, Nanoseconds, Operation};

use crate::Done;

/// A short stream: blocks written until the end of the stream or of the time, made durable, then read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stream {
    pub(super) key: ObjectKey,
    bytes: u64,
    block_bytes: u64,
    end: MonotonicTime,
    direction: Direction,
    offset: u64,
    block_cost: Nanoseconds,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    Writing,
    Syncing,
    Reading,
    Over,
}

impl Stream {
    /// Blocks of `block_bytes` of a stream of `bytes`, as far as they fit before `end`.
    pub(crate) const fn new(key: ObjectKey, bytes: u64, block_bytes: u64, end: MonotonicTime) -> Self {
        Self {
            key,
            bytes,
            block_bytes,
            end,
            direction: Direction::Writing,
            offset: 0,
            block_cost: Nanoseconds::ZERO,
        }
    }

    pub(crate) fn next(&mut self, now: MonotonicTime) -> Option<Request> {
        self.end_early_if_late(now);
        let operation = match self.direction {
            Direction::Writing => Operation::StreamWrite,
            Direction::Syncing => return Some(Request::new(Operation::StreamFsync, self.key, 0)),
            Direction::Reading => Operation::StreamRead,
            Direction::Over => return None,
        };
        Some(Request { offset: self.offset, ..Request::new(operation, self.key, self.block()) })
    }

    pub(crate) fn completed(&mut self, is_ok: bool, done: &Done) {
        self.block_cost = self.block_cost.max(done.end.since(done.start));
        self.direction = match self.direction {
            _ if !is_ok => Direction::Over,
            Direction::Syncing => {
                // What was written is what can be read.
                (self.offset, self.block_cost) = (0, Nanoseconds::ZERO);
                Direction::Reading
            }
            direction => {
                self.offset += self.block();
                match direction {
                    _ if self.offset < self.bytes => direction,
                    Direction::Writing => Direction::Syncing,
                    _ => Direction::Over,
                }
            }
        };
    }

    /// After at least one block: another one is written or read only if it can be expected to end in time.
    fn end_early_if_late(&mut self, now: MonotonicTime) {
        if self.offset == 0 || now.after(self.block_cost) <= self.end {
            return;
        }
        match self.direction {
            Direction::Writing => (self.direction, self.bytes) = (Direction::Syncing, self.offset),
            Direction::Reading => self.direction = Direction::Over,
            Direction::Syncing | Direction::Over => {}
        }
    }

    fn block(&self) -> u64 {
        self.block_bytes.min(self.bytes - self.offset)
    }
}
