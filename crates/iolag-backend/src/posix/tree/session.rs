//! One client that reads a tree.

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;

use crc32fast::Hasher;
use iolag_model::{Operation, StageIndex, TreeStage, mix};
use rustix::fs::{AtFlags, CWD, FileType, Mode, StatxFlags, openat, statx};
use rustix::io::{Errno, read};

use super::list::{Name, TreeList};
use super::reach::{AccessTime, Reach};
use super::shared::Tree;
use crate::posix::caches::resident_bytes;
use crate::posix::calls::{close, completion_of};
use crate::posix::directory::{DIRECTORY, LISTING_BYTES, identity_in, own_attributes, retry, type_in};
use crate::posix::place::failed;
use crate::{BackendError, CacheMaker, Completion, Request, Session, SessionOptions};

/// As cat(1) reads. What was read is summed while it still lies in the cache of the processor.
const BUFFER_BYTES: usize = 128 << 10;
/// In how many files is looked how much of them is in memory: looking brings what belongs to a name into it.
const LOOKED_FILES_MAX: u64 = 256;

/// One client in a tree.
#[derive(Debug)]
pub(in crate::posix) struct TreeSession {
    tree: Arc<Tree>,
    reach: Reach,
    here: Option<Here>,
    path: Vec<u8>,
    buffer: Vec<u8>,
    listing: Vec<MaybeUninit<u8>>,
    caches: Option<Arc<dyn CacheMaker>>,
    /// What the last request did, and how much is in memory of how much, as it was looked up last.
    done: TreeStage,
    looked: (u64, u64),
}

/// The directory in which the last name was.
#[derive(Debug)]
struct Here {
    number: u32,
    opened: OwnedFd,
    /// Its path and a slash, summed.
    path: Hasher,
    /// Files of a directory have one owner as a rule: where one did not allow to keep its access time the others are not asked.
    time: AccessTime,
}

impl TreeSession {
    /// A session in this directory, which is the tree that the first session found.
    pub(in crate::posix) fn open(
        target: &Path,
        tree: Arc<Tree>,
        options: &SessionOptions,
    ) -> Result<Self, BackendError> {
        let not_opened = |errno| match errno {
            Errno::NOTDIR => BackendError::NotADirectory { path: target.display().to_string() },
            errno => failed("open the directory", target, errno),
        };
        let root = retry(|| openat(CWD, target, DIRECTORY, Mode::empty())).map_err(not_opened)?;
        let identity = identity_in(&own_attributes(root.as_fd()).map_err(not_opened)?);
        if *tree.identity.get_or_init(|| identity) != identity {
            return Err(failed("open again the directory", target, Errno::STALE));
        }
        Ok(Self {
            tree,
            reach: Reach::below(root).map_err(not_opened)?,
            here: None,
            path: Vec::new(),
            // Written to, so that no page of them is touched for the first time while the clock runs.
            buffer: vec![0xff; BUFFER_BYTES],
            listing: vec![MaybeUninit::new(0xff); LISTING_BYTES],
            caches: options.caches.clone(),
            done: TreeStage::default(),
            looked: (0, 0),
        })
    }

    pub(super) fn stat(&mut self, number: u64) -> Result<(), Errno> {
        let Self { tree, reach, here, path, done, .. } = self;
        let (list, name) = found(tree, number)?;
        let here = go_to(list, reach, here, path, name.directory)?;
        let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
        let told = retry(|| statx(&here.opened, list.text(name), flags, StatxFlags::BASIC_STATS))?;
        done.names = 1;
        done.size_bytes = if type_in(&told) == FileType::RegularFile { told.stx_size } else { 0 };
        Ok(())
    }

    /// Opens the file with this number, if it is one still.
    pub(super) fn open_file(&mut self, number: u64) -> Result<OwnedFd, Errno> {
        let Self { tree, reach, here, path, .. } = self;
        let (list, name) = found(tree, number)?;
        let here = go_to(list, reach, here, path, name.directory)?;
        open(reach, here, list.text(name))
    }

    /// Opens the tree itself once more.
    pub(super) fn open_top(&self) -> Result<OwnedFd, Errno> {
        self.reach.directory(c".")
    }

    fn read(&mut self, number: u64) -> Completion {
        let Self { tree, reach, here, path, done, buffer, .. } = self;
        let opened = found(tree, number).and_then(|(list, name)| {
            let here = go_to(list, reach, here, path, name.directory)?;
            Ok((open(reach, here, list.text(name))?, here, list.text(name)))
        });
        let (file, here, name) = match opened {
            Ok(opened) => opened,
            Err(errno) => return Completion::failed(errno.into()),
        };
        let summed = sum(file.as_fd(), buffer);
        // As a user does, also after a failure.
        let closed = close(file);
        let Summed { crc32, bytes, change } = match (summed, closed) {
            (Ok(summed), Ok(())) => summed,
            (Err((bytes, errno)), _) => return Completion::partly(bytes, errno.into()),
            (Ok(summed), Err(errno)) => return Completion::partly(summed.bytes, errno.into()),
        };
        let mut path = here.path.clone();
        path.update(name.to_bytes());
        let of_both = u64::from(path.finalize()) << 32 | u64::from(crc32);
        *done = TreeStage {
            files: 1,
            bytes,
            checksum: mix(mix(of_both) ^ bytes),
            changed: u64::from(change == Change::Changed),
            access_times: u64::from(here.time == AccessTime::Usual),
            ..*done
        };
        Completion::ok(bytes)
    }

    /// How much of some files, evenly chosen, is in memory.
    fn look(&mut self) -> Result<(u64, u64), Errno> {
        let Self { tree, reach, here, path, .. } = self;
        let list = tree.list().ok_or(Errno::OPNOTSUPP)?;
        let all = tree.names();
        let looks = all.min(LOOKED_FILES_MAX);
        let begin = |look: u64| (u128::from(look) * u128::from(all) / u128::from(looks)) as u64;
        let (mut resident, mut held) = (0, 0);
        for look in 0..looks {
            let mut stretch = begin(look)..begin(look + 1);
            let Some(name) = stretch.find(|number| tree.is_file(*number)).and_then(|one| list.name(one))
            else {
                continue;
            };
            let file = go_to(list, reach, here, path, name.directory)
                .and_then(|here| open(reach, here, list.text(name)));
            // What cannot be read is not measured either.
            let Ok(file) = file else { continue };
            let bytes = own_attributes(file.as_fd())?.stx_size;
            resident += resident_bytes(file.as_fd(), bytes)?.min(bytes);
            held += bytes;
        }
        Ok((resident, held))
    }

    fn look_or_make(&mut self, operation: Operation) -> Completion {
        match (operation, &self.caches) {
            (Operation::CachesResident, _) => match self.look() {
                Ok(looked) => {
                    self.looked = looked;
                    Completion::ok(looked.0)
                }
                Err(errno) => Completion::failed(errno.into()),
            },
            (Operation::CachesHeld, _) => Completion::ok(self.looked.1),
            (_, Some(caches)) => caches.make(operation),
            (_, None) => Completion::failed(Errno::OPNOTSUPP.into()),
        }
    }
}

impl Session for TreeSession {
    fn prepare(&mut self, request: &Request) {
        let stage = StageIndex(u16::try_from(request.key.dataset).unwrap_or(u16::MAX));
        self.done = TreeStage { stage, ..TreeStage::default() };
        if request.operation == Operation::CachesDrop {
            // What is open is not dropped.
            self.here = None;
        }
    }

    fn execute(&mut self, request: &Request) -> Completion {
        match request.operation {
            Operation::TreeStat => completion_of(self.stat(request.key.index)),
            Operation::TreeRead => self.read(request.key.index),
            Operation::TreeList => completion_of(self.tree.walk().read_next(&self.reach, &mut self.listing)),
            operation if operation.is_of_caches() => self.look_or_make(operation),
            _ => Completion::failed(Errno::OPNOTSUPP.into()),
        }
    }

    fn inspect(&mut self, request: &Request, completion: Completion) -> Completion {
        if completion.is_ok() && matches!(request.operation, Operation::TreeStat | Operation::TreeRead) {
            self.tree.note(self.done);
        }
        completion
    }
}

fn found(tree: &Tree, number: u64) -> Result<(&TreeList, Name), Errno> {
    let list = tree.list().ok_or(Errno::OPNOTSUPP)?;
    list.name(number).map(|name| (list, name)).ok_or(Errno::NOENT)
}

/// Opens the directory with this number, unless that is where the last name was.
fn go_to<'a>(
    list: &TreeList,
    reach: &Reach,
    here: &'a mut Option<Here>,
    path: &mut Vec<u8>,
    number: u32,
) -> Result<&'a mut Here, Errno> {
    let is_here = here.as_ref().is_some_and(|here| here.number == number);
    if !is_here {
        *here = None;
        list.write_path(number, path);
        let text = CStr::from_bytes_with_nul(path).map_err(|_| Errno::INVAL)?;
        let opened = reach.directory(text)?;
        let mut summed = Hasher::new();
        if number > 0 {
            summed.update(text.to_bytes());
            summed.update(b"/");
        }
        *here = Some(Here { number, opened, path: summed, time: AccessTime::Kept });
    }
    here.as_mut().ok_or(Errno::NOENT)
}

fn open(reach: &Reach, here: &mut Here, name: &CStr) -> Result<OwnedFd, Errno> {
    match reach.file(here.opened.as_fd(), name, here.time) {
        Err(Errno::PERM) if here.time == AccessTime::Kept => {
            here.time = AccessTime::Usual;
            reach.file(here.opened.as_fd(), name, here.time)
        }
        opened => opened,
    }
}

/// A file that was read to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Summed {
    pub crc32: u32,
    pub bytes: u64,
    pub change: Change,
}

/// Whether a file had as many bytes as it said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    None,
    Changed,
}

/// Reads a file to its end. One that became longer is read no further than the block in which that is seen: who follows a file that grows
/// may never come to its end. What is no file any more is not read (ENXIO, as the kernel says of a socket).
pub(super) fn sum(file: BorrowedFd<'_>, buffer: &mut [u8]) -> Result<Summed, (u64, Errno)> {
    let attributes = own_attributes(file).map_err(|errno| (0, errno))?;
    if type_in(&attributes) != FileType::RegularFile {
        return Err((0, Errno::NXIO));
    }
    let (mut crc32, mut bytes) = (Hasher::new(), 0);
    while bytes <= attributes.stx_size {
        match retry(|| read(file, &mut *buffer)) {
            Ok(0) => break,
            Ok(more) => {
                crc32.update(&buffer[..more]);
                bytes += more as u64;
            }
            Err(errno) => return Err((bytes, errno)),
        }
    }
    let change = if bytes == attributes.stx_size { Change::None } else { Change::Changed };
    Ok(Summed { crc32: crc32.finalize(), bytes, change })
}
