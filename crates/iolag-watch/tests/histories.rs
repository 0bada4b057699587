//! Histories that hang, fail and come back: probing goes on, and nothing is lost.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod support;

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;

use iolag_fixtures::TmpfsMount;
use iolag_model::{Configuration, Event, HistoryRecord, Outage, OutageEnding, Outcome, ProbeId, WallTime};
use iolag_watch::{Callbacks, Recall, Recollection, WatchLimit, WatchTarget, configuration_key};
use iolag_workload::{TaskSpec, probe_task};
use support::{HOST, Onlooker, Scene, directory, ms, target, task, wait_until};

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
    // What a kill has torn ends here.
    let mut lines = vec![b'\n'];
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
    // On a busy machine the one before is often still under way when one is due.
    assert!(samples.iter().filter(|sample| sample.outcome == Outcome::Ok).count() > 10);
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
    // Each watch tells in a file of its own: a kill may tear its last line.
    let told = |kill: u64| history.path().join(format!("told-{kill}"));
    for kill in 0..KILLS {
        let told = told(kill);
        let mut watch = Child::fork("watch", Orphanage::Die, || {
            let mut file = std::fs::File::create(&told).unwrap();
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
        // Every other time after something was told, so that there is something on a busy machine too.
        let has_told = || std::fs::metadata(&told).is_ok_and(|told| told.len() > 0);
        let begin = std::time::Instant::now();
        while kill % 2 == 1 && !has_told() && begin.elapsed() < support::PATIENCE {
            assert_eq!(watch.wait(Nanoseconds::from_milliseconds(1)), None, "it goes on until it is killed");
        }
        watch.wait(Nanoseconds::from_milliseconds(5 + kill * 37 % 150));
        watch.signal(rustix::process::Signal::KILL);
        assert!(watch.wait(Nanoseconds::from_seconds(60)).is_some());
    }
    scene.watch_with(WatchLimit::Rounds(1), &probe_task, &take, &mut Onlooker::default());
    let known = remembered(history.path());
    let mut lines = 0;
    for kill in 0..KILLS {
        let told = std::fs::read_to_string(told(kill)).unwrap_or_default();
        for line in told.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
            assert!(known.contains(line.trim_end()), "{line}");
            lines += 1;
        }
    }
    assert!(lines > KILLS);
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

fn kernel(version: &str) -> std::collections::BTreeMap<String, String> {
    [("kernel".to_owned(), version.to_owned())].into()
}

fn configuration(version: &str) -> Configuration {
    let facts = kernel(version);
    let key = configuration_key(&facts);
    Configuration { key, host: HOST.to_owned(), target: "one".to_owned(), first_seen: WallTime(3), facts }
}

fn configuration_events(onlooker: &Onlooker<'_>) -> Vec<Event> {
    let event = |record: &HistoryRecord| match record {
        HistoryRecord::Event(event) if event.kind == "configuration" => Some(event.clone()),
        _ => None,
    };
    onlooker.records.iter().filter_map(event).collect()
}

#[test]
fn a_history_that_answers_late_is_asked_what_it_knows_before_anything_is_written() {
    let (place, history) = (directory(), directory());
    let tasks = vec![task("stat", TaskSpec::Stat, 5000, 20000)];
    let mut scene = Scene::new(ms(100), vec![target(place.path(), "one", tasks)]);
    scene.recall = Recall::Due;
    let outage = Outage {
        kind: Default::default(),
        targets: Default::default(),
        host: HOST.to_owned(),
        mount: "/home".to_owned(),
        probe: ProbeId(5),
        begin: WallTime(7),
        end: None,
        ending: None,
        skipped: 3,
    };
    let (is_there, asked) = (history.path().join("is-there"), history.path().join("asked"));
    let recall = || {
        if !is_there.exists() {
            return Err("the server is starting".to_owned());
        }
        std::fs::write(&asked, "").unwrap();
        let (configurations, open_outages) = (vec![configuration("6.1")], vec![outage.clone()]);
        Ok(Recollection { configurations, open_outages, ..Recollection::default() })
    };
    let take = |records: &[HistoryRecord]| match asked.exists() {
        true => remember(history.path(), records),
        false => Err("it was written before it was asked".to_owned()),
    };
    let facts = |_: &WatchTarget| kernel("6.2");
    let callbacks = Callbacks { probe_task: &probe_task, facts: &facts, recall: &recall, remember: &take };
    let mut onlooker = Onlooker {
        at_round_end: Some(Box::new(|round| {
            if round == 5 {
                std::fs::write(&is_there, "").unwrap();
            }
        })),
        ..Onlooker::default()
    };
    let summary = scene.watch_with_facts(WatchLimit::Rounds(60), callbacks, Vec::new(), &mut onlooker);
    onlooker.at_round_end = None;
    assert_eq!((summary.waiting_records, summary.history_trouble), (0, None));
    assert_eq!(summary.recall, Recall::Done);
    let events = configuration_events(&onlooker);
    let [event] = &events[..] else { panic!("{events:?}") };
    assert_eq!(event.text, "kernel changed from 6.1 to 6.2");
    let outages = onlooker.outages();
    let [ended] = &outages[..] else { panic!("{outages:?}") };
    assert_eq!((ended.probe, ended.ending), (ProbeId(5), Some(OutageEnding::Rebooted)));
    let known = remembered(history.path());
    for record in &onlooker.records {
        assert!(known.contains(&serde_json::to_string(record).unwrap()), "{record:?}");
    }
}

#[test]
fn a_history_that_never_answers_holds_up_no_round_and_its_records_wait() {
    let place = directory();
    let tasks = vec![task("stat", TaskSpec::Stat, 5000, 20000)];
    let mut scene = Scene::new(ms(100), vec![target(place.path(), "one", tasks)]);
    scene.recall = Recall::Due;
    let facts = |_: &WatchTarget| kernel("6.2");
    let refuse = || Err("the server is starting".to_owned());
    let take = |_: &[HistoryRecord]| -> Result<(), String> { Ok(()) };
    let callbacks = Callbacks { probe_task: &probe_task, facts: &facts, recall: &refuse, remember: &take };
    let mut onlooker = Onlooker::default();
    let summary = scene.watch_with_facts(WatchLimit::Rounds(3), callbacks, Vec::new(), &mut onlooker);
    assert_eq!((summary.rounds, summary.recall), (3, Recall::Due));
    assert_eq!(summary.waiting_records, onlooker.records.len());
    assert_eq!(summary.history_trouble.as_deref(), Some("the server is starting"));
    assert_eq!(onlooker.wholes("one").len(), 3);
}

#[test]
fn a_configuration_that_only_the_spool_has_is_known_to_the_next_watch() {
    let place = directory();
    let tasks = vec![task("stat", TaskSpec::Stat, 5000, 20000)];
    let scene = Scene::new(ms(100), vec![target(place.path(), "one", tasks)]);
    let refuse = |_: &[HistoryRecord]| -> Result<(), String> { Err("down".to_owned()) };
    let facts = |_: &WatchTarget| kernel("6.2");
    let callbacks = Callbacks {
        probe_task: &probe_task,
        facts: &facts,
        recall: &support::knows_nothing,
        remember: &refuse,
    };
    // The history knows the one before.
    let known = vec![configuration("6.1")];
    let mut told = Vec::new();
    for _ in 0..3 {
        let mut onlooker = Onlooker::default();
        scene.watch_with_facts(WatchLimit::Rounds(1), callbacks, known.clone(), &mut onlooker);
        told.push(configuration_events(&onlooker).len());
    }
    assert_eq!(told, [1, 0, 0]);
}

#[test]
fn a_full_file_system_in_memory_is_told_once() {
    let Some(memory) = TmpfsMount::new(1 << 20) else { return };
    let place = directory();
    let tasks = vec![task("stat", TaskSpec::Stat, 5000, 20000)];
    let mut scene = Scene::new(ms(50), vec![target(place.path(), "one", tasks)]);
    scene.plan.runtime_directory = memory.path().join("runtime");
    let refuse = |_: &[HistoryRecord]| -> Result<(), String> { Err("down".to_owned()) };
    let filling = memory.path().join("filling");
    let mut onlooker = Onlooker {
        at_round_end: Some(Box::new(|round| {
            let mut file = std::fs::OpenOptions::new().create(true).append(true).open(&filling).unwrap();
            // A page is freed now and then, and taken again.
            if round % 3 == 0 {
                file.set_len(file.metadata().unwrap().len().saturating_sub(8192)).unwrap();
            } else {
                while file.write_all(&[b'x'; 4096]).is_ok() {}
            }
        })),
        ..Onlooker::default()
    };
    let summary = scene.watch_with(WatchLimit::Rounds(30), &probe_task, &refuse, &mut onlooker);
    onlooker.at_round_end = None;
    let trouble = summary.history_trouble.unwrap();
    assert!(trouble.starts_with("down") && !trouble.contains("dropped"), "{trouble}");
    let of_room: Vec<_> =
        onlooker.troubles.iter().filter(|sentence| sentence.contains("until there is room")).collect();
    assert_eq!(of_room.len(), 1, "{:#?}", onlooker.troubles);
    // Probes have files there too; that they cannot be started is one more sentence.
    assert!(onlooker.troubles.len() <= 2, "{:#?}", onlooker.troubles);
}
