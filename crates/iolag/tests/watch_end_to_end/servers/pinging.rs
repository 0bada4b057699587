//! `iolag ping` of servers.

use iolag_fixtures::{PostgresServer, Proxy, ProxyFault, S3Server, WebServer};

use super::{assert_hides_arguments, assert_no_secrets, assert_tells_no_secret, through};
use crate::pinging::lines::{json_lines, ping};
use crate::support::{PATIENCE, Running, Scene, assert_says, leftovers, wait_until};

fn wait_for_line(running: &mut Running, what: &str, is_it: impl Fn(&str) -> bool) {
    let has_come = wait_until(PATIENCE, || running.stdout().lines().any(&is_it) || running.has_ended());
    assert!(
        has_come && running.stdout().lines().any(is_it),
        "{what}: {}\n{}",
        running.stdout(),
        running.stderr()
    );
}

/// Pings a target and asserts that all is well, and that no secret is told anywhere.
fn is_pinged(target: &str) {
    let scene = Scene::new();
    let done = ping(&scene, &["-n", "2", "--every", "400ms", target]).finish();
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_says(&done.stdout, &["2 probes: ", "stat ", "read ", "create ", "remove (not in the probe)"]);
    assert_says(&done.stderr, &["by a connection that is kept; in the working place iolag-ping-"]);
    assert_tells_no_secret(&format!("{}{}", done.stdout, done.stderr));
    let shown = scene.run(&["show", "last"]);
    assert_says(&shown.stdout, &["2 probes: ", "whole probe"]);
    assert_no_secrets(scene.path());
    scene.assert_nobody_is_left();
}

#[test]
fn a_bucket_a_collection_and_a_database_are_pinged_and_nothing_is_left_in_them() {
    if let Some(server) = S3Server::start() {
        is_pinged(&server.target(""));
        assert_eq!(leftovers(&server.objects()), Vec::<String>::new());
    }
    if let Some(server) = WebServer::start() {
        is_pinged(&server.target("dav", "dav"));
        assert_eq!(leftovers(&server.data().join("dav")), Vec::<String>::new());
    }
    if let Some(server) = PostgresServer::start() {
        is_pinged(&server.url("postgres"));
        let tables = server.ask("postgres", "SELECT tablename FROM pg_tables WHERE tablename LIKE 'iolag%'");
        assert_eq!(tables, "");
    }
}

#[test]
fn of_a_plain_web_server_the_object_is_read_that_the_url_names_and_nothing_is_made() {
    let Some(server) = WebServer::start() else { return };
    std::fs::write(server.data().join("index.txt"), "hello").unwrap();
    let scene = Scene::new();
    let names = || std::fs::read_dir(server.data()).unwrap().count();
    let before = names();
    let target = server.target("http", "index.txt");
    let done = ping(&scene, &["-n", "2", "--every", "400ms", "--json", "-", &target]).finish();
    assert_eq!((done.code, names()), (Some(0), before), "{done:?}");
    assert_says(&done.stderr, &["stat and read of the object that it names; nothing is made"]);
    let parts = json_lines(&done.stdout, "probe")[0]["parts"].clone();
    let operations: Vec<_> = parts.as_array().unwrap().iter().map(|part| part["operation"].clone()).collect();
    assert_eq!(operations, ["stat", "read"]);
    let missing = ping(&scene, &["-n", "1", &server.target("http", "nothing")]).finish();
    assert_eq!(missing.code, Some(1), "{missing:?}");
    assert_says(&missing.stdout, &["seq=1 failed in stat after ", "1 lost (1 failed)"]);
}

#[test]
fn a_server_that_falls_silent_is_waited_for_and_one_that_is_gone_fails() {
    let Some(mut server) = S3Server::start() else { return };
    let (scene, proxy) = (Scene::new(), Proxy::start(server.port()));
    let target = through(&proxy, &server);
    let mut running = ping(&scene, &["--every", "300ms", "--deadline", "2s", &target]);
    wait_for_line(&mut running, "a probe", |line| line.starts_with("seq=1 "));
    assert_hides_arguments(running.id());
    proxy.set(ProxyFault::Stall);
    wait_for_line(&mut running, "a hang", |line| {
        line.contains("no answer within the deadline of 2.00 s; hung in ")
    });
    proxy.set(ProxyFault::None);
    wait_for_line(&mut running, "its end", |line| line.contains("late: over the deadline of 2.00 s"));
    let probes = running.stdout().lines().count();
    wait_for_line(&mut running, "what comes after it", |line| line.contains(" skipped while seq="));
    assert!(wait_until(PATIENCE, || running
        .stdout()
        .lines()
        .skip(probes)
        .any(|line| line.contains(" total "))));
    server.kill();
    wait_for_line(&mut running, "a failure", |line| line.contains(" failed in stat after "));
    running.signal(libc::SIGINT);
    let done = running.finish();
    assert_eq!(done.code, Some(1), "{done:?}");
    assert_says(&done.stdout, &[" late, ", " failed, ", " skipped)"]);
    assert_no_secrets(scene.path());
}

#[test]
fn who_is_silent_from_the_first_is_waited_for() {
    let Some(server) = S3Server::start() else { return };
    let (scene, proxy) = (Scene::new(), Proxy::start(server.port()));
    proxy.set(ProxyFault::Stall);
    let target = through(&proxy, &server);
    let mut running = ping(&scene, &["-n", "3", "--every", "400ms", "--deadline", "1s", &target]);
    running.wait_for("; it is waited for");
    proxy.set(ProxyFault::None);
    let done = running.finish();
    assert_says(&done.stdout, &["hung in the first contact", "3 probes: "]);
    assert_eq!(leftovers(&server.objects()), Vec::<String>::new());
}

#[test]
fn what_cannot_be_pinged_is_told_in_a_sentence_without_secrets() {
    let scene = Scene::new();
    let refused = |arguments: &[&str], code: i32, parts: &[&str]| {
        let done = ping(&scene, arguments).finish();
        assert_eq!(done.code, Some(code), "{done:?}");
        assert_says(&done.stderr, parts);
        assert!(!format!("{done:?}").contains("Geheim"), "{done:?}");
    };
    refused(&["dav://me:Geheim@127.0.0.1:1/x"], 3, &["cannot connect to 127.0.0.1:1", "check the port"]);
    refused(&["mysql://me:Geheim@h/x"], 2, &["\"mysql\" is no kind of target"]);
    refused(&["--task", "list", "s3://K:Geheim@b"], 2, &["the task list works in a directory"]);
    refused(&["delayed:5ms:s3://K:Geheim@b"], 2, &["this command measures nothing else"]);
    if let Some(server) = PostgresServer::start() {
        let wrong = format!("postgres://iolag:Geheim@127.0.0.1:{}/postgres", server.port());
        refused(&[&wrong], 3, &["password authentication failed", "~/.pgpass"]);
    }
}
