//! Signals as readable events: the keeper blocks them and reads them from a descriptor, so that nothing happens in the
//! middle of something else.

use std::mem::{MaybeUninit, offset_of};
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};

use rustix::io::Errno;

use crate::KeeperError;

/// The signals that a user or a batch system sends to end a run.
const ENDING: [i32; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// From here on what is written past the limit of file sizes (`ulimit -f`) fails, with an error that can be told, instead of ending
/// this process or a child that it forks.
pub fn outlive_file_size_limit() {
    // SAFETY: no handler is installed.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

/// From here on Ctrl-\\ is for whoever else is at the terminal.
pub fn outlive_quit() {
    // SAFETY: no handler is installed.
    unsafe { libc::signal(libc::SIGQUIT, libc::SIG_IGN) };
}

/// A source of signals.
#[derive(Debug)]
pub struct Signals {
    descriptor: OwnedFd,
}

impl Signals {
    /// Blocks the ending signals for this thread and those that it starts, and reads them from here on.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn block() -> Result<Self, KeeperError> {
        Self::block_those(&ENDING)
    }

    /// The same with what a terminal sends at Ctrl-Z: for who has to stop others with itself.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn block_stop() -> Result<Self, KeeperError> {
        Self::block_those(&[libc::SIGTSTP])
    }

    fn block_those(signals: &[i32]) -> Result<Self, KeeperError> {
        let failed = || KeeperError::Signals {
            error: Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::INVAL),
        };
        // What the user chose to ignore (nohup, a shell's background) stays ignored: blocked, it would be delivered here.
        let heeded: Vec<i32> = signals.iter().copied().filter(|signal| !is_ignored(*signal)).collect();
        let set = set_of(&heeded);
        // SAFETY: `set` is initialised; the old mask is not asked for.
        if unsafe { libc::sigprocmask(libc::SIG_BLOCK, &set, std::ptr::null_mut()) } != 0 {
            return Err(failed());
        }
        // SAFETY: `set` is initialised; -1 asks for a new descriptor.
        let descriptor = unsafe { libc::signalfd(-1, &set, libc::SFD_NONBLOCK | libc::SFD_CLOEXEC) };
        if descriptor < 0 {
            return Err(failed());
        }
        // SAFETY: a new descriptor that nobody else owns.
        Ok(Self { descriptor: unsafe { OwnedFd::from_raw_fd(descriptor) } })
    }

    /// Becomes readable when a signal has come.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }

    /// The next signal, if one has come. Never blocks.
    pub fn next(&self) -> Option<i32> {
        const NUMBER: usize = offset_of!(libc::signalfd_siginfo, ssi_signo);
        let mut information = [0_u8; size_of::<libc::signalfd_siginfo>()];
        match rustix::io::read(&self.descriptor, &mut information) {
            Ok(read) if read == information.len() => {
                information[NUMBER..].first_chunk().map(|number| i32::from_ne_bytes(*number))
            }
            _ => None,
        }
    }

    /// Leaves a signal for whoever asks next: somebody who waits for something else has met it, and does not decide what it means.
    pub fn put_back(&self, signal: i32) {
        // This thread has it blocked, so it waits.
        // SAFETY: a plain number; raising a signal in one's own thread cannot fail for a valid one.
        unsafe { libc::raise(signal) };
    }
}

fn is_ignored(signal: i32) -> bool {
    let mut action = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: only asks for the present action, which it writes to `action` on success.
    unsafe {
        libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) == 0
            && action.assume_init().sa_sigaction == libc::SIG_IGN
    }
}

/// Gives a forked child the signals that it was born without.
pub(crate) fn unblock_all() {
    let set = set_of(&[&ENDING[..], &[libc::SIGTSTP]].concat());
    // SAFETY: `set` is initialised; unblocking cannot fail for a valid set.
    unsafe { libc::sigprocmask(libc::SIG_UNBLOCK, &set, std::ptr::null_mut()) };
}

fn set_of(signals: &[i32]) -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: sigemptyset initialises the set; the signal numbers are valid.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        for signal in signals {
            libc::sigaddset(set.as_mut_ptr(), *signal);
        }
        set.assume_init()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_that_is_put_back_comes_again() {
        let signals = Signals::block().unwrap();
        // SAFETY: blocked in this thread, which alone gets it.
        unsafe { libc::raise(libc::SIGTERM) };
        assert_eq!(signals.next(), Some(libc::SIGTERM));
        assert_eq!(signals.next(), None);
        signals.put_back(libc::SIGTERM);
        // Also for whoever asks by another descriptor.
        let others = Signals::block().unwrap();
        assert_eq!(others.next(), Some(libc::SIGTERM));
        assert_eq!((signals.next(), others.next()), (None, None));
    }
}
