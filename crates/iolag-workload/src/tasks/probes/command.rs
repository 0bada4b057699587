//! A command of the user's. It may do anything, and runs below a guard.

use std::os::fd::BorrowedFd;

use iolag_model::FailureCode;

use super::files::cannot;
use super::running::{Programs, run_parts, say};
use crate::tasks::launching::last_line::LastLine;
use crate::tasks::launching::launch::Program;
use crate::tasks::{PartRecorder, ProbeTask, TaskError, TaskOutput, TaskSpec};

/// What becomes of what a command leaves running.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Remainder {
    /// It ends with the command.
    Ends,
    /// It stays, if the command succeeded.
    Stays,
}

/// A command of the user's.
pub(crate) struct CommandTask {
    spec: TaskSpec,
    command: Vec<String>,
    output: TaskOutput,
    remainder: Remainder,
    programs: Option<Programs>,
}

impl CommandTask {
    pub(crate) fn new(command: &[String], output: TaskOutput) -> Self {
        let spec = TaskSpec::Command { command: command.to_vec(), output };
        Self { spec, command: command.to_vec(), output, remainder: Remainder::Ends, programs: None }
    }

    pub(crate) fn that_sets_up(command: &[String]) -> Self {
        let spec = TaskSpec::SetUp { command: command.to_vec() };
        Self { spec, remainder: Remainder::Stays, ..Self::new(command, TaskOutput::Discard) }
    }
}

impl ProbeTask for CommandTask {
    fn parts(&self) -> &[&'static str] {
        self.spec.part_names()
    }

    fn prepare(&mut self, place: BorrowedFd<'_>, _recorder: &mut dyn PartRecorder) -> Result<(), TaskError> {
        let Some((path, arguments)) = self.command.split_first() else {
            return Err(TaskError {
                failure: FailureCode::from_errno(libc::EINVAL),
                message: "the command is empty; expected a program and its arguments".to_owned(),
            });
        };
        let program = Program {
            path: path.into(),
            arguments: arguments.iter().map(Into::into).collect(),
            environment: std::env::vars_os().collect(),
        };
        let programs = match (self.output, self.remainder) {
            (_, Remainder::Stays) => Programs::that_sets_up(&program, place),
            (TaskOutput::Terminal, _) => Programs::on_terminal(&program, place),
            (TaskOutput::Discard | TaskOutput::Number, _) => Programs::guarded(&program, place),
        };
        self.programs = Some(programs.map_err(|error| cannot("get ready to start the command", error))?);
        Ok(())
    }

    fn perform(&mut self, _place: BorrowedFd<'_>, recorder: &mut dyn PartRecorder) {
        let is_plain = self.output != TaskOutput::Number && self.remainder == Remainder::Ends;
        let Some(mut programs) = self.programs.take_if(|_| !is_plain) else {
            return run_parts(self.programs.take(), 0..1, recorder, || {});
        };
        let mut line = LastLine::default();
        programs.tell_guard(recorder);
        recorder.left_place();
        recorder.begin(0);
        let mut ending = programs.run(0, recorder.limit(), |output| line.add(output));
        programs.see_rest(|output| line.add(output));
        let failure = ending.failure;
        if self.output == TaskOutput::Number {
            ending.value = line.number();
            if ending.failure == FailureCode::NONE && ending.value.is_none() {
                ending.failure = FailureCode::PROTOCOL;
            }
        }
        if self.remainder == Remainder::Stays && ending.failure == FailureCode::NONE {
            programs.let_go();
        }
        recorder.end(0, ending);
        say(&mut programs, failure, recorder);
    }
}
