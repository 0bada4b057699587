//! What iolag changes of itself that programs would inherit, and what they are given instead: they are a user's, and run as if the user
//! had started them.

use std::sync::OnceLock;

const FILTER: &std::ffi::CStr = c"/proc/self/coredump_filter";

/// What the filter was, as it is written.
static FORMER_FILTER: OnceLock<Vec<u8>> = OnceLock::new();

/// From here on no core of this process, or of a child that it forks, holds any of its memory: passwords are in there.
pub fn withhold_core_dumps() {
    // Without /proc the filter is what it was.
    let Ok(filter) = std::fs::read_to_string("/proc/self/coredump_filter") else { return };
    FORMER_FILTER.get_or_init(|| format!("0x{}", filter.trim()).into_bytes());
    write_filter(b"0");
}

/// The reverse, for a program that is started next. Only makes system calls that are allowed between fork and exec.
pub fn allow_core_dumps() {
    if let Some(filter) = FORMER_FILTER.get() {
        write_filter(filter);
    }
}

/// Signals and core dumps as a user's programs have them. Only makes system calls that are allowed between fork and exec.
pub fn become_a_users_program() {
    // SAFETY: system calls on this process alone, async-signal-safe, with memory of this frame.
    unsafe {
        // SIGKILL and SIGSTOP refuse, which changes nothing.
        for signal in 1..=31 {
            libc::signal(signal, libc::SIG_DFL);
        }
        let mut none = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
        libc::sigemptyset(none.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), std::ptr::null_mut());
    }
    allow_core_dumps();
}

fn write_filter(filter: &[u8]) {
    // SAFETY: system calls that are allowed between fork and exec, on memory that outlives them. One that fails changes nothing.
    unsafe {
        let file = libc::open(FILTER.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        if file >= 0 {
            libc::write(file, filter.as_ptr().cast(), filter.len());
            libc::close(file);
        }
    }
}
