//! Running a program as a user would, and waiting for it.
//!
//! Timed is what the user waits for: starting, running, ending. Its standard output is discarded by the kernel, as the study
//! did, so that no terminal is measured; of its standard error the first [`MESSAGE_BYTES_MAX`] bytes are kept, and the rest is
//! read and dropped, so that neither memory nor the program's pipe can fill up.
//!
//! A program that takes longer than it may is killed, with everything that it started.
//!
//! Limits: the program is started by posix_spawn from the calling thread, in that thread's current directory. If the
//! measuring process is killed meanwhile, the program runs on until it ends by itself. One that waits in the kernel is waited for,
//! killed or not.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};

use iolag_backend::Completion;
use iolag_model::{FailureCode, MonotonicTime, Nanoseconds};
use rustix::event::{PollFd, PollFlags, poll};

use super::descent::kill_descendants;
use crate::tasks::limits::TaskLimits;
use crate::tasks::timespec::timespec;

/// Bytes of a program's error output that are kept.
pub(crate) const MESSAGE_BYTES_MAX: usize = 4096;
/// How often it is looked whether a program may go on.
const LOOK: Nanoseconds = Nanoseconds::from_milliseconds(20);

/// What is to be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Program {
    pub path: PathBuf,
    pub arguments: Vec<OsString>,
    /// The whole environment.
    pub environment: Vec<(OsString, OsString)>,
}

/// Runs programs, one at a time.
#[derive(Debug)]
pub(crate) struct Runner {
    nowhere: File,
    command: Option<Command>,
    message: Vec<u8>,
    ending: Option<String>,
}

impl Runner {
    /// # Errors
    /// If /dev/null cannot be opened.
    pub fn new() -> io::Result<Self> {
        let nowhere = OpenOptions::new().read(true).write(true).open("/dev/null")?;
        Ok(Self { nowhere, command: None, message: Vec::with_capacity(MESSAGE_BYTES_MAX), ending: None })
    }

    /// Makes everything that is not the program itself. Untimed.
    pub fn prepare(&mut self, program: &Program) {
        self.message.clear();
        self.ending = None;
        self.command = self.command_for(program).map_err(|error| self.ending = Some(error.to_string())).ok();
    }

    fn command_for(&self, program: &Program) -> io::Result<Command> {
        let mut command = Command::new(&program.path);
        command
            .args(&program.arguments)
            .env_clear()
            .envs(program.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::from(self.nowhere.try_clone()?))
            .stdout(Stdio::from(self.nowhere.try_clone()?))
            .stderr(Stdio::piped());
        Ok(command)
    }

    /// Runs what was prepared, until it has ended or may not go on. A status other than 0 is [`FailureCode::EXIT`].
    pub fn execute(&mut self, until: MonotonicTime, limits: &TaskLimits) -> Completion {
        let Some(mut command) = self.command.take() else {
            return Completion::failed(FailureCode::from_errno(libc::EBADF));
        };
        match self.run(&mut command, || limits.are_reached(until)) {
            Ok(None) => Completion::interrupted(0),
            Ok(Some(status)) if status.success() => Completion::ok(0),
            Ok(Some(status)) => {
                self.ending = Some(status.to_string());
                Completion::failed(FailureCode::EXIT)
            }
            Err(error) => {
                self.ending = Some(format!("{} cannot be run: {error}", command.get_program().display()));
                Completion::failed(FailureCode::from_errno(error.raw_os_error().unwrap_or(libc::EIO)))
            }
        }
    }

    /// The program's status; `None` if it was killed because it may not go on.
    fn run(&mut self, command: &mut Command, is_to_end: impl Fn() -> bool) -> io::Result<Option<ExitStatus>> {
        let mut child = command.spawn()?;
        let Some(mut errors) = child.stderr.take() else { return child.wait().map(Some) };
        let mut was_killed = false;
        // Its errors end when it does, and with it all that it started.
        while !self.keep_some(&mut errors)? {
            if !was_killed && is_to_end() {
                was_killed = true;
                kill_all(&mut child);
            }
        }
        child.wait().map(|status| (!was_killed).then_some(status))
    }

    /// Waits a little for the program's complaints, and keeps their beginning; whether they have ended.
    fn keep_some(&mut self, errors: &mut ChildStderr) -> io::Result<bool> {
        let mut waited = [PollFd::new(&*errors, PollFlags::IN)];
        if matches!(poll(&mut waited, Some(&timespec(LOOK))), Ok(0) | Err(rustix::io::Errno::INTR)) {
            return Ok(false);
        }
        let mut block = [0; MESSAGE_BYTES_MAX];
        match errors.read(&mut block) {
            Ok(read) => {
                let room = MESSAGE_BYTES_MAX - self.message.len();
                self.message.extend_from_slice(&block[..read.min(room)]);
                Ok(read == 0)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(false),
            // A failure to read its complaints does not change what the program did.
            Err(_) => Ok(true),
        }
    }

    /// How the last program ended and what it said, if it failed.
    pub fn message(&mut self) -> Option<String> {
        let ending = self.ending.take()?;
        let said = String::from_utf8_lossy(&self.message);
        let said = said.trim();
        Some(if said.is_empty() { ending } else { format!("{ending}: {said}") })
    }
}

/// What a compiler has started goes on without it: it is looked for first, as long as the compiler is its parent.
fn kill_all(child: &mut Child) {
    kill_descendants(child.id());
    // One that has just ended needs no killing.
    let _ = child.kill();
}
