//! What a traced call is as something to be asked again.

use iolag_model::WhyLeftOut;

use super::descriptors::Known;
use super::place::{At, Name, PlaceId};
use super::repetition::Ask;
use crate::calls::{Asks, Effect, Shape, bits};
use crate::trace::Call;

const AT_SYMLINK_NOFOLLOW: u32 = 0x100;
const O_PATH: u32 = 0o10_000_000;
const X_OK: u32 = 1;
const ENOTTY: u16 = 25;
const ENOEXEC: u16 = 8;
const E2BIG: u16 = 7;
/// Commands of fcntl(2).
const F_GETFD: u32 = 1;
const F_GETFL: u32 = 3;
const LOCKS: [u32; 8] = [5, 6, 7, 12, 13, 14, 36, 37];
const F_OFD_SETLKW: u32 = 38;

/// A call, and what is known of its path and its descriptor.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked<'a> {
    pub call: &'a Call,
    pub name: &'a [u8],
    pub shape: &'a Shape,
    /// Where its path is asked for.
    pub place: Option<PlaceId>,
    /// What its descriptor is.
    pub known: Option<Known>,
    /// Where its path is looked up.
    pub at: At,
    /// Its second path, or what a link is to say.
    pub second: Option<PlaceId>,
    /// Whether what it is about is the copy's own.
    pub is_own: bool,
}

impl Asked<'_> {
    /// Whether it changes what is there.
    pub(super) fn changes(&self) -> bool {
        self.shape.asks(self.call.flags) == Asks::Changes
            && (self.shape.effect != Effect::Open || self.call.flags & O_PATH == 0)
    }

    /// What is done again; of an open, and of what makes a descriptor, `new` is the number of that.
    pub(super) fn ask(&self, new: u32) -> Result<Ask, WhyLeftOut> {
        if self.changes() {
            return if self.is_own { self.change(new).map(Ask::Change) } else { Err(WhyLeftOut::Changes) };
        }
        if let Some(synchronised) = self.synchronised() {
            return synchronised;
        }
        if self.shape.waits_for_lock(self.call) {
            return Err(WhyLeftOut::Lock);
        }
        let call = self.call;
        let on_descriptor = self.shape.path.is_none() || !self.shape.looks_up(call.flags);
        match self.shape.effect {
            Effect::Tell(_) => Ok(Ask::TellDirectory),
            _ if on_descriptor => self.on_descriptor(new),
            Effect::Open if self.name != b"open_tree" => {
                Ok(Ask::Open(self.looked_up()?, call.flags, call.succeeded().then_some(new)))
            }
            Effect::Attributes(_) if self.name == b"statx" => Ok(Ask::Statx(self.looked_up()?, call.flags)),
            Effect::Attributes(_) => {
                let is_of_link = self.name.starts_with(b"l");
                let flags = if is_of_link { AT_SYMLINK_NOFOLLOW } else { call.flags };
                Ok(Ask::Stat(self.looked_up()?, flags))
            }
            Effect::Link(_) => Ok(Ask::ReadLink(self.looked_up()?, call.length)),
            Effect::ChangeDirectory => Ok(Ask::ChangeDirectory(self.place()?)),
            // What else may become of it says nothing about the file.
            Effect::Execute if matches!(call.errno, ENOEXEC | E2BIG) => Err(WhyLeftOut::NotTold),
            Effect::Execute => Ok(Ask::Access(self.looked_up()?, X_OK, 0)),
            _ => self.by_name(),
        }
    }

    fn by_name(&self) -> Result<Ask, WhyLeftOut> {
        match self.name {
            b"access" | b"faccessat" | b"faccessat2" => {
                Ok(Ask::Access(self.looked_up()?, self.call.argument, self.call.flags))
            }
            b"statfs" | b"statfs64" => Ok(Ask::StatFs(self.place()?)),
            _ => Err(WhyLeftOut::NotTold),
        }
    }

    fn on_descriptor(&self, new: u32) -> Result<Ask, WhyLeftOut> {
        let call = self.call;
        let on = self.known.ok_or(WhyLeftOut::UnknownDescriptor)?.origin?;
        let moved = || call.result.and_then(|bytes| u64::try_from(bytes).ok()).filter(|_| call.succeeded());
        Ok(match self.shape.effect {
            Effect::Attributes(_) => Ask::Attributes(on),
            Effect::ChangeDirectoryTo => Ask::ChangeDirectoryTo(on),
            Effect::Seek => Ask::Seek(on, call.offset.unwrap_or(0).cast_signed(), call.argument),
            Effect::List => Ask::List(on, call.length, moved().unwrap_or(0)),
            Effect::Duplicate => Ask::Duplicate(on, new, None),
            Effect::Control => return self.control(on, new),
            Effect::Close => Ask::Close(vec![on]),
            _ => match self.name {
                b"read" => Ask::Read(on, call.length, moved().unwrap_or(0)),
                b"pread64" => Ask::ReadAt(
                    on,
                    call.length,
                    moved().unwrap_or(0),
                    call.offset.ok_or(WhyLeftOut::NotTold)?,
                ),
                // How much they have room for is not told.
                b"readv" => moved().map(|bytes| Ask::Read(on, bytes, bytes)).ok_or(WhyLeftOut::NotTold)?,
                b"preadv" | b"preadv2" => match (moved(), call.offset) {
                    (Some(bytes), Some(offset)) => Ask::ReadAt(on, bytes, bytes, offset),
                    _ => return Err(WhyLeftOut::NotTold),
                },
                // Why one failed depends on what the program was allowed, and had.
                b"mmap" | b"mmap2" if call.succeeded() => Ask::Map(on, call.length, call.offset.unwrap_or(0)),
                b"fstatfs" | b"fstatfs64" => Ask::StatFsOf(on),
                b"ioctl" if call.errno == ENOTTY => Ask::IsTerminal(on),
                _ => return Err(WhyLeftOut::NotTold),
            },
        })
    }

    fn control(&self, on: u32, new: u32) -> Result<Ask, WhyLeftOut> {
        match self.call.argument {
            bits::F_DUPFD | bits::F_DUPFD_CLOEXEC => Ok(Ask::Duplicate(on, new, None)),
            F_GETFD | bits::F_SETFD | F_GETFL | bits::F_SETFL => Ok(Ask::Flags(on)),
            command if LOCKS.contains(&command) || command == F_OFD_SETLKW => Err(WhyLeftOut::Lock),
            _ => Err(WhyLeftOut::NotTold),
        }
    }

    fn place(&self) -> Result<PlaceId, WhyLeftOut> {
        self.place.ok_or(WhyLeftOut::NotMapped)
    }

    fn looked_up(&self) -> Result<Name, WhyLeftOut> {
        Ok(Name { place: self.place()?, at: self.at })
    }
}
