//! Every backend of this crate obeys the rules.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod wrong;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use iolag_backend::conformance::{conformance, conformance_with_foreign};
use iolag_backend::{Backend, Place, PosixBackend, Target, WORKING_NAME};
use iolag_model::{MonotonicClock, SimulatedClock};

fn fresh_directory(root: &Path) -> PathBuf {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let path = root.join(COUNT.fetch_add(1, Ordering::Relaxed).to_string());
    std::fs::create_dir(&path).unwrap();
    path
}

fn plant(place: &Place) -> usize {
    let working = Path::new(&place.target).join(&place.name);
    std::fs::write(working.join("notes.txt"), "mine").unwrap();
    std::fs::write(working.join("0_0/file-07"), "mine").unwrap();
    2
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
