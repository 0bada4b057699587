//! What is done again to files of a copy's own.

use serde::{Deserialize, Serialize};

use super::place::PlaceId;
use crate::calls::{Asks, Effect, Shape};
use crate::trace::Call;

const O_TMPFILE: u32 = 0o20_200_000;
const O_PATH: u32 = 0o10_000_000;
const ENOENT: u16 = 2;
const EEXIST: u16 = 17;
const ENOTDIR: u16 = 20;
const EISDIR: u16 = 21;

/// What is done to files of a copy's own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Change {
    /// openat(2) with these flags, and this mode if it makes something; if it succeeded, the descriptor.
    Open(PlaceId, u32, u32, Option<u32>),
    /// write(2) of so many bytes, and how many were written.
    Write(u32, u64, u64),
    /// pwrite(2): the same at an offset.
    WriteAt(u32, u64, u64, u64),
    /// ftruncate(2) to so many bytes.
    Truncate(u32, u64),
    /// fsync(2), fdatasync(2).
    Synchronise(u32),
    /// unlinkat(2).
    Remove(PlaceId),
    /// unlinkat(2) with AT_REMOVEDIR.
    RemoveDirectory(PlaceId),
    /// mkdirat(2) with this mode.
    MakeDirectory(PlaceId, u32),
    /// renameat2(2) with these flags.
    Rename(PlaceId, PlaceId, u32),
    /// linkat(2).
    Link(PlaceId, PlaceId),
    /// symlinkat(2), what it says first, which stands among the paths.
    SymbolicLink(PlaceId, PlaceId),
    /// Attributes of a name; these flags say whether a link is followed.
    Attributes(PlaceId, u32, Attribute),
    /// Attributes of what is open.
    AttributesOf(u32, Attribute),
}

/// What is changed of attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Attribute {
    /// fchmodat(2) to this mode, but the owner may always look, and write.
    Mode(u32),
    /// fchownat(2) to whom it belongs already.
    Owner,
    /// utimensat(2) to now.
    Times,
}

impl Change {
    /// Bytes that it writes.
    pub const fn bytes(&self) -> u64 {
        match self {
            Self::Write(_, bytes, _) | Self::WriteAt(_, bytes, ..) => *bytes,
            _ => 0,
        }
    }

    /// Whether it may make something.
    pub const fn makes(&self) -> bool {
        const O_CREAT: u32 = 0o100;
        match self {
            Self::Open(_, flags, ..) => *flags & O_CREAT != 0,
            Self::MakeDirectory(..) | Self::Link(..) | Self::SymbolicLink(..) => true,
            _ => false,
        }
    }

    /// The descriptor that it makes.
    pub const fn opens(&self) -> Option<u32> {
        match self {
            Self::Open(.., new) => *new,
            _ => None,
        }
    }

    /// The system call.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Open(..) => "openat",
            Self::Write(..) => "write",
            Self::WriteAt(..) => "pwrite64",
            Self::Truncate(..) => "ftruncate",
            Self::Synchronise(_) => "fsync",
            Self::Remove(_) | Self::RemoveDirectory(_) => "unlinkat",
            Self::MakeDirectory(..) => "mkdirat",
            Self::Rename(..) => "renameat2",
            Self::Link(..) => "linkat",
            Self::SymbolicLink(..) => "symlinkat",
            Self::Attributes(_, _, attribute) | Self::AttributesOf(_, attribute) => match attribute {
                Attribute::Mode(_) => "fchmodat",
                Attribute::Owner => "fchownat",
                Attribute::Times => "utimensat",
            },
        }
    }

    /// The descriptor that it works on.
    pub const fn descriptor(&self) -> Option<&u32> {
        match self {
            Self::Write(on, ..)
            | Self::WriteAt(on, ..)
            | Self::Truncate(on, _)
            | Self::Synchronise(on)
            | Self::AttributesOf(on, _) => Some(on),
            _ => None,
        }
    }

    /// The names that it works on.
    pub fn places(&self) -> impl Iterator<Item = PlaceId> {
        let (first, second) = match self {
            Self::Rename(from, to, _) | Self::Link(from, to) => (Some(*from), Some(*to)),
            Self::Open(place, ..)
            | Self::Remove(place)
            | Self::RemoveDirectory(place)
            | Self::MakeDirectory(place, _)
            | Self::SymbolicLink(_, place)
            | Self::Attributes(place, ..) => (Some(*place), None),
            _ => (None, None),
        };
        first.into_iter().chain(second)
    }
}

/// Whether this call changes something in a way that can be done again.
pub(super) fn can_be_changed(call: &Call, shape: &Shape, name: &[u8]) -> bool {
    const OTHERS: [&[u8]; 21] = [
        b"copy_file_range",
        b"creat",
        b"fallocate",
        b"fremovexattr",
        b"fsetxattr",
        b"lremovexattr",
        b"lsetxattr",
        b"mknod",
        b"mknodat",
        b"mount",
        b"removexattr",
        b"setxattr",
        b"truncate",
        b"truncate64",
        b"umount",
        b"umount2",
        b"pwritev2",
        b"swapon",
        b"swapoff",
        b"acct",
        b"quotactl",
    ];
    shape.asks(call.flags) == Asks::Changes
        && !OTHERS.contains(&name)
        && match shape.effect {
            Effect::Open => call.flags & O_PATH == 0 && call.flags & O_TMPFILE != O_TMPFILE,
            Effect::MakeLink | Effect::Rename => call.second.is_some(),
            _ => true,
        }
}

/// Whether a change that failed so would fail again, if the same is there and nobody is asked for rights.
pub(super) const fn fails_by_what_is_there(errno: u16) -> bool {
    matches!(errno, 0 | ENOENT | EEXIST | ENOTDIR | EISDIR)
}
