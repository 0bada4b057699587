//! The guard: a process between a probe and the programs that it starts.
//!
//! A probe may be killed at any moment, and then nothing that it started may live on: neither a shell in a session of its
//! own nor what an `rc` file left in the background. So the programs are children of a guard, which is not in the probe's
//! process group, adopts whatever loses its parent (`PR_SET_CHILD_SUBREAPER`), and notices the end of the probe by the end
//! of a pipe. Then it kills all descendants, and ends when the last of them is gone: as long as one waits in the kernel, the
//! guard is there to tell of it.
//!
//! Costs: the start and the end of a program each pass one more process. On an idle host that is some 0.3 ms in all; on one
//! with more to do than processors, each of the two waits its turn.
//!
//! Limits: a program of another user (setuid) is not killed by an ordinary user's guard, and is waited for.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use iolag_model::{FailureCode, Nanoseconds};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, read, write};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use super::process::{self, LET_GO};
use super::report::{REPORT_BYTES, Report};
use crate::tasks::launching::launch::Launch;

/// How long a probe that is done waits for the programs that it left behind to go.
const FAREWELL: Nanoseconds = Nanoseconds::from_seconds(2);
const LOOK: Nanoseconds = Nanoseconds::from_milliseconds(2);

/// What happens next.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Happening {
    /// The guard tells this.
    Report(Report),
    /// This many bytes of output are in the buffer.
    Output(usize),
    /// This many bytes of complaints are in the buffer.
    Errors(usize),
    /// The time is over.
    Quiet,
}

/// The guard of a probe, seen from the probe.
#[derive(Debug)]
pub(crate) struct Guard {
    process: Pid,
    orders: Option<OwnedFd>,
    reports: OwnedFd,
    /// Where the programs' output arrives, and their complaints if they have a pipe of their own, without waiting.
    output: OwnedFd,
    errors: Option<OwnedFd>,
    output_ended: bool,
}

impl Guard {
    /// Forks a guard for these programs, whose output arrives at `output` and whose complaints, if not there, at `errors`. The calling process has one thread (in tests: no
    /// other thread that changes the environment).
    ///
    /// # Errors
    /// If the kernel has no process or descriptor left.
    pub(crate) fn start(
        launches: Vec<Launch>,
        output: OwnedFd,
        errors: Option<OwnedFd>,
    ) -> Result<Self, Errno> {
        let (orders_there, orders) = pipe_with(PipeFlags::CLOEXEC)?;
        let (reports, reports_there) = pipe_with(PipeFlags::CLOEXEC)?;
        for arrives in std::iter::once(&output).chain(&errors) {
            rustix::io::ioctl_fionbio(arrives, true)?;
        }
        // SAFETY: the caller has one thread, so the copy's memory is consistent; the copy never returns from here.
        match unsafe { libc::fork() } {
            -1 => Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::AGAIN)),
            0 => process::run(launches, orders_there, reports_there),
            process => {
                let process = Pid::from_raw(process).expect("fork returns a positive process id");
                Ok(Self { process, orders: Some(orders), reports, output, errors, output_ended: false })
            }
        }
    }

    /// Its process id.
    pub(crate) fn id(&self) -> u32 {
        self.process.as_raw_nonzero().get().unsigned_abs()
    }

    /// Where the output arrives; of a terminal the side that is written to, too.
    pub(crate) fn output(&self) -> BorrowedFd<'_> {
        self.output.as_fd()
    }

    /// Where the complaints arrive, if not with the output.
    pub(crate) fn errors(&self) -> Option<BorrowedFd<'_>> {
        self.errors.as_ref().map(AsFd::as_fd)
    }

    /// Has the program with this index started.
    pub(crate) fn launch(&self, index: u8) {
        self.order(index);
    }

    /// Has the guard end without killing anything.
    pub(crate) fn let_go(&self) {
        self.order(LET_GO);
    }

    fn order(&self, order: u8) {
        if let Some(orders) = &self.orders {
            // A guard that is gone shows in its reports.
            let _ = write(orders, &[order]);
        }
    }

    /// Waits for the next report, output or complaints, reports first; for ever without a `limit`.
    pub(crate) fn next(&mut self, buffer: &mut [u8], limit: Option<Nanoseconds>) -> Happening {
        let limit = limit.map(Nanoseconds::as_timespec);
        loop {
            let mut waited = vec![PollFd::new(&self.reports, PollFlags::IN)];
            waited.extend((!self.output_ended).then(|| PollFd::new(&self.output, PollFlags::IN)));
            waited.extend(self.errors.as_ref().map(|errors| PollFd::new(errors, PollFlags::IN)));
            match poll(&mut waited, limit.as_ref()) {
                Ok(0) => return Happening::Quiet,
                Ok(_) => {}
                Err(_) => continue,
            }
            let has = |index: usize| waited.get(index).is_some_and(|one| !one.revents().is_empty());
            let has_report = has(0);
            let has_output = !self.output_ended && has(1);
            let has_errors = has(if self.output_ended { 1 } else { 2 });
            if has_report {
                return Happening::Report(self.read_report());
            }
            if has_output {
                match read(&self.output, &mut *buffer) {
                    Ok(bytes) if bytes > 0 => return Happening::Output(bytes),
                    Err(Errno::AGAIN | Errno::INTR) => {}
                    Ok(_) | Err(_) => self.output_ended = true,
                }
            }
            if let Some(errors) = self.errors.as_ref().filter(|_| has_errors) {
                match read(errors, &mut *buffer) {
                    Ok(bytes) if bytes > 0 => return Happening::Errors(bytes),
                    Err(Errno::AGAIN | Errno::INTR) => {}
                    Ok(_) | Err(_) => self.errors = None,
                }
            }
        }
    }

    fn read_report(&self) -> Report {
        let mut bytes = [0; REPORT_BYTES];
        let answer = loop {
            match read(&self.reports, &mut bytes) {
                Err(Errno::INTR) => {}
                other => break other,
            }
        };
        // Reports are shorter than what a pipe keeps together.
        let report =
            answer.ok().filter(|read| *read == REPORT_BYTES).and_then(|_| Report::from_bytes(&bytes));
        report.unwrap_or(Report::NotStarted(FailureCode::ABANDONED))
    }
}

impl Drop for Guard {
    /// Whatever the programs left behind is killed. Waits a moment for it to go.
    fn drop(&mut self) {
        self.orders = None;
        let mut waited = Nanoseconds::ZERO;
        loop {
            let ended = waitid(WaitId::Pid(self.process), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
            if !matches!(ended, Ok(None) | Err(Errno::INTR)) || waited >= FAREWELL {
                return;
            }
            // The reports end with the guard.
            let mut reports = [PollFd::new(&self.reports, PollFlags::empty())];
            if !matches!(poll(&mut reports, Some(&LOOK.as_timespec())), Ok(0)) {
                std::thread::sleep(LOOK.as_duration());
            }
            waited = Nanoseconds(waited.0 + LOOK.0);
        }
    }
}
