//! A program that is ready to be started: arguments, environment, directory, and where its streams go.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use rustix::fs::{Mode, OFlags, open};
use rustix::io::{Errno, fcntl_dupfd_cloexec};

use super::inheritance::become_a_users_program;

/// What is to be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Program {
    pub path: PathBuf,
    pub arguments: Vec<OsString>,
    /// The whole environment.
    pub environment: Vec<(OsString, OsString)>,
}

/// The streams of a program.
#[derive(Debug)]
pub(crate) enum Streams {
    /// No input; output and errors into this pipe, or a terminal that is not the program's own.
    Pipe(OwnedFd),
    /// No input; output and errors into pipes of their own.
    Pipes { output: OwnedFd, errors: OwnedFd },
    /// Its input and output are files.
    Files { input: OwnedFd, output: OwnedFd, errors: OwnedFd },
    /// All three are this terminal, which becomes the controlling terminal of a new session.
    Terminal(OwnedFd),
}

/// With whom a program is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Company {
    /// A new session, whose controlling terminal its input is.
    Terminal,
    /// The process group of the probe, which ends with it.
    Group(i32),
    /// A new session without a terminal.
    Nobody,
}

/// A program that is ready to be started.
#[derive(Debug)]
pub(crate) struct Launch {
    command: Command,
    /// Descriptors that must stay open until then.
    kept: Vec<RawFd>,
}

impl Launch {
    /// Prepares `program` in the directory `place`. Without a terminal it joins the process group of the calling process.
    ///
    /// # Errors
    /// If there is no descriptor left, or no /dev/null.
    pub(crate) fn new(program: &Program, place: BorrowedFd<'_>, streams: Streams) -> Result<Self, Errno> {
        let company = match streams {
            Streams::Terminal(_) => Company::Terminal,
            _ => Company::Group(rustix::process::getpgrp().as_raw_nonzero().get()),
        };
        Self::among(company, program, place, streams)
    }

    /// The same in a session of its own, which does not end with the calling process.
    ///
    /// # Errors
    /// As above.
    pub(crate) fn alone(program: &Program, place: BorrowedFd<'_>, streams: Streams) -> Result<Self, Errno> {
        Self::among(Company::Nobody, program, place, streams)
    }

    fn among(
        company: Company,
        program: &Program,
        place: BorrowedFd<'_>,
        streams: Streams,
    ) -> Result<Self, Errno> {
        let place = fcntl_dupfd_cloexec(place, 3)?;
        let [input, output, errors] = match streams {
            Streams::Pipe(pipe) => [nowhere()?, duplicate(&pipe)?, pipe],
            Streams::Pipes { output, errors } => [nowhere()?, output, errors],
            Streams::Files { input, output, errors } => [input, output, errors],
            Streams::Terminal(terminal) => [duplicate(&terminal)?, duplicate(&terminal)?, terminal],
        };
        let kept = [&place, &input, &output, &errors].map(AsRawFd::as_raw_fd).to_vec();
        let mut command = command(program, [input, output, errors]);
        let become_program = move || become_program(place.as_raw_fd(), company);
        // SAFETY: only system calls that are allowed between fork and exec are made there, and nothing is allocated.
        unsafe { command.pre_exec(become_program) };
        Ok(Self { command, kept })
    }

    /// Prepares `program` with nothing but a pipe for its errors, in the current directory of the thread that starts it. That is done by
    /// posix_spawn, which copies nothing of the process. The program may outlive the process.
    ///
    /// # Errors
    /// If there is no descriptor left, or no /dev/null.
    pub(crate) fn spawned(program: &Program, errors: OwnedFd) -> Result<Self, Errno> {
        Ok(Self { command: command(program, [nowhere()?, nowhere()?, errors]), kept: Vec::new() })
    }

    /// The program's path, for people.
    pub(crate) fn program(&self) -> String {
        self.command.get_program().display().to_string()
    }

    /// Descriptors that must stay open until it is started.
    pub(crate) fn kept(&self) -> &[RawFd] {
        &self.kept
    }

    /// Starts it; returns its process id.
    ///
    /// # Errors
    /// If there is no process left or the program cannot be executed.
    pub(crate) fn start(&mut self) -> io::Result<u32> {
        self.command.spawn().map(|child| child.id())
    }
}

fn command(program: &Program, streams: [OwnedFd; 3]) -> Command {
    let [input, output, errors] = streams.map(Stdio::from);
    let mut command = Command::new(&program.path);
    command.args(&program.arguments).env_clear().envs(program.environment.iter().cloned());
    command.stdin(input).stdout(output).stderr(errors);
    command
}

fn duplicate(descriptor: &OwnedFd) -> Result<OwnedFd, Errno> {
    fcntl_dupfd_cloexec(descriptor, 3)
}

/// What is read from has nothing, and what is written is dropped.
pub(crate) fn nowhere() -> Result<OwnedFd, Errno> {
    open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())
}

/// Between fork and exec: a session or the probe's process group, the directory, and signals and core dumps as a user's programs have them.
fn become_program(place: RawFd, company: Company) -> io::Result<()> {
    // SAFETY: all of these are system calls on this process alone, async-signal-safe, with memory of this frame.
    unsafe {
        if let Company::Group(group) = company {
            // The probe may have ended just now, and its group with it.
            libc::setpgid(0, group);
        } else if libc::setsid() == -1 {
            return Err(io::Error::last_os_error());
        }
        if company == Company::Terminal && libc::ioctl(0, libc::TIOCSCTTY, 0) == -1 {
            return Err(io::Error::last_os_error());
        }
        if libc::fchdir(place) == -1 {
            return Err(io::Error::last_os_error());
        }
        // All of the probe's own descriptors say so themselves; those that it got from elsewhere may not. Kernels
        // before 5.11 refuse, which changes nothing else.
        libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, libc::CLOSE_RANGE_CLOEXEC);
        // Below a guard the second line: the first is the guard itself.
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong, 0, 0, 0);
    }
    become_a_users_program();
    Ok(())
}
