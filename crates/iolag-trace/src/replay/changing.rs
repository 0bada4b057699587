//! What a program changes, as something to be done again, to files of a copy's own.

use iolag_model::WhyLeftOut;

use super::change::{Attribute, Change, can_be_changed, fails_by_what_is_there};
use super::repetition::Ask;
use super::translating::Asked;
use crate::calls::Effect;

const O_TMPFILE: u32 = 0o20_200_000;
const AT_SYMLINK_NOFOLLOW: u32 = 0x100;
const AT_REMOVEDIR: u32 = 0x200;
/// renameat2(2): leaves something behind that only file systems in layers know.
const RENAME_WHITEOUT: u32 = 4;
/// A write that is longer is not repeated: each task would need as much memory.
const WRITE_MAX: u64 = 64 << 20;

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
