//! More clients than a process may have open files, samples that go astray, and limits that are known before.

use std::fs;
use std::path::Path;

use crate::support::{Running, Scene, assert_gapless, assert_says, leftovers, wait_for};

#[test]
fn two_thousand_clients_lose_nothing_where_a_process_may_open_1024_files() {
    let scene = Scene::new();
    let script = format!(
        "ulimit -n 1024 && exec {} --store {} bench metadata memory: -n 2000 -D 1 -P 2 -I 1 -R 1 -q",
        env!("CARGO_BIN_EXE_iolag"),
        scene.store().display()
    );
    let done = Running::start(scene.bare_command(Path::new("sh"), &["-c", &script])).finish();
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_says(&done.stdout, &["complete", "2000 clients"]);
    assert!(!done.stderr.contains("Too many open files"), "{done:?}");
    let samples = scene.exported();
    assert_gapless(&samples);
    // A session, a directory made and removed, two objects made and removed, four operations, three stages.
    assert_eq!(samples.len(), 2000 * 14);
}

#[test]
fn samples_that_go_astray_make_the_run_incomplete_and_are_counted() {
    const KEPT_BYTES: u64 = 4096;
    let scene = Scene::new();
    let target = scene.target().to_str().unwrap().to_owned();
    let running = scene.start(&Scene::bench_arguments(&target, &["-n2", "-R8", "--think", "2ms"]));
    let spool = wait_for("writer's spool", || {
        let descriptors = fs::read_dir(format!("/proc/{}/fd", running.writer()?)).ok()?;
        let mut names = descriptors.flatten().filter_map(|entry| fs::read_link(entry.path()).ok());
        let spool = names.find(|name| name.extension().is_some_and(|extension| extension == "spool"))?;
        (fs::metadata(&spool).ok()?.len() > 2 * KEPT_BYTES).then_some(spool)
    });
    // What a failing disk or a file system that forgets does: the writer is told nothing.
    fs::OpenOptions::new().write(true).open(&spool).unwrap().set_len(KEPT_BYTES).unwrap();
    let done = running.finish();
    assert_eq!(done.code, Some(4), "{done:?}");
    let (before, _) = done.stdout.split_once(" samples are missing: recorded, but not stored").unwrap();
    let missing: String =
        before.rsplit("incomplete: ").next().unwrap().chars().filter(char::is_ascii_digit).collect();
    // As many as are missing in the known number, which `kills` derives.
    let recorded = 2 * ((1 + 2 + 2 * 200 + 1) + 8 * (2 * 50 * 4 + 1) + (2 * 200 + 2 + 1));
    assert_eq!(missing.parse::<usize>().unwrap() + scene.exported().len(), recorded, "{done:?}");
    assert_eq!(leftovers(&scene.target()), Vec::<String>::new());
    scene.assert_nobody_is_left();
}

#[test]
fn memory_that_the_machine_does_not_have_is_told_before_anything_is_made() {
    let scene = Scene::new();
    let target = scene.target().to_str().unwrap().to_owned();
    let long = ["bench", "metadata", &target, "-D300", "-I3000", "-R10000", "--buffer", "1TiB"];
    let done = scene.run(&long);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert_says(&done.stderr, &["1 client needs 1.00 TiB of memory", "are available", "a smaller --buffer"]);
    assert_eq!(done.stderr.lines().count(), 1, "{done:?}");
    assert_eq!(leftovers(&scene.target()), Vec::<String>::new());
    // What the run cannot use is not asked for.
    let short = ["bench", "metadata", &target, "-D1", "-P2", "-I1", "-R1", "--buffer", "1TiB"];
    assert_eq!(scene.run(&short).code, Some(0));
}
