//! Tasks: small things that a user does at the prompt, executed for real.
//!
//! Each is a [`ProbeTask`], which a probe of a watch or a ping performs in a process of its own. [`TaskSession`] adds to a session those that
//! a check executes: `ls -l` and `ls -n` of a small directory, creating many small files in an empty directory, compiling and linking
//! a small program. What these make is in the session's working directory and is named `check-…`, so that the removal of the
//! place finds it. They end at the moment that their request says, however far they are.

mod builtin;
mod cp;
mod files;
pub(crate) mod guard;
pub(crate) mod launching;
mod limits;
mod probe_task;
mod probes;
mod removal;
mod server_place;
mod server_task;
mod session;

pub use cp::Cp;
pub use files::CREATED_FILE_BYTES;
pub use launching::compiler::{Compiler, Language, find_compiler};
pub use launching::inheritance::{allow_core_dumps, become_a_users_program, withhold_core_dumps};
pub use limits::{TaskLimit, TaskLimits};
pub use probe_task::{PartEnding, PartRecorder, ProbeTask, TaskError, TaskOutput, TaskSpec};
pub use removal::remove_probe_files;
pub use server_place::ServerPlace;
pub use server_task::ServerTask;
pub use session::{TaskOptions, TaskSession};

use probes::command::CommandTask;
use probes::compile::CompileTask;
use probes::files::{CreateTask, OpenReadTask, StatTask, WriteFsyncTask};
use probes::job::JobSetUpTask;
use probes::list::ListTask;
use probes::server::ServerProbe;
use probes::shell::{EchoTask, ShellTask};

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
        TaskSpec::SetUp { command } => Box::new(CommandTask::that_sets_up(command)),
        TaskSpec::JobSetUp(spec) => Box::new(JobSetUpTask::new(spec, seed)),
        TaskSpec::OnServer { place, task } => Box::new(ServerProbe::new(place, *task)),
        TaskSpec::Shell { program } => Box::new(ShellTask::new(program)),
        TaskSpec::Echo { program } => Box::new(EchoTask::new(program)),
    }
}
