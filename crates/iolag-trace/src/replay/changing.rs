//! What a program changes, as something to be done again, to files of a copy's own.

use iolag_model::WhyLeftOut;
use serde::{Deserialize, Serialize};

use super::own::fails_by_what_is_there;
use super::repetition::{Ask, PlaceId};
use super::translating::Asked;
use crate::calls::{Asks, Effect, Shape};
use crate::trace::Call;

const O_TMPFILE: u32 = 0o20_200_000;
const O_PATH: u32 = 0o10_000_000;
const AT_SYMLINK_NOFOLLOW: u32 = 0x100;
const AT_REMOVEDIR: u32 = 0x200;
/// renameat2(2): leaves something behind that only file systems in layers know.
const RENAME_WHITEOUT: u32 = 4;
/// A write that is longer is not repeated: each task would need as much memory.
const WRITE_MAX: u64 = 64 << 20;

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

impl Asked<'_> {
    /// What is changed again of a call that changes something; of an open, `new` is the number of its descriptor.
    pub(super) fn change(&self, new: u32) -> Result<Change, WhyLeftOut> {
        let call = self.call;
        if !fails_by_what_is_there(call.errno) {
            return Err(WhyLeftOut::Changes);
        }
        if !can_be_changed(call, self.shape, self.name) {
            return Err(WhyLeftOut::NotTold);
        }
        match self.shape.path {
            None => self.change_by_descriptor(),
            Some(_) => self.change_by_name(new),
        }
    }

    fn change_by_descriptor(&self) -> Result<Change, WhyLeftOut> {
        let call = self.call;
        let on = self.known.ok_or(WhyLeftOut::UnknownDescriptor)?.origin?;
        let written = call.result.and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(0);
        let whole = |bytes: u64| if bytes <= WRITE_MAX { Ok(bytes) } else { Err(WhyLeftOut::NotTold) };
        let offset = || call.offset.ok_or(WhyLeftOut::NotTold);
        Ok(match self.name {
            b"write" => Change::Write(on, whole(call.length)?, written),
            b"writev" => Change::Write(on, whole(written)?, written),
            b"pwrite64" => Change::WriteAt(on, whole(call.length)?, written, offset()?),
            b"pwritev" => Change::WriteAt(on, whole(written)?, written, offset()?),
            b"ftruncate" | b"ftruncate64" => Change::Truncate(on, call.length),
            b"fchmod" => Change::AttributesOf(on, Attribute::Mode(call.argument)),
            b"fchown" => Change::AttributesOf(on, Attribute::Owner),
            _ => return Err(WhyLeftOut::NotTold),
        })
    }

    fn change_by_name(&self, new: u32) -> Result<Change, WhyLeftOut> {
        let call = self.call;
        let place = self.place.ok_or(WhyLeftOut::NotMapped)?;
        let second = || self.second.ok_or(WhyLeftOut::NotMapped);
        let link = if self.name.starts_with(b"l") { AT_SYMLINK_NOFOLLOW } else { call.flags };
        let attributes = |attribute| Change::Attributes(place, link & AT_SYMLINK_NOFOLLOW, attribute);
        Ok(match self.name {
            b"open" | b"openat" | b"openat2" => {
                Change::Open(place, call.flags, call.argument, call.succeeded().then_some(new))
            }
            b"rmdir" => Change::RemoveDirectory(place),
            b"unlinkat" if call.flags & AT_REMOVEDIR != 0 => Change::RemoveDirectory(place),
            b"unlink" | b"unlinkat" => Change::Remove(place),
            b"mkdir" | b"mkdirat" => Change::MakeDirectory(place, call.argument),
            b"rename" | b"renameat" => Change::Rename(place, second()?, 0),
            b"renameat2" if call.flags & RENAME_WHITEOUT == 0 => Change::Rename(place, second()?, call.flags),
            b"link" | b"linkat" => Change::Link(place, second()?),
            b"symlink" | b"symlinkat" => Change::SymbolicLink(self.second.ok_or(WhyLeftOut::Leads)?, place),
            b"chmod" | b"fchmodat" | b"fchmodat2" => attributes(Attribute::Mode(call.argument)),
            b"chown" | b"lchown" | b"fchownat" => attributes(Attribute::Owner),
            b"utime" | b"utimes" | b"utimensat" | b"futimesat" => attributes(Attribute::Times),
            _ => return Err(WhyLeftOut::NotTold),
        })
    }

    /// Whether a look-up finds something else afterwards, or may.
    pub(super) fn changes_what_is_found(&self) -> bool {
        const NO: [&[u8]; 6] =
            [b"copy_file_range", b"fallocate", b"fsetxattr", b"lsetxattr", b"setxattr", b"fchown"];
        let is_without_name = self.shape.effect == Effect::Open && self.call.flags & O_TMPFILE == O_TMPFILE;
        !NO.contains(&self.name) && !is_without_name
    }

    /// What is asked of what is open and is the copy's own, which changes nothing that others see.
    pub(super) fn synchronised(&self) -> Option<Result<Ask, WhyLeftOut>> {
        let is_sync = matches!(self.name, b"fsync" | b"fdatasync");
        (is_sync && self.is_own).then(|| {
            let on = self.known.ok_or(WhyLeftOut::UnknownDescriptor)?.origin?;
            Ok(Ask::Change(Change::Synchronise(on)))
        })
    }
}
