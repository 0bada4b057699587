//! Runs in a store: making, listing, finding, removing, recovering, exporting, and what damage looks like.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod support;

use std::os::unix::fs::symlink;
use std::path::Path;

use iolag_model::{Nanoseconds, RunId, RunRecord, RunState};
use iolag_store::{
    CSV_HEADER, Directory, KeeperIdentity, Listed, Manifest, Recovery, Removal, Retention, RunDirectory,
    SpoolNumber, SpoolWriter, Store, StoreError, TextForm, recover, recover_run, runs_to_remove,
};
use support::{Client, record, run_id};

fn id(text: &str) -> RunId {
    text.parse().unwrap()
}

fn complete(store: &Store, id: &RunId, samples: usize) -> RunDirectory {
    let mut record = record(id, 1, 1);
    let run = store.create_run(&record).unwrap();
    let spool = run.create_spool().unwrap();
    let mut writer = SpoolWriter::create(&spool, id, SpoolNumber(0)).unwrap();
    writer.append(&Client::new(0).take(samples)).unwrap();
    drop(writer);
    record.state = RunState::Complete;
    run.finish(&mut record, &spool).unwrap();
    run
}

fn nobody(_: &KeeperIdentity) -> bool {
    false
}

fn everybody(_: &KeeperIdentity) -> bool {
    true
}

#[test]
fn a_run_is_found_by_name_beginning_end_last_and_path() {
    let place = tempfile::tempdir().unwrap();
    let store = Store::open(place.path()).unwrap();
    assert!(store.find("last").unwrap_err().to_string().starts_with("no run \"last\" in "));
    for name in ["20261120-185900-3fa7", "20261120-190000-3fa8", "20261121-000000-00a7"] {
        store.create_run(&record(&id(name), 1, 1)).unwrap();
    }
    for (text, name) in [
        ("20261120-190000-3fa8", "20261120-190000-3fa8"),
        ("20261121", "20261121-000000-00a7"),
        ("3fa7", "20261120-185900-3fa7"),
        ("last", "20261121-000000-00a7"),
    ] {
        assert_eq!(store.find(text).unwrap().id().as_str(), name, "{text}");
    }
    let path = place.path().join("runs/20261120-185900-3fa7");
    assert_eq!(store.find(path.to_str().unwrap()).unwrap().id().as_str(), "20261120-185900-3fa7");
    assert_eq!(
        store.find("a7").unwrap_err().to_string(),
        "\"a7\" may be any of 20261120-185900-3fa7, 20261121-000000-00a7; give more of the name"
    );
    assert!(matches!(store.find("zzz"), Err(StoreError::RunMissing { .. })));
    assert!(matches!(store.find(""), Err(StoreError::RunMissing { .. })));
    for number in 10..19 {
        store.create_run(&record(&id(&format!("20261122-000000-00{number}")), 1, 1)).unwrap();
    }
    let many = store.find("20261122").unwrap_err().to_string();
    assert!(many.ends_with("20261122-000000-0017, 1 more; give more of the name"), "{many}");
    let elsewhere = place.path().to_str().unwrap();
    assert_eq!(
        store.find(elsewhere).unwrap_err().to_string(),
        format!(
            "{elsewhere} is no run of iolag, whose directories have names such as 20261120-185900-3fa7; iolag list shows the runs"
        )
    );
    let again = store.create_run(&record(&id("20261120-185900-3fa7"), 1, 1)).unwrap_err();
    assert!(matches!(again, StoreError::RunExists { .. }), "{again}");
}

#[test]
fn a_name_is_claimed_once_and_its_run_begins_in_it() {
    let place = tempfile::tempdir().unwrap();
    let store = Store::open(place.path()).unwrap();
    let names = ["20261120-185900-0000", "20261120-185900-0001"].map(id);
    assert_eq!(store.claim(names.clone()).unwrap(), names[0]);
    assert_eq!(store.claim(names.clone()).unwrap(), names[1]);
    let none = store.claim(names.clone()).unwrap_err();
    assert!(matches!(none, StoreError::RunExists { .. }), "{none}");
    assert!(store.list().unwrap().is_empty());
    store.create_run(&record(&names[0], 1, 1)).unwrap();
    // Whoever tidies takes what was only claimed away; its run begins all the same.
    store.tidy().unwrap();
    assert!(!place.path().join("runs").join(names[1].as_str()).exists());
    store.create_run(&record(&names[1], 1, 1)).unwrap();
    assert_eq!(store.list().unwrap().len(), 2);
}

#[test]
fn a_list_shows_damaged_runs_with_what_is_wrong() {
    let place = tempfile::tempdir().unwrap();
    let store = Store::open(place.path()).unwrap();
    let names =
        ["20261120-185900-0000", "20261120-185901-0001", "20261120-185902-0002", "20261120-185903-0003"];
    let write = |name: &str, text: &str| {
        let run = store.create_run(&record(&id(name), 1, 1)).unwrap();
        std::fs::write(run.path().join("run.json"), text).unwrap();
    };
    complete(&store, &id(names[0]), 10);
    write(names[1], "{");
    write(names[2], r#"{"format": "4.0", "all": "different"}"#);
    write(names[3], r#"{"format": "0.9"}"#);
    let nameless = store.run(&id(names[1])).unwrap();
    nameless.write_manifest(&Manifest::new(Vec::new())).unwrap();
    std::fs::remove_file(nameless.path().join("run.json")).unwrap();
    // Where nothing was measured yet there is no run.
    std::fs::create_dir(place.path().join("runs/20261120-185905-0005")).unwrap();
    std::fs::create_dir(place.path().join("runs/not-a-run")).unwrap();
    symlink("/", place.path().join("runs/20261120-185904-0004")).unwrap();
    let listed = store.list().unwrap();
    let wrong: Vec<_> = listed
        .iter()
        .map(|run| run.record.as_ref().err().map(|flaw| flaw.sentence.clone()).unwrap_or_default())
        .collect();
    let by_name = |name: &str| wrong[listed.iter().position(|run| run.id.as_str() == name).unwrap()].clone();
    assert_eq!(listed.len(), 5);
    assert!(listed.iter().any(|run| run.id == id(names[0]) && run.record.is_ok() && run.bytes > 1000));
    assert!(by_name(names[1]).contains("run.json: No such file"), "{wrong:?}");
    assert!(
        by_name(names[2])
            .ends_with("it has a newer format (4.0); this iolag reads up to 3.0: use a newer iolag")
    );
    assert!(by_name(names[3]).contains("use an iolag of that time to export it"), "{wrong:?}");
    assert!(by_name("20261120-185904-0004").contains("cannot open the directory"), "{wrong:?}");
    // Recovery passes them over and harms none.
    assert!(recover(&store, nobody).unwrap().is_empty());
    assert!(
        runs_to_remove(&listed, &Retention { keep_last: Some(0), ..Retention::default() }, 0, nobody)
            == [id(names[0]), id(names[1])],
        "only what nobody can read goes by a rule, besides what can be read"
    );
}

#[test]
fn missing_shorter_and_corrupt_parts_are_each_told_in_a_sentence() {
    let place = tempfile::tempdir().unwrap();
    let store = Store::open(place.path()).unwrap();
    let run = complete(&store, &run_id(1), 3000);
    let part = run.path().join("samples-0-0.parquet");
    let told = |run: &RunDirectory| match run.samples() {
        Err(error) => error.to_string(),
        Ok(samples) => samples.filter_map(Result::err).map(|error| error.to_string()).collect(),
    };
    assert_eq!(told(&run), "");
    let whole = std::fs::read(&part).unwrap();

    let mut record = run.record().unwrap();
    record.parts[0].samples = 3001;
    run.write_record(&record).unwrap();
    assert!(
        told(&run).ends_with("samples-0-0.parquet is damaged: it has 3000 samples, run.json says 3001"),
        "{}",
        told(&run)
    );
    record.parts[0].samples = 3000;
    record.parts[0].file = "../../x.parquet".into();
    run.write_record(&record).unwrap();
    assert!(told(&run).contains("is not the name of a part"), "{}", told(&run));
    record.parts[0].file = "samples-0-0.parquet".into();
    run.write_record(&record).unwrap();

    std::fs::write(&part, &whole[..whole.len() / 2]).unwrap();
    assert!(told(&run).contains("samples-0-0.parquet is damaged: "), "{}", told(&run));
    let mut corrupt = whole.clone();
    corrupt[60..4000].fill(0xff);
    std::fs::write(&part, &corrupt).unwrap();
    assert!(told(&run).contains("samples-0-0.parquet is damaged: "), "{}", told(&run));
    std::fs::remove_file(&part).unwrap();
    assert!(told(&run).contains("is missing, run.json says that it holds 3000 samples"), "{}", told(&run));
}

#[test]
fn a_flipped_bit_anywhere_in_a_part_is_told_or_harmless() {
    let place = tempfile::tempdir().unwrap();
    let store = Store::open(place.path()).unwrap();
    let run = complete(&store, &run_id(1), 500);
    let part = run.path().join("samples-0-0.parquet");
    let whole = std::fs::read(&part).unwrap();
    let read = || -> Result<Vec<_>, StoreError> { run.samples()?.collect() };
    let expected = read().unwrap();
    let mut told = 0;
    // Every byte would take half a minute in a debug build.
    for at in (0..whole.len()).step_by(5) {
        let mut corrupt = whole.clone();
        corrupt[at] ^= 1 << (at % 8);
        std::fs::write(&part, &corrupt).unwrap();
        match read() {
            Ok(samples) => assert!(samples == expected, "byte {at}"),
            Err(_) => told += 1,
        }
    }
    assert!(told > whole.len() / 10, "{told} of {}", whole.len() / 5);
}

#[test]
fn recovery_keeps_what_the_spool_has_and_leaves_living_runs_alone() {
    let place = tempfile::tempdir().unwrap();
    let store = Store::open(place.path()).unwrap();
    let run = store.create_run(&record(&run_id(1), 1, 1)).unwrap();
    let spool = run.create_spool().unwrap();
    let mut writer = SpoolWriter::create(&spool, run.id(), SpoolNumber(0)).unwrap();
    let samples = Client::new(0).take(2000);
    writer.append(&samples[..1000]).unwrap();
    let kept = writer.bytes();
    writer.append(&samples[1000..]).unwrap();
    let path = spool.path().join("ring-0.spool");
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(kept + 5000).unwrap();

    assert!(recover(&store, everybody).unwrap().is_empty());
    // The keeper is gone, the writer is not: it may still append.
    assert!(matches!(recover_run(&run, nobody), Err(StoreError::Locked { .. })));
    drop(writer);
    let lock = run.lock().unwrap();
    assert!(recover(&store, nobody).unwrap().is_empty());
    drop(lock);

    let recovered = recover(&store, nobody).unwrap();
    assert_eq!(recovered.len(), 1);
    assert!(matches!(recovered[0].result, Ok(Recovery::Encoded { samples: 1000, .. })));
    let RunState::Recovered { reason } = run.record().unwrap().state else {
        panic!("it should say recovered")
    };
    assert!(reason.contains("4.88 KiB of spool 0 were torn and dropped"), "{reason}");
    assert!(run.samples().unwrap().map(|stored| stored.unwrap().sample).eq(samples[..1000].iter().copied()));
    assert!(recover(&store, nobody).unwrap().is_empty());
}

#[test]
fn a_spool_elsewhere_is_recovered_removed_and_its_loss_is_told() {
    let place = tempfile::tempdir().unwrap();
    let elsewhere = Directory::open_or_create(&place.path().join("memory")).unwrap();
    let store = Store::open(&place.path().join("store")).unwrap();
    let start = |salt| {
        let mut record: RunRecord = record(&run_id(salt), 1, 1);
        let run = store.create_run(&record).unwrap();
        let spool = run.create_spool_in(&elsewhere).unwrap();
        let path = spool.path().display().to_string();
        record.state = RunState::Running { keeper_pid: 1, keeper_start_ticks: 1, spool: Some(path) };
        run.write_record(&record).unwrap();
        (run, spool)
    };
    let (run, spool) = start(1);
    let mut writer = SpoolWriter::create(&spool, run.id(), SpoolNumber(0)).unwrap();
    writer.append(&Client::new(0).take(77)).unwrap();
    drop(writer);
    assert!(matches!(recover_run(&run, nobody).unwrap(), Recovery::Encoded { samples: 77, .. }));
    assert!(elsewhere.names().unwrap().is_empty());

    let (run, spool) = start(2);
    std::fs::remove_dir(spool.path()).unwrap();
    let Recovery::Encoded { samples: 0, reason } = recover_run(&run, nobody).unwrap() else { panic!() };
    assert!(reason.ends_with("is gone: its samples are lost"), "{reason}");

    // A name that somebody else took in the meantime is not touched.
    let (run, spool) = start(3);
    std::fs::rename(spool.path(), place.path().join("moved")).unwrap();
    let other = elsewhere.create_directory(spool.path().file_name().unwrap().to_str().unwrap()).unwrap();
    run.remove_spool().unwrap();
    assert!(other.path().exists());
}

#[test]
fn removing_leaves_strangers_and_living_runs() {
    let place = tempfile::tempdir().unwrap();
    let store = Store::open(place.path()).unwrap();
    let run = store.create_run(&record(&run_id(1), 1, 1)).unwrap();
    run.create_spool().unwrap();
    let error = store.remove_run(run.id(), everybody).unwrap_err();
    assert!(matches!(error, StoreError::RunAlive { keeper_pid: 1, .. }), "{error}");
    std::fs::write(run.path().join("notes.txt"), "mine").unwrap();
    let precious = place.path().join("precious");
    std::fs::write(&precious, "mine").unwrap();
    symlink(&precious, run.path().join("samples-0-0.parquet")).unwrap();
    let removal = store.remove_run(run.id(), nobody).unwrap();
    assert_eq!(removal, Removal::Strangers(vec!["notes.txt".into(), "samples-0-0.parquet".into()]));
    assert_eq!(std::fs::read_to_string(&precious).unwrap(), "mine");
    assert_eq!(run.directory().names().unwrap(), ["notes.txt", "samples-0-0.parquet"]);

    let run = complete(&store, &run_id(2), 100);
    assert_eq!(store.remove_run(run.id(), nobody).unwrap(), Removal::Complete);
    assert!(!run.path().exists());
    assert!(matches!(store.remove_run(run.id(), nobody), Err(StoreError::RunMissing { .. })));
}

fn listed(number: u64, bytes: u64, state: RunState) -> Listed {
    let id = run_id(number as u16);
    let mut record = record(&id, 1, 1);
    record.state = state;
    let path = Path::new("/store/runs").join(id.as_str());
    Listed { id, path, bytes, started_realtime_ns: number * 1_000_000_000, record: Ok(Box::new(record)) }
}

#[test]
fn retention_removes_by_age_and_size_but_never_the_last_or_living() {
    let running = RunState::Running { keeper_pid: 1, keeper_start_ticks: 1, spool: None };
    let mut runs: Vec<Listed> = (1..=6).map(|number| listed(number, 100, RunState::Complete)).collect();
    runs[0] = listed(1, 100, running);
    let numbers = |retention: Retention, alive: fn(&KeeperIdentity) -> bool| -> Vec<u64> {
        let removed = runs_to_remove(&runs, &retention, 10_000_000_000, alive);
        removed.iter().map(|id| u64::from_str_radix(&id.as_str()[16..], 16).unwrap()).collect()
    };
    let (keep_last, older_than) = (Some(2), Some(Nanoseconds::from_seconds(6)));
    assert!(numbers(Retention::default(), nobody).is_empty());
    assert_eq!(numbers(Retention { keep_last, ..Retention::default() }, nobody), [1, 2, 3, 4]);
    assert_eq!(numbers(Retention { keep_last, ..Retention::default() }, everybody), [2, 3, 4]);
    assert_eq!(numbers(Retention { older_than, ..Retention::default() }, everybody), [2, 3]);
    assert_eq!(numbers(Retention { keep_last: Some(5), older_than, ..Retention::default() }, nobody), [1]);
    assert_eq!(numbers(Retention { bytes_max: Some(350), ..Retention::default() }, nobody), [1, 2, 3]);
    assert_eq!(numbers(Retention { bytes_max: Some(350), ..Retention::default() }, everybody), [2, 3, 4]);
    assert_eq!(
        numbers(Retention { keep_last: Some(4), bytes_max: Some(50), ..Retention::default() }, nobody),
        [1, 2]
    );
    let spared = |numbers: &[u16]| numbers.iter().map(|number| run_id(*number)).collect();
    assert_eq!(
        numbers(Retention { keep_last, spared: spared(&[2, 4]), ..Retention::default() }, nobody),
        [1, 3]
    );
    // Their bytes count first.
    assert_eq!(
        numbers(Retention { bytes_max: Some(350), spared: spared(&[1]), ..Retention::default() }, nobody),
        [2, 3, 4]
    );
}

#[test]
fn exports_hold_every_sample() {
    let place = tempfile::tempdir().unwrap();
    let store = Store::open(place.path()).unwrap();
    let run = complete(&store, &run_id(1), 3);
    let (mut csv, mut json) = (Vec::new(), Vec::new());
    assert_eq!(run.export_text(TextForm::Csv, &mut csv, Path::new("x.csv")).unwrap(), 3);
    assert_eq!(run.export_text(TextForm::JsonLines, &mut json, Path::new("x.json")).unwrap(), 3);
    let csv = String::from_utf8(csv).unwrap();
    let mut lines = csv.split_terminator("\r\n");
    let header: Vec<_> = lines.next().unwrap().split(',').collect();
    assert_eq!(header.join(","), CSV_HEADER);
    let samples: Vec<_> = run.samples().unwrap().map(|stored| stored.unwrap().sample).collect();
    for ((line, json), sample) in lines.zip(String::from_utf8(json).unwrap().lines()).zip(&samples) {
        let json: serde_json::Value = serde_json::from_str(json).unwrap();
        for (name, cell) in header.iter().zip(line.split(',')) {
            let value = &json[*name];
            assert_eq!(value.as_str().map_or_else(|| value.to_string(), str::to_owned), cell, "{name}");
        }
        assert_eq!(json["duration_ns"], sample.duration.0);
        assert_eq!(json["operation"], sample.operation().name());
        assert_eq!(json["phase"], "benchmark");
    }
    let to = Directory::open_or_create(&place.path().join("export")).unwrap();
    assert_eq!(run.export_parquet(&to).unwrap(), ["samples-0-0.parquet"]);
    let copy = to.read_file("samples-0-0.parquet", 1 << 20).unwrap();
    assert_eq!(copy, run.directory().read_file("samples-0-0.parquet", 1 << 20).unwrap());
    assert!(run.export_parquet(&to).unwrap_err().to_string().contains("File exists"));

    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::Error::from_raw_os_error(28))
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let error = run.export_text(TextForm::Csv, &mut Full, Path::new("out.csv")).unwrap_err();
    assert!(matches!(error, StoreError::Full { .. }) && error.to_string().contains("out.csv"), "{error}");
}
