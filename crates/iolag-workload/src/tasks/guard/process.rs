//! The guard itself: starts programs on order, reports their ends, and clears up when the probe has ended.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use iolag_model::{FailureCode, Nanoseconds};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, read, write};

use super::report::Report;
use crate::tasks::launching::descent::kill_descendants;
use crate::tasks::launching::launch::Launch;
use crate::tasks::launching::usage::Usage;

/// How often those that wait in the kernel are looked after, at first and later.
const LOOK_MIN: Nanoseconds = Nanoseconds::from_milliseconds(10);
const LOOK_MAX: Nanoseconds = Nanoseconds::from_seconds(2);
/// Descriptors are closed one by one up to this number where the kernel cannot close a range.
const DESCRIPTORS_MAX: RawFd = 1024;

/// The order to end without killing anything; no program has this index.
pub(super) const LET_GO: u8 = u8::MAX;

/// Is the guard until nothing is left to guard. Called in a process that was forked for this.
pub(crate) fn run(launches: Vec<Launch>, orders: OwnedFd, reports: OwnedFd) -> ! {
    let guarding = std::panic::AssertUnwindSafe(|| guard(launches, orders, reports));
    let status = std::panic::catch_unwind(guarding).map_or(70, |()| 0);
    // SAFETY: ends this process at once; the exit handlers and buffers are the probe's, not its copy's.
    unsafe { libc::_exit(status) }
}

fn guard(launches: Vec<Launch>, orders: OwnedFd, reports: OwnedFd) {
    let Some(children) = set_up(&launches, &orders, &reports) else { return };
    if follow_orders(launches, orders, reports, &children) == Charges::Orphaned {
        clear_up(&children);
    }
}

/// What becomes of what the programs left running.
#[derive(PartialEq, Eq)]
enum Charges {
    /// The probe is done, or dead: nobody wants them.
    Orphaned,
    /// They were started to stay.
    LetGo,
}

/// Leaves the probe's group, adopts orphans, hears of children only, holds nothing that it does not need.
fn set_up(launches: &[Launch], orders: &OwnedFd, reports: &OwnedFd) -> Option<OwnedFd> {
    let mut needed = kept(launches);
    needed.extend([orders.as_raw_fd(), reports.as_raw_fd()]);
    close_all_but(needed);
    let mut signals = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: system calls on this process alone, with memory of this frame that is written before it is read; the
    // descriptor of signalfd is new and owned by nobody else.
    unsafe {
        libc::setpgid(0, 0);
        libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1_u64, 0_u64, 0_u64, 0_u64);
        libc::prctl(libc::PR_SET_PDEATHSIG, 0_u64, 0_u64, 0_u64, 0_u64);
        libc::prctl(libc::PR_SET_NAME, c"iolag-guard".as_ptr());
        // A probe that ignores the end of its children would have the kernel forget them.
        libc::signal(libc::SIGCHLD, libc::SIG_DFL);
        libc::sigfillset(signals.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, signals.as_ptr(), std::ptr::null_mut());
        libc::sigemptyset(signals.as_mut_ptr());
        libc::sigaddset(signals.as_mut_ptr(), libc::SIGCHLD);
        let descriptor = libc::signalfd(-1, signals.as_ptr(), libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
        (descriptor >= 0).then(|| OwnedFd::from_raw_fd(descriptor))
    }
}

fn follow_orders(
    mut launches: Vec<Launch>,
    orders: OwnedFd,
    reports: OwnedFd,
    children: &OwnedFd,
) -> Charges {
    let mut running = None;
    loop {
        let mut waited = [PollFd::new(children, PollFlags::IN), PollFd::new(&orders, PollFlags::IN)];
        // Interrupted or not, both are looked at.
        let _ = poll(&mut waited, None);
        let [has_ended, has_order] = [&waited[0], &waited[1]].map(|one| !one.revents().is_empty());
        if has_ended {
            forget_signals(children);
            while let Some((process, status, usage)) = reap() {
                if running == Some(process) {
                    running = None;
                    tell(&reports, Report::Ended(status, usage));
                }
            }
        }
        if has_order {
            let mut order = [0];
            match read(&orders, &mut order) {
                Ok(1) if order == [LET_GO] => return Charges::LetGo,
                Ok(1) => match launches.get_mut(usize::from(order[0])).map(Launch::start) {
                    Some(Ok(process)) => {
                        tell(&reports, Report::Started(process));
                        running = i32::try_from(process).ok();
                    }
                    Some(Err(error)) => {
                        let errno = error.raw_os_error().unwrap_or(libc::EIO);
                        tell(&reports, Report::NotStarted(FailureCode::from_errno(errno)));
                    }
                    None => tell(&reports, Report::NotStarted(FailureCode::from_errno(libc::EINVAL))),
                },
                Err(Errno::INTR) => {}
                // The probe is done, or dead.
                Ok(_) | Err(_) => return Charges::Orphaned,
            }
        }
    }
}

/// Kills everything that was started, until the last of it is gone. Who waits in the kernel is waited for.
fn clear_up(children: &OwnedFd) {
    let own = std::process::id();
    let mut look = LOOK_MIN;
    loop {
        while reap().is_some() {}
        if !has_children() {
            return;
        }
        kill_descendants(own);
        let mut waited = [PollFd::new(children, PollFlags::IN)];
        if poll(&mut waited, Some(&look.as_timespec())) == Ok(0) {
            look = Nanoseconds(look.0 * 2).min(LOOK_MAX);
        }
        forget_signals(children);
    }
}

/// The next child that has ended, if any, with its status and what it and all it waited for used.
fn reap() -> Option<(i32, i32, Usage)> {
    let mut status = 0;
    let mut record = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the kernel writes to memory of this frame; zeroes are a valid record too.
    let (process, record) = unsafe {
        let process = libc::wait4(-1, &raw mut status, libc::WNOHANG, record.as_mut_ptr());
        (process, record.assume_init())
    };
    (process > 0).then(|| (process, status, Usage::from_kernel(&record)))
}

fn has_children() -> bool {
    use rustix::process::{WaitId, WaitIdOptions, waitid};
    let looking = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(waitid(WaitId::All, looking), Err(Errno::CHILD))
}

fn tell(reports: &OwnedFd, report: Report) {
    // A probe that is gone needs no report; its end shows in the orders.
    let _ = write(reports, &report.to_bytes());
}

fn forget_signals(children: &OwnedFd) {
    let mut record = [0; 128 * 4];
    while read(children, &mut record).is_ok_and(|bytes| bytes > 0) {}
}

/// Descriptors that the guard needs, besides its own.
fn kept(launches: &[Launch]) -> Vec<i32> {
    launches.iter().flat_map(|launch| launch.kept().iter().map(AsRawFd::as_raw_fd)).collect()
}

/// Closes every descriptor that is not needed. The standard streams lead nowhere then: they are the probe's, but their
/// numbers must not become those of other descriptors, which a program that is started would get for its own.
fn close_all_but(mut needed: Vec<RawFd>) {
    // SAFETY: the path ends with NUL; numbers that are needed are left as they are.
    unsafe {
        let nowhere = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR | libc::O_CLOEXEC);
        for stream in (0..=2).filter(|stream| !needed.contains(stream)) {
            libc::dup2(nowhere, stream);
        }
    }
    needed.retain(|descriptor| *descriptor > 2);
    needed.sort_unstable();
    let mut first = 3;
    for needed in needed {
        close_range(first, needed - 1);
        first = needed + 1;
    }
    close_range(first, RawFd::MAX);
}

fn close_range(first: RawFd, last: RawFd) {
    if first > last {
        return;
    }
    // SAFETY: what is closed belongs to objects of the probe, of which this copy uses none.
    unsafe {
        if libc::syscall(libc::SYS_close_range, first as u32, last as u32, 0_u32) == -1 {
            // Kernels before 5.9.
            for descriptor in first..=last.min(DESCRIPTORS_MAX) {
                libc::close(descriptor);
            }
        }
    }
}
