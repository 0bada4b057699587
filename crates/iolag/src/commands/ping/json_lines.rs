//! `--json` of a ping: a line per probe as it ends, and one for the whole. docs/ping.md explains them.
//!
//! Nothing is dropped and no line is broken: who does not read in time makes [`JsonLines::is_full`] true, and then nobody gives it
//! more. Nobody waits for a reader but at the very end.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use iolag_analysis::{PingCounts, Summary};
use iolag_conduct::{Failure, STORE_DEADLINE};
use iolag_keeper::{Child, Ending, KeeperError, Orphanage, leave_standard_streams};
use iolag_model::{
    Anchor, Clock, FailureCode, MonotonicClock, Nanoseconds, Operation, Outcome, RunId, RunState, Sample,
};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::pipe::{PipeFlags, pipe_with};
use serde::Serialize;

use super::following::{Probed, unsent_attempt};
use crate::output::lost;

/// More waits in shared memory instead.
const WAITING_BYTES_MAX: usize = 1 << 20;
/// What a pipe takes without blocking if it takes anything (PIPE_BUF).
const PIECE_BYTES: usize = 4096;
/// What the scribe is told when everything has been said; no line of JSON holds it. The end of the pipe would not do: whoever was
/// forked since holds it open, too, and may be waiting in the kernel for the file system that is measured.
const END: u8 = 0;
/// How long one look at a reader takes at the end.
const LOOK: Nanoseconds = Nanoseconds::from_milliseconds(50);

/// One line.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Line<'a> {
    /// A probe that has ended, or of which nothing more will be known.
    Probe(ProbeLine),
    /// A probe that has passed its deadline and goes on; its line comes when it has ended.
    Waiting {
        /// Which, from 1.
        seq: u64,
        /// For how long.
        age_ns: Nanoseconds,
        /// Who waits.
        process: Option<u32>,
    },
    /// Samples that were written over before they could be put into lines: `iolag export` has them.
    Unseen {
        /// How many.
        samples: u64,
    },
    /// The whole: the last line.
    Summary {
        /// The run.
        run: &'a RunId,
        /// The directory.
        target: &'a str,
        /// What became of it.
        state: &'a RunState,
        /// Probes by what became of them.
        probes: PingCounts,
        /// How many of them were lost.
        lost: u64,
        /// Whole probes, then what they consist of: as in `iolag show --json`.
        summaries: &'a [Summary],
    },
}

/// A probe.
#[derive(Debug, Serialize)]
pub struct ProbeLine {
    seq: u64,
    due_realtime_ns: u64,
    due_ns: u64,
    start_ns: Option<u64>,
    duration_ns: Nanoseconds,
    /// Whether the duration is only a lower bound.
    censored: bool,
    outcome: Outcome,
    failure: Option<String>,
    first_contact: bool,
    blocked_by: Option<u64>,
    blocked_in: Option<BlockedIn>,
    parts: Vec<PartLine>,
}

/// What the probe that was in the way did.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
enum BlockedIn {
    Probe,
    /// Its file was being removed, which is no part of it.
    Removal,
}

#[derive(Debug, Serialize)]
struct PartLine {
    operation: Operation,
    start_ns: u64,
    duration_ns: Nanoseconds,
    /// Whether the duration is only a lower bound.
    censored: bool,
    failure: Option<String>,
}

/// The line of a probe; `anchor` ties the moment when it was due to wall clock.
pub fn line_of(probed: &Probed, anchor: &Anchor) -> Line<'static> {
    let (seq, sample, parts, blocked_by) = match probed {
        Probed::Sent { number, sample, parts } => (*number, sample, parts.as_slice(), None),
        Probed::Unsent { number, sample, blocker } => (*number, sample, &[][..], *blocker),
        Probed::Unseen(samples) => return Line::Unseen { samples: *samples },
    };
    let is_sent = matches!(probed, Probed::Sent { .. });
    let part = |part: &Sample| PartLine {
        operation: part.operation(),
        start_ns: part.start.0,
        duration_ns: part.duration,
        censored: part.outcome().is_censored(),
        failure: failure_of(part),
    };
    Line::Probe(ProbeLine {
        seq,
        due_realtime_ns: anchor.realtime_of(sample.intended),
        due_ns: sample.intended.0,
        start_ns: is_sent.then_some(sample.start.0),
        duration_ns: sample.duration,
        censored: sample.outcome().is_censored(),
        outcome: sample.outcome(),
        failure: failure_of(sample),
        first_contact: is_sent && sample.attempt == unsent_attempt(0),
        blocked_by,
        blocked_in: blocked_by.map(|_| match sample.code {
            FailureCode::REMOVAL => BlockedIn::Removal,
            _ => BlockedIn::Probe,
        }),
        parts: parts.iter().map(part).collect(),
    })
}

fn failure_of(sample: &Sample) -> Option<String> {
    (sample.outcome() == Outcome::Error).then(|| sample.code.to_string())
}

/// Lines on their way to whoever reads them.
pub struct JsonLines {
    output: File,
    waiting: VecDeque<u8>,
    is_gone: bool,
    /// Why standard output took no more, as a sentence, if it was not that the reader went away.
    trouble: Option<String>,
    /// Who writes the file.
    scribe: Option<(Child, PathBuf)>,
}

/// How the writing ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Written {
    /// Everything was taken, or nobody wants it any more.
    All,
    /// The rest was not: a sentence.
    Not(String),
}

impl JsonLines {
    /// To standard output.
    ///
    /// # Errors
    /// If there is none.
    pub fn to_standard_output() -> Result<Self, Failure> {
        let output = std::io::stdout().as_fd().try_clone_to_owned().map_err(Failure::unusable)?;
        Ok(Self::to(output))
    }

    /// To a file, by a child: it may be on a file system that hangs.
    ///
    /// # Errors
    /// If no process can be made.
    pub fn to_file(path: &Path) -> Result<Self, Failure> {
        let path = iolag_conduct::absolute(path);
        let (reader, writer) =
            pipe_with(PipeFlags::CLOEXEC).map_err(|error| KeeperError::Fork { role: "scribe", error })?;
        let scribe = {
            let (path, writer) = (&path, &writer);
            Child::fork("scribe", Orphanage::Survive, || {
                // One that waits for its file in the kernel would keep whoever reads what iolag prints waiting, too.
                leave_standard_streams();
                // Its own copy would keep it from noticing that the keeper was killed.
                // SAFETY: the child's copy of the descriptor; it never returns to who owns it.
                unsafe { libc::close(std::os::fd::AsRawFd::as_raw_fd(writer)) };
                copy(File::from(reader), path)
            })?
        };
        Ok(Self { scribe: Some((scribe, path)), ..Self::to(writer) })
    }

    fn to(output: OwnedFd) -> Self {
        Self {
            output: File::from(output),
            waiting: VecDeque::new(),
            is_gone: false,
            trouble: None,
            scribe: None,
        }
    }

    /// Writes a line as soon as it is read.
    pub fn line(&mut self, line: &Line<'_>) {
        if self.is_gone {
            return;
        }
        if let Ok(text) = serde_json::to_vec(line) {
            self.waiting.extend(text);
            self.waiting.push_back(b'\n');
        }
        self.write(Nanoseconds::ZERO);
    }

    /// Whether so much waits to be read that nothing more is to be given.
    pub fn is_full(&self) -> bool {
        self.waiting.len() > WAITING_BYTES_MAX
    }

    /// Whether nobody will ever read standard output again. A file that takes no more is told at the end.
    pub const fn is_gone(&self) -> bool {
        self.is_gone && self.scribe.is_none()
    }

    /// Gives what waits to who reads; waits up to `limit` for the first piece.
    pub fn write(&mut self, limit: Nanoseconds) {
        let mut limit = limit;
        while !self.waiting.is_empty() && self.is_ready(limit) {
            limit = Nanoseconds::ZERO;
            let piece: Vec<u8> = self.waiting.iter().copied().take(PIECE_BYTES).collect();
            match self.output.write(&piece) {
                Ok(written) => {
                    self.waiting.drain(..written);
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.waiting.clear();
                    self.is_gone = true;
                    self.trouble = lost(&error);
                }
            }
        }
    }

    /// Waits until everything is read. A reader of a pipe may take its time; `is_told_to_leave` ends that. A file has the time that
    /// the store has.
    pub fn finish(mut self, mut is_told_to_leave: impl FnMut() -> bool) -> Written {
        if self.scribe.is_some() {
            self.waiting.push_back(END);
        }
        let mut progress = (self.waiting.len(), MonotonicClock.now());
        while !self.waiting.is_empty() {
            self.write(LOOK);
            let now = MonotonicClock.now();
            if self.waiting.len() != progress.0 {
                progress = (self.waiting.len(), now);
            }
            let is_stuck = self.scribe.is_some() && now.since(progress.1) > STORE_DEADLINE;
            if is_stuck || is_told_to_leave() {
                let rest = self.waiting.len();
                return Written::Not(format!(
                    "{rest} bytes of the JSON lines were not read; iolag export has every probe"
                ));
            }
        }
        let Some((mut scribe, path)) = self.scribe.take() else {
            return self.trouble.map_or(Written::All, Written::Not);
        };
        drop(self.output);
        let why = match scribe.wait(STORE_DEADLINE) {
            Some(Ending::Exited(0)) => return Written::All,
            Some(Ending::Exited(errno)) => std::io::Error::from_raw_os_error(errno).to_string(),
            Some(Ending::Killed(signal)) => format!("its writer was ended by signal {signal}"),
            None => format!("its file system has not answered for {STORE_DEADLINE}"),
        };
        Written::Not(format!(
            "cannot write the JSON lines to {}: {why}; iolag export has every probe",
            path.display()
        ))
    }

    fn is_ready(&self, limit: Nanoseconds) -> bool {
        let mut wanted = [PollFd::new(&self.output, PollFlags::OUT)];
        poll(&mut wanted, Some(&limit.as_timespec())).is_ok_and(|ready| ready > 0)
    }
}

/// The child that writes the file: every line as it comes, so that another program may follow it. Returns an errno.
fn copy(mut from: File, path: &Path) -> i32 {
    let errno = |error: std::io::Error| error.raw_os_error().unwrap_or(libc::EIO);
    let mut to = match File::create(path) {
        Ok(to) => to,
        Err(error) => return errno(error),
    };
    let mut piece = vec![0; 1 << 16];
    loop {
        match from.read(&mut piece) {
            Ok(0) => return 0,
            Ok(read) => {
                let said = &piece[..read];
                let lines = said.strip_suffix(&[END]).unwrap_or(said);
                if let Err(error) = to.write_all(lines) {
                    return errno(error);
                }
                if lines.len() < read {
                    return 0;
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return errno(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_reader_gets_every_line_whole_and_fills_no_memory() {
        let (reader, writer) = pipe_with(PipeFlags::CLOEXEC).unwrap();
        let mut lines = JsonLines::to(writer);
        let mut sent = 0;
        while !lines.is_full() {
            lines.line(&Line::Unseen { samples: sent });
            sent += 1;
        }
        assert!(lines.waiting.len() < WAITING_BYTES_MAX + 100);
        let reading = std::thread::spawn(move || {
            let mut text = String::new();
            File::from(reader).read_to_string(&mut text).map(|_| text)
        });
        assert_eq!(lines.finish(|| false), Written::All);
        let text = reading.join().unwrap().unwrap();
        assert_eq!(text.lines().count() as u64, sent);
        for (number, line) in text.lines().enumerate() {
            let value: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!((&value["kind"], &value["samples"]), (&"unseen".into(), &number.into()));
        }
    }

    #[test]
    fn a_reader_that_is_gone_is_noticed() {
        let (reader, writer) = pipe_with(PipeFlags::CLOEXEC).unwrap();
        drop(reader);
        let mut lines = JsonLines::to(writer);
        lines.line(&Line::Unseen { samples: 1 });
        assert!(lines.is_gone());
        assert_eq!(lines.finish(|| false), Written::All);
    }
}
