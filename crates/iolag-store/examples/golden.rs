//! Writes the golden directory of the present format version: `cargo run -p iolag-store --example golden DIRECTORY`.
//!
//! To be run once per format version and committed as `golden/v<major>`; never again for that version, because it is the
//! proof that what an old iolag wrote can still be read. run.json then gets fields by hand that no version knows.

#[path = "../tests/support/mod.rs"]
mod support;

use std::error::Error;
use std::fs::File;
use std::path::{Path, PathBuf};

use iolag_model::{AttemptId, ClientId, Detail, DetailKind, FailureCode, Outcome, RunState};
use iolag_store::{Manifest, ManifestEntry, ManifestKind, SpoolNumber, SpoolWriter, Store, TextForm};
use support::{Client, record, run_id};

fn main() -> Result<(), Box<dyn Error>> {
    let directory = PathBuf::from(std::env::args().nth(1).ok_or("usage: golden DIRECTORY")?);
    let store = Store::open(&directory)?;
    let id = run_id(1);
    let mut record = record(&id, 2, 2);
    let run = store.create_run(&record)?;
    run.write_manifest(&Manifest::new(vec![ManifestEntry {
        parent: "/scratch/0".into(),
        name: format!("iolag-{id}"),
        device: Some(2049),
        inode: Some(4711),
        token: None,
        file_system: None,
        kind: ManifestKind::WorkingDirectory,
    }]))?;
    let spool = run.create_spool()?;
    for number in 0..2 {
        let mut writer = SpoolWriter::create(&spool, &id, SpoolNumber(number))?;
        for client in [number * 2, number * 2 + 1] {
            let mut samples = Client::new(client).take(60);
            for (place, outcome) in Outcome::ALL.into_iter().enumerate() {
                samples[10 + place] =
                    samples[10 + place].with_outcome(outcome, FailureCode(place as u16 * 13));
                samples[10 + place].tag = place as u16;
            }
            writer.append(&samples)?;
            writer.append(&[samples[13].with_outcome(Outcome::Late, FailureCode::NONE)])?;
        }
        let attempt = AttemptId::new(ClientId(number * 2), 13);
        let text = "S request_wait_answer \"é\"".to_owned();
        writer.append_details(&[Detail { attempt, kind: DetailKind::Waiting, text }])?;
        writer.finish()?;
    }
    let kept = directory.join("spool");
    std::fs::create_dir(&kept)?;
    for number in 0..2 {
        let name = SpoolNumber(number).file_name();
        std::fs::copy(spool.path().join(&name), kept.join(&name))?;
    }
    record.state = RunState::Complete;
    run.finish(&mut record, &spool)?;
    let expected = directory.join("expected.csv");
    run.export_text(TextForm::Csv, &mut File::create(&expected)?, Path::new("expected.csv"))?;
    Ok(())
}
