//! A look-up of what is not there, as shells make many.

use std::os::fd::BorrowedFd;

use iolag_model::FailureCode;
use rustix::fs::{AtFlags, StatxFlags, statx};
use rustix::io::Errno;

use crate::tasks::{PartEnding, PartRecorder, ProbeTask, TaskError, TaskSpec};

/// One stat of a name that is not there.
#[derive(Debug)]
pub(crate) struct AbsentTask;

impl ProbeTask for AbsentTask {
    fn parts(&self) -> &[&'static str] {
        TaskSpec::Absent.part_names()
    }

    fn prepare(&mut self, _place: BorrowedFd<'_>, _recorder: &mut dyn PartRecorder) -> Result<(), TaskError> {
        Ok(())
    }

    fn perform(&mut self, place: BorrowedFd<'_>, recorder: &mut dyn PartRecorder) {
        recorder.begin(0);
        let answer = statx(place, "absent", AtFlags::SYMLINK_NOFOLLOW, StatxFlags::BASIC_STATS);
        let failure = match answer {
            Ok(_) | Err(Errno::NOENT) => FailureCode::NONE,
            Err(error) => FailureCode::from_errno(error.raw_os_error()),
        };
        recorder.end(0, PartEnding { failure, ..PartEnding::default() });
    }
}
