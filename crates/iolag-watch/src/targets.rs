//! On which mount each target lies, without touching any.

use std::path::{Path, PathBuf};

use crate::{MountIdentity, MountKey, MountTable, WatchTarget};

/// The targets of a plan and their mounts.
#[derive(Debug)]
pub(crate) struct TargetMounts {
    table: MountTable,
    targets: Vec<TargetMount>,
}

#[derive(Debug)]
struct TargetMount {
    name: String,
    /// As it is written in the plan, until a probe has told where it truly lies.
    path: PathBuf,
    key: MountKey,
    mount_name: String,
    mount: Option<MountIdentity>,
}

impl TargetMounts {
    /// Looks the targets up in the table.
    pub fn new(table: MountTable, targets: &[WatchTarget]) -> Self {
        let unknown = |target: &WatchTarget| TargetMount {
            name: target.name.clone(),
            path: target.directory.clone(),
            key: MountKey::Target(target.name.clone()),
            mount_name: target.name.clone(),
            mount: None,
        };
        let mut all = Self { table, targets: targets.iter().map(unknown).collect() };
        all.assign();
        all
    }

    /// On what a probe of this target is outstanding.
    pub fn key_of(&self, target: usize) -> &MountKey {
        &self.targets[target].key
    }

    /// The mount point, or the target if that is not known.
    pub fn name_of(&self, target: usize) -> &str {
        &self.targets[target].mount_name
    }

    /// On what probes are outstanding whose mount has this name, if a target lies there.
    pub fn key_named(&self, mount_name: &str) -> Option<&MountKey> {
        self.targets.iter().find(|target| target.mount_name == mount_name).map(|target| &target.key)
    }

    /// Reads the table again. `None` if it is as it was; otherwise the targets whose own mount is another one: on a machine with an
    /// automounter or containers the table changes all the time.
    pub fn refresh(&mut self) -> Option<Vec<usize>> {
        let before = self.table.generation();
        if self.table.refresh() == before {
            return None;
        }
        let known: Vec<_> = self.targets.iter().map(|target| target.mount.clone()).collect();
        self.assign();
        let is_another = |(_, (target, known)): &(usize, (&TargetMount, &Option<_>))| target.mount != **known;
        Some(self.targets.iter().zip(&known).enumerate().filter(is_another).map(|(index, _)| index).collect())
    }

    /// A probe of this target has told the kernel's number of its mount: symbolic links may lead elsewhere than the plan says.
    pub fn learn(&mut self, target: usize, mount_number: u64) {
        let Some(mount) = self.table.mounts().iter().find(|mount| mount.mount_id == mount_number) else {
            return;
        };
        let believed = &mut self.targets[target];
        if believed.mount_name != mount.mount_point.to_string_lossy() {
            believed.path.clone_from(&mount.mount_point);
            self.assign();
        }
    }

    /// Which device is mounted at a mount point.
    pub fn device_at(&self, mount_point: &str) -> Option<String> {
        let mounted = self.table.mount_of(Path::new(mount_point))?;
        (mounted.mount_point == Path::new(mount_point)).then(|| mounted.device.to_string())
    }

    /// The table, to be told of changes.
    pub const fn table(&self) -> &MountTable {
        &self.table
    }

    fn assign(&mut self) {
        for target in &mut self.targets {
            target.mount = self.table.mount_of(&target.path);
            (target.key, target.mount_name) = match &target.mount {
                Some(mount) => (
                    MountKey::Device(mount.device.to_string()),
                    mount.mount_point.to_string_lossy().into_owned(),
                ),
                None => (MountKey::Target(target.name.clone()), target.name.clone()),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_model::SeriesKind;

    #[test]
    fn only_a_targets_own_mount_concerns_it() {
        let proc = tempfile::tempdir().unwrap();
        std::fs::create_dir(proc.path().join("self")).unwrap();
        let root = "1 0 8:1 / / rw - ext4 a rw\n";
        let write = |rest: &str| {
            std::fs::write(proc.path().join("self/mountinfo"), format!("{root}{rest}")).unwrap();
        };
        write("2 1 0:30 / /scratch rw - nfs4 filer:/export rw,hard\n");
        let targets = ["/scratch/me", "/home"].map(|directory| WatchTarget {
            directory: directory.into(),
            name: directory.into(),
            kind: SeriesKind::Task,
            tasks: Vec::new(),
        });
        let mut mounts = TargetMounts::new(MountTable::read_below(proc.path()), &targets);
        assert_eq!(mounts.refresh(), None);
        write(
            "2 1 0:30 / /scratch rw - nfs4 filer:/export rw,hard\n3 1 0:31 / /auto rw - nfs4 filer:/auto rw\n",
        );
        assert_eq!(mounts.refresh(), Some(vec![]));
        write("2 1 0:30 / /scratch rw - nfs4 filer:/export rw,soft\n");
        assert_eq!(mounts.refresh(), Some(vec![0]));
        write("");
        assert_eq!(mounts.refresh(), Some(vec![0]));
        assert_eq!((mounts.name_of(0), mounts.key_of(0)), ("/", mounts.key_of(1)));
    }
}
