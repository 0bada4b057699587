//! Tasks: small things that a user does at the prompt, executed for real.
//!
//! [`TaskSession`] adds them to a session: `ls -l` and `ls -n` of a small directory, creating many small files in an empty
//! directory, compiling and linking a small program. Everything they make is in the session's working directory and is named
//! `check-…`, so that the removal of the place finds it. A task ends at the moment that its request says, however far it is.

mod compiler;
mod descent;
mod files;
mod guard;
mod guard_process;
mod inheritance;
mod last_line;
mod last_words;
mod launch;
mod limits;
mod probe;
mod probe_files;
mod probe_programs;
mod probe_shell;
mod program;
mod programs;
mod prompt;
mod removal;
mod session;
mod spec;
mod terminal;
mod usage;

pub use compiler::{Compiler, Language, find_compiler};
pub use inheritance::{allow_core_dumps, become_a_users_program, withhold_core_dumps};
pub use limits::TaskLimits;
pub use probe::{PartEnding, PartRecorder, ProbeTask, ProbeTaskError, TaskOutput, TaskSpec};
pub use removal::remove_probe_files;
pub use session::{TaskError, TaskOptions, TaskSession};

use probe_files::{CreateTask, OpenReadTask, StatTask, WriteFsyncTask};
use probe_programs::{CommandTask, CompileTask, ListTask};
use probe_shell::{EchoTask, ShellTask};

/// The task of a probe. `seed` chooses what is written.
///
/// Making it touches nothing: what it needs is made by [`ProbeTask::prepare`].
pub fn probe_task(spec: &TaskSpec, seed: u64) -> Box<dyn ProbeTask> {
    match spec {
        TaskSpec::Stat => Box::new(StatTask),
        TaskSpec::OpenRead { bytes } => Box::new(OpenReadTask::new(*bytes)),
        TaskSpec::WriteFsync { bytes } => Box::new(WriteFsyncTask::new(*bytes, seed)),
        TaskSpec::Create { files, bytes } => Box::new(CreateTask::new(*files, *bytes)),
        TaskSpec::Compile => Box::new(CompileTask::default()),
        TaskSpec::List { files, output } => Box::new(ListTask::new(*files, *output)),
        TaskSpec::Command { command, output } => Box::new(CommandTask::new(command, *output)),
        TaskSpec::Shell { program } => Box::new(ShellTask::new(program)),
        TaskSpec::Echo { program } => Box::new(EchoTask::new(program)),
    }
}
