//! Starting strace so that what it starts is the user's: with the signals that iolag found when it was started.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use iolag_workload::allow_core_dumps;

/// What a terminal sends, and a batch system: the command decides what they mean, and the capturer goes on.
const FOR_THE_COMMAND: [i32; 4] = [libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGHUP];

/// What was to happen at signals before the capturer began to ignore them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dispositions([libc::sighandler_t; FOR_THE_COMMAND.len()]);

impl Dispositions {
    /// From here on these signals do not end this process.
    pub(super) fn ignore() -> Self {
        // SAFETY: changes the disposition of signals, to one that calls nothing.
        Self(FOR_THE_COMMAND.map(|signal| unsafe { libc::signal(signal, libc::SIG_IGN) }))
    }

    /// As they were; iolag itself ignores that a file would become too large. Only makes system calls that are allowed between fork and exec.
    fn restore(&self) {
        for (signal, former) in FOR_THE_COMMAND.into_iter().zip(self.0) {
            // SAFETY: gives back what was there.
            unsafe { libc::signal(signal, former) };
        }
        // SAFETY: as above.
        unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_DFL) };
    }
}

/// Whose the standard streams of strace are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Streams {
    /// The user's.
    Users,
    /// Nobody's, but what it complains of is read.
    Complaints,
}

/// Starts strace.
///
/// # Errors
/// If it cannot be started.
pub(super) fn start(
    strace: &Path,
    arguments: &[OsString],
    streams: Streams,
    dispositions: Option<Dispositions>,
) -> std::io::Result<Child> {
    let mut command = Command::new(strace);
    // Its complaints begin with the name that it was started by.
    command.arg0("strace").args(arguments);
    if streams == Streams::Complaints {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    }
    let become_the_users = move || {
        if let Some(dispositions) = &dispositions {
            dispositions.restore();
        }
        allow_core_dumps();
        Ok(())
    };
    // SAFETY: only makes system calls that are allowed between fork and exec.
    unsafe { command.pre_exec(become_the_users) };
    command.spawn()
}
