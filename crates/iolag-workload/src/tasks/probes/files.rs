//! The tasks that this process performs itself: stat, open and read, write and fsync, create and unlink.
//!
//! A file that is only looked at must not be touched between two probes, or the next one finds what the last one left in
//! the cache. So `prepare` makes it once and remembers that in an empty file beside it (`….ready`); it looks for that one
//! only. If the file itself is gone, the probe says so, and the next one makes it anew.
//!
//! Creating many files is done in this process, too: the study's shell loop measured a mixture of file creation and of the
//! shell; what is asked of the storage is the same (open with O_CREAT, write, close).
//!
//! Processor time is read between the operation and the second stamp (about 0.3 µs), except for stat, where that would
//! matter and explains nothing.

use std::ffi::{CStr, CString};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use iolag_model::FailureCode;
use rustix::fs::{
    Advice, AtFlags, Mode, OFlags, RawDir, StatxFlags, fadvise, fsync, openat, statx, unlinkat,
};
use rustix::io::{Errno, read, write};

use crate::tasks::files::{NEW_FILE, make_directory, write_file, write_new};
use crate::tasks::launching::usage::thread_usage;
use crate::tasks::limits::TaskLimit;
use crate::tasks::{PartEnding, PartRecorder, ProbeTask, TaskError, TaskSpec};

const WHOLE: usize = 0;
const FSYNC: usize = 1;
const UNLINK: usize = 1;

/// The directory of the create task, in its working directory.
pub(crate) const CREATED: &str = "created";
/// The file of the stat task.
pub(crate) const LOOKED_AT: &str = "file";
/// The file of the write task.
pub(crate) const WRITTEN: &CStr = c"written";
/// Ending of the name of the file that says that the one before the dot was made.
pub(crate) const READY: &str = ".ready";

/// At most this much is read or written by one call.
const BLOCK_BYTES_MAX: u64 = 1 << 20;
const LISTING_BYTES: usize = 32 << 10;

/// One stat of a file.
#[derive(Debug)]
pub(crate) struct StatTask;

impl ProbeTask for StatTask {
    fn parts(&self) -> &[&'static str] {
        TaskSpec::Stat.part_names()
    }

    fn prepare(&mut self, place: BorrowedFd<'_>, _recorder: &mut dyn PartRecorder) -> Result<(), TaskError> {
        make_once(place, LOOKED_AT, || b"one file that is looked at\n".to_vec())
    }

    fn perform(&mut self, place: BorrowedFd<'_>, recorder: &mut dyn PartRecorder) {
        recorder.begin(WHOLE);
        let answer = statx(place, LOOKED_AT, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::BASIC_STATS);
        recorder.end(WHOLE, PartEnding { failure: failure_of(&answer), ..PartEnding::default() });
        forget_if_gone(place, LOOKED_AT, &answer);
    }
}

/// Open, read to the end and close a file.
#[derive(Debug)]
pub(crate) struct OpenReadTask {
    bytes: u64,
    name: String,
    buffer: Vec<u8>,
}

impl OpenReadTask {
    pub(crate) fn new(bytes: u64) -> Self {
        // One more, so that a file that has grown is noticed and the end is seen by the same call.
        let buffer = vec![0; bytes.min(BLOCK_BYTES_MAX) as usize + 1];
        Self { bytes, name: format!("read-{bytes}"), buffer }
    }

    fn read_all(&mut self, place: BorrowedFd<'_>, recorder: &mut dyn PartRecorder) -> Result<u64, Errno> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(place, self.name.as_str(), flags, Mode::empty())?;
        let mut bytes = 0;
        loop {
            match read(&file, &mut self.buffer[..]) {
                Ok(0) => return Ok(bytes),
                Ok(more) => {
                    bytes += more as u64;
                    // Not of the last block: telling takes time that is not the storage's.
                    if bytes < self.bytes {
                        recorder.answered(blocks(bytes), blocks(self.bytes));
                    }
                }
                Err(Errno::INTR) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// What was read is dropped from this machine's page cache, so that the next probe asks the storage. As far as the
    /// file system heeds advice.
    fn forget_pages(&self, place: BorrowedFd<'_>) {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        if let Ok(file) = openat(place, self.name.as_str(), flags, Mode::empty()) {
            let _ = fadvise(&file, 0, None, Advice::DontNeed);
        }
    }
}

impl ProbeTask for OpenReadTask {
    fn parts(&self) -> &[&'static str] {
        TaskSpec::OpenRead { bytes: self.bytes }.part_names()
    }

    fn prepare(&mut self, place: BorrowedFd<'_>, _recorder: &mut dyn PartRecorder) -> Result<(), TaskError> {
        make_once(place, &self.name, || content_of(self.bytes))
    }

    fn perform(&mut self, place: BorrowedFd<'_>, recorder: &mut dyn PartRecorder) {
        let before = thread_usage();
        recorder.begin(WHOLE);
        let answer = self.read_all(place, recorder);
        let mut ending = PartEnding { processor: thread_usage().since(before), ..PartEnding::default() };
        ending.failure = match answer {
            Ok(bytes) if bytes == self.bytes => FailureCode::NONE,
            Ok(_) => FailureCode::SHORT,
            Err(error) => error.into(),
        };
        recorder.end(WHOLE, ending);
        if answer.is_ok_and(|bytes| bytes != self.bytes) {
            forget(place, &self.name);
        }
        forget_if_gone(place, &self.name, &answer);
        self.forget_pages(place);
    }
}

/// Write a new file and fsync it, as an editor saves.
#[derive(Debug)]
pub(crate) struct WriteFsyncTask {
    bytes: u64,
    block: Vec<u8>,
}

impl WriteFsyncTask {
    /// `seed` chooses the content, which cannot be compressed.
    pub(crate) fn new(bytes: u64, seed: u64) -> Self {
        let mut block = vec![0; bytes.min(BLOCK_BYTES_MAX) as usize];
        fill(&mut block, seed);
        Self { bytes, block }
    }

    fn write_all(&self, place: BorrowedFd<'_>, recorder: &mut dyn PartRecorder) -> Result<OwnedFd, Errno> {
        let file = openat(place, WRITTEN, NEW_FILE, Mode::from_raw_mode(0o600))?;
        let mut left = self.bytes;
        while left > 0 {
            let length = left.min(self.block.len() as u64) as usize;
            match write(&file, &self.block[..length]) {
                Ok(0) => return Err(Errno::IO),
                Ok(written) => {
                    left -= written as u64;
                    if left > 0 {
                        recorder.answered(blocks(self.bytes - left), blocks(self.bytes));
                    }
                }
                Err(Errno::INTR) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(file)
    }
}

impl ProbeTask for WriteFsyncTask {
    fn parts(&self) -> &[&'static str] {
        TaskSpec::WriteFsync { bytes: self.bytes }.part_names()
    }

    fn prepare(&mut self, place: BorrowedFd<'_>, _recorder: &mut dyn PartRecorder) -> Result<(), TaskError> {
        match unlinkat(place, WRITTEN, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(cannot("remove the file that the last probe wrote", error)),
        }
    }

    fn perform(&mut self, place: BorrowedFd<'_>, recorder: &mut dyn PartRecorder) {
        let before = thread_usage();
        recorder.begin(WHOLE);
        let mut whole = self.write_all(place, recorder);
        if let Ok(file) = &whole {
            let before_fsync = thread_usage();
            recorder.begin(FSYNC);
            let answer = fsync(file);
            let processor = thread_usage().since(before_fsync);
            recorder
                .end(FSYNC, PartEnding { failure: failure_of(&answer), processor, ..PartEnding::default() });
            if let Err(error) = answer {
                whole = Err(error);
            }
        }
        let failure = failure_of(&whole);
        // Closing belongs to saving a file: network file systems flush there.
        drop(whole);
        let processor = thread_usage().since(before);
        recorder.end(WHOLE, PartEnding { failure, processor, ..PartEnding::default() });
    }
}

/// Create small files in an empty directory, then remove them.
#[derive(Debug)]
pub(crate) struct CreateTask {
    spec: TaskSpec,
    names: Vec<CString>,
    content: Vec<u8>,
    directory: Option<OwnedFd>,
    directory_name: String,
    /// How many of its files may be there.
    created: usize,
}

impl CreateTask {
    pub(crate) fn new(files: u32, bytes: u64) -> Self {
        let name = |index| CString::new(format!("file-{index}")).expect("digits contain no NUL");
        Self {
            spec: TaskSpec::Create { files, bytes },
            names: (0..files).map(name).collect(),
            content: content_of(bytes),
            directory: None,
            directory_name: CREATED.to_owned(),
            created: 0,
        }
    }

    /// Removes what the last attempt has made, with its directory, and makes an empty one of this name: for whoever keeps the task,
    /// and performs only the whole.
    ///
    /// # Errors
    /// If the directory cannot be made. What cannot be removed is left to the removal of the place, which reports it.
    pub(crate) fn prepare_anew(
        &mut self,
        place: BorrowedFd<'_>,
        directory_name: String,
        recorder: &mut dyn PartRecorder,
    ) -> Result<(), TaskError> {
        if let Some(directory) = self.directory.take() {
            self.unlink(directory.as_fd(), recorder);
            let _ = unlinkat(place, self.directory_name.as_str(), AtFlags::REMOVEDIR);
        }
        self.directory_name = directory_name;
        self.directory = Some(self.make_directory(place)?);
        Ok(())
    }

    fn make_directory(&self, place: BorrowedFd<'_>) -> Result<OwnedFd, TaskError> {
        make_directory(place, &self.directory_name).map_err(|error| cannot("make an empty directory", error))
    }

    /// Creates the files: the whole.
    pub(crate) fn perform_whole(&mut self, recorder: &mut dyn PartRecorder) {
        let before = thread_usage();
        recorder.begin(WHOLE);
        let (created, failure) = match &self.directory {
            Some(directory) => self.create(directory.as_fd(), recorder),
            None => (0, FailureCode::from_errno(libc::EBADF)),
        };
        self.created = created;
        let processor = thread_usage().since(before);
        recorder.end(WHOLE, PartEnding { failure, processor, ..PartEnding::default() });
    }

    fn create(&self, directory: BorrowedFd<'_>, recorder: &mut dyn PartRecorder) -> (usize, FailureCode) {
        for (index, name) in self.names.iter().enumerate() {
            if recorder.limit().is_some_and(TaskLimit::is_reached) {
                return (index, FailureCode::TIME_UP);
            }
            if let Err(error) = write_new(directory, name.as_c_str(), &self.content) {
                // It may be there, with less in it than it should have.
                return (index + 1, error.into());
            }
            recorder.answered(index as u32 + 1, self.names.len() as u32);
        }
        (self.names.len(), FailureCode::NONE)
    }

    fn unlink(&mut self, directory: BorrowedFd<'_>, recorder: &mut dyn PartRecorder) -> FailureCode {
        let mut failure = FailureCode::NONE;
        let created = std::mem::take(&mut self.created);
        for (index, name) in self.names[..created].iter().enumerate() {
            match unlinkat(directory, name.as_c_str(), AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(error) if failure == FailureCode::NONE => {
                    failure = error.into();
                }
                Err(_) => {}
            }
            recorder.answered(index as u32 + 1, created as u32);
        }
        failure
    }
}

impl ProbeTask for CreateTask {
    fn parts(&self) -> &[&'static str] {
        self.spec.part_names()
    }

    fn prepare(&mut self, place: BorrowedFd<'_>, recorder: &mut dyn PartRecorder) -> Result<(), TaskError> {
        let directory = self.make_directory(place)?;
        // Asking for each name would leave "not there" in the cache; a listing of an empty directory leaves nothing.
        remove_created(directory.as_fd(), recorder).map_err(|error| cannot("empty the directory", error))?;
        self.directory = Some(directory);
        Ok(())
    }

    fn perform(&mut self, _place: BorrowedFd<'_>, recorder: &mut dyn PartRecorder) {
        self.perform_whole(recorder);
        let Some(directory) = self.directory.take() else { return };
        let before = thread_usage();
        recorder.begin(UNLINK);
        let failure = self.unlink(directory.as_fd(), recorder);
        let processor = thread_usage().since(before);
        recorder.end(UNLINK, PartEnding { failure, processor, ..PartEnding::default() });
    }
}

/// In how many calls so many bytes are read or written, if each does as much as it may.
const fn blocks(bytes: u64) -> u32 {
    bytes.div_ceil(BLOCK_BYTES_MAX) as u32
}

/// Removes what a probe that was ended left behind.
fn remove_created(directory: BorrowedFd<'_>, recorder: &mut dyn PartRecorder) -> Result<(), Errno> {
    let mut space = vec![MaybeUninit::uninit(); LISTING_BYTES];
    let mut names = Vec::new();
    let mut entries = RawDir::new(directory, &mut space);
    while let Some(entry) = entries.next() {
        let entry = entry?;
        if entry.file_name().to_bytes().starts_with(b"file-") {
            names.push(entry.file_name().to_owned());
        }
    }
    for (index, name) in names.iter().enumerate() {
        match unlinkat(directory, name.as_c_str(), AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => recorder.answered(index as u32 + 1, names.len() as u32),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Makes the file `name` unless that was done before, without touching it if it was.
pub(crate) fn make_once(
    place: BorrowedFd<'_>,
    name: &str,
    content: impl FnOnce() -> Vec<u8>,
) -> Result<(), TaskError> {
    let ready = format!("{name}{READY}");
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match openat(place, ready.as_str(), flags, Mode::empty()) {
        Ok(_) => return Ok(()),
        Err(Errno::NOENT) => {}
        Err(error) => return Err(cannot("look at the file that is to be there", error)),
    }
    let made = write_file(place, name, &content()).and_then(|()| {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(place, name, flags, Mode::empty())?;
        // Pages that are not yet written cannot be dropped.
        fsync(&file)?;
        let _ = fadvise(&file, 0, None, Advice::DontNeed);
        write_ready(place, name)
    });
    made.map_err(|error| cannot("make a file", error))
}

/// Remembers that `name` was made.
pub(crate) fn write_ready(place: BorrowedFd<'_>, name: &str) -> Result<(), Errno> {
    write_file(place, &format!("{name}{READY}"), b"")
}

/// The next probe is to make the file anew. Whatever stands against that shows there.
pub(crate) fn forget(place: BorrowedFd<'_>, name: &str) {
    let _ = unlinkat(place, format!("{name}{READY}"), AtFlags::empty());
}

fn forget_if_gone<T>(place: BorrowedFd<'_>, name: &str, answer: &Result<T, Errno>) {
    if matches!(answer, Err(Errno::NOENT | Errno::LOOP | Errno::ISDIR)) {
        forget(place, name);
    }
}

/// A failure to prepare.
pub(crate) fn cannot(action: &str, error: Errno) -> TaskError {
    TaskError {
        failure: error.into(),
        message: format!("cannot {action} in the working directory of the task: {error}"),
    }
}

/// An ending with nothing but a failure.
pub(crate) fn failed(failure: FailureCode) -> PartEnding {
    PartEnding { failure, ..PartEnding::default() }
}

fn failure_of<T>(answer: &Result<T, Errno>) -> FailureCode {
    match answer {
        Ok(_) => FailureCode::NONE,
        Err(error) => (*error).into(),
    }
}

/// So many bytes, the same each time.
pub(crate) fn content_of(bytes: u64) -> Vec<u8> {
    let mut content = vec![0; bytes as usize];
    fill(&mut content, bytes);
    content
}

/// Bytes that no file system can compress: xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift
/// generators, scrambled", 2016).
fn fill(bytes: &mut [u8], seed: u64) {
    let mut state = seed | 1;
    for chunk in bytes.chunks_mut(8) {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        let word = state.wrapping_mul(0x2545_f491_4f6c_dd1d).to_le_bytes();
        chunk.copy_from_slice(&word[..chunk.len()]);
    }
}
