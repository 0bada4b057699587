//! `iolag bench setup` on servers of which it is known how they serve.

use std::collections::BTreeMap;
use std::time::Duration;

use iolag_fixtures::{FuseCall, FuseMount, LoopMount, SshfsMount, TmpfsMount};
use serde_json::Value;

use super::go_first;
use crate::support::{Scene, assert_says, leftovers};

/// Small: 120 stat and 20 open calls, a quarter of which look for nothing that is there.
const SMALL: [&str; 12] = [
    "--stat",
    "120",
    "--open",
    "20",
    "--miss",
    "25%",
    "--directories",
    "2",
    "--files",
    "5",
    "--file-size",
    "100",
];
const SINGLE: [&str; 8] = ["--stat", "1", "--open", "0", "--directories", "2", "--files", "5"];
const SERVED: Duration = Duration::from_millis(1);

/// What one run of so many copies says, as JSON.
fn set_up(scene: &Scene, target: &str, copies: u32, more: &[&str]) -> Value {
    let copies = copies.to_string();
    let all = [&["bench", "setup", target, "--copies", &copies, "--format", "json"], more].concat();
    let done = scene.run(&all);
    assert_eq!(done.code, Some(0), "{done:?}");
    serde_json::from_str(&done.stdout).unwrap()
}

fn median_of_copies(run: &Value) -> Duration {
    assert_eq!(run["time"]["is_at_least"], false, "{run}");
    Duration::from_nanos(run["time"]["median_ns"].as_u64().unwrap())
}

#[test]
fn what_a_copy_does_is_what_the_server_counts() {
    let scene = Scene::new();
    let Some(fuse) = FuseMount::start(&scene.target()) else { return };
    let run = set_up(&scene, fuse.path().to_str().unwrap(), 3, &SMALL);
    assert_eq!((run["calls"]["stats"].as_u64(), run["calls"]["opens"].as_u64()), (Some(360), Some(60)));
    assert_eq!(run["copies"].as_array().unwrap().len(), 3);
    // Files are created by requests of their own, so that each open is one of a copy; so is each read of a file.
    assert_eq!(fuse.requests(Some(FuseCall::Open), "file-*"), 3 * 15);
    let errors: BTreeMap<String, u64> = run["stages"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|stage| stage["rows"].as_array().unwrap())
        .map(|row| {
            (
                row["summary"]["operation"].to_string(),
                row["summary"]["errors"].as_array().unwrap().len() as u64,
            )
        })
        .collect();
    assert!(errors.values().all(|count| *count == 0), "what is to be absent is no error: {errors:?}");
    assert_eq!(leftovers(&scene.target()).len(), 0);
    scene.assert_nobody_is_left();
}

#[test]
fn copies_that_one_server_serves_one_at_a_time_take_a_straight_line() {
    go_first();
    let scene = Scene::new();
    let Some(fuse) = FuseMount::start(&scene.target()) else { return };
    let target = fuse.path().to_str().unwrap();
    let asked_by = |options: &[&str], copies| {
        let before = fuse.requests(None, "*");
        let run = set_up(&scene, target, copies, options);
        (run, (fuse.requests(None, "*") - before) as f64)
    };
    // What each copy asks besides its calls, when its session is opened, and for a single call.
    let besides = asked_by(&SINGLE, 2).1 - asked_by(&SINGLE, 1).1;
    fuse.serve_one_at_a_time(SERVED);
    let (mut times, mut counts) = (Vec::new(), Vec::new());
    for (copies, runs) in [(1, 3), (2, 2), (4, 1)] {
        let mut shortest = Duration::MAX;
        // What the machine adds only makes it longer, and one copy waits for each of its own wakings.
        for _ in 0..runs {
            let (run, asked) = asked_by(&SMALL, copies);
            let all_done = Duration::from_nanos(run["stages"][1]["phase_time_ns"].as_u64().unwrap());
            shortest = shortest.min(all_done);
            let median = median_of_copies(&run);
            assert!(
                median.as_secs_f64() > 0.9 * all_done.as_secs_f64(),
                "nobody is served before the others"
            );
            counts.push((f64::from(copies), asked));
        }
        times.push((f64::from(copies), shortest.as_secs_f64()));
    }
    let requests = slope(&counts) - besides;
    assert!(requests > 140.0, "each call is a request at least: {requests}");
    let ratio = slope(&times) / (requests * SERVED.as_secs_f64());
    assert!((1.0..=1.15).contains(&ratio), "{ratio}: {times:?}, {counts:?}, {besides} besides");
}

#[test]
fn copies_that_wait_for_nobody_take_as_long_together_as_alone() {
    go_first();
    let scene = Scene::new();
    let target = format!("delayed:1ms:{}", scene.target().display());
    let few = ["--stat", "200", "--open", "20", "--directories", "1", "--files", "5"];
    let times: Vec<(f64, f64)> = [1, 4]
        .map(|copies| {
            let took = median_of_copies(&set_up(&scene, &target, copies, &few));
            (f64::from(copies), took.as_secs_f64())
        })
        .to_vec();
    let share = slope(&times) / times[0].1;
    assert!(share.abs() < 0.1, "a further copy takes {share} of the time of one: {times:?}");
}

#[test]
fn four_file_systems_are_four_curves_of_the_same_calls() {
    let scene = Scene::new();
    let Some(ext4) = LoopMount::ext4(32) else { return };
    let Some(tmpfs) = TmpfsMount::new(32 << 20) else { return };
    let Some(sshfs) = SshfsMount::start() else { return };
    let Some(fuse) = FuseMount::start(&scene.target()) else { return };
    let targets = [ext4.path(), tmpfs.path(), sshfs.path(), fuse.path()].map(|path| path.to_str().unwrap());
    let bench = [&["bench", "setup"], &targets[..], &["--copies", "1,2", "--format", "json", "-q"], &SMALL];
    let done = scene.run(&bench.concat());
    assert_eq!(done.code, Some(0), "{done:?}");
    let runs: Value = serde_json::from_str(&done.stdout).unwrap();
    let (runs, together): (Vec<&Value>, Vec<&Value>) =
        runs.as_array().unwrap().iter().partition(|document| document["kind"] == "setup");
    assert_eq!((runs.len(), together.len()), (8, 1));
    assert_eq!(together[0]["targets"].as_array().unwrap().len(), 4);
    for run in runs {
        let copies = run["copies"].as_array().unwrap().len() as u64;
        assert_eq!(run["calls"]["stats"].as_u64(), Some(120 * copies), "{run}");
        assert_eq!(run["calls"]["opens"].as_u64(), Some(20 * copies), "{run}");
    }
    let figure = scene.path().join("copies.svg");
    let drawn = scene.run(&["plot", "--figure", "002-3", "last", "-o", figure.to_str().unwrap()]);
    assert_eq!(drawn.code, Some(0), "{drawn:?}");
    assert_says(&std::fs::read_to_string(figure).unwrap(), &targets);
}

#[test]
fn a_copy_is_ended_at_its_time_and_judged_afterwards_as_before() {
    let scene = Scene::new();
    let target = format!("delayed:2ms:{}", scene.target().display());
    let few = ["--stat", "500", "--open", "1", "--directories", "1", "--files", "2"];
    let limits = ["--kill-after", "300ms", "--judge", "200ms"];
    let start = ["bench", "setup", &target, "--copies", "2", "--format", "json"];
    let done = scene.run(&[&start[..], &few, &limits].concat());
    assert_eq!(done.code, Some(4), "a copy that was ended has not done what it was to do: {done:?}");
    let run: Value = serde_json::from_str(&done.stdout).unwrap();
    for copy in run["copies"].as_array().unwrap() {
        assert_eq!(
            (copy["ending"].as_str(), copy["time_ns"].as_u64()),
            (Some("timed-out"), Some(300_000_000))
        );
    }
    assert_eq!((run["judgement"]["over"].as_u64(), run["judgement"]["copies"].as_u64()), (Some(2), Some(2)));
    let shown = scene.run(&["show", "last", "--judge", "10s"]);
    assert_says(&shown.stdout, &["None of 2 copies took longer than 10s", "of 2 it is not known"]);
    let exported = scene.exported();
    let cut: Vec<_> = exported.iter().filter(|sample| sample.outcome == "timeout").collect();
    assert_eq!(cut.len(), 2);
    assert!(
        cut.iter().all(|sample| sample.operation == "stage" && sample.duration == Duration::from_millis(300))
    );
}

#[test]
fn a_target_that_cannot_be_written_ends_all_copies_with_one_sentence() {
    let scene = Scene::new();
    let target = scene.target().join("absent");
    let done = scene.run(&["bench", "setup", target.to_str().unwrap(), "--copies", "3"]);
    assert_eq!(done.code, Some(3), "{done:?}");
    let refused = scene.run(&["bench", "setup", "memory:", "--copies", "2"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert_says(&refused.stderr, &["memory: is of one process only", "--copies 1"]);
}

/// Of the line of least squares.
fn slope(points: &[(f64, f64)]) -> f64 {
    let count = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |(x, y), point| (x + point.0 / count, y + point.1 / count));
    let (over, under) = points.iter().fold((0.0, 0.0), |(over, under), point| {
        (over + (point.0 - x) * (point.1 - y), under + (point.0 - x).powi(2))
    });
    over / under
}
