//! `iolag check` where one of several file systems does not answer.

use std::fs;
use std::time::Duration;

use iolag_fixtures::{FuseCall, FuseMount, LoopMount, TmpfsMount};

use crate::support::{Scene, assert_says, leftovers};

/// The deadline is longer than what answers takes on a busy machine. Deadline, budget, clean-up and graces together take about 20 s; one
/// that waits for what hangs waits longer than any test.
const QUICK: [&str; 4] = ["--deadline", "4s", "--budget", "10s"];

fn check<'a>(directories: &[&'a str]) -> Vec<&'a str> {
    [&["check"], directories, QUICK.as_slice()].concat()
}

#[test]
fn a_directory_that_never_answers_stops_neither_the_others_nor_the_program() {
    let scene = Scene::new();
    let Some(fuse) = FuseMount::start(&scene.target()) else { return };
    let Some(tmpfs) = TmpfsMount::new(64 << 20) else { return };
    let Some(ext4) = LoopMount::ext4(64) else { return };
    let [hung, memory, disk] =
        [fuse.path(), tmpfs.path(), ext4.path()].map(|path| path.to_str().unwrap().to_owned());
    fuse.hang_all();
    let done = scene.run(&check(&[&memory, &hung, &disk]));
    assert_eq!(done.code, Some(4), "{done:?}");
    assert_says(&done.stdout, &[&hung, "not answer", &memory, &disk, "ls -l", "fsync"]);
    for healthy in [tmpfs.path(), ext4.path()] {
        assert_eq!(leftovers(healthy), Vec::<String>::new());
    }
    let samples = scene.exported();
    assert!(samples.iter().any(|sample| sample.operation == "read" && sample.outcome == "ok"));
    fuse.release();
    scene.assert_nobody_is_left();
}

#[test]
fn only_a_directory_that_never_answers_is_told_as_such() {
    let scene = Scene::new();
    let Some(fuse) = FuseMount::start(&scene.target()) else { return };
    fuse.hang_all();
    let hung = fuse.path().to_str().unwrap().to_owned();
    let done = scene.run(&check(&[&hung]));
    assert_eq!(done.code, Some(4), "{done:?}");
    assert_says(&done.stderr, &[&hung, "does not answer"]);
    fuse.release();
    scene.assert_nobody_is_left();
}

#[test]
fn a_directory_that_begins_to_hang_is_left_behind_with_evidence_and_cleaned_up_later() {
    let scene = Scene::new();
    let Some(fuse) = FuseMount::start(&scene.target()) else { return };
    let Some(tmpfs) = TmpfsMount::new(64 << 20) else { return };
    let [hung, healthy] = [fuse.path(), tmpfs.path()].map(|path| path.to_str().unwrap().to_owned());
    // Still under way when somebody who is slow lets it hang.
    let mut running = scene.start(&["check", &hung, &healthy, "--deadline", "4s", "--budget", "10s"]);
    running.wait_for("the run is kept");
    // Samples come as soon as the working directory is there.
    crate::support::wait_for("working directory", || fs::read_dir(scene.target()).unwrap().flatten().next());
    std::thread::sleep(Duration::from_millis(700));
    fuse.hang_all();
    let done = running.finish();
    assert_eq!(done.code, Some(4), "{done:?}");
    assert_says(&done.stderr, &["hangs:", "cannot be ended", "iolag cleanup 2"]);
    assert_says(&done.stdout, &[&hung, &healthy, "ls -l"]);
    assert_eq!(leftovers(tmpfs.path()), Vec::<String>::new());
    assert_eq!(leftovers(&scene.target()).len(), 1, "the hung one cannot have been cleaned up");

    assert_says(&done.stdout, &["stopped answering at", "did not answer again"]);

    let samples = scene.exported();
    assert!(samples.iter().any(|sample| sample.outcome == "hung"), "the hung attempt is not on record");
    let shown = scene.run(&["show", "last"]);
    assert_says(&shown.stdout, &["incomplete", "stopped answering at", "did not answer again"]);
    let left = format!("{hung} did not answer for longer than the deadline of 4.00 s and was left behind");
    assert_eq!(shown.stdout.matches(&left).count(), 1, "{}", shown.stdout);
    // The bar is there whatever is drawn.
    let drawn = scene.run(&["show", "last", "--plot"]);
    assert_says(&drawn.stdout, &["■ Bars: `", "hung from", "■■"]);
    let evidence = evidence(&scene);
    assert!(evidence.contains("waits in"), "where the hung operation waited is not on record: {evidence:?}");

    fuse.release();
    let cleaned = scene.run(&["cleanup", "last"]);
    assert_eq!(cleaned.code, Some(0), "{cleaned:?}");
    assert_eq!(leftovers(&scene.target()), Vec::<String>::new());
    scene.assert_nobody_is_left();
}

#[test]
fn of_several_directories_on_one_mount_each_that_hangs_is_named_alone() {
    let scene = Scene::new();
    let Some(fuse) = FuseMount::start(&scene.target()) else { return };
    let directories = ["one", "two"].map(|name| fuse.path().join(name).to_str().unwrap().to_owned());
    directories.iter().for_each(|directory| fs::create_dir(directory).unwrap());
    // The first directory that either makes in its working directory.
    fuse.hang(FuseCall::Mkdir, "0_*");
    let [one, two] = &directories;
    let done = scene.run(&check(&[one, two]));
    assert_eq!(done.code, Some(4), "{done:?}");
    assert_says(&done.stderr, &[&format!("client 0 in {one} hangs:"), &format!("client 1 in {two} hangs:")]);
    fuse.release();
    scene.assert_nobody_is_left();
}

#[test]
fn a_directory_that_cannot_be_made_or_removed_is_not_waited_for() {
    for (call, said) in [(FuseCall::Mkdir, "making the working directory"), (FuseCall::Rmdir, "")] {
        let scene = Scene::new();
        let Some(fuse) = FuseMount::start(&scene.target()) else { return };
        fuse.hang(call, "iolag-check-*");
        let hung = fuse.path().to_str().unwrap().to_owned();
        let done = scene.run(&check(&[&hung]));
        assert_eq!(done.code, Some(4), "{call:?} {done:?}");
        assert_says(&done.stderr, &[said, "has not been answered for"]);
        fuse.release();
        scene.assert_nobody_is_left();
        let cleaned = scene.run(&["cleanup", "last"]);
        assert_eq!((cleaned.code, leftovers(&scene.target()).len()), (Some(0), 0), "{cleaned:?}");
    }
}

/// The detail records of all runs.
pub fn evidence(scene: &Scene) -> String {
    let runs = fs::read_dir(scene.store().join("runs")).unwrap().flatten();
    let runs = runs.map(|run| iolag_store::RunDirectory::open(&run.path()).unwrap());
    runs.flat_map(|run| run.details().unwrap()).map(|detail| detail.text + "\n").collect()
}
