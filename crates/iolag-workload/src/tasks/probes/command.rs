//! A command of the user's. It may do anything, and runs below a guard.

use std::os::fd::BorrowedFd;

use iolag_model::FailureCode;

use super::files::cannot;
use super::running::{Programs, run_parts, say};
use crate::tasks::launching::last_line::LastLine;
use crate::tasks::launching::launch::Program;
use crate::tasks::{PartRecorder, ProbeTask, TaskError, TaskOutput, TaskSpec};

/// A command of the user's.
pub(crate) struct CommandTask {
    spec: TaskSpec,
    command: Vec<String>,
    output: TaskOutput,
    programs: Option<Programs>,
}

impl CommandTask {
    pub(crate) fn new(command: &[String], output: TaskOutput) -> Self {
        let command = command.to_vec();
        Self { spec: TaskSpec::Command { command: command.clone(), output }, command, output, programs: None }
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
        let programs = match self.output {
            TaskOutput::Discard | TaskOutput::Number => Programs::guarded(&program, place),
            TaskOutput::Terminal => Programs::on_terminal(&program, place),
        };
        self.programs = Some(programs.map_err(|error| cannot("get ready to start the command", error))?);
        Ok(())
    }

    fn perform(&mut self, _place: BorrowedFd<'_>, recorder: &mut dyn PartRecorder) {
        if self.output != TaskOutput::Number {
            run_parts(self.programs.take(), 0..1, recorder, || {});
            return;
        }
        let Some(mut programs) = self.programs.take() else {
            return run_parts(None, 0..1, recorder, || {});
        };
        let mut line = LastLine::default();
        programs.tell_guard(recorder);
        recorder.left_place();
        recorder.begin(0);
        let mut ending = programs.run(0, recorder.limit(), |output| line.add(output));
        programs.see_rest(|output| line.add(output));
        let failure = ending.failure;
        ending.value = line.number();
        if ending.failure == FailureCode::NONE && ending.value.is_none() {
            ending.failure = FailureCode::PROTOCOL;
        }
        recorder.end(0, ending);
        say(&mut programs, failure, recorder);
    }
}
