//! Reading all directories of a tree, one after the other: each before those that were found in it, as find(1) does.

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::os::fd::AsFd;

use iolag_model::TreeNames;
use rustix::fs::FileType;
use rustix::io::Errno;

use super::list::{Directory, Name, NameKind, TreeList};
use super::reach::Reach;
use crate::posix::directory::{own_attributes, read_entries, type_of};

/// A walk that goes on.
#[derive(Debug)]
pub(super) struct Walk {
    list: TreeList,
    list_bytes_max: u64,
    /// Directories that are to be read, the next one last.
    left: Vec<u32>,
    extent: Extent,
    /// What was found until now.
    pub found: TreeNames,
    /// Of the directory that is being read.
    path: Vec<u8>,
}

/// Whether the list has room for what is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extent {
    Fits,
    TooLarge,
}

impl Walk {
    pub(super) fn new(list_bytes_max: u64) -> Self {
        let root = Directory { name: None, inode: 0 };
        Self {
            list: TreeList { directories: vec![root], ..TreeList::default() },
            list_bytes_max,
            left: vec![0],
            extent: Extent::Fits,
            found: TreeNames::default(),
            path: Vec::new(),
        }
    }

    pub(super) const fn has_more(&self) -> bool {
        !self.left.is_empty()
    }

    pub(super) const fn is_too_large(&self) -> bool {
        matches!(self.extent, Extent::TooLarge)
    }

    pub(super) fn take_list(&mut self) -> TreeList {
        self.left = Vec::new();
        std::mem::take(&mut self.list)
    }

    /// Reads the next directory. What is mounted below is told and not read.
    pub(super) fn read_next(&mut self, reach: &Reach, space: &mut [MaybeUninit<u8>]) -> Result<(), Errno> {
        let Some(directory) = self.left.pop() else { return Ok(()) };
        let left = self.left.len();
        let read = self.read(directory, reach, space);
        // The first that was found is the next.
        if let Some(found) = self.left.get_mut(left..) {
            found.reverse();
        }
        match read {
            Err(Errno::XDEV) => {
                self.is_mounted_on(directory);
                Ok(())
            }
            Err(errno) => {
                self.found.unread_directories += 1;
                Err(errno)
            }
            Ok(()) => Ok(()),
        }
    }

    fn read(&mut self, directory: u32, reach: &Reach, space: &mut [MaybeUninit<u8>]) -> Result<(), Errno> {
        self.list.write_path(directory, &mut self.path);
        let path = CStr::from_bytes_with_nul(&self.path).map_err(|_| Errno::INVAL)?;
        let opened = reach.directory(path)?;
        let own = own_attributes(opened.as_fd())?;
        if !reach.is_own_device(&own) || self.holds_itself(directory, own.stx_ino) {
            return Err(Errno::XDEV);
        }
        self.list.directories[directory as usize].inode = own.stx_ino;
        let all = read_entries(opened.as_fd(), space, |name, kind| {
            // What is gone before it was asked for is nothing that is opened, and asking for it later fails.
            let kind = type_of(opened.as_fd(), name, kind).unwrap_or(FileType::Unknown);
            self.add(directory, name, NameKind::of(kind)).map(|()| None::<()>)
        });
        all.map(drop)
    }

    /// Whether a directory of this number lies in itself: it is bound into the tree, and reading it would have no end.
    fn holds_itself(&self, directory: u32, inode: u64) -> bool {
        let mut at = directory;
        while let Some((above, _)) = self.list.above(at) {
            if self.list.directories[above as usize].inode == inode {
                return true;
            }
            at = above;
        }
        false
    }

    fn add(&mut self, directory: u32, text: &CStr, kind: NameKind) -> Result<(), Errno> {
        let name = Name { text_at: self.list.texts.len() as u64, directory, kind };
        let number = u32::try_from(self.list.names.len()).ok();
        let Some(number) = number.filter(|_| self.list.bytes() < self.list_bytes_max) else {
            self.extent = Extent::TooLarge;
            self.left.clear();
            return Err(Errno::NOMEM);
        };
        self.list.texts.extend_from_slice(text.to_bytes_with_nul());
        self.list.names.push(name);
        match kind {
            NameKind::File => self.found.files += 1,
            NameKind::Link => self.found.links += 1,
            NameKind::Special => self.found.special += 1,
            NameKind::MountPoint => self.found.mount_points += 1,
            NameKind::Directory => {
                self.found.directories += 1;
                self.left.push(self.list.directories.len() as u32);
                self.list.directories.push(Directory { name: Some(number), inode: 0 });
            }
        }
        Ok(())
    }

    fn is_mounted_on(&mut self, directory: u32) {
        if let Some(name) = self.list.directories[directory as usize].name {
            self.list.names[name as usize].kind = NameKind::MountPoint;
            self.found.directories -= 1;
            self.found.mount_points += 1;
        }
    }
}
