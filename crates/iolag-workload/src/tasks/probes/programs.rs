//! The tasks that start programs: compile, list, and commands of the user's.
//!
//! Programs run in the task's working directory, in the probe's process group. Their output is read and dropped. `ls` and
//! the compiler leave nothing behind and are started and waited for directly; a command of the user's may do anything, and
//! runs below a guard.

use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;

use iolag_model::FailureCode;
use rustix::fs::{AtFlags, Mode, OFlags, openat, unlinkat};
use rustix::io::Errno;

use super::files::{READY, cannot, failed, forget, make_once, write_ready};
use super::running::Programs;
use crate::tasks::files::{make_directory, write_small_files};
use crate::tasks::programs::compiler::{Compiler, find_compiler, minimal_environment};
use crate::tasks::programs::last_line::LastLine;
use crate::tasks::programs::program::Program;
use crate::tasks::{PartRecorder, ProbeTask, ProbeTaskError, TaskOutput, TaskSpec};

const LIST_PROGRAM: &str = "/bin/ls";
/// The compiled program.
pub(crate) const COMPILED: &str = "program";
/// Beginning of the name of the directory that is listed.
pub(crate) const LISTED: &str = "listed-";

/// Compile and link a small program.
#[derive(Default)]
pub(crate) struct CompileTask {
    programs: Option<Programs>,
    source: &'static str,
}

impl ProbeTask for CompileTask {
    fn parts(&self) -> &[&'static str] {
        TaskSpec::Compile.part_names()
    }

    fn prepare(
        &mut self,
        place: BorrowedFd<'_>,
        recorder: &mut dyn PartRecorder,
    ) -> Result<(), ProbeTaskError> {
        // The compiler is looked for in other directories.
        recorder.left_place();
        let environment: Vec<_> = std::env::vars_os().collect();
        let Some(compiler) = find_compiler(&environment) else {
            return Err(ProbeTaskError {
                failure: FailureCode::from_errno(libc::ENOTSUP),
                message: "no compiler was found (looked for cc, gcc, clang, gfortran, ifx, nvfortran and ftn in \
                          /usr/bin, /usr/local/bin, /bin and PATH); install one, or take compile out of the tasks"
                    .to_owned(),
            });
        };
        self.source = compiler.language.file_name();
        make_once(place, self.source, || compiler.language.source().as_bytes().to_vec())?;
        match unlinkat(place, COMPILED, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(cannot("remove the program of the last compilation", error)),
        }
        let programs = Programs::direct(&[compilation(&compiler)], place);
        self.programs = Some(programs.map_err(|error| cannot("get ready to start the compiler", error))?);
        Ok(())
    }

    fn perform(&mut self, place: BorrowedFd<'_>, recorder: &mut dyn PartRecorder) {
        run_parts(self.programs.take(), 1, recorder, |_| forget(place, self.source));
    }
}

/// Compiles and links at once, as a user with one source file does.
fn compilation(compiler: &Compiler) -> Program {
    // Pipes instead of temporary files between the compiler's stages, where the option is known to exist.
    let pipe = compiler.has_pipe_option().then_some("-pipe");
    let arguments = ["-O1"].into_iter().chain(pipe).chain(["-o", COMPILED, compiler.language.file_name()]);
    Program {
        path: compiler.path.clone(),
        arguments: arguments.map(Into::into).collect(),
        environment: compiler.environment.clone(),
    }
}

/// `ls -l` of a directory, then `ls -n`.
pub(crate) struct ListTask {
    files: u32,
    output: TaskOutput,
    directory: String,
    programs: Option<Programs>,
}

impl ListTask {
    pub(crate) fn new(files: u32, output: TaskOutput) -> Self {
        Self { files, output, directory: format!("{LISTED}{files}"), programs: None }
    }

    /// Its files are made once and not touched again before they are listed.
    fn make_listed(&self, place: BorrowedFd<'_>, recorder: &mut dyn PartRecorder) -> Result<(), Errno> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match openat(place, format!("{}{READY}", self.directory), flags, Mode::empty()) {
            Ok(_) => return Ok(()),
            Err(Errno::NOENT) => {}
            Err(error) => return Err(error),
        }
        let directory = make_directory(place, &self.directory)?;
        write_small_files(directory.as_fd(), self.files, |done| recorder.answered(done, self.files))?;
        write_ready(place, &self.directory)
    }
}

impl ProbeTask for ListTask {
    fn parts(&self) -> &[&'static str] {
        TaskSpec::List { files: self.files, output: self.output }.part_names()
    }

    fn prepare(
        &mut self,
        place: BorrowedFd<'_>,
        recorder: &mut dyn PartRecorder,
    ) -> Result<(), ProbeTaskError> {
        self.make_listed(place, recorder)
            .map_err(|error| cannot("make the directory to be listed", error))?;
        let list = |option: &str| Program {
            path: PathBuf::from(LIST_PROGRAM),
            arguments: vec![option.into(), self.directory.clone().into()],
            environment: minimal_environment(),
        };
        let programs = [list("-l"), list("-n")];
        let programs = match self.output {
            TaskOutput::Terminal => Programs::direct_on_terminal(&programs, place),
            TaskOutput::Discard | TaskOutput::Number => Programs::direct(&programs, place),
        };
        self.programs = Some(programs.map_err(|error| cannot("get ready to start ls", error))?);
        Ok(())
    }

    fn perform(&mut self, place: BorrowedFd<'_>, recorder: &mut dyn PartRecorder) {
        run_parts(self.programs.take(), 2, recorder, |_| forget(place, &self.directory));
    }
}

/// Runs one program for each part, dropping their output. `if_failed` is called for a part whose program failed.
fn run_parts(
    programs: Option<Programs>,
    parts: u8,
    recorder: &mut dyn PartRecorder,
    if_failed: impl Fn(usize),
) {
    let Some(mut programs) = programs else {
        recorder.begin(0);
        recorder.end(0, failed(FailureCode::from_errno(libc::EBADF)));
        return;
    };
    programs.tell_guard(recorder);
    recorder.left_place();
    for index in 0..parts {
        let part = usize::from(index);
        recorder.begin(part);
        let ending = programs.run(index, |_| {});
        recorder.end(part, ending);
        programs.see_rest(|_| {});
        if ending.failure == FailureCode::EXIT {
            if_failed(part);
            say(&mut programs, recorder);
        }
    }
}

/// Tells what the program said last of its failure.
fn say(programs: &mut Programs, recorder: &mut dyn PartRecorder) {
    if let Some(line) = programs.last_words() {
        recorder.said(&line);
    }
}

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

    fn prepare(
        &mut self,
        place: BorrowedFd<'_>,
        _recorder: &mut dyn PartRecorder,
    ) -> Result<(), ProbeTaskError> {
        let Some((path, arguments)) = self.command.split_first() else {
            return Err(ProbeTaskError {
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
            run_parts(self.programs.take(), 1, recorder, |_| {});
            return;
        }
        let Some(mut programs) = self.programs.take() else {
            return run_parts(None, 1, recorder, |_| {});
        };
        let mut line = LastLine::default();
        programs.tell_guard(recorder);
        recorder.left_place();
        recorder.begin(0);
        let mut ending = programs.run(0, |output| line.add(output));
        programs.see_rest(|output| line.add(output));
        ending.value = line.number();
        if ending.failure == FailureCode::NONE && ending.value.is_none() {
            ending.failure = FailureCode::PROTOCOL;
        }
        recorder.end(0, ending);
        if ending.failure == FailureCode::EXIT {
            say(&mut programs, recorder);
        }
    }
}
