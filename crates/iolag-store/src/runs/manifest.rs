//! manifest.json: what a run created outside its own directory, so that it can be removed after any crash.
//!
//! It is written before anything is created, with the token by which a working directory will be known. Device and inode are added
//! as soon as the directory exists. Clean-up removes only a directory that holds the token (older runs have none: then device and
//! inode must match), so that a name that somebody else took is never emptied.

use serde::{Deserialize, Serialize};

use iolag_model::{FormatVersion, PlaceToken, RUN_FORMAT};

/// manifest.json.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Format of the run directory.
    pub format: FormatVersion,
    /// What was created, or was about to be.
    pub entries: Vec<ManifestEntry>,
}

/// One directory that a run created.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManifestEntry {
    /// Absolute path of the directory in which it was created.
    pub parent: String,
    /// Its plain name in there.
    pub name: String,
    /// Device number, once it exists.
    pub device: Option<u64>,
    /// Inode number, once it exists.
    pub inode: Option<u64>,
    /// By what a working directory is known: its file is made in it before anything else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<PlaceToken>,
    /// The number of its file system (statvfs(3)), once it exists: devices are given out again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_system: Option<u64>,
    /// What it is for.
    pub kind: ManifestKind,
}

/// What a created directory is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ManifestKind {
    /// A working directory on a target.
    WorkingDirectory,
    /// A spool outside the run directory.
    Spool,
}

impl Manifest {
    /// A manifest of this program's format.
    pub fn new(entries: Vec<ManifestEntry>) -> Self {
        Self { format: RUN_FORMAT, entries }
    }

    /// What two manifests of one run know together, if the run was closed where it has the other: of one directory, the entry that
    /// says which it is. Working directories that the other does not name were removed.
    pub(crate) fn merged(mut self, other: Self) -> Self {
        let is_same =
            |one: &ManifestEntry, other: &ManifestEntry| one.parent == other.parent && one.name == other.name;
        self.entries.retain(|known| {
            known.kind == ManifestKind::Spool || other.entries.iter().any(|entry| is_same(known, entry))
        });
        for entry in other.entries {
            match self.entries.iter_mut().find(|known| is_same(known, &entry)) {
                Some(known) if known.inode.is_none() => *known = entry,
                Some(_) => {}
                None => self.entries.push(entry),
            }
        }
        self
    }
}
