//! cp(1), which copies one open file to another.
//!
//! The two files are its input and its output, and it gets them by these: no name in a directory is looked up, so that nothing but what
//! was opened is read or written. It is in the process group of who starts it, and ends with that thread.
//!
//! Limits: without pidfd_open(2) (Linux 5.3) its end is seen up to a millisecond late.

use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;

use iolag_backend::{CopyProgram, ProgramFailure};
use iolag_model::{Clock, FailureCode, MonotonicClock, MonotonicTime, Nanoseconds};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::{Errno, fcntl_dupfd_cloexec, ioctl_fionbio, read};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, WaitIdStatus, kill_process, pidfd_open, waitid,
};

use super::launching::compiler::{is_program, minimal_environment};
use super::launching::launch::{Launch, Program, Streams};

/// How often is looked for its end where the kernel does not tell of it.
const LOOK: Nanoseconds = Nanoseconds::from_milliseconds(1);
/// Longer than this it does not complain.
const SAID_BYTES_MAX: usize = 4096;

/// The program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cp {
    path: PathBuf,
}

impl Cp {
    /// The first one in a list of directories such as `PATH`. Touches them: they may not answer.
    pub fn find(directories: &OsStr) -> Option<Self> {
        let mut directories = std::env::split_paths(directories).filter(|directory| directory.is_absolute());
        directories
            .find_map(|directory| Some(directory.join("cp")).filter(|path| is_program(path)))
            .map(|path| Self { path })
    }

    fn start(
        &self,
        from: BorrowedFd<'_>,
        to: BorrowedFd<'_>,
        errors: OwnedFd,
    ) -> Result<Pid, ProgramFailure> {
        let files = ["--", "/proc/self/fd/0", "/proc/self/fd/1"];
        let program = Program {
            path: self.path.clone(),
            arguments: files.map(Into::into).to_vec(),
            environment: minimal_environment(),
        };
        let root = open("/", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let input = fcntl_dupfd_cloexec(from, 3)?;
        let streams = Streams::Files { input, output: fcntl_dupfd_cloexec(to, 3)?, errors };
        let id = Launch::new(&program, root.as_fd(), streams)?.start().map_err(|error| ProgramFailure {
            code: FailureCode::from_errno(error.raw_os_error().unwrap_or(libc::EIO)),
            said: Some(format!("{} cannot be started: {error}", self.path.display())),
        })?;
        Ok(i32::try_from(id).ok().and_then(Pid::from_raw).ok_or(Errno::SRCH)?)
    }
}

impl CopyProgram for Cp {
    fn copy(
        &self,
        from: BorrowedFd<'_>,
        to: BorrowedFd<'_>,
        until: MonotonicTime,
    ) -> Result<(), ProgramFailure> {
        let (heard, errors) = pipe_with(PipeFlags::CLOEXEC)?;
        ioctl_fionbio(&heard, true)?;
        let process = self.start(from, to, errors)?;
        let is_late = !has_ended_by(process, until);
        if is_late {
            // If it is gone meanwhile that shows in its status.
            let _ = kill_process(process, Signal::KILL);
        }
        match end_of(process)?.exit_status() {
            Some(0) => Ok(()),
            None if is_late => Err(ProgramFailure { code: FailureCode::DEADLINE, said: None }),
            _ => Err(ProgramFailure { code: FailureCode::EXIT, said: said(&heard) }),
        }
    }
}

/// Waits for its end, until then.
fn has_ended_by(process: Pid, until: MonotonicTime) -> bool {
    let descriptor = pidfd_open(process, PidfdFlags::empty());
    loop {
        let left = until.since(MonotonicClock.now());
        let ended = match &descriptor {
            Ok(descriptor) => {
                let mut ends = [PollFd::new(descriptor, PollFlags::IN)];
                matches!(poll(&mut ends, Some(&left.as_timespec())), Ok(1..))
            }
            Err(_) => {
                MonotonicClock.sleep_until(MonotonicClock.now().after(LOOK.min(left)));
                let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
                !matches!(waitid(WaitId::Pid(process), look), Ok(None) | Err(Errno::INTR))
            }
        };
        if ended || left == Nanoseconds::ZERO {
            return ended;
        }
    }
}

/// What it ended with, which frees its number: only then its processor time is that of its parent's children.
fn end_of(process: Pid) -> Result<WaitIdStatus, Errno> {
    loop {
        match waitid(WaitId::Pid(process), WaitIdOptions::EXITED) {
            Ok(Some(status)) => return Ok(status),
            Ok(None) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
}

/// The last line of its complaints.
fn said(heard: &OwnedFd) -> Option<String> {
    let mut bytes = [0; SAID_BYTES_MAX];
    let read = read(heard, &mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes[..read]);
    text.lines().map(str::trim).rfind(|line| !line.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::os::unix::fs::PermissionsExt;
    use std::time::Instant;

    fn late() -> MonotonicTime {
        MonotonicClock.now().after(Nanoseconds::from_seconds(60))
    }

    fn files(place: &tempfile::TempDir) -> (File, File) {
        std::fs::write(place.path().join("file"), vec![7; 300_000]).unwrap();
        let copy = File::create(place.path().join("copy")).unwrap();
        (File::open(place.path().join("file")).unwrap(), copy)
    }

    /// A program of this name and text.
    fn made_up(place: &tempfile::TempDir, script: &str) -> Cp {
        let path = place.path().join("cp");
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        Cp::find(place.path().as_os_str()).unwrap()
    }

    #[test]
    fn all_of_a_file_is_copied_to_what_is_open_whatever_its_name_leads_to_now() {
        let place = tempfile::tempdir().unwrap();
        let (file, copy) = files(&place);
        let theirs = place.path().join("theirs");
        std::fs::write(&theirs, "theirs").unwrap();
        std::fs::rename(place.path().join("copy"), place.path().join("ours")).unwrap();
        std::os::unix::fs::symlink(&theirs, place.path().join("copy")).unwrap();
        let cp = Cp::find(OsStr::new("relative:/nowhere:/usr/bin:/bin")).unwrap();
        assert_eq!(cp.copy(file.as_fd(), copy.as_fd(), late()), Ok(()));
        assert_eq!(std::fs::read(place.path().join("ours")).unwrap(), vec![7; 300_000]);
        assert_eq!(std::fs::read(theirs).unwrap(), b"theirs");
        assert_eq!(Cp::find(OsStr::new("/nowhere:")), None);
    }

    #[test]
    fn what_a_program_that_fails_says_last_is_told() {
        let place = tempfile::tempdir().unwrap();
        let (file, copy) = files(&place);
        let cp = made_up(&place, "echo first >&2; echo 'no room left' >&2; exit 3");
        let failure = cp.copy(file.as_fd(), copy.as_fd(), late()).unwrap_err();
        assert_eq!((failure.code, failure.said.as_deref()), (FailureCode::EXIT, Some("no room left")));
    }

    #[test]
    fn a_program_that_does_not_end_is_ended_when_its_time_is_over() {
        let place = tempfile::tempdir().unwrap();
        let (file, copy) = files(&place);
        let cp = made_up(&place, "exec sleep 60");
        let start = Instant::now();
        let until = MonotonicClock.now().after(Nanoseconds::from_milliseconds(300));
        let failure = cp.copy(file.as_fd(), copy.as_fd(), until).unwrap_err();
        assert_eq!(failure, ProgramFailure { code: FailureCode::DEADLINE, said: None });
        assert!((0.3..30.0).contains(&start.elapsed().as_secs_f64()));
    }
}
