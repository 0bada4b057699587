//! On which mount each target lies, without touching any.
//!
//! A path as it is written says little: a symbolic link may lead anywhere. So a target counts as a mount of its own until somebody who
//! has gone there has told where it lies, and again when something else is mounted there. Its hang is then blamed on nobody else.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::targets::known_mounts::KnownMounts;
use crate::{
    Location, MountIdentity, MountKey, MountTable, Mounted, RuntimeDirectory, RuntimeError, WatchTarget,
};

/// The targets of a plan and their mounts.
#[derive(Debug)]
pub(crate) struct TargetMounts {
    table: MountTable,
    known: KnownMounts,
    is_kept: bool,
    targets: Vec<TargetMount>,
}

#[derive(Debug)]
struct TargetMount {
    name: String,
    /// As it is written in the plan; a server has none, and no mount.
    directory: Option<PathBuf>,
    /// What kind of server it is.
    server: Option<&'static str>,
    key: MountKey,
    mount_name: String,
    /// Where it lies, or else seems to.
    mount: Option<MountIdentity>,
    mounted: Mounted,
    /// Where the history has seen it mounted.
    remembered: Option<PathBuf>,
}

/// On what a probe of each of these targets would be outstanding, as the last watch of the runtime directory at `runtime` has learnt it.
pub fn mount_keys(runtime: &Path, targets: &[WatchTarget]) -> Vec<MountKey> {
    let directory = RuntimeDirectory::open_read_only(runtime).ok().flatten();
    let known = directory.as_ref().map(KnownMounts::read).unwrap_or_default();
    TargetMounts::new(MountTable::read(), known, targets)
        .targets
        .into_iter()
        .map(|target| target.key)
        .collect()
}

/// Where nothing is mounted though the last watch of the runtime directory at `runtime` has seen each of these targets mounted there.
pub fn missing_mounts(runtime: &Path, targets: &[WatchTarget]) -> Vec<Option<PathBuf>> {
    let directory = RuntimeDirectory::open_read_only(runtime).ok().flatten();
    let known = directory.as_ref().map(KnownMounts::read).unwrap_or_default();
    let mounts = TargetMounts::new(MountTable::read(), known, targets);
    (0..targets.len()).map(|target| mounts.missing(target).map(Path::to_owned)).collect()
}

impl TargetMounts {
    /// Looks the targets up in what is known of them and in the table.
    pub fn new(table: MountTable, mut known: KnownMounts, targets: &[WatchTarget]) -> Self {
        known.retain(&targets.iter().filter_map(|target| target.location.directory()).collect::<Vec<_>>());
        let unknown = |target: &WatchTarget| TargetMount {
            name: target.name.clone(),
            directory: target.location.directory().map(Path::to_owned),
            server: match &target.location {
                Location::Directory(_) => None,
                Location::Server(place) => Some(place.target().kind()),
            },
            key: own_key(&target.name),
            mount_name: target.name.clone(),
            mount: None,
            mounted: target.mounted,
            remembered: None,
        };
        let mut all = Self { table, known, is_kept: true, targets: targets.iter().map(unknown).collect() };
        all.assign();
        all
    }

    /// How many targets there are.
    pub const fn count(&self) -> usize {
        self.targets.len()
    }

    /// Position in the plan of the target of this name.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.targets.iter().position(|target| target.name == name)
    }

    /// On what a probe of this target is outstanding.
    pub fn key_of(&self, target: usize) -> &MountKey {
        &self.targets[target].key
    }

    /// The same as long as nobody knows where it lies.
    pub fn own_key_of(&self, target: usize) -> MountKey {
        own_key(&self.targets[target].name)
    }

    /// The mount point, or the target if that is not known.
    pub fn name_of(&self, target: usize) -> &str {
        &self.targets[target].mount_name
    }

    /// The mount point of a target and the type of what is mounted there, or was; empty where that is not known. Of a server the kind.
    pub fn shown(&self, target: usize) -> (String, String) {
        let own = &self.targets[target];
        if let Some(kind) = own.server {
            return (String::new(), kind.to_owned());
        }
        let known = own.directory.as_ref().and_then(|directory| self.known.shown(directory));
        if let Some((mount_point, kind)) = known {
            return (mount_point.to_string_lossy().into_owned(), kind.to_owned());
        }
        let seems = own.mount.as_ref().filter(|_| own.remembered.is_none());
        let shown = seems.map(|mount| (mount.mount_point.to_string_lossy().into_owned(), mount.kind.clone()));
        let remembered = own.remembered.as_ref().map(|point| point.to_string_lossy().into_owned());
        shown.unwrap_or_else(|| (remembered.unwrap_or_default(), String::new()))
    }

    /// Names of the targets of which a probe would be outstanding on this.
    pub fn targets_on(&self, mount: &MountKey) -> BTreeSet<String> {
        self.targets.iter().filter(|target| target.key == *mount).map(|target| target.name.clone()).collect()
    }

    /// On what probes are outstanding whose mount has this name, if a target lies there, or at least seems to.
    pub fn key_named(&self, mount_name: &str) -> Option<&MountKey> {
        let seems_there = |target: &&TargetMount| {
            target.mount.as_ref().is_some_and(|mount| mount.mount_point == Path::new(mount_name))
        };
        let lies_there = self.targets.iter().find(|target| target.mount_name == mount_name);
        lies_there.or_else(|| self.targets.iter().find(seems_there)).map(|target| &target.key)
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

    /// Whether the table has a mount with the kernel's number `mount_number`.
    pub fn has(&self, mount_number: u64) -> bool {
        self.table.mounts().iter().any(|mount| mount.mount_id == mount_number)
    }

    /// On what probes are outstanding that lie on the mount with the kernel's number `mount_number`, and its mount point.
    pub fn with_number(&self, mount_number: u64) -> Option<(MountKey, String)> {
        let mount = self.table.identity_of(mount_number)?;
        let mount_point = mount.mount_point.to_string_lossy().into_owned();
        Some((MountKey::Device(mount.device.to_string()), mount_point))
    }

    /// Who has gone to this target has told the kernel's number of its mount, and has found that it is not what shows because nothing is
    /// mounted at `looked_for`.
    pub fn learn(&mut self, target: usize, mount_number: u64, looked_for: Option<&Path>) {
        let Some(mount) = self.table.identity_of(mount_number) else { return };
        if let Some(required) = self.required(target).filter(|mount_point| mount.is_beneath(mount_point)) {
            // What shows because nothing is mounted above it is not where the target lies.
            if looked_for != Some(required) {
                return;
            }
            // The link that led there leads elsewhere now.
            self.targets[target].remembered = None;
        }
        let Some(directory) = &self.targets[target].directory else { return };
        if self.known.learn(directory, &mount) {
            self.is_kept = false;
            self.assign();
        }
    }

    /// Where the history has seen this target mounted, and what directory it was without symbolic links.
    pub fn remember(&mut self, target: usize, mount_point: &Path, directory: Option<&Path>) {
        let target = &mut self.targets[target];
        let directory = directory.or(target.directory.as_deref());
        let is_of_it = directory.is_some_and(|directory| directory.starts_with(mount_point));
        target.remembered = is_of_it.then(|| mount_point.to_owned());
    }

    /// Where something has to be mounted for this target: the deepest mount point where it was seen.
    pub fn required(&self, target: usize) -> Option<&Path> {
        let target = &self.targets[target];
        let known = target.directory.as_ref().and_then(|directory| self.known.mount_point_of(directory));
        let remembered = target.remembered.as_deref();
        let is_deeper = |remembered: &&Path| known.is_none_or(|known| remembered.starts_with(known));
        let deepest = remembered.filter(is_deeper).or(known);
        deepest.filter(|_| target.mounted == Mounted::Required)
    }

    /// The same if nothing is mounted there.
    pub fn missing(&self, target: usize) -> Option<&Path> {
        self.required(target).filter(|mount_point| self.table.is_missing(mount_point))
    }

    /// The mount points that are missing, each with the names of its targets.
    pub fn all_missing(&self) -> BTreeMap<PathBuf, BTreeSet<String>> {
        let mut missing: BTreeMap<PathBuf, BTreeSet<String>> = BTreeMap::new();
        for (index, target) in self.targets.iter().enumerate() {
            if let Some(mount_point) = self.missing(index) {
                missing.entry(mount_point.to_owned()).or_default().insert(target.name.clone());
            }
        }
        missing
    }

    /// Keeps what was learnt for the next watch; `None` if that was done already.
    pub fn keep(&mut self, runtime: &RuntimeDirectory) -> Option<Result<(), RuntimeError>> {
        if self.is_kept {
            return None;
        }
        let written = self.known.write(runtime);
        self.is_kept = written.is_ok();
        Some(written)
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
            let Some(directory) = &target.directory else { continue };
            let known = self.known.mount_of(directory, &self.table);
            (target.key, target.mount_name) = match &known {
                Some(mount) => (
                    MountKey::Device(mount.device.to_string()),
                    mount.mount_point.to_string_lossy().into_owned(),
                ),
                None => (own_key(&target.name), target.name.clone()),
            };
            target.mount = known.or_else(|| self.table.mount_of(directory));
        }
    }
}

fn own_key(name: &str) -> MountKey {
    MountKey::Target(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_model::SeriesKind;

    const ROOT: &str = "1 0 8:1 / / rw - ext4 a rw\n";

    fn mounts_of(proc: &Path, directories: &[&str]) -> TargetMounts {
        let target = |directory: &&str| WatchTarget {
            location: Location::Directory(directory.into()),
            name: (*directory).to_owned(),
            kind: SeriesKind::Task,
            mounted: Mounted::Required,
            tasks: Vec::new(),
        };
        let targets: Vec<WatchTarget> = directories.iter().map(target).collect();
        TargetMounts::new(MountTable::read_below(proc), KnownMounts::default(), &targets)
    }

    fn machine(mounts: &str) -> tempfile::TempDir {
        let proc = tempfile::tempdir().unwrap();
        std::fs::create_dir(proc.path().join("self")).unwrap();
        write(&proc, mounts);
        proc
    }

    fn write(proc: &tempfile::TempDir, mounts: &str) {
        std::fs::write(proc.path().join("self/mountinfo"), format!("{ROOT}{mounts}")).unwrap();
    }

    #[test]
    fn only_a_targets_own_mount_concerns_it() {
        let proc = machine("2 1 0:30 / /scratch rw - nfs4 filer:/export rw,hard\n");
        let mut mounts = mounts_of(proc.path(), &["/scratch/me", "/home"]);
        assert_eq!(mounts.refresh(), None);
        let other = "3 1 0:31 / /auto rw - nfs4 filer:/auto rw\n";
        write(&proc, &format!("2 1 0:30 / /scratch rw - nfs4 filer:/export rw,hard\n{other}"));
        assert_eq!(mounts.refresh(), Some(vec![]));
        write(&proc, "2 1 0:30 / /scratch rw - nfs4 filer:/export rw,soft\n");
        assert_eq!(mounts.refresh(), Some(vec![0]));
        write(&proc, "");
        assert_eq!(mounts.refresh(), Some(vec![0]));
    }

    #[test]
    fn a_target_is_a_mount_of_its_own_until_its_own_is_known_and_when_that_is_gone() {
        let lustre = "2 1 0:30 / /mnt/lustre rw - lustre mds:/scratch rw\n";
        let proc = machine(lustre);
        let mut mounts = mounts_of(proc.path(), &["/scratch", "/home", "/mnt/lustre/me"]);
        let own = |name: &str| MountKey::Target(name.to_owned());
        assert_eq!((mounts.key_of(0), mounts.name_of(0)), (&own("/scratch"), "/scratch"));
        assert_eq!((mounts.key_of(1), mounts.key_of(2)), (&own("/home"), &own("/mnt/lustre/me")));
        for (target, mount_number) in [(0, 2), (1, 1), (2, 2), (0, 77)] {
            mounts.learn(target, mount_number, None);
        }
        assert!(mounts.has(2) && !mounts.has(77), "nobody knows that mount");
        assert_eq!((mounts.key_of(0), mounts.name_of(0)), (&MountKey::Device("0:30".into()), "/mnt/lustre"));
        assert_eq!(mounts.key_of(0), mounts.key_of(2));
        assert_eq!((mounts.key_of(1), mounts.name_of(1)), (&MountKey::Device("8:1".into()), "/"));
        assert_eq!(mounts.own_key_of(1), own("/home"));

        write(&proc, "");
        assert_eq!(mounts.refresh(), Some(vec![0, 2]));
        assert_eq!((mounts.key_of(0), mounts.name_of(0)), (&own("/scratch"), "/scratch"));
        write(&proc, &lustre.replace("0:30", "0:45"));
        assert_eq!(mounts.refresh(), Some(vec![0, 2]));
        assert_eq!(mounts.key_of(0), &MountKey::Device("0:45".into()));
        write(&proc, &lustre.replace("lustre mds:", "nfs4 filer:"));
        mounts.refresh();
        assert_eq!(mounts.key_of(0), &own("/scratch"), "another one stands in its place");
    }

    #[test]
    fn what_was_learnt_is_kept_once_and_again_if_there_was_no_room() {
        let proc = machine("");
        let mut mounts = mounts_of(proc.path(), &["/home"]);
        let place = tempfile::tempdir().unwrap();
        let runtime =
            RuntimeDirectory::open_on(&place.path().join("watch"), crate::Backing::Anything).unwrap();
        assert!(mounts.keep(&runtime).is_none(), "nothing is known");
        mounts.learn(0, 1, None);
        let blocked = place.path().join("watch/mounts.json.new");
        std::fs::create_dir(&blocked).unwrap();
        assert!(mounts.keep(&runtime).unwrap().is_err());
        std::fs::remove_dir(&blocked).unwrap();
        assert!(mounts.keep(&runtime).unwrap().is_ok());
        mounts.learn(0, 1, None);
        assert!(mounts.keep(&runtime).is_none());
        let known = KnownMounts::read(&runtime);
        assert!(known.mount_of(Path::new("/home"), mounts.table()).is_some());
    }

    #[test]
    fn an_outage_goes_on_with_who_lies_there_or_at_least_seems_to() {
        let proc = machine("2 1 0:30 / /scratch rw - nfs4 filer:/export rw\n");
        let mut mounts = mounts_of(proc.path(), &["/scratch/one", "/scratch/two"]);
        assert_eq!(mounts.key_named("/scratch"), Some(&MountKey::Target("/scratch/one".into())));
        assert_eq!(mounts.key_named("/scratch/two"), Some(&MountKey::Target("/scratch/two".into())));
        mounts.learn(1, 2, None);
        assert_eq!(mounts.key_named("/scratch"), Some(&MountKey::Device("0:30".into())));
        assert_eq!(mounts.key_named("/elsewhere"), None);
    }
}
