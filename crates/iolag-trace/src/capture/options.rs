//! How strace is called.

use std::ffi::OsString;
use std::path::Path;

use super::program::{Precision, Stops, StraceProgram};
use crate::file::Network;

/// What is traced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject<'a> {
    /// A command: program and arguments.
    Command(&'a [OsString]),
    /// A process that is there, with all its threads.
    Process(u32),
}

/// The groups that are about files and tasks; what changes the meaning of descriptors and paths, and what only waits, which are in none of them.
/// Waiting for a lock is left out: programs with threads do that so often that tracing it would be most of what they do.
const TRACED: &str = "%file,%desc,%process,?close_range,?unshare,?setns,?nanosleep,?clock_nanosleep,?pause,\
?rt_sigsuspend,?rt_sigtimedwait,?restart_syscall";
/// Calls of which strace would print what the program reads and writes.
const DATA: &str = "read,write,?pread64,?pwrite64,readv,writev,?preadv,?pwritev,?preadv2,?pwritev2,?vmsplice,\
?process_vm_readv,?process_vm_writev";

/// The arguments of strace. What a program reads, writes and is started with never gets into its text: of data there are addresses, of other
/// strings nothing (`-s 0`; paths are always whole), of arguments and environments addresses.
pub fn strace_arguments(
    program: &StraceProgram,
    subject: Subject<'_>,
    network: Network,
    output: &Path,
) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = Vec::new();
    let mut add = |words: &[&str]| arguments.extend(words.iter().map(OsString::from));
    add(&["-f", "-q", "-s", "0"]);
    // It cannot be had for processes that are there already.
    if program.stops == Stops::Traced && matches!(subject, Subject::Command(_)) {
        add(&["--seccomp-bpf"]);
    }
    match program.precision {
        Precision::Nanoseconds => add(&["--absolute-timestamps=unix,ns", "--syscall-times=ns"]),
        Precision::Microseconds => add(&["-ttt", "-T"]),
    }
    let network = if network == Network::Traced { ",%network" } else { "" };
    add(&["-e", &format!("trace={TRACED}{network}")]);
    add(&["-e", &format!("raw={DATA}")]);
    // One exclamation mark stands for the whole list.
    // Without the others it would not tell who was killed by them.
    add(&["-e", "verbose=!execve,execveat", "-e", "signal=!SIGCHLD,SIGURG", "-o"]);
    arguments.push(output.into());
    match subject {
        Subject::Command(command) => {
            arguments.push("--".into());
            arguments.extend(command.iter().cloned());
        }
        Subject::Process(number) => arguments.extend(["-p".into(), number.to_string().into()]),
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::StraceVersion;

    fn joined(stops: Stops, precision: Precision, subject: Subject<'_>, network: Network) -> String {
        let program = StraceProgram { version: StraceVersion { major: 6, minor: 1 }, stops, precision };
        let words = strace_arguments(&program, subject, network, Path::new("/proc/7/fd/5"));
        words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_command_is_the_last_thing_whatever_it_looks_like() {
        let command = ["-x", "--help"].map(OsString::from);
        let told = joined(Stops::Traced, Precision::Nanoseconds, Subject::Command(&command), Network::Left);
        assert!(
            told.starts_with(
                "-f -q -s 0 --seccomp-bpf --absolute-timestamps=unix,ns --syscall-times=ns -e trace="
            ),
            "{told}"
        );
        assert!(told.ends_with(" -o /proc/7/fd/5 -- -x --help"), "{told}");
        assert!(!told.contains("network") && told.contains("verbose=!execve,execveat"));
    }

    #[test]
    fn a_process_that_is_there_stops_at_every_call() {
        let told = joined(Stops::Traced, Precision::Microseconds, Subject::Process(99), Network::Traced);
        assert!(
            !told.contains("seccomp") && told.contains(" -ttt -T ") && told.contains(",%network"),
            "{told}"
        );
        assert!(told.ends_with(" -o /proc/7/fd/5 -p 99"), "{told}");
    }
}
