//! Streams where it is known how fast they are, how long something takes, and when the storage is full.

use std::time::Duration;

use iolag_fixtures::{DiskFormat, FuseCall, FuseMount, LoopMount, Throttle, TmpfsMount};
use serde_json::Value;

use super::go_first;
use crate::support::{Finished, Running, Scene, leftovers};

fn phase<'a>(run: &'a Value, name: &str) -> &'a Value {
    let phases = run["phases"].as_array().unwrap();
    phases.iter().find(|phase| phase["phase"] == name).unwrap_or_else(|| panic!("{name}: {run:#}"))
}

fn document(done: &Finished) -> Value {
    assert_eq!(done.code, Some(0), "{done:?}");
    serde_json::from_str(&done.stdout).unwrap()
}

/// What the controller lets through: a run that got less was held up by something else, and is made again. So long that what passes at once,
/// before it has counted, is little of it.
fn bytes_per_second(scene: &Scene, mount: &LoopMount, throttle: &Throttle, cap: u64) -> [f64; 2] {
    throttle.cap(cap).unwrap();
    let (target, size) = (mount.path().to_str().unwrap(), (2 * cap).to_string());
    let words = [
        "bench", "stream", target, "-s", &size, "--io", "direct", "--fsync", "never", "--format", "json",
        "-q",
    ];
    let mut highest = [0.0_f64; 2];
    for _ in 0..6 {
        let mut command = scene.command(&words);
        throttle.hold(&mut command).unwrap();
        let run = document(&Running::start(command).finish());
        for (best, name) in highest.iter_mut().zip(["write", "read"]) {
            *best = best.max(phase(&run, name)["bytes_per_second"].as_f64().unwrap());
        }
        if highest.iter().all(|best| *best >= cap as f64) {
            break;
        }
    }
    highest
}

#[test]
fn a_device_that_gives_twice_as_much_is_twice_as_fast() {
    go_first();
    let scene = Scene::new();
    let Some(mount) = LoopMount::ext4(120) else { return };
    let Some(throttle) = Throttle::new(mount.path()) else { return };
    let slow = bytes_per_second(&scene, &mount, &throttle, 20 << 20);
    let fast = bytes_per_second(&scene, &mount, &throttle, 40 << 20);
    for (slow, fast) in slow.into_iter().zip(fast) {
        let factor = fast / slow;
        assert!((1.9..=2.1).contains(&factor), "{slow} and {fast} bytes per second: {factor}");
    }
    scene.assert_nobody_is_left();
}

#[test]
fn what_an_fsync_takes_is_in_the_time_of_the_write_and_not_in_its_blocks() {
    let scene = Scene::new();
    let Some(fuse) = FuseMount::start(&scene.target()) else { return };
    let delay = Duration::from_millis(300);
    fuse.delay(FuseCall::Fsync, "file-*", delay);
    let words = [
        "bench",
        "stream",
        fuse.path().to_str().unwrap(),
        "-s",
        "1MiB",
        "-b",
        "256KiB",
        "--format",
        "json",
        "-q",
    ];
    let run = document(&scene.run(&words));
    let delay_ns = delay.as_nanos() as u64;
    assert!(phase(&run, "write")["time_ns"].as_u64().unwrap() >= delay_ns);
    let rows = run["stages"][1]["rows"].as_array().unwrap();
    let shortest = |operation: &str| {
        let row = rows.iter().find(|row| row["summary"]["operation"] == operation).unwrap();
        row["summary"]["durations"]["min"]["exactly_ns"].as_u64().unwrap()
    };
    assert!(shortest("stream.fsync") >= delay_ns);
    assert!(shortest("stream.write") < delay_ns);
    assert_eq!(leftovers(&scene.target()).len(), 0);
}

#[test]
fn a_storage_that_is_full_in_the_middle_of_a_write_is_told_and_left_empty() {
    let scene = Scene::new();
    let Some(mount) = TmpfsMount::new(16 << 20) else { return };
    let target = mount.path().to_str().unwrap();
    // Somebody else fills it after there was room, before the first block.
    let filler = mount.path().join("somebody-else");
    let fill = format!("head -c 12M /dev/zero > {}", filler.display());
    let words = [
        "bench",
        "stream",
        target,
        "-s",
        "8MiB",
        "-b",
        "1MiB",
        "--caches",
        "cold",
        "--drop-command",
        &fill,
        "-q",
    ];
    let done = scene.run(&words);
    assert_eq!(done.code, Some(4), "{done:?}");
    assert!(done.stdout.contains("client 0 broke off write after "), "{done:?}");
    assert!(done.stdout.contains(" of 8.00 MiB: stream.write failed: "), "{done:?}");
    std::fs::remove_file(filler).unwrap();
    assert_eq!(leftovers(mount.path()).len(), 0);
    // Now there is room, and not enough for two of them: that is known before anything is written.
    let refused = scene.run(&["bench", "stream", target, "-s", "9MiB", "-n", "2"]);
    assert_eq!(refused.code, Some(3), "{refused:?}");
    assert!(refused.stderr.contains("reduce --file-size or --clients"), "{refused:?}");
}

#[test]
fn a_copy_that_shares_its_blocks_with_the_file_is_called_a_clone() {
    let scene = Scene::new();
    let Some(mount) = LoopMount::new(DiskFormat::Btrfs, 192) else { return };
    let target = mount.path().to_str().unwrap();
    let copied = |with: &str| {
        let words = ["bench", "stream", target, "-s", "8MiB", "--phases", "write,copy", "--copy-with", with];
        document(&scene.run(&[words.as_slice(), &["--verify", "--format", "json", "-q"]].concat()))
    };
    for (with, shared_bytes) in [("loop", 0), ("copy_file_range", 8 << 20), ("cp", 8 << 20)] {
        let run = copied(with);
        assert_eq!(run["copies"]["shared_bytes"], shared_bytes, "{with}: {run:#}");
        let doubts = run["trust"].as_array().unwrap().iter();
        let clones = doubts.filter(|one| one["doubt"].as_str().unwrap().starts_with("the copy is a clone"));
        assert_eq!(clones.count(), usize::from(shared_bytes > 0), "{with}: {run:#}");
        assert_eq!(leftovers(mount.path()).len(), 0);
    }
}

#[test]
fn a_copy_for_which_there_is_no_room_is_refused_before_the_first_byte() {
    let scene = Scene::new();
    let Some(mount) = TmpfsMount::new(16 << 20) else { return };
    let target = mount.path().to_str().unwrap();
    let refused = scene.run(&["bench", "stream", target, "-s", "9MiB", "--phases", "write,copy"]);
    assert_eq!(refused.code, Some(3), "{refused:?}");
    assert!(refused.stderr.contains("the working set needs 18.0 MiB"), "{refused:?}");
    // Nobody knows whether a copy is a clone in a file system of memory, where there are none: that is no news.
    let done =
        scene.run(&["bench", "stream", target, "-s", "4MiB", "--phases", "copy", "--copy-with", "cp", "-q"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(!done.stdout.contains("clone"), "{done:?}");
    assert_eq!(leftovers(mount.path()).len(), 0);
}

#[test]
fn between_file_systems_the_fallback_is_named_and_each_needs_room_for_its_own_only() {
    let scene = Scene::new();
    let (Some(ext4), Some(tmpfs)) = (LoopMount::ext4(24), TmpfsMount::new(12 << 20)) else { return };
    let (from, to) = (ext4.path().to_str().unwrap(), tmpfs.path().to_str().unwrap());
    let words = ["bench", "stream", from, to, "-s", "8MiB", "--phases", "write,copy", "--verify"];
    let done = scene.run(&[words.as_slice(), &["--copy-with", "copy_file_range", "-q"]].concat());
    // Of the tmpfs with itself there is no room for both.
    assert_eq!(done.code, Some(3), "{done:?}");
    assert!(done.stderr.contains("the working set needs 16.0 MiB"), "{done:?}");
    let told = done.stdout.replace("\n      ", " ");
    let fallback = "reading and writing (loop) did the work of copy_file_range";
    assert_eq!(told.matches(fallback).count(), 2, "{done:?}");
    assert!(!told.contains("lie on one file system"), "{done:?}");
    assert_eq!((leftovers(ext4.path()).len(), leftovers(tmpfs.path()).len()), (0, 0));
}

/// The run from one target to another.
fn between(scene: &Scene, from: &str, to: &str) -> String {
    let runs = std::fs::read_dir(scene.store().join("runs")).unwrap();
    let mut records = runs.filter_map(|run| {
        let text = std::fs::read_to_string(run.ok()?.path().join("run.json")).ok()?;
        serde_json::from_str::<Value>(&text).ok()
    });
    let run = records.find(|record| record["spec"]["targets"] == serde_json::json!([from, to])).unwrap();
    run["id"].as_str().unwrap().to_owned()
}

/// What the page of a run says.
fn page(scene: &Scene, run: &str) -> String {
    let page = scene.path().join("page.html");
    let made = scene.run(&["report", run, "-o", page.to_str().unwrap()]);
    assert_eq!(made.code, Some(0), "{made:?}");
    std::fs::read_to_string(page).unwrap()
}

#[test]
fn what_fails_of_a_copy_is_told_of_the_target_in_which_it_is_made() {
    let scene = Scene::new();
    let (Some(tmpfs), Some(fuse)) = (TmpfsMount::new(16 << 20), FuseMount::start(&scene.target())) else {
        return;
    };
    // The files are file-0, their copies file-1.
    fuse.fail(FuseCall::Create, "file-1", libc::EIO);
    let (from, to) = (tmpfs.path().to_str().unwrap(), fuse.path().to_str().unwrap());
    let done = scene.run(&["bench", "stream", from, to, "-s", "1MiB", "--phases", "write,copy", "-q"]);
    assert_eq!(done.code, Some(4), "{done:?}");
    let told = done.stdout.replace("\n  ", " ");
    assert!(told.contains(&format!("0 B of 1.00 MiB: stream.create in {to} failed: ")), "{done:?}");
    let run = between(&scene, from, to);
    let document: Value =
        serde_json::from_str(&scene.run(&["show", &run, "--format", "json"]).stdout).unwrap();
    let sentences = document["findings"].as_array().unwrap().iter().map(|one| one["sentence"].as_str());
    let expected = format!("copy 1 in {to}: 1 of 1 `stream.create` failed");
    assert!(sentences.flatten().any(|told| told.starts_with(&expected)), "{document:#}");
    let rows = document["stages"][2]["rows"].as_array().unwrap();
    for (operation, place) in [("stream.open", from), ("stream.create", to), ("stream.close", from)] {
        let row = rows.iter().find(|row| row["summary"]["operation"] == operation).unwrap();
        assert_eq!(row["place"], place, "{operation}");
    }
    let csv = scene.run(&["show", &run, "--format", "csv"]).stdout;
    let is_told = |line: &str| line.contains(&format!(",{to},measured,2,copy,0,,stream.create,"));
    assert!(csv.lines().any(is_told), "{csv}");
    let page = page(&scene, &run);
    assert!(page.contains(&format!("stream.create on {to} failed")), "{done:?}");
    assert!(!page.contains(&format!("stream.create on {from} failed")));
}

#[test]
fn what_hangs_of_a_copy_is_told_of_the_target_in_which_it_is_made() {
    let scene = Scene::new();
    let (Some(tmpfs), Some(fuse)) = (TmpfsMount::new(16 << 20), FuseMount::start(&scene.target())) else {
        return;
    };
    fuse.hang(FuseCall::Create, "file-1");
    let (from, to) = (tmpfs.path().to_str().unwrap(), fuse.path().to_str().unwrap());
    let words =
        ["bench", "stream", from, to, "-s", "1MiB", "--phases", "write,copy", "--order", "sequential"];
    let mut run = scene.start(&[words.as_slice(), &["--deadline", "1s"]].concat());
    run.wait_for(&format!("client 0 in {to} hangs: stream.create has not answered"));
    fuse.release();
    let done = run.finish();
    assert_eq!(done.code, Some(4), "{done:?}");
    assert!(!done.stderr.contains(&format!("client 0 in {from} hangs")), "{done:?}");
    let told = done.stdout.replace("\n  ", " ") + &done.stderr;
    assert!(told.contains(&format!("{to} did not answer for longer than the deadline")), "{done:?}");
    let page = page(&scene, &between(&scene, from, to));
    // At least so long, or, if it was let go before its measurer was ended, so long.
    assert!(page.contains(&format!("stream.create on {to} took ")), "{done:?}");
}
