//! What a forked child leaves behind before it does anything that may hang: the keeper's descriptors, locks among them, its
//! terminal, and the right to fill the disk with a core.

use std::os::fd::{AsRawFd, BorrowedFd, RawFd};

use rustix::fs::{Mode, OFlags};
use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};

/// To be called in a child: it reads and prints nothing from here on, has no descriptor but `kept`, and dumps no core.
/// Nobody may use the other descriptors in this process afterwards, nor drop their owners.
pub fn leave_inheritance(kept: &[BorrowedFd<'_>]) {
    leave_standard_streams();
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    let mut kept: Vec<RawFd> = kept.iter().map(AsRawFd::as_raw_fd).filter(|kept| *kept > 2).collect();
    kept.sort_unstable();
    let mut first = 3;
    for descriptor in kept {
        close_from_to(first, descriptor - 1);
        first = descriptor + 1;
    }
    close_from_to(first, RawFd::MAX);
}

/// To be called in a child: it reads and prints nothing from here on.
pub fn leave_standard_streams() {
    // A child that keeps a stream works all the same, so a failure is not worth more words.
    if let Ok(nothing) = rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()) {
        let _ = (dup2_stdin(&nothing), dup2_stdout(&nothing), dup2_stderr(&nothing));
    }
}

fn close_from_to(first: RawFd, last: RawFd) {
    if first > last {
        return;
    }
    // SAFETY: the caller gives these descriptors up; closing those that are not open does nothing.
    let closed = unsafe { libc::syscall(libc::SYS_close_range, first as u32, last as u32, 0_u32) };
    if closed != 0 {
        // Before Linux 5.9.
        let limit = rustix::process::getrlimit(Resource::Nofile).current.unwrap_or(1 << 16);
        for descriptor in first..=last.min(limit.min(1 << 20) as RawFd) {
            // SAFETY: as above.
            unsafe { libc::close(descriptor) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Child, Ending, Orphanage};
    use iolag_model::Nanoseconds;
    use std::os::fd::AsFd;

    #[test]
    fn a_child_keeps_only_what_it_is_to_keep() {
        let kept = tempfile::tempfile().unwrap();
        let left = tempfile::tempfile().unwrap();
        let mut child = Child::fork_apart("test", Orphanage::Die, || {
            leave_inheritance(&[kept.as_fd()]);
            let is_open = |descriptor: RawFd| {
                // SAFETY: only asks.
                unsafe { libc::fcntl(descriptor, libc::F_GETFD) >= 0 }
            };
            let open = [0, 1, 2, kept.as_raw_fd(), left.as_raw_fd()].map(is_open);
            i32::from(open != [true, true, true, true, false])
        })
        .unwrap();
        assert_eq!(child.wait(Nanoseconds::from_seconds(20)), Some(Ending::Exited(0)));
    }
}
