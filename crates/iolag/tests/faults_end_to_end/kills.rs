//! kill -9 of keeper, measurer and writer at moments that nobody chose.

use std::fs;
use std::time::Duration;

use crate::support::{PATIENCE, Running, Scene, assert_gapless, assert_says, kill, leftovers, wait_until};

const ROUNDS: u64 = 10;
/// About a second.
const SHORT: [&str; 2] = ["-n2", "-R8"];
/// Longer than any test lasts: whoever is to be killed is there, also if this test stands still for a while.
const LONG: [&str; 4] = ["-n2", "-R10000", "--think", "100us"];

/// A run that was announced, and a moment later.
fn started(scene: &Scene, length: &[&str], round: u64) -> Running {
    let target = scene.target().to_str().unwrap().to_owned();
    let mut running = scene.start(&Scene::bench_arguments(&target, length));
    running.wait_for("measuring");
    // Spread over the run; each build and machine meets other moments.
    std::thread::sleep(Duration::from_millis(round * 97 % 700));
    running
}

#[test]
fn a_killed_writer_is_replaced_and_nothing_is_lost() {
    for round in 0..ROUNDS {
        let scene = Scene::new();
        let mut running = started(&scene, &SHORT, round);
        let writer = wait_until_present(&mut running, Running::writer);
        if let Some(writer) = writer {
            kill(writer, libc::SIGKILL);
        }
        let done = running.finish();
        assert_eq!(done.code, Some(0), "round {round}: {done:?}");
        let samples = scene.exported();
        assert_gapless(&samples);
        assert_eq!(samples.len(), expected_samples(), "round {round}");
        assert_eq!(leftovers(&scene.target()), Vec::<String>::new());
        scene.assert_nobody_is_left();
    }
}

/// What a [`SHORT`] run records when it ends well: per client 2 datasets, 200 objects precreated in each, 8
/// iterations of 50 objects with four operations each, and session and stages.
fn expected_samples() -> usize {
    let precreate = 1 + 2 + 2 * 200 + 1;
    let benchmark = 8 * (2 * 50 * 4 + 1);
    let cleanup = 2 * 200 + 2 + 1;
    2 * (precreate + benchmark + cleanup)
}

#[test]
fn a_killed_measurer_ends_the_run_with_a_report_and_a_clean_target() {
    for round in 0..ROUNDS {
        let scene = Scene::new();
        let mut running = started(&scene, &LONG, round);
        let measurer = wait_until_present(&mut running, Running::measurer).unwrap();
        kill(measurer, libc::SIGKILL);
        let done = running.finish();
        assert_eq!(done.code, Some(4), "round {round}: {done:?}");
        assert_says(&done.stdout, &["precreate", "incomplete", "signal 9"]);
        assert_gapless(&scene.exported());
        assert_eq!(leftovers(&scene.target()), Vec::<String>::new(), "round {round}: {done:?}");
        scene.assert_nobody_is_left();
    }
}

#[test]
fn a_killed_keeper_takes_the_measurer_along_and_the_next_command_recovers_everything() {
    for round in 0..ROUNDS {
        let scene = Scene::new();
        let running = started(&scene, &LONG, round);
        running.signal(libc::SIGKILL);
        assert_eq!(running.finish().signal, Some(libc::SIGKILL));
        scene.assert_nobody_is_left();
        let listed = scene.run(&["list"]);
        assert_eq!(listed.code, Some(0), "{listed:?}");
        if listed.stdout.starts_with("no runs") {
            continue; // Killed before the writer had made the run.
        }
        assert!(listed.stdout.contains("recovered") || listed.stdout.contains("complete"), "{listed:?}");
        assert_gapless(&scene.exported());
        let cleaned = scene.run(&["cleanup", "last"]);
        assert_eq!(cleaned.code, Some(0), "{cleaned:?}");
        assert_eq!(leftovers(&scene.target()), Vec::<String>::new(), "round {round}: {cleaned:?}");
    }
}

#[test]
fn nothing_is_made_in_a_working_place_that_a_clean_up_would_not_know() {
    for round in 0..3 {
        let scene = Scene::new();
        let target = scene.target();
        let running = scene.start(&Scene::bench_arguments(target.to_str().unwrap(), &LONG));
        wait_until(PATIENCE, || target.join("iolag-work").exists());
        // The keeper has not handed on that the place is there, as a rule; the measurer could go on all the same.
        running.signal(libc::SIGSTOP);
        std::thread::sleep(Duration::from_millis(300));
        running.signal(libc::SIGKILL);
        assert_eq!(running.finish().signal, Some(libc::SIGKILL));
        scene.assert_nobody_is_left();
        let cleaned = scene.run(&["cleanup", "last"]);
        assert_eq!(cleaned.code, Some(0), "round {round}: {cleaned:?}");
        assert_eq!(leftovers(&target), Vec::<String>::new(), "round {round}: {cleaned:?}");
    }
}

#[test]
fn everybody_killed_at_once_loses_only_what_was_in_memory() {
    let scene = Scene::new();
    let running = started(&scene, &LONG, 5);
    // On a busy machine it takes the writer a while to make the run.
    crate::support::wait_for("run", || {
        let mut runs = fs::read_dir(scene.store().join("runs")).ok()?.flatten();
        runs.find(|run| run.path().join("run.json").exists())
    });
    let everybody: Vec<u32> = scene.processes().into_iter().map(|(process, _)| process).collect();
    assert!(everybody.len() >= 2, "{everybody:?}");
    everybody.iter().for_each(|process| kill(*process, libc::SIGKILL));
    drop(running.finish());
    scene.assert_nobody_is_left();
    let listed = scene.run(&["list"]);
    assert_says(&listed.stdout, &["recovered"]);
    assert_gapless(&scene.exported());
}

/// The process, unless the run has ended before it was there.
fn wait_until_present(running: &mut Running, who: impl Fn(&Running) -> Option<u32>) -> Option<u32> {
    let mut found = None;
    wait_until(PATIENCE, || {
        found = who(running);
        found.is_some() || running.has_ended()
    });
    found
}
