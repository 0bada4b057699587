//! Strays: children of this process that nobody looks after any more, such as one that was asked a question about a file system that
//! did not answer, could not be ended, and was given up.
//!
//! When such a child ends at last its entry stays in the process table until its parent has asked how. Who runs for months does
//! so for all of them, once the owners of the others have asked for theirs.

use rustix::process::Pid;

/// Lets the kernel forget the children of this thread that have ended, up to the first that is somebody's, as `is_owned` says of a
/// process id. Never blocks. Children of other threads are left alone.
pub fn reap_strays(is_owned: impl Fn(u32) -> bool) {
    while let Some(process) = ended_child().filter(|process| !is_owned(process.as_raw_nonzero().get() as u32))
    {
        // SAFETY: asks for the end of a child that has ended, and stores nothing.
        let reaped = unsafe {
            let flags = libc::WNOHANG | libc::__WNOTHREAD;
            libc::waitpid(process.as_raw_nonzero().get(), std::ptr::null_mut(), flags)
        };
        if reaped <= 0 {
            return;
        }
    }
}

/// A child of this thread that has ended; it stays as it is.
fn ended_child() -> Option<Pid> {
    let mut found = std::mem::MaybeUninit::<libc::siginfo_t>::zeroed();
    let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT | libc::__WNOTHREAD;
    // SAFETY: the kernel writes no more than this structure, which is all zero, hence valid, if it does not.
    let answer = unsafe { libc::waitid(libc::P_ALL, 0, found.as_mut_ptr(), flags) };
    // SAFETY: as above; the process id is zero if there is no such child.
    let process = unsafe { found.assume_init().si_pid() };
    Pid::from_raw(process).filter(|_| answer == 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::children::evidence::{is_zombie, start_ticks};
    use crate::{Child, Ending, Orphanage};
    use iolag_model::Nanoseconds;

    fn ended(status: i32) -> Child {
        let child = Child::fork("test", Orphanage::Die, || status).unwrap();
        while !is_zombie(child.id()) {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        child
    }

    #[test]
    fn only_children_that_are_nobodys_are_forgotten() {
        let stray = ended(3).id();
        let running = Child::fork("test", Orphanage::Die, || {
            std::thread::sleep(std::time::Duration::from_secs(600));
            0
        });
        reap_strays(|_| false);
        assert_eq!(start_ticks(stray), None, "its entry is gone");
        let mut running = running.unwrap();
        assert_eq!(running.ending(), None);
        let mut owned = ended(7);
        let id = owned.id();
        reap_strays(|process| process == id);
        assert_eq!(owned.wait(Nanoseconds::from_seconds(60)), Some(Ending::Exited(7)));
        assert!(running.end(Nanoseconds::from_seconds(60)).is_some());
        reap_strays(|_| false);
    }

    #[test]
    fn children_of_other_threads_are_left_alone() {
        let (mut child, before) = std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                let child = ended(5);
                let before = start_ticks(child.id());
                std::thread::scope(|inner| inner.spawn(|| reap_strays(|_| false)).join()).unwrap();
                (child, before)
            });
            other.join().unwrap()
        });
        assert!(before.is_some());
        assert_eq!(child.wait(Nanoseconds::from_seconds(60)), Some(Ending::Exited(5)));
    }
}
