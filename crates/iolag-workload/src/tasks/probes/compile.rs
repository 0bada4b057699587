//! Compiling and linking a small program.

use std::os::fd::BorrowedFd;

use iolag_model::FailureCode;
use rustix::fs::{AtFlags, unlinkat};
use rustix::io::Errno;

use super::files::{cannot, forget, make_once};
use super::running::{Programs, run_parts};
use crate::tasks::launching::compiler::{Compiler, find_compiler};
use crate::tasks::launching::launch::Program;
use crate::tasks::{PartRecorder, ProbeTask, TaskError, TaskSpec};

/// The compiled program.
pub(crate) const COMPILED: &str = "program";

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
