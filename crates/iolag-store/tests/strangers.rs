//! Stores, runs and manifests of others: they may be read, and nothing that they say is acted upon.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod support;

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};

use iolag_fixtures::skip_unless_root;
use iolag_model::RunState;
use iolag_store::{
    Directory, KeeperIdentity, Manifest, ManifestEntry, ManifestKind, Recovery, Removal, RunDirectory, Store,
    StoreError, recover_run,
};
use support::{record, run_id};

const MALLORY: u32 = 65534;

fn nobody(_: &KeeperIdentity) -> bool {
    false
}

/// A store with one complete run, beside a directory with what must stay.
struct Scene {
    place: tempfile::TempDir,
    store: Store,
    run: RunDirectory,
}

impl Scene {
    fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        let store = Store::open(&place.path().join("store")).unwrap();
        let mut record = record(&run_id(1), 1, 1);
        record.state = RunState::Complete;
        let run = store.create_run(&record).unwrap();
        Self { place, store, run }
    }

    /// A directory that is none of the run's, with a spool of somebody in it.
    fn victim(&self) -> PathBuf {
        let victim = self.place.path().join("victim");
        fs::create_dir(&victim).unwrap();
        fs::write(victim.join("ring-0.spool"), "precious").unwrap();
        victim
    }

    fn write_spool_entry(&self, parent: &Path, name: &str) {
        let entry = ManifestEntry {
            parent: parent.display().to_string(),
            name: name.to_owned(),
            device: None,
            inode: None,
            token: None,
            file_system: None,
            kind: ManifestKind::Spool,
        };
        self.run.write_manifest(&Manifest::new(vec![entry])).unwrap();
    }
}

#[test]
fn a_manifest_names_only_spools_that_its_run_makes() {
    let names = ["victim", "../victim", "store/../victim", "", ".", "iolag-spool-20260101-000000-0000"];
    for name in names {
        let scene = Scene::new();
        let victim = scene.victim();
        scene.write_spool_entry(scene.place.path(), name);
        assert_eq!(scene.run.spool_elsewhere().unwrap(), None, "{name}");
        assert_eq!(scene.store.remove_run(scene.run.id(), nobody).unwrap(), Removal::Complete, "{name}");
        assert!(victim.join("ring-0.spool").exists(), "{name}");
    }
}

#[test]
fn a_link_or_anothers_directory_in_the_place_of_a_spool_is_not_touched() {
    let scene = Scene::new();
    let victim = scene.victim();
    let name = format!("iolag-spool-{}", scene.run.id());
    scene.write_spool_entry(scene.place.path(), &name);
    let spool = scene.place.path().join(&name);
    symlink(&victim, &spool).unwrap();
    assert!(scene.run.remove_spool().is_err());
    fs::remove_file(&spool).unwrap();
    fs::rename(&victim, &spool).unwrap();
    fs::set_permissions(&spool, fs::Permissions::from_mode(0o777)).unwrap();
    assert!(scene.run.remove_spool().unwrap_err().to_string().contains("others may write to"));
    assert!(spool.join("ring-0.spool").exists());
}

#[test]
fn a_record_names_only_a_spool_that_its_manifest_has() {
    let scene = Scene::new();
    let mut record = scene.run.record().unwrap();
    let path = scene.victim().display().to_string();
    record.state = RunState::Running { keeper_pid: 1, keeper_start_ticks: 1, spool: Some(path) };
    scene.run.write_record(&record).unwrap();
    let error = recover_run(&scene.run, nobody).unwrap_err().to_string();
    assert!(error.contains("that is not in the run's manifest"), "{error}");
    assert!(scene.place.path().join("victim/ring-0.spool").exists());
}

#[test]
fn a_spool_that_was_made_where_others_write_is_looked_at_before_it_is_used() {
    let scene = Scene::new();
    let elsewhere = Directory::open_or_create(&scene.place.path().join("elsewhere")).unwrap();
    let spool = scene.run.create_spool_in(&elsewhere).unwrap();
    assert_eq!(scene.run.spool_elsewhere().unwrap().as_deref(), Some(spool.path()));
    scene.run.remove_spool().unwrap();
    assert_eq!(scene.run.spool_elsewhere().unwrap(), None);
}

#[test]
fn what_another_user_wrote_is_read_and_not_acted_upon() {
    if skip_unless_root() {
        return;
    }
    for name in ["", "run.json", "manifest.json"] {
        let scene = Scene::new();
        scene.write_spool_entry(scene.place.path(), "any");
        let path = scene.run.path().join(name);
        let refused = |what: &str| {
            let error = scene.run.manifest().unwrap_err();
            assert!(matches!(error, StoreError::Stranger { .. }), "{what}: {error}");
            let error = scene.store.remove_run(scene.run.id(), nobody).unwrap_err();
            assert!(matches!(error, StoreError::Stranger { .. }), "{what}: {error}");
            scene.run.record().unwrap();
        };
        chown(&path, Some(MALLORY), None).unwrap();
        refused(&format!("{name} is another user's"));
        chown(&path, Some(0), None).unwrap();
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode | 0o020)).unwrap();
        refused(&format!("others may write to {name}"));
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        assert!(matches!(recover_run(&scene.run, nobody).unwrap(), Recovery::Nothing));
        assert_eq!(scene.store.remove_run(scene.run.id(), nobody).unwrap(), Removal::Complete);
    }
}

#[test]
fn nothing_is_removed_from_a_store_that_others_may_write_to() {
    let scene = Scene::new();
    let runs = scene.place.path().join("store/runs");
    fs::set_permissions(&runs, fs::Permissions::from_mode(0o777)).unwrap();
    let error = scene.store.remove_run(scene.run.id(), nobody).unwrap_err();
    assert!(matches!(error, StoreError::Foreign { .. }), "{error}");
    assert!(scene.run.path().join("run.json").exists());
}
