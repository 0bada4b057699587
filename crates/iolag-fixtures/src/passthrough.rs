//! The directory behind the FUSE file system: every node is a descriptor, so renames and removals need no bookkeeping.
//!
//! Invariants: node numbers are the inode numbers of the backing directory, its root being 1; a node's descriptor is
//! open as long as the kernel knows the node, so its number is not given to another file meanwhile. Limits: one
//! backing file system (nothing mounted below it), extended attributes and locks are not passed on.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fuser::{FileAttr, FileType, INodeNo, TimeOrNow};
use rustix::fs::{
    AtFlags, CWD, Gid, Mode, OFlags, RenameFlags, Statx, StatxFlags, StatxTimestamp, Timespec, Timestamps,
    UTIME_NOW, UTIME_OMIT, Uid,
};
use rustix::io::{Errno, Result};

struct Node {
    descriptor: Arc<OwnedFd>,
    name: OsString,
    lookups: u64,
}

/// An entry of a directory as readdir(3) tells it.
pub(crate) struct Entry {
    pub node: u64,
    pub kind: FileType,
    pub name: OsString,
}

/// What a caller asks to be changed about a node.
#[derive(Default)]
pub(crate) struct Change {
    pub mode: Option<u32>,
    pub uid: Option<u32>,
    pub gid: Option<u32>,
    pub size: Option<u64>,
    pub accessed: Option<TimeOrNow>,
    pub modified: Option<TimeOrNow>,
}

/// An open file or directory.
pub(crate) struct Handle {
    pub descriptor: OwnedFd,
    entries: Mutex<Arc<Vec<Entry>>>,
}

/// The backing directory with the nodes that the kernel knows and the files that are open.
pub(crate) struct Passthrough {
    nodes: Mutex<HashMap<u64, Node>>,
    handles: Mutex<(u64, HashMap<u64, Arc<Handle>>)>,
    root_inode: u64,
}

const ROOT: u64 = INodeNo::ROOT.0;

impl Passthrough {
    /// Opens the backing directory.
    pub fn new(backing: &Path) -> Result<Self> {
        let descriptor =
            rustix::fs::open(backing, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let root_inode = attributes_of(&descriptor)?.stx_ino;
        let root = Node { descriptor: Arc::new(descriptor), name: OsString::new(), lookups: 1 };
        Ok(Self {
            nodes: Mutex::new([(ROOT, root)].into()),
            handles: Mutex::new((0, HashMap::new())),
            root_inode,
        })
    }

    /// The last name by which a node was looked up; empty for the root and for unknown nodes.
    pub fn name(&self, node: u64) -> OsString {
        lock(&self.nodes).get(&node).map_or_else(OsString::new, |node| node.name.clone())
    }

    /// Looks a name up; the kernel knows the node from then on and will forget it as often as it was told of it.
    pub fn lookup(&self, parent: u64, name: &OsStr) -> Result<FileAttr> {
        let parent = self.descriptor(parent)?;
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let descriptor = rustix::fs::openat(&*parent, name, flags, Mode::empty())?;
        let attributes = self.attributes(&attributes_of(&descriptor)?);
        let mut nodes = lock(&self.nodes);
        let node = nodes.entry(attributes.ino.0).or_insert_with(|| Node {
            descriptor: Arc::new(descriptor),
            name: OsString::new(),
            lookups: 0,
        });
        node.lookups += 1;
        node.name = name.to_owned();
        Ok(attributes)
    }

    /// The kernel forgets `count` of the times that it was told of a node.
    pub fn forget(&self, node: u64, count: u64) {
        let mut nodes = lock(&self.nodes);
        if let Some(known) = nodes.get_mut(&node) {
            known.lookups = known.lookups.saturating_sub(count);
            if known.lookups == 0 && node != ROOT {
                nodes.remove(&node);
            }
        }
    }

    pub fn stat(&self, node: u64) -> Result<FileAttr> {
        Ok(self.attributes(&attributes_of(&*self.descriptor(node)?)?))
    }

    pub fn change(&self, node: u64, change: &Change) -> Result<FileAttr> {
        let descriptor = self.descriptor(node)?;
        let path = reopened(&descriptor);
        if let Some(mode) = change.mode {
            rustix::fs::chmod(&path, Mode::from_raw_mode(mode & 0o7777))?;
        }
        if change.uid.is_some() || change.gid.is_some() {
            let (uid, gid) = (change.uid.map(Uid::from_raw), change.gid.map(Gid::from_raw));
            rustix::fs::chownat(&*descriptor, c"", uid, gid, AtFlags::EMPTY_PATH)?;
        }
        if let Some(size) = change.size {
            let file = rustix::fs::open(&path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
            rustix::fs::ftruncate(file, size)?;
        }
        if change.accessed.is_some() || change.modified.is_some() {
            let times = Timestamps {
                last_access: time_to_set(change.accessed),
                last_modification: time_to_set(change.modified),
            };
            rustix::fs::utimensat(CWD, &path, &times, AtFlags::empty())?;
        }
        self.stat(node)
    }

    pub fn readlink(&self, node: u64) -> Result<Vec<u8>> {
        Ok(rustix::fs::readlinkat(&*self.descriptor(node)?, c"", Vec::new())?.into_bytes())
    }

    pub fn symlink(&self, parent: u64, name: &OsStr, target: &Path) -> Result<FileAttr> {
        rustix::fs::symlinkat(target, &*self.descriptor(parent)?, name)?;
        self.lookup(parent, name)
    }

    pub fn link(&self, node: u64, parent: u64, name: &OsStr) -> Result<FileAttr> {
        let (node, directory) = (self.descriptor(node)?, self.descriptor(parent)?);
        rustix::fs::linkat(CWD, reopened(&node), &*directory, name, AtFlags::SYMLINK_FOLLOW)?;
        self.lookup(parent, name)
    }

    pub fn make_node(&self, parent: u64, name: &OsStr, mode: u32, device: u32) -> Result<FileAttr> {
        let kind = rustix::fs::FileType::from_raw_mode(mode);
        let permissions = Mode::from_raw_mode(mode & 0o7777);
        rustix::fs::mknodat(&*self.descriptor(parent)?, name, kind, permissions, device.into())?;
        self.lookup(parent, name)
    }

    pub fn make_directory(&self, parent: u64, name: &OsStr, mode: u32) -> Result<FileAttr> {
        rustix::fs::mkdirat(&*self.descriptor(parent)?, name, Mode::from_raw_mode(mode & 0o7777))?;
        self.lookup(parent, name)
    }

    pub fn remove(&self, parent: u64, name: &OsStr, flags: AtFlags) -> Result<()> {
        rustix::fs::unlinkat(&*self.descriptor(parent)?, name, flags)
    }

    pub fn rename(&self, from: (u64, &OsStr), to: (u64, &OsStr), flags: RenameFlags) -> Result<()> {
        let (source, destination) = (self.descriptor(from.0)?, self.descriptor(to.0)?);
        rustix::fs::renameat_with(&*source, from.1, &*destination, to.1, flags)?;
        // The kernel keeps the node under its new name without looking it up again.
        let moved = rustix::fs::statx(&*destination, to.1, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::INO)?;
        if let Some(node) = lock(&self.nodes).get_mut(&moved.stx_ino) {
            node.name = to.1.to_owned();
        }
        Ok(())
    }

    /// Opens a file of a node; returns the handle's number. The kernel does the appending, so that is left out.
    pub fn open(&self, node: u64, flags: i32) -> Result<u64> {
        let kept = OFlags::RDONLY | OFlags::WRONLY | OFlags::RDWR | OFlags::TRUNC | OFlags::DIRECTORY;
        let flags = OFlags::from_bits_retain(flags as u32) & kept | OFlags::CLOEXEC;
        let path = reopened(&*self.descriptor(node)?);
        Ok(self.keep(rustix::fs::open(path, flags, Mode::empty())?))
    }

    /// Makes and opens a file; returns its attributes and the handle's number.
    pub fn create(&self, parent: u64, name: &OsStr, mode: u32, flags: i32) -> Result<(FileAttr, u64)> {
        let kept = OFlags::WRONLY | OFlags::RDWR | OFlags::TRUNC | OFlags::EXCL;
        let added = OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let flags = OFlags::from_bits_retain(flags as u32) & kept | added;
        let directory = self.descriptor(parent)?;
        let file = rustix::fs::openat(&*directory, name, flags, Mode::from_raw_mode(mode & 0o7777))?;
        Ok((self.lookup(parent, name)?, self.keep(file)))
    }

    /// Gives a new file to the user who asked for it: this process is root.
    pub fn give(&self, attributes: FileAttr, uid: u32, gid: u32) -> Result<FileAttr> {
        if (attributes.uid, attributes.gid) == (uid, gid) {
            return Ok(attributes);
        }
        self.change(attributes.ino.0, &Change { uid: Some(uid), gid: Some(gid), ..Change::default() })
    }

    pub fn handle(&self, handle: u64) -> Result<Arc<Handle>> {
        lock(&self.handles).1.get(&handle).cloned().ok_or(Errno::BADF)
    }

    pub fn close(&self, handle: u64) {
        // Taken out first: closing may wait for the backing file system, and nobody is to wait for the lock then.
        let closed = lock(&self.handles).1.remove(&handle);
        drop(closed);
    }

    /// The names of an open directory; read anew when it is read from its beginning.
    pub fn entries(&self, handle: u64, from_beginning: bool) -> Result<Arc<Vec<Entry>>> {
        let handle = self.handle(handle)?;
        if from_beginning {
            let directory = rustix::fs::Dir::read_from(&handle.descriptor)?;
            let mut entries = Vec::new();
            for entry in directory {
                let entry = entry?;
                entries.push(Entry {
                    node: self.node_number(entry.ino()),
                    kind: kind_of(entry.file_type()),
                    name: OsStr::from_bytes(entry.file_name().to_bytes()).to_owned(),
                });
            }
            *lock(&handle.entries) = Arc::new(entries);
        }
        let entries = lock(&handle.entries).clone();
        Ok(entries)
    }

    pub fn file_system(&self) -> Result<rustix::fs::StatFs> {
        rustix::fs::fstatfs(self.open_root()?)
    }

    fn open_root(&self) -> Result<OwnedFd> {
        let path = reopened(&*self.descriptor(ROOT)?);
        rustix::fs::open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
    }

    fn keep(&self, descriptor: OwnedFd) -> u64 {
        let mut handles = lock(&self.handles);
        handles.0 += 1;
        let number = handles.0;
        handles.1.insert(number, Arc::new(Handle { descriptor, entries: Mutex::default() }));
        number
    }

    fn descriptor(&self, node: u64) -> Result<Arc<OwnedFd>> {
        lock(&self.nodes).get(&node).map(|node| node.descriptor.clone()).ok_or(Errno::STALE)
    }

    fn node_number(&self, inode: u64) -> u64 {
        if inode == self.root_inode { ROOT } else { inode }
    }

    fn attributes(&self, statx: &Statx) -> FileAttr {
        let kind = rustix::fs::FileType::from_raw_mode(statx.stx_mode.into());
        FileAttr {
            ino: INodeNo(self.node_number(statx.stx_ino)),
            size: statx.stx_size,
            blocks: statx.stx_blocks,
            atime: system_time(&statx.stx_atime),
            mtime: system_time(&statx.stx_mtime),
            ctime: system_time(&statx.stx_ctime),
            crtime: UNIX_EPOCH,
            kind: kind_of(kind),
            perm: statx.stx_mode & 0o7777,
            nlink: statx.stx_nlink,
            uid: statx.stx_uid,
            gid: statx.stx_gid,
            rdev: rustix::fs::makedev(statx.stx_rdev_major, statx.stx_rdev_minor) as u32,
            blksize: statx.stx_blksize,
            flags: 0,
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Every critical section is a few map operations that leave the map whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The path by which a node known by an O_PATH descriptor is opened or changed.
fn reopened(descriptor: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", descriptor.as_raw_fd())
}

fn attributes_of(descriptor: impl AsFd) -> Result<Statx> {
    rustix::fs::statx(descriptor, c"", AtFlags::EMPTY_PATH, StatxFlags::BASIC_STATS)
}

fn kind_of(kind: rustix::fs::FileType) -> FileType {
    match kind {
        rustix::fs::FileType::Directory => FileType::Directory,
        rustix::fs::FileType::Symlink => FileType::Symlink,
        rustix::fs::FileType::Fifo => FileType::NamedPipe,
        rustix::fs::FileType::Socket => FileType::Socket,
        rustix::fs::FileType::CharacterDevice => FileType::CharDevice,
        rustix::fs::FileType::BlockDevice => FileType::BlockDevice,
        rustix::fs::FileType::RegularFile | rustix::fs::FileType::Unknown => FileType::RegularFile,
    }
}

fn system_time(time: &StatxTimestamp) -> SystemTime {
    let seconds = Duration::from_secs(time.tv_sec.unsigned_abs());
    let whole = if time.tv_sec < 0 { UNIX_EPOCH - seconds } else { UNIX_EPOCH + seconds };
    whole + Duration::from_nanos(time.tv_nsec.into())
}

fn time_to_set(time: Option<TimeOrNow>) -> Timespec {
    match time {
        None => Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT },
        Some(TimeOrNow::Now) => Timespec { tv_sec: 0, tv_nsec: UTIME_NOW },
        Some(TimeOrNow::SpecificTime(time)) => match time.duration_since(UNIX_EPOCH) {
            Ok(since) => Timespec { tv_sec: since.as_secs() as i64, tv_nsec: since.subsec_nanos().into() },
            // Before 1970: whole seconds are enough for a test.
            Err(before) => Timespec { tv_sec: -(before.duration().as_secs() as i64), tv_nsec: 0 },
        },
    }
}
