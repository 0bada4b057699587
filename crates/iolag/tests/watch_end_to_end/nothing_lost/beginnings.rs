//! Histories that are not there when the watch begins, and what is known from before.

use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use iolag_fixtures::{LoopMount, PostgresServer};
use iolag_model::{Configuration, ConfigurationKey, HistoryRecord, WallTime};

use crate::remembered::{Remembered, assert_all_fine};
use crate::stage::{Stage, assert_refused, last, target};
use crate::support::assert_says;

/// Stands before a server, and is silent until it is told to let through.
struct Gate {
    port: u16,
    is_open: Arc<AtomicBool>,
}

impl Gate {
    fn before(server: &PostgresServer) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let (port, behind) = (listener.local_addr().unwrap().port(), server.port());
        let is_open = Arc::new(AtomicBool::new(false));
        let gate = Arc::clone(&is_open);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let gate = Arc::clone(&gate);
                std::thread::spawn(move || pass(client, behind, &gate));
            }
        });
        Self { port, is_open }
    }

    fn open(&self) {
        self.is_open.store(true, Ordering::Relaxed);
    }
}

/// A client that came before the gate was open is sent away when it opens.
fn pass(mut client: TcpStream, port: u16, is_open: &AtomicBool) {
    if !is_open.load(Ordering::Relaxed) {
        while !is_open.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = client.shutdown(Shutdown::Both);
        return;
    }
    let mut server = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
    let (mut back, mut from) = (client.try_clone().unwrap(), server.try_clone().unwrap());
    std::thread::spawn(move || carry(&mut from, &mut back));
    carry(&mut client, &mut server);
}

fn carry(from: &mut TcpStream, to: &mut TcpStream) {
    let mut buffer = [0; 16 << 10];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        if to.write_all(&buffer[..read]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}

#[test]
fn a_server_that_is_silent_at_the_start_holds_no_round_up_and_gets_everything_later() {
    let Some(server) = PostgresServer::start() else { return };
    let gate = Gate::before(&server);
    let url = server.url("postgres").replace(&format!(":{}/", server.port()), &format!(":{}/", gate.port));
    let stage = Stage::new().with_history(url);
    let directory = stage.directory("scratch");
    let mut watch = stage.start(&["--rounds", "60", "--every", "100ms", "--tasks", "stat", &directory]);
    watch.wait_for("has not answered for");
    watch.wait_for("waits in memory until the history takes it");
    stage.wait_for_rounds(5);
    gate.open();
    let done = watch.finish();
    assert_eq!(done.code, Some(0), "{done:?}");
    let said = done.stderr.lines().filter(|line| line.contains("history")).count();
    assert_eq!(said, 2, "what will be done, and that the server is silent: {}", done.stderr);
    assert!(!done.stderr.contains(PostgresServer::PASSWORD), "{}", done.stderr);
    assert_all_fine(&stage.remembered().wholes(&directory, "stat"), 6);
    assert_eq!(stage.remembered().wholes(&directory, "stat").len(), 60);
}

#[test]
fn rounds_of_cron_without_a_server_leave_their_records_to_the_next() {
    let Some(server) = PostgresServer::start() else { return };
    let stage = Stage::new().with_history(server.url("postgres"));
    let directory = stage.directory("scratch");
    let once = ["--once", "--tasks", "stat", directory.as_str()];
    server.ask("template1", "ALTER DATABASE postgres WITH ALLOW_CONNECTIONS false");
    for _ in 0..2 {
        let done = stage.watch_to(4, &once);
        assert_eq!(done.stderr.lines().count(), 1, "cron mails one sentence: {}", done.stderr);
        assert_says(
            &done.stderr,
            &["records are not in the history yet", "not currently accepting connections"],
        );
    }
    server.ask("template1", "ALTER DATABASE postgres WITH ALLOW_CONNECTIONS true");
    let done = stage.watch_to(0, &once);
    assert_eq!(done.stderr, "");
    assert_eq!(stage.remembered().wholes(&directory, "stat").len(), 3);
}

#[test]
fn what_will_not_mend_by_itself_is_refused_at_the_start() {
    let Some(server) = PostgresServer::start() else { return };
    let place = Stage::new();
    let directory = place.directory("scratch");
    let wrong = server.url("postgres").replace(&PostgresServer::encoded_password(), "Geheim");
    for (url, parts) in [
        (server.url("nowhere"), ["nowhere", "createdb"]),
        (wrong, ["password authentication failed", ".pgpass"]),
    ] {
        let done = Stage::new().with_history(url).watch(&["--once", "--tasks", "stat", &directory]);
        assert_refused(&done, 3, &parts);
        assert!(!done.stderr.contains("Geheim"), "{}", done.stderr);
    }
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 0, "nothing was measured");
}

#[test]
fn a_disk_that_is_full_at_the_start_gets_everything_when_it_has_room() {
    let Some(disk) = LoopMount::ext4(16) else { return };
    disk.fill().unwrap();
    let history = disk.path().join("history.sqlite");
    let stage = Stage::new().with_history(history.to_str().unwrap());
    let directory = stage.directory("scratch");
    let mut watch = stage.start(&["--rounds", "60", "--every", "100ms", "--tasks", "stat", &directory]);
    watch.wait_for("waits in memory until the history takes it");
    stage.wait_for_rounds(5);
    fs::remove_file(disk.path().join("filling")).unwrap();
    let done = watch.finish();
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_says(&done.stderr, &["free some space"]);
    assert_eq!(stage.remembered().wholes(&directory, "stat").len(), 60);
    stage.assert_database_is_sound();
    drop(stage);
}

#[test]
fn a_database_that_is_locked_at_the_start_gets_everything_later() {
    let stage = Stage::new();
    let directory = stage.directory("scratch");
    stage.watch_to(0, &["--once", "--tasks", "stat", &directory]);
    let database = rusqlite::Connection::open(&stage.history).unwrap();
    // Nobody else may even read it.
    database
        .execute_batch(
            "PRAGMA locking_mode = exclusive; BEGIN EXCLUSIVE; UPDATE series SET unit = unit; COMMIT",
        )
        .unwrap();
    let mut watch = stage.start(&["--rounds", "60", "--every", "100ms", "--tasks", "stat", &directory]);
    watch.wait_for("waits in memory until the history takes it");
    stage.wait_for_rounds(5);
    drop(database);
    let done = watch.finish();
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(stage.remembered().wholes(&directory, "stat").len(), 61);
    stage.assert_database_is_sound();
}

#[test]
fn a_mistyped_history_is_refused_without_its_password() {
    let stage = Stage::new();
    let directory = stage.directory("scratch");
    for (place, part) in [
        ("mysql://me:Geheim@db/x", "mysql://… does not name a history"),
        ("postgres:me:Geheim@db/x", "postgres:… does not name a history"),
        ("postgresql:/me:Geheim@db/x", "postgresql:… does not name a history"),
        ("host=db password=Geheim", "keywords of libpq"),
        ("POSTGRES://me:Geheim@127.0.0.1:1/x?sslpassword=Geheim", "sslpassword"),
    ] {
        let once = ["--once", "--tasks", "stat", directory.as_str()];
        let file = stage.configure(&format!("history = {place:?}\n"));
        let in_file = ["watch", "--once", "-c", &file, directory.as_str()];
        for done in [
            Stage::new().with_history(place).watch(&once),
            stage.watch_by_environment(place, &once),
            stage.scene.run(&["note", "x", "--history", place]),
            stage.scene.run(&in_file),
        ] {
            assert_refused(&done, 2, &[part]);
            assert!(!format!("{done:?}").contains("Geheim"), "{done:?}");
        }
        let status = stage.watch_by_environment(place, &["--status"]);
        assert!(!format!("{status:?}").contains("Geheim"), "{status:?}");
    }
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 0, "nothing was measured");
}

#[test]
fn relative_histories_mean_the_directory_of_the_start_or_of_the_file() {
    let stage = Stage::new();
    let directory = stage.directory("scratch");
    let once = ["--once", "--tasks", "stat", directory.as_str()];
    let done = stage.watch_by_environment("environment.sqlite", &once);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(stage.scene.path().join("environment.sqlite").is_file());
    let site = stage.directory("site");
    let file = format!("{site}/iolag.toml");
    let runtime = stage.runtime();
    fs::write(&file, format!("history = \"file.sqlite\"\nruntime = {runtime:?}\n")).unwrap();
    let arguments = ["watch", "-c", "site/iolag.toml", "--rounds", "1", "--tasks", "stat", &directory];
    let done = stage.scene.run(&arguments);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_says(&done.stderr, &[&format!("history in {site}/file.sqlite")]);
    assert!(fs::exists(format!("{site}/file.sqlite")).unwrap());
    let status = stage.scene.run(&["watch", "--status", "-c", &file]);
    assert_says(&status.stdout, &["the last one said this at", "file.sqlite"]);
}

fn configuration_events(remembered: &Remembered) -> Vec<String> {
    let text = |record: &HistoryRecord| match record {
        HistoryRecord::Event(event) if event.kind == "configuration" => Some(event.text.clone()),
        _ => None,
    };
    remembered.0.iter().filter_map(text).collect()
}

fn configurations(remembered: &Remembered) -> Vec<Configuration> {
    let configuration = |record: &HistoryRecord| match record {
        HistoryRecord::Configuration(configuration) => Some(configuration.clone()),
        _ => None,
    };
    remembered.0.iter().filter_map(configuration).collect()
}

#[test]
fn a_configuration_that_came_back_and_those_of_other_hosts_are_no_news_at_each_start() {
    let stage = Stage::new();
    let directory = stage.directory("scratch");
    let head = "every = \"1h\"\njitter = \"0\"\ncontrol = false\n";
    let file = stage.configure(&format!("{head}{}", target("scratch", &directory, "stat")));
    stage.watch_to(0, &["--once", "-c", &file]);
    let remembered = stage.remembered();
    let [own] = &configurations(&remembered)[..] else { panic!("{:?}", remembered.0) };
    let news = || configuration_events(&stage.remembered()).len();
    let import = |different: u64, host: &str, first_seen: WallTime| {
        let facts = [("kernel".to_owned(), format!("0.{different}"))].into();
        let key = ConfigurationKey(own.key.0 ^ different);
        let one = Configuration { key, host: host.to_owned(), first_seen, facts, ..own.clone() };
        let export = stage.scene.path().join("one.jsonl");
        fs::write(&export, serde_json::to_string(&HistoryRecord::Configuration(one)).unwrap() + "\n")
            .unwrap();
        let done = stage.scene.run(&["import", export.to_str().unwrap(), "--history", &stage.history]);
        assert_eq!(done.code, Some(0), "{done:?}");
    };
    let newest = || stage.remembered().wholes("scratch", "stat").last().unwrap().intended;
    // Another one was seen after this one, before the newest sample; and another host has yet another one.
    import(1, &own.host, WallTime(own.first_seen.0 + 1));
    import(2, &format!("{}z", own.host), WallTime(newest().0 + 1));
    for _ in 0..2 {
        stage.watch_to(0, &["--once", "-c", &file]);
        assert_eq!(news(), 0, "{:?}", configuration_events(&stage.remembered()));
    }
    // One that was seen last is news when it is gone: once, however often the configuration is read again.
    import(4, &own.host, WallTime(newest().0 + 1));
    let watch = stage.start(&["-c", &file]);
    let mut begin = WallTime(0);
    for _ in 0..3 {
        begin = stage
            .wait_for("another beginning", |status| {
                status.begin > begin && last(status, "scratch", "stat").is_some()
            })
            .begin;
        watch.signal(libc::SIGHUP);
    }
    stage.wait_for("the last beginning", |status| status.begin > begin);
    watch.signal(libc::SIGINT);
    assert_eq!(watch.finish().code, Some(0));
    assert_eq!(news(), 1, "{:?}", configuration_events(&stage.remembered()));
}

#[test]
fn the_limit_on_rounds_is_one_on_all_that_a_reload_parts() {
    let stage = Stage::new();
    let directory = stage.directory("scratch");
    let file = stage.configure(&format!("jitter = \"0\"\n{}", target("scratch", &directory, "stat")));
    let watch = stage.start(&["-c", &file, "--every", "1h", "--rounds", "2"]);
    stage.wait_for("an idle watch", |status| {
        last(status, "scratch", "stat").is_some() && status.in_flight.is_empty()
    });
    watch.signal(libc::SIGHUP);
    let done = watch.finish();
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(stage.remembered().wholes("scratch", "stat").len(), 2);
}
