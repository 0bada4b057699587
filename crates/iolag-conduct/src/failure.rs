//! What ends a command: one sentence and an exit code.

use iolag_keeper::KeeperError;

use crate::exit_code::ExitCode;

/// An error that ends a command, with its exit code.
#[derive(Debug)]
pub struct Failure {
    /// How the program ends.
    pub code: ExitCode,
    /// One sentence: what, where, what was expected, what to do next.
    pub sentence: String,
}

impl Failure {
    /// The command line cannot be done as asked.
    pub fn usage(sentence: impl ToString) -> Self {
        Self { code: ExitCode::Usage, sentence: sentence.to_string() }
    }

    /// A target or the store cannot be used.
    pub fn unusable(sentence: impl ToString) -> Self {
        Self { code: ExitCode::Unusable, sentence: sentence.to_string() }
    }

    /// The same where something else already went as wrong as `code`.
    pub fn at_least(self, code: ExitCode) -> Self {
        Self { code: self.code.max(code), ..self }
    }

    /// The kernel refused something that iolag needs for itself, as `error` says: a limit, or else a bug.
    pub fn of_system(error: impl ToString, errno: Option<i32>) -> Self {
        match errno.and_then(advice) {
            Some(advice) => Self::usage(format!("{}; {advice}", error.to_string())),
            None => Self::bug(error),
        }
    }

    /// iolag itself failed.
    pub fn bug(sentence: impl ToString) -> Self {
        Self { code: ExitCode::Bug, sentence: sentence.to_string() }
    }
}

impl From<KeeperError> for Failure {
    fn from(error: KeeperError) -> Self {
        match error {
            KeeperError::Fork { error: errno, .. } | KeeperError::Signals { error: errno } => {
                Self::of_system(error, Some(errno.raw_os_error()))
            }
            KeeperError::SharedMemory { .. } | KeeperError::RingsTooSmall { .. } => Self::usage(error),
        }
    }
}

/// What to do where the kernel refuses what iolag needs for itself; `None` if that is no limit of this user or machine.
fn advice(errno: i32) -> Option<&'static str> {
    Some(match errno {
        libc::EMFILE => "allow this process more open files (ulimit -n)",
        libc::ENFILE => "let the machine have more open files (fs.file-max), or end what holds so many",
        libc::EAGAIN => {
            "allow this user more processes (ulimit -u, pids.max of the control group), or end some"
        }
        libc::ENOMEM => "free some memory, or allow this process more (ulimit -v, the control group's limit)",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::io::Errno;

    #[test]
    fn a_limit_is_told_with_what_to_change_and_is_no_bug() {
        let of = |error: Errno| Failure::from(KeeperError::Fork { role: "scout", error });
        for (errno, advice) in
            [(Errno::MFILE, "(ulimit -n)"), (Errno::AGAIN, "(ulimit -u"), (Errno::NOMEM, "memory")]
        {
            let failure = of(errno);
            assert_eq!(failure.code, ExitCode::Usage, "{failure:?}");
            assert!(failure.sentence.starts_with("cannot start the scout process: "), "{failure:?}");
            assert!(failure.sentence.contains(advice), "{failure:?}");
        }
        assert_eq!(of(Errno::INVAL).code, ExitCode::Bug);
    }
}
