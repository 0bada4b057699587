//! `iolag check` of servers beside directories: one table, and a sentence each for those that cannot be measured.

use iolag_fixtures::{PostgresServer, S3Server, WebServer};

use crate::user::{Said, User, text};

const SHORT: [&str; 5] = ["--budget", "12s", "--stream-size", "256KiB", "-q"];

fn check(user: &User, targets: &[&str], more: &[&str]) -> Said {
    user.iolag(&[&["check"], targets, &SHORT[..], more].concat())
}

/// The operations that a target of a check has, of objects as wholes.
fn operations(document: &serde_json::Value, index: usize) -> Vec<String> {
    let summaries = document["directories"][index]["summaries"].as_array().unwrap();
    let names = summaries.iter().map(|summary| text(summary, "operation").to_owned());
    names.filter(|name| !name.starts_with("call.")).collect()
}

fn flat(text: &str) -> String {
    text.replace('\u{a0}', " ").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn servers_are_measured_beside_a_directory_and_left_as_they_were() {
    let (Some(s3), Some(web), Some(postgres)) =
        (S3Server::start(), WebServer::start(), PostgresServer::start())
    else {
        return;
    };
    let user = User::new();
    let directory = user.directory("scratch");
    let (bucket, share, database) = (s3.target("some"), web.target("dav", "dav"), postgres.url("postgres"));
    let said = check(&user, &[&directory, &bucket, &share, &database], &["--report", "page.html"]);
    assert_eq!(said.code, 0, "{said:?}");
    let document = user.document("last");
    let objects = ["create", "read", "stat", "list", "delete"];
    for index in 0..4 {
        let operations = operations(&document, index);
        assert!(objects.iter().all(|name| operations.iter().any(|has| has == name)), "{operations:?}");
        let of_directories = operations.iter().any(|name| name == "ls -l" || name == "write+fsync");
        assert_eq!(of_directories, index == 0, "{operations:?}");
        let verdict = text(&document["directories"][index]["verdict"], "sentence");
        assert!(!verdict.contains("could not") && !verdict.contains("failed"), "{verdict}");
    }
    assert_eq!(text(&document["directories"][2]["server"], "software").split('/').next(), Some("nginx"));
    // One table, in which the settings of a target and its password are no part of its name.
    for name in ["s3://iolagtests:***@bucket/some (VERSITYGW)", "(PostgreSQL ", "list ", "delete ", "ls -l "]
    {
        assert!(said.output.contains(name), "{name}: {}", said.output);
    }
    assert!(!said.output.contains("endpoint="), "{}", said.output);
    let note = "Servers are asked for objects alone: `ls -l`, `create 500`";
    let page = std::fs::read_to_string(user.path("page.html")).unwrap();
    assert!(flat(&said.output).contains(note) && flat(&page).contains("Servers are asked for objects alone"));
    let everything = format!("{said:?}{page}{document}{}", user.record());
    for secret in ["gehe%2Fim", "gehe/im", PostgresServer::PASSWORD, &PostgresServer::encoded_password()] {
        assert!(!everything.contains(secret), "{secret}");
    }
    let left = |directory: std::path::PathBuf| std::fs::read_dir(directory).unwrap().count();
    assert_eq!(left(web.data().join("dav")), 0);
    let tables = "SELECT count(*) FROM pg_tables WHERE tablename LIKE 'iolag%'";
    assert_eq!(postgres.ask("postgres", tables).trim(), "0");
    let seen = walk(&s3.objects());
    assert!(!seen.iter().any(|path| path.contains("iolag-check")), "{seen:?}");
}

fn walk(directory: &std::path::Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap().flatten() {
        found.push(entry.path().display().to_string());
        if entry.path().is_dir() {
            found.extend(walk(&entry.path()));
        }
    }
    found
}

#[test]
fn a_server_that_is_not_reached_or_lets_nobody_in_has_its_sentence_and_the_others_are_measured() {
    let Some(s3) = S3Server::start() else { return };
    let user = User::new();
    let directory = user.directory("scratch");
    let target = s3.target("x");
    let wrong = target.replace("gehe%2Fim", "falsch");
    let missing = target.replace("@bucket/", "@other/");
    let closed = "postgres://me:hunter2@127.0.0.1:1/x";
    let said = check(&user, &[&wrong, &directory, &missing, closed, "dav://no-such-host.invalid/x"], &[]);
    assert_eq!(said.code, 4, "{said:?}");
    let document = user.document("last");
    let verdict = |index: usize| text(&document["directories"][index]["verdict"], "sentence").to_owned();
    for (index, words) in [
        (0, "AWS_SECRET_ACCESS_KEY"),
        (2, "check the bucket's name"),
        (3, "check the port"),
        (4, "cannot resolve the name no-such-host.invalid"),
    ] {
        let verdict = verdict(index);
        assert!(verdict.starts_with("could not be measured: ") && verdict.contains(words), "{verdict}");
        assert!(!verdict.contains("cannot measure on"), "{verdict}");
    }
    assert!(!verdict(1).contains("could not be measured"), "{}", verdict(1));
    let reason = text(&document["run"]["state"], "reason");
    assert_eq!(reason, "4 of 5 targets could not be measured to the end");
    let everything = format!("{said:?}{document}{}", user.record());
    assert!(!everything.contains("hunter2") && !everything.contains("falsch"), "{everything}");
    // Alone they are an error, one line each, and nothing is kept.
    let user = User::new();
    let said = check(&user, &[&wrong, closed], &[]);
    assert_eq!((said.code, said.output.as_str(), said.errors.lines().count()), (3, "", 2), "{said:?}");
    assert!(said.errors.lines().all(|line| line.starts_with("iolag: cannot measure on ")), "{said:?}");
    assert!(user.fine(&["list"]).output.contains("no runs in"));
}

#[test]
fn what_is_no_target_of_a_check_is_refused_with_what_is() {
    let user = User::new();
    for (target, words) in [
        ("s3:/typo", "expected s3://BUCKET/PREFIX"),
        ("s3://me:hunter2@host:9000/b", "AWS_ENDPOINT_URL"),
        ("https://me:hunter2@host/data/file", "name it davs://me:***@host/data/file"),
        ("http://host/data", "a plain web server does not list what is on it"),
        ("ftp://me:hunter2@host/x", "is no kind of target"),
        ("delayed:5ms:s3://me:hunter2@b", "is neither a directory nor a server"),
        ("memory:", "`iolag bench metadata memory:` does"),
    ] {
        let said = check(&user, &[target], &[]);
        assert_eq!((said.code, said.output.as_str()), (2, ""), "{target}: {said:?}");
        assert!(said.errors.contains(words) && !said.errors.contains("hunter2"), "{target}: {said:?}");
        assert_eq!(said.errors.lines().count(), 1, "{target}: {said:?}");
    }
    assert!(!user.path("data").exists());
}
