//! Listing a directory, as `ls -l` and `ls -n` do it.

use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;

use rustix::fs::{Mode, OFlags, openat};
use rustix::io::Errno;

use super::files::{READY, cannot, forget, write_ready};
use super::running::{Programs, run_parts};
use crate::tasks::files::{make_directory, write_small_files};
use crate::tasks::launching::compiler::minimal_environment;
use crate::tasks::launching::launch::Program;
use crate::tasks::{PartRecorder, ProbeTask, TaskError, TaskOutput, TaskSpec};

const LIST_PROGRAM: &str = "/bin/ls";
/// Beginning of the name of the directory that is listed.
pub(crate) const LISTED: &str = "listed-";

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
