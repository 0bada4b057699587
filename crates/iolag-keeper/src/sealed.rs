//! Running from memory: the keeper must not page itself in from a file system that hangs.
//!
//! The program copies itself into an anonymous file, seals that, and continues from it. Afterwards neither its own binary's
//! file system nor the home directory is needed. What stays outside are the shared libraries of the C library, which a
//! static build does not have.

use std::ffi::{CString, OsString};
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::OpenOptionsExt;

use iolag_model::Nanoseconds;
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use rustix::io::Errno;

use crate::{Child, Ending, Orphanage};

const MEMORY_NAME: &str = "/memfd:iolag";

/// Where the program runs from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Residence {
    /// From sealed memory.
    Memory,
    /// From its file: the kernel did not allow the other.
    File,
}

/// Continues from sealed memory, unless it does so already. Returns only there, or where that is impossible.
pub fn move_into_memory() -> Residence {
    let executable = std::fs::read_link("/proc/self/exe").unwrap_or_default();
    if executable.to_string_lossy().starts_with(MEMORY_NAME) {
        // The kernel names the process after the descriptor that it was started from.
        let _ = rustix::thread::set_name(c"iolag");
        return Residence::Memory;
    }
    // Only a failure returns.
    let _ = execute_copy();
    Residence::File
}

fn execute_copy() -> Result<(), Errno> {
    let sealed = File::from(executable_memory()?);
    copy_program_into(&sealed)?;
    fcntl_add_seals(&sealed, SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE | SealFlags::SEAL)?;
    let arguments = c_strings(std::env::args_os());
    let environment = c_strings(std::env::vars_os().map(|(name, value)| {
        let mut variable = name;
        variable.push("=");
        variable.push(value);
        variable
    }));
    execute(sealed.as_fd(), &arguments, &environment)
}

/// Memory that programs may be started from. `MFD_EXEC` says so where the kernel asks for it (from 6.3 on, by
/// `vm.memfd_noexec`); older ones do not know it.
fn executable_memory() -> Result<OwnedFd, Errno> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    match memfd_create(c"iolag", flags | MemfdFlags::EXEC) {
        Err(Errno::INVAL) => memfd_create(c"iolag", flags),
        made => made,
    }
}

/// The binary's file system may hang already: a child reads it, and is not waited for without end.
fn copy_program_into(memory: &File) -> Result<(), Errno> {
    const DEADLINE: Nanoseconds = Nanoseconds::from_seconds(5);
    const GRACE: Nanoseconds = Nanoseconds::from_milliseconds(100);
    let copy = || -> std::io::Result<u64> {
        let mut source =
            std::fs::OpenOptions::new().read(true).custom_flags(libc::O_CLOEXEC).open("/proc/self/exe")?;
        std::io::copy(&mut source, &mut &*memory)
    };
    let mut child =
        Child::fork("copy", Orphanage::Die, || i32::from(copy().is_err())).map_err(|_| Errno::AGAIN)?;
    match child.wait(DEADLINE) {
        Some(Ending::Exited(0)) => Ok(()),
        Some(_) => Err(Errno::IO),
        None => {
            child.end(GRACE);
            Err(Errno::TIMEDOUT)
        }
    }
}

fn execute(
    program: std::os::fd::BorrowedFd<'_>,
    arguments: &[CString],
    environment: &[CString],
) -> Result<(), Errno> {
    use std::os::fd::AsRawFd;
    let pointers = |texts: &[CString]| -> Vec<*const libc::c_char> {
        texts.iter().map(|text| text.as_ptr()).chain([std::ptr::null()]).collect()
    };
    let (arguments, environment) = (pointers(arguments), pointers(environment));
    // SAFETY: both arrays end with a null pointer and outlive the call; on success it does not return.
    unsafe {
        libc::syscall(
            libc::SYS_execveat,
            program.as_raw_fd(),
            c"".as_ptr(),
            arguments.as_ptr(),
            environment.as_ptr(),
            libc::AT_EMPTY_PATH,
        )
    };
    Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::NOEXEC))
}

fn c_strings(texts: impl Iterator<Item = OsString>) -> Vec<CString> {
    // The kernel's strings contain no NUL, so none is left out.
    texts.filter_map(|text| CString::new(text.into_vec()).ok()).collect()
}
