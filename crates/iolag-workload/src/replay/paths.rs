//! The paths of a repetition as the kernel takes them, made before anything is asked.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use iolag_trace::{At, Name, Place, PlaceId};
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;

/// A directory that is asked in the place of one of the program's.
#[derive(Debug)]
pub struct MapRoot {
    path: PathBuf,
    opened: OwnedFd,
}

impl MapRoot {
    /// Opens it.
    ///
    /// # Errors
    /// If it is no directory, or cannot be opened.
    pub fn open(path: &Path) -> Result<Self, Errno> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self { path: path.to_owned(), opened: openat(CWD, path, flags, Mode::empty())? })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl AsFd for MapRoot {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.opened.as_fd()
    }
}

/// Every path of a repetition.
#[derive(Debug)]
pub struct Paths {
    /// Open as long as they are asked below.
    _roots: Vec<MapRoot>,
    /// By place: its root, what is below that, and the whole.
    roots: Vec<RawFd>,
    below: Texts,
    whole: Texts,
}

/// Texts one after the other, in the order in which they are asked for first: little memory is looked at between calls, and what comes next is there.
#[derive(Debug)]
struct Texts {
    bytes: Vec<u8>,
    /// Where each begins, and where the last ends.
    starts: Vec<usize>,
}

impl Texts {
    /// One with a zero byte in it is empty.
    fn of(texts: impl Iterator<Item = Vec<u8>>) -> Self {
        let mut all = Self { bytes: Vec::new(), starts: vec![0] };
        for text in texts {
            all.bytes.extend_from_slice(CString::new(text).unwrap_or_default().as_bytes_with_nul());
            all.starts.push(all.bytes.len());
        }
        all
    }

    #[inline]
    fn get(&self, place: PlaceId) -> &CStr {
        match self.starts.get(place.0 as usize..).unwrap_or_default() {
            // SAFETY: it was put there with the only zero at its end.
            [start, end, ..] => unsafe { CStr::from_bytes_with_nul_unchecked(&self.bytes[*start..*end]) },
            _ => c"",
        }
    }
}

impl Paths {
    /// The paths of these places below these roots. One with a zero byte in it, which no program can have asked for, is empty.
    pub fn new(roots: Vec<MapRoot>, places: &[Place]) -> Self {
        let root = |place: &Place| roots.get(usize::from(place.map));
        let whole = |place: &Place| {
            let root = root(place).map_or(&b""[..], |root| root.path.as_os_str().as_bytes());
            [root, b"/", &place.path].concat()
        };
        Self {
            roots: places
                .iter()
                .map(|place| root(place).map_or(-1, |root| root.opened.as_raw_fd()))
                .collect(),
            below: Texts::of(places.iter().map(|place| place.path.clone())),
            whole: Texts::of(places.iter().map(whole)),
            _roots: roots,
        }
    }

    /// Its root, and below that.
    #[inline]
    pub(super) fn of(&self, place: PlaceId) -> (RawFd, &CStr) {
        (self.roots.get(place.0 as usize).copied().unwrap_or(-1), self.below.get(place))
    }

    /// From the root of the machine.
    pub(super) fn whole(&self, place: PlaceId) -> &CStr {
        self.whole.get(place)
    }

    /// Where a name is looked up, and as what; `descriptor` says what a descriptor of the repetition is.
    pub(super) fn looked_up(&self, name: Name, descriptor: impl Fn(u32) -> RawFd) -> (RawFd, &CStr) {
        let (root, path) = self.of(name.place);
        match name.at {
            At::Map => (root, path),
            At::Descriptor(on, left) => {
                let rest = path.to_bytes_with_nul().get(left as usize..);
                let rest = rest.and_then(|rest| CStr::from_bytes_with_nul(rest).ok());
                (descriptor(on), rest.unwrap_or(path))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_looked_up_where_the_program_did() {
        let root = MapRoot::open(Path::new("/")).unwrap();
        let place = Place { map: 0, path: b"usr/lib/x".to_vec() };
        let paths = Paths::new(vec![root], &[place]);
        let name = Name { place: PlaceId(0), at: At::Descriptor(5, 8) };
        assert_eq!(paths.looked_up(name, |on| on as RawFd + 100), (105, c"x"));
        let (root, path) = paths.looked_up(Name { at: At::Map, ..name }, |_| -1);
        assert!(root > 2 && path == c"usr/lib/x");
        assert_eq!(paths.whole(PlaceId(0)), c"//usr/lib/x");
        assert_eq!((paths.of(PlaceId(1)), paths.whole(PlaceId(9))), ((-1, c""), c""));
    }
}
