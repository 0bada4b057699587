//! Histories that hang, fail and come back: probing goes on, and nothing is lost.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod support;

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;

use iolag_model::{HistoryRecord, Outcome};
use iolag_watch::WatchLimit;
use iolag_workload::{TaskSpec, probe_task};
use support::{Onlooker, Scene, directory, ms, target, task, wait_until};

/// A history that does what the file `mode` says, and otherwise appends lines to the file `history`.
fn remember(place: &Path, records: &[HistoryRecord]) -> Result<(), String> {
    match std::fs::read_to_string(place.join("mode")).unwrap_or_default().as_str() {
        "hang" => loop {
            std::thread::sleep(std::time::Duration::from_secs(5));
        },
        "fail" => return Err("the database is full".into()),
        "die" => panic!("on purpose"),
        _ => {}
    }
    let mut lines = Vec::new();
    for record in records {
        serde_json::to_writer(&mut lines, record).map_err(|error| error.to_string())?;
        lines.push(b'\n');
    }
    let file = std::fs::OpenOptions::new().create(true).append(true).open(place.join("history"));
    file.and_then(|mut file| file.write_all(&lines)).map_err(|error| error.to_string())
}

fn remembered(place: &Path) -> BTreeSet<String> {
    let text = std::fs::read_to_string(place.join("history")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn a_history_that_hangs_fails_and_dies_costs_no_record_and_holds_up_no_probe() {
    let (place, history) = (directory(), directory());
    let mode = |mode: &str| std::fs::write(history.path().join("mode"), mode).unwrap();
    let scene = Scene::new(
        ms(100),
        vec![target(place.path(), "one", vec![task("stat", TaskSpec::Stat, 5000, 20000)])],
    );
    let mut onlooker = Onlooker {
        at_round_end: Some(Box::new(|round| match round {
            3 => mode("hang"),
            30 => mode("fail"),
            60 => mode("die"),
            90 => mode(""),
            _ => {}
        })),
        ..Onlooker::default()
    };
    let take = |records: &[HistoryRecord]| remember(history.path(), records);
    let summary = scene.watch_with(WatchLimit::Rounds(100), &probe_task, &take, &mut onlooker);
    onlooker.at_round_end = None;
    assert_eq!((summary.waiting_records, summary.history_trouble), (0, None));
    let samples = onlooker.wholes("one");
    assert_eq!(samples.len(), 100);
    assert!(samples.iter().filter(|sample| sample.outcome == Outcome::Ok).count() > 50);
    let known = remembered(history.path());
    for record in &onlooker.records {
        assert!(known.contains(&serde_json::to_string(record).unwrap()), "{record:?}");
    }
}

#[test]
fn what_a_full_history_did_not_take_waits_for_the_next_watch() {
    let (place, history) = (directory(), directory());
    let scene = Scene::new(
        ms(100),
        vec![target(place.path(), "one", vec![task("stat", TaskSpec::Stat, 5000, 20000)])],
    );
    std::fs::write(history.path().join("mode"), "fail").unwrap();
    let take = |records: &[HistoryRecord]| remember(history.path(), records);
    let mut first = Onlooker::default();
    let summary = scene.watch_with(WatchLimit::Rounds(3), &probe_task, &take, &mut first);
    assert_eq!(summary.waiting_records, first.records.len());
    assert_eq!(summary.history_trouble.as_deref(), Some("the database is full"));
    std::fs::write(history.path().join("mode"), "").unwrap();
    let mut second = Onlooker::default();
    let summary = scene.watch_with(WatchLimit::Rounds(1), &probe_task, &take, &mut second);
    assert_eq!((summary.waiting_records, summary.history_trouble), (0, None));
    let known = remembered(history.path());
    for record in first.records.iter().chain(&second.records) {
        assert!(known.contains(&serde_json::to_string(record).unwrap()), "{record:?}");
    }
}

/// A watch that is killed again and again at arbitrary moments loses nothing that its observer was told.
#[test]
fn watches_that_are_killed_lose_nothing_that_was_acknowledged() {
    use iolag_keeper::{Child, Orphanage};
    use iolag_model::Nanoseconds;
    const KILLS: u64 = 60;
    let (place, history) = (directory(), directory());
    let tasks = vec![task("stat", TaskSpec::Stat, 5000, 20000)];
    let scene = Scene::new(ms(2), vec![target(place.path(), "one", tasks)]);
    let take = |records: &[HistoryRecord]| remember(history.path(), records);
    let told = history.path().join("told");
    for kill in 0..KILLS {
        let mut watch = Child::fork("watch", Orphanage::Die, || {
            let mut file = std::fs::OpenOptions::new().create(true).append(true).open(&told).unwrap();
            let mut onlooker = Onlooker {
                at_record: Some(Box::new(|record: &HistoryRecord| {
                    let line = format!("{}\n", serde_json::to_string(record).unwrap());
                    file.write_all(line.as_bytes()).unwrap();
                })),
                ..Onlooker::default()
            };
            scene.watch_with(WatchLimit::UntilStopped, &probe_task, &take, &mut onlooker);
            0
        })
        .unwrap();
        watch.wait(Nanoseconds::from_milliseconds(5 + kill * 37 % 150));
        watch.signal(rustix::process::Signal::KILL);
        assert!(watch.wait(Nanoseconds::from_seconds(20)).is_some());
    }
    scene.watch_with(WatchLimit::Rounds(1), &probe_task, &take, &mut Onlooker::default());
    let known = remembered(history.path());
    let told = std::fs::read_to_string(&told).unwrap();
    let (whole_lines, _torn) = told.rsplit_once('\n').unwrap();
    for line in whole_lines.lines() {
        assert!(known.contains(line), "{line}");
    }
    assert!(whole_lines.lines().count() as u64 > KILLS);
    // No two probes share a name, although many watches began within one second. An end that a watch had recorded, but not yet
    // forgotten when it was killed, is recorded once more by the next.
    let mut samples = std::collections::BTreeMap::new();
    for line in &known {
        if let Ok(HistoryRecord::Sample(sample)) = serde_json::from_str(line) {
            let told = (sample.start, sample.duration_ns, sample.outcome);
            let before = samples.insert((sample.series.clone(), sample.probe), told);
            assert!(before.is_none_or(|before| before == told), "{sample:?}");
        }
    }
    wait_until("the end of all orphans", || {
        let entries = std::fs::read_dir(&scene.plan.runtime_directory).unwrap();
        entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with("stamps-")).count()
            == 0
    });
}
