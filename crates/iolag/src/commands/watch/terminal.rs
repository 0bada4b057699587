//! Telling what a watch does, without ever waiting for who reads it: a stopped terminal or a full pipe must not stop the watch.

use std::collections::VecDeque;
use std::io::Write;
use std::os::fd::AsFd;

use iolag_model::{Nanoseconds, counted};
use rustix::event::{PollFd, PollFlags, poll};

use crate::output::{lost, printable};

/// Lines that wait while nobody reads; of more the oldest go.
const WAITING_MAX: usize = 1000;
/// Longest line that stands: a longer one would break on a usual terminal, and not be wiped.
const STANDING_MAX: usize = 79;
/// What a pipe takes without blocking if it takes anything (PIPE_BUF).
const PIECE_BYTES: usize = 4096;

/// Lines on their way to a reader.
pub struct Lines<W> {
    output: W,
    waiting: VecDeque<String>,
    dropped: u64,
    /// Characters of the line that the next one takes the place of.
    standing: usize,
    is_gone: bool,
    trouble: Option<String>,
}

impl<W: Write + AsFd> Lines<W> {
    /// Lines to `output`.
    pub fn to(output: W) -> Self {
        Self { output, waiting: VecDeque::new(), dropped: 0, standing: 0, is_gone: false, trouble: None }
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

    /// Whether nobody will ever read again.
    pub const fn is_gone(&self) -> bool {
        self.is_gone
    }

    /// Why lines were lost, as a sentence, if it was not that the reader went away.
    pub fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }

    /// Shows a line until the next one takes its place; only for terminals. One that cannot be shown at once is left out.
    pub fn in_place(&mut self, line: &str) {
        let line: String = printable(line).chars().take(STANDING_MAX).collect();
        if self.waiting.is_empty() && self.is_ready(Nanoseconds::ZERO) {
            let shorter = self.standing.saturating_sub(line.chars().count());
            self.standing = line.chars().count();
            self.put(&format!("\r{line}{:shorter$}", ""));
        }
    }

    /// Takes away the line that stands.
    fn wipe(&mut self) {
        let standing = std::mem::take(&mut self.standing);
        if standing > 0 {
            self.put(&format!("\r{:standing$}\r", ""));
        }
    }

    fn put(&mut self, text: &str) {
        // A reader that is gone is no reason to end.
        if let Err(error) = self.output.write_all(text.as_bytes()).and_then(|()| self.output.flush()) {
            self.waiting.clear();
            self.is_gone = true;
            self.trouble = self.trouble.take().or_else(|| lost(&error));
        }
    }

    fn write(&mut self) {
        while self.takes_more(Nanoseconds::ZERO) {
            if self.dropped > 0 {
                let told = format!(
                    "({} not read in time and left out here)\n",
                    counted(self.dropped, "line was", "lines were")
                );
                self.dropped = 0;
                self.waiting.push_front(told);
            }
            let Some(line) = self.waiting.pop_front() else { return };
            self.wipe();
            self.put(&line);
        }
    }

    /// Waits up to `limit` for the reader to take what is left: for the end of a watch.
    pub fn finish(&mut self, limit: Nanoseconds) {
        while !self.waiting.is_empty() && self.takes_more(limit) {
            self.write();
        }
        if self.is_ready(Nanoseconds::ZERO) {
            self.wipe();
        }
    }

    fn takes_more(&self, limit: Nanoseconds) -> bool {
        !self.waiting.is_empty() && self.is_ready(limit)
    }

    /// Whether what is written now holds nobody up.
    fn is_ready(&self, limit: Nanoseconds) -> bool {
        let mut wanted = [PollFd::new(&self.output, PollFlags::OUT)];
        poll(&mut wanted, Some(&limit.as_timespec())).is_ok_and(|ready| ready > 0)
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
        lines.finish(Nanoseconds::from_seconds(60));
        drop(lines);
        let text = reading.join().unwrap().unwrap();
        assert!(text.starts_with("line 0\n") && text.ends_with("line 39999\n"));
        assert!(text.contains("lines were not read in time"));
    }

    #[test]
    fn a_line_that_stands_is_wiped_by_the_next() {
        let (mut reader, writer) = std::io::pipe().unwrap();
        let mut lines = Lines::to(writer);
        lines.in_place("waiting for 10 s");
        lines.in_place("ended");
        lines.line("one");
        lines.in_place(&"x".repeat(500));
        lines.finish(Nanoseconds::ZERO);
        lines.line("two");
        drop(lines);
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        let (long, blank) = ("x".repeat(STANDING_MAX), " ".repeat(STANDING_MAX));
        let expected = format!("\rwaiting for 10 s\rended{:11}\r     \rone\n\r{long}\r{blank}\rtwo\n", "");
        assert_eq!(text, expected);
    }

    #[test]
    fn a_reader_that_is_gone_ends_nothing() {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut lines = Lines::to(writer);
        lines.line("one");
        lines.line("two");
        assert!(lines.waiting.is_empty() && lines.is_gone());
        assert_eq!(lines.trouble(), None);
    }

    #[test]
    fn lines_that_a_full_disk_does_not_take_are_told() {
        let mut lines = Lines::to(std::fs::File::options().write(true).open("/dev/full").unwrap());
        lines.line("one");
        lines.finish(Nanoseconds::ZERO);
        let why = lines.trouble().unwrap();
        assert!(why.starts_with("cannot write to standard output: No space left"), "{why}");
    }
}
