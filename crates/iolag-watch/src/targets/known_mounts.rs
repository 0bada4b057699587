//! Where targets truly lie: symbolic links may lead elsewhere than a path says, and only who has gone there knows.
//!
//! What was learnt is kept in the runtime directory, so that the next watch knows before anybody has answered. It is believed as
//! long as the same thing is mounted at the same place. A mount's id and its device number say less: both are handed out anew when
//! it is mounted again, and then belong to whatever comes next.
//!
//! Limits: links that were changed since are noticed by the next probe that gets through. Paths that are not UTF-8 are learnt anew by
//! each watch.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::{MountIdentity, MountTable, RuntimeDirectory, RuntimeError};

const NAME: &str = "mounts.json";
const VERSION: u32 = 1;
const BYTES_MAX: u64 = 4 << 20;

/// What is known of where directories lie, by their paths as they are written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct KnownMounts {
    mounts: BTreeMap<PathBuf, KnownMount>,
}

/// A mount, told from what may be mounted in its place later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct KnownMount {
    mount_point: PathBuf,
    kind: String,
    /// Secrets removed.
    source: String,
}

/// The contents of the file.
#[derive(Debug, Serialize, Deserialize)]
struct Contents {
    version: u32,
    mounts: Vec<(PathBuf, KnownMount)>,
}

impl KnownMounts {
    /// What earlier watches have learnt. A file that cannot be understood says nothing.
    pub fn read(directory: &RuntimeDirectory) -> Self {
        let text = directory.read_file(NAME, BYTES_MAX).ok().flatten().unwrap_or_default();
        let kept = serde_json::from_slice(&text).ok().filter(|kept: &Contents| kept.version == VERSION);
        Self { mounts: kept.map_or_else(BTreeMap::new, |kept| kept.mounts.into_iter().collect()) }
    }

    /// Keeps it for the next watch.
    pub fn write(&self, directory: &RuntimeDirectory) -> Result<(), RuntimeError> {
        let has_text = |(known, mount): &(&PathBuf, &KnownMount)| {
            known.to_str().is_some() && mount.mount_point.to_str().is_some()
        };
        let mounts = self.mounts.iter().filter(has_text);
        let mounts = mounts.map(|(known, mount)| (known.clone(), mount.clone())).collect();
        let text = serde_json::to_vec(&Contents { version: VERSION, mounts }).unwrap_or_default();
        directory.replace_file(NAME, &text)
    }

    /// The mount of a directory, if it was learnt and is still there.
    pub fn mount_of(&self, directory: &Path, table: &MountTable) -> Option<MountIdentity> {
        let known = self.mounts.get(directory)?;
        table.mount_of(&known.mount_point).filter(|mount| *known == KnownMount::of(mount))
    }

    /// Where the mount of a directory was mounted, whether it is there or not.
    pub fn mount_point_of(&self, directory: &Path) -> Option<&Path> {
        self.mounts.get(directory).map(|known| known.mount_point.as_path())
    }

    /// The same with the type of its file system.
    pub fn shown(&self, directory: &Path) -> Option<(&Path, &str)> {
        self.mounts.get(directory).map(|known| (known.mount_point.as_path(), known.kind.as_str()))
    }

    /// A directory lies on this mount. Says whether that is news.
    pub fn learn(&mut self, directory: &Path, mount: &MountIdentity) -> bool {
        let mount = KnownMount::of(mount);
        if self.mounts.get(directory) == Some(&mount) {
            return false;
        }
        self.mounts.insert(directory.to_owned(), mount);
        true
    }

    /// Forgets all other directories: what is not watched is not kept for ever.
    pub fn retain(&mut self, directories: &[&Path]) {
        self.mounts.retain(|known, _| directories.contains(&known.as_path()));
    }
}

impl KnownMount {
    fn of(mount: &MountIdentity) -> Self {
        Self {
            mount_point: mount.mount_point.clone(),
            kind: mount.kind.clone(),
            source: mount.source.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Backing;
    use proptest::prelude::*;

    fn table(lines: &str) -> (tempfile::TempDir, MountTable) {
        let proc = tempfile::tempdir().unwrap();
        std::fs::create_dir(proc.path().join("self")).unwrap();
        let text = format!("1 0 8:1 / / rw - ext4 a rw\n{lines}");
        std::fs::write(proc.path().join("self/mountinfo"), text).unwrap();
        let table = MountTable::read_below(proc.path());
        (proc, table)
    }

    fn runtime() -> (tempfile::TempDir, RuntimeDirectory) {
        let place = tempfile::tempdir().unwrap();
        let directory = RuntimeDirectory::open_on(&place.path().join("watch"), Backing::Anything).unwrap();
        (place, directory)
    }

    #[test]
    fn what_was_learnt_is_believed_as_long_as_the_same_thing_is_mounted_there() {
        let (_place, runtime) = runtime();
        let (_proc, now) = table("2 1 0:30 / /mnt/lustre rw - lustre mds:/scratch rw\n");
        let link = Path::new("/scratch");
        let mut known = KnownMounts::read(&runtime);
        assert_eq!(known.mount_of(link, &now), None);
        let mount = now.mount_of(Path::new("/mnt/lustre/me")).unwrap();
        assert!(known.learn(link, &mount) && !known.learn(link, &mount));
        known.write(&runtime).unwrap();

        let mut known = KnownMounts::read(&runtime);
        assert_eq!(known.mount_of(link, &now), Some(mount));
        let device = |lines: &str| Some(known.mount_of(link, &table(lines).1)?.device.to_string());
        let again = "7 1 0:44 / /mnt/lustre rw,flock - lustre mds:/scratch rw\n";
        assert_eq!(device(again).as_deref(), Some("0:44"), "mounted again, it is the same by another number");
        let reused = "2 1 0:30 / /mnt/lustre rw - nfs4 filer:/home rw\n";
        assert_eq!(device(reused), None, "numbers are used again");
        assert_eq!(device("2 1 0:30 / /mnt/other rw - lustre mds:/scratch rw\n"), None);
        assert_eq!(device(""), None);
        known.retain(&[Path::new("/home")]);
        assert_eq!(known.mount_of(link, &now), None);
    }

    proptest! {
        #[test]
        fn any_file_is_read_or_says_nothing(bytes in prop::collection::vec(any::<u8>(), 0..200), cut in 0..90_usize) {
            let (_place, runtime) = runtime();
            runtime.replace_file(NAME, &bytes).unwrap();
            prop_assert_eq!(KnownMounts::read(&runtime), KnownMounts::default());
            let (_proc, table) = table("");
            let mut known = KnownMounts::default();
            known.learn(Path::new("/a"), &table.mount_of(Path::new("/")).unwrap());
            known.write(&runtime).unwrap();
            let mut text = runtime.read_file(NAME, BYTES_MAX).unwrap().unwrap();
            text.truncate(cut.min(text.len() - 1));
            runtime.replace_file(NAME, &text).unwrap();
            prop_assert_eq!(KnownMounts::read(&runtime), KnownMounts::default());
        }
    }
}
