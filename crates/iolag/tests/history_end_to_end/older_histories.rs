//! Histories that 0.1.0 wrote are read by this version: the file, what pg_dump made of a server's, and the export of both. All three hold
//! the same records.

use std::path::Path;

use iolag_fixtures::PostgresServer;
use serde_json::Value;

use crate::user::User;
use crate::written_before::{KnownAnswers, copy, written_by_0_1_0};

const EVENTS: [&str; 4] = [
    "Maintenance, all file systems",
    "Directory service moved",
    "two hosts, one site: Straße & \"quotes\"",
    "cache enabled",
];

/// A user whose history is a copy of the file.
fn with_file() -> User {
    let user = User::new();
    copy(&written_by_0_1_0("history.sqlite"), Path::new(&user.history));
    user
}

/// A user whose history is on a server that the dump was loaded into.
fn with_server(server: &PostgresServer) -> User {
    server.load("postgres", &written_by_0_1_0("history.sql"));
    User::new().with_history(server.url("postgres"))
}

/// A user whose history was made from the export.
fn with_export() -> User {
    let user = User::new();
    user.fine(&["import", written_by_0_1_0("history.jsonl").to_str().unwrap()]);
    user
}

fn records(lines: &str) -> Vec<Value> {
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn of_kind<'a>(records: &'a [Value], kind: &str) -> Vec<&'a Value> {
    records.iter().filter(|record| record["record"] == kind).collect()
}

/// Whether `new` says all that `old` says; it may say more.
fn says_as_much(new: &Value, old: &Value) -> bool {
    match (new, old) {
        (Value::Object(new), Value::Object(old)) => {
            old.iter().all(|(name, old)| new.get(name).is_some_and(|new| says_as_much(new, old)))
        }
        _ => new == old,
    }
}

/// Asserts that the history has every record that 0.1.0 had, as it was.
fn check_records(user: &User) {
    let new = records(&user.exported());
    let old = records(&std::fs::read_to_string(written_by_0_1_0("history.jsonl")).unwrap());
    for (kind, count) in [
        ("sample", 178),
        ("series", 18),
        ("configuration", 5),
        ("event", 4),
        ("outage", 3),
        ("session", 5),
        ("evidence", 8),
    ] {
        let (new, old) = (of_kind(&new, kind), of_kind(&old, kind));
        assert_eq!((new.len(), old.len()), (count, count), "{kind}");
        for old in old {
            assert!(new.iter().any(|new| says_as_much(new, old)), "{old} is missing or another one");
        }
    }
    let known = KnownAnswers::of_0_1_0("series.tsv");
    let samples: Vec<Value> = of_kind(&new, "sample").into_iter().map(flat).collect();
    assert_eq!(known.table_of(&samples), known.text);
}

/// A sample with the names and units of the table of known answers.
fn flat(sample: &Value) -> Value {
    let mut flat = sample.clone();
    for name in ["host", "target", "task", "part"] {
        flat[name] = sample["series"][name].clone();
    }
    flat["value_milli"] = ((sample["value"].as_f64().unwrap_or(0.0) * 1000.0).round() as i64).into();
    flat
}

/// Asserts that the analysis finds what 0.1.0 recorded: outcomes, medians, events, outages.
fn check_analysis(user: &User) {
    let document = user.document(&["--since", "2026-11-01"]);
    let known = KnownAnswers::of_0_1_0("series.tsv");
    let lines = known.lines();
    for line in &lines {
        let summary = summary_of(&document, |key| {
            ["host", "target", "task", "part"].iter().all(|name| key[name] == line[name])
        });
        let outcomes = &summary["rates"]["total"][line["outcome"]];
        let count = outcomes["count"].as_u64().or(outcomes.as_u64());
        assert_eq!(count, line["samples"].parse().ok(), "{line:?}");
    }
    for (key, seconds) in medians(&known) {
        let summary = summary_of(&document, |other| key.iter().all(|(name, text)| other[name] == *text));
        assert_eq!(median(summary), Some(seconds), "{key:?}");
    }
    let logged_in = summary_of(&document, |key| key["task"] == "users logged in");
    assert_eq!(median(logged_in), Some(2.0));
    let texts: Vec<&str> = members(&document["events"], "text");
    assert_eq!(texts, EVENTS);
    assert_eq!(members(&document["outages"], "ending"), ["recovered", "recovered"]);
    assert_eq!(document["outages"].as_array().map(Vec::len), Some(3), "one has not ended");
}

/// A series' host, target, task and part.
type Key<'a> = Vec<(&'static str, &'a str)>;

/// The medians, in seconds, of series of durations in which everything went well.
fn medians(known: &KnownAnswers) -> Vec<(Key<'_>, f64)> {
    let lines = known.lines();
    let key = |line: &std::collections::BTreeMap<&str, _>| -> Key<'_> {
        ["host", "target", "task", "part"].into_iter().map(|name| (name, line[name])).collect()
    };
    let is_fine = |wanted: &Key<'_>| {
        let mut of_series = lines.iter().filter(|line| key(line) == *wanted);
        of_series.all(|line| line["outcome"] == "ok" && line["value_milli"] == "0")
    };
    let all = lines.iter().map(|line| (key(line), line["median_ns"].parse::<f64>().unwrap() / 1e9));
    let fine: Vec<_> = all.filter(|(key, _)| is_fine(key)).collect();
    assert_eq!(fine.len(), 11);
    fine
}

fn summary_of(document: &Value, is_it: impl Fn(&Value) -> bool) -> &Value {
    let series = document["series"].as_array().unwrap();
    let found = series.iter().map(|one| &one["summary"]).find(|summary| is_it(&summary["series"]["key"]));
    found.unwrap_or_else(|| panic!("a series is missing in {document}"))
}

fn median(summary: &Value) -> Option<f64> {
    let quantiles = summary["by_attempt"]["quantiles"].as_array().unwrap();
    quantiles.iter().find(|one| one["q"] == 0.5)?["value"]["exactly"].as_f64()
}

fn members<'a>(list: &'a Value, name: &str) -> Vec<&'a str> {
    list.as_array().unwrap().iter().filter_map(|item| item[name].as_str()).collect()
}

/// Asserts that the report has the events and the medians.
fn check_report(user: &User) {
    user.fine(&["report", "--since", "2026-11-01", "-o", "page.html"]);
    let page = std::fs::read_to_string(user.path("page.html")).unwrap();
    for text in EVENTS {
        let text = text.replace('&', "&amp;").replace('"', "&quot;");
        assert!(page.contains(&text), "{text}");
    }
    for (key, seconds) in medians(&KnownAnswers::of_0_1_0("series.tsv")) {
        assert!(page.contains(&format!("data-value=\"{seconds}\"")), "{key:?}: {seconds}");
    }
}

#[test]
fn a_file_of_0_1_0_has_every_record_that_it_had() {
    check_records(&with_file());
}

#[test]
fn a_file_of_0_1_0_means_what_was_recorded() {
    let user = with_file();
    check_analysis(&user);
    check_report(&user);
    assert!(user.fine(&["show", "history", "--since", "2026-11-01"]).stdout.contains("cache enabled"));
}

#[test]
fn an_export_of_0_1_0_makes_the_same_history_as_the_file() {
    let (imported, file) = (with_export(), with_file());
    assert!(imported.exported() == file.exported(), "the two histories differ");
    check_records(&imported);
    check_analysis(&imported);
    // What is there already changes nothing.
    file.fine(&["import", written_by_0_1_0("history.jsonl").to_str().unwrap()]);
    assert!(imported.exported() == file.exported());
}

#[test]
fn a_server_of_0_1_0_holds_the_same_history_as_the_file() {
    let Some(server) = PostgresServer::start() else { return };
    let (site, file) = (with_server(&server), with_file());
    assert!(site.exported() == file.exported(), "the two histories differ");
    check_records(&site);
    check_report(&site);
    let of = |user: &User| {
        let mut document = user.document(&[]);
        document["history"] = Value::Null;
        document
    };
    assert_eq!(of(&site), of(&file));
}

#[test]
fn a_history_of_0_1_0_goes_on() {
    let server = PostgresServer::start();
    for user in [with_file()].into_iter().chain(server.as_ref().map(with_server)) {
        let before = user.exported();
        user.fine(&["note", "a newer version", "--at", "2026-11-22 12:00", "--target", "/home"]);
        let (old, new) = (records(&before), records(&user.exported()));
        assert_eq!(new.len(), old.len() + 1);
        assert!(old.iter().all(|record| new.contains(record)));
        assert_eq!(of_kind(&new, "event").len(), EVENTS.len() + 1);
    }
}
