//! Directories and names of paths, and what was asked of each directory.

use iolag_model::{Nanoseconds, TraceCounts, TraceDirectory};

use crate::trace::{Map, PathId, Paths, lexical, path_text};

/// A directory, by its place in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct DirectoryId(pub u32);

/// A name in a directory, by its place in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct NameId(pub u32);

/// Whether time in calls on a file is time in storage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Ground {
    /// It is.
    #[default]
    Storage,
    /// Devices, terminals and what the kernel tells: /dev but for /dev/shm, /proc, /sys.
    System,
}

impl Ground {
    pub(crate) fn of(directory: &[u8]) -> Self {
        let is_in = |place: &[u8]| {
            directory.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
        };
        let is_system = [&b"/dev"[..], b"/proc", b"/sys"].into_iter().any(is_in) && !is_in(b"/dev/shm");
        if is_system { Self::System } else { Self::Storage }
    }
}

/// What was asked of a directory.
#[derive(Debug, Clone, Copy, Default)]
struct Asked {
    ground: Ground,
    calls: u64,
    errors: u64,
    time: u64,
}

/// Where each path of a trace lies.
#[derive(Debug, Default)]
pub(super) struct Places {
    of_path: Vec<(DirectoryId, NameId)>,
    directories: Interned,
    names: Interned,
    asked: Vec<Asked>,
}

/// Bytes by number.
#[derive(Debug, Default)]
struct Interned {
    known: Map<Vec<u8>, u32>,
    all: Vec<Vec<u8>>,
}

impl Interned {
    fn number(&mut self, bytes: &[u8]) -> u32 {
        if let Some(known) = self.known.get(bytes) {
            return *known;
        }
        let number = self.all.len() as u32;
        self.all.push(bytes.to_vec());
        self.known.insert(bytes.to_vec(), number);
        number
    }

    fn get(&self, number: u32) -> &[u8] {
        self.all.get(number as usize).map_or(&[], Vec::as_slice)
    }
}

impl Places {
    /// Where a path lies, and its name there.
    pub(super) fn of(&mut self, path: PathId, paths: &Paths) -> (DirectoryId, NameId) {
        while self.of_path.len() <= path.0 as usize {
            let plain = lexical(paths.at(self.of_path.len()));
            let slash = plain.iter().rposition(|byte| *byte == b'/');
            let (directory, name) = match slash {
                Some(0) => (&b"/"[..], &plain[1..]),
                Some(slash) => (&plain[..slash], &plain[slash + 1..]),
                None => (&b"."[..], &plain[..]),
            };
            let place = (DirectoryId(self.directories.number(directory)), NameId(self.names.number(name)));
            self.of_path.push(place);
        }
        for directory in &self.directories.all[self.asked.len()..] {
            self.asked.push(Asked { ground: Ground::of(directory), ..Asked::default() });
        }
        self.of_path[path.0 as usize]
    }

    /// What a directory is of.
    pub(super) fn ground(&self, directory: DirectoryId) -> Ground {
        self.asked.get(directory.0 as usize).map_or(Ground::Storage, |asked| asked.ground)
    }

    /// Counts a call on what lies in a directory.
    pub(super) fn count(&mut self, directory: DirectoryId, failed: bool, time: u64) {
        if let Some(asked) = self.asked.get_mut(directory.0 as usize) {
            asked.calls += 1;
            asked.errors += u64::from(failed);
            asked.time = asked.time.saturating_add(time);
        }
    }

    /// Each directory that had calls on what lies in it, with how many of them failed and how long all took.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&[u8], TraceCounts)> {
        let told = self.directories.all.iter().zip(&self.asked);
        told.map(|(directory, asked)| {
            let &Asked { calls, errors, time, .. } = asked;
            (directory.as_slice(), TraceCounts { calls, errors, time_ns: Nanoseconds(time) })
        })
    }

    /// A directory as text.
    pub(super) fn directory(&self, directory: DirectoryId) -> String {
        path_text(self.directories.get(directory.0))
    }

    /// A name as text.
    pub(super) fn name(&self, name: NameId) -> String {
        path_text(self.names.get(name.0))
    }

    /// The directories of which most time was asked.
    pub(super) fn directories(&self, most: usize) -> Vec<TraceDirectory> {
        let mut order: Vec<(usize, &Asked)> =
            self.asked.iter().enumerate().filter(|(_, asked)| asked.calls > 0).collect();
        order.sort_by_key(|(place, asked)| (std::cmp::Reverse((asked.time, asked.calls)), *place));
        let told = order.into_iter().take(most).map(|(place, asked)| TraceDirectory {
            path: self.directory(DirectoryId(place as u32)),
            calls: asked.calls,
            errors: asked.errors,
            time_ns: Nanoseconds(asked.time),
        });
        told.collect()
    }
}
