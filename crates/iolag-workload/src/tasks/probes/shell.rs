//! The tasks of somebody at a terminal: a shell until its prompt, and a keystroke until it appears.
//!
//! The shell is started as a terminal window starts it: interactive, with the user's environment and `rc` files, as
//! the leader of a session on a terminal of its own, in the current directory of the task. Nothing that is typed is a
//! command: a letter, the key that erases the line, and Enter on an empty line. So nothing gets into anybody's history.

use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::time::Instant;

use iolag_model::{FailureCode, Nanoseconds};
use rustix::io::{Errno, write};
use rustix::termios::{LocalModes, tcgetattr, tcgetpgrp};

use super::files::{cannot, failed};
use crate::tasks::guard::handle::{Guard, Happening};
use crate::tasks::guard::report::Report;
use crate::tasks::launching::descent::{Rest, processor_ticks};
use crate::tasks::launching::launch::{Launch, Program, Streams};
use crate::tasks::launching::prompt::{QUIET, Shown, may_be_terminal};
use crate::tasks::launching::terminal::Terminal;
use crate::tasks::{PartEnding, PartRecorder, ProbeTask, TaskError, TaskSpec};

const WHOLE: usize = 0;
const LINE: usize = 1;

const LETTER: u8 = b'x';
const ERASE_LINE: &[u8] = b"\x15";
const ENTER: &[u8] = b"\r";
const OUTPUT_BYTES: usize = 16 << 10;

/// A shell on a terminal.
struct Session {
    guard: Guard,
    shell: Option<u32>,
    buffer: Vec<u8>,
}

/// How a wait ended.
enum Seen {
    /// It appeared at this time.
    At(Instant),
    /// The shell is gone.
    Gone(PartEnding),
}

impl Session {
    /// Gets everything ready but does not start the shell.
    fn prepare(shell: &Path, place: BorrowedFd<'_>) -> Result<Self, Errno> {
        let mut environment: Vec<_> = std::env::vars_os().collect();
        // A watch that was started by the system has none; a terminal is never without.
        if environment.iter().all(|(name, _)| name != "TERM") {
            environment.push(("TERM".into(), "xterm".into()));
        }
        let program = Program { path: shell.to_owned(), arguments: vec!["-i".into()], environment };
        let terminal = Terminal::open()?;
        let launch = Launch::new(&program, place, Streams::Terminal(terminal.programs))?;
        let guard = Guard::start(vec![launch], terminal.person, None)?;
        Ok(Self { guard, shell: None, buffer: vec![0; OUTPUT_BYTES] })
    }

    /// Waits until the prompt is there.
    fn wait_for_prompt(&mut self) -> Seen {
        let mut shown = Shown::default();
        let mut rest = Rest::default();
        let mut last = Instant::now();
        loop {
            let limit = shown.has_any().then_some(QUIET);
            match self.guard.next(&mut self.buffer, limit) {
                Happening::Report(Report::Started(shell)) => self.shell = Some(shell),
                Happening::Report(report) => return Seen::Gone(gone(report)),
                Happening::Output(bytes) => {
                    last = Instant::now();
                    shown.add(&self.buffer[..bytes]);
                    if shown.is_visible() && self.is_in_foreground() && self.edits_lines() {
                        return Seen::At(last);
                    }
                }
                Happening::Quiet
                    if self.is_in_foreground() && (self.edits_lines() || self.waits_for_keys(&mut rest)) =>
                {
                    return Seen::At(last);
                }
                // A terminal has no complaints of its own.
                Happening::Quiet | Happening::Errors(_) => {}
            }
        }
    }

    /// Waits until this letter is shown.
    fn wait_for_letter(&mut self, letter: u8) -> Seen {
        loop {
            match self.guard.next(&mut self.buffer, None) {
                Happening::Output(bytes) if self.buffer[..bytes].contains(&letter) => {
                    return Seen::At(Instant::now());
                }
                Happening::Report(report) if report.ending().is_some() => return Seen::Gone(gone(report)),
                Happening::Output(_) | Happening::Errors(_) | Happening::Report(_) | Happening::Quiet => {}
            }
        }
    }

    /// Drops what is shown until it has been quiet for a moment.
    fn wait_for_quiet(&mut self) {
        while matches!(self.guard.next(&mut self.buffer, Some(QUIET)), Happening::Output(_)) {}
    }

    fn type_keys(&self, keys: &[u8]) {
        // A terminal that takes no keys shows nothing either: the wait that follows tells.
        let _ = write(self.guard.output(), keys);
    }

    fn is_in_foreground(&self) -> bool {
        let foreground =
            tcgetpgrp(self.guard.output()).map(|group| group.as_raw_nonzero().get().unsigned_abs());
        self.shell.is_none_or(|shell| foreground == Ok(shell))
    }

    fn edits_lines(&self) -> bool {
        tcgetattr(self.guard.output())
            .is_ok_and(|terminal| !terminal.local_modes.contains(LocalModes::ICANON))
    }

    fn waits_for_keys(&self, rest: &mut Rest) -> bool {
        self.shell.is_none_or(|shell| {
            let channel = std::fs::read_to_string(format!("/proc/{shell}/wchan")).unwrap_or_default();
            rest.look(shell) && may_be_terminal(&channel)
        })
    }

    /// What the shell and the programs of its `rc` files have used so far, as finely as the kernel counts (10 ms mostly).
    fn processor(&self) -> [Nanoseconds; 2] {
        let ticks = self.shell.and_then(processor_ticks).unwrap_or_default();
        let per_second = rustix::param::clock_ticks_per_second().max(1);
        ticks.map(|ticks| Nanoseconds(ticks.saturating_mul(1_000_000_000 / per_second)))
    }
}

/// A shell that ends instead of showing its prompt has failed, whatever its status.
fn gone(report: Report) -> PartEnding {
    let ending = report.ending().unwrap_or_default();
    let failure = if ending.failure == FailureCode::NONE { FailureCode::PROTOCOL } else { ending.failure };
    PartEnding { failure, ..ending }
}

fn stamp_end(recorder: &mut dyn PartRecorder, part: usize, seen: Seen, processor: [Nanoseconds; 2]) -> bool {
    match seen {
        Seen::At(time) => {
            let ending = PartEnding { processor, ..PartEnding::default() };
            let ago = u64::try_from(time.elapsed().as_nanos()).unwrap_or(u64::MAX);
            recorder.end_ago(part, ending, Nanoseconds(ago));
            true
        }
        Seen::Gone(ending) => {
            recorder.end(part, ending);
            false
        }
    }
}

/// An interactive shell until its prompt.
pub(crate) struct ShellTask {
    program: PathBuf,
    session: Option<Session>,
}

impl ShellTask {
    pub(crate) fn new(program: &Path) -> Self {
        Self { program: program.to_owned(), session: None }
    }
}

impl ProbeTask for ShellTask {
    fn parts(&self) -> &[&'static str] {
        &[""]
    }

    fn prepare(&mut self, place: BorrowedFd<'_>, _recorder: &mut dyn PartRecorder) -> Result<(), TaskError> {
        let session = Session::prepare(&self.program, place);
        self.session = Some(session.map_err(|error| cannot("get ready to start the shell", error))?);
        Ok(())
    }

    fn perform(&mut self, _place: BorrowedFd<'_>, recorder: &mut dyn PartRecorder) {
        let Some(mut session) = self.session.take() else { return not_prepared(recorder) };
        recorder.guarded(session.guard.id());
        recorder.left_place();
        recorder.begin(WHOLE);
        session.guard.launch(0);
        let seen = session.wait_for_prompt();
        let processor = session.processor();
        stamp_end(recorder, WHOLE, seen, processor);
    }
}

/// A keystroke until it appears; as a part, Enter until the next prompt.
pub(crate) struct EchoTask {
    program: PathBuf,
    session: Option<Session>,
    parts: &'static [&'static str],
}

impl EchoTask {
    pub(crate) fn new(program: &Path) -> Self {
        let parts = TaskSpec::Echo { program: PathBuf::new() }.part_names();
        Self { program: program.to_owned(), session: None, parts }
    }
}

impl ProbeTask for EchoTask {
    fn parts(&self) -> &[&'static str] {
        self.parts
    }

    fn prepare(&mut self, place: BorrowedFd<'_>, recorder: &mut dyn PartRecorder) -> Result<(), TaskError> {
        let session = Session::prepare(&self.program, place);
        let mut session = session.map_err(|error| cannot("get ready to start the shell", error))?;
        recorder.left_place();
        session.guard.launch(0);
        if let Seen::Gone(ending) = session.wait_for_prompt() {
            let how = match ending.exit_status {
                Some(status) => format!("it ended with status {status}"),
                None => ending.failure.to_string(),
            };
            return Err(TaskError {
                failure: ending.failure,
                message: format!(
                    "the shell {} did not show a prompt: {how}; check that it is an interactive shell",
                    self.program.display()
                ),
            });
        }
        session.wait_for_quiet();
        self.session = Some(session);
        Ok(())
    }

    fn perform(&mut self, _place: BorrowedFd<'_>, recorder: &mut dyn PartRecorder) {
        let Some(mut session) = self.session.take() else { return not_prepared(recorder) };
        recorder.guarded(session.guard.id());
        recorder.begin(WHOLE);
        session.type_keys(&[LETTER]);
        let seen = session.wait_for_letter(LETTER);
        if !stamp_end(recorder, WHOLE, seen, [Nanoseconds::ZERO; 2]) {
            return;
        }
        session.type_keys(ERASE_LINE);
        session.wait_for_quiet();
        recorder.begin(LINE);
        session.type_keys(ENTER);
        let seen = session.wait_for_prompt();
        stamp_end(recorder, LINE, seen, [Nanoseconds::ZERO; 2]);
    }
}

fn not_prepared(recorder: &mut dyn PartRecorder) {
    recorder.begin(WHOLE);
    recorder.end(WHOLE, failed(FailureCode::from_errno(libc::EBADF)));
}
