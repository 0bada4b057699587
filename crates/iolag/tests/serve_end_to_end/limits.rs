//! What is refused, and what does not help those who mean ill.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::time::{Duration, Instant};

use crate::server::Server;
use crate::stage::{Stage, assert_refused, target};
use crate::support::{PATIENCE, assert_says, wait_until};

fn served() -> (Stage, Server) {
    let stage = Stage::new();
    let directory = stage.directory("watched");
    let file = stage.configure(&format!("every = \"300ms\"\n{}", target("home", directory, "stat")));
    stage.watch_to(0, &["-c", &file, "--rounds", "2"]);
    let server = Server::start(&stage, &[]);
    server.wait_until_read();
    (stage, server)
}

const PATHS: [&str; 8] = ["/", "/now", "/now.css", "/now.json", "/data", "/status", "/metrics", "/healthz"];

#[test]
fn other_names_than_those_of_loopback_are_refused_everywhere() {
    let (_stage, server) = served();
    for path in PATHS {
        for host in [
            "evil.example",
            "evil.example:9716",
            "localhost.evil.example",
            "192.168.0.1",
            "127.0.0.1.evil.example",
        ] {
            let answer = server.ask("GET", path, &[("Host", host)]);
            assert_eq!(answer.status, 421, "{path} {host}");
            assert_says(&answer.text(), &["answers to localhost"]);
        }
    }
    // Through a tunnel the port is another one.
    for host in ["localhost", "localhost:1234", "127.0.0.1:80", "[::1]:9716"] {
        assert_eq!(server.ask("GET", "/healthz", &[("Host", host)]).status, 200, "{host}");
    }
    let nameless = server.send(b"GET /healthz HTTP/1.0\r\n\r\n");
    assert_eq!(nameless.status, 421);
    // Which of two counts is for an attacker to choose; a whole URL names the server, too.
    let local = server.address.to_string();
    for (second, expected) in [(local.as_str(), 400), ("evil.example", 400)] {
        let answer = server.ask("GET", "/healthz", &[("Host", &local), ("Host", second)]);
        assert_eq!(answer.status, expected, "{second}");
    }
    for (name, expected) in [(local.as_str(), 200), ("evil.example", 421)] {
        let answer = server.ask("GET", &format!("http://{name}/healthz"), &[("Host", &local)]);
        assert_eq!(answer.status, expected, "{name}");
    }
    server.stop();
}

#[test]
fn every_answer_tells_browsers_to_load_nothing_else() {
    let (_stage, server) = served();
    for path in PATHS.into_iter().chain(["/nothing", "/../../etc/passwd", "/%2e%2e/etc/passwd", "//x"]) {
        let answer = server.get(path);
        let policy = &answer.headers["content-security-policy"];
        assert_says(
            policy,
            &["default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"],
        );
        assert!(!policy.contains("unsafe") && !policy.contains('*') && !policy.contains("http"), "{policy}");
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("x-frame-options", "DENY"),
            ("cache-control", "no-store"),
            ("referrer-policy", "no-referrer"),
            ("cross-origin-resource-policy", "same-origin"),
        ] {
            assert_eq!(answer.headers[name], value, "{path}");
        }
        assert!(!answer.headers.contains_key("access-control-allow-origin"));
        assert_eq!(answer.status == 404, !PATHS.contains(&path), "{path}");
    }
    server.stop();
}

#[test]
fn nothing_can_be_written() {
    let (_stage, server) = served();
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"] {
        let answer = server.ask(method, "/data", &[]);
        assert_eq!((answer.status, answer.headers["allow"].as_str()), (405, "GET, HEAD"), "{method}");
    }
    let head = server.ask("HEAD", "/metrics", &[]);
    assert_eq!((head.status, head.body.len()), (200, 0));
    server.stop();
}

#[test]
fn requests_have_a_size() {
    let (_stage, server) = served();
    let long = "x".repeat(40_000);
    assert!([400, 414, 431].contains(&server.ask("GET", &format!("/{long}"), &[]).status));
    assert!([400, 431].contains(&server.ask("GET", "/", &[("X-Long", &long)]).status));
    let many: Vec<(String, String)> =
        (0..200).map(|number| (format!("X-{number}"), "1".to_owned())).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert!([400, 431].contains(&server.ask("GET", "/", &many).status));
    for nonsense in [&b"\x16\x03\x01\x02\x00\x01\x00"[..], b"GET\r\n\r\n", b"\r\n\r\n\0\0\0\0\r\n\r\n"] {
        let mut stream = server.connect();
        let _ = stream.write_all(nonsense);
    }
    assert_eq!(server.get("/healthz").status, 200);
    server.stop();
}

#[test]
fn a_hundred_scrapers_and_a_hundred_idlers_are_served() {
    let (_stage, server) = served();
    let idlers: Vec<_> = (0..100)
        .map(|_| {
            let mut stream = server.connect();
            stream.write_all(b"GET /metrics HTTP/1.1\r\nHo").unwrap();
            stream
        })
        .collect();
    let counted = |body: String| {
        body.lines().filter(|line| line.contains("_total")).map(str::to_owned).collect::<Vec<_>>()
    };
    let first = counted(server.get("/metrics").text());
    assert!(!first.is_empty());
    std::thread::scope(|scope| {
        let scrapers: Vec<_> = (0..100)
            .map(|number| {
                let server = &server;
                scope.spawn(move || {
                    let path = if number % 10 == 0 { "/data" } else { "/metrics" };
                    (path, server.get(path))
                })
            })
            .collect();
        for scraper in scrapers {
            let (path, answer) = scraper.join().unwrap();
            assert_eq!(answer.status, 200);
            if path == "/metrics" {
                assert_eq!(counted(answer.text()), first);
            }
        }
    });
    drop(idlers);
    let threads = || fs::read_dir(format!("/proc/{}/task", server.id())).unwrap().count();
    assert_eq!(threads(), 1, "it forks, so it must have one thread");
    let descriptors = || fs::read_dir(format!("/proc/{}/fd", server.id())).unwrap().count();
    assert!(wait_until(PATIENCE, || descriptors() < 40), "{} descriptors are open", descriptors());
    server.stop();
}

#[test]
fn who_takes_all_connections_and_asks_nothing_loses_his_own() {
    let (_stage, server) = served();
    let mut idlers: Vec<_> = (0..400)
        .map(|_| {
            let mut stream = server.connect();
            stream.write_all(b"GET /metrics HTTP/1.1\r\nHo").unwrap();
            stream
        })
        .collect();
    for _ in 0..5 {
        assert_eq!(server.get("/metrics").status, 200);
    }
    let mut is_closed = |number: usize| {
        idlers[number].set_nonblocking(true).unwrap();
        !matches!(idlers[number].read(&mut [0]), Err(error) if error.kind() == ErrorKind::WouldBlock)
    };
    // 400 and 5 came, and 256 have room. The five went by themselves, and may have left room.
    assert!((0..144).all(&mut is_closed));
    assert!((149..400).all(|number| !is_closed(number)), "nobody waited for the time of heads");
    server.stop();
}

#[test]
fn who_means_other_machines_is_told_how() {
    let stage = Stage::new();
    for address in ["0.0.0.0:9716", "[::]:9716", "10.1.2.3:9716"] {
        let done = stage.scene.run(&["serve", "--listen", address]);
        assert_eq!(done.code, Some(2), "{done:?}");
        assert_says(&done.stderr, &["no password", "ssh -L", "--metrics-listen"]);
    }
    let done = stage.scene.run(&["serve", "--since", "whenever"]);
    assert_refused(&done, 2, &["--since", "no time"]);
}

#[test]
fn a_port_that_is_taken_is_said() {
    let (stage, server) = served();
    let address = server.address.to_string();
    let done = stage.scene.run(&["serve", "--listen", &address, "--history", &stage.history]);
    assert_refused(&done, 3, &["cannot listen on", &address, "--listen"]);
    server.stop();
}

#[test]
fn it_ends_at_once_whoever_is_connected() {
    let (stage, server) = served();
    let mut idler = server.connect();
    idler.write_all(b"GET / HTTP/1.1\r\n").unwrap();
    let begin = Instant::now();
    let done = server.stop();
    assert_eq!(done.code, Some(0), "{done:?}");
    // Who asks has half a minute for the first line, and ten minutes in all.
    assert!(begin.elapsed() < Duration::from_secs(29), "{:?}", begin.elapsed());
    stage.scene.assert_nobody_is_left();
}
