//! What PostgreSQL has of its own: connections, protection, turns, versions. Each test has a real server.

use std::cell::Cell;
use std::path::PathBuf;

use iolag_fixtures::{PostgresServer, current_test, skip};
use iolag_model::{BatchId, HistoryRecord, HistorySample, Outcome, ProbeId, WallSpan};
use iolag_store::history::{
    Access, ChangeMark, History, HistoryError, PasswordSources, PostgresHistory, open_history,
};

use crate::arbitrary::{batch, event, key, sample};
use crate::conformance;

fn connect(url: &str, access: Access) -> Result<PostgresHistory, HistoryError> {
    PostgresHistory::connect_with(url, access, &PasswordSources::none())
}

fn database(server: &PostgresServer, name: &str) -> String {
    server.ask("postgres", &format!("CREATE DATABASE {name}"));
    name.to_owned()
}

#[test]
fn postgres_is_a_history() {
    let Some(server) = PostgresServer::start() else { return };
    let number = Cell::new(0);
    let open = || -> Box<dyn History> {
        number.set(number.get() + 1);
        let name = database(&server, &format!("history_{}", number.get()));
        // Both ways in take turns.
        let url = if number.get() % 2 == 0 { server.url(&name) } else { server.socket_url(&name) };
        Box::new(connect(&url, Access::Create).unwrap())
    };
    conformance::check(&open, 16);
}

#[test]
fn several_hosts_write_at_once_and_a_follower_misses_nothing() {
    const HOSTS: u64 = 4;
    const ROUNDS: u64 = 25;
    let Some(server) = PostgresServer::start() else { return };
    database(&server, "site");
    let url = server.url("site");
    std::thread::scope(|scope| {
        for host in 0..HOSTS {
            let url = &url;
            scope.spawn(move || {
                // All make the tables at the same time, too.
                let mut history = connect(url, Access::Create).unwrap();
                let own = key(&format!("login{host}"), "list");
                for round in 0..ROUNDS {
                    let hung = sample(&own, round, Outcome::Hung, 1);
                    let mut records = vec![HistoryRecord::Sample(hung)];
                    if round > 0 {
                        let ended = sample(&own, round - 1, Outcome::Late, 2);
                        records.push(HistoryRecord::Sample(ended));
                    }
                    // All hosts speak of the same event.
                    records.push(HistoryRecord::Event(event("shared", own_time(round))));
                    history.append(&records).unwrap();
                }
            });
        }
        scope.spawn(|| follow(&url, HOSTS, ROUNDS));
    });
    let mut history = connect(&url, Access::ReadOnly).unwrap();
    for host in 0..HOSTS {
        let columns = history.samples(&key(&format!("login{host}"), "list"), WallSpan::ALL).unwrap();
        assert_eq!(columns.len() as u64, ROUNDS);
        assert_eq!(
            columns.outcome.iter().filter(|outcome| **outcome == Outcome::Late).count() as u64,
            ROUNDS - 1
        );
    }
}

fn own_time(round: u64) -> iolag_model::WallTime {
    iolag_model::WallTime::from_seconds(round as i64)
}

/// Follows the changes until the last sample of every host was seen in its last state.
fn follow(url: &str, hosts: u64, rounds: u64) {
    let mut history = connect(url, Access::Create).unwrap();
    let mut seen = std::collections::HashMap::new();
    let mut mark = ChangeMark::default();
    let begin = std::time::Instant::now();
    let is_complete = |seen: &std::collections::HashMap<_, Outcome>| {
        let late = seen.values().filter(|outcome| **outcome == Outcome::Late).count() as u64;
        seen.len() as u64 == hosts * rounds && late == hosts * (rounds - 1)
    };
    while !is_complete(&seen) {
        assert!(begin.elapsed().as_secs() < 90, "a change was missed: {} samples seen", seen.len());
        let changes = history.changes_after(mark, 7).unwrap();
        mark = changes.mark;
        for sample in changes.samples {
            seen.insert((sample.series, sample.probe), sample.outcome);
        }
    }
}

#[test]
fn a_password_opens_the_door_and_is_never_shown() {
    let Some(server) = PostgresServer::start() else { return };
    database(&server, "site");
    let without = format!("postgres://iolag@127.0.0.1:{}/site", server.port());
    let wrong = format!("postgres://iolag:falsch-geheim@127.0.0.1:{}/site", server.port());
    for url in [&without, &wrong] {
        let message = connect(url, Access::Create).unwrap_err().to_string();
        assert!(message.contains(".pgpass") && !message.contains("geheim"), "{message}");
        assert!(message.contains(&format!("postgres://iolag@127.0.0.1:{}/site", server.port())), "{message}");
    }
    let directory = tempfile::tempdir().unwrap();
    let file: PathBuf = directory.path().join("pgpass");
    std::fs::write(&file, format!("127.0.0.1:*:site:iolag:{}\n", PostgresServer::PASSWORD)).unwrap();
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let passwords = PasswordSources::file(file);
    let history = PostgresHistory::connect_with(&without, Access::Create, &passwords).unwrap();
    assert!(!format!("{history:?} {passwords:?}").contains("Riegel"));
    assert!(!history.location().contains("Riegel"));
    open_history(&server.url("site"), Access::ReadWrite).unwrap();
}

#[test]
fn what_will_not_mend_by_itself_is_told_from_what_will() {
    let Some(server) = PostgresServer::start() else { return };
    database(&server, "site");
    let url = server.url("site");
    let refusal = |url: &str| connect(url, Access::Create).unwrap_err();
    let password = PostgresServer::encoded_password();
    for lasting in [
        server.url("nowhere"),
        url.replace(&password, "falsch"),
        url.replace("iolag:", "nobody:"),
        format!("{url}?sslmode=verify-full"),
        "mysql://me:geheim@host/site".to_owned(),
    ] {
        let error = refusal(&lasting);
        assert!(!error.is_passing(), "{error:?}");
    }
    // Nobody listens; the server takes nobody now; it takes nobody more.
    let deaf = url.replace(&format!(":{}/", server.port()), ":1/");
    assert!(refusal(&deaf).is_passing(), "{:?}", refusal(&deaf));
    server.ask("postgres", "ALTER DATABASE site WITH ALLOW_CONNECTIONS false");
    assert!(refusal(&url).is_passing(), "{:?}", refusal(&url));
    server.ask("postgres", "ALTER DATABASE site WITH ALLOW_CONNECTIONS true CONNECTION LIMIT 0");
    server.ask("postgres", "CREATE ROLE guest LOGIN PASSWORD 'guest'");
    let guest = url.replace(&format!("iolag:{password}"), "guest:guest");
    assert!(refusal(&guest).is_passing(), "{:?}", refusal(&guest));
    server.ask("postgres", "ALTER DATABASE site WITH CONNECTION LIMIT -1");
    // It is let in, and may make nothing.
    let error = refusal(&guest);
    assert!(!error.is_passing() && error.to_string().contains("permission denied"), "{error:?}");
}

#[test]
fn the_case_of_the_scheme_does_not_matter() {
    let Some(server) = PostgresServer::start() else { return };
    database(&server, "site");
    let url = server.url("site").replace("postgres://", "PostgreSQL://");
    connect(&url, Access::Create).unwrap();
    open_history(&url, Access::ReadWrite).unwrap();
}

#[test]
fn the_server_is_proven_as_far_as_the_url_asks() {
    let Some(server) = PostgresServer::start() else { return };
    let Some(authority) = server.authority() else {
        skip(&current_test(), "openssl is not installed");
        return;
    };
    database(&server, "site");
    let url = |host: &str, parameters: &str| {
        let password = PostgresServer::encoded_password();
        format!("postgres://iolag:{password}@{host}:{}/site?{parameters}", server.port())
    };
    let root = format!("sslrootcert={}", authority.display());
    let is_encrypted = |url: &str| {
        let history = connect(url, Access::Create).map_err(|error| error.to_string());
        history.map(|mut history| {
            history.hosts().unwrap();
            // The last: the server may not have seen yet that the one before has ended.
            let statement = "SELECT s.ssl FROM pg_stat_ssl s JOIN pg_stat_activity a USING (pid) \
                             WHERE a.application_name = 'iolag' ORDER BY a.backend_start DESC LIMIT 1";
            server.ask("site", statement)
        })
    };
    // The certificate is for localhost, not for its address.
    assert_eq!(is_encrypted(&url("localhost", &format!("sslmode=verify-full&{root}"))).unwrap(), "t");
    assert_eq!(is_encrypted(&url("127.0.0.1", &format!("sslmode=verify-ca&{root}"))).unwrap(), "t");
    assert_eq!(is_encrypted(&url("127.0.0.1", "sslmode=require")).unwrap(), "t");
    assert_eq!(is_encrypted(&url("127.0.0.1", "sslmode=disable")).unwrap(), "f");
    assert_eq!(is_encrypted(&url("127.0.0.1", "")).unwrap(), "f");
    for refused in [
        url("127.0.0.1", &format!("sslmode=verify-full&{root}")),
        url("localhost", "sslmode=verify-full"),
        url("127.0.0.1", "sslmode=verify-ca&sslrootcert=/nonexistent.pem"),
    ] {
        let message = is_encrypted(&refused).unwrap_err();
        assert!(message.contains("sslrootcert") || message.contains("nonexistent.pem"), "{message}");
    }
}

#[test]
fn a_writer_that_does_not_let_go_is_waited_for_and_told() {
    let Some(server) = PostgresServer::start() else { return };
    database(&server, "site");
    let mut history = connect(&server.url("site"), Access::Create).unwrap();
    let record = [HistoryRecord::Sample(sample(&key("login1", "list"), 1, Outcome::Ok, 5))];
    let holder = std::thread::scope(|scope| {
        let holding = scope.spawn(|| {
            // Until it is told to let go.
            let hold = "DO $$ BEGIN PERFORM pg_advisory_xact_lock(29677383835910145); \
                        BEGIN PERFORM pg_sleep(90); EXCEPTION WHEN query_canceled THEN NULL; END; END $$";
            server.ask("site", hold)
        });
        while server.ask("site", "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'") == "0" {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        let refused = history.append(&record);
        server.ask(
            "site",
            "SELECT pg_cancel_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted",
        );
        let error = refused.unwrap_err();
        assert!(matches!(error, HistoryError::Busy { .. }) && error.is_passing(), "{error}");
        holding.join()
    });
    holder.unwrap();
    assert_eq!(history.append(&record).unwrap().changed, 1, "nothing was lost, and the connection is good");
}

#[test]
fn a_lost_connection_is_made_again() {
    let Some(server) = PostgresServer::start() else { return };
    database(&server, "site");
    let mut history = connect(&server.url("site"), Access::Create).unwrap();
    let list = key("login1", "list");
    let record = |number| [HistoryRecord::Sample(sample(&list, number, Outcome::Ok, 5))];
    history.append(&record(1)).unwrap();
    server.ask(
        "site",
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'iolag'",
    );
    // The loss is told once at most; then it goes on.
    let first = history.append(&record(2));
    if let Err(error) = &first {
        assert!(matches!(error, HistoryError::Connection { .. }) && error.is_passing(), "{error}");
        history.append(&record(2)).unwrap();
    }
    assert_eq!(history.samples(&list, WallSpan::ALL).unwrap().len(), 2);
}

#[test]
fn readers_write_nothing_and_versions_are_respected() {
    let Some(server) = PostgresServer::start() else { return };
    database(&server, "site");
    let url = server.url("site");
    for access in [Access::ReadOnly, Access::ReadWrite] {
        let error = connect(&url, access).unwrap_err();
        assert!(matches!(error, HistoryError::Missing { .. }), "{error}");
    }
    connect(&url, Access::Create).unwrap();
    let record = [HistoryRecord::Sample(sample(&key("login1", "list"), 1, Outcome::Ok, 5))];
    let error = connect(&url, Access::ReadOnly).unwrap().append(&record).unwrap_err();
    assert!(matches!(error, HistoryError::ReadOnly { .. }), "{error}");
    // A role of the administrator's choice that may write rows but make nothing.
    server.ask(
        "site",
        "CREATE ROLE watcher LOGIN; GRANT USAGE ON SCHEMA iolag TO watcher; \
         GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA iolag TO watcher",
    );
    let watcher = server.socket_url("site").replace("iolag@", "watcher@");
    assert_eq!(connect(&watcher, Access::Create).unwrap().append(&record).unwrap().changed, 1);
    // Version 4 has the same tables: it is read as it is, and becomes 5 for who writes.
    server.ask("site", "UPDATE iolag.schema_version SET version = 4");
    let version = || server.ask("site", "SELECT version FROM iolag.schema_version");
    assert_eq!(connect(&url, Access::ReadOnly).unwrap().series().unwrap().len(), 1);
    assert_eq!(version(), "4");
    connect(&url, Access::ReadWrite).unwrap();
    assert_eq!(version(), "5");
    server.ask("site", "UPDATE iolag.schema_version SET version = 1000");
    for access in [Access::ReadOnly, Access::ReadWrite, Access::Create] {
        let error = connect(&url, access).unwrap_err();
        assert!(matches!(error, HistoryError::Newer { version: 1000, .. }), "{error}");
    }
}

#[test]
fn a_history_of_version_1_is_brought_up_to_date_and_can_be_corrected() {
    let Some(server) = PostgresServer::start() else { return };
    database(&server, "site");
    let url = server.url("site");
    let list = key("login1", "list");
    let tables = include_str!("../../src/history/postgres/schema_1.sql");
    server.ask(
        "site",
        &format!(
            "SET ROLE iolag; CREATE SCHEMA iolag; SET search_path = iolag; {tables} CREATE TABLE schema_version (version bigint NOT NULL); \
             INSERT INTO schema_version VALUES (1); \
             INSERT INTO series (host, target, task, part) VALUES ('login1', '/scratch', 'list', ''); \
             INSERT INTO sample (change, series, probe, intended_ns, lag_ns, duration_ns, outcome, failure) VALUES \
             (1, 1, 1, 0, 0, 5, 2, 61445), (2, 1, 2, 1, 0, 6, 2, 0); \
             INSERT INTO event (id, begin_ns, host, target, source, kind, text, author) VALUES ('e', 0, '', '', 'note', '', 'text', 'me')"
        ),
    );
    let error = connect(&url, Access::ReadOnly).unwrap_err();
    assert!(matches!(error, HistoryError::Older { version: 1, .. }), "{error}");
    let mut history = connect(&url, Access::ReadWrite).unwrap();
    let columns = history.samples(&list, WallSpan::ALL).unwrap();
    assert_eq!(columns.outcome, [Outcome::Interrupted, Outcome::Timeout]);
    let row =
        server.ask("site", "SELECT outcome, failure, censored FROM iolag.samples WHERE duration_s < 5.5e-9");
    assert_eq!(row, "interrupted|0|t");
    // What was imported before imports were batches can be replaced, and comes back.
    let replaced =
        HistorySample { batch: Some(BatchId(7)), probe: ProbeId(2), ..sample(&list, 1, Outcome::Ok, 1) };
    history.append(&[HistoryRecord::Sample(replaced), HistoryRecord::Batch(batch(7, None))]).unwrap();
    let outcomes = |history: &mut PostgresHistory| history.samples(&list, WallSpan::ALL).unwrap().outcome;
    assert_eq!(outcomes(&mut history), [Outcome::Interrupted, Outcome::Ok]);
    history.append(&[HistoryRecord::Batch(batch(7, Some(8)))]).unwrap();
    assert_eq!(outcomes(&mut history), [Outcome::Interrupted, Outcome::Timeout]);
    assert_eq!(history.events(WallSpan::ALL).unwrap().len(), 1);
}

#[test]
fn a_server_that_is_not_there_is_told_with_advice() {
    let error = connect("postgres://me:geheim@127.0.0.1:1/site", Access::Create).unwrap_err().to_string();
    assert!(error.contains("postgres://me@127.0.0.1:1/site") && error.contains("firewall"), "{error}");
    assert!(!error.contains("geheim"), "{error}");
}

#[test]
fn the_view_for_people_shows_seconds() {
    let Some(server) = PostgresServer::start() else { return };
    database(&server, "site");
    let mut history = connect(&server.url("site"), Access::Create).unwrap();
    history
        .append(&[HistoryRecord::Sample(sample(&key("login1", "list"), 1, Outcome::Hung, 1_500_000_000))])
        .unwrap();
    let row = server.ask("site", "SELECT task, duration_s::float8, outcome, censored FROM iolag.samples");
    assert_eq!(row, "list|1.5|hung|t");
}
