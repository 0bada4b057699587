//! Servers that fail while they are measured.

use std::path::PathBuf;
use std::time::Duration;

use iolag_fixtures::{Proxy, ProxyFault, S3Server, WebServer};

use crate::support::{Running, Scene, assert_gapless, assert_says, wait_for};

/// Two clients in the benchmark phase, which goes on until something ends it or it has done enough.
fn in_benchmark(scene: &Scene, target: &str, objects: PathBuf, more: &[&str]) -> Running {
    let own =
        ["bench", "metadata", target, "-n2", "-D1", "-P20", "-I10", "--deadline", "2s", "--think", "5ms"];
    let running = scene.start(&[&own, more].concat());
    wait_for("the benchmark phase", || objects.join("1_0/file-25").exists().then_some(()));
    running
}

#[test]
fn a_server_that_is_killed_and_comes_back_costs_what_it_was_away() {
    let Some(mut server) = S3Server::start() else { return };
    let scene = Scene::new();
    let place = server.objects().join("x/iolag-work");
    let running = in_benchmark(&scene, &server.target("x"), place.clone(), &["-R20"]);
    server.kill();
    std::thread::sleep(Duration::from_millis(300));
    server.restart();
    let done = running.finish();
    let samples = scene.exported();
    assert_gapless(&samples);
    let errors = samples.iter().filter(|sample| sample.outcome == "error").count();
    assert!(errors > 0, "{done:?}");
    assert_says(&done.stdout, &["benchmark 20", "connection lost"]);
    assert_says(&done.stderr, &["cannot connect to 127.0.0.1:", "check the port"]);
    assert!(!place.exists(), "everything is removed: {done:?}");
    scene.assert_nobody_is_left();
}

#[test]
fn a_request_without_an_answer_is_cancelled_at_its_deadline_and_the_run_goes_on() {
    let Some(server) = WebServer::start() else { return };
    let proxy = Proxy::start(server.port());
    let scene = Scene::new();
    let target = format!("dav://127.0.0.1:{}/dav", proxy.port());
    let place = || {
        let entries = std::fs::read_dir(server.data().join("dav")).unwrap().flatten();
        entries.map(|entry| entry.path()).next()
    };
    let running = scene.start(&[
        "bench",
        "metadata",
        &target,
        "-n2",
        "-D1",
        "-P20",
        "-I10",
        "-R20",
        "--deadline",
        "1s",
        "--think",
        "5ms",
    ]);
    wait_for("the benchmark phase", || place().filter(|place| place.join("1_0/file-25").exists()));
    proxy.set(ProxyFault::Stall);
    std::thread::sleep(Duration::from_millis(2500));
    proxy.set(ProxyFault::None);
    let done = running.finish();
    let samples = scene.exported();
    assert_gapless(&samples);
    let timeouts: Vec<_> = samples.iter().filter(|sample| sample.outcome == "timeout").collect();
    assert!(!timeouts.is_empty(), "{done:?}");
    assert!(timeouts.iter().all(|sample| sample.duration == Duration::from_secs(1)), "{timeouts:?}");
    assert_says(&done.stdout, &["benchmark 20", "cleanup"]);
    assert_eq!(place(), None, "everything is removed: {done:?}");
    scene.assert_nobody_is_left();
}

#[test]
fn a_server_that_says_nothing_is_told_at_the_first_contact() {
    let Some(server) = WebServer::start() else { return };
    let proxy = Proxy::start(server.port());
    proxy.set(ProxyFault::Stall);
    let scene = Scene::new();
    let target = format!("dav://127.0.0.1:{}/dav", proxy.port());
    let done = scene.run(&["bench", "metadata", &target, "--deadline", "1s"]);
    assert_eq!(done.code, Some(4), "{done:?}");
    assert_says(&done.stderr, &["does not answer: the first contact has been waiting for 1"]);
    scene.assert_nobody_is_left();
}

#[test]
fn a_full_server_and_a_read_only_one_are_told_with_their_codes() {
    let Some(disk) = iolag_fixtures::TmpfsMount::new(4 << 20) else { return };
    let Some(server) = S3Server::start_on(disk.path()) else { return };
    let scene = Scene::new();
    let done = scene.run(&["bench", "metadata", &server.target("x"), "-D1", "-P8", "-I1", "-S1MiB"]);
    assert_says(&done.stdout, &["`create` failed: no space left", "cleanup"]);
    assert!(!disk.path().join("bucket/x/iolag-work/0_0").exists(), "{done:?}");
    let Some(server) = S3Server::start_read_only() else { return };
    let done = scene.run(&["bench", "metadata", &server.target("x")]);
    assert_eq!(done.code, Some(3), "{done:?}");
    assert_says(&done.stderr, &["cannot write s3://bucket/x/iolag-work/"]);
}

#[test]
fn what_a_killed_keeper_has_left_on_a_server_is_removed_later() {
    let Some(server) = S3Server::start() else { return };
    let scene = Scene::new();
    let place = server.objects().join("x/iolag-work");
    let running = in_benchmark(&scene, &server.target("x"), place.clone(), &["-R1000"]);
    running.signal(libc::SIGKILL);
    let _ = running.finish();
    scene.assert_nobody_is_left();
    assert!(place.exists());
    let mut command = scene.command(&["cleanup", "last"]);
    command.env("AWS_ACCESS_KEY_ID", S3Server::KEY).env("AWS_SECRET_ACCESS_KEY", S3Server::SECRET);
    let cleaned = Running::start(command).finish();
    assert!(cleaned.code == Some(0) && !place.exists(), "{cleaned:?}");
}
