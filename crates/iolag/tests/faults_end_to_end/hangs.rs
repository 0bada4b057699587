//! Benchmarks with operations that pass their deadline.

use std::fs;
use std::time::Duration;

use iolag_backend::ring_refusal;
use iolag_fixtures::{FuseCall, FuseMount, current_test, skip};

use crate::support::{Exported, Running, Scene, assert_gapless, assert_says, leftovers};

/// Longer than what answers takes on a busy machine.
const DEADLINE: &str = "5s";

/// Four clients in the benchmark phase, each in a dataset of its own; from now on that of client 2 is not found in time.
fn with_one_hung_client(scene: &Scene, fuse: &FuseMount, more: &[&str]) -> Running {
    let target = fuse.path().to_str().unwrap().to_owned();
    let own = ["-n4", "-O4", "-D1", "-P20", "-I10", "-R60", "--deadline", DEADLINE];
    // The benchmark phase takes a while, so that it is still under way when somebody who is slow lets it hang.
    fuse.delay(FuseCall::Lookup, "2_0", Duration::from_millis(1));
    let running = scene.start(&[&["bench", "metadata", &target], own.as_slice(), more].concat());
    let last = scene.target().join("iolag-work/3_0/file-25");
    crate::support::wait_for("benchmark phase", || last.exists().then_some(()));
    // Looked up at every operation, since nothing is cached, and without a lock that other clients need.
    fuse.hang(FuseCall::Lookup, "2_0");
    running
}

fn of_client(samples: &[Exported], client: u64) -> impl Iterator<Item = &Exported> {
    samples.iter().filter(move |sample| sample.client == client)
}

#[test]
fn the_other_clients_go_on_without_the_one_that_hangs() {
    let scene = Scene::new();
    let Some(fuse) = FuseMount::start(&scene.target()) else { return };
    let done = with_one_hung_client(&scene, &fuse, &["--on-hang", "continue"]).finish();
    assert_eq!(done.code, Some(4), "{done:?}");
    assert_says(&done.stderr, &["client 2 in ", " hangs:", "cannot be ended", "iolag cleanup 2"]);
    assert_says(&done.stdout, &["precreate", "benchmark 60", "cleanup", "incomplete", "left behind"]);
    let samples = scene.exported();
    assert_gapless(&samples);
    for client in [0, 1, 3] {
        let last = of_client(&samples, client).max_by_key(|sample| sample.sequence).unwrap();
        assert_eq!((last.operation.as_str(), last.outcome.as_str()), ("stage", "ok"), "client {client}");
    }
    let hung: Vec<_> = samples.iter().filter(|sample| sample.outcome == "hung").collect();
    assert_eq!(hung.iter().map(|sample| sample.client).collect::<Vec<_>>(), [2]);
    assert!(hung[0].duration > Duration::from_secs(5));
    fuse.release();
    scene.assert_nobody_is_left();
    let cleaned = scene.run(&["cleanup", "last"]);
    assert_eq!((cleaned.code, leftovers(&scene.target()).len()), (Some(0), 0), "{cleaned:?}");
}

#[test]
fn a_run_that_stops_at_the_first_hang_ends_early() {
    let scene = Scene::new();
    let Some(fuse) = FuseMount::start(&scene.target()) else { return };
    let done = with_one_hung_client(&scene, &fuse, &["--on-hang", "stop"]).finish();
    assert_eq!(done.code, Some(4), "{done:?}");
    assert_says(&done.stderr, &["client 2 in ", " hangs:"]);
    assert_says(&done.stdout, &["stopped because client 2 in ", " hung"]);
    let samples = scene.exported();
    assert_gapless(&samples);
    assert!(!samples.iter().any(|sample| sample.operation == "rmdir"), "the cleanup phase was not to come");
    fuse.release();
    scene.assert_nobody_is_left();
}

#[test]
fn a_late_end_supersedes_the_hung_record_and_is_still_told() {
    let scene = Scene::new();
    let Some(fuse) = FuseMount::start(&scene.target()) else { return };
    let mut running = with_one_hung_client(&scene, &fuse, &["--on-hang", "wait"]);
    running.wait_for("hangs:");
    std::thread::sleep(Duration::from_secs(1));
    fuse.release();
    let done = running.finish();
    // Everything ended, so the run is complete; that a deadline was passed is told by the exit code all the same.
    assert_eq!(done.code, Some(4), "{done:?}");
    assert_says(&done.stderr, &["the hung operation has ended"]);
    let samples = scene.exported();
    assert_gapless(&samples);
    assert!(samples.iter().all(|sample| sample.outcome != "hung"), "the hung record was not superseded");
    let late: Vec<_> = samples.iter().filter(|sample| sample.outcome == "late").collect();
    assert_eq!(late.iter().map(|sample| sample.client).collect::<Vec<_>>(), [2]);
    assert!(late[0].duration > Duration::from_secs(6), "{late:?}");
    let record = fs::read_to_string(last_run(&scene).join("run.json")).unwrap();
    assert!(record.contains("\"complete\""), "{record}");
    assert_eq!(leftovers(&scene.target()), Vec::<String>::new());
    scene.assert_nobody_is_left();
}

#[test]
fn waiting_ends_when_it_is_given_up() {
    let scene = Scene::new();
    let Some(fuse) = FuseMount::start(&scene.target()) else { return };
    let done = with_one_hung_client(&scene, &fuse, &["--on-hang", "wait", "--give-up-after", "8s"]).finish();
    assert_eq!(done.code, Some(4), "{done:?}");
    let samples = scene.exported();
    assert_gapless(&samples);
    let hung: Vec<_> = samples.iter().filter(|sample| sample.outcome == "hung").collect();
    assert!(hung.len() == 1 && hung[0].duration > Duration::from_secs(8), "{hung:?}");
    assert!(samples.iter().any(|sample| sample.operation == "rmdir"), "the others did not go on");
    fuse.release();
    scene.assert_nobody_is_left();
}

#[test]
fn a_working_directory_that_cannot_be_made_is_not_waited_for() {
    let scene = Scene::new();
    let Some(fuse) = FuseMount::start(&scene.target()) else { return };
    fuse.hang(FuseCall::Mkdir, "iolag-work");
    let target = fuse.path().to_str().unwrap().to_owned();
    let done = scene.run(&Scene::bench_arguments(&target, &["--deadline", "1s"]));
    assert_eq!(done.code, Some(4), "{done:?}");
    assert_says(&done.stderr, &["making the working directory in", "has not been answered for"]);
    fuse.release();
    scene.assert_nobody_is_left();
}

fn last_run(scene: &Scene) -> std::path::PathBuf {
    let mut runs: Vec<_> = fs::read_dir(scene.store().join("runs")).unwrap().flatten().collect();
    runs.sort_by_key(fs::DirEntry::file_name);
    runs.last().unwrap().path()
}

/// What waits in the kernel cannot be ended, neither by its deadline nor by SIGKILL.
#[test]
fn a_command_of_a_side_that_hangs_in_the_kernel_is_left_behind() {
    let scene = Scene::new();
    let Some(fuse) = FuseMount::start(&scene.target()) else { return };
    fs::write(scene.target().join("file"), "x").unwrap();
    let bench =
        "[[bench]]\nworkload = \"metadata\"\ndatasets = 1\nprecreate = [5]\nobjects = 2\niterations = 1\n";
    let side = |name: &str, when: &str| {
        let file = fuse.path().join("file").display().to_string();
        format!(
            "[[side]]\nname = {name:?}\ntarget = \"memory:\"\n{when} = {{ command = [\"cat\", {file:?}], deadline = \"1s\" }}\n"
        )
    };
    let plan = |when: &str| {
        let other = "[[side]]\nname = \"works\"\ntarget = \"memory:\"\n";
        fs::write(
            scene.path().join("plan.toml"),
            format!("order = \"sequential\"\n{}{other}{bench}", side("hangs", when)),
        )
        .unwrap();
        scene.run(&["run", "plan.toml"])
    };
    fuse.hang(FuseCall::Open, "file");
    let before = plan("before");
    assert_eq!(before.code, Some(4), "{before:?}");
    // It may come about at any moment: nobody knows what another side would be measured on.
    let told = ["the command before runs of hangs, /", "this run is not made", "1 further run is left out"];
    assert_says(&before.stderr, &told);
    assert_eq!(before.stdout, "");
    let after = plan("after");
    assert_eq!(after.code, Some(4), "{after:?}");
    assert_says(
        &after.stderr,
        &["the command after runs of hangs, /", "the campaign ends here: 1 further run is left out"],
    );
    fuse.release();
    scene.assert_nobody_is_left();
}

/// Named as skipped where no program may have one.
pub fn there_is_no_io_uring() -> bool {
    let refusal = ring_refusal();
    if let Some(code) = refusal {
        skip(&current_test(), &format!("no io_uring: {code}"));
    }
    refusal.is_some()
}

/// A client with four blocks in flight.
pub const QUEUE: [&str; 4] = ["--engine", "io_uring", "--depth", "4"];

#[test]
fn a_read_that_hangs_in_the_queue_is_told_with_the_worker_that_waits_and_the_run_ends() {
    if there_is_no_io_uring() {
        return;
    }
    let scene = Scene::new();
    let Some(fuse) = FuseMount::start(&scene.target()) else { return };
    // The file is called after its client and number.
    fuse.hang(FuseCall::Read, "file-*");
    let target = fuse.path().to_str().unwrap().to_owned();
    let words = ["bench", "stream", &target, "-s", "1MiB", "-b", "64KiB", "--deadline", "3s"];
    let done = scene.run(&[words.as_slice(), &QUEUE].concat());
    assert_eq!(done.code, Some(4), "{done:?}");
    assert_says(&done.stderr, &["client 0 in ", " hangs: stream.read has not answered"]);
    assert_says(&done.stdout, &["incomplete"]);
    let samples = scene.exported();
    assert_gapless(&samples);
    let hung: Vec<_> = samples.iter().filter(|sample| sample.outcome == "hung").collect();
    assert!(!hung.is_empty() && hung.iter().all(|sample| sample.operation == "stream.read"), "{hung:?}");
    let evidence = crate::check::hangs::evidence(&scene);
    let workers = evidence.split("; worker ").skip(1).filter(|worker| worker.contains("waits in")).count();
    assert!(workers > 0, "where the kernel's worker waited is not on record: {evidence:?}");
    // A wait for the page cache ends with its process, the kernel's worker with it; nothing else hangs in the way of the clean-up.
    scene.assert_nobody_is_left();
    assert_eq!(leftovers(&scene.target()), Vec::<String>::new());
}
