//! The end of a watch by signals, and reading its configuration again.

use std::fs;
use std::time::Duration;

use iolag_model::{Outcome, SessionEnd, WatchStatus};
use iolag_watch::PublishedStatus;

use crate::remembered::assert_all_fine;
use crate::stage::{Stage, last, target};
use crate::support::{PATIENCE, assert_says, wait_until};
use crate::terminal::AtTerminal;

#[test]
fn a_watch_that_is_told_to_stop_has_remembered_everything() {
    for signal in [libc::SIGINT, libc::SIGTERM] {
        let stage = Stage::new();
        let directory = stage.directory("scratch");
        let watch = stage.start(&["--every", "60ms", "--tasks", "stat,open-read", &directory]);
        stage.wait_for_rounds(5);
        watch.signal(signal);
        let done = watch.finish();
        assert_eq!(done.code, Some(0), "{done:?}");
        stage.scene.assert_nobody_is_left();
        let PublishedStatus::Ended(status) = stage.published() else { panic!("it has ended") };
        assert_eq!((status.waiting_records, status.history_trouble), (0, None));
        let remembered = stage.remembered();
        // The last round may have been cut short.
        assert!(remembered.wholes(&directory, "stat").len() as u64 + 1 >= status.rounds, "{}", status.rounds);
        assert_eq!(remembered.sessions().last().unwrap().end, SessionEnd::Stopped);
        assert!(stage.status(3).contains("no watch is running"));
    }
}

#[test]
fn a_probe_that_is_cut_short_is_recorded_with_its_age() {
    let stage = Stage::new();
    let directory = stage.directory("scratch");
    let file = stage.configure(&format!(
        "control = false\n[task.slow]\ncommand = [\"sleep\", \"300\"]\n{}",
        target("scratch", &directory, "slow")
    ));
    let watch = stage.start(&["-c", &file]);
    stage.wait_for("a probe in flight", |status| !status.in_flight.is_empty());
    let told = stage.status(0);
    assert_says(&told, &["in flight for", "slow on scratch", "1 round begun"]);
    // Its program begins a moment after its process.
    let is_program = |process: u32| {
        fs::read_to_string(format!("/proc/{process}/cmdline")).is_ok_and(|line| line.contains("sleep\x00300"))
    };
    let runs = || stage.scene.processes().into_iter().any(|(process, _)| is_program(process));
    assert!(wait_until(PATIENCE, runs), "{:?}", stage.scene.processes());
    std::thread::sleep(Duration::from_millis(400));
    watch.signal(libc::SIGTERM);
    assert_eq!(watch.finish().code, Some(0));
    stage.scene.assert_nobody_is_left();
    let remembered = stage.remembered();
    let [cut] = remembered.wholes("scratch", "slow")[..] else { panic!() };
    assert_eq!((cut.outcome, cut.failure), (Outcome::Interrupted, iolag_model::FailureCode::NONE));
    assert!(cut.duration_ns.as_duration() >= Duration::from_millis(300), "{cut:?}");
    assert!(remembered.outages().is_empty(), "the mount has done nothing wrong");
}

#[test]
fn a_configuration_is_read_again_and_a_wrong_one_changes_nothing() {
    let stage = Stage::new();
    let directory = stage.directory("scratch");
    let head = "every = \"100ms\"\njitter = \"0\"\n";
    let file = stage.configure(&format!("{head}{}", target("scratch", &directory, "stat")));
    let mut watch = stage.start(&["-c", &file]);
    // On a busy machine the probe before may still be under way when one is due.
    let is_fine = |status: &WatchStatus, task: &str| {
        last(status, "scratch", task).is_some_and(|last| last.outcome == Outcome::Ok)
    };
    stage.wait_for("stat", |status| is_fine(status, "stat"));
    stage.configure(&format!("{head}{}", target("scratch", &directory, "open-read")));
    watch.signal(libc::SIGHUP);
    stage.wait_for("open-read", |status| is_fine(status, "open-read"));
    stage.configure(&format!("{head}evry = \"1m\"\n"));
    watch.signal(libc::SIGHUP);
    watch.wait_for("iolag.toml:3: unknown field `evry`");
    watch.wait_for("the former configuration stays");
    stage.configure(&format!(
        "{head}history = \"/elsewhere.sqlite\"\n{}",
        target("scratch", &directory, "stat")
    ));
    let begin = stage.wait_for_fine(&["scratch"], "open-read", 2).begin;
    watch.signal(libc::SIGHUP);
    // The history that was typed counts for more than the file's.
    stage.wait_for("another beginning", |status| status.begin > begin && is_fine(status, "stat"));
    watch.signal(libc::SIGINT);
    let done = watch.finish();
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(done.stdout.matches("was read again and is in use from now on").count(), 2, "{done:?}");
    let remembered = stage.remembered();
    assert_all_fine(&remembered.wholes("scratch", "open-read"), 2);
    assert_all_fine(&remembered.wholes("scratch", "stat"), 2);
    remembered.assert_nothing_is_double();
}

#[test]
fn a_stop_right_after_a_reload_is_not_lost() {
    for pause in [0, 3, 20, 60, 150, 400] {
        let stage = Stage::new();
        let directory = stage.directory("scratch");
        let file = stage.configure(&target("scratch", &directory, "stat"));
        let watch = stage.start(&["-c", &file, "--every", "1h"]);
        stage.wait_for("stat", |status| last(status, "scratch", "stat").is_some());
        watch.signal(libc::SIGHUP);
        std::thread::sleep(Duration::from_millis(pause));
        watch.signal(libc::SIGTERM);
        let done = watch.finish();
        assert_eq!(done.code, Some(0), "{pause} ms: {done:?}");
        stage.scene.assert_nobody_is_left();
    }
}

#[test]
fn a_configuration_that_changes_twice_in_a_row_is_read_twice() {
    let stage = Stage::new();
    let directory = stage.directory("scratch");
    let head = "every = \"100ms\"\njitter = \"0\"\n";
    let file = stage.configure(&format!("{head}{}", target("scratch", &directory, "stat")));
    let mut watch = stage.start(&["-c", &file]);
    stage.wait_for_rounds(1);
    for pause in [0, 5, 30, 100] {
        let begin = stage.wait_for_rounds(1).begin;
        for task in ["open-read", "write-fsync"] {
            stage.configure(&format!("{head}{}", target("scratch", &directory, task)));
            watch.signal(libc::SIGHUP);
            std::thread::sleep(Duration::from_millis(pause));
        }
        stage.wait_for("the last configuration", |status| {
            status.begin > begin && last(status, "scratch", "write-fsync").is_some()
        });
        assert!(!watch.has_ended(), "{}", watch.stderr());
    }
    watch.signal(libc::SIGINT);
    assert_eq!(watch.finish().code, Some(0));
}

#[test]
fn a_terminal_is_told_every_round_and_its_idle_watch_shows_when_it_goes_on() {
    let stage = Stage::new();
    let directory = stage.directory("scratch");
    let watch =
        AtTerminal::start(stage.watch_command(&["--every", "1h", "--tasks", "stat,open-read", &directory]));
    stage.wait_for("an idle watch", |status| status.in_flight.is_empty() && status.last.len() >= 4);
    let told = stage.status(0);
    let process = format!("(process {})", watch.id());
    assert_says(
        &told,
        &["watching on", &process, "1 round begun", "next round in", "stat on", "open-read on"],
    );
    let (text, code) = watch.end(libc::SIGINT);
    assert_eq!(code, Some(0), "{text}");
    assert_says(
        &text,
        &["round 1: ", &format!("stat on {directory} "), &format!("open-read on {directory} ")],
    );
    assert!(!text.contains("host memory"), "the control is left out: {text}");
}
