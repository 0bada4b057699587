//! Children: forked, not started from a file, since loading a program from a hung file system would block; waited for by
//! descriptor, never blocking; ended politely, then by force, then abandoned and named.
//!
//! Every child leads a process group of its own, so that Ctrl-C at the terminal reaches the keeper alone, and so that what
//! a measurer started (a compiler, an `ls`) can be ended with it. A child dies with the keeper if it can.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use iolag_model::{Clock, MonotonicClock, Nanoseconds};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, getpid, getppid, kill_process, kill_process_group,
    pidfd_open, set_parent_process_death_signal, setpgid, setsid, test_kill_process_group, waitid,
};

use crate::KeeperError;

/// How often a child is looked at where the kernel cannot tell of its end.
const LOOK: Nanoseconds = Nanoseconds::from_milliseconds(2);

/// A forked process.
#[derive(Debug)]
pub struct Child {
    process: Pid,
    /// Absent on kernels before 5.3, where the child is looked at in short intervals instead.
    descriptor: Option<OwnedFd>,
    role: &'static str,
    ending: Option<Ending>,
    consumption: Option<Consumption>,
}

/// What a child used, itself and everything that it waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Consumption {
    /// User and system time.
    pub processor: [Nanoseconds; 2],
    /// Largest resident size of one process, in bytes.
    pub resident_bytes_max: u64,
}

/// How a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// By itself, with this status.
    Exited(i32),
    /// By this signal.
    Killed(i32),
}

/// What becomes of a child when the keeper is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Orphanage {
    /// It is killed: what it measured is in shared memory.
    Die,
    /// It lives on, to bring what is in shared memory into the spool.
    Survive,
}

impl Child {
    /// Forks a child that runs `body` and exits with the status that it returns. The caller has a single thread.
    ///
    /// # Errors
    /// If the kernel has no process left.
    pub fn fork(
        role: &'static str,
        orphanage: Orphanage,
        body: impl FnOnce() -> i32,
    ) -> Result<Self, KeeperError> {
        Self::fork_into(role, orphanage, Company::Group, body)
    }

    /// The same in a session of its own, without a terminal.
    ///
    /// # Errors
    /// If the kernel has no process left.
    pub fn fork_apart(
        role: &'static str,
        orphanage: Orphanage,
        body: impl FnOnce() -> i32,
    ) -> Result<Self, KeeperError> {
        Self::fork_into(role, orphanage, Company::Session, body)
    }

    /// The same in the keeper's own group, and with it at the terminal: what a user types there reaches it, too, and what it starts.
    /// Ending it ends nothing that it started.
    ///
    /// # Errors
    /// If the kernel has no process left.
    pub fn fork_beside(
        role: &'static str,
        orphanage: Orphanage,
        body: impl FnOnce() -> i32,
    ) -> Result<Self, KeeperError> {
        Self::fork_into(role, orphanage, Company::Keeper, body)
    }

    fn fork_into(
        role: &'static str,
        orphanage: Orphanage,
        company: Company,
        body: impl FnOnce() -> i32,
    ) -> Result<Self, KeeperError> {
        let parent = getpid();
        // SAFETY: the keeper has one thread, so the child's copy of every lock is free and its memory is consistent.
        let forked = unsafe { libc::fork() };
        match forked {
            -1 => Err(KeeperError::Fork { role, error: last_error() }),
            0 => {
                prepare_child(parent, orphanage, company);
                let status = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body)).unwrap_or(70);
                // SAFETY: ends the child at once; the parent's exit handlers and buffers are not the child's to run.
                unsafe { libc::_exit(status) }
            }
            process => {
                let process = Pid::from_raw(process).expect("fork returns a positive process id");
                if company == Company::Group {
                    // Both sides set the group, so that it is set whoever runs first. Who leads a group cannot begin a session.
                    let _ = setpgid(Some(process), Some(process));
                }
                let descriptor = pidfd_open(process, PidfdFlags::empty()).ok();
                Ok(Self { process, descriptor, role, ending: None, consumption: None })
            }
        }
    }

    /// The process id.
    pub fn id(&self) -> u32 {
        self.process.as_raw_nonzero().get() as u32
    }

    /// What it is for.
    pub const fn role(&self) -> &'static str {
        self.role
    }

    /// Becomes readable when the child ends, where the kernel has such descriptors.
    pub fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.descriptor.as_ref().map(AsFd::as_fd)
    }

    /// How it ended, if it has. Never blocks. Whatever the child had started and left behind is killed before its process id
    /// can be used again.
    pub fn ending(&mut self) -> Option<Ending> {
        if self.ending.is_none() {
            let looking = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
            if let Ok(Some(status)) = waitid(WaitId::Pid(self.process), looking | WaitIdOptions::NOWAIT) {
                self.ending = Some(match status.terminating_signal() {
                    Some(signal) => Ending::Killed(signal),
                    None => Ending::Exited(status.exit_status().unwrap_or(0)),
                });
                self.signal_group(Signal::KILL);
                // It has ended, so this does not wait.
                self.consumption = reap(self.process);
            }
        }
        self.ending
    }

    /// What it used; known once it has ended.
    pub const fn consumption(&self) -> Option<Consumption> {
        self.consumption
    }

    /// Waits up to `limit` for the end.
    pub fn wait(&mut self, limit: Nanoseconds) -> Option<Ending> {
        let until = MonotonicClock.now().after(limit);
        loop {
            if let Some(ending) = self.ending() {
                return Some(ending);
            }
            let left = until.since(MonotonicClock.now());
            if left == Nanoseconds::ZERO {
                return None;
            }
            match &self.descriptor {
                Some(descriptor) => {
                    // Interrupted or not, the loop looks again.
                    let _ = poll(&mut [PollFd::new(descriptor, PollFlags::IN)], Some(&left.as_timespec()));
                }
                None => std::thread::sleep(left.min(LOOK).as_duration()),
            }
        }
    }

    /// Sends a signal to the child.
    pub fn signal(&self, signal: Signal) {
        // A child that is gone needs no signal, and until it is reaped nobody else has its id.
        if self.ending.is_none() {
            let _ = kill_process(self.process, signal);
        }
    }

    /// Sends a signal to the child and everything that it started.
    pub fn signal_group(&self, signal: Signal) {
        if kill_process_group(self.process, signal).is_err() {
            // It has not come as far as leading a group.
            self.signal(signal);
        }
    }

    /// Whether something that the child started is still there, after the child itself has ended and all were killed: it
    /// waits in the kernel. Waits up to `limit` for it to go. What has ended and was not asked for yet, as the first process of a
    /// container may leave it, is gone.
    pub fn has_left_something(&self, limit: Nanoseconds) -> bool {
        let until = MonotonicClock.now().after(limit);
        while test_kill_process_group(self.process).is_ok() {
            if MonotonicClock.now() >= until {
                return super::family::is_living_group(self.id());
            }
            std::thread::sleep(LOOK.as_duration());
        }
        false
    }

    /// Ends the child: SIGTERM to its group, `grace`, SIGKILL to its group, `grace`. `None` if it still lives: then it waits
    /// in the kernel and cannot be ended by anybody; it is to be named and left behind.
    pub fn end(&mut self, grace: Nanoseconds) -> Option<Ending> {
        for signal in [Signal::TERM, Signal::KILL] {
            if let Some(ending) = self.ending() {
                return Some(ending);
            }
            self.signal_group(signal);
            if let Some(ending) = self.wait(grace) {
                return Some(ending);
            }
        }
        None
    }
}

/// Whom a child is with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Company {
    Group,
    Session,
    Keeper,
}

/// Lets the kernel forget a child that has ended, and learns what it used.
fn reap(process: Pid) -> Option<Consumption> {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    let mut status = 0;
    // SAFETY: both are written by the kernel; `usage` is all zero, hence valid, if it is not.
    let reaped = unsafe {
        libc::wait4(process.as_raw_nonzero().get(), &mut status, libc::WNOHANG, usage.as_mut_ptr())
    };
    // SAFETY: as above.
    let usage = unsafe { usage.assume_init() };
    let nanoseconds =
        |time: libc::timeval| Nanoseconds(time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1000);
    (reaped > 0).then(|| Consumption {
        processor: [nanoseconds(usage.ru_utime), nanoseconds(usage.ru_stime)],
        resident_bytes_max: usage.ru_maxrss as u64 * 1024,
    })
}

fn prepare_child(parent: Pid, orphanage: Orphanage, company: Company) {
    let _ = match company {
        Company::Group => setpgid(None, None),
        Company::Session => setsid().map(|_| ()),
        Company::Keeper => Ok(()),
    };
    crate::signals::unblock_all();
    if orphanage == Orphanage::Die {
        let _ = set_parent_process_death_signal(Some(Signal::KILL));
        // The parent may have died before the request was made.
        if getppid() != Some(parent) {
            // SAFETY: ends this process at once.
            unsafe { libc::_exit(0) }
        }
    }
}

fn last_error() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::AGAIN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const LIMIT: Nanoseconds = Nanoseconds::from_seconds(60);

    #[test]
    fn a_child_ends_with_its_status() {
        let mut child = Child::fork("test", Orphanage::Die, || 7).unwrap();
        assert_eq!(child.wait(LIMIT), Some(Ending::Exited(7)));
        assert_eq!(child.ending(), Some(Ending::Exited(7)));
    }

    #[test]
    fn a_child_that_ignores_sigterm_is_killed_with_its_group() {
        let words = crate::SharedWords::<[crate::Word; 1]>::new().unwrap();
        let theirs = words.clone();
        let mut child = Child::fork("test", Orphanage::Die, move || {
            // SAFETY: only changes the disposition of a signal.
            unsafe { libc::signal(libc::SIGTERM, libc::SIG_IGN) };
            theirs[0].store(1);
            loop {
                std::thread::sleep(Duration::from_secs(1));
            }
        })
        .unwrap();
        while words[0].load() == 0 {
            assert_eq!(child.wait(Nanoseconds::from_milliseconds(1)), None);
        }
        // The second grace is for the killed one to be gone, on a busy machine too.
        let ending = child.end(Nanoseconds::from_seconds(2)).or_else(|| child.wait(LIMIT));
        assert_eq!(ending, Some(Ending::Killed(libc::SIGKILL)));
    }

    #[test]
    fn a_child_apart_leads_a_session_and_takes_what_it_started_along() {
        let words = crate::SharedWords::<[crate::Word; 2]>::new().unwrap();
        let theirs = words.clone();
        let mut child = Child::fork_apart("test", Orphanage::Die, move || {
            theirs[0].store(u64::from(rustix::process::getsid(None).unwrap() == getpid()));
            // SAFETY: this process has one thread; the grandchild only sleeps.
            let grandchild = unsafe { libc::fork() };
            if grandchild == 0 {
                loop {
                    std::thread::sleep(Duration::from_secs(1));
                }
            }
            theirs[1].store(grandchild as u64);
            0
        })
        .unwrap();
        assert_eq!(child.wait(LIMIT), Some(Ending::Exited(0)));
        assert_eq!(words[0].load(), 1);
        assert!(child.consumption().unwrap().resident_bytes_max > 0);
        assert!(!child.has_left_something(LIMIT));
    }

    #[test]
    fn what_has_ended_and_is_not_asked_for_is_not_left() {
        let words = crate::SharedWords::<[crate::Word; 2]>::new().unwrap();
        let theirs = words.clone();
        let sleep_on = || loop {
            std::thread::sleep(Duration::from_secs(1));
        };
        let mut child = Child::fork("test", Orphanage::Die, move || {
            let group = getpid();
            // SAFETY: these processes have one thread each; one sleeps until it is killed, the other ends at once.
            let lazy = unsafe { libc::fork() };
            if lazy == 0 {
                let _ = setpgid(None, None);
                // SAFETY: as above.
                let ended = unsafe { libc::fork() };
                if ended == 0 {
                    let _ = setpgid(None, Some(group));
                    // SAFETY: ends this process at once.
                    unsafe { libc::_exit(0) }
                }
                theirs[1].store(ended as u64);
                sleep_on();
            }
            while theirs[1].load() == 0 || !crate::children::evidence::is_zombie(theirs[1].load() as u32) {
                std::thread::sleep(LOOK.as_duration());
            }
            theirs[0].store(lazy as u64);
            0
        })
        .unwrap();
        assert_eq!(child.wait(LIMIT), Some(Ending::Exited(0)));
        let left = child.has_left_something(LOOK);
        // The one that does not ask is left in no test's way.
        let _ = kill_process(Pid::from_raw(words[0].load() as i32).unwrap(), Signal::KILL);
        assert!(!left);
    }

    #[test]
    fn a_panicking_child_is_a_bug_and_says_so_by_its_status() {
        let mut child = Child::fork("test", Orphanage::Die, || panic!("on purpose")).unwrap();
        assert_eq!(child.wait(LIMIT), Some(Ending::Exited(70)));
    }
}
