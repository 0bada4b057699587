//! The blocks of a stream, several in flight at once: a queue that the kernel works on (`io_uring(7)`).
//!
//! A block is one READ or WRITE at its offset, or as many as the kernel makes of it; fsync goes through the ring, too. Everything else
//! (making, opening and closing the file, names, directories) is one system call each, made when it is submitted.
//!
//! A block is handed to the kernel when it is submitted; the one that fills the last lane is, with the wait that follows: one entry into
//! the kernel instead of two. What the kernel can do at once (a read from the page cache) it does then, in this thread.
//!
//! Invariant: a buffer that the kernel has lives until it has given it back; of what it does not give back in time the memory is left to it.

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::os::fd::{AsRawFd, OwnedFd};

use io_uring::types::{Fd, SubmitArgs, Timespec};
use io_uring::{IoUring, opcode, squeue};
use iolag_model::{
    BlockDirection, Clock, FailureCode, MonotonicClock, MonotonicTime, Nanoseconds, Operation,
};
use rustix::io::Errno;

use super::session::PosixSession;
use crate::content::Buffers;
use crate::{BackendError, Completion, LaneSession, Request, Session, SessionOptions};

/// How long what is in flight is waited for when nobody asks for its end any more.
const FAREWELL: Nanoseconds = Nanoseconds::from_seconds(1);
/// How long the kernel is given to find memory for a request.
const PAUSE: Nanoseconds = Nanoseconds::from_milliseconds(1);

/// Why this system gives no queue of the kernel's; `None` if it does. It may be forbidden (`kernel.io_uring_disabled`, the filter of a
/// container), unknown, or too old (before Linux 5.11).
pub fn ring_refusal() -> Option<FailureCode> {
    new_ring(1).err().map(FailureCode::from)
}

fn new_ring(lanes: u32) -> Result<IoUring, Errno> {
    // Only this thread asks, and looks for ends when it waits: from Linux 6.1 on nobody interrupts it for them.
    let built = match IoUring::builder().setup_single_issuer().setup_defer_taskrun().build(lanes) {
        Err(error) if error.kind() == ErrorKind::InvalidInput => IoUring::new(lanes),
        built => built,
    };
    let ring = built.map_err(|error| errno_of(&error))?;
    // A wait with an end, and no end that is lost.
    let is_able = ring.params().is_feature_ext_arg() && ring.params().is_feature_nodrop();
    if is_able { Ok(ring) } else { Err(Errno::NOSYS) }
}

fn errno_of(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

/// One client with a request in flight in each lane.
pub(super) struct RingSession {
    ring: IoUring,
    /// Does what is no block, and has the file.
    others: PosixSession,
    lanes: Vec<Lane>,
    /// What had ended when it was submitted.
    ended: VecDeque<(u32, Completion)>,
    /// Lanes whose requests the kernel has, or is about to get.
    in_flight: usize,
}

struct Lane {
    buffers: Buffers,
    request: Request,
    /// Bytes of it that are done.
    moved: u64,
}

const fn goes_through_the_ring(operation: Operation) -> bool {
    operation.block_direction().is_some() || matches!(operation, Operation::StreamFsync)
}

impl RingSession {
    /// A session in an open working directory.
    ///
    /// # Errors
    /// If there is no ring for it: [`ring_refusal`] tells it before, but for want of memory and descriptors.
    pub(super) fn new(
        directory: OwnedFd,
        options: &SessionOptions,
        lanes: u32,
    ) -> Result<Self, BackendError> {
        let ring = new_ring(lanes).map_err(|errno| {
            let code = FailureCode::from(errno);
            BackendError::Failed { action: "make", path: "an io_uring".into(), class: code.class(), code }
        })?;
        let lane = || {
            let request = Request::new(Operation::StreamFsync, Default::default(), 0);
            Ok(Lane { buffers: Buffers::new(options)?, request, moved: 0 })
        };
        let without_blocks = SessionOptions { bytes_max: 0, ..options.clone() };
        Ok(Self {
            ring,
            others: PosixSession::new(directory, &without_blocks)?,
            lanes: (0..lanes).map(|_| lane()).collect::<Result<_, BackendError>>()?,
            ended: VecDeque::with_capacity(lanes as usize),
            in_flight: 0,
        })
    }

    /// Queues what is left of a lane's request, or ends it.
    fn queue(&mut self, lane: u32) {
        let state = &mut self.lanes[lane as usize];
        let entry = match self.others.stream().file() {
            // The kernel's answer to that would be taken for the end of the file.
            Ok(_) if state.asks_for_nothing() => {
                return self.ended.push_back((lane, Completion::ok(0)));
            }
            Ok(file) => state.entry(Fd(file.as_raw_fd())),
            Err(code) => return self.ended.push_back((lane, Completion::failed(code))),
        };
        let entry = entry.user_data(u64::from(lane));
        // SAFETY: the lane's buffer stays where it is and is touched by nobody until the kernel has ended this (see `drop`), and the
        // kernel keeps the file.
        let pushed = unsafe { self.ring.submission().push(&entry) };
        match pushed {
            Ok(()) => self.in_flight += 1,
            // The ring has a place for each lane.
            Err(_) => self.ended.push_back((lane, Completion::failed(Errno::BUSY.into()))),
        }
    }

    /// What a part of a lane's request came to: the end of the whole, unless another part has been queued.
    fn advance(&mut self, lane: u32, answer: i32) -> Option<Completion> {
        let state = &mut self.lanes[lane as usize];
        let asked = state.request.bytes;
        match answer {
            0 if state.request.operation == Operation::StreamFsync => return Some(Completion::ok(0)),
            0 => return Some(Completion::at_the_end(state.moved, asked)),
            1.. => {
                state.moved += answer as u64;
                if state.moved >= asked {
                    return Some(Completion::ok(state.moved));
                }
            }
            _ => match Errno::from_raw_os_error(-answer) {
                Errno::INTR | Errno::AGAIN => {}
                errno => return Some(Completion::partly(state.moved, errno.into())),
            },
        }
        self.queue(lane);
        None
    }

    /// Hands over what is queued, and waits until something has ended (or, for `want` 0, not), not longer than until then.
    fn enter(&mut self, want: usize, until: MonotonicTime) {
        let submitter = self.ring.submitter();
        let entered = if want == 0 || until == MonotonicTime(u64::MAX) {
            submitter.submit_and_wait(want)
        } else {
            let left = until.since(MonotonicClock.now()).0;
            let timeout = Timespec::new().sec(left / 1_000_000_000).nsec((left % 1_000_000_000) as u32);
            submitter.submit_with_args(want, &SubmitArgs::new().timespec(&timeout))
        };
        match entered.map_err(|error| errno_of(&error)) {
            Ok(_) | Err(Errno::TIME | Errno::INTR) => {}
            // For want of memory, or of places for ends; what is queued stays, and is handed over next time.
            Err(_) => MonotonicClock.sleep_until(MonotonicClock.now().after(PAUSE).min(until)),
        }
    }

    fn next_end(&mut self) -> Option<(u32, i32)> {
        let entry = self.ring.completion().next()?;
        self.in_flight -= 1;
        Some((entry.user_data() as u32, entry.result()))
    }
}

impl Lane {
    const fn asks_for_nothing(&self) -> bool {
        self.request.bytes == 0 && self.request.operation.block_direction().is_some()
    }

    /// The next part of the request.
    fn entry(&mut self, file: Fd) -> squeue::Entry {
        let left = self.request.bytes - self.moved;
        let offset = self.request.offset + self.moved;
        let part = |buffer: &mut [u8]| {
            let place = (self.moved % buffer.len() as u64) as usize;
            let length = ((buffer.len() - place) as u64).min(left) as u32;
            (buffer[place..].as_mut_ptr(), length)
        };
        match self.request.operation.block_direction() {
            Some(BlockDirection::Read) => {
                let (buffer, length) = part(&mut self.buffers.read);
                opcode::Read::new(file, buffer, length).offset(offset).build()
            }
            Some(BlockDirection::Written) => {
                let (buffer, length) = part(&mut self.buffers.written);
                opcode::Write::new(file, buffer, length).offset(offset).build()
            }
            None => opcode::Fsync::new(file).build(),
        }
    }
}

impl LaneSession for RingSession {
    fn prepare(&mut self, lane: u32, request: &Request) {
        if !goes_through_the_ring(request.operation) {
            return self.others.prepare(request);
        }
        self.others.prepare_file(request);
        let buffers = &mut self.lanes[lane as usize].buffers;
        match request.operation.block_direction() {
            Some(BlockDirection::Written) => {
                buffers.prepare_block(request.key, request.offset, request.bytes);
            }
            Some(BlockDirection::Read) => buffers.prepare_read(request.bytes),
            None => {}
        }
    }

    fn submit(&mut self, lane: u32, request: &Request) {
        if !goes_through_the_ring(request.operation) {
            let completion = self.others.execute(request);
            return self.ended.push_back((lane, completion));
        }
        let state = &mut self.lanes[lane as usize];
        (state.request, state.moved) = (*request, 0);
        self.queue(lane);
        if self.in_flight < self.lanes.len() {
            self.enter(0, MonotonicTime(0));
        }
    }

    fn await_any(&mut self, until: MonotonicTime) -> Option<(u32, Completion)> {
        loop {
            if let Some(ended) = self.ended.pop_front() {
                return Some(ended);
            }
            if self.in_flight == 0 {
                return None;
            }
            let nothing_has_ended = self.ring.completion().is_empty();
            if nothing_has_ended || !self.ring.submission().is_empty() {
                self.enter(usize::from(nothing_has_ended), until);
            }
            match self.next_end() {
                Some((lane, answer)) => {
                    if let Some(completion) = self.advance(lane, answer) {
                        return Some((lane, completion));
                    }
                }
                None if MonotonicClock.now() >= until => return None,
                None => {}
            }
        }
    }

    fn inspect(&mut self, lane: u32, request: &Request, completion: Completion) -> Completion {
        match goes_through_the_ring(request.operation) {
            true => self.lanes[lane as usize].buffers.inspect(request, completion, 0),
            false => self.others.inspect(request, completion),
        }
    }
}

impl Drop for RingSession {
    fn drop(&mut self) {
        let end = MonotonicClock.now().after(FAREWELL);
        while self.in_flight > 0 && self.await_any(end).is_some() {}
        if self.in_flight > 0 {
            std::mem::forget(std::mem::take(&mut self.lanes));
        }
    }
}

#[cfg(test)]
mod tests;
