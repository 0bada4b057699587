//! Processes that an earlier keeper left behind: not children of this one, but watched until they end.
//!
//! A process is known by its id and its start, so that a reused id is never taken for it. How it ended cannot be learnt,
//! only when.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use iolag_model::Nanoseconds;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, kill_process_group, pidfd_open, pidfd_send_signal, waitid,
};

use super::evidence::{is_zombie, start_ticks};

/// A process that somebody else started.
#[derive(Debug)]
pub struct Adopted {
    process: Pid,
    start_ticks: u64,
    /// Absent on kernels before 5.3, where /proc is looked at instead.
    descriptor: Option<OwnedFd>,
    has_ended: bool,
}

impl Adopted {
    /// The living process with this id that started at this tick since boot; `None` if there is none any more.
    pub fn open(process: u32, start_ticks: u64) -> Option<Self> {
        let process = Pid::from_raw(i32::try_from(process).ok()?)?;
        // Opened before its start is compared: from here on the descriptor means one process only.
        let descriptor = pidfd_open(process, PidfdFlags::empty()).ok();
        let mut adopted = Self { process, start_ticks, descriptor, has_ended: false };
        (adopted.is_the_same() && !adopted.has_ended()).then_some(adopted)
    }

    /// The process id.
    pub fn id(&self) -> u32 {
        self.process.as_raw_nonzero().get() as u32
    }

    /// Becomes readable when the process ends, where the kernel has such descriptors.
    pub fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.descriptor.as_ref().map(AsFd::as_fd)
    }

    /// Its start in clock ticks since boot.
    pub const fn start_ticks(&self) -> u64 {
        self.start_ticks
    }

    /// Whether it has ended. Never blocks. What it left in its process group is killed then.
    pub fn has_ended(&mut self) -> bool {
        if self.has_ended {
            return true;
        }
        self.has_ended = match &self.descriptor {
            Some(descriptor) => {
                let at_once = Nanoseconds::ZERO.as_timespec();
                poll(&mut [PollFd::new(descriptor, PollFlags::IN)], Some(&at_once))
                    .is_ok_and(|ready| ready > 0)
            }
            None => !self.is_the_same() || is_zombie(self.id()),
        };
        // While the group has members its number is given to nobody else; once there is a new process of that number, there are none.
        if self.has_ended && (self.is_the_same() || start_ticks(self.id()).is_none()) {
            let _ = kill_process_group(self.process, Signal::KILL);
        }
        if self.has_ended {
            // It may be a child of this very process, of an earlier watch in it: then it is forgotten now.
            let _ = waitid(WaitId::Pid(self.process), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
        }
        self.has_ended
    }

    /// Sends a signal to the process and its group.
    pub fn signal_group(&mut self, signal: Signal) {
        if self.has_ended() {
            return;
        }
        match &self.descriptor {
            Some(descriptor) => drop(pidfd_send_signal(descriptor, signal)),
            None => drop(rustix::process::kill_process(self.process, signal)),
        }
        let _ = kill_process_group(self.process, signal);
    }

    fn is_the_same(&self) -> bool {
        start_ticks(self.id()) == Some(self.start_ticks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Child, Orphanage};

    #[test]
    fn only_the_same_process_is_adopted_and_its_end_is_noticed() {
        let mut child = Child::fork_apart("test", Orphanage::Die, || {
            std::thread::sleep(std::time::Duration::from_secs(600));
            0
        })
        .unwrap();
        let ticks = start_ticks(child.id()).unwrap();
        assert!(Adopted::open(child.id(), ticks + 1).is_none());
        let mut adopted = Adopted::open(child.id(), ticks).unwrap();
        assert!(!adopted.has_ended());
        adopted.signal_group(Signal::KILL);
        assert!(child.wait(Nanoseconds::from_seconds(60)).is_some());
        assert!(adopted.has_ended());
        assert!(Adopted::open(child.id(), ticks).is_none());
    }

    #[test]
    fn impossible_ids_are_nobody() {
        assert!(Adopted::open(0, 1).is_none());
        assert!(Adopted::open(u32::MAX, 1).is_none());
    }
}
