//! Running a program as a user would, and waiting for it.
//!
//! Timed is what the user waits for: starting, running, ending. Its standard output is discarded by the kernel, as the study
//! did, so that no terminal is measured; of its standard error the first [`MESSAGE_BYTES_MAX`] bytes are kept, and the rest is
//! read and dropped, so that neither memory nor the program's pipe can fill up.
//!
//! Limits: the program is started by posix_spawn from the calling thread, in that thread's current directory. If the
//! measuring process is killed meanwhile, the program runs on until it ends by itself.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::PathBuf;
use std::process::{ChildStderr, Command, ExitStatus, Stdio};

use iolag_backend::Completion;
use iolag_model::FailureCode;

/// Bytes of a program's error output that are kept.
pub(super) const MESSAGE_BYTES_MAX: usize = 4096;

/// What is to be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Program {
    pub path: PathBuf,
    pub arguments: Vec<OsString>,
    /// The whole environment.
    pub environment: Vec<(OsString, OsString)>,
}

/// Runs programs, one at a time.
#[derive(Debug)]
pub(super) struct Runner {
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

    /// Runs what was prepared, until it has ended. A status other than 0 is [`FailureCode::EXIT`].
    pub fn execute(&mut self) -> Completion {
        let Some(mut command) = self.command.take() else {
            return Completion::failed(FailureCode::from_errno(libc::EBADF));
        };
        match self.run(&mut command) {
            Ok(status) if status.success() => Completion::ok(0),
            Ok(status) => {
                self.ending = Some(status.to_string());
                Completion::failed(FailureCode::EXIT)
            }
            Err(error) => {
                self.ending = Some(format!("{} cannot be run: {error}", command.get_program().display()));
                Completion::failed(FailureCode::from_errno(error.raw_os_error().unwrap_or(libc::EIO)))
            }
        }
    }

    fn run(&mut self, command: &mut Command) -> io::Result<ExitStatus> {
        let mut child = command.spawn()?;
        if let Some(errors) = child.stderr.take() {
            // A failure to read its complaints does not change what the program did.
            let _ = keep_beginning(errors, &mut self.message);
        }
        child.wait()
    }

    /// How the last program ended and what it said, if it failed.
    pub fn message(&mut self) -> Option<String> {
        let ending = self.ending.take()?;
        let said = String::from_utf8_lossy(&self.message);
        let said = said.trim();
        Some(if said.is_empty() { ending } else { format!("{ending}: {said}") })
    }
}

/// Reads to the end and keeps the first [`MESSAGE_BYTES_MAX`] bytes.
fn keep_beginning(mut from: ChildStderr, kept: &mut Vec<u8>) -> io::Result<()> {
    let mut block = [0; MESSAGE_BYTES_MAX];
    loop {
        match from.read(&mut block) {
            Ok(0) => return Ok(()),
            Ok(read) => {
                let room = MESSAGE_BYTES_MAX - kept.len();
                kept.extend_from_slice(&block[..read.min(room)]);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
