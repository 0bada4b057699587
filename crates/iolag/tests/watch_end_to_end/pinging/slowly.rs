//! `iolag ping` of a directory that is slow or full: what is told once, what counts once, and what is cleaned up.

use std::fs;
use std::time::Duration;

use iolag_fixtures::{FuseCall, FuseMount};

use super::lines::{iolag_is_gone_from, json_lines, ping};
use crate::support::{PATIENCE, Scene, assert_says, wait_until};

#[test]
fn a_first_contact_that_ctrl_c_ends_is_one_probe_from_its_beginning() {
    let scene = Scene::new();
    let Some(fuse) = FuseMount::start(&scene.target()) else { return };
    // Making the working directory passes the deadline, making a directory in it does so again, and then it hangs.
    fuse.delay(FuseCall::Mkdir, "*", Duration::from_secs(2));
    fuse.hang(FuseCall::Create, "file-0");
    let directory = fuse.path().to_str().unwrap().to_owned();
    let json = scene.path().join("lines").display().to_string();
    let running = ping(&scene, &["--every", "500ms", "--deadline", "1s", "--json", &json, &directory]);
    let is_in_it = || {
        let places = fs::read_dir(scene.target()).unwrap().flatten();
        let mut inner = places.flat_map(|place| fs::read_dir(place.path()).into_iter().flatten().flatten());
        inner.any(|entry| entry.path().is_dir()) && fuse.held() > 0
    };
    assert!(wait_until(PATIENCE, is_in_it), "{} {}", running.stdout(), running.stderr());
    running.signal(libc::SIGINT);
    let done = running.finish();
    fuse.release();
    assert_eq!(done.code, Some(1), "{done:?}");
    let told = |part: &str| done.stdout.lines().filter(|line| line.contains(part)).count();
    assert_eq!(
        told("seq=1 no answer within the deadline of 1.00 s; hung in the first contact"),
        1,
        "{done:?}"
    );
    assert_eq!(told("seq=1 no answer: the first contact has been waiting for "), 1, "{done:?}");
    assert_says(&done.stdout, &["seq=2..", " skipped while seq=1 waited"]);
    assert_says(&done.stderr, &["the run is incomplete: 1 operation had not ended\n"]);
    let text = fs::read_to_string(&json).unwrap();
    let probes = json_lines(&text, "probe");
    let numbers: Vec<_> = probes.iter().map(|probe| probe["seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>(), "each once, in order: {text}");
    let is_first: Vec<_> = probes.iter().map(|probe| probe["first_contact"] == true).collect();
    assert_eq!(is_first.iter().position(|is_first| *is_first), Some(0), "{text}");
    let due = |probe: &serde_json::Value| probe["due_ns"].as_u64().unwrap();
    let until_last = due(probes.last().unwrap()) - due(&probes[0]);
    assert!(probes[0]["duration_ns"].as_u64().unwrap() >= until_last, "from its beginning: {text}");
    let [summary] = &json_lines(&text, "summary")[..] else { panic!("{text}") };
    assert_eq!(summary["probes"]["due"], probes.len(), "{text}");
    assert_eq!(json_lines(&text, "waiting").len(), 1, "{text}");
    let stored: Vec<_> = scene.exported().into_iter().filter(|sample| sample.operation == "probe").collect();
    assert_eq!(stored.len(), probes.len(), "{stored:?}");
    assert!(stored.iter().any(|sample| sample.outcome == "hung"
        && sample.duration.as_nanos() == u128::from(probes[0]["duration_ns"].as_u64().unwrap())));
    let csv = scene.run(&["export", "last", "--format", "csv"]).stdout;
    for line in csv.lines().filter(|line| line.contains(",skipped,")) {
        assert_eq!(line.split(',').nth(12), Some(""), "what was never sent never started: {line}");
    }
}

#[test]
fn what_hangs_before_the_first_probe_is_told_once() {
    let scene = Scene::new();
    let Some(fuse) = FuseMount::start(&scene.target()) else { return };
    fuse.hang(FuseCall::Fsync, "*");
    let running = ping(&scene, &["--deadline", "1s", fuse.path().to_str().unwrap()]);
    assert!(wait_until(PATIENCE, || running.stdout().contains("; hung in ")), "{}", running.stdout());
    running.signal(libc::SIGINT);
    let done = running.finish();
    fuse.release();
    assert_says(&done.stdout, &["seq=1 no answer: the first contact has been waiting for "]);
    assert_says(&done.stderr, &["the run is incomplete: 1 operation had not ended\n"]);
    assert!(!done.stderr.contains("making the working directory"), "{}", done.stderr);
}

#[test]
fn a_slow_directory_does_not_hang_and_is_cleaned_up() {
    for (call, time_ms) in [(FuseCall::Getattr, 300), (FuseCall::Unlink, 1500)] {
        let scene = Scene::new();
        let Some(fuse) = FuseMount::start(&scene.target()) else { return };
        fuse.delay(call, "*", Duration::from_millis(time_ms));
        let directory = fuse.path().to_str().unwrap().to_owned();
        let done = ping(&scene, &["-n", "3", "--deadline", "1s", &directory]).finish();
        assert!(!done.stderr.contains("hangs"), "{}", done.stderr);
        iolag_is_gone_from(scene.target().to_str().unwrap());
    }
}

#[test]
fn a_create_that_fails_counts_once_and_nothing_is_removed_for_it() {
    let scene = Scene::new();
    let Some(fuse) = FuseMount::start(&scene.target()) else { return };
    // That of the first probe, which is sent whatever else the machine has to do.
    fuse.fail(FuseCall::Create, "file-1", libc::ENOSPC);
    let directory = fuse.path().to_str().unwrap().to_owned();
    let done = ping(&scene, &["-n", "4", "--every", "100ms", "--deadline", "1h", &directory]).finish();
    assert_eq!(done.code, Some(1), "{done:?}");
    assert_says(&done.stderr, &["1 of 4 probes ended with no space left"]);
    let samples = scene.exported();
    let failed: Vec<_> = samples.iter().filter(|sample| sample.outcome == "error").collect();
    let operations: Vec<_> = failed.iter().map(|sample| sample.operation.as_str()).collect();
    assert!(operations.len() == 2 && !operations.contains(&"delete"), "{failed:?}");
}

#[test]
fn what_looks_like_a_count_or_a_figure_and_is_none_is_refused() {
    let scene = Scene::new();
    let directory = scene.target().display().to_string();
    let refused = |arguments: &[&str], parts: &[&str]| {
        let done = ping(&scene, arguments).finish();
        assert_eq!(done.code, Some(2), "{done:?}");
        assert_says(&done.stderr, parts);
    };
    refused(&["-n", "1.5", &directory], &["a whole number such as"]);
    refused(&["--plot", "x.svg", &directory], &["join them with a =: --plot=FILE"]);
}
