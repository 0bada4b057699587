//! Every backend of this crate obeys the rules.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "../toy_store/mod.rs"]
mod toy_store;
mod wrong;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use iolag_backend::conformance::{Planted, conformance, conformance_with_foreign, maker};
use iolag_backend::{Backend, BackendError, Place, PosixBackend, Target, WORKING_NAME, token_name};
use iolag_model::{MonotonicClock, SimulatedClock};
use toy_store::{Bucket, ToyStore};

fn fresh_directory(root: &Path) -> PathBuf {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let path = root.join(COUNT.fetch_add(1, Ordering::Relaxed).to_string());
    std::fs::create_dir(&path).unwrap();
    path
}

fn plant(place: &Place) -> Planted {
    let working = Path::new(&place.target).join(&place.name);
    std::fs::write(working.join("notes.txt"), "mine").unwrap();
    std::fs::write(working.join("0_0/file-07"), "mine").unwrap();
    Planted { beside: 1, in_dataset: 1 }
}

fn posix_in(root: &Path) {
    conformance_with_foreign(
        || Box::new(PosixBackend::new(fresh_directory(root), WORKING_NAME).unwrap()),
        plant,
    );
}

fn from_text(text: &str) -> Box<dyn Backend> {
    Target::parse(text).unwrap().backend(WORKING_NAME, Arc::new(MonotonicClock)).unwrap()
}

#[test]
fn a_directory_conforms() {
    let root = tempfile::tempdir().unwrap();
    posix_in(root.path());
}

#[test]
fn a_directory_on_tmpfs_conforms() {
    match tempfile::tempdir_in("/dev/shm") {
        Ok(root) => posix_in(root.path()),
        Err(error) => println!("SKIPPED a_directory_on_tmpfs_conforms: /dev/shm: {error}"),
    }
}

#[test]
fn memory_conforms() {
    conformance(|| from_text("memory:"));
}

#[test]
fn delayed_memory_conforms() {
    conformance(|| from_text("delayed:stat=1us~exp,create=2us:memory:"));
}

#[test]
fn a_delayed_directory_conforms_under_a_simulated_clock() {
    let root = tempfile::tempdir().unwrap();
    conformance_with_foreign(
        || {
            let text = format!("delayed:5ms~lognormal(0.5):{}", fresh_directory(root.path()).display());
            let clock = Arc::new(SimulatedClock::default());
            Target::parse(&text).unwrap().backend(WORKING_NAME, clock).unwrap()
        },
        plant,
    );
}

#[test]
fn faulty_without_faults_conforms() {
    conformance(|| from_text("faulty:eio@0,hang@#1000000000:memory:"));
}

fn toy() -> Box<dyn Backend> {
    Box::new(ToyStore::new(Bucket::default(), WORKING_NAME))
}

#[test]
fn a_toy_with_the_semantics_of_s3_conforms() {
    let last = Mutex::new(Bucket::default());
    let make = || -> Box<dyn Backend> {
        let bucket = Bucket::default();
        *last.lock().unwrap() = bucket.clone();
        Box::new(ToyStore::new(bucket, WORKING_NAME))
    };
    let plant = |place: &Place| {
        let mine =
            ["notes.txt", "0_0/file-07"].map(|name| (format!("{}/{name}", place.name), b"mine".to_vec()));
        last.lock().unwrap().ask(|objects| objects.extend(mine));
        Planted { beside: 1, in_dataset: 1 }
    };
    conformance_with_foreign(make, plant);
}

#[test]
fn the_toy_removes_nothing_when_somebody_has_removed_its_marker() {
    let bucket = Bucket::default();
    let toy = ToyStore::new(bucket.clone(), WORKING_NAME);
    let place = toy.create_place(&maker()).unwrap();
    let object = format!("{WORKING_NAME}/0_0/file-0");
    bucket.ask(|objects| {
        objects.remove(&format!("{WORKING_NAME}/{}", token_name(maker().token)));
        objects.insert(object.clone(), Vec::new());
    });
    toy.expect_place(&place);
    assert!(matches!(toy.remove_place(), Err(BackendError::NotEmpty { .. })));
    assert!(bucket.ask(|objects| objects.contains_key(&object)));
}
