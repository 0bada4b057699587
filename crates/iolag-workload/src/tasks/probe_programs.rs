//! The tasks that start programs: compile, list, and commands of the user's.
//!
//! Programs run in the task's working directory, in the probe's process group, below a guard. Their output is read and
//! dropped; the wait is for the program alone, so that what it leaves in the background with its streams does not hold the
//! probe, and is killed afterwards.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;

use iolag_model::FailureCode;
use rustix::fs::{AtFlags, Mode, OFlags, openat, unlinkat};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};

use super::compiler::{Compiler, find_compiler, minimal_environment};
use super::files::{make_directory, write_small_files};
use super::guard::{Guard, Happening};
use super::last_line::LastLine;
use super::launch::{Launch, Streams};
use super::probe_files::{READY, cannot, failed, forget, make_once, write_ready};
use super::program::Program;
use super::terminal::Terminal;
use super::{PartEnding, PartRecorder, ProbeTask, ProbeTaskError, TaskOutput, TaskSpec};

const LIST_PROGRAM: &str = "/bin/ls";
/// The compiled program.
pub(super) const COMPILED: &str = "program";
/// Beginning of the name of the directory that is listed.
pub(super) const LISTED: &str = "listed-";

/// Read at once.
const OUTPUT_BYTES: usize = 64 << 10;
/// What a program left in its pipe is read up to this much after its end: others may go on writing.
const OUTPUT_LEFT_BYTES_MAX: usize = 1 << 20;

/// Programs that are run one after the other as the parts of a task.
struct Programs {
    guard: Guard,
    buffer: Vec<u8>,
}

impl Programs {
    /// Gets ready to run these in `place`, with output into a pipe.
    fn in_pipe(programs: &[Program], place: BorrowedFd<'_>, keep_errors: bool) -> Result<Self, Errno> {
        let (output, pipe) = pipe_with(PipeFlags::CLOEXEC)?;
        let launch = |program| {
            let pipe = pipe.try_clone().map_err(|_| Errno::MFILE)?;
            let streams = if keep_errors { Streams::Pipe(pipe) } else { Streams::PipeWithoutErrors(pipe) };
            Launch::new(program, place, streams)
        };
        let launches = programs.iter().map(launch).collect::<Result<_, _>>()?;
        Self::guarded(launches, output)
    }

    fn on_terminal(program: &Program, place: BorrowedFd<'_>) -> Result<Self, Errno> {
        let terminal = Terminal::open()?;
        let launch = Launch::new(program, place, Streams::Terminal(terminal.programs))?;
        Self::guarded(vec![launch], terminal.person)
    }

    fn guarded(launches: Vec<Launch>, output: OwnedFd) -> Result<Self, Errno> {
        Ok(Self { guard: Guard::start(launches, output)?, buffer: vec![0; OUTPUT_BYTES] })
    }

    /// Runs the program with this index until it has ended.
    fn run(&mut self, index: u8, mut see: impl FnMut(&[u8])) -> PartEnding {
        self.guard.launch(index);
        loop {
            match self.guard.next(&mut self.buffer, None) {
                Happening::Report(report) => {
                    if let Some(ending) = report.ending() {
                        return ending;
                    }
                }
                Happening::Output(bytes) => see(&self.buffer[..bytes]),
                Happening::Quiet => {}
            }
        }
    }

    /// What the program wrote last and nobody has read yet.
    fn see_rest(&mut self, mut see: impl FnMut(&[u8])) {
        let mut left = OUTPUT_LEFT_BYTES_MAX;
        while let Some(bytes) = self.guard.output_left(&mut self.buffer) {
            see(&self.buffer[..bytes]);
            match left.checked_sub(bytes) {
                Some(less) => left = less,
                None => return,
            }
        }
    }
}

/// Compile and link a small program.
#[derive(Default)]
pub(super) struct CompileTask {
    programs: Option<Programs>,
    source: &'static str,
}

impl ProbeTask for CompileTask {
    fn parts(&self) -> &[&'static str] {
        TaskSpec::Compile.part_names()
    }

    fn prepare(&mut self, place: BorrowedFd<'_>) -> Result<(), ProbeTaskError> {
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
        let programs = Programs::in_pipe(&[compilation(&compiler)], place, true);
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
pub(super) struct ListTask {
    files: u32,
    directory: String,
    programs: Option<Programs>,
}

impl ListTask {
    pub(super) fn new(files: u32) -> Self {
        Self { files, directory: format!("{LISTED}{files}"), programs: None }
    }

    /// Its files are made once and not touched again before they are listed.
    fn make_listed(&self, place: BorrowedFd<'_>) -> Result<(), Errno> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match openat(place, format!("{}{READY}", self.directory), flags, Mode::empty()) {
            Ok(_) => return Ok(()),
            Err(Errno::NOENT) => {}
            Err(error) => return Err(error),
        }
        let directory = make_directory(place, &self.directory)?;
        write_small_files(directory.as_fd(), self.files)?;
        write_ready(place, &self.directory)
    }
}

impl ProbeTask for ListTask {
    fn parts(&self) -> &[&'static str] {
        TaskSpec::List { files: self.files }.part_names()
    }

    fn prepare(&mut self, place: BorrowedFd<'_>) -> Result<(), ProbeTaskError> {
        self.make_listed(place).map_err(|error| cannot("make the directory to be listed", error))?;
        let list = |option: &str| Program {
            path: PathBuf::from(LIST_PROGRAM),
            arguments: vec![option.into(), self.directory.clone().into()],
            environment: minimal_environment(),
        };
        let programs = Programs::in_pipe(&[list("-l"), list("-n")], place, true);
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
    recorder.guarded(programs.guard.id());
    for index in 0..parts {
        let part = usize::from(index);
        recorder.begin(part);
        let ending = programs.run(index, |_| {});
        recorder.end(part, ending);
        programs.see_rest(|_| {});
        if ending.failure == FailureCode::EXIT {
            if_failed(part);
        }
    }
}

/// A command of the user's.
pub(super) struct CommandTask {
    spec: TaskSpec,
    command: Vec<String>,
    output: TaskOutput,
    programs: Option<Programs>,
}

impl CommandTask {
    pub(super) fn new(command: &[String], output: TaskOutput) -> Self {
        let command = command.to_vec();
        Self { spec: TaskSpec::Command { command: command.clone(), output }, command, output, programs: None }
    }
}

impl ProbeTask for CommandTask {
    fn parts(&self) -> &[&'static str] {
        self.spec.part_names()
    }

    fn prepare(&mut self, place: BorrowedFd<'_>) -> Result<(), ProbeTaskError> {
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
            TaskOutput::Discard => Programs::in_pipe(&[program], place, true),
            TaskOutput::Number => Programs::in_pipe(&[program], place, false),
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
        recorder.guarded(programs.guard.id());
        recorder.begin(0);
        let mut ending = programs.run(0, |output| line.add(output));
        programs.see_rest(|output| line.add(output));
        ending.value = line.number();
        if ending.failure == FailureCode::NONE && ending.value.is_none() {
            ending.failure = FailureCode::PROTOCOL;
        }
        recorder.end(0, ending);
    }
}
