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
use super::launching::last_words::LastWords;
use super::launching::launch::{Launch, Program, Streams};

/// How often is looked for its end where the kernel does not tell of it.
const LOOK: Nanoseconds = Nanoseconds::from_milliseconds(1);
/// How much of its complaints is read at once.
const HEARD_BYTES: usize = 4096;
/// How often in a row: 64 KiB, which a pipe holds.
const HEARD_TIMES_MAX: usize = 16;

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
            said: last_line(&format!("{} cannot be started: {error}", self.path.display())),
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
        let (pipe, errors) = pipe_with(PipeFlags::CLOEXEC)?;
        ioctl_fionbio(&pipe, true)?;
        let mut complaints = Complaints { pipe: Some(pipe), last_words: LastWords::default() };
        let process = self.start(from, to, errors)?;
        let is_late = !has_ended_by(process, until, &mut complaints);
        if is_late {
            // If it is gone meanwhile that shows in its status.
            let _ = kill_process(process, Signal::KILL);
        }
        match end_of(process)?.exit_status() {
            Some(0) => Ok(()),
            None if is_late => Err(ProgramFailure { code: FailureCode::DEADLINE, said: None }),
            _ => Err(ProgramFailure { code: FailureCode::EXIT, said: complaints.last_words.line() }),
        }
    }
}

/// Waits for its end, until then, and hears its complaints meanwhile: a program that nobody hears waits when a pipe is full of them.
fn has_ended_by(process: Pid, until: MonotonicTime, complaints: &mut Complaints) -> bool {
    let descriptor = pidfd_open(process, PidfdFlags::empty());
    loop {
        let left = until.since(MonotonicClock.now());
        let ended = match &descriptor {
            Ok(descriptor) => {
                let mut waited = vec![PollFd::new(descriptor, PollFlags::IN)];
                waited.extend(complaints.pipe.as_ref().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
                // Interrupted or not, both are looked at.
                let _ = poll(&mut waited, Some(&left.as_timespec()));
                !waited[0].revents().is_empty()
            }
            Err(_) => {
                MonotonicClock.sleep_until(MonotonicClock.now().after(LOOK.min(left)));
                let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
                !matches!(waitid(WaitId::Pid(process), look), Ok(None) | Err(Errno::INTR))
            }
        };
        complaints.hear();
        if ended || left == Nanoseconds::ZERO {
            return ended;
        }
    }
}

/// What it complains of.
struct Complaints {
    /// Where it is heard, until nobody has the other end any more.
    pipe: Option<OwnedFd>,
    last_words: LastWords,
}

impl Complaints {
    /// Hears what has been said, as much as a pipe holds: what the program has started may go on complaining without end.
    fn hear(&mut self) {
        let mut bytes = [0; HEARD_BYTES];
        for _ in 0..HEARD_TIMES_MAX {
            match self.pipe.as_ref().map(|pipe| read(pipe, &mut bytes)) {
                Some(Ok(0)) => self.pipe = None,
                Some(Ok(length)) => self.last_words.add(&bytes[..length]),
                Some(Err(_)) | None => return,
            }
        }
    }
}

/// As complaints are told.
fn last_line(text: &str) -> Option<String> {
    let mut words = LastWords::default();
    words.add(text.as_bytes());
    words.line()
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
    fn who_complains_more_than_a_pipe_holds_is_heard_to_the_end_and_tells_no_secret() {
        let place = tempfile::tempdir().unwrap();
        let (file, copy) = files(&place);
        let cp = made_up(
            &place,
            "yes 'cannot read' | head -c 300000 >&2; printf 'at http://me:hush@host \\033[2J\\n' >&2; exit 1",
        );
        let failure = cp.copy(file.as_fd(), copy.as_fd(), late()).unwrap_err();
        let said = Some("at http://me:***@host \u{fffd}[2J");
        assert_eq!((failure.code, failure.said.as_deref()), (FailureCode::EXIT, said));
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
