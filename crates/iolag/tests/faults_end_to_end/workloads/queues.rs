//! `iolag bench stream` with a queue of the kernel's: what hangs in it, and who tells it to end.

use iolag_backend::ring_refusal;
use iolag_fixtures::{FuseCall, FuseMount, current_test, skip};

use crate::support::{Scene, assert_gapless, assert_says, leftovers};

fn there_is_none() -> bool {
    let refusal = ring_refusal();
    if let Some(code) = refusal {
        skip(&current_test(), &format!("no io_uring: {code}"));
    }
    refusal.is_some()
}

const QUEUE: [&str; 4] = ["--engine", "io_uring", "--depth", "4"];

#[test]
fn a_read_that_hangs_in_the_queue_is_told_with_the_worker_that_waits_and_the_run_ends() {
    if there_is_none() {
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
    let evidence = crate::check_hangs::evidence(&scene);
    let workers = evidence.split("; worker ").skip(1).filter(|worker| worker.contains("waits in")).count();
    assert!(workers > 0, "where the kernel's worker waited is not on record: {evidence:?}");
    // A wait for the page cache ends with its process, the kernel's worker with it; nothing else hangs in the way of the clean-up.
    scene.assert_nobody_is_left();
    assert_eq!(leftovers(&scene.target()), Vec::<String>::new());
}

#[test]
fn ctrl_c_ends_what_is_in_flight_and_removes_what_was_made() {
    if there_is_none() {
        return;
    }
    let scene = Scene::new();
    let target = scene.target();
    let words = ["bench", "stream", target.to_str().unwrap(), "-s", "16MiB", "-b", "4KiB", "--fsync", "1"];
    let more = ["--phases", "write,rewrite,rewrite,rewrite,rewrite,rewrite,rewrite,rewrite,rewrite,rewrite"];
    let running = scene.start(&[words.as_slice(), &QUEUE, &more].concat());
    let file = crate::support::wait_for("working directory", || {
        std::fs::read_dir(scene.target().join("iolag-work")).ok()?.flatten().next()
    });
    drop(file);
    running.signal(libc::SIGINT);
    let done = running.finish();
    assert_eq!(done.code, Some(4), "{done:?}");
    assert_gapless(&scene.exported());
    assert_eq!(leftovers(&scene.target()), Vec::<String>::new());
    scene.assert_nobody_is_left();
}
