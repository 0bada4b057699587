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
    places: Vec<Whereabout>,
}

/// Where a place is.
#[derive(Debug)]
struct Whereabout {
    root: RawFd,
    /// Where in the whole begins what is below the root: one text, so that less memory is looked at between calls.
    below: u32,
    whole: CString,
}

impl Whereabout {
    #[inline]
    fn below(&self) -> &CStr {
        let whole = self.whole.as_bytes_with_nul();
        // SAFETY: the rest of it, which is one byte long at least, ends with its only zero.
        unsafe { CStr::from_bytes_with_nul_unchecked(&whole[(self.below as usize).min(whole.len() - 1)..]) }
    }
}

impl Paths {
    /// The paths of these places below these roots. One with a zero byte in it, which no program can have asked for, is empty.
    pub fn new(roots: Vec<MapRoot>, places: &[Place]) -> Self {
        let whereabout = |place: &Place| {
            let root = roots.get(usize::from(place.map));
            let path = root.map_or(&b""[..], |root| root.path.as_os_str().as_bytes());
            Whereabout {
                root: root.map_or(-1, |root| root.opened.as_raw_fd()),
                below: path.len() as u32 + 1,
                whole: CString::new([path, b"/", &place.path].concat()).unwrap_or_default(),
            }
        };
        Self { places: places.iter().map(whereabout).collect(), _roots: roots }
    }

    /// Its root, and below that.
    #[inline]
    pub(super) fn of(&self, place: PlaceId) -> (RawFd, &CStr) {
        self.places.get(place.0 as usize).map_or((-1, c""), |place| (place.root, place.below()))
    }

    /// From the root of the machine.
    pub(super) fn whole(&self, place: PlaceId) -> &CStr {
        self.places.get(place.0 as usize).map_or(c"", |place| place.whole.as_c_str())
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
    }
}
