//! `iolag check` where one of several servers stalls.

use std::time::Duration;

use iolag_fixtures::{PostgresServer, Proxy, ProxyFault, S3Server, TmpfsMount};

use crate::support::{Scene, assert_says, leftovers, wait_until};

const QUICK: [&str; 4] = ["--deadline", "4s", "--budget", "12s"];

/// The target by the proxy instead of the port of its server.
fn by(proxy: &Proxy, target: &str, port: u16) -> String {
    target.replace(&format!(":{port}"), &format!(":{}", proxy.port()))
}

#[test]
fn a_server_that_stalls_in_the_middle_is_hung_with_its_age_and_a_directory_is_measured_to_the_end() {
    let Some(server) = S3Server::start() else { return };
    let Some(tmpfs) = TmpfsMount::new(64 << 20) else { return };
    let scene = Scene::new();
    let proxy = Proxy::start(server.port());
    let stalled = by(&proxy, &server.target("x"), server.port());
    let healthy = tmpfs.path().to_str().unwrap().to_owned();
    let mut running = scene.start(&[&["check", &stalled, &healthy][..], &QUICK].concat());
    running.wait_for("the run is kept");
    // Three came there before its session did: the greeting, and who made the place.
    assert!(wait_until(Duration::from_secs(8), || proxy.connections() > 3));
    std::thread::sleep(Duration::from_millis(700));
    proxy.set(ProxyFault::Stall);
    let done = running.finish();
    assert_eq!(done.code, Some(4), "{done:?}");
    assert_says(
        &done.stderr,
        &["hangs:", "may still be there: removing it has not been answered", "iolag cleanup"],
    );
    assert_says(&done.stdout, &["s3://", &healthy, "ls -l", "stopped answering at", "did not answer again"]);
    assert!(!format!("{done:?}").contains("gehe"), "{done:?}");
    assert_eq!(leftovers(tmpfs.path()), Vec::<String>::new());
    let samples = scene.exported();
    let hung: Vec<_> = samples.iter().filter(|sample| sample.outcome == "hung").collect();
    assert_eq!(hung.len(), 1, "{hung:?}");
    assert!(hung[0].duration >= Duration::from_secs(4), "{hung:?}");
    let of_server = |name: &str| samples.iter().any(|sample| sample.client == 0 && sample.operation == name);
    assert!(of_server("create") && of_server("call.first-byte"), "nothing that was measured is lost");
    let last_of_directory =
        samples.iter().filter(|sample| sample.client == 1).map(|sample| sample.start).max();
    assert!(last_of_directory.unwrap() > hung[0].start + Duration::from_secs(2), "the directory went on");
    // Who it is there is not stored, so it is said again, by the variables of the field.
    proxy.set(ProxyFault::None);
    let mut clean = scene.command(&["cleanup", "last"]);
    clean.env("AWS_ACCESS_KEY_ID", "iolagtests").env("AWS_SECRET_ACCESS_KEY", "gehe/im+42");
    let cleaned = crate::support::Running::start(clean).finish();
    assert_eq!(cleaned.code, Some(0), "{cleaned:?}");
    let left = leftovers(&server.objects());
    assert!(!left.iter().any(|name| name.contains("iolag-check")), "{left:?}");
    scene.assert_nobody_is_left();
}

#[test]
fn a_server_that_never_answers_has_the_age_of_its_first_contact() {
    let Some(server) = PostgresServer::start() else { return };
    let Some(tmpfs) = TmpfsMount::new(64 << 20) else { return };
    let scene = Scene::new();
    let proxy = Proxy::start(server.port());
    proxy.set(ProxyFault::Stall);
    let silent = by(&proxy, &server.url("postgres"), server.port());
    let healthy = tmpfs.path().to_str().unwrap().to_owned();
    let done = scene.run(&[&["check", &silent, &healthy][..], &QUICK].concat());
    assert_eq!(done.code, Some(4), "{done:?}");
    assert_says(&done.stdout, &["does not answer: waited", &healthy, "ls -l"]);
    let alone = scene.run(&[&["check", &silent][..], &QUICK].concat());
    assert_eq!(alone.code, Some(4), "{alone:?}");
    assert_says(&alone.stderr, &["does not answer: the first contact has been waiting for"]);
    assert!(!format!("{done:?}{alone:?}").contains(PostgresServer::PASSWORD));
    scene.assert_nobody_is_left();
}
