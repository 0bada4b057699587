//! Telling what a watch does, without ever waiting for who reads it: a stopped terminal or a full pipe must not stop the watch.

use std::collections::VecDeque;
use std::io::Write;
use std::os::fd::AsFd;

use iolag_model::Nanoseconds;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::output::printable;

/// Lines that wait while nobody reads; of more the oldest go.
const WAITING_MAX: usize = 1000;
/// What a pipe takes without blocking if it takes anything (PIPE_BUF).
const PIECE_BYTES: usize = 4096;

/// Lines on their way to a reader.
pub struct Lines<W> {
    output: W,
    waiting: VecDeque<String>,
    dropped: u64,
}

impl<W: Write + AsFd> Lines<W> {
    /// Lines to `output`.
    pub fn to(output: W) -> Self {
        Self { output, waiting: VecDeque::new(), dropped: 0 }
    }

    /// Writes a line as soon as it is read, and never waits for that.
    pub fn line(&mut self, line: &str) {
        if self.waiting.len() >= WAITING_MAX {
            self.waiting.pop_front();
            self.dropped += 1;
        }
        let mut line = printable(line);
        // Longer ones would not be written in one piece; nothing that is told is that long.
        line.truncate((0..PIECE_BYTES).rev().find(|at| line.is_char_boundary(*at)).unwrap_or(0));
        line.push('\n');
        self.waiting.push_back(line);
        self.write();
    }

    fn write(&mut self) {
        while self.takes_more(Nanoseconds::ZERO) {
            if self.dropped > 0 {
                let told = format!("({} lines were not read in time and are left out here)\n", self.dropped);
                self.dropped = 0;
                self.waiting.push_front(told);
            }
            let Some(line) = self.waiting.pop_front() else { return };
            // A reader that is gone is no reason to end.
            if self.output.write_all(line.as_bytes()).is_err() {
                self.waiting.clear();
            }
        }
    }

    /// Waits up to `limit` for the reader to take what is left: for the end of a watch.
    pub fn finish(&mut self, limit: Nanoseconds) {
        while !self.waiting.is_empty() && self.takes_more(limit) {
            self.write();
        }
    }

    fn takes_more(&self, limit: Nanoseconds) -> bool {
        if self.waiting.is_empty() {
            return false;
        }
        let seconds = i64::try_from(limit.0 / 1_000_000_000).unwrap_or(i64::MAX);
        let limit = Timespec { tv_sec: seconds, tv_nsec: (limit.0 % 1_000_000_000) as _ };
        let mut wanted = [PollFd::new(&self.output, PollFlags::OUT)];
        poll(&mut wanted, Some(&limit)).is_ok_and(|ready| ready > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn a_pipe_that_nobody_reads_does_not_hold_the_writer() {
        let (mut reader, writer) = std::io::pipe().unwrap();
        let mut lines = Lines::to(writer);
        for number in 0..40_000 {
            lines.line(&format!("line {number}"));
        }
        assert_eq!(lines.waiting.len(), WAITING_MAX);
        let reading = std::thread::spawn(move || {
            let mut text = String::new();
            reader.read_to_string(&mut text).map(|_| text)
        });
        lines.finish(Nanoseconds::from_seconds(20));
        drop(lines);
        let text = reading.join().unwrap().unwrap();
        assert!(text.starts_with("line 0\n") && text.ends_with("line 39999\n"));
        assert!(text.contains("lines were not read in time"));
    }

    #[test]
    fn a_reader_that_is_gone_ends_nothing() {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut lines = Lines::to(writer);
        lines.line("one");
        lines.line("two");
        assert!(lines.waiting.is_empty());
    }
}
