//! Storage that hangs, and a history that does: what is in flight is shown at once, and nothing waits.

use std::time::{Duration, Instant};

use iolag_fixtures::FuseMount;
use serde_json::Value;

use crate::metrics::{Metrics, of};
use crate::server::Server;
use crate::stage::{Stage, target};
use crate::support::{PATIENCE, assert_says, children, kill, wait_until};

/// `open-read` is given up quickly, but not so quickly that a busy machine passes for storage that hangs.
const QUICK: &str = "every = \"400ms\"\njitter = \"0\"\ngrace = \"500ms\"\n\
                     [task.open-read]\nsoft-deadline = \"100ms\"\ndeadline = \"4s\"\n";

/// For answers that wait for nobody, on a machine that has other things to do. Who waits for a history waits for a minute.
const AT_ONCE: Duration = Duration::from_secs(50);

#[test]
fn what_hangs_stands_first_and_its_age_rises() {
    let stage = Stage::new();
    let Some(fuse) = FuseMount::start(&stage.scene.target()) else { return };
    let other = stage.directory("other");
    let targets = target("hanging", fuse.path(), "open-read") + &target("other", other, "stat");
    let file = stage.configure(&format!("{QUICK}{targets}"));
    let watch = stage.start(&["-c", &file]);
    let server = Server::start(&stage, &[]);
    stage.wait_for_rounds(2);
    server.wait_until_read();
    fuse.hang_all();
    let hung = stage.wait_for_hung();
    let age = of("iolag_probe_in_flight_seconds", "open-read", "hanging", "");
    let first = Metrics::of(&server).value(&age);
    assert!(wait_until(PATIENCE, || Metrics::of(&server).value(&age) > first + 1.0), "the age must rise");
    let metrics = Metrics::of(&server);
    let deadline = metrics.value(&of("iolag_probe_deadline_seconds", "open-read", "hanging", ""));
    assert!(deadline == 4.0 && metrics.value(&age) > deadline);
    assert_eq!(metrics.value(&of("iolag_probe_hung", "open-read", "hanging", "")), 1.0);
    assert_eq!(metrics.value(&of("iolag_probe_hung", "stat", "other", "")), 0.0);
    assert_eq!((metrics.value("iolag_orphans"), metrics.value("iolag_outages")), (1.0, 1.0));
    let page = server.get("/now").text();
    assert_says(
        &page,
        &[
            "<title>(1 place does not answer) Storage of",
            "id=\"in-flight\"",
            "class=\"serious\"",
            &hung.process.to_string(),
        ],
    );
    assert!(page.find("id=\"in-flight\"") < page.find("id=\"last\""));
    let paragraph = page.split("<p").nth(1).expect("a paragraph");
    assert!(
        paragraph.contains(">hanging has not answered for ") && !paragraph.contains("other"),
        "{paragraph}"
    );
    assert_says(&page, &["id=\"outages\""]);
    let timeouts = of("iolag_probe_timeouts_total", "open-read", "hanging", "");
    assert!(wait_until(PATIENCE, || Metrics::of(&server).find(&timeouts) == Some(1.0)));
    fuse.release();
    let late = of("iolag_probe_late_completion_seconds_count", "open-read", "hanging", "");
    assert!(wait_until(PATIENCE, || Metrics::of(&server).value(&late) == 1.0));
    let after = Metrics::of(&server);
    assert_eq!(after.value(&timeouts), 1.0, "one hang is one time-out");
    let truth = after.value(&of("iolag_probe_late_completion_seconds_sum", "open-read", "hanging", ""));
    assert!(truth > first + 1.0, "{truth}");
    watch.signal(libc::SIGINT);
    watch.finish();
    server.stop();
    stage.scene.assert_nobody_is_left();
}

#[test]
fn a_target_that_does_not_answer_or_is_not_mounted_is_told_though_no_probe_is_left_in_flight() {
    let stage = Stage::new();
    let Some(fuse) = FuseMount::start(&stage.scene.target()) else { return };
    let other = stage.directory("other");
    let look = format!(
        "[task.look]\nsoft-deadline = \"300ms\"\ndeadline = \"3s\"\ncommand = [\"/bin/ls\", {:?}]\n",
        fuse.path()
    );
    let targets = target("killable", fuse.path(), "look") + &target("other", other, "stat");
    let file =
        stage.configure(&format!("every = \"400ms\"\njitter = \"0\"\ngrace = \"300ms\"\n{look}{targets}"));
    let watch = stage.start(&["-c", &file]);
    let server = Server::start(&stage, &[]);
    let value = |name: &str, target: &str| Metrics::of(&server).of_target(name, target);
    let wait_for = |name: &str, expected: f64| {
        let is_so = wait_until(PATIENCE, || value(name, "killable") == Some(expected));
        assert!(is_so, "{name} is not {expected}: {:?}", Metrics::of(&server));
    };
    wait_for("iolag_target_answers", 1.0);
    assert_eq!(value("iolag_outage_seconds", "killable"), Some(0.0));

    // Requests stand in a queue, and whoever waits for one can be killed, as on NFS and Lustre.
    kill(fuse.daemon_pid(), libc::SIGSTOP);
    wait_for("iolag_target_answers", 0.0);
    let (first, age) =
        (value("iolag_outage_seconds", "killable"), of("iolag_probe_hung", "look", "killable", ""));
    assert!(wait_until(PATIENCE, || value("iolag_outage_seconds", "killable") > first.map(|age| age + 1.0)));
    let metrics = Metrics::of(&server);
    assert_eq!(metrics.of_target("iolag_target_mounted", "killable"), Some(1.0));
    assert_eq!((metrics.value(&age), metrics.of_target("iolag_target_answers", "other")), (0.0, Some(1.0)));
    let begin = metrics.of_target("iolag_outage_begin_timestamp_seconds", "killable");
    let age = metrics.of_target("iolag_outage_seconds", "killable").unwrap();
    assert!((begin.unwrap() + age - crate::stage::wall().0 as f64 / 1e9).abs() < 60.0, "{begin:?} {age}");
    assert_says(&server.get("/now").text(), &[">killable has not answered for "]);
    kill(fuse.daemon_pid(), libc::SIGCONT);
    wait_for("iolag_target_answers", 1.0);
    assert_eq!(value("iolag_outage_seconds", "killable"), Some(0.0));
    assert_eq!(value("iolag_outage_begin_timestamp_seconds", "killable"), None);

    let unmounted = std::process::Command::new("umount").arg("-l").arg(fuse.path()).status().unwrap();
    assert!(unmounted.success());
    wait_for("iolag_target_mounted", 0.0);
    assert_eq!(value("iolag_target_answers", "killable"), Some(0.0));
    assert_eq!(value("iolag_target_mounted", "other"), Some(1.0));
    assert_says(&server.get("/now").text(), &[">killable is not mounted for "]);
    let rounds = stage.wait_for_rounds(1).rounds;
    stage.wait_for_rounds(rounds + 3);
    assert_eq!(std::fs::read_dir(fuse.path()).unwrap().count(), 0, "nothing was written beneath");
    watch.signal(libc::SIGINT);
    watch.finish();
    server.stop();
    stage.scene.assert_nobody_is_left();
}

#[test]
fn between_two_rounds_of_cron_what_hangs_is_seen_too() {
    let stage = Stage::new();
    let Some(fuse) = FuseMount::start(&stage.scene.target()) else { return };
    let file = stage.configure(&format!("{QUICK}{}", target("hanging", fuse.path(), "open-read")));
    stage.watch_to(0, &["--once", "-c", &file]);
    fuse.hang_all();
    stage.watch_to(1, &["--once", "-c", &file]);
    let server = Server::start(&stage, &[]);
    server.wait_until_read();
    let age = of("iolag_probe_in_flight_seconds", "open-read", "hanging", "");
    let first = Metrics::of(&server).value(&age);
    assert!(wait_until(PATIENCE, || Metrics::of(&server).value(&age) > first + 1.0), "the age must rise");
    assert_eq!(
        (Metrics::of(&server).value("iolag_watch_up"), Metrics::of(&server).value("iolag_orphans")),
        (0.0, 1.0)
    );
    let now = server.now();
    assert_eq!(now["watch"]["state"], "ended");
    let [probe] = &now["in_flight"].as_array().unwrap()[..] else { panic!("{now:#}") };
    assert_eq!(probe["series"]["target"], "hanging");
    assert_says(&server.get("/now").text(), &["<title>(1 hung) Storage of", "id=\"in-flight\""]);
    fuse.release();
    assert!(wait_until(PATIENCE, || Metrics::of(&server).find(&age).is_none()), "it is gone");
    assert_eq!(server.now()["in_flight"], serde_json::json!([]));
    server.stop();
}

#[test]
fn a_history_that_hangs_keeps_nobody_waiting() {
    let stage = Stage::new();
    let Some(fuse) = FuseMount::start(&stage.scene.target()) else { return };
    fuse.hang_all();
    let hanging = fuse.path().join("history.sqlite").display().to_string();
    let stage = stage.with_history(hanging);
    let server = Server::start(&stage, &[]);
    let silent =
        server.wait_for("that the history is silent", |now| now["history"]["trouble"] != Value::Null);
    assert_says(silent["history"]["trouble"].as_str().unwrap(), &["has not answered for", "hangs"]);
    for path in ["/", "/now", "/now.json", "/status", "/metrics", "/healthz"] {
        let begin = Instant::now();
        assert_eq!(server.get(path).status, 200, "{path}");
        assert!(begin.elapsed() < AT_ONCE, "{path}");
    }
    let begin = Instant::now();
    assert_eq!(server.stop().code, Some(0));
    assert!(begin.elapsed() < AT_ONCE);
    drop(fuse);
    stage.scene.assert_nobody_is_left();
}

#[test]
fn a_reader_that_stands_still_takes_only_the_news_away() {
    let stage = Stage::new();
    let directory = stage.directory("watched");
    let file = stage.configure(&format!("every = \"300ms\"\n{}", target("home", directory, "stat")));
    let watch = stage.start(&["-c", &file]);
    stage.wait_for_rounds(2);
    let server = Server::start(&stage, &[]);
    server.wait_until_read();
    let readers = children(server.id());
    assert_eq!(readers.len(), 1);
    kill(readers[0], libc::SIGSTOP);
    let silent = server.wait_for("silence", |now| now["history"]["trouble"] != Value::Null);
    assert!(silent["history"]["age_ns"].as_u64().unwrap() >= 10_000_000_000, "{silent}");
    assert!(!silent["series"].as_array().unwrap().is_empty(), "what was read stays");
    let rounds = silent["watch"]["rounds"].as_u64().unwrap();
    server.wait_for("more rounds", |now| now["watch"]["rounds"].as_u64().is_some_and(|now| now > rounds));
    let status = server.get("/status").json();
    assert_says(status["history_reading"]["trouble"].as_str().unwrap(), &["has not answered for"]);
    kill(readers[0], libc::SIGCONT);
    server.wait_for("an answer", |now| now["history"]["trouble"] == Value::Null);
    watch.signal(libc::SIGINT);
    watch.finish();
    server.stop();
    stage.scene.assert_nobody_is_left();
}

#[test]
fn a_history_that_is_locked_is_said() {
    let stage = Stage::new();
    let directory = stage.directory("watched");
    let file = stage.configure(&format!("every = \"300ms\"\n{}", target("home", directory, "stat")));
    stage.watch_to(0, &["-c", &file, "--rounds", "2"]);
    let database = rusqlite::Connection::open(&stage.history).unwrap();
    database.pragma_update(None, "locking_mode", "exclusive").unwrap();
    database.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let server = Server::start(&stage, &[]);
    let locked = server.wait_for("that it is locked", |now| {
        now["history"]["trouble"]
            .as_str()
            .is_some_and(|trouble| trouble.contains("locked by another process"))
    });
    assert_eq!(locked["history"]["is_read"], false);
    database.execute_batch("ROLLBACK").unwrap();
    drop(database);
    server.wait_until_read();
    server.stop();
    stage.scene.assert_nobody_is_left();
}
