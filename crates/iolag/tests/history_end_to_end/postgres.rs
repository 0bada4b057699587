//! The same on a real PostgreSQL.

use iolag_fixtures::PostgresServer;
use serde_json::Value;

use crate::showing::check_study;
use crate::study::Study;
use crate::user::{LOGIN_NODE, User, assert_refused};

#[test]
fn a_site_keeps_its_history_in_postgresql() {
    let Some(server) = PostgresServer::start() else { return };
    let study = Study::new();
    let on_disk = User::new();
    on_disk.import_study(&study, LOGIN_NODE);
    let user = User::new().with_history(server.url("postgres"));
    user.import_study(&study, LOGIN_NODE);
    check_study(&user, &study);
    let exported = user.exported();
    assert!(without_batches(&exported) == without_batches(&on_disk.exported()), "the two histories differ");
    user.import_study(&study, LOGIN_NODE);
    assert!(user.exported() == exported, "importing twice changed the history");
    let noted = user.fine(&["note", "cache off", "--target", "/home"]).stdout;
    assert!(noted.contains("in postgres://iolag@127.0.0.1:"), "{noted}");
    // All of it goes from the site to a host.
    let copy = User::new();
    std::fs::write(copy.path("site.jsonl"), user.exported()).unwrap();
    copy.fine(&["import", "site.jsonl"]);
    assert!(copy.exported() == user.exported());
    // And an import is taken back on the server.
    let batches = user.fine(&["history", "batches", "--json", "-"]).stdout;
    let batches: Value = serde_json::from_str(&batches).unwrap();
    let undone = user.fine(&["history", "undo", batches[0]["id"].as_str().unwrap()]).stdout;
    assert!(undone.contains(" no longer count"), "{undone}");
    let left = user.fine(&["history", "batches"]).stdout;
    assert!(left.contains("undone 2") && left.contains("counts"), "{left}");
}

/// Every import has an id and a moment of its own.
fn without_batches(exported: &str) -> Vec<Value> {
    let mut records: Vec<Value> = exported.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    records.retain(|record| record["record"] != "batch");
    for record in records.iter_mut().filter_map(Value::as_object_mut) {
        record.remove("batch");
        record.remove("described");
    }
    records
}

#[test]
fn the_password_is_never_shown() {
    let Some(server) = PostgresServer::start() else { return };
    let user = User::new().with_history(server.url("postgres"));
    let secrets = [PostgresServer::PASSWORD.to_owned(), PostgresServer::encoded_password()];
    let wrong = server.url("postgres").replace(&PostgresServer::encoded_password(), "Wr0ng");
    let mut said = String::new();
    for arguments in [
        &["note", "x"][..],
        &["show", "history"],
        &["show", "history", "--json", "-"],
        &["export", "history"],
    ] {
        let done = user.fine(arguments);
        said.push_str(&(done.stdout + &done.stderr));
        let done = user.on(&wrong, arguments);
        assert_refused(&done, 3, &["postgres://iolag@127.0.0.1"]);
        said.push_str(&done.stderr);
    }
    for secret in secrets.iter().map(String::as_str).chain(["Wr0ng"]) {
        assert!(!said.contains(secret), "{said}");
    }
}
