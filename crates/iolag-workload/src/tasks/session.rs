//! A session that also executes tasks.

use std::any::Any;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;

use iolag_backend::{Completion, Mark, Request, Session};
use iolag_model::{FailureCode, Level, Operation};
use rustix::io::Errno;
use rustix::process::fchdir;
use rustix::thread::{UnshareFlags, unshare_unsafe};

use super::CREATED_FILE_BYTES;
use super::files::{make_directory, write_file};
use super::launching::compiler::Compiler;
use super::limits::{TaskLimit, TaskLimits};
use super::probe_task::{PartEnding, PartRecorder, ProbeTask, TaskError};
use super::probes::compile::{CompileTask, no_compiler};
use super::probes::files::{CreateTask, cannot};
use super::probes::list::ListTask;

/// The directory in which the program is compiled.
const COMPILED: &str = "check-compile";

/// Adds tasks to a session: `Task…` operations are executed here, everything else by the inner session.
///
/// Programs run in the working directory: the thread that makes the session gets a current directory of its own. A failed
/// program is a completion with [`FailureCode::EXIT`], what it said is in [`Session::message`].
pub struct TaskSession {
    inner: Box<dyn Session>,
    place: OwnedFd,
    /// From the current directory to the working directory.
    path: String,
    limits: TaskLimits,
    list: ListTask,
    create: CreateTask,
    compiler: Option<Compiler>,
    /// With its directory; made before the first compilation.
    compile: Option<(CompileTask, OwnedFd)>,
    /// Whether the task that is to be executed is ready; `None` for what the inner session executes.
    prepared: Option<Result<(), TaskError>>,
    message: Option<String>,
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

impl TaskSession {
    /// Takes the open working directory for the tasks, and makes it the calling thread's current directory.
    pub fn new(inner: Box<dyn Session>, place: OwnedFd, options: TaskOptions, limits: TaskLimits) -> Self {
        let path = match take_own_current_directory().and_then(|()| fchdir(&place)) {
            Ok(()) => String::new(),
            // Containers often refuse to unshare. Programs then find the directory by this thread's descriptor: by its path another
            // may stand there by then.
            Err(_) => {
                let (process, thread) = (std::process::id(), rustix::thread::gettid());
                format!("/proc/{process}/task/{thread}/fd/{}/", place.as_raw_fd())
            }
        };
        let listed = format!("{path}{}", options.listed);
        Self {
            inner,
            place,
            path,
            limits,
            list: ListTask::kept(options.list_program, listed),
            create: CreateTask::new(options.created_files, CREATED_FILE_BYTES),
            compiler: options.compiler,
            compile: None,
            prepared: None,
            message: None,
        }
    }

    fn prepare_task(&mut self, request: &Request) -> Result<(), TaskError> {
        let (place, recorder) = (self.place.as_fd(), &mut Account::default());
        match request.operation {
            Operation::TaskCreate => {
                self.create.prepare_anew(place, format!("check-create-{}", request.key.index), recorder)
            }
            Operation::TaskCompile => {
                if self.compile.is_none() {
                    let compiler = self.compiler.clone().ok_or_else(no_compiler)?;
                    let directory = make_compiled(place, &compiler)
                        .map_err(|error| cannot("make the directory to compile in", error))?;
                    let path = format!("{}{COMPILED}/", self.path);
                    self.compile = Some((CompileTask::kept(compiler, path), directory));
                }
                let (task, directory) = self.compile.as_mut().ok_or_else(no_compiler)?;
                task.prepare(directory.as_fd(), recorder)
            }
            _ => self.list.prepare(place, recorder),
        }
    }
}

#[deny(clippy::missing_trait_methods)]
impl Session for TaskSession {
    fn prepare(&mut self, request: &Request) {
        self.prepared = (request.operation.level() == Level::Task).then(|| self.prepare_task(request));
        if self.prepared.is_none() {
            self.inner.prepare(request);
        }
    }

    fn execute(&mut self, request: &Request) -> Completion {
        let Some(prepared) = &self.prepared else { return self.inner.execute(request) };
        let mut account = Account { limit: Some(self.limits.until(request.until())), ..Account::default() };
        match (prepared, request.operation, &mut self.compile) {
            (Err(error), ..) => {
                account.failure = error.failure;
                account.said(&error.message);
            }
            (Ok(()), Operation::TaskCreate, _) => self.create.perform_whole(&mut account),
            (Ok(()), Operation::TaskCompile, Some((task, directory))) => {
                task.perform(directory.as_fd(), &mut account);
            }
            (Ok(()), operation, _) => {
                let part = u8::from(operation == Operation::TaskListNumeric);
                self.list.perform_parts(self.place.as_fd(), part..part + 1, &mut account);
            }
        }
        let completion = account.completion();
        self.message = account.said;
        completion
    }

    fn inspects(&self) -> bool {
        true
    }

    fn inspect(&mut self, request: &Request, completion: Completion) -> Completion {
        match self.prepared {
            None => self.inner.inspect(request, completion),
            Some(_) => completion,
        }
    }

    fn message(&mut self) -> Option<String> {
        match self.prepared {
            None => self.inner.message(),
            Some(_) => self.message.take(),
        }
    }

    fn marks(&self) -> &[Mark] {
        match self.prepared {
            None => self.inner.marks(),
            Some(_) => &[],
        }
    }

    /// The tasks would be passed by.
    fn as_any(&mut self) -> Option<&mut dyn Any> {
        None
    }
}

/// Programs inherit the current directory of the thread that starts them. The driver gives every thread its own; asking
/// again is harmless, and makes the session safe on any thread.
fn take_own_current_directory() -> Result<(), Errno> {
    // SAFETY: only the sharing of current directory, root and umask ends; no descriptor is affected.
    unsafe { unshare_unsafe(UnshareFlags::FS) }
}

fn make_compiled(place: BorrowedFd<'_>, compiler: &Compiler) -> Result<OwnedFd, Errno> {
    let directory = make_directory(place, COMPILED)?;
    let language = compiler.language;
    write_file(directory.as_fd(), language.file_name(), language.source().as_bytes())?;
    Ok(directory)
}

/// What a task says of itself.
#[derive(Default)]
struct Account<'a> {
    limit: Option<TaskLimit<'a>>,
    /// Files that are there.
    files: u32,
    failure: FailureCode,
    said: Option<String>,
}

impl Account<'_> {
    /// Bytes are those of the files that were created.
    fn completion(&self) -> Completion {
        let bytes = u64::from(self.files) * CREATED_FILE_BYTES;
        match self.failure {
            FailureCode::NONE => Completion::ok(bytes),
            FailureCode::TIME_UP => Completion::interrupted(bytes),
            failure => Completion::failed(failure),
        }
    }
}

impl PartRecorder for Account<'_> {
    fn begin(&mut self, _part: usize) {}

    fn end(&mut self, _part: usize, ending: PartEnding) {
        self.failure = ending.failure;
    }

    fn said(&mut self, line: &str) {
        self.said = Some(line.to_owned());
    }

    fn answered(&mut self, done: u32, _of: u32) {
        self.files = done;
    }

    fn limit(&self) -> Option<TaskLimit<'_>> {
        self.limit
    }
}
