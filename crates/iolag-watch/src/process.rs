//! The process of a probe: forked by this watch, or left by an earlier one.

use std::os::fd::BorrowedFd;

use iolag_keeper::{Adopted, Child, Consumption, KeeperError, Orphanage, leave_inheritance};
use iolag_model::{MonotonicClock, Nanoseconds};
use iolag_workload::ProbeTask;
use rustix::process::Signal;

use crate::place::{Place, mount_number};
use crate::{AtDeadline, Stamps};

/// How often a process is looked at where the kernel cannot tell of its end.
pub(crate) const LOOK: Nanoseconds = Nanoseconds::from_milliseconds(20);

/// A probe's process.
#[derive(Debug)]
pub(crate) enum ProbeProcess {
    /// A child of this watch.
    Ours(Child),
    /// Left by an earlier watch.
    Adopted(Adopted),
}

/// What is learnt at the end of a process.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProcessEnd {
    /// What it used; not known of an adopted one.
    pub consumption: Option<Consumption>,
}

impl ProbeProcess {
    pub fn id(&self) -> u32 {
        match self {
            Self::Ours(child) => child.id(),
            Self::Adopted(adopted) => adopted.id(),
        }
    }

    pub fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Self::Ours(child) => child.descriptor(),
            Self::Adopted(adopted) => adopted.descriptor(),
        }
    }

    /// Whether it has ended. Never blocks. What it left in its group is killed.
    pub fn end(&mut self) -> Option<ProcessEnd> {
        match self {
            Self::Ours(child) => {
                child.ending()?;
                Some(ProcessEnd { consumption: child.consumption() })
            }
            Self::Adopted(adopted) => adopted.has_ended().then_some(ProcessEnd { consumption: None }),
        }
    }

    pub fn signal(&mut self, signal: Signal) {
        match self {
            Self::Ours(child) => child.signal_group(signal),
            Self::Adopted(adopted) => adopted.signal_group(signal),
        }
    }
}

/// Forks the child that executes a task in its place. One that is to be ended at its deadline dies with the watch, since nobody else
/// would end it; one that is waited for goes on, and the next watch adopts it.
pub(crate) fn start_probe(
    place: &Place,
    task: impl FnOnce() -> Box<dyn ProbeTask>,
    stamps: &Stamps,
    at_deadline: AtDeadline,
) -> Result<ProbeProcess, KeeperError> {
    let orphanage = match at_deadline {
        AtDeadline::End { .. } => Orphanage::Die,
        AtDeadline::Wait => Orphanage::Survive,
    };
    let body = || {
        leave_inheritance(&[]);
        // Only for who looks at the process table.
        let _ = rustix::thread::set_name(c"iolag-probe");
        execute(place, task(), stamps);
        0
    };
    Child::fork_apart("probe", orphanage, body).map(ProbeProcess::Ours)
}

fn execute(place: &Place, mut task: Box<dyn ProbeTask>, stamps: &Stamps) {
    use std::os::fd::AsFd;
    let mut recorder = stamps.recorder(MonotonicClock);
    let opened = match place.open() {
        Ok(opened) => opened,
        Err(error) => return recorder.failed(&error),
    };
    recorder.opened(mount_number(opened.as_fd()));
    if let Err(error) = task.prepare(opened.as_fd()) {
        return recorder.failed(&error);
    }
    recorder.prepared();
    task.perform(opened.as_fd(), &mut recorder);
}
