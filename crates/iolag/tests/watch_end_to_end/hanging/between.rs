//! Between two rounds of cron nobody watches: what is said then of a probe that was left behind.

use iolag_fixtures::FuseMount;
use serde_json::Value;

use super::hangs::hanging_and_other;
use crate::stage::Stage;
use crate::support::assert_says;

fn in_flight(stage: &Stage) -> Vec<Value> {
    let done = stage.watch_to(3, &["--status", "--json", "-"]);
    let status: Value = serde_json::from_str(&done.stdout).unwrap();
    status["in_flight"].as_array().unwrap().clone()
}

#[test]
fn a_probe_that_was_left_behind_grows_older_only_as_long_as_it_is_there() {
    let stage = Stage::new();
    let Some(fuse) = FuseMount::start(&stage.scene.target()) else { return };
    let other = stage.directory("other");
    let file = stage.configure(&hanging_and_other(fuse.path(), &other));
    let once = ["--once", "-c", &file];
    stage.watch_to(0, &once);
    fuse.hang_all();
    stage.watch_to(1, &once);
    let process = in_flight(&stage)[0]["process"].as_u64().unwrap();
    assert_says(
        &stage.status(3),
        &["no watch is running", "HUNG for", "open-read on hanging", &format!("process {process}")],
    );
    fuse.release();
    stage.wait_for_those_left_behind();
    let told = stage.status(3);
    let gone =
        format!("open-read on hanging (process {process}) had not ended when that watch did, and is gone");
    assert_says(&told, &["no watch is running", &gone]);
    assert!(!told.contains("HUNG"), "{told}");
    assert_eq!(in_flight(&stage), Vec::<Value>::new());
}
