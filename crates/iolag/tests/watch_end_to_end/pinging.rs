//! `iolag ping`: a line for every probe, a summary at the end, and nothing left behind.

use std::fs;

use iolag_fixtures::FuseMount;

use crate::stage::assert_refused;
use crate::support::{Finished, PATIENCE, Running, Scene, assert_says, wait_until};

fn ping(scene: &Scene, arguments: &[&str]) -> Running {
    let mut all = vec!["ping"];
    all.extend(arguments);
    Running::start(scene.command(&all))
}

fn lines<'a>(done: &'a Finished, start: &str) -> Vec<&'a str> {
    done.stdout.lines().filter(|line| line.starts_with(start)).collect()
}

#[test]
fn every_probe_is_a_line_and_the_end_is_a_summary() {
    let scene = Scene::new();
    let directory = scene.target().display().to_string();
    for task in ["list", "stat", "create", "open-read", "write-fsync"] {
        let done = ping(&scene, &["-n", "4", "--every", "250ms", "--task", task, &directory]).finish();
        assert_eq!(done.code, Some(0), "{done:?}");
        let start = format!("{task} on {directory}: seq=");
        let told = lines(&done, &start);
        assert_eq!(told.len(), 4, "{done:?}");
        for (number, line) in told.iter().enumerate() {
            // On a busy machine one may be under way when the next is due.
            let expected = ["time=", "skipped: "].map(|what| format!("{start}{} {what}", number + 1));
            assert!(expected.iter().any(|expected| line.starts_with(expected)), "{line}");
        }
        assert!(told.iter().any(|line| line.contains(" time=")), "{told:?}");
        assert_says(
            &done.stdout,
            &[&format!("--- {task} on {directory} ---"), "4 probes", "median", "max", "over 100 ms"],
        );
        assert_eq!(done.stderr, "");
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 0, "nothing is left");
    }
    scene.assert_nobody_is_left();
}

#[test]
fn ctrl_c_ends_with_a_summary_and_a_clean_directory() {
    for signal in [libc::SIGINT, libc::SIGTERM] {
        let scene = Scene::new();
        let directory = scene.target().display().to_string();
        let running = ping(&scene, &["--every", "60ms", &directory]);
        assert!(wait_until(PATIENCE, || running.stdout().contains("seq=3 ")), "{}", running.stdout());
        running.signal(signal);
        let done = running.finish();
        assert_eq!(done.code, Some(0), "{done:?}");
        assert_says(&done.stdout, &["--- list on", " probes", "median"]);
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 0, "nothing is left");
        scene.assert_nobody_is_left();
    }
}

#[test]
fn a_directory_that_hangs_is_told_while_it_does_and_when_it_answers() {
    let scene = Scene::new();
    let Some(fuse) = FuseMount::start(&scene.target()) else { return };
    let directory = fuse.path().to_str().unwrap().to_owned();
    let running = ping(&scene, &["--every", "100ms", "--deadline", "6s", "--task", "open-read", &directory]);
    assert!(wait_until(PATIENCE, || running.stdout().contains("seq=2 ")), "{}", running.stdout());
    fuse.hang_all();
    let said = |text: &str| {
        let has_come = wait_until(PATIENCE, || running.stdout().contains(text));
        assert!(has_come, "{text:?} is missing in: {}", running.stdout());
    };
    said("no answer for 2.00 s (process ");
    said("hung for ");
    said("skipped: an earlier probe has not ended");
    fuse.release();
    said("late, time=");
    running.signal(libc::SIGINT);
    let done = running.finish();
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_says(&done.stdout, &[" skipped", "1 late"]);
    let told = |what: &str| {
        let number =
            done.stdout.lines().find(|line| line.contains(what)).and_then(|line| line.split("seq=").nth(1));
        number.and_then(|rest| rest.split(' ').next()).unwrap_or_default().to_owned()
    };
    assert_eq!(told("hung for "), told("late, time="), "it is one probe: {}", done.stdout);
    assert_eq!(fs::read_dir(scene.target()).unwrap().count(), 0, "nothing is left");
    scene.assert_nobody_is_left();
}

#[test]
fn a_directory_that_still_hangs_at_the_end_is_said_to_hold_what_was_made() {
    let scene = Scene::new();
    let Some(fuse) = FuseMount::start(&scene.target()) else { return };
    let directory = fuse.path().to_str().unwrap().to_owned();
    let options = ["--every", "100ms", "--deadline", "4s", "--task", "open-read", &directory];
    let running = ping(&scene, &options);
    assert!(wait_until(PATIENCE, || running.stdout().contains("seq=2 ")), "{}", running.stdout());
    fuse.hang_all();
    assert!(wait_until(PATIENCE, || running.stdout().contains("hung for ")), "{}", running.stdout());
    running.signal(libc::SIGINT);
    let done = running.finish();
    assert_eq!(done.code, Some(1), "{done:?}");
    assert_says(&done.stdout, &["--- open-read on"]);
    assert_says(&done.stderr, &["may still be there", "remove that directory when it answers again"]);
    fuse.release();
    scene.assert_nobody_is_left();
    let named = done.stderr.lines().find_map(|line| line.strip_prefix("iolag: ")?.split(" may still").next());
    fs::remove_dir_all(named.unwrap()).unwrap();
    assert_eq!(fs::read_dir(scene.target()).unwrap().count(), 0, "it was the only one");
}

#[test]
fn what_cannot_be_pinged_is_refused() {
    let scene = Scene::new();
    let directory = scene.target().display().to_string();
    let refused = |arguments: &[&str], code, parts: &[&str]| {
        assert_refused(&ping(&scene, arguments).finish(), code, parts);
    };
    refused(&["--task", "lst", &directory], 2, &["there is no task \"lst\"", "expected one of compile"]);
    let gone = scene.path().join("gone").display().to_string();
    refused(&[&gone], 3, &[&gone, "does not exist"]);
    refused(&["--json", "x", &directory], 2, &["--json"]);
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 0);
}
