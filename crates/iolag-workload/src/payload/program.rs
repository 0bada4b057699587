//! The command itself, below its guard.

use std::os::fd::BorrowedFd;

use iolag_model::{Clock, FailureCode, MonotonicClock, MonotonicTime, Nanoseconds};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};

use crate::tasks::guard::handle::{Guard, Happening};
use crate::tasks::guard::report::Report;
use crate::tasks::launching::last_words::LastWords;
use crate::tasks::launching::launch::{Launch, Program, Streams, nowhere};

/// How often it is looked whether it may go on.
const LOOK: Nanoseconds = Nanoseconds::from_milliseconds(50);
/// Complaints are read in such pieces.
const BUFFER_BYTES: usize = 4096;
/// So many pieces are read after its end: others may go on writing.
const PIECES_LEFT_MAX: usize = 16;

/// How a payload ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PayloadEnd {
    /// Whether, and how, it failed.
    pub code: FailureCode,
    /// When it was started.
    pub start: MonotonicTime,
    /// What it took of the processors, if that is known.
    pub processor: Option<Nanoseconds>,
    /// How it ended and what it complained of, if it failed.
    pub said: Option<String>,
}

/// A command that is ready to be run; dropped, it ends with all that it started.
#[derive(Debug)]
pub struct PayloadProgram {
    guard: Guard,
    buffer: Box<[u8]>,
    last_words: LastWords,
}

impl PayloadProgram {
    /// Gets ready to give the command to a shell in this directory; forks the guard, so that the process is to have one thread.
    ///
    /// # Errors
    /// If there is no process or descriptor left.
    pub fn new(command: &str, directory: BorrowedFd<'_>) -> Result<Self, Errno> {
        let program = Program {
            path: "/bin/sh".into(),
            arguments: vec!["-c".into(), command.into()],
            environment: std::env::vars_os().collect(),
        };
        let (errors, errors_there) = pipe_with(PipeFlags::CLOEXEC)?;
        let streams = Streams::Files { input: nowhere()?, output: nowhere()?, errors: errors_there };
        let launch = Launch::alone(&program, directory, streams)?;
        let guard = Guard::start(vec![launch], nowhere()?, Some(errors))?;
        let buffer = vec![0; BUFFER_BYTES].into();
        Ok(Self { guard, buffer, last_words: LastWords::default() })
    }

    /// Runs it until it has ended, or until it `is_stopped`.
    pub(super) fn run(&mut self, is_stopped: impl Fn() -> bool) -> PayloadEnd {
        let start = MonotonicClock.now();
        self.guard.launch(0);
        while !is_stopped() {
            match self.guard.next(&mut self.buffer, Some(LOOK)) {
                Happening::Report(report @ (Report::Ended(..) | Report::NotStarted(_))) => {
                    return self.ended(report, start);
                }
                Happening::Errors(bytes) => self.last_words.add(&self.buffer[..bytes]),
                Happening::Report(Report::Started(_)) | Happening::Output(_) | Happening::Quiet => {}
            }
        }
        PayloadEnd { code: FailureCode::CUT, start, processor: None, said: None }
    }

    fn ended(&mut self, report: Report, start: MonotonicTime) -> PayloadEnd {
        if report == Report::NotStarted(FailureCode::ABANDONED) {
            let said = Some("the payload failed: the process that looked after it was ended".to_owned());
            return PayloadEnd { code: FailureCode::ABANDONED, start, processor: None, said };
        }
        let ending = report.ending().unwrap_or_default();
        let processor = Some(Nanoseconds(ending.processor.iter().map(|part| part.0).sum()));
        let said = (ending.failure != FailureCode::NONE).then(|| self.complaint(report));
        PayloadEnd { code: ending.failure, start, processor, said }
    }

    /// `the payload failed: exit status: 2 (cannot open x)`
    fn complaint(&mut self, report: Report) -> String {
        for _ in 0..PIECES_LEFT_MAX {
            let Happening::Errors(bytes) = self.guard.next(&mut self.buffer, Some(Nanoseconds::ZERO)) else {
                break;
            };
            self.last_words.add(&self.buffer[..bytes]);
        }
        let said = self.last_words.line().map_or_else(String::new, |line| format!(" ({line})"));
        format!("the payload failed: {}{said}", report.describe("/bin/sh"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::os::fd::AsFd;
    use std::path::Path;
    use std::time::{Duration, Instant};

    fn run(command: &str, place: &Path, is_stopped: impl Fn() -> bool) -> PayloadEnd {
        let directory = File::open(place).unwrap();
        PayloadProgram::new(command, directory.as_fd()).unwrap().run(is_stopped)
    }

    fn ended(command: &str) -> PayloadEnd {
        run(command, Path::new("/"), || false)
    }

    #[test]
    fn who_sleeps_takes_hardly_any_processor_time_and_who_counts_does_also_in_a_child() {
        let began = Instant::now();
        let slept = ended("sleep 0.2");
        assert!(began.elapsed() >= Duration::from_millis(200), "{slept:?}");
        assert_eq!((slept.code, slept.said.as_ref()), (FailureCode::NONE, None));
        assert!(slept.processor.is_some_and(|took| took < Nanoseconds::from_milliseconds(100)), "{slept:?}");
        let counted = ended("(i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done); :");
        assert!(
            counted.processor.is_some_and(|took| took > Nanoseconds::from_milliseconds(20)),
            "{counted:?}"
        );
    }

    #[test]
    fn a_failure_is_told_with_its_status_and_the_last_complaint() {
        let failed = ended("echo first >&2; echo no room >&2; exit 3");
        assert_eq!(failed.code, FailureCode::EXIT);
        assert_eq!(failed.said.unwrap(), "the payload failed: exit status: 3 (no room)");
        let killed = ended("kill -9 $$");
        assert_eq!(killed.code, FailureCode::EXIT);
        assert!(killed.said.unwrap().starts_with("the payload failed: signal: 9"));
        let alone = ended("kill -9 $PPID; sleep 1");
        assert_eq!((alone.code, alone.processor), (FailureCode::ABANDONED, None), "{alone:?}");
        assert!(alone.said.unwrap().ends_with("the process that looked after it was ended"));
    }

    #[test]
    fn it_stands_in_its_directory_in_a_session_of_its_own_and_its_output_goes_nowhere() {
        let place = tempfile::tempdir().unwrap();
        let own = std::process::id();
        let command = format!(
            "yes | head -c 1000000; cut -d' ' -f6 /proc/$$/stat > session; echo $$ > own; [ $PPID != {own} ]"
        );
        assert_eq!(run(&command, place.path(), || false).code, FailureCode::NONE);
        let read = |name| std::fs::read_to_string(place.path().join(name)).unwrap();
        assert_eq!(read("session"), read("own"));
    }

    #[test]
    fn who_is_stopped_is_soon_gone_with_all_that_it_started() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("processes");
        // One goes away from its group and its parent.
        let command = "setsid sh -c 'echo $$ >> processes; exec sleep 60' & echo $$ >> processes; sleep 60";
        let both = || std::fs::read_to_string(&path).is_ok_and(|told| told.lines().count() == 2);
        let seen = std::cell::Cell::new(None);
        let is_stopped = || both() && seen.replace(seen.get().or_else(|| Some(Instant::now()))).is_some();
        assert_eq!(run(command, place.path(), is_stopped).code, FailureCode::CUT);
        assert!(seen.get().unwrap().elapsed() < Duration::from_secs(5));
        for process in std::fs::read_to_string(&path).unwrap().lines() {
            assert!(!Path::new("/proc").join(process).exists(), "{process} is left");
        }
    }
}
