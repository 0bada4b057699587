//! What is answered: while a watch runs, while none does, before there is a history, and after a restart.

use std::fs;

use iolag_model::Outcome;

use crate::metrics::{Metrics, of};
use crate::remembered::count;
use crate::server::Server;
use crate::stage::{Stage, target};
use crate::support::{PATIENCE, assert_says, kill, wait_for, wait_until};

const EVERY: &str = "every = \"300ms\"\njitter = \"0\"\n";

#[test]
fn numbers_are_those_of_the_history() {
    let stage = Stage::new();
    let directory = stage.directory("watched");
    let file = stage.configure(&format!("{EVERY}{}", target("my home", directory, "open-read")));
    stage.watch_to(0, &["-c", &file, "--rounds", "5"]);
    let remembered = stage.remembered();
    let samples = remembered.wholes("my home", "open-read");
    let server = Server::start(&stage, &[]);
    server.wait_until_read();
    let metrics = Metrics::of(&server);
    // On a busy machine the probe before may still be under way when one is due; that is skipped.
    let fine = count(&samples, Outcome::Ok);
    assert!(fine > 0 && fine + count(&samples, Outcome::Skipped) == 5, "{samples:#?}");
    let runs = of("iolag_probe_runs_total", "open-read", "my home", ",outcome=\"ok\"");
    assert_eq!(metrics.value(&runs), fine as f64);
    let samples: Vec<_> = samples.into_iter().filter(|sample| sample.outcome == Outcome::Ok).collect();
    let sum: u64 = samples.iter().map(|sample| sample.duration_ns.0).sum();
    let told = metrics.value(&of("iolag_probe_duration_seconds_sum", "open-read", "my home", ""));
    assert!((told - sum as f64 / 1e9).abs() < 1e-9, "{told} {sum}");
    let below = samples.iter().filter(|sample| sample.duration_ns.0 <= 1_000_000).count();
    let bucket = of("iolag_probe_duration_seconds_bucket", "open-read", "my home", ",le=\"0.001\"");
    assert_eq!(metrics.value(&bucket), below as f64);
    assert_eq!(
        metrics.value(&of("iolag_probe_runs_total", "open-read", "host memory", ",outcome=\"ok\"")),
        count(&remembered.wholes("host memory", "open-read"), Outcome::Ok) as f64
    );
    assert_eq!(metrics.value("iolag_watch_up"), 0.0);
    assert_eq!(metrics.find(&of("iolag_probe_in_flight_seconds", "open-read", "my home", "")), None);
    let data = server.get("/data").json();
    assert!(data["parts"].as_array().is_some_and(|parts| !parts.is_empty()), "{data}");
    assert_eq!(server.get("/status").json(), serde_json::Value::Null);
    let page = server.get("/now").text();
    assert_says(&page, &["No watch runs.", "<code>my home</code>", "open-read"]);
    let done = server.stop();
    assert_eq!(done.code, Some(0), "{done:?}");
    stage.scene.assert_nobody_is_left();
}

#[test]
fn a_watch_that_runs_is_seen_and_its_counts_never_fall() {
    let stage = Stage::new();
    let directory = stage.directory("watched");
    let file = stage.configure(&format!("{EVERY}{}", target("home", directory, "stat")));
    let watch = stage.start(&["-c", &file]);
    let server = Server::start(&stage, &[]);
    stage.wait_for_rounds(3);
    server.wait_until_read();
    let runs = of("iolag_probe_runs_total", "stat", "home", ",outcome=\"ok\"");
    assert!(wait_until(PATIENCE, || Metrics::of(&server).find(&runs).is_some_and(|runs| runs >= 3.0)));
    let mut before = Metrics::of(&server);
    assert_eq!(before.value("iolag_watch_up"), 1.0);
    assert_eq!(before.value(&of("iolag_probe_hung", "stat", "home", "")), 0.0);
    assert_eq!(before.value(&of("iolag_probe_period_seconds", "stat", "home", "")), 0.3);
    let status = server.get("/status").json();
    assert_eq!(status["process"], watch.id(), "{status}");
    assert_eq!(status["history_reading"]["trouble"], serde_json::Value::Null);
    for _ in 0..5 {
        let rounds = stage.wait_for_rounds(1).rounds;
        stage.wait_for_rounds(rounds + 2);
        let now = Metrics::of(&server);
        for (name, value) in before.counters() {
            assert!(now.value(name) >= value, "{name} fell from {value}");
        }
        before = now;
    }
    // Another server comes to the same counts, or more.
    assert_eq!(server.stop().code, Some(0));
    let again = Server::start(&stage, &[]);
    // Before all is read nothing is said, rather than less.
    let first = Metrics::of(&again).find(&runs);
    assert!(first.is_none_or(|first| first >= before.value(&runs)), "{first:?}");
    again.wait_until_read();
    let now = Metrics::of(&again);
    for (name, value) in before.counters() {
        assert!(now.value(name) >= value, "{name} fell from {value}");
    }
    watch.signal(libc::SIGINT);
    assert_eq!(watch.finish().code, Some(0));
    again.wait_for("the end of the watch", |now| now["watch"]["state"] == "ended");
    again.stop();
    stage.scene.assert_nobody_is_left();
}

#[test]
fn a_history_may_come_later_and_a_reader_that_is_killed_is_replaced() {
    let stage = Stage::new();
    let server = Server::start(&stage, &[]);
    let now = server
        .wait_for("that there is no history", |now| now["history"]["trouble"] != serde_json::Value::Null);
    assert_says(now["history"]["trouble"].as_str().unwrap(), &["no history at"]);
    let refused = server.get("/data");
    assert_eq!((refused.status, refused.headers["retry-after"].as_str()), (503, "5"));
    assert_says(&refused.text(), &["no history at"]);
    assert_says(&server.get("/now").text(), &["No watch has run", "no history at"]);
    let directory = stage.directory("watched");
    let file = stage.configure(&format!("{EVERY}{}", target("home", directory, "stat")));
    // One round each: none is due while the one before is under way.
    let two_rounds = || (0..2).for_each(|_| drop(stage.watch_to(0, &["-c", &file, "--rounds", "1"])));
    two_rounds();
    let runs = of("iolag_probe_runs_total", "stat", "home", ",outcome=\"ok\"");
    server.wait_until_read();
    assert!(wait_until(PATIENCE, || Metrics::of(&server).find(&runs) == Some(2.0)));
    let before = Metrics::of(&server);
    for reader in crate::support::children(server.id()) {
        kill(reader, libc::SIGKILL);
    }
    two_rounds();
    assert_eq!(before.value(&runs), 2.0);
    assert!(wait_until(PATIENCE, || Metrics::of(&server).value(&runs) == 4.0));
    server.wait_for("no trouble", |now| now["history"]["trouble"] == serde_json::Value::Null);
    server.stop();
    stage.scene.assert_nobody_is_left();
}

#[test]
fn a_history_that_is_replaced_is_read_anew() {
    let stage = Stage::new();
    let directory = stage.directory("watched");
    let file = stage.configure(&format!("{EVERY}{}", target("home", directory, "stat")));
    stage.watch_to(0, &["-c", &file, "--rounds", "4"]);
    let server = Server::start(&stage, &[]);
    server.wait_until_read();
    for name in ["", "-wal", "-shm"] {
        // The log may have been carried over and removed.
        let _ = fs::remove_file(format!("{}{name}", stage.history));
    }
    stage.watch_to(0, &["-c", &file, "--rounds", "1"]);
    let runs = of("iolag_probe_runs_total", "stat", "home", ",outcome=\"ok\"");
    assert!(wait_until(PATIENCE, || Metrics::of(&server).find(&runs) == Some(1.0)));
    server.stop();
}

#[test]
fn hostile_names_stay_names() {
    let stage = Stage::new();
    let directory = stage.directory("watched");
    let name = "<script>alert(1)</script>\\\" & 'é";
    let file = stage.configure(&format!("{EVERY}{}", target(name, directory, "stat")));
    stage.watch_to(0, &["-c", &file, "--rounds", "1"]);
    let link = ["note", "<img src=x onerror=alert(2)>", "--link", "https://tracker.example/?a=<b>"];
    let noted = stage.scene.run(&[&link[..2], &["--history", &stage.history]].concat());
    assert_eq!(noted.code, Some(0), "{noted:?}");
    let server = Server::start(&stage, &[]);
    server.wait_until_read();
    let page = server.get("/now").text();
    assert!(
        !page.contains("<script") && !page.contains("<img") && page.contains("&lt;script&gt;alert(1)"),
        "{page}"
    );
    let metrics = Metrics::of(&server);
    let escaped = "<script>alert(1)</script>\\\\\\\" & 'é";
    assert_eq!(metrics.value(&of("iolag_probe_runs_total", "stat", escaped, ",outcome=\"ok\"")), 1.0);
    server.stop();
}

#[test]
fn a_later_server_goes_on_with_the_counts_of_the_former() {
    let stage = Stage::new();
    let directory = stage.directory("watched");
    let file = stage.configure(&format!("{EVERY}{}", target("home", directory, "stat")));
    for _ in 0..3 {
        stage.watch_to(0, &["-c", &file, "--rounds", "1"]);
    }
    let runs = of("iolag_probe_runs_total", "stat", "home", ",outcome=\"ok\"");
    let serve = || {
        let server = Server::start(&stage, &[]);
        server.wait_until_read();
        let metrics = Metrics::of(&server);
        (server, metrics)
    };
    let kept = || {
        let places = fs::read_dir(stage.runtime()).unwrap();
        let mut files = places.map(|place| place.unwrap().path().join("tallies-served.json"));
        files.find(|file| file.exists())
    };
    let (server, fresh) = serve();
    let file_kept = wait_for("counts that are kept", kept);
    server.stop();

    // Who reads the old samples again finds fewer.
    let database = rusqlite::Connection::open(&stage.history).unwrap();
    let oldest = "DELETE FROM sample WHERE change = (SELECT min(change) FROM sample JOIN series ON series.id = series \
                  WHERE task = 'stat' AND part = '' AND target = 'home')";
    assert_eq!(database.execute(oldest, []).unwrap(), 1);
    let (server, resumed) = serve();
    assert_eq!(resumed.counters(), fresh.counters());
    assert_eq!(resumed.value(&runs), 3.0);
    server.stop();
    stage.watch_to(0, &["-c", &file, "--rounds", "1"]);
    let (server, resumed) = serve();
    assert_eq!(resumed.value(&runs), 4.0);
    server.stop();

    let mut damaged = fs::read(&file_kept).unwrap();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    fs::write(&file_kept, damaged).unwrap();
    let (server, counted_anew) = serve();
    assert_eq!(counted_anew.value(&runs), 3.0);
    server.stop();

    for name in ["", "-wal", "-shm"] {
        // The log may have been carried over and removed.
        let _ = fs::remove_file(format!("{}{name}", stage.history));
    }
    drop(database);
    for _ in 0..6 {
        stage.watch_to(0, &["-c", &file, "--rounds", "1"]);
    }
    let (server, replaced) = serve();
    assert_eq!(replaced.value(&runs), 6.0);
    server.stop();
}
