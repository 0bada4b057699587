//! Names in a tree, kept in memory.

use std::ffi::CStr;

use rustix::fs::FileType;

/// What is behind a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NameKind {
    File,
    Directory,
    Link,
    Special,
    /// A directory in which another file system begins.
    MountPoint,
}

impl NameKind {
    pub(super) const fn of(kind: FileType) -> Self {
        match kind {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Directory,
            FileType::Symlink => Self::Link,
            _ => Self::Special,
        }
    }
}

/// A name in a tree.
#[derive(Debug, Clone, Copy)]
pub(super) struct Name {
    /// Where its text begins, which ends with a zero.
    pub text_at: u64,
    /// The number of the directory that it is in.
    pub directory: u32,
    /// What it is.
    pub kind: NameKind,
}

/// A directory of a tree; the first is the tree itself.
#[derive(Debug, Clone, Copy)]
pub(super) struct Directory {
    /// The number of its name; the tree itself has none.
    pub name: Option<u32>,
    /// Which directory it is, once it was opened.
    pub inode: u64,
}

/// All names, those of a directory one after the other.
#[derive(Debug, Default)]
pub(super) struct TreeList {
    pub names: Vec<Name>,
    pub directories: Vec<Directory>,
    pub texts: Vec<u8>,
}

impl TreeList {
    /// What it takes of memory.
    pub(super) const fn bytes(&self) -> u64 {
        let entries = self.names.len() * size_of::<Name>() + self.directories.len() * size_of::<Directory>();
        (entries + self.texts.len()) as u64
    }

    /// The name with this number.
    pub(super) fn name(&self, number: u64) -> Option<Name> {
        self.names.get(usize::try_from(number).ok()?).copied()
    }

    /// What it is called.
    pub(super) fn text(&self, name: Name) -> &CStr {
        let rest = self.texts.get(name.text_at as usize..).unwrap_or_default();
        CStr::from_bytes_until_nul(rest).unwrap_or_default()
    }

    /// The directory that this one is in, and its name there.
    pub(super) fn above(&self, directory: u32) -> Option<(u32, Name)> {
        let name = self.names[self.directories[directory as usize].name? as usize];
        Some((name.directory, name))
    }

    /// Writes the path of a directory, from the tree on, with a zero at its end; that of the tree itself is `.`.
    pub(super) fn write_path(&self, directory: u32, path: &mut Vec<u8>) {
        let mut names = Vec::new();
        let mut at = directory;
        while let Some((above, name)) = self.above(at) {
            names.push(name);
            at = above;
        }
        path.clear();
        for (number, name) in names.iter().rev().enumerate() {
            if number > 0 {
                path.push(b'/');
            }
            path.extend_from_slice(self.text(*name).to_bytes());
        }
        if path.is_empty() {
            path.push(b'.');
        }
        path.push(0);
    }
}
