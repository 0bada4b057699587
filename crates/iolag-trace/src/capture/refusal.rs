//! What strace's last words mean.

/// Why nothing was traced, as a sentence with what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The system lets nobody trace, or not this user.
    #[error(
        "this system does not let you trace programs: in a container it needs the capability SYS_PTRACE \
         (docker run --cap-add=SYS_PTRACE), elsewhere see kernel.yama.ptrace_scope"
    )]
    Forbidden,
    /// That process is not to be traced.
    #[error(
        "process {0} may not be traced: it belongs to somebody else, runs with other rights, or is traced already; \
         try as its owner or as root"
    )]
    ForbiddenProcess(u32),
    /// There is no such process.
    #[error("there is no process {0}")]
    NoProcess(u32),
    /// There is no such program.
    #[error("there is no program {0:?}: give its path, or look at PATH")]
    NoProgram(String),
    /// A shell does that itself.
    #[error(
        "{0} is a shell's own command, and no program: trace a shell that executes it, as in -- sh -c '{0} …'"
    )]
    OfShell(String),
    /// No process is left.
    #[error("the system has no process left for the program: end some, or see ulimit -u")]
    NoRoom,
    /// Something else.
    #[error("strace could not trace: {0}")]
    Other(String),
}

/// Commands that only a shell has, as people type them (POSIX, "Special Built-In Utilities", and what changes the shell itself).
const OF_SHELLS: [&str; 21] = [
    "alias", "bg", "cd", "declare", "eval", "exec", "exit", "export", "fg", "hash", "history", "jobs",
    "local", "module", "popd", "pushd", "set", "source", "ulimit", "umask", "unset",
];

impl Refusal {
    /// There is no program of this name.
    pub fn no_program(name: String) -> Self {
        if OF_SHELLS.contains(&name.as_str()) { Self::OfShell(name) } else { Self::NoProgram(name) }
    }

    /// By what strace said; nothing if it said nothing.
    pub fn of(words: &str) -> Option<Self> {
        let lines: Vec<&str> =
            words.lines().filter_map(|line| line.strip_prefix("strace: ")).map(str::trim).collect();
        let all = || lines.iter().copied();
        let process = |line: &str| {
            let rest = line.split_once("PTRACE_SEIZE, ").or_else(|| line.split_once("PTRACE_ATTACH, "))?.1;
            rest.split(')').next()?.parse::<u32>().ok()
        };
        if let Some(line) = all().find(|line| line.starts_with("attach:"))
            && let Some(number) = process(line)
        {
            return Some(match line {
                line if line.ends_with("No such process") => Self::NoProcess(number),
                _ => Self::ForbiddenProcess(number),
            });
        }
        if all().any(|line| line.contains("PTRACE_") && line.ends_with("Operation not permitted")) {
            return Some(Self::Forbidden);
        }
        if let Some(name) = all().find_map(|line| line.strip_prefix("Can't stat '")) {
            return Some(Self::NoProgram(name.split('\'').next().unwrap_or_default().to_owned()));
        }
        if all().any(|line| line.contains("fork") && line.ends_with("Resource temporarily unavailable")) {
            return Some(Self::NoRoom);
        }
        all().next().map(|line| Self::Other(line.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_strace_6_1_said() {
        let forbidden = "strace: test_ptrace_get_syscall_info: PTRACE_TRACEME: Operation not permitted\n\
                         strace: ptrace(PTRACE_TRACEME, ...): Operation not permitted\n\
                         strace: PTRACE_SETOPTIONS: Operation not permitted\nstrace: detach: waitpid(24529): No child processes\n";
        assert_eq!(Refusal::of(forbidden), Some(Refusal::Forbidden));
        let others = "strace: attach: ptrace(PTRACE_SEIZE, 24444): Operation not permitted\n";
        assert_eq!(Refusal::of(others), Some(Refusal::ForbiddenProcess(24444)));
        let in_container = "strace: test_ptrace_get_syscall_info: PTRACE_TRACEME: Operation not permitted\n\
                            strace: attach: ptrace(PTRACE_ATTACH, 24534): Operation not permitted\n";
        assert_eq!(Refusal::of(in_container), Some(Refusal::ForbiddenProcess(24534)));
        let gone = "strace: attach: ptrace(PTRACE_SEIZE, 999999): No such process\n";
        assert_eq!(Refusal::of(gone), Some(Refusal::NoProcess(999_999)));
        let missing = "strace: Can't stat '/nowhere/x': No such file or directory\n";
        assert_eq!(Refusal::of(missing), Some(Refusal::NoProgram("/nowhere/x".to_owned())));
        let room = "strace: fork: Resource temporarily unavailable\n";
        assert_eq!(Refusal::of(room), Some(Refusal::NoRoom));
        let other = "strace: invalid system call 'x'\n";
        assert_eq!(Refusal::of(other), Some(Refusal::Other("invalid system call 'x'".to_owned())));
        assert_eq!(Refusal::of("hello from the program\n"), None);
    }
}
