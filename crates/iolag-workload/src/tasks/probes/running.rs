//! Running the programs of a task's parts, one after the other: directly, below a guard, or spawned.
//!
//! The wait is for the program itself: what it leaves in the background with its streams does not hold the probe. Output
//! is read while it runs, and what is in the pipe at its end is read without waiting.
//!
//! Directly started programs are children in the probe's process group that die with the probe; nothing stands between
//! them and the clock. A guard costs two more processes to be woken, which takes longer the more a host has to do, but nothing
//! escapes it.
//!
//! Spawned programs are those of a process of many threads, a check. They are waited for until nobody can complain any more. One that takes
//! longer than it may is killed, with everything that it started; one that waits in the kernel is waited for, killed or not. If the
//! process is killed meanwhile, they run on until they end by themselves.

use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use iolag_model::{FailureCode, Nanoseconds};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, read};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use super::files::failed;
use crate::tasks::guard::handle::{Guard, Happening};
use crate::tasks::guard::report::Report;
use crate::tasks::launching::descent::kill_descendants;
use crate::tasks::launching::last_words::LastWords;
use crate::tasks::launching::launch::{Launch, Program, Streams};
use crate::tasks::launching::terminal::Terminal;
use crate::tasks::launching::usage::Usage;
use crate::tasks::limits::TaskLimit;
use crate::tasks::{PartEnding, PartRecorder};

/// Read at once.
const OUTPUT_BYTES: usize = 64 << 10;
/// What a program left in its pipe is read up to this much after its end: others may go on writing.
const OUTPUT_LEFT_BYTES_MAX: usize = 1 << 20;
/// Bytes of a spawned program's complaints that are kept.
const COMPLAINT_BYTES_MAX: usize = 4096;
/// How often a child is looked at where the kernel has no descriptor for it (before 5.3).
const LOOK: Nanoseconds = Nanoseconds::from_milliseconds(1);
/// How often it is looked whether a program may go on.
const LIMIT_LOOK: Nanoseconds = Nanoseconds::from_milliseconds(20);

/// Programs that are run one after the other as the parts of a task.
pub(crate) struct Programs {
    starter: Starter,
    buffer: Vec<u8>,
    last_words: LastWords,
    /// How the last one ended.
    last: Option<Report>,
}

enum Starter {
    Direct { launches: Vec<Launch>, output: OwnedFd },
    Spawned { launches: Vec<Launch>, errors: OwnedFd, complaint: Vec<u8> },
    Guarded(Guard),
}

impl Programs {
    /// Gets ready to run these in `place` as children of this process.
    ///
    /// # Errors
    /// If there is no descriptor left.
    pub(crate) fn direct(programs: &[Program], place: BorrowedFd<'_>) -> Result<Self, Errno> {
        let (output, pipe) = pipe_with(PipeFlags::CLOEXEC)?;
        let launch = |program: &Program, into| Launch::new(program, place, Streams::Pipe(into));
        let launches = launches(programs, launch, &output, &pipe)?;
        Ok(Self::new(Starter::Direct { launches, output }))
    }

    /// The same in the current directory of the thread that runs them, which measures how long they take. Neither the copying of a
    /// process is measured, nor the change of directory, for which a file system may be asked, nor a pipe or a terminal: their output
    /// is dropped by the kernel, as study 000 did. What arrives are their complaints.
    ///
    /// # Errors
    /// If there is no descriptor left.
    pub(crate) fn spawned(programs: &[Program]) -> Result<Self, Errno> {
        let (errors, pipe) = pipe_with(PipeFlags::CLOEXEC)?;
        let launches = launches(programs, Launch::spawned, &errors, &pipe)?;
        Ok(Self::new(Starter::Spawned { launches, errors, complaint: Vec::new() }))
    }

    /// The same, their output on a terminal that is nobody's controlling terminal: they have no session of their own.
    ///
    /// # Errors
    /// If there is no descriptor or terminal left.
    pub(crate) fn direct_on_terminal(programs: &[Program], place: BorrowedFd<'_>) -> Result<Self, Errno> {
        let Terminal { person, programs: terminal } = Terminal::open()?;
        let launch = |program: &Program, into| Launch::new(program, place, Streams::Pipe(into));
        let launches = launches(programs, launch, &person, &terminal)?;
        Ok(Self::new(Starter::Direct { launches, output: person }))
    }

    /// Gets ready to run this in `place` below a guard; the end of its complaints is kept.
    ///
    /// # Errors
    /// If there is no process or descriptor left.
    pub(crate) fn guarded(program: &Program, place: BorrowedFd<'_>) -> Result<Self, Errno> {
        Self::below_guard(program, place, Launch::new)
    }

    /// The same in a session of its own: what it leaves running may stay, also what shares its process group, as the ssh of an sshfs does.
    ///
    /// # Errors
    /// As above.
    pub(crate) fn that_sets_up(program: &Program, place: BorrowedFd<'_>) -> Result<Self, Errno> {
        Self::below_guard(program, place, Launch::alone)
    }

    fn below_guard(
        program: &Program,
        place: BorrowedFd<'_>,
        launch: impl Fn(&Program, BorrowedFd<'_>, Streams) -> Result<Launch, Errno>,
    ) -> Result<Self, Errno> {
        let (output, output_there) = pipe_with(PipeFlags::CLOEXEC)?;
        let (errors, errors_there) = pipe_with(PipeFlags::CLOEXEC)?;
        let streams = Streams::Pipes { output: output_there, errors: errors_there };
        let launch = launch(program, place, streams)?;
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
        Self { starter, buffer: vec![0; OUTPUT_BYTES], last_words: LastWords::default(), last: None }
    }

    /// Tells the guard, if there is one.
    pub(crate) fn tell_guard(&self, recorder: &mut dyn PartRecorder) {
        if let Starter::Guarded(guard) = &self.starter {
            recorder.guarded(guard.id());
        }
    }

    /// Runs the program with this index until it has ended, a spawned one at most to its `limit`. `see` gets its output.
    pub(crate) fn run(
        &mut self,
        index: u8,
        limit: Option<TaskLimit<'_>>,
        see: impl FnMut(&[u8]),
    ) -> PartEnding {
        let Self { starter, buffer, last_words, .. } = self;
        let report = match starter {
            Starter::Direct { launches, output } => Some(match start(launches, index) {
                Ok(pid) => run_directly(pid, output.as_fd(), buffer, see),
                Err(report) => report,
            }),
            Starter::Spawned { launches, errors, complaint } => match start(launches, index) {
                Ok(pid) => {
                    // Nobody but what was started can write from now on.
                    launches.clear();
                    run_spawned(pid, errors.as_fd(), limit, buffer, complaint)
                }
                Err(report) => Some(report),
            },
            Starter::Guarded(guard) => Some(run_guarded(guard, index, buffer, see, last_words)),
        };
        self.last = report;
        let time_up = PartEnding { failure: FailureCode::TIME_UP, ..PartEnding::default() };
        report.map_or(time_up, |report| report.ending().unwrap_or_default())
    }

    /// Has the guard, if there is one, leave alone what the programs left running.
    pub(crate) fn let_go(&self) {
        if let Starter::Guarded(guard) = &self.starter {
            guard.let_go();
        }
    }

    /// What the program wrote last and nobody has read yet.
    pub(crate) fn see_rest(&mut self, see: impl FnMut(&[u8])) {
        match &self.starter {
            Starter::Direct { output, .. } => see_left(output.as_fd(), &mut self.buffer, see),
            Starter::Spawned { .. } => {}
            Starter::Guarded(guard) => see_left(guard.output(), &mut self.buffer, see),
        }
    }

    /// What the program that failed complained of, if it has a pipe of its own for that: the last line; of a spawned one how it ended and
    /// the beginning.
    pub(crate) fn complaint(&mut self) -> Option<String> {
        match &self.starter {
            Starter::Direct { .. } => None,
            Starter::Spawned { launches, complaint, .. } => {
                let ending = self.last?.describe(&launches.first().map(Launch::program).unwrap_or_default());
                Some(match String::from_utf8_lossy(complaint).trim() {
                    "" => ending,
                    said => format!("{ending}: {said}"),
                })
            }
            Starter::Guarded(guard) => {
                if let Some(errors) = guard.errors() {
                    see_left(errors, &mut self.buffer, |words| self.last_words.add(words));
                }
                self.last_words.line()
            }
        }
    }
}

/// Runs one program for each part, dropping their output. `if_failed` is called for a part whose program failed.
pub(crate) fn run_parts(
    programs: Option<Programs>,
    parts: Range<u8>,
    recorder: &mut dyn PartRecorder,
    if_failed: impl Fn(),
) {
    let Some(mut programs) = programs else {
        recorder.begin(0);
        recorder.end(0, failed(FailureCode::from_errno(libc::EBADF)));
        return;
    };
    programs.tell_guard(recorder);
    recorder.left_place();
    for index in parts {
        let part = usize::from(index);
        recorder.begin(part);
        let ending = programs.run(index, recorder.limit(), |_| {});
        recorder.end(part, ending);
        programs.see_rest(|_| {});
        if ending.failure == FailureCode::EXIT {
            if_failed();
        }
        say(&mut programs, ending.failure, recorder);
    }
}

/// Tells what a program that failed complained of.
pub(crate) fn say(programs: &mut Programs, failure: FailureCode, recorder: &mut dyn PartRecorder) {
    if !matches!(failure, FailureCode::NONE | FailureCode::TIME_UP)
        && let Some(complaint) = programs.complaint()
    {
        recorder.said(&complaint);
    }
}

/// What the programs write `into` arrives at `output`.
fn launches(
    programs: &[Program],
    launch: impl Fn(&Program, OwnedFd) -> Result<Launch, Errno>,
    output: &OwnedFd,
    into: &OwnedFd,
) -> Result<Vec<Launch>, Errno> {
    rustix::io::ioctl_fionbio(output, true)?;
    let launch = |program| launch(program, into.try_clone().map_err(|_| Errno::MFILE)?);
    programs.iter().map(launch).collect()
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

fn start(launches: &mut [Launch], index: u8) -> Result<Pid, Report> {
    let launch = launches.get_mut(usize::from(index)).ok_or_else(|| not_started(libc::EINVAL))?;
    let process = launch.start().map_err(|error| not_started(error.raw_os_error().unwrap_or(libc::EIO)))?;
    i32::try_from(process).ok().and_then(Pid::from_raw).ok_or_else(|| not_started(libc::ESRCH))
}

fn run_directly(pid: Pid, output: BorrowedFd<'_>, buffer: &mut [u8], mut see: impl FnMut(&[u8])) -> Report {
    let descriptor = pidfd_open(pid, PidfdFlags::empty()).ok();
    let limit = descriptor.is_none().then(|| LOOK.as_timespec());
    loop {
        if let Some(report) = reap(pid, libc::WNOHANG) {
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

/// Its errors end when it does, and with it all that it started. `None` if it was killed at its limit.
fn run_spawned(
    pid: Pid,
    errors: BorrowedFd<'_>,
    limit: Option<TaskLimit<'_>>,
    buffer: &mut [u8],
    complaint: &mut Vec<u8>,
) -> Option<Report> {
    let look = limit.map(|_| LIMIT_LOOK.as_timespec());
    let mut was_killed = false;
    loop {
        // Interrupted or not, it is looked at.
        let _ = poll(&mut [PollFd::new(&errors, PollFlags::IN)], look.as_ref());
        match read(errors, &mut *buffer) {
            Ok(bytes @ 1..) => {
                let room = COMPLAINT_BYTES_MAX - complaint.len();
                complaint.extend_from_slice(&buffer[..bytes.min(room)]);
            }
            Err(Errno::AGAIN | Errno::INTR) => {}
            // A failure to read its complaints does not change what the program did.
            Ok(_) | Err(_) => break,
        }
        if !was_killed && limit.is_some_and(TaskLimit::is_reached) {
            was_killed = true;
            // What a compiler has started goes on without it: it is looked for first, as long as the compiler is its parent.
            kill_descendants(pid.as_raw_nonzero().get().unsigned_abs());
            // It was not waited for: its number is nobody else's.
            let _ = kill_process(pid, Signal::KILL);
        }
    }
    let report = std::iter::repeat_with(|| reap(pid, 0)).flatten().next();
    report.filter(|_| !was_killed)
}

/// How a child ended, if it has.
fn reap(process: Pid, options: i32) -> Option<Report> {
    let mut status = 0;
    let mut record = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    let process = process.as_raw_nonzero().get();
    // SAFETY: the kernel writes to memory of this frame; zeroes are a valid record too.
    let (answer, record) = unsafe {
        let answer = libc::wait4(process, &raw mut status, options, record.as_mut_ptr());
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
