//! Waiting for whichever comes first: one call for all children, signals and pipes, and no looking in between.

use std::os::fd::BorrowedFd;

use iolag_model::Nanoseconds;
use rustix::event::{PollFd, PollFlags, poll};

/// What is waited for.
#[derive(Debug, Clone, Copy)]
pub enum Awaited<'a> {
    /// Something to read, or the end: of a process by its pidfd, a signal, a pipe.
    Readable(BorrowedFd<'a>),
    /// A change of a file of the kernel that announces changes, as /proc/self/mountinfo does.
    Changed(BorrowedFd<'a>),
}

/// Waits until something has come, or for `limit`; without a limit until something comes. Says of each whether it has come; a
/// signal that is caught elsewhere ends the waiting early.
pub fn wait_for_any(awaited: &[Awaited<'_>], limit: Option<Nanoseconds>) -> Vec<bool> {
    let mut descriptors: Vec<PollFd<'_>> = awaited
        .iter()
        .map(|one| match *one {
            Awaited::Readable(descriptor) => PollFd::from_borrowed_fd(descriptor, PollFlags::IN),
            Awaited::Changed(descriptor) => PollFd::from_borrowed_fd(descriptor, PollFlags::PRI),
        })
        .collect();
    let limit = limit.map(Nanoseconds::as_timespec);
    match poll(&mut descriptors, limit.as_ref()) {
        Ok(_) => descriptors.iter().map(|descriptor| !descriptor.revents().is_empty()).collect(),
        Err(_) => vec![false; awaited.len()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Child, Orphanage};

    #[test]
    fn the_end_of_one_of_many_children_is_enough() {
        let sleep = |seconds| {
            move || {
                std::thread::sleep(std::time::Duration::from_secs(seconds));
                0
            }
        };
        let mut slow = Child::fork("test", Orphanage::Die, sleep(600)).unwrap();
        let fast = Child::fork("test", Orphanage::Die, || 0).unwrap();
        let awaited = [&slow, &fast].map(|child| Awaited::Readable(child.descriptor().unwrap()));
        assert_eq!(wait_for_any(&awaited, None), [false, true]);
        assert_eq!(wait_for_any(&awaited[..1], Some(Nanoseconds(1))), [false]);
        slow.end(Nanoseconds::from_seconds(5));
    }
}
