//! Running from memory: the keeper must not page itself in from a file system that hangs.
//!
//! The program copies itself into an anonymous file, seals that, and continues from it. Afterwards neither its own binary's
//! file system nor the home directory is needed. What stays outside are the shared libraries of the C library, which a
//! static build does not have.
//!
//! Secrets among the arguments do not come along: everybody who is logged in may read a command line, for as long as the process runs. The
//! copy is started with a command line without them, and gets them as variables of its environment, which only its owner may read.
//! Limits: until the copy runs, and where the kernel starts no program from memory, the command line is the one that was typed.

use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::OpenOptionsExt;

use iolag_model::Nanoseconds;
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use rustix::io::Errno;

use crate::{Child, Ending, Orphanage};

const MEMORY_NAME: &str = "/memfd:iolag";

/// The argument at a place, from 0, as it was typed: `IOLAG_ARGUMENT_<place>`.
const ARGUMENT_VARIABLE: &str = "IOLAG_ARGUMENT_";

/// Where the program runs from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Residence {
    /// From sealed memory.
    Memory,
    /// From its file: the kernel did not allow the other.
    File,
}

/// Continues from sealed memory, unless it does so already, with what `redact` makes of the arguments as command line. Returns only
/// there, or where that is impossible.
pub fn move_into_memory(redact: impl Fn(&str) -> String) -> Residence {
    if runs_from_memory() {
        // The kernel names the process after the descriptor that it was started from.
        let _ = rustix::thread::set_name(c"iolag");
        return Residence::Memory;
    }
    // Only a failure returns.
    let _ = execute_copy(redact);
    Residence::File
}

/// The arguments of this program as they were typed, also where its command line does not show them all. What was handed over is
/// removed from the environment: programs that are started do not inherit it.
///
/// # Safety
/// No other thread may read or write the environment meanwhile.
pub unsafe fn take_arguments() -> Vec<OsString> {
    let shown: Vec<OsString> = std::env::args_os().collect();
    if !runs_from_memory() {
        return shown;
    }
    let arguments = typed(shown, |name| std::env::var_os(name));
    for place in 0..arguments.len() {
        // SAFETY: the caller is the only thread that touches the environment.
        unsafe { std::env::remove_var(variable_of(place)) };
    }
    arguments
}

fn runs_from_memory() -> bool {
    let executable = std::fs::read_link("/proc/self/exe").unwrap_or_default();
    executable.to_string_lossy().starts_with(MEMORY_NAME)
}

/// The arguments to be shown, and variables with those that are not.
fn handed_over(
    typed: impl Iterator<Item = OsString>,
    redact: impl Fn(&str) -> String,
) -> (Vec<OsString>, Vec<(OsString, OsString)>) {
    let mut secrets = Vec::new();
    let show = |(place, argument): (usize, OsString)| {
        let text = argument.to_string_lossy();
        let redacted = redact(&text);
        if redacted == text {
            return argument;
        }
        secrets.push((variable_of(place), argument));
        redacted.into()
    };
    (typed.enumerate().map(show).collect(), secrets)
}

/// The reverse of [`handed_over`].
fn typed(shown: Vec<OsString>, variable: impl Fn(&OsStr) -> Option<OsString>) -> Vec<OsString> {
    let take = |(place, argument)| variable(&variable_of(place)).unwrap_or(argument);
    shown.into_iter().enumerate().map(take).collect()
}

fn variable_of(place: usize) -> OsString {
    format!("{ARGUMENT_VARIABLE}{place}").into()
}

fn execute_copy(redact: impl Fn(&str) -> String) -> Result<(), Errno> {
    let sealed = File::from(executable_memory()?);
    copy_program_into(&sealed)?;
    fcntl_add_seals(&sealed, SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE | SealFlags::SEAL)?;
    let (shown, secrets) = handed_over(std::env::args_os(), redact);
    let arguments = c_strings(shown.into_iter());
    // Variables of these names that somebody else set would be taken for arguments.
    let others = std::env::vars_os()
        .filter(|(name, _)| !name.as_encoded_bytes().starts_with(ARGUMENT_VARIABLE.as_bytes()));
    let environment = c_strings(others.chain(secrets).map(|(name, value)| {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_arguments_with_secrets_are_handed_over_and_all_come_back_as_typed() {
        let unreadable = OsString::from_vec(b"/\xff/geheim".to_vec());
        let given: Vec<OsString> = ["iolag", "watch", "--history", "postgres://u:geheim@h/x"]
            .into_iter()
            .map(OsString::from)
            .chain([unreadable.clone(), "plain \u{fffd}".into()])
            .collect();
        let redact = |text: &str| text.replace("geheim", "***");
        let (shown, secrets) = handed_over(given.iter().cloned(), redact);
        assert_eq!(shown[..4], ["iolag", "watch", "--history", "postgres://u:***@h/x"]);
        assert!(shown.iter().all(|argument| !argument.to_string_lossy().contains("geheim")));
        let places: Vec<_> = secrets.iter().map(|(name, _)| name.to_str().unwrap()).collect();
        assert_eq!(places, ["IOLAG_ARGUMENT_3", "IOLAG_ARGUMENT_4"]);
        let variable = |wanted: &OsStr| {
            secrets.iter().find(|(name, _)| name == wanted).map(|(_, argument)| argument.clone())
        };
        assert_eq!(typed(shown, variable), given);
    }

    #[test]
    fn arguments_that_are_no_text_and_no_secret_stay_as_they_are() {
        let given = vec![OsString::from_vec(b"/\xff".to_vec())];
        let (shown, secrets) = handed_over(given.iter().cloned(), str::to_owned);
        assert_eq!((shown, secrets), (given, Vec::new()));
    }
}
