//! Bystanders of a load where it is known what only they feel, and where.

use std::time::Duration;

use iolag_fixtures::{FuseCall, FuseMount};
use serde_json::Value;

use crate::support::{Running, Scene, assert_says, leftovers, wait_for};

/// The file of the load, which only it and who looks at it ask for.
const FILE: &str = "file-0";

/// A write of some seconds, beside which others look.
fn begin(scene: &Scene, fuse: &FuseMount, more: &[&str]) -> Running {
    fuse.delay(FuseCall::Write, FILE, Duration::from_millis(20));
    let path = fuse.path().to_str().unwrap();
    let words = ["bench", "stream", path, "-s", "16MiB", "-b", "64KiB", "--phases", "write"];
    scene.start(&[&words, more].concat())
}

fn felt<'a>(run: &'a Value, standpoint: &str, operation: &str) -> &'a Value {
    let rows = run["beside"]["rows"].as_array().unwrap();
    let row = rows.iter().find(|row| row["standpoint"] == standpoint && row["operation"] == operation);
    let row = row.unwrap_or_else(|| panic!("{operation} in {standpoint}: {:#}", run["beside"]));
    // Before, during the write, after.
    &row["felt"][1]["summary"]
}

fn median_ns(summary: &Value) -> u64 {
    let median = &summary["durations"]["median"]["value"]["exactly_ns"];
    median.as_u64().unwrap_or_else(|| panic!("{summary:#}"))
}

#[test]
fn who_looks_at_a_file_that_grows_waits_and_nobody_else_does() {
    let scene = Scene::new();
    let Some(fuse) = FuseMount::start(&scene.target()) else { return };
    let delay = Duration::from_secs(2);
    fuse.delay(FuseCall::Getattr, FILE, delay);
    let options = [
        "--bystander",
        "stat,list",
        "--bystander-rate",
        "5/s",
        "--bystander-quiet",
        "2s",
        "--format",
        "json",
        "-q",
    ];
    let done = begin(&scene, &fuse, &options).finish();
    assert_eq!(done.code, Some(0), "{done:?}");
    let run: Value = serde_json::from_str(&done.stdout).unwrap();
    let delay_ns = delay.as_nanos() as u64;
    for (standpoint, operation) in [("file", "stat"), ("directory", "list+stat")] {
        let summary = felt(&run, standpoint, operation);
        assert!(median_ns(summary) >= delay_ns, "{standpoint}: {summary:#}");
        assert!(summary["skipped"].as_u64().unwrap() > 0, "what was due meanwhile would have waited, too");
    }
    for (standpoint, operation) in [
        ("directory", "stat"),
        ("sibling", "stat"),
        ("sibling", "list+stat"),
        ("control", "stat"),
        ("control", "list+stat"),
    ] {
        let summary = felt(&run, standpoint, operation);
        assert!(median_ns(summary) < delay_ns, "{standpoint}: {summary:#}");
    }
    assert_eq!(run["beside"]["target_per_second"], 25.0, "five rows, each five times a second");
    assert_eq!(leftovers(&scene.target()), [""; 0]);
    scene.assert_nobody_is_left();
}

#[test]
fn a_hang_that_only_bystanders_feel_is_told_and_holds_up_nobody_else() {
    let scene = Scene::new();
    let Some(fuse) = FuseMount::start(&scene.target()) else { return };
    let options = ["--bystander", "stat", "--bystander-quiet", "1s", "--deadline", "2s"];
    let run = begin(&scene, &fuse, &options);
    // The load has made its file: from now on it only writes.
    wait_for("a block", || (fuse.requests(Some(FuseCall::Write), FILE) > 0).then_some(()));
    fuse.hang(FuseCall::Getattr, FILE);
    let done = run.finish();
    assert_eq!(done.code, Some(4), "{done:?}");
    let id = done.stdout.split_whitespace().nth(1).unwrap();
    let text = done.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_says(
        &text,
        &[
            "While 16.0 MiB were written, stat of its file hung once, for ≥",
            "was not shown to take longer",
            "state complete",
        ],
    );
    let run = scene.run(&["show", id, "--format", "json", "-q"]);
    let run: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(felt(&run, "file", "stat")["hung"], 1);
    assert_eq!(felt(&run, "directory", "stat")["hung"], 0);
    fuse.release();
}
