//! Running the programs of a task's parts, one after the other, directly or below a guard.
//!
//! The wait is for the program itself: what it leaves in the background with its streams does not hold the probe. Output
//! is read while it runs, and what is in the pipe at its end is read without waiting.
//!
//! Directly started programs are children in the probe's process group that die with the probe; nothing stands between
//! them and the clock. A guard costs two more processes to be woken, which takes longer the more a host has to do, but nothing
//! escapes it.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use iolag_model::{FailureCode, Nanoseconds};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, read};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::tasks::guard::handle::{Guard, Happening};
use crate::tasks::guard::report::Report;
use crate::tasks::programs::last_words::LastWords;
use crate::tasks::programs::launch::{Launch, Streams};
use crate::tasks::programs::program::Program;
use crate::tasks::programs::terminal::Terminal;
use crate::tasks::programs::usage::Usage;
use crate::tasks::timespec::timespec;
use crate::tasks::{PartEnding, PartRecorder};

/// Read at once.
const OUTPUT_BYTES: usize = 64 << 10;
/// What a program left in its pipe is read up to this much after its end: others may go on writing.
const OUTPUT_LEFT_BYTES_MAX: usize = 1 << 20;
/// How often a child is looked at where the kernel has no descriptor for it (before 5.3).
const LOOK: Nanoseconds = Nanoseconds::from_milliseconds(1);

/// Programs that are run one after the other as the parts of a task.
pub(crate) struct Programs {
    starter: Starter,
    buffer: Vec<u8>,
    last_words: LastWords,
}

enum Starter {
    Direct { launches: Vec<Launch>, output: OwnedFd },
    Guarded(Guard),
}

impl Programs {
    /// Gets ready to run these in `place` as children of this process.
    ///
    /// # Errors
    /// If there is no descriptor left.
    pub(crate) fn direct(programs: &[Program], place: BorrowedFd<'_>) -> Result<Self, Errno> {
        let (output, pipe) = pipe_with(PipeFlags::CLOEXEC)?;
        Self::direct_into(programs, place, output, &pipe)
    }

    /// The same, their output on a terminal that is nobody's controlling terminal: they have no session of their own.
    ///
    /// # Errors
    /// If there is no descriptor or terminal left.
    pub(crate) fn direct_on_terminal(programs: &[Program], place: BorrowedFd<'_>) -> Result<Self, Errno> {
        let terminal = Terminal::open()?;
        Self::direct_into(programs, place, terminal.person, &terminal.programs)
    }

    /// What the programs write `into` arrives at `output`.
    fn direct_into(
        programs: &[Program],
        place: BorrowedFd<'_>,
        output: OwnedFd,
        into: &OwnedFd,
    ) -> Result<Self, Errno> {
        rustix::io::ioctl_fionbio(&output, true)?;
        let launch = |program| {
            let into = into.try_clone().map_err(|_| Errno::MFILE)?;
            Launch::new(program, place, Streams::Pipe(into))
        };
        let launches = programs.iter().map(launch).collect::<Result<_, _>>()?;
        Ok(Self::new(Starter::Direct { launches, output }))
    }

    /// Gets ready to run this in `place` below a guard; the end of its complaints is kept.
    ///
    /// # Errors
    /// If there is no process or descriptor left.
    pub(crate) fn guarded(program: &Program, place: BorrowedFd<'_>) -> Result<Self, Errno> {
        let (output, output_there) = pipe_with(PipeFlags::CLOEXEC)?;
        let (errors, errors_there) = pipe_with(PipeFlags::CLOEXEC)?;
        let streams = Streams::Pipes { output: output_there, errors: errors_there };
        let launch = Launch::new(program, place, streams)?;
        Ok(Self::new(Starter::Guarded(Guard::start(vec![launch], output, Some(errors))?)))
    }

    /// The same on a terminal of its own.
    ///
    /// # Errors
    /// If there is no process, descriptor or terminal left.
    pub(crate) fn on_terminal(program: &Program, place: BorrowedFd<'_>) -> Result<Self, Errno> {
        let terminal = Terminal::open()?;
        let launch = Launch::new(program, place, Streams::Terminal(terminal.programs))?;
        Ok(Self::new(Starter::Guarded(Guard::start(vec![launch], terminal.person, None)?)))
    }

    fn new(starter: Starter) -> Self {
        Self { starter, buffer: vec![0; OUTPUT_BYTES], last_words: LastWords::default() }
    }

    /// Tells the guard, if there is one.
    pub(crate) fn tell_guard(&self, recorder: &mut dyn PartRecorder) {
        if let Starter::Guarded(guard) = &self.starter {
            recorder.guarded(guard.id());
        }
    }

    /// Runs the program with this index until it has ended. `see` gets its output.
    pub(crate) fn run(&mut self, index: u8, see: impl FnMut(&[u8])) -> PartEnding {
        let report = match &mut self.starter {
            Starter::Direct { launches, output } => match launches.get_mut(usize::from(index)) {
                Some(launch) => run_directly(launch, output.as_fd(), &mut self.buffer, see),
                None => not_started(libc::EINVAL),
            },
            Starter::Guarded(guard) => run_guarded(guard, index, &mut self.buffer, see, &mut self.last_words),
        };
        report.ending().unwrap_or_default()
    }

    /// What the program wrote last and nobody has read yet.
    pub(crate) fn see_rest(&mut self, see: impl FnMut(&[u8])) {
        let output = match &self.starter {
            Starter::Direct { output, .. } => output.as_fd(),
            Starter::Guarded(guard) => guard.output(),
        };
        see_left(output, &mut self.buffer, see);
    }

    /// The last line of the program's complaints, if it has a pipe of its own for them.
    pub(crate) fn last_words(&mut self) -> Option<String> {
        if let Starter::Guarded(guard) = &self.starter
            && let Some(errors) = guard.errors()
        {
            see_left(errors, &mut self.buffer, |words| self.last_words.add(words));
        }
        self.last_words.line()
    }
}

fn see_left(from: BorrowedFd<'_>, buffer: &mut [u8], mut see: impl FnMut(&[u8])) {
    let mut left = OUTPUT_LEFT_BYTES_MAX;
    while let Some(bytes) = read(from, &mut *buffer).ok().filter(|bytes| *bytes > 0) {
        see(&buffer[..bytes]);
        match left.checked_sub(bytes) {
            Some(less) => left = less,
            None => return,
        }
    }
}

fn run_guarded(
    guard: &mut Guard,
    index: u8,
    buffer: &mut [u8],
    mut see: impl FnMut(&[u8]),
    last_words: &mut LastWords,
) -> Report {
    guard.launch(index);
    loop {
        match guard.next(buffer, None) {
            Happening::Report(Report::Started(_)) | Happening::Quiet => {}
            Happening::Report(report) => return report,
            Happening::Output(bytes) => see(&buffer[..bytes]),
            Happening::Errors(bytes) => last_words.add(&buffer[..bytes]),
        }
    }
}

fn run_directly(
    launch: &mut Launch,
    output: BorrowedFd<'_>,
    buffer: &mut [u8],
    mut see: impl FnMut(&[u8]),
) -> Report {
    let process = match launch.start() {
        Ok(process) => process,
        Err(error) => return not_started(error.raw_os_error().unwrap_or(libc::EIO)),
    };
    let Some(pid) = i32::try_from(process).ok().and_then(Pid::from_raw) else {
        return not_started(libc::ESRCH);
    };
    let descriptor = pidfd_open(pid, PidfdFlags::empty()).ok();
    let limit = descriptor.is_none().then(|| timespec(LOOK));
    loop {
        if let Some(report) = reap(pid) {
            return report;
        }
        let mut waited = vec![PollFd::new(&output, PollFlags::IN)];
        waited.extend(descriptor.as_ref().map(|descriptor| PollFd::new(descriptor, PollFlags::IN)));
        // Interrupted or not, both are looked at.
        let _ = poll(&mut waited, limit.as_ref());
        let has_ended = waited.get(1).is_some_and(|child| !child.revents().is_empty());
        if !has_ended && let Ok(bytes @ 1..) = read(output, &mut *buffer) {
            see(&buffer[..bytes]);
        }
    }
}

/// How a child ended, if it has.
fn reap(process: Pid) -> Option<Report> {
    let mut status = 0;
    let mut record = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    let process = process.as_raw_nonzero().get();
    // SAFETY: the kernel writes to memory of this frame; zeroes are a valid record too.
    let (answer, record) = unsafe {
        let answer = libc::wait4(process, &raw mut status, libc::WNOHANG, record.as_mut_ptr());
        (answer, record.assume_init())
    };
    match answer {
        0 => None,
        -1 => match std::io::Error::last_os_error().raw_os_error() {
            Some(libc::EINTR) => None,
            // Somebody else has waited for it: how it ended will not be known.
            other => Some(not_started(other.unwrap_or(libc::ECHILD))),
        },
        _ => Some(Report::Ended(status, Usage::from_kernel(&record))),
    }
}

fn not_started(errno: i32) -> Report {
    Report::NotStarted(FailureCode::from_errno(errno))
}
