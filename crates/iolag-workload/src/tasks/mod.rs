//! Tasks: small things that a user does at the prompt, executed for real.
//!
//! [`TaskSession`] adds them to a session: `ls -l` and `ls -n` of a small directory, creating many small files in an empty
//! directory, compiling and linking a small program. Everything they make is in the session's working directory and is named
//! `check-…`, so that the removal of the place finds it.

mod compiler;
mod files;
mod probe;
mod probe_files;
mod program;
mod session;
mod spec;
mod usage;

use std::os::fd::BorrowedFd;

pub use compiler::{Compiler, Language, find_compiler};
pub use probe::{PartEnding, PartRecorder, ProbeTask, ProbeTaskError, TaskOutput, TaskSpec};
pub use session::{TaskError, TaskOptions, TaskSession};

use probe_files::{CreateTask, OpenReadTask, StatTask, WriteFsyncTask};

/// The task of a probe. `seed` chooses what is written.
///
/// Making it touches nothing: what it needs is made by [`ProbeTask::prepare`].
pub fn probe_task(spec: &TaskSpec, seed: u64) -> Box<dyn ProbeTask> {
    match spec {
        TaskSpec::Stat => Box::new(StatTask),
        TaskSpec::OpenRead { bytes } => Box::new(OpenReadTask::new(*bytes)),
        TaskSpec::WriteFsync { bytes } => Box::new(WriteFsyncTask::new(*bytes, seed)),
        TaskSpec::Create { files, bytes } => Box::new(CreateTask::new(*files, *bytes)),
        other => Box::new(NotSupported { parts: other.part_names() }),
    }
}

/// A task that runs programs, which probes do not do yet.
#[derive(Debug)]
struct NotSupported {
    parts: &'static [&'static str],
}

impl ProbeTask for NotSupported {
    fn parts(&self) -> &[&'static str] {
        self.parts
    }

    fn prepare(&mut self, _place: BorrowedFd<'_>) -> Result<(), ProbeTaskError> {
        Err(probe_files::cannot("run a program", rustix::io::Errno::NOTSUP))
    }

    fn perform(&mut self, _place: BorrowedFd<'_>, _recorder: &mut dyn PartRecorder) {}
}
