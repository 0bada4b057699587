//! Servers: one command line, of which only the target changes.

use std::path::Path;

use iolag_fixtures::{PostgresServer, S3Server, WebServer};
use serde_json::Value;

use crate::user::User;

/// A bench of 24 objects, with these options.
fn bench<'a>(target: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let small = ["bench", "metadata", target, "-D2", "-P6", "-I2", "-R1", "-n2"];
    [&small[..], more].concat()
}

/// The last run as it is stored.
fn last_record(user: &User) -> Value {
    let runs = std::fs::read_dir(user.store().join("runs")).unwrap();
    let last = runs.flatten().map(|entry| entry.path()).max().unwrap();
    serde_json::from_slice(&std::fs::read(last.join("run.json")).unwrap()).unwrap()
}

/// Measures there, and looks at what is left.
fn assert_measures(target: &str, is_empty: impl Fn() -> bool) {
    let user = User::new();
    let said = user.fine(&bench(target, &["--verify"]));
    for row in ["create", "read", "stat", "delete"] {
        assert!(
            said.output.lines().any(|line| line.trim_start().starts_with(row)),
            "{target}: {}",
            said.output
        );
    }
    assert!(said.output.contains("Working set: constant"), "{}", said.output);
    assert!(is_empty(), "{target}: something is left");
    let record = last_record(&user);
    assert!(said.output.contains("state     complete"), "{}", said.output);
    if !target.starts_with('/') {
        let parts = record["targets"][0]["server"]["parts"].as_array().unwrap();
        assert!(parts.iter().any(|part| part["operation"] == "call.connect"), "{parts:?}");
        assert!(said.output.contains("call.first-byte"), "{}", said.output);
        assert!(said.output.contains("its first answer took"), "{}", said.output);
        let words: Vec<&str> = said.output.split_whitespace().collect();
        assert!(words.windows(2).any(|words| words == ["stat", "is"]), "{}", said.output);
    }
}

fn is_empty(directory: &Path) -> bool {
    std::fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_none())
}

#[test]
fn a_directory_and_a_bucket_are_measured_by_the_same_command() {
    let user = User::new();
    let directory = user.directory("scratch");
    assert_measures(&directory, || is_empty(Path::new(&directory)));
    let Some(server) = S3Server::start() else { return };
    assert_measures(&server.target("x"), || !server.objects().join("x/iolag-work").exists());
}

#[test]
fn a_database_is_measured_by_the_same_command() {
    let Some(server) = PostgresServer::start() else { return };
    let tables = "SELECT count(*) FROM pg_class WHERE relname LIKE 'iolag%'";
    for tables_of in ["one", "dataset"] {
        let target = format!("{}#tables={tables_of}", server.url("postgres"));
        assert_measures(&target, || server.ask("postgres", tables) == "0");
    }
}

#[test]
fn a_webdav_server_is_measured_by_the_same_command() {
    let Some(server) = WebServer::start() else { return };
    assert_measures(&server.target("dav", "dav"), || is_empty(&server.data().join("dav")));
}

#[cfg(feature = "mongodb")]
#[test]
fn a_server_that_speaks_as_mongodb_is_measured_by_the_same_command() {
    let Some(server) = iolag_fixtures::MongoServer::start() else { return };
    let target = server.target("iolag");
    let place = |target: &str| {
        let target = iolag_backend::Target::parse(target).unwrap();
        let clock = std::sync::Arc::new(iolag_model::MonotonicClock);
        target
            .backend(iolag_backend::WORKING_NAME, clock)
            .unwrap()
            .reopen_place()
            .map_err(|error| error.to_string())
    };
    for collections_of in ["one", "dataset"] {
        let target = format!("{target}#collections={collections_of}");
        assert_measures(&target, || place(&target).is_err_and(|said| said.contains("no working set")));
    }
}

#[test]
fn servers_stand_beside_a_directory_with_where_the_time_of_requests_goes() {
    let (Some(bucket), Some(web)) = (S3Server::start(), WebServer::start()) else { return };
    let (user, targets) = (User::new(), [bucket.target("x"), web.target("dav", "dav")]);
    let sides = ["--repeat", "2", "--report", "page.html", &targets[0], &targets[1]];
    let said = user.fine(&bench(&user.directory("scratch"), &sides));
    assert!(said.output.contains("Operation by operation"), "{}", said.output);
    let of_server = |line: &&str| line.contains("dav://127") && line.contains("  1.00  ");
    assert_eq!(said.output.lines().filter(of_server).count(), 4, "{}", said.output);
    assert!(said.output.contains("Where the time of a request goes"), "{}", said.output);
    let page = std::fs::read_to_string(user.path("page.html")).unwrap();
    for words in ["Operation by operation", "round trips", "first byte", "s3://bucket/x"] {
        assert!(page.contains(words), "{words}");
    }
    let fresh = user.fine(&bench(&targets[1], &["--session", "fresh,reuse", "--repeat", "2"]));
    assert!(!fresh.output.contains("differs"), "what is compared is no doubt: {}", fresh.output);
    let again = user.fine(&["compare", "campaign:last:session fresh", "campaign:last:reuse"]);
    let is_head = |line: &str| line.contains("session fresh") && line.trim_end().ends_with("reuse");
    assert!(again.output.lines().any(is_head), "{}", again.output);
    let connects =
        fresh.output.lines().filter(|line| line.contains("round trips") && line.contains("connect"));
    assert!(connects.count() > 0, "{}", fresh.output);
    for session in
        ["session fresh, repetition 1", "dav, session reuse  ", "in percent of session fresh", "  stat  "]
    {
        assert!(fresh.output.contains(session), "{session}: {}", fresh.output);
    }
}

#[test]
fn a_server_with_tls_is_trusted_by_its_authority() {
    let Some(server) = WebServer::start_with_tls("DNS:localhost", 10) else { return };
    let (user, target) = (User::new(), server.target("dav", "dav"));
    let said = user.iolag(&bench(&target, &[]));
    assert!(said.code == 3 && said.errors.contains("--ca-file FILE"), "{said:?}");
    let authority = server.authority().unwrap().to_str().unwrap();
    let said = user.fine(&bench(&target, &["--ca-file", authority, "--session", "fresh,reuse"]));
    assert!(said.output.contains("call.tls") && said.output.contains("TLS 1.3"), "{}", said.output);
    let said = user.iolag(&bench(&user.directory("scratch"), &["--ca-file", authority]));
    assert!(said.code == 2 && said.errors.contains("--ca-file is for servers"), "{said:?}");
    let mixed = ["--ca-file", authority, "--repeat", "2", &target];
    user.fine(&bench(&user.directory("scratch"), &mixed));
    user.fine(&["ping", &target, "-n", "1", "--ca-file", authority]);
    let said = user.fine(&["check", &target, "--budget", "5s", "--ca-file", authority]);
    assert!(said.output.contains("dav"), "{said:?}");
    let said = user.iolag(&["watch", "--ca-file", authority, "--once"]);
    assert!(said.code == 2 && said.errors.contains("<DIR|URL>"), "{said:?}");
}

#[test]
fn a_working_set_on_a_server_is_continued_and_removed_by_who_is_let_in() {
    let Some(server) = S3Server::start() else { return };
    let user = User::new();
    let target = format!("s3://{}/kept", S3Server::BUCKET);
    let place = server.objects().join("kept/iolag-work");
    let with_key = |arguments: &[&str]| {
        let mut command = user.command(env!("CARGO_BIN_EXE_iolag"));
        command.args(arguments).env("AWS_ACCESS_KEY_ID", S3Server::KEY);
        command.env("AWS_SECRET_ACCESS_KEY", S3Server::SECRET).env("AWS_ENDPOINT_URL", server.endpoint());
        crate::user::said(command)
    };
    let made = with_key(&bench(&target, &["--phases", "precreate"]));
    assert!(made.code == 0 && place.exists(), "{made:?}");
    let gone_on = with_key(&bench(&target, &["--phases", "benchmark"]));
    assert_eq!(gone_on.code, 0, "{gone_on:?}");
    // Whose key it is was not stored, and the endpoint was.
    let run = made.output.split_whitespace().nth(1).unwrap().to_owned();
    let refused = user.iolag(&["cleanup", &run]);
    assert!(refused.code != 0 && place.exists(), "{refused:?}");
    assert!(refused.output.contains("AWS_SECRET_ACCESS_KEY"), "{refused:?}");
    let removed = with_key(&["cleanup", &run]);
    assert!(removed.code == 0 && !place.exists(), "{removed:?}");
}

#[test]
fn of_a_run_that_has_removed_its_place_nothing_is_left() {
    let Some(server) = PostgresServer::start() else { return };
    let user = User::new();
    user.fine(&bench(&server.url("postgres"), &[]));
    let with_password = |arguments: &[&str]| {
        let mut command = user.command(env!("CARGO_BIN_EXE_iolag"));
        command.args(arguments).env("PGPASSWORD", PostgresServer::PASSWORD);
        crate::user::said(command)
    };
    let said = with_password(&["cleanup", "last"]);
    assert!(said.code == 0 && said.output.contains("nothing to remove"), "{said:?}");
    let run = last_record(&user)["id"].as_str().unwrap().to_owned();
    let said = with_password(&["rm", &run, "--yes"]);
    assert_eq!(said.code, 0, "{said:?}");
    server.ask("postgres", "CREATE TABLE \"iolag-work\" (a int)");
    let said = user.iolag(&bench(&server.url("postgres"), &[]));
    assert!(said.code == 3 && said.errors.contains("is not empty"), "{said:?}");
}

/// As in a program that was built without MongoDB, or is older.
#[test]
fn a_place_that_this_program_cannot_reach_is_no_place_where_nothing_is() {
    let Some(server) = WebServer::start() else { return };
    let (user, target) = (User::new(), server.target("dav", "dav"));
    user.fine(&bench(&target, &["--phases", "precreate"]));
    let run = last_record(&user)["id"].as_str().unwrap().to_owned();
    let manifest = user.store().join("runs").join(&run).join("manifest.json");
    let noted = std::fs::read_to_string(&manifest).unwrap();
    assert!(noted.contains(&target), "{noted}");
    std::fs::write(manifest, noted.replace(&target, "gsiftp://grid/dav")).unwrap();
    let said = user.iolag(&["cleanup", &run]);
    assert!(said.code == 4 && said.output.contains("no backend for gsiftp targets"), "{said:?}");
    let said = user.iolag(&["rm", &run, "--yes"]);
    assert!(said.code == 2 && said.errors.contains("may still be there"), "{said:?}");
}

#[test]
fn a_file_that_is_not_read_stops_nobody_who_is_not_asked_who_he_is() {
    let Some(server) = WebServer::start() else { return };
    let user = User::new();
    let ping = |target: &str| {
        let mut command = user.command(env!("CARGO_BIN_EXE_iolag"));
        command.args(["ping", target, "-n", "1"]).env("NETRC", user.path("netrc"));
        crate::user::said(command)
    };
    let netrc = user.path("netrc");
    std::fs::write(&netrc, "machine 127.0.0.1 login me password geheim\n").unwrap();
    std::fs::set_permissions(&netrc, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    let said = ping(&server.target("dav", "dav"));
    assert_eq!(said.code, 0, "{said:?}");
    let said = ping(&server.target("dav", "private"));
    assert!(said.code != 0 && said.errors.contains("others may read it"), "{said:?}");
    assert!(!format!("{said:?}").contains("geheim"), "{said:?}");
}

#[test]
fn the_first_error_ends_a_run_where_that_is_asked_for() {
    let Some(server) = WebServer::start() else { return };
    let user = User::new();
    let target = format!("faulty:read:eio@0.5:{}", server.target("dav", "dav"));
    let said = user.iolag(&bench(&target, &[]));
    assert!(said.code == 0 && said.output.contains("errors"), "{said:?}");
    let said = user.iolag(&bench(&target, &["--on-error", "stop"]));
    assert_eq!(said.code, 4, "{said:?}");
    assert!(
        said.output.contains("stopped at the first request that failed, as --on-error stop says"),
        "{said:?}"
    );
    assert!(is_empty(&server.data().join("dav")), "it has cleaned up");
}

#[test]
fn what_cannot_be_done_on_a_server_is_refused_in_a_sentence() {
    let Some(server) = WebServer::start() else { return };
    let (user, target) = (User::new(), server.target("dav", "dav"));
    let plain = server.target("http", "dav");
    for (arguments, code, sentence) in [
        (bench(&target, &["--fsync"]), 2, "--fsync is for directories"),
        (bench(&target, &["--caches", "cold"]), 2, "--caches cold is for directories"),
        (bench(&plain, &[]), 2, "cannot execute"),
        (bench(&target, &["--detail", "calls"]), 2, "cannot execute"),
        (vec!["bench", "stream", &target], 2, "cannot execute"),
        (vec!["bench", "setup", &target], 2, "cannot execute"),
        (vec!["bench", "tree", &target], 2, "no tree of files"),
        (bench("/tmp", &["--session", "fresh"]), 2, "--session fresh is for servers"),
        (bench("dav://127.0.0.1:1/x", &[]), 3, "check the port"),
        (bench("s3:bucket", &[]), 2, "expected s3://BUCKET/PREFIX"),
    ] {
        let said = user.iolag(&arguments);
        assert!(said.code == code && said.errors.contains(sentence), "{arguments:?}: {said:?}");
    }
    assert!(is_empty(&server.data().join("dav")));
}

#[test]
fn no_secret_is_in_anything_that_is_stored_or_shown() {
    let Some(server) = S3Server::start() else { return };
    let user = User::new();
    let target = server.target("x");
    let said = user.fine(&bench(&target, &["--report", "page.html", "--json", "all.json"]));
    let listed = user.fine(&["show", "last", "--format", "json"]);
    let mut told = format!("{said:?}{listed:?}");
    let mut directories = vec![user.path("")];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory).unwrap().flatten() {
            match entry.file_type().unwrap().is_dir() {
                true => directories.push(entry.path()),
                false => told.push_str(&String::from_utf8_lossy(&std::fs::read(entry.path()).unwrap())),
            }
        }
    }
    assert!(
        told.contains("s3://iolagtests:***@bucket/x") && told.contains("<html"),
        "there is something to look at"
    );
    for secret in [S3Server::SECRET, "gehe%2Fim", "gehe/im", "X-Amz-Signature=", "X-Amz-Credential="] {
        assert!(!told.contains(secret), "{secret} is in what was stored or shown");
    }
}
