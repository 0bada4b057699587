//! What is to be asked again.

use std::collections::BTreeMap;

use iolag_model::{LeftOut, Nanoseconds, ReplayCoverage, WhyLeftOut};
use serde::{Deserialize, Serialize};

use super::bones::Bone;
use super::change::Change;
use super::place::{At, Following, Name, Place, PlaceId};
use crate::trace::{Sharing, path_text};

/// What of a trace is repeated.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repetition {
    /// Paths that are asked about.
    pub places: Vec<Place>,
    /// Each task, in the order in which they began; the first is the one that was traced.
    pub tasks: Vec<TaskItems>,
    /// Descriptors that are opened, each with a number of its own.
    pub descriptors: u32,
    /// The files of each copy's own, if what the program changed is changed again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<OwnFiles>,
    /// Which directories are asked, by map: device and inode, once they were looked at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roots: Vec<(u64, u64)>,
    /// How much that is.
    pub coverage: ReplayCoverage,
    /// How long the program took, what tracing cost taken off.
    pub traced: Nanoseconds,
}

impl Repetition {
    /// The most bytes that a call of this task moves.
    pub fn bytes_max(&self, task: u32) -> u64 {
        let items = self.tasks.get(task as usize).map_or(&[][..], |task| &task.items);
        items.iter().map(|item| item.ask.bytes()).max().unwrap_or(0)
    }

    /// Items of the task that has most of them.
    pub fn items_max(&self) -> u64 {
        self.tasks.iter().map(|task| task.items.len() as u64).max().unwrap_or(0)
    }

    /// Looks up some paths elsewhere: those that lead there by a link, which the kernel is not let to follow.
    pub fn redirect(&mut self, moved: &[(PlaceId, Following, Place)]) {
        let mut known: BTreeMap<(PlaceId, Following), PlaceId> = BTreeMap::new();
        for (place, following, there) in moved {
            known.insert((*place, *following), PlaceId(self.places.len() as u32));
            self.places.push(there.clone());
        }
        for item in self.tasks.iter_mut().flat_map(|task| &mut task.items) {
            let there = item.ask.looked_up().and_then(|looked_up| known.get(&looked_up).copied());
            let Some(there) = there else { continue };
            match &mut item.ask {
                Ask::Stat(name, _) | Ask::Statx(name, _) | Ask::Access(name, ..) | Ask::ReadLink(name, _) => {
                    *name = Name { place: there, at: At::Map };
                }
                Ask::Open(name, ..) => *name = Name { place: there, at: At::Map },
                Ask::StatFs(place) | Ask::ChangeDirectory(place) => *place = there,
                _ => {}
            }
        }
    }

    /// The same without the look-ups of these paths, and without all that is done with what they would have opened.
    pub fn without(&mut self, left_out: &BTreeMap<(PlaceId, Following), WhyLeftOut>) {
        let mut gone: BTreeMap<u32, WhyLeftOut> = BTreeMap::new();
        let mut counted: BTreeMap<(WhyLeftOut, &'static str), (u64, PlaceId)> = BTreeMap::new();
        for item in self.tasks.iter_mut().flat_map(|task| &mut task.items) {
            let place = item.ask.looked_up();
            let by_path = place.and_then(|place| left_out.get(&place).copied());
            let by_descriptor = item.ask.descriptors().iter().find_map(|on| gone.get(on).copied());
            let Some(why) = by_path.or(by_descriptor) else { continue };
            gone.extend(item.ask.opens().map(|new| (new, why)));
            if !item.ask.is_edge() {
                let place = place.map_or(PlaceId(u32::MAX), |(place, _)| place);
                counted.entry((why, item.ask.name())).or_insert((0, place)).0 += 1;
            }
            // Others count on how many items there are.
            (item.ask, item.errno) = (Ask::Wait, 0);
        }
        for ((why, call), (calls, place)) in counted {
            let example =
                self.places.get(place.0 as usize).map_or(String::new(), |place| path_text(&place.path));
            self.coverage.repeated = self.coverage.repeated.saturating_sub(calls);
            self.coverage.left_out.push(LeftOut { why, call: call.to_owned(), calls, example });
        }
        self.coverage.left_out.sort_by_key(|left| std::cmp::Reverse(left.calls));
    }

    /// Items of all tasks.
    pub fn items(&self) -> u64 {
        self.tasks.iter().map(|task| task.items.len() as u64).sum()
    }
}

/// The files of a copy's own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnFiles {
    /// As which map they are asked for.
    pub map: u16,
    /// What has to be there before.
    pub bones: Vec<Bone>,
    /// How many it makes at most, those that are there before too.
    pub files: u64,
    /// How many bytes it writes.
    pub bytes: u64,
}

/// Programs ask for more than there is; of that so much may come.
const ROOM: u64 = 1 << 20;
/// No call moves more (read(2): 0x7ffff000 bytes).
const BYTES_MAX: u64 = 0x7fff_f000;

/// What a task asks, in order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskItems {
    /// What it shares with the task that began it.
    pub sharing: Sharing,
    /// What it does.
    pub items: Vec<Item>,
}

/// One thing that a task does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// What.
    pub ask: Ask,
    /// What others must have done before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<After>,
    /// When it was done, since the beginning of the trace.
    pub start: Nanoseconds,
    /// What passed in the task between the item before and this one, besides tracing.
    pub gap: Nanoseconds,
    /// Why it failed; 0 if it did not.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub errno: u16,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
const fn is_zero(errno: &u16) -> bool {
    *errno == 0
}

/// So many items of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct After {
    /// Which.
    pub task: u32,
    /// How many of its items are done.
    pub items: u32,
}

/// What is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ask {
    /// Begins this task.
    Fork(u32),
    /// Goes on with another program: these are closed.
    Execute(Vec<u32>),
    /// Waits for others.
    Wait,
    /// newfstatat(2), with these flags.
    Stat(Name, u32),
    /// statx(2), with these flags.
    Statx(Name, u32),
    /// faccessat(2) with this mode and these flags.
    Access(Name, u32, u32),
    /// readlinkat(2).
    ReadLink(Name, u64),
    /// openat(2) with these flags; if it succeeded, the descriptor.
    Open(Name, u32, Option<u32>),
    /// statfs(2).
    StatFs(PlaceId),
    /// chdir(2).
    ChangeDirectory(PlaceId),
    /// getcwd(2).
    TellDirectory,
    /// fchdir(2).
    ChangeDirectoryTo(u32),
    /// fstat(2).
    Attributes(u32),
    /// fstatfs(2).
    StatFsOf(u32),
    /// read(2) of so many bytes, and how many came back.
    Read(u32, u64, u64),
    /// pread(2): the same from an offset.
    ReadAt(u32, u64, u64, u64),
    /// lseek(2): offset and from where.
    Seek(u32, i64, u32),
    /// getdents64(2) with so much room, and how many bytes came back.
    List(u32, u64, u64),
    /// mmap(2): length and offset.
    Map(u32, u64, u64),
    /// fcntl(2) that asks for the flags of a descriptor or a file.
    Flags(u32),
    /// ioctl(2) that asks whether it is a terminal.
    IsTerminal(u32),
    /// dup(2): from, to, and what was there before (dup2(2)).
    Duplicate(u32, u32, Option<u32>),
    /// close(2).
    Close(Vec<u32>),
    /// close_range(2).
    CloseAll(Vec<u32>),
    /// What changes files of the copy's own.
    Change(Change),
}

impl Ask {
    /// Bytes that it needs room for: as many as were asked for, but not many more than came.
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Read(_, asked, came) | Self::ReadAt(_, asked, came, _) => {
                (*asked).min((*came).max(ROOM)).min(BYTES_MAX)
            }
            Self::List(_, asked, _) | Self::ReadLink(_, asked) => (*asked).min(ROOM),
            _ => 0,
        }
    }

    /// Bytes that it writes.
    pub const fn written(&self) -> u64 {
        match self {
            Self::Change(change) => change.bytes(),
            _ => 0,
        }
    }

    /// Whether it moves the position in a file, and begins where that is.
    pub const fn moves(&self) -> bool {
        matches!(self, Self::Read(..) | Self::Seek(..) | Self::List(..) | Self::Change(Change::Write(..)))
    }

    /// Whether it is nothing that is asked of the storage.
    pub const fn is_edge(&self) -> bool {
        matches!(self, Self::Fork(_) | Self::Execute(_) | Self::Wait | Self::CloseAll(_))
    }

    /// The path that is looked up, and what becomes of a link that it ends with.
    pub const fn looked_up(&self) -> Option<(PlaceId, Following)> {
        const AT_SYMLINK_NOFOLLOW: u32 = 0x100;
        const O_NOFOLLOW: u32 = 0o400_000;
        match self {
            Self::Stat(name, flags) | Self::Statx(name, flags) => {
                Some((name.place, Following::unless(*flags & AT_SYMLINK_NOFOLLOW)))
            }
            Self::ReadLink(name, _) => Some((name.place, Following::Not)),
            Self::Access(name, _, flags) => {
                Some((name.place, Following::unless(*flags & AT_SYMLINK_NOFOLLOW)))
            }
            Self::Open(name, flags, _) => Some((name.place, Following::unless(*flags & O_NOFOLLOW))),
            Self::StatFs(place) | Self::ChangeDirectory(place) => Some((*place, Following::Follows)),
            _ => None,
        }
    }

    /// The descriptor that it makes.
    pub const fn opens(&self) -> Option<u32> {
        match self {
            Self::Open(_, _, new) => *new,
            Self::Duplicate(_, new, _) => Some(*new),
            Self::Change(change) => change.opens(),
            _ => None,
        }
    }

    /// The system call.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Fork(_) => "clone",
            Self::Execute(_) => "execve",
            Self::Wait => "wait4",
            Self::Stat(..) => "newfstatat",
            Self::Statx(..) => "statx",
            Self::Access(..) => "faccessat",
            Self::ReadLink(..) => "readlinkat",
            Self::Open(..) => "openat",
            Self::StatFs(_) => "statfs",
            Self::ChangeDirectory(_) => "chdir",
            Self::TellDirectory => "getcwd",
            Self::ChangeDirectoryTo(_) => "fchdir",
            Self::Attributes(_) => "fstat",
            Self::StatFsOf(_) => "fstatfs",
            Self::Read(..) => "read",
            Self::ReadAt(..) => "pread64",
            Self::Seek(..) => "lseek",
            Self::List(..) => "getdents64",
            Self::Map(..) => "mmap",
            Self::Flags(_) => "fcntl",
            Self::IsTerminal(_) => "ioctl",
            Self::Duplicate(..) => "dup",
            Self::Close(_) => "close",
            Self::CloseAll(_) => "close_range",
            Self::Change(change) => change.name(),
        }
    }

    /// The descriptors that it works on.
    pub fn descriptors(&self) -> &[u32] {
        match self {
            Self::ChangeDirectoryTo(on)
            | Self::Attributes(on)
            | Self::StatFsOf(on)
            | Self::Read(on, ..)
            | Self::ReadAt(on, ..)
            | Self::Seek(on, ..)
            | Self::List(on, ..)
            | Self::Map(on, ..)
            | Self::Flags(on)
            | Self::IsTerminal(on)
            | Self::Duplicate(on, ..) => std::slice::from_ref(on),
            Self::Close(all) => all,
            Self::Change(change) => change.descriptor().map_or(&[], std::slice::from_ref),
            Self::Stat(name, _)
            | Self::Statx(name, _)
            | Self::Access(name, ..)
            | Self::ReadLink(name, _)
            | Self::Open(name, ..) => match &name.at {
                At::Descriptor(on, _) => std::slice::from_ref(on),
                At::Map => &[],
            },
            _ => &[],
        }
    }
}
