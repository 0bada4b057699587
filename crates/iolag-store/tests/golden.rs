//! What iolag 0.1.0 wrote in format 1.0, and will be read for ever. `golden/v1` is never written again.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod support;

use std::path::{Path, PathBuf};

use iolag_model::{Outcome, RunRecord, RunState};
use iolag_store::{Directory, Manifest, RunDirectory, Store, TextForm};

const RUN: &str = "20261120-185900-0001";

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/v1")
}

fn csv(run: &RunDirectory) -> String {
    let mut csv = Vec::new();
    run.export_text(TextForm::Csv, &mut csv, Path::new("memory")).unwrap();
    String::from_utf8(csv).unwrap()
}

#[test]
fn version_1_is_read_with_fields_that_only_a_newer_minor_knows() {
    let run = RunDirectory::open(&golden().join("runs").join(RUN)).unwrap();
    let text = std::fs::read_to_string(run.path().join("run.json")).unwrap();
    assert!(text.contains("\"format\": \"1.7\"") && text.contains("of_a_newer_minor"));
    let record: RunRecord = run.record().unwrap();
    assert_eq!(record.state, RunState::Complete);
    assert_eq!((record.targets.len(), record.clients.len(), record.stages.len()), (2, 4, 3));
    assert_eq!(record.environment.host, "login1");
    let manifest: Manifest = run.manifest().unwrap();
    assert_eq!(manifest.entries[0].inode, Some(4711));
    assert_eq!(csv(&run), std::fs::read_to_string(golden().join("expected.csv")).unwrap());
    let samples: Vec<_> = run.samples().unwrap().map(|stored| stored.unwrap().sample).collect();
    assert_eq!(samples.len(), 240);
    assert!(samples.iter().all(|sample| sample.outcome() != Outcome::Hung));
    let details = run.details().unwrap();
    assert_eq!((details.len(), details[1].text.as_str()), (2, "S request_wait_answer \"é\""));
}

#[test]
fn a_spool_of_version_1_is_encoded_to_the_same_samples() {
    let place = tempfile::tempdir().unwrap();
    let store = Store::open(place.path()).unwrap();
    let mut record = support::record(&support::run_id(1), 2, 2);
    let run = store.create_run(&record).unwrap();
    let spool = Directory::open(&golden().join("spool")).unwrap();
    run.finish(&mut record, &spool).unwrap();
    assert_eq!(csv(&run), std::fs::read_to_string(golden().join("expected.csv")).unwrap());
    assert_eq!(run.details().unwrap().len(), 2);
}
