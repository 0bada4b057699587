//! Histories that are locked, full, or on a server: probing goes on, nothing is lost, and no secret is told.

use std::fs;
use std::time::Duration;

use iolag_fixtures::{LoopMount, PostgresServer};
use iolag_model::WatchStatus;

use crate::remembered::{Remembered, assert_all_fine};
use crate::stage::{Stage, assert_refused, target};
use crate::support::assert_says;

/// So many that the watch is still there when somebody who is slow comes to take the history away.
const ROUNDS: usize = 120;

/// The arguments of a watch of that many short rounds.
fn arguments(directory: &str) -> [&str; 7] {
    ["--rounds", "120", "--every", "100ms", "--tasks", "stat", directory]
}

/// Every slot of every round is there. Most were executed on a machine that has time for that; on a busy one the probe before is often
/// still under way when one is due.
fn assert_complete(remembered: &Remembered, directory: &str) {
    for target in [directory, "host memory"] {
        assert_all_fine(&remembered.wholes(target, "stat"), ROUNDS / 10);
        assert_eq!(remembered.wholes(target, "stat").len(), ROUNDS);
    }
    remembered.assert_nothing_is_double();
}

fn has_waiting(status: &WatchStatus) -> bool {
    status.waiting_records >= 20
}

#[test]
fn a_locked_database_holds_no_probe_up_and_gets_everything_later() {
    let stage = Stage::new();
    let directory = stage.directory("scratch");
    let watch = stage.start(&arguments(&directory));
    stage.wait_for_rounds(2);
    let mut database = rusqlite::Connection::open(&stage.history).unwrap();
    database.busy_timeout(Duration::from_secs(30)).unwrap();
    let lock = database.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).unwrap();
    let rounds = stage.wait_for("records that wait", has_waiting).rounds;
    stage.wait_for_rounds(rounds + 5);
    drop(lock);
    drop(database);
    let done = watch.finish();
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_complete(&stage.remembered(), &directory);
    stage.assert_database_is_sound();
}

#[test]
fn a_database_that_stays_locked_is_said_and_the_next_watch_brings_everything_there() {
    let stage = Stage::new();
    let directory = stage.directory("scratch");
    let watch = stage.start(&["--every", "100ms", "--tasks", "stat", &directory]);
    stage.wait_for_rounds(2);
    let mut database = rusqlite::Connection::open(&stage.history).unwrap();
    database.busy_timeout(Duration::from_secs(30)).unwrap();
    let lock = database.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).unwrap();
    let told = stage.wait_for("the trouble", |status| status.history_trouble.is_some());
    assert!(told.history_trouble.as_ref().unwrap().contains("locked by another process"), "{told:?}");
    assert_says(
        &stage.status(0),
        &["the history cannot be written: ", "locked by another process", "records wait"],
    );
    watch.signal(libc::SIGINT);
    let done = watch.finish();
    assert_eq!(done.code, Some(4), "{done:?}");
    assert_says(
        &done.stderr,
        &[
            "records are not in the history yet",
            "locked by another process",
            "the next watch brings them there",
        ],
    );
    drop(lock);
    drop(database);
    stage.watch_to(0, &["--once", "--tasks", "stat", &directory]);
    let samples = stage.remembered();
    // The last round may have been cut short; the next watch added one.
    assert!(samples.wholes(&directory, "stat").len() as u64 >= told.rounds, "{}", told.rounds);
    assert_all_fine(&samples.wholes(&directory, "stat"), 2);
}

#[test]
fn a_full_disk_holds_no_probe_up_and_gets_everything_when_it_has_room() {
    let Some(disk) = LoopMount::ext4(16) else { return };
    let history = disk.path().join("history.sqlite");
    let stage = Stage::new().with_history(history.to_str().unwrap());
    let directory = stage.directory("scratch");
    let watch = stage.start(&arguments(&directory));
    stage.wait_for_rounds(2);
    disk.fill().unwrap();
    let told = stage.wait_for("the trouble", |status| status.history_trouble.is_some());
    assert!(told.history_trouble.as_ref().unwrap().contains("free some space"), "{told:?}");
    let rounds = stage.wait_for("records that wait", has_waiting).rounds;
    stage.wait_for_rounds(rounds + 5);
    fs::remove_file(disk.path().join("filling")).unwrap();
    let done = watch.finish();
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_complete(&stage.remembered(), &directory);
    stage.assert_database_is_sound();
    drop(stage);
}

/// The command lines of all processes of a stage.
fn command_lines(stage: &Stage) -> String {
    let line = |(process, _): &(u32, String)| {
        fs::read_to_string(format!("/proc/{process}/cmdline")).unwrap_or_default()
    };
    stage.scene.processes().iter().map(line).collect()
}

#[test]
fn a_password_that_was_typed_is_in_no_command_line() {
    let stage = Stage::new().with_history("postgres://u:geheim@127.0.0.1:1/x");
    let directory = stage.directory("scratch");
    let watch = stage.start(&["--every", "100ms", "--tasks", "stat", &directory]);
    stage.wait_for_rounds(2);
    let told = command_lines(&stage);
    assert!(told.contains("postgres://u:***@127.0.0.1:1/x") && !told.contains("geheim"), "{told}");
    watch.signal(libc::SIGINT);
    assert_eq!(watch.finish().code, Some(4), "there is no server");
    stage.scene.assert_nobody_is_left();
}

#[test]
fn a_configuration_with_a_password_that_others_may_read_is_told() {
    use std::os::unix::fs::PermissionsExt;
    let stage = Stage::new();
    let directory = stage.directory("scratch");
    let configure = |history: &str, mode: u32| {
        let file = stage.configure(&format!(
            "history = {history:?}\nruntime = {:?}\n{}",
            stage.runtime(),
            target("scratch", &directory, "stat")
        ));
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        file
    };
    let said = |file: &str, how: &str| stage.scene.run(&["watch", how, "-c", file]).stderr;
    let secret = "postgres://u:geheim@127.0.0.1:1/x";
    for mode in [0o644, 0o640, 0o604] {
        let file = configure(secret, mode);
        for how in ["--once", "--status"] {
            let errors = said(&file, how);
            let told = format!("{file} holds a password, and others may read it (mode {mode:o})");
            assert!(errors.contains(&told) && errors.contains(&format!("chmod 600 {file}")), "{errors}");
            assert!(!errors.contains("geheim"), "{errors}");
        }
    }
    for (history, mode) in [(secret, 0o600), ("postgres://u@127.0.0.1:1/x", 0o644)] {
        let errors = said(&configure(history, mode), "--status");
        assert!(!errors.contains("holds a password"), "{errors}");
    }
    let quiet = stage.scene.run(&["-q", "watch", "--status", "-c", &configure(secret, 0o644)]);
    assert!(!quiet.stderr.contains("holds a password"), "{quiet:?}");
}

#[test]
fn a_password_that_was_typed_is_in_no_command_line_and_opens_the_history() {
    let Some(server) = PostgresServer::start() else { return };
    let stage = Stage::new().with_history(server.url("postgres"));
    let directory = stage.directory("scratch");
    let watch = stage.start(&["--every", "100ms", "--tasks", "stat", &directory]);
    stage.wait_for_rounds(2);
    let told = command_lines(&stage);
    for secret in [PostgresServer::PASSWORD.to_owned(), PostgresServer::encoded_password()] {
        assert!(told.contains(":***@127.0.0.1:") && !told.contains(&secret), "{told}");
    }
    watch.signal(libc::SIGINT);
    let done = watch.finish();
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(stage.remembered().wholes(&directory, "stat").len() >= 2);
}

#[test]
fn a_site_history_in_postgresql_gets_everything_and_keeps_its_secret() {
    let Some(server) = PostgresServer::start() else { return };
    let stage = Stage::new();
    let directory = stage.directory("scratch");
    let url = server.url("postgres");
    let secrets = [PostgresServer::PASSWORD.to_owned(), PostgresServer::encoded_password()];
    let file = stage.configure(&format!(
        "every = \"100ms\"\njitter = \"0\"\nhistory = {url:?}\nruntime = {:?}\n{}",
        stage.runtime(),
        target("scratch", &directory, "stat")
    ));
    let stage = stage.with_history(url);
    // The URL stands in the file alone.
    let start = ["watch", "-c", &file, "--rounds", "120"];
    let watch = stage.scene.start(&start);
    stage.wait_for_rounds(2);
    let mut told = String::new();
    for (process, _) in stage.scene.processes() {
        for name in ["cmdline", "comm", "stat"] {
            told += &fs::read_to_string(format!("/proc/{process}/{name}")).unwrap_or_default();
        }
    }
    assert!(told.contains("iolag"), "{told}");
    // The server does not let the watch in for a while.
    server.ask("postgres", "ALTER ROLE iolag PASSWORD 'another'");
    let troubled = stage.wait_for("the trouble", |status| status.history_trouble.is_some());
    told += &format!("{troubled:?}");
    let status = stage.scene.run(&["watch", "--status", "-c", &file]);
    assert_eq!(status.code, Some(0), "{status:?}");
    assert_says(
        &status.stdout,
        &["history postgres://iolag@127.0.0.1:", "the history cannot be written", "records wait"],
    );
    told += &status.stdout;
    told += &stage.scene.run(&["watch", "--status", "-c", &file, "--json", "-"]).stdout;
    // A second watch is refused by the server first.
    let refused = stage.scene.run(&["watch", "--once", "-c", &file]);
    assert_refused(&refused, 3, &["postgres://iolag@127.0.0.1"]);
    told += &refused.stderr;
    server.ask("postgres", &format!("ALTER ROLE iolag PASSWORD '{}'", PostgresServer::PASSWORD));
    let done = watch.finish();
    assert_eq!(done.code, Some(0), "{done:?}");
    told += &(done.stdout + &done.stderr);
    for secret in &secrets {
        assert!(!told.contains(secret.as_str()), "{secret:?} was told: {told}");
    }
    for entry in fs::read_dir(stage.runtime()).unwrap().flatten().filter(|entry| entry.path().is_dir()) {
        for file in fs::read_dir(entry.path()).unwrap().flatten().filter(|file| file.path().is_file()) {
            let kept = String::from_utf8_lossy(&fs::read(file.path()).unwrap()).into_owned();
            assert!(
                !secrets.iter().any(|secret| kept.contains(secret)),
                "{:?} holds the password",
                file.path()
            );
        }
    }
    let remembered = stage.remembered();
    for target in ["scratch", "host memory"] {
        assert_all_fine(&remembered.wholes(target, "stat"), ROUNDS / 10);
        assert_eq!(remembered.wholes(target, "stat").len(), ROUNDS);
    }
    remembered.assert_nothing_is_double();
    stage.scene.assert_nobody_is_left();
}
