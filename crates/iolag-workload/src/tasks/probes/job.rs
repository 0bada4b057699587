//! What a job asks while it sets itself up, as small as a guest may do it every quarter of an hour: stat and open calls on a tree of small files, most of
//! which look for what is not there. `iolag bench setup` makes such calls by many copies at once.
//!
//! The tree is made once and not touched between two probes, like the files of the other tasks ([`super::files`]). Names and order are there before the clock
//! is read.

use std::ffi::CString;
use std::os::fd::{AsFd, BorrowedFd};

use iolag_model::{FailureCode, SetUpSpec};
use rustix::fs::{AtFlags, Mode, OFlags, StatxFlags, openat, statx};
use rustix::io::{Errno, read};

use super::files::{READY, cannot, content_of, forget, write_ready};
use crate::set_up::order::{Call, LookedFor, Order};
use crate::tasks::files::{make_directory, write_file};
use crate::tasks::launching::usage::thread_usage;
use crate::tasks::{PartEnding, PartRecorder, ProbeTask, TaskError, TaskSpec};

/// Beginning of the names of the directories of the tree.
pub(crate) const TREE: &str = "set-up-";
/// What the file is called, but for its ending, that says that the tree was made.
pub(crate) const TREE_MADE: &str = "set-up";
const WHOLE: usize = 0;

/// The calls of a set-up.
pub(crate) struct JobSetUpTask {
    spec: SetUpSpec,
    order: Order,
    calls: Vec<Look>,
    buffer: Vec<u8>,
}

/// One call.
struct Look {
    how: How,
    name: CString,
    is_there: bool,
}

#[derive(Clone, Copy)]
enum How {
    Stat,
    /// And read to the end, and close.
    Open,
}

impl JobSetUpTask {
    /// `seed` chooses the order.
    pub(crate) fn new(spec: &SetUpSpec, seed: u64) -> Self {
        let order = Order::new(spec, 0, seed);
        let buffer = vec![0; spec.file_bytes as usize + 1];
        Self { spec: spec.clone(), order, calls: Vec::new(), buffer }
    }

    fn make_tree(&self, place: BorrowedFd<'_>, recorder: &mut dyn PartRecorder) -> Result<(), Errno> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match openat(place, format!("{TREE_MADE}{READY}"), flags, Mode::empty()) {
            Ok(_) => return Ok(()),
            Err(Errno::NOENT) => {}
            Err(error) => return Err(error),
        }
        let content = content_of(self.spec.file_bytes);
        for dataset in 0..self.spec.directories {
            let directory = make_directory(place, &format!("{TREE}{dataset}"))?;
            for index in 0..self.spec.files {
                write_file(directory.as_fd(), &format!("file-{index}"), &content)?;
            }
            recorder.answered(dataset + 1, self.spec.directories);
        }
        write_ready(place, TREE_MADE)
    }

    fn look(&self, number: usize) -> Option<Look> {
        let (how, LookedFor { key, is_there }) = match self.order.call(number)? {
            Call::Stat(looked_for) => (How::Stat, looked_for),
            Call::Open(looked_for) => (How::Open, looked_for),
        };
        let name = format!("{TREE}{}/file-{}", key.dataset, key.index);
        Some(Look { how, name: CString::new(name).ok()?, is_there })
    }
}

impl ProbeTask for JobSetUpTask {
    fn parts(&self) -> &[&'static str] {
        TaskSpec::JobSetUp(self.spec.clone()).part_names()
    }

    fn prepare(&mut self, place: BorrowedFd<'_>, recorder: &mut dyn PartRecorder) -> Result<(), TaskError> {
        self.make_tree(place, recorder).map_err(|error| cannot("make the tree of a set-up", error))?;
        self.calls = (0..).map_while(|number| self.look(number)).collect();
        Ok(())
    }

    fn perform(&mut self, place: BorrowedFd<'_>, recorder: &mut dyn PartRecorder) {
        let Self { calls, buffer, .. } = self;
        let before = thread_usage();
        recorder.begin(WHOLE);
        let answer: Result<(), Errno> = calls.iter().zip(1..).try_for_each(|(look, done)| {
            look.perform(place, buffer)?;
            recorder.answered(done, calls.len() as u32);
            Ok(())
        });
        let failure = match answer {
            Ok(()) if calls.is_empty() => FailureCode::from_errno(libc::EBADF),
            Ok(()) => FailureCode::NONE,
            Err(error) => error.into(),
        };
        let processor = thread_usage().since(before);
        recorder.end(WHOLE, PartEnding { failure, processor, ..PartEnding::default() });
        if matches!(answer, Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::ISDIR)) {
            forget(place, TREE_MADE);
        }
    }
}

impl Look {
    fn perform(&self, place: BorrowedFd<'_>, buffer: &mut [u8]) -> Result<(), Errno> {
        let answer = match self.how {
            How::Stat => {
                statx(place, &self.name, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::BASIC_STATS).map(drop)
            }
            How::Open => self.open_and_read(place, buffer),
        };
        match answer {
            Err(Errno::NOENT) if !self.is_there => Ok(()),
            Ok(()) if !self.is_there => Err(Errno::EXIST),
            answer => answer,
        }
    }

    fn open_and_read(&self, place: BorrowedFd<'_>, buffer: &mut [u8]) -> Result<(), Errno> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(place, &self.name, flags, Mode::empty())?;
        loop {
            match read(&file, &mut *buffer) {
                Ok(0) => return Ok(()),
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error),
            }
        }
    }
}
