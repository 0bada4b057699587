//! More clients than a process may have open files, samples that go astray, and limits that are known before.

use std::fs;
use std::path::Path;

use iolag_fixtures::{current_test, skip};

use crate::support::{
    PATIENCE, Running, Scene, assert_gapless, assert_says, leftovers, wait_for, wait_until,
};

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

/// `cargo xtask bench many-clients` judges an optimised build with 5000, also with rings as large as they may be: 36 and 55 KiB for
/// each. Without optimisation stacks take more; what had a file and a ring of fixed size for each client took 300 KiB.
#[test]
fn a_thousand_clients_take_little_memory_in_all_processes_together() {
    const CLIENTS: u64 = 1000;
    const MOST_KIB_OF_CLIENT: u64 = if cfg!(debug_assertions) { 140 } else { 80 };
    const MOST_KIB: u64 = (64 << 10) + CLIENTS * MOST_KIB_OF_CLIENT;
    let scene = Scene::new();
    // Nothing passes its deadline on a busy machine, and all are there at one time for long enough to be seen.
    let short = ["-D1", "-P2", "-I1", "-R1", "--think", "1s", "--deadline", "10m", "-q"];
    let mut running = scene.start(&[&["bench", "metadata", "memory:", "-n1000"], &short[..]].concat());
    let (mut most_kib, mut most_threads) = (0, 0);
    let has_ended = wait_until(PATIENCE, || {
        let processes = scene.processes();
        most_kib = most_kib.max(processes.iter().filter_map(|(process, _)| proportional_kib(*process)).sum());
        let threads = processes.iter().map(|(process, _)| threads_of(*process)).max();
        most_threads = most_threads.max(threads.unwrap_or(0));
        running.has_ended()
    });
    assert!(has_ended, "the run does not end");
    let done = running.finish();
    if done.code == Some(2) && done.stderr.contains(" clients need ") {
        return skip(&current_test(), &done.stderr);
    }
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(most_threads > CLIENTS, "{most_threads} threads were seen");
    assert!((1..=MOST_KIB).contains(&most_kib), "{most_kib} KiB, pages that processes share counted once");
}

/// Memory of a process; pages that it shares with others in equal parts. `None` if it has ended.
fn proportional_kib(process: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{process}/smaps_rollup")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}

fn threads_of(process: u32) -> u64 {
    fs::read_dir(format!("/proc/{process}/task")).map_or(0, |threads| threads.count() as u64)
}

/// What the start of a short run costs is the memory that it makes: `cargo xtask bench short-run` judges the time.
#[test]
fn the_memory_that_processes_share_has_the_size_of_the_run() {
    const SHORT_MOST_BYTES: u64 = 1 << 20;
    let scene = Scene::new();
    let shared_by_a_run_of = |iterations: &str| {
        let target = ["bench", "metadata", "memory:", "-D", "1", "-P", "2", "-I", "2", "-R", iterations];
        let running = scene.start(&[&target[..], &["--think", "1s", "-q"]].concat());
        let bytes = wait_for("memory for samples", || shared_bytes(running.id()));
        running.signal(libc::SIGINT);
        drop(running.finish());
        bytes
    };
    // 22 operations, and as many as anybody will ask for.
    let (short, long) = (shared_by_a_run_of("2"), shared_by_a_run_of("10000"));
    assert!(short <= SHORT_MOST_BYTES, "{short} bytes");
    assert!(long > 3 * SHORT_MOST_BYTES, "{long} bytes: what was looked at is not the memory for samples");
}

/// Bytes of the memory for samples that a keeper has made.
fn shared_bytes(keeper: u32) -> Option<u64> {
    let maps = fs::read_to_string(format!("/proc/{keeper}/maps")).ok()?;
    let range = maps.lines().find(|line| line.contains("memfd:iolag-rings"))?.split_whitespace().next()?;
    let (begin, end) = range.split_once('-')?;
    Some(u64::from_str_radix(end, 16).ok()? - u64::from_str_radix(begin, 16).ok()?)
}
