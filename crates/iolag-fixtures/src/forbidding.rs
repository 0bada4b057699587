//! A system that forbids a call, as the filter of a container does (`seccomp(2)`).

use std::io;

/// From now on the calling thread, and all that it starts, gets EPERM for the call with this number. Makes nothing but two system calls, so that it
/// may stand between fork and exec.
///
/// # Errors
/// If the system has no such filters.
pub fn forbid(call: libc::c_long) -> io::Result<()> {
    let statement = |code: u32, k: u32, jt, jf| libc::sock_filter { code: code as u16, jt, jf, k };
    let mut filter = [
        // The number of the call is what a filter sees first.
        statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        statement(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, call as u32, 0, 1),
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32, 0, 0),
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW, 0, 0),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: the program and its statements live until the kernel has copied them.
    let refused = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
            || libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) != 0
    };
    if refused { Err(io::Error::last_os_error()) } else { Ok(()) }
}
