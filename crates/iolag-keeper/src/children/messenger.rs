//! Talking to children: lines of text over pipes, never blocking the keeper.
//!
//! The keeper queues what it sends and reads what has come; a child may block on either side. Lines are opaque here.
//!
//! A child holds none of the keeper's standard streams: one that cannot be ended would keep whoever reads the keeper's
//! output (a pipe, an ssh) waiting for it. What a panicking child says is read by the keeper: [`Messenger::last_words`].

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Mutex, PoisonError};

use iolag_model::Nanoseconds;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::stdio::dup2_stderr;

use super::separation::leave_standard_streams;
use super::waiting::{Awaited, wait_for_any};
use crate::{Child, KeeperError, Orphanage};

/// The longest line that a child may send; more is a bug and ends the conversation.
const LINE_BYTES_MAX: usize = 256 << 20;

/// A child that the keeper talks with.
#[derive(Debug)]
pub struct Messenger {
    child: Child,
    /// `None` after its end: it would be readable for as long as the child takes to leave.
    incoming: Option<OwnedFd>,
    complaints: OwnedFd,
    received: Vec<u8>,
    outgoing: Option<OwnedFd>,
    queued: VecDeque<u8>,
}

/// What a child does with the keeper's standard streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Streams {
    Left,
    Kept,
}

/// The child's side: lines from the keeper.
#[derive(Debug)]
pub struct Inbox {
    reader: BufReader<File>,
    pending: Vec<u8>,
    is_over: bool,
}

/// The child's side: lines to the keeper, from any of its threads.
#[derive(Debug)]
pub struct Outbox {
    writer: Mutex<File>,
}

impl Messenger {
    /// Forks a child that runs `body` with the two ends of the conversation.
    ///
    /// # Errors
    /// If the kernel has no pipe or process left.
    pub fn fork(
        role: &'static str,
        orphanage: Orphanage,
        body: impl FnOnce(Inbox, Outbox) -> i32,
    ) -> Result<Self, KeeperError> {
        Self::fork_into(role, orphanage, Streams::Left, body)
    }

    /// The same beside the keeper at its terminal, with its standard streams: for what starts a program of the user's there. The child
    /// gives them up itself, with [`crate::leave_standard_streams`], once that is done; its complaints are not read.
    ///
    /// # Errors
    /// If the kernel has no pipe or process left.
    pub fn fork_beside(
        role: &'static str,
        orphanage: Orphanage,
        body: impl FnOnce(Inbox, Outbox) -> i32,
    ) -> Result<Self, KeeperError> {
        Self::fork_into(role, orphanage, Streams::Kept, body)
    }

    fn fork_into(
        role: &'static str,
        orphanage: Orphanage,
        streams: Streams,
        body: impl FnOnce(Inbox, Outbox) -> i32,
    ) -> Result<Self, KeeperError> {
        let failed = |error: Errno| KeeperError::Fork { role, error };
        let (incoming, child_output) = pipe_with(PipeFlags::CLOEXEC).map_err(failed)?;
        let (child_input, outgoing) = pipe_with(PipeFlags::CLOEXEC).map_err(failed)?;
        let (complaints, child_error) = pipe_with(PipeFlags::CLOEXEC).map_err(failed)?;
        for descriptor in [&incoming, &outgoing, &child_input, &complaints, &child_error] {
            let flags = fcntl_getfl(descriptor).map_err(failed)?;
            fcntl_setfl(descriptor, flags | OFlags::NONBLOCK).map_err(failed)?;
        }
        let keepers_ends = [incoming.as_fd(), outgoing.as_fd(), complaints.as_fd()]
            .map(|end| std::os::fd::AsRawFd::as_raw_fd(&end));
        let talk = || {
            if streams == Streams::Left {
                leave_standard_streams();
                // Complaints go into a pipe, which drops what it has no room for.
                let _ = dup2_stderr(&child_error);
            }
            for end in keepers_ends {
                // SAFETY: the child's copies of the keeper's ends; the child never uses them, and never drops their owners.
                unsafe { libc::close(end) };
            }
            let inbox =
                Inbox { reader: BufReader::new(child_input.into()), pending: Vec::new(), is_over: false };
            body(inbox, Outbox { writer: Mutex::new(child_output.into()) })
        };
        let child = match streams {
            Streams::Left => Child::fork(role, orphanage, talk)?,
            Streams::Kept => Child::fork_beside(role, orphanage, talk)?,
        };
        Ok(Self {
            child,
            incoming: Some(incoming),
            complaints,
            received: Vec::new(),
            outgoing: Some(outgoing),
            queued: VecDeque::new(),
        })
    }

    /// What the child wrote to its standard error, in one line: why it panicked, as a rule. Never blocks.
    pub fn last_words(&self) -> String {
        let mut buffer = vec![0; 16 << 10];
        let read = rustix::io::read(&self.complaints, &mut buffer).unwrap_or(0);
        let text = String::from_utf8_lossy(&buffer[..read]);
        text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
    }

    /// The process.
    pub const fn child(&self) -> &Child {
        &self.child
    }

    /// The process, to wait for or to end.
    pub const fn child_mut(&mut self) -> &mut Child {
        &mut self.child
    }

    /// The process alone: nobody talks with it any more.
    pub fn into_child(self) -> Child {
        self.child
    }

    /// Becomes readable when a line, or the end, has come; `None` after the end.
    pub fn incoming(&self) -> Option<BorrowedFd<'_>> {
        self.incoming.as_ref().map(AsFd::as_fd)
    }

    /// The complete lines that have come. Never blocks.
    pub fn receive(&mut self) -> Vec<Vec<u8>> {
        let mut buffer = vec![0; 64 << 10];
        // What was there before has no end of a line: a long one is not looked through again each time.
        let searched = self.received.len();
        while let Some(incoming) = &self.incoming
            && let Ok(read) = rustix::io::read(incoming, &mut buffer)
        {
            if read == 0 {
                self.incoming = None;
            }
            self.received.extend_from_slice(&buffer[..read]);
            if self.received.len() > LINE_BYTES_MAX {
                self.received.clear();
                return Vec::new();
            }
        }
        let new = &self.received[searched..];
        let Some(end) = new.iter().rposition(|byte| *byte == b'\n') else { return Vec::new() };
        let rest = self.received.split_off(searched + end + 1);
        let complete = std::mem::replace(&mut self.received, rest);
        complete.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(<[u8]>::to_vec).collect()
    }

    /// Queues a line and sends what the pipe takes now; the rest goes with later calls of this or [`Messenger::flush`].
    pub fn send(&mut self, line: &[u8]) {
        debug_assert!(!line.contains(&b'\n'));
        self.queued.extend(line);
        self.queued.push_back(b'\n');
        self.flush();
    }

    /// Sends more of what is queued. Returns whether nothing is left.
    pub fn flush(&mut self) -> bool {
        let Some(outgoing) = &self.outgoing else { return true };
        while !self.queued.is_empty() {
            match rustix::io::write(outgoing, self.queued.as_slices().0) {
                Ok(written) => drop(self.queued.drain(..written)),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return false,
                Err(_) => {
                    // The child is gone; its ending tells why.
                    self.queued.clear();
                    self.outgoing = None;
                    return true;
                }
            }
        }
        true
    }
}

impl Inbox {
    /// Waits for `limit`, or until something comes or the keeper is gone.
    pub fn wait(&self, limit: Nanoseconds) {
        wait_for_any(&[Awaited::Readable(self.reader.get_ref().as_fd())], Some(limit));
    }

    /// What becomes readable when something comes; nothing once the keeper was found to be gone, which would be readable for ever.
    pub fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        (!self.is_over).then(|| self.reader.get_ref().as_fd())
    }

    /// Whether the keeper was found to be gone when a line was asked for.
    pub const fn is_over(&self) -> bool {
        self.is_over
    }

    /// The next line, if a complete one has come. Never blocks.
    pub fn receive(&mut self) -> Option<Vec<u8>> {
        // What is not complete yet stays in `pending` when the read would block.
        self.is_over |= matches!(self.reader.read_until(b'\n', &mut self.pending), Ok(0));
        if self.pending.last() != Some(&b'\n') {
            return None;
        }
        self.pending.pop();
        Some(std::mem::take(&mut self.pending))
    }
}

impl Outbox {
    /// Sends a line; blocks until the keeper has room for it.
    ///
    /// # Errors
    /// If the keeper is gone.
    pub fn send(&self, line: &[u8]) -> std::io::Result<()> {
        debug_assert!(!line.contains(&b'\n'));
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        writer.write_all(line)?;
        writer.write_all(b"\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ending;
    use iolag_model::Nanoseconds;

    #[test]
    fn long_lines_go_both_ways_and_nobody_blocks_the_keeper() {
        let mut echo = Messenger::fork("echo", Orphanage::Die, |mut inbox, outbox| {
            loop {
                match inbox.receive() {
                    Some(line) if line == b"end" => return 0,
                    Some(line) => outbox.send(&line).map_or((), |()| ()),
                    None => std::thread::sleep(std::time::Duration::from_millis(1)),
                }
            }
        })
        .unwrap();
        let long = vec![b'x'; 3 << 20];
        echo.send(&long);
        echo.send(b"short");
        let mut lines = Vec::new();
        for _ in 0..60_000 {
            echo.flush();
            lines.extend(echo.receive());
            if lines.len() == 2 {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        assert_eq!(lines, [long, b"short".to_vec()]);
        echo.send(b"end");
        assert_eq!(echo.child_mut().wait(Nanoseconds::from_seconds(60)), Some(Ending::Exited(0)));
    }

    #[test]
    fn a_child_that_closes_its_pipe_and_stays_does_not_keep_the_keeper_awake() {
        let mut silent = Messenger::fork("silent", Orphanage::Die, |mut inbox, outbox| {
            drop(outbox);
            while inbox.receive().is_none() {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            0
        })
        .unwrap();
        let incoming = silent.incoming().expect("nothing has ended");
        wait_for_any(&[Awaited::Readable(incoming)], Some(Nanoseconds::from_seconds(60)));
        assert!(silent.receive().is_empty());
        assert!(silent.incoming().is_none(), "it would be readable again and again");
        silent.send(b"end");
        assert_eq!(silent.child_mut().wait(Nanoseconds::from_seconds(60)), Some(Ending::Exited(0)));
    }
}
