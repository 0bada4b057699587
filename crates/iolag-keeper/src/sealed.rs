//! Running from memory: the keeper must not page itself in from a file system that hangs.
//!
//! The program copies itself into an anonymous file, seals that, and continues from it. Afterwards neither its own binary's
//! file system nor the home directory is needed. What stays outside are the shared libraries of the C library, which a
//! static build does not have.
//!
//! Secrets among the arguments do not come along: everybody who is logged in may read a command line, for as long as the process runs. A
//! command line with one is left at once, whatever the command is. The program continues with a command line without it, from memory or,
//! where the kernel starts no program from there, from its file, and reads what was typed from a descriptor, which it closes: neither its
//! command line nor its environment has ever had a secret.
//! Limits: until then (the time that copying the program takes), and without /proc, the command line is the one that was typed.

use std::ffi::{CString, OsString};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::OpenOptionsExt;
use std::sync::OnceLock;

use iolag_model::Nanoseconds;
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use rustix::io::Errno;

use crate::{Child, Ending, Orphanage};

const MEMORY_NAME: &str = "/memfd:iolag";

/// The descriptor that the arguments as they were typed are read from.
const ARGUMENTS_VARIABLE: &str = "IOLAG_ARGUMENTS";
const ARGUMENTS_MEMORY: &std::ffi::CStr = c"iolag-arguments";

/// The arguments as they were typed, if the command line does not show them all.
static TYPED: OnceLock<Vec<OsString>> = OnceLock::new();

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
        return Residence::Memory;
    }
    // Only a failure returns.
    let _ = execute_copy(&redact);
    Residence::File
}

/// The arguments of this program as they were typed. If they hold what `redact` changes, the program first continues with a command
/// line without that; to be called before anything else is done.
///
/// # Safety
/// No other thread may read or write the environment meanwhile.
pub unsafe fn take_arguments(redact: impl Fn(&str) -> String) -> Vec<OsString> {
    // The kernel names a process after the descriptor that it was started from.
    let _ = rustix::thread::set_name(c"iolag");
    let handed_over = std::env::var(ARGUMENTS_VARIABLE).ok().and_then(|number| read_handed_over(&number));
    // SAFETY: the caller is the only thread that touches the environment.
    unsafe { std::env::remove_var(ARGUMENTS_VARIABLE) };
    if let Some(arguments) = handed_over {
        return TYPED.get_or_init(|| arguments).clone();
    }
    // Only failures return. A file system that is silent already would hold the second up, too.
    if has_secret(std::env::args_os(), &redact) && execute_copy(&redact) != Errno::TIMEDOUT {
        execute_file(&redact);
    }
    std::env::args_os().collect()
}

fn has_secret(mut arguments: impl Iterator<Item = OsString>, redact: impl Fn(&str) -> String) -> bool {
    arguments.any(|argument| shown(&argument, &redact) != argument)
}

fn runs_from_memory() -> bool {
    let executable = std::fs::read_link("/proc/self/exe").unwrap_or_default();
    executable.to_string_lossy().starts_with(MEMORY_NAME)
}

/// An argument without its secrets.
fn shown(argument: &OsString, redact: impl Fn(&str) -> String) -> OsString {
    let text = argument.to_string_lossy();
    let redacted = redact(&text);
    // What is no text and holds no secret stays as it is.
    if redacted == text { argument.clone() } else { redacted.into() }
}

/// Memory with the arguments as they were typed, which the program that is started next inherits.
fn hand_over(typed: &[OsString]) -> std::io::Result<File> {
    let mut memory = File::from(memfd_create(ARGUMENTS_MEMORY, MemfdFlags::empty())?);
    for argument in typed {
        memory.write_all(argument.as_bytes())?;
        memory.write_all(&[0])?;
    }
    memory.seek(SeekFrom::Start(0))?;
    Ok(memory)
}

/// The reverse of [`hand_over`]. A variable that somebody else set leads to no memory of that name, and counts for nothing.
fn read_handed_over(number: &str) -> Option<Vec<OsString>> {
    let number: RawFd = number.parse().ok()?;
    let name = std::fs::read_link(format!("/proc/self/fd/{number}")).ok()?;
    let expected = format!("/memfd:{}", ARGUMENTS_MEMORY.to_str().ok()?);
    name.to_str().is_some_and(|name| name.starts_with(&expected)).then_some(())?;
    // SAFETY: it was inherited for this, and nobody else in this process knows of it.
    let mut memory = unsafe { File::from_raw_fd(number) };
    let mut content = Vec::new();
    memory.read_to_end(&mut content).ok()?;
    content.pop_if(|last| *last == 0)?;
    Some(content.split(|byte| *byte == 0).map(|argument| OsString::from_vec(argument.to_vec())).collect())
}

/// Continues from a sealed copy; only a failure returns.
fn execute_copy(redact: impl Fn(&str) -> String) -> Errno {
    let sealed = || -> Result<File, Errno> {
        let sealed = File::from(executable_memory()?);
        copy_program_into(&sealed)?;
        fcntl_add_seals(&sealed, SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE | SealFlags::SEAL)?;
        Ok(sealed)
    };
    sealed().map_or_else(|error| error, |sealed| execute(&sealed, redact))
}

/// Continues from the program's file; only a failure returns.
fn execute_file(redact: impl Fn(&str) -> String) {
    if let Ok(program) = File::open("/proc/self/exe") {
        execute(&program, redact);
    }
}

/// Continues as `program` with what `redact` makes of the arguments; only a failure returns.
fn execute(program: &File, redact: impl Fn(&str) -> String) -> Errno {
    let typed = TYPED.get().cloned().unwrap_or_else(|| std::env::args_os().collect());
    let arguments: Vec<OsString> = typed.iter().map(|argument| shown(argument, &redact)).collect();
    let others = std::env::vars_os().filter(|(name, _)| name != ARGUMENTS_VARIABLE);
    let mut environment: Vec<(OsString, OsString)> = others.collect();
    // Kept open until the program is started.
    let mut memory = None;
    if arguments != typed {
        match hand_over(&typed) {
            Ok(made) => {
                environment.push((ARGUMENTS_VARIABLE.into(), made.as_raw_fd().to_string().into()));
                memory = Some(made);
            }
            Err(error) => return Errno::from_io_error(&error).unwrap_or(Errno::IO),
        }
    }
    let assigned = environment.into_iter().map(|(name, value)| {
        let mut variable = name;
        variable.push("=");
        variable.push(value);
        variable
    });
    let failed = execute_descriptor(program.as_fd(), &c_strings(arguments.into_iter()), &c_strings(assigned));
    drop(memory);
    failed
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

/// Only a failure returns.
fn execute_descriptor(
    program: std::os::fd::BorrowedFd<'_>,
    arguments: &[CString],
    environment: &[CString],
) -> Errno {
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
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::NOEXEC)
}

fn c_strings(texts: impl Iterator<Item = OsString>) -> Vec<CString> {
    // The kernel's strings contain no NUL, so none is left out.
    texts.filter_map(|text| CString::new(text.into_vec()).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::IntoRawFd;

    fn arguments() -> Vec<OsString> {
        let unreadable = OsString::from_vec(b"/\xff/geheim".to_vec());
        let plain = ["iolag", "watch", "", "--history=postgres://u:geheim@h/x"].map(OsString::from);
        plain.into_iter().chain([unreadable, "plain \u{fffd}".into()]).collect()
    }

    #[test]
    fn only_secrets_are_left_out_of_what_is_shown() {
        let redact = |text: &str| text.replace("geheim", "***");
        let shown: Vec<OsString> = arguments().iter().map(|argument| shown(argument, redact)).collect();
        assert_eq!(shown[..4], ["iolag", "watch", "", "--history=postgres://u:***@h/x"]);
        assert!(shown.iter().all(|argument| !argument.to_string_lossy().contains("geheim")));
        assert!(has_secret(arguments().into_iter(), redact));
        assert!(!has_secret(shown.into_iter(), redact));
    }

    #[test]
    fn arguments_that_are_no_text_and_no_secret_stay_as_they_are() {
        let given = OsString::from_vec(b"/\xff".to_vec());
        assert_eq!(shown(&given, str::to_owned), given);
    }

    #[test]
    fn all_arguments_come_back_as_they_were_typed() {
        let memory = hand_over(&arguments()).unwrap().into_raw_fd();
        assert_eq!(read_handed_over(&memory.to_string()), Some(arguments()));
        // It is closed now, and what somebody else set is nothing.
        for number in [memory.to_string(), "0".to_owned(), "-1".to_owned(), "x".to_owned()] {
            assert_eq!(read_handed_over(&number), None, "{number}");
        }
    }
}
