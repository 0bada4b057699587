//! The page cache of the files in a working directory: dropped, filled, and looked at.
//!
//! Limits: what is told is of pages of files. Of names and attributes (dentries, inodes) the kernel does not tell, and only the superuser may
//! drop them. Without cachestat(2) (Linux 6.5) pages are looked at by mincore(2).

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{Advice, FileType, Mode, OFlags, fadvise, openat, syncfs};
use rustix::io::Errno;

use super::directory::{attributes, open, own_attributes, retry, type_in, type_of, visit};

/// A working directory whose files are meant.
#[derive(Debug)]
pub struct PlaceCaches {
    directory: OwnedFd,
}

/// How caches were dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DropMethod {
    /// All of the system's, names and attributes too (`drop_caches`).
    System,
    /// The pages of each file (posix_fadvise(2), DONTNEED).
    Files,
}

/// What is in the page cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CacheLook {
    /// Bytes of all files that were looked at.
    pub held_bytes: u64,
    /// Those of them that are in memory.
    pub resident_bytes: u64,
    /// Files of which the kernel does not tell.
    pub unknown_files: u64,
}

impl PlaceCaches {
    /// Those of the files in this directory.
    pub const fn new(directory: OwnedFd) -> Self {
        Self { directory }
    }

    /// Writes back what the file system holds, then drops: by `drop_caches` (`/proc/sys/vm/drop_caches`) where that may be written to.
    ///
    /// # Errors
    /// What the system answered.
    pub fn drop_all(&self, drop_caches: &Path) -> io::Result<DropMethod> {
        if self.drop_system(drop_caches).is_ok() {
            return Ok(DropMethod::System);
        }
        syncfs(&self.directory)?;
        each_file(self.directory.as_fd(), &mut |file, _| Ok(fadvise(file, 0, None, Advice::DontNeed)?))?;
        Ok(DropMethod::Files)
    }

    /// Writes back what the file system holds, then drops all that the system holds; the directory may be any.
    ///
    /// # Errors
    /// What the system answered: as a rule that only the superuser may do that.
    pub fn drop_system(&self, drop_caches: &Path) -> io::Result<()> {
        syncfs(&self.directory)?;
        File::options().write(true).open(drop_caches)?.write_all(b"3\n")
    }

    /// Reads every file to its end. Returns the bytes.
    ///
    /// # Errors
    /// What the system answered.
    pub fn warm(&self) -> io::Result<u64> {
        let (mut buffer, mut all) = (vec![0; 1 << 20], 0);
        each_file(self.directory.as_fd(), &mut |file, _| {
            let mut file = File::from(file.try_clone_to_owned()?);
            loop {
                match file.read(&mut buffer) {
                    Ok(0) => return Ok(()),
                    Ok(bytes) => all += bytes as u64,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
        })?;
        Ok(all)
    }

    /// How much of every file is in memory.
    ///
    /// # Errors
    /// What the system answered, but that it does not tell of a file.
    pub fn look(&self) -> io::Result<CacheLook> {
        let mut look = CacheLook::default();
        each_file(self.directory.as_fd(), &mut |file, bytes| {
            look.held_bytes += bytes;
            match resident_bytes(file, bytes) {
                Ok(resident) => look.resident_bytes += resident.min(bytes),
                Err(_) => look.unknown_files += 1,
            }
            Ok(())
        })?;
        Ok(look)
    }
}

/// Opens each file of the datasets in a working directory and says how long it is: what lies beside them is iolag's own.
fn each_file(
    working: BorrowedFd<'_>,
    visitor: &mut dyn FnMut(BorrowedFd<'_>, u64) -> io::Result<()>,
) -> io::Result<()> {
    let stopped = visit(working, |name, listed| {
        let dataset =
            type_of(working, name, listed).ok().filter(|kind| kind.is_dir()).map(|_| open(working, name))?;
        dataset.map_err(io::Error::from).and_then(|dataset| each_file_below(dataset.as_fd(), visitor)).err()
    })?;
    stopped.map_or(Ok(()), Err)
}

/// Opens each file in a directory and those below it, on the same file system, following no symbolic link. What is gone meanwhile is left
/// out.
fn each_file_below(
    directory: BorrowedFd<'_>,
    visitor: &mut dyn FnMut(BorrowedFd<'_>, u64) -> io::Result<()>,
) -> io::Result<()> {
    let device = |attributes: &rustix::fs::Statx| (attributes.stx_dev_major, attributes.stx_dev_minor);
    let own = device(&own_attributes(directory)?);
    let stopped = visit(directory, |name, _| {
        let mut one = || -> io::Result<()> {
            let found = attributes(directory, name)?;
            if device(&found) != own {
                return Ok(());
            }
            match type_in(&found) {
                FileType::Directory => each_file_below(open(directory, name)?.as_fd(), visitor),
                FileType::RegularFile => {
                    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                    let file = retry(|| openat(directory, name, flags, Mode::empty()))?;
                    visitor(file.as_fd(), found.stx_size)
                }
                _ => Ok(()),
            }
        };
        one().err().filter(|error| error.kind() != io::ErrorKind::NotFound)
    })?;
    stopped.map_or(Ok(()), Err)
}

/// Of a file this long.
pub(super) fn resident_bytes(file: BorrowedFd<'_>, bytes: u64) -> Result<u64, Errno> {
    match by_cachestat(file) {
        // An older kernel, or a container that knows no newer call.
        Err(Errno::NOSYS | Errno::PERM | Errno::OPNOTSUPP) => by_mincore(file, bytes),
        told => told,
    }
}

/// cachestat(2).
fn by_cachestat(file: BorrowedFd<'_>) -> Result<u64, Errno> {
    /// Of the generic table, which all architectures share for new calls.
    const SYS_CACHESTAT: libc::c_long = 451;
    #[repr(C)]
    struct Range {
        offset: u64,
        /// 0: to the end.
        length: u64,
    }
    #[repr(C)]
    #[derive(Default)]
    struct Counts {
        cached: u64,
        dirty: u64,
        writeback: u64,
        evicted: u64,
        recently_evicted: u64,
    }
    let (range, mut counts) = (Range { offset: 0, length: 0 }, Counts::default());
    // SAFETY: both structures are as the kernel has them, and live as long as the call.
    let answer =
        unsafe { libc::syscall(SYS_CACHESTAT, file.as_raw_fd(), &raw const range, &raw mut counts, 0) };
    match answer {
        0 => Ok(counts.cached * rustix::param::page_size() as u64),
        _ => Err(last_error()),
    }
}

/// mincore(2), a stretch of the file after the other.
fn by_mincore(file: BorrowedFd<'_>, bytes: u64) -> Result<u64, Errno> {
    use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
    const STRETCH_BYTES: u64 = 1 << 30;
    let page = rustix::param::page_size() as u64;
    let mut resident = 0;
    for begin in (0..bytes).step_by(STRETCH_BYTES as usize) {
        let length = STRETCH_BYTES.min(bytes - begin) as usize;
        let mut pages = vec![0_u8; length.div_ceil(page as usize)];
        // SAFETY: a mapping of its own, which nobody reads, and which is gone before the end; the vector has a byte for each page.
        unsafe {
            let map = mmap(std::ptr::null_mut(), length, ProtFlags::READ, MapFlags::SHARED, file, begin)?;
            let told = libc::mincore(map, length, pages.as_mut_ptr());
            let error = last_error();
            munmap(map, length)?;
            if told != 0 {
                return Err(error);
            }
        }
        resident += pages.iter().filter(|page| **page & 1 == 1).count() as u64 * page;
    }
    Ok(resident)
}

fn last_error() -> Errno {
    Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::PathBuf;

    use crate::posix::directory::DIRECTORY;

    fn place() -> (tempfile::TempDir, PlaceCaches) {
        // Not on a tmpfs, which has no other place than memory.
        let directory = tempfile::tempdir_in(PathBuf::from(env!("CARGO_MANIFEST_DIR"))).unwrap();
        fs::create_dir(directory.path().join("0_0")).unwrap();
        fs::write(directory.path().join("0_0/file-0"), vec![7; 1 << 20]).unwrap();
        fs::write(directory.path().join("0_0/file-1"), b"short").unwrap();
        fs::write(directory.path().join(".iolag-token"), "of iolag itself").unwrap();
        for link in ["link", "0_0/link"] {
            std::os::unix::fs::symlink("/etc/passwd", directory.path().join(link)).unwrap();
        }
        let opened = rustix::fs::open(directory.path(), DIRECTORY, Mode::empty()).unwrap();
        (directory, PlaceCaches::new(opened))
    }

    #[test]
    fn what_was_written_is_in_memory_until_it_is_dropped_and_again_when_it_was_read() {
        let (directory, caches) = place();
        let all = (1 << 20) + 5;
        let look = caches.look().unwrap();
        assert_eq!(look, CacheLook { held_bytes: all, resident_bytes: all, unknown_files: 0 });
        // A file that is none: only the pages of the own files are dropped, as for an ordinary user.
        let method = caches.drop_all(&directory.path().join("0_0/file-0/none")).unwrap();
        assert_eq!(method, DropMethod::Files);
        let cold = caches.look().unwrap();
        assert_eq!(cold.held_bytes, all);
        assert!(cold.resident_bytes < all / 10, "{cold:?}");
        assert_eq!(caches.warm().unwrap(), all);
        assert_eq!(caches.look().unwrap().resident_bytes, all);
    }

    #[test]
    fn both_ways_to_look_see_the_same() {
        let (directory, caches) = place();
        let file = File::open(directory.path().join("0_0/file-0")).unwrap();
        let both = || (by_cachestat(file.as_fd()), by_mincore(file.as_fd(), 1 << 20));
        match both() {
            (Err(Errno::NOSYS), told) => assert_eq!(told, Ok(1 << 20)),
            (one, other) => assert_eq!(one, other),
        }
        caches.drop_all(Path::new("/nowhere")).unwrap();
        assert!(by_mincore(file.as_fd(), 1 << 20).unwrap() < 1 << 17);
    }
}
