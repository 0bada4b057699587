//! The names behind tags, in shared memory: a session that mentions a name needs no descriptor for it, which may be another one in the
//! table of its thread, and nobody who is killed takes names along.
//!
//! Invariants: a number is given once in a run; who gets it writes the name, and says last that it is there.

use std::sync::atomic::{AtomicU32, Ordering};

use iolag_model::{TagKind, TagRecord};

use super::memory::SharedMemory;

/// So many tags has a run at most: run.json names them all.
pub const TAGS_MAX: u16 = 4096;

const NAME_BYTES_MAX: usize = 256;

/// One name.
#[repr(C)]
struct Named {
    /// 0 until the name is there, then its kind and its length.
    told: AtomicU32,
    name: [u8; NAME_BYTES_MAX],
}

/// Where the names are: first how many were asked for, then they.
pub(crate) struct TagPlaces<'a> {
    pub memory: &'a SharedMemory,
    pub offset: usize,
}

impl TagPlaces<'_> {
    pub(crate) const BYTES: usize = size_of::<AtomicU32>() + TAGS_MAX as usize * size_of::<Named>();

    /// The tag of a name: a number that no other name of the run has; `None` if there are none left. Two processes that mention one
    /// name at the same moment may get two numbers.
    pub(crate) fn tag(&self, kind: TagKind, name: &str) -> Option<u16> {
        let name = &name[..name.floor_char_boundary(NAME_BYTES_MAX)];
        let is_known = |place: &usize| self.told(*place) == Some((kind, name.as_bytes()));
        if let Some(place) = (0..self.given()).find(is_known) {
            return Some(place as u16 + 1);
        }
        let one_more = |asked| (asked <= u32::from(TAGS_MAX)).then_some(asked + 1);
        let asked = self.asked().fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more);
        let place = asked.ok().filter(|asked| *asked < u32::from(TAGS_MAX))? as usize;
        let named = self.named(place);
        // SAFETY: the place is within the memory, and nobody else has its number or reads it before `told` says so.
        unsafe {
            (&raw mut (*named).name).cast::<u8>().copy_from_nonoverlapping(name.as_ptr(), name.len());
            (*named).told.store(code_of(kind) | (name.len() as u32) << 8, Ordering::Release);
        }
        Some(place as u16 + 1)
    }

    /// All names that were mentioned, in the order of their numbers.
    pub(crate) fn all(&self) -> Vec<TagRecord> {
        let told = |place: usize| {
            let (kind, name) = self.told(place)?;
            let name = String::from_utf8_lossy(name).into_owned();
            Some(TagRecord { tag: place as u16 + 1, kind, name, target: None })
        };
        (0..self.given()).filter_map(told).collect()
    }

    /// Whether more were asked for than there are.
    pub(crate) fn lacked(&self) -> bool {
        self.asked().load(Ordering::Relaxed) > u32::from(TAGS_MAX)
    }

    fn given(&self) -> usize {
        self.asked().load(Ordering::Relaxed).min(u32::from(TAGS_MAX)) as usize
    }

    fn asked(&self) -> &AtomicU32 {
        // SAFETY: zeroed memory is a valid counter, and only atomics ever touch it.
        unsafe { self.memory.at::<AtomicU32>(self.offset, 1).as_ref() }
    }

    fn named(&self, place: usize) -> *mut Named {
        let first = self.offset + size_of::<AtomicU32>();
        self.memory.at::<Named>(first + place * size_of::<Named>(), 1).as_ptr()
    }

    /// Kind and name, once they are there.
    fn told(&self, place: usize) -> Option<(TagKind, &[u8])> {
        let named = self.named(place);
        // SAFETY: within the memory; zeroed memory is valid, and a name is not written again once `told` says that it is there.
        unsafe {
            let told = (*named).told.load(Ordering::Acquire);
            let length = ((told >> 8) as usize).min(NAME_BYTES_MAX);
            let name = std::slice::from_raw_parts((&raw const (*named).name).cast::<u8>(), length);
            Some((kind_of(told & 0xff)?, name))
        }
    }
}

const KINDS: [TagKind; 4] = [TagKind::Server, TagKind::SecondTarget, TagKind::PathKind, TagKind::Unknown];

const fn code_of(kind: TagKind) -> u32 {
    match kind {
        TagKind::Server => 1,
        TagKind::SecondTarget => 2,
        TagKind::PathKind => 3,
        TagKind::Unknown => 4,
    }
}

fn kind_of(code: u32) -> Option<TagKind> {
    KINDS.into_iter().find(|kind| code_of(*kind) == code)
}
