//! `iolag replay --caches`.

use std::fs;

use crate::replay::{SMALL, in_a_line, trace_of};
use crate::support::{Scene, assert_says};

#[test]
fn on_memory_nothing_can_be_dropped() {
    let scene = Scene::new();
    let Ok(memory) = tempfile::tempdir_in("/dev/shm") else { return };
    let trace = trace_of(&scene, SMALL);
    fs::write(memory.path().join("a"), "12345").unwrap();
    let map = format!("/site={}", memory.path().display());
    let done = scene.run(&["replay", &trace, "--map", &map, "--caches", "cold"]);
    assert_says(
        &in_a_line(&done.stdout),
        &["is a tmpfs, which is memory itself: nothing of it can be dropped"],
    );
}

#[test]
fn caches_are_dropped_and_no_call_is_made_in_their_place() {
    let scene = Scene::new();
    let trace = trace_of(&scene, SMALL);
    fs::write(scene.target().join("a"), "12345").unwrap();
    let map = format!("/site={}", scene.target().display());
    let dropped = scene.path().join("dropped");
    let command = format!("touch {}", dropped.display());
    let done = scene.run(&["replay", &trace, "--map", &map, "--caches", "cold", "--drop-command", &command]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(dropped.exists(), "{done:?}");
    assert_says(&in_a_line(&done.stdout), &["All 6 calls came back as they did then.", "caches dropped in"]);
}
