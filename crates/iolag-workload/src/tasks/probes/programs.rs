//! The tasks that start programs: compile, list, and commands of the user's.
//!
//! Programs run in the task's working directory, in the process group of whoever performs the task. Their output is read and dropped,
//! in a check by the kernel. `ls` and the compiler leave nothing behind and are started and waited for directly; a command of the user's
//! may do anything, and runs below a guard.

use std::ops::Range;
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
use crate::tasks::programs::launch::Program;
use crate::tasks::{PartRecorder, ProbeTask, TaskError, TaskOutput, TaskSpec};

const LIST_PROGRAM: &str = "/bin/ls";
/// The compiled program.
pub(crate) const COMPILED: &str = "program";
/// Beginning of the name of the directory that is listed.
pub(crate) const LISTED: &str = "listed-";

/// Compile and link a small program.
#[derive(Default)]
pub(crate) struct CompileTask {
    /// Of whoever keeps the task, and has written its source into the working directory.
    given: Option<Compiler>,
    /// From the current directory to the working directory.
    path: String,
    programs: Option<Programs>,
    source: &'static str,
}

impl CompileTask {
    /// For whoever keeps the task: the compiler runs in the current directory, from which `path` leads to the working directory.
    pub(crate) fn kept(compiler: Compiler, path: String) -> Self {
        Self { given: Some(compiler), path, ..Self::default() }
    }
}

/// Nothing can be compiled.
pub(crate) fn no_compiler() -> TaskError {
    TaskError {
        failure: FailureCode::from_errno(libc::ENOTSUP),
        message: "no compiler was found (looked for cc, gcc, clang, gfortran, ifx, nvfortran and ftn in \
                  /usr/bin, /usr/local/bin, /bin and PATH); install one, or take compile out of the tasks"
            .to_owned(),
    }
}

impl ProbeTask for CompileTask {
    fn parts(&self) -> &[&'static str] {
        TaskSpec::Compile.part_names()
    }

    fn prepare(&mut self, place: BorrowedFd<'_>, recorder: &mut dyn PartRecorder) -> Result<(), TaskError> {
        let compiler = match &self.given {
            Some(compiler) => compiler.clone(),
            None => {
                // It is looked for in other directories.
                recorder.left_place();
                let environment: Vec<_> = std::env::vars_os().collect();
                let compiler = find_compiler(&environment).ok_or_else(no_compiler)?;
                self.source = compiler.language.file_name();
                make_once(place, self.source, || compiler.language.source().as_bytes().to_vec())?;
                compiler
            }
        };
        match unlinkat(place, COMPILED, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(cannot("remove the program of the last compilation", error)),
        }
        let program = [compilation(&compiler, &self.path)];
        let programs = match &self.given {
            Some(_) => Programs::spawned(&program),
            None => Programs::direct(&program, place),
        };
        self.programs = Some(programs.map_err(|error| cannot("get ready to start the compiler", error))?);
        Ok(())
    }

    fn perform(&mut self, place: BorrowedFd<'_>, recorder: &mut dyn PartRecorder) {
        run_parts(self.programs.take(), 0..1, recorder, || {
            if self.given.is_none() {
                forget(place, self.source);
            }
        });
    }
}

/// Compiles and links at once, as a user with one source file does.
fn compilation(compiler: &Compiler, path: &str) -> Program {
    let (source, compiled) =
        (format!("{path}{}", compiler.language.file_name()), format!("{path}{COMPILED}"));
    // Pipes instead of temporary files between the compiler's stages, where the option is known to exist.
    let pipe = compiler.has_pipe_option().then_some("-pipe");
    let arguments = ["-O1"].into_iter().chain(pipe).chain(["-o", &compiled, &source]);
    Program {
        path: compiler.path.clone(),
        arguments: arguments.map(Into::into).collect(),
        environment: compiler.environment.clone(),
    }
}

/// `ls -l` of a directory, then `ls -n`.
pub(crate) struct ListTask {
    program: PathBuf,
    directory: String,
    /// Files that are made in it; `None` if it is somebody else's.
    files: Option<u32>,
    get_ready: fn(&[Program], BorrowedFd<'_>) -> Result<Programs, Errno>,
    programs: Option<Programs>,
}

impl ListTask {
    pub(crate) fn new(files: u32, output: TaskOutput) -> Self {
        let get_ready = match output {
            TaskOutput::Terminal => Programs::direct_on_terminal,
            TaskOutput::Discard | TaskOutput::Number => Programs::direct,
        };
        let (program, directory) = (LIST_PROGRAM.into(), format!("{LISTED}{files}"));
        Self { program, directory, files: Some(files), get_ready, programs: None }
    }

    /// For whoever keeps the task: of a directory that somebody else has made, named as seen from the current directory.
    pub(crate) fn kept(program: PathBuf, directory: String) -> Self {
        let get_ready = |programs: &[Program], _: BorrowedFd<'_>| Programs::spawned(programs);
        Self { program, directory, files: None, get_ready, programs: None }
    }

    /// Performs these of its parts.
    pub(crate) fn perform_parts(
        &mut self,
        place: BorrowedFd<'_>,
        parts: Range<u8>,
        recorder: &mut dyn PartRecorder,
    ) {
        run_parts(self.programs.take(), parts, recorder, || {
            if self.files.is_some() {
                forget(place, &self.directory);
            }
        });
    }

    /// Its files are made once and not touched again before they are listed.
    fn make_listed(&self, place: BorrowedFd<'_>, recorder: &mut dyn PartRecorder) -> Result<(), Errno> {
        let Some(files) = self.files else { return Ok(()) };
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match openat(place, format!("{}{READY}", self.directory), flags, Mode::empty()) {
            Ok(_) => return Ok(()),
            Err(Errno::NOENT) => {}
            Err(error) => return Err(error),
        }
        let directory = make_directory(place, &self.directory)?;
        write_small_files(directory.as_fd(), files, |done| recorder.answered(done, files))?;
        write_ready(place, &self.directory)
    }
}

impl ProbeTask for ListTask {
    fn parts(&self) -> &[&'static str] {
        TaskSpec::List { files: 0, output: TaskOutput::Discard }.part_names()
    }

    fn prepare(&mut self, place: BorrowedFd<'_>, recorder: &mut dyn PartRecorder) -> Result<(), TaskError> {
        self.make_listed(place, recorder)
            .map_err(|error| cannot("make the directory to be listed", error))?;
        let list = |option: &str| Program {
            path: self.program.clone(),
            arguments: vec![option.into(), self.directory.clone().into()],
            environment: minimal_environment(),
        };
        let programs = (self.get_ready)(&[list("-l"), list("-n")], place);
        self.programs = Some(programs.map_err(|error| cannot("get ready to start ls", error))?);
        Ok(())
    }

    fn perform(&mut self, place: BorrowedFd<'_>, recorder: &mut dyn PartRecorder) {
        self.perform_parts(place, 0..2, recorder);
    }
}

/// Runs one program for each part, dropping their output. `if_failed` is called for a part whose program failed.
fn run_parts(
    programs: Option<Programs>,
    parts: Range<u8>,
    recorder: &mut dyn PartRecorder,
    if_failed: impl Fn(),
) {
    let Some(mut programs) = programs else {
        recorder.begin(0);
        recorder.end(0, failed(FailureCode::from_errno(libc::EBADF)));
        return;
    };
    programs.tell_guard(recorder);
    recorder.left_place();
    for index in parts {
        let part = usize::from(index);
        recorder.begin(part);
        let ending = programs.run(index, recorder.limit(), |_| {});
        recorder.end(part, ending);
        programs.see_rest(|_| {});
        if ending.failure == FailureCode::EXIT {
            if_failed();
        }
        say(&mut programs, ending.failure, recorder);
    }
}

/// Tells what a program that failed complained of.
fn say(programs: &mut Programs, failure: FailureCode, recorder: &mut dyn PartRecorder) {
    if !matches!(failure, FailureCode::NONE | FailureCode::TIME_UP)
        && let Some(complaint) = programs.complaint()
    {
        recorder.said(&complaint);
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
