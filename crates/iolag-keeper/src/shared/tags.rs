//! The names behind tags, in shared memory: a session that mentions a name needs no descriptor for it, which may be another one in the
//! table of its thread, and nobody who is killed takes names along.
//!
//! ```text
//! given   names[TAGS_MAX]   bytes
//! ```
//! Invariants: a number, and the bytes for its name, are given once in a run, both at once; who gets them writes the name, and says last that
//! it is there.

use std::sync::atomic::{AtomicU64, Ordering};

use iolag_model::{TagKind, TagRecord};

use super::memory::SharedMemory;

/// So many tags has a run at most: run.json names them all.
pub const TAGS_MAX: u16 = 4096;

/// So many bytes have their names together.
pub const TAG_NAMES_BYTES_MAX: usize = 128 << 10;
/// Names are told apart, and kept, by so many: that of a host is no longer.
const NAME_BYTES_MAX: usize = 255;

/// Where the names are.
pub(crate) struct TagPlaces<'a> {
    pub memory: &'a SharedMemory,
    pub offset: usize,
}

/// How many tags were given, how many bytes their names have, and whether more were asked for than there are: one word of the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Given {
    tags: u16,
    bytes: u32,
    is_lacking: bool,
}

impl Given {
    const fn of(word: u64) -> Self {
        Self { tags: word as u16, bytes: (word >> 16) as u32, is_lacking: word >> 63 == 1 }
    }

    const fn word(self) -> u64 {
        self.tags as u64 | (self.bytes as u64) << 16 | (self.is_lacking as u64) << 63
    }

    /// One more name that is so long, or that there was no place for it.
    const fn with(self, bytes: usize) -> Self {
        if self.tags == TAGS_MAX || self.bytes as usize + bytes > TAG_NAMES_BYTES_MAX {
            Self { is_lacking: true, ..self }
        } else {
            Self { tags: self.tags + 1, bytes: self.bytes + bytes as u32, ..self }
        }
    }
}

impl TagPlaces<'_> {
    const WORDS: usize = 1 + TAGS_MAX as usize;
    pub(crate) const BYTES: usize = Self::WORDS * size_of::<AtomicU64>() + TAG_NAMES_BYTES_MAX;

    /// The tag of a name: the number that it has in all threads and processes of the run; `None` if there are none left, or no room for the
    /// name.
    pub(crate) fn tag(&self, kind: TagKind, name: &str) -> Option<u16> {
        let name = &name[..name.floor_char_boundary(NAME_BYTES_MAX)];
        let mut seen = 0;
        loop {
            let given = self.given();
            let is_it = |tag: &u16| self.told_soon(*tag) == Some((kind, name.as_bytes()));
            if let Some(tag) = (seen + 1..=given.tags).find(is_it) {
                return Some(tag);
            }
            seen = given.tags;
            let with = given.with(name.len());
            // Only if nobody was given one meanwhile: it could be for this name.
            let (now, then) = (given.word(), with.word());
            if self.word(0).compare_exchange(now, then, Ordering::Relaxed, Ordering::Relaxed).is_err() {
                continue;
            }
            if with.tags == given.tags {
                return None;
            }
            self.write(with.tags, kind, name, given.bytes);
            return Some(with.tags);
        }
    }

    /// All names that were mentioned, in the order of their numbers.
    pub(crate) fn all(&self) -> Vec<TagRecord> {
        let told = |tag: u16| {
            let (kind, name) = self.told(tag)?;
            Some(TagRecord { tag, kind, name: String::from_utf8_lossy(name).into_owned(), target: None })
        };
        (1..=self.given().tags).filter_map(told).collect()
    }

    /// Whether more were asked for than there are.
    pub(crate) fn lacked(&self) -> bool {
        self.given().is_lacking
    }

    fn given(&self) -> Given {
        Given::of(self.word(0).load(Ordering::Relaxed))
    }

    /// Kind and name, once they are there.
    fn told(&self, tag: u16) -> Option<(TagKind, &[u8])> {
        let told = self.word(tag).load(Ordering::Acquire);
        let kind = kind_of(told & 0xff)?;
        let (from, length) = ((told >> 32) as usize, (told >> 8 & 0xffff) as usize);
        // SAFETY: within the memory, and not written again once the word says that the name is there.
        Some((kind, unsafe { std::slice::from_raw_parts(self.bytes(from, length), length) }))
    }

    /// The same, of which the name may be under way. Who was killed before its name was there keeps nobody waiting for long.
    fn told_soon(&self, tag: u16) -> Option<(TagKind, &[u8])> {
        const LOOKS: u32 = 1000;
        let look = |_| {
            self.told(tag).or_else(|| {
                std::thread::yield_now();
                None
            })
        };
        (0..LOOKS).find_map(look)
    }

    fn write(&self, tag: u16, kind: TagKind, name: &str, from: u32) {
        let bytes = self.bytes(from as usize, name.len());
        // SAFETY: within the memory, and nobody else has these bytes or reads them before the word of the tag says so.
        unsafe { bytes.copy_from_nonoverlapping(name.as_ptr(), name.len()) };
        let told = code_of(kind) | (name.len() as u64) << 8 | u64::from(from) << 32;
        self.word(tag).store(told, Ordering::Release);
    }

    /// The word of a tag: 0 until its name is there, then its kind, its length and where it is. The first is what was given.
    fn word(&self, tag: u16) -> &AtomicU64 {
        let place = self.offset + usize::from(tag) * size_of::<AtomicU64>();
        // SAFETY: zeroed memory is a valid word, and only atomics ever touch it.
        unsafe { self.memory.at::<AtomicU64>(place, 1).as_ref() }
    }

    fn bytes(&self, from: usize, length: usize) -> *mut u8 {
        self.memory.at::<u8>(self.offset + Self::WORDS * size_of::<AtomicU64>() + from, length).as_ptr()
    }
}

const KINDS: [TagKind; 4] = [TagKind::Server, TagKind::SecondTarget, TagKind::PathKind, TagKind::Unknown];

const fn code_of(kind: TagKind) -> u64 {
    match kind {
        TagKind::Server => 1,
        TagKind::SecondTarget => 2,
        TagKind::PathKind => 3,
        TagKind::Unknown => 4,
    }
}

fn kind_of(code: u64) -> Option<TagKind> {
    KINDS.into_iter().find(|kind| code_of(*kind) == code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_was_never_written_has_its_number_and_keeps_nobody_waiting() {
        let memory = SharedMemory::new(TagPlaces::BYTES).unwrap();
        let places = TagPlaces { memory: &memory, offset: 0 };
        assert_eq!(places.tag(TagKind::Server, "a"), Some(1));
        let killed = places.given().with(1);
        places.word(0).store(killed.word(), Ordering::Relaxed);
        let tags = ["b", "c", "b", "a"].map(|name| places.tag(TagKind::Server, name));
        assert_eq!(tags, [3, 4, 3, 1].map(Some));
        let named: Vec<_> = places.all().into_iter().map(|tag| (tag.tag, tag.name)).collect();
        assert_eq!(named, [(1, "a"), (3, "b"), (4, "c")].map(|(tag, name)| (tag, name.to_owned())));
    }
}
