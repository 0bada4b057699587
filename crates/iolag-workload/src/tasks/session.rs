//! A session that also executes tasks.

use std::any::Any;
use std::path::PathBuf;

use iolag_backend::{Completion, Request, Session};
use iolag_model::{FailureCode, Operation};
use rustix::fd::{AsFd, AsRawFd, OwnedFd};
use rustix::fs::{AtFlags, unlinkat};
use rustix::io::Errno;
use rustix::process::fchdir;
use rustix::thread::{UnshareFlags, unshare_unsafe};

use super::files::{ManyFiles, make_directory, write_file};
use super::limits::TaskLimits;
use super::programs::compiler::{Compiler, minimal_environment};
use super::programs::program::{Program, Runner};

/// The directory in which the program is compiled.
const COMPILED: &str = "check-compile";
/// The program, relative to that directory.
const PROGRAM: &str = "program";

/// Adds tasks to a session: `Task…` operations are executed here, everything else by the inner session.
///
/// Programs run in the working directory: the thread that opens the session gets a current directory of its own. A failed
/// program is a completion with [`FailureCode::EXIT`], what it said is in [`Session::message`].
pub struct TaskSession {
    inner: Box<dyn Session>,
    place: OwnedFd,
    limits: TaskLimits,
    compiler: Option<Compiler>,
    /// Made before the first compilation.
    compile_directory: Option<Result<OwnedFd, Errno>>,
    compile: Option<Program>,
    list: Program,
    list_numeric: Program,
    runner: Runner,
    many_files: ManyFiles,
    /// Whose failure `message` is asked about.
    last: Executor,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Executor {
    Inner,
    Runner,
    ManyFiles,
}

/// What the tasks are to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskOptions {
    /// The directory that is listed, relative to the working directory. Whoever lists it has made it.
    pub listed: String,
    /// Files that the create task makes.
    pub created_files: u32,
    /// The program that lists; `/bin/ls` in earnest.
    pub list_program: PathBuf,
    /// The compiler, if one was found; without, the compile task is not supported.
    pub compiler: Option<Compiler>,
}

/// The tasks cannot be set up.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} for the tasks in {path}: {source}")]
pub struct TaskError {
    action: &'static str,
    path: String,
    source: std::io::Error,
}

impl TaskSession {
    /// Takes the open working directory, whose path is for people, for tasks, and makes it the calling thread's current directory.
    ///
    /// # Errors
    /// If that is not possible.
    pub fn open(
        inner: Box<dyn Session>,
        (directory, place): (OwnedFd, PathBuf),
        options: &TaskOptions,
        limits: TaskLimits,
    ) -> Result<Self, TaskError> {
        let path = place.display().to_string();
        let prefix = match take_own_current_directory() {
            Ok(()) => {
                fchdir(&directory).map_err(|errno| TaskError {
                    action: "change to the working directory",
                    path: path.clone(),
                    source: errno.into(),
                })?;
                String::new()
            }
            // Containers often refuse to unshare. Programs then find the directory by this thread's descriptor: by its path another
            // may stand there by then.
            Err(_) => format!(
                "/proc/{}/task/{}/fd/{}/",
                std::process::id(),
                rustix::thread::gettid(),
                directory.as_raw_fd()
            ),
        };
        let list = |option: &str| Program {
            path: options.list_program.clone(),
            arguments: vec![option.into(), format!("{prefix}{}", options.listed).into()],
            environment: minimal_environment(),
        };
        Ok(Self {
            inner,
            place: directory,
            limits,
            compiler: options.compiler.clone(),
            compile_directory: None,
            compile: options.compiler.as_ref().map(|compiler| compilation(compiler, &prefix)),
            list: list("-l"),
            list_numeric: list("-n"),
            runner: Runner::new().map_err(|source| TaskError { action: "open /dev/null", path, source })?,
            many_files: ManyFiles::new(options.created_files),
            last: Executor::Inner,
        })
    }

    /// Which compiler the compile task uses; `None` if none was found.
    pub fn compiler_name(&self) -> Option<String> {
        self.compile.as_ref().map(|program| program.path.display().to_string())
    }

    /// Writes the source before the first compilation, and removes the program of the last one, so that each makes it anew.
    fn prepare_compilation(&mut self) {
        match (&self.compile_directory, &self.compiler) {
            // Any trouble shows in the compilation itself.
            (Some(Ok(directory)), _) => drop(unlinkat(directory, PROGRAM, AtFlags::empty())),
            (None, Some(compiler)) => self.compile_directory = Some(make_compiled(&self.place, compiler)),
            _ => {}
        }
        if let Some(program) = &self.compile {
            self.runner.prepare(program);
        }
    }
}

const fn executor_of(operation: Operation) -> Executor {
    match operation {
        Operation::TaskList | Operation::TaskListNumeric | Operation::TaskCompile => Executor::Runner,
        Operation::TaskCreate => Executor::ManyFiles,
        _ => Executor::Inner,
    }
}

#[deny(clippy::missing_trait_methods)]
impl Session for TaskSession {
    fn prepare(&mut self, request: &Request) {
        self.last = executor_of(request.operation);
        match request.operation {
            Operation::TaskList => self.runner.prepare(&self.list),
            Operation::TaskListNumeric => self.runner.prepare(&self.list_numeric),
            Operation::TaskCompile => self.prepare_compilation(),
            Operation::TaskCreate => self.many_files.prepare(self.place.as_fd(), request.key.index),
            _ => self.inner.prepare(request),
        }
    }

    fn execute(&mut self, request: &Request) -> Completion {
        match self.last {
            Executor::Inner => self.inner.execute(request),
            Executor::ManyFiles => self.many_files.execute(request.until(), &self.limits),
            Executor::Runner if request.operation == Operation::TaskCompile && self.compile.is_none() => {
                Completion::failed(FailureCode::from_errno(libc::ENOTSUP))
            }
            Executor::Runner => self.runner.execute(request.until(), &self.limits),
        }
    }

    fn inspects(&self) -> bool {
        true
    }

    fn inspect(&mut self, request: &Request, completion: Completion) -> Completion {
        match self.last {
            Executor::Inner => self.inner.inspect(request, completion),
            Executor::Runner | Executor::ManyFiles => completion,
        }
    }

    fn message(&mut self) -> Option<String> {
        match self.last {
            Executor::Inner => self.inner.message(),
            Executor::Runner => self.runner.message(),
            Executor::ManyFiles => None,
        }
    }

    /// The tasks would be passed by.
    fn as_any(&mut self) -> Option<&mut dyn Any> {
        None
    }
}

fn make_compiled(place: &OwnedFd, compiler: &Compiler) -> Result<OwnedFd, Errno> {
    let directory = make_directory(place.as_fd(), COMPILED)?;
    let language = compiler.language;
    write_file(directory.as_fd(), language.file_name(), language.source().as_bytes())?;
    Ok(directory)
}

/// Compiles and links at once, as a user with one source file does.
fn compilation(compiler: &Compiler, prefix: &str) -> Program {
    let source = format!("{prefix}{COMPILED}/{}", compiler.language.file_name());
    let output = format!("{prefix}{COMPILED}/{PROGRAM}");
    // Pipes instead of temporary files between the compiler's stages, where the option is known to exist.
    let pipe = compiler.has_pipe_option().then_some("-pipe");
    let arguments = ["-O1"].into_iter().chain(pipe).chain(["-o", &output, &source]);
    Program {
        path: compiler.path.clone(),
        arguments: arguments.map(Into::into).collect(),
        environment: compiler.environment.clone(),
    }
}

/// Programs inherit the current directory of the thread that starts them. The driver gives every thread its own; asking
/// again is harmless, and makes the session safe on any thread.
fn take_own_current_directory() -> Result<(), Errno> {
    // SAFETY: only the sharing of current directory, root and umask ends; no descriptor is affected.
    unsafe { unshare_unsafe(UnshareFlags::FS) }
}
