//! `note`: what happened, when, where, and who says so.

use serde_json::Value;

use crate::user::User;

fn events(user: &User) -> Vec<Value> {
    user.exported().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_note_makes_the_history_and_says_what_it_noted() {
    let user = User::new();
    let done = user.fine(&[
        "note",
        "LDAP cache\nenabled",
        "--at",
        "2008-05-08 14:00",
        "--until",
        "2008-05-08T21:30Z",
    ]);
    assert!(done.stdout.contains("  LDAP cache enabled\n"), "{}", done.stdout);
    assert!(
        done.stdout.contains("2008-05-08 21:00:00 UTC to 2008-05-08 21:30:00 UTC, for all targets and hosts")
    );
    assert!(done.stdout.contains(&user.history), "{}", done.stdout);
    let [event] = &events(&user)[..] else { panic!("one event was noted") };
    let id = event["id"].as_str().unwrap();
    assert!(done.stdout.starts_with(&format!("noted {id}\n")), "{}", done.stdout);
    assert_eq!(event["begin"].as_i64(), Some(1_210_280_400_000_000_000));
    assert_eq!(event["end"].as_i64(), Some(1_210_282_200_000_000_000));
    assert_eq!((event["source"].as_str(), event["author"].as_str()), (Some("note"), Some("ann")));
    let mode =
        std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&user.history).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn everything_about_a_note_is_kept() {
    let user = User::new();
    let link = "https://tickets.example/7";
    let about = ["--target", "/home", "--host", "nid4100", "--kind", "change", "--link", link];
    user.fine(&[&["note", "cache", "--at", "2h"][..], &about].concat());
    let [event] = &events(&user)[..] else { panic!("one event was noted") };
    for (member, expected) in
        [("target", "/home"), ("host", "nid4100"), ("kind", "change"), ("link", link), ("text", "cache")]
    {
        assert_eq!(event[member], expected, "{member}");
    }
    // The same words twice are two notes.
    user.fine(&["note", "cache"]);
    assert_eq!(events(&user).len(), 2);
}

#[test]
fn a_slip_in_a_name_is_told_and_noted_all_the_same() {
    let user = User::new();
    user.write("t.csv", "time,s\n1210204800,1.5\n1210205700,1.6\n");
    user.fine(&["import", "t.csv", "--value", "s=list@/home", "--host", "nid4100"]);
    let done = user.fine(&["note", "cache", "--target", "/hom"]);
    assert!(done.stderr.contains("knows no target \"/hom\" so far, only /home"), "{}", done.stderr);
    let done = user.fine(&["note", "cache", "--target", "/home", "--host", "nid4100"]);
    assert_eq!(done.stderr, "");
    let done = user.fine(&["note", "cache", "--target", "/hom", "--quiet"]);
    assert_eq!(done.stderr, "");
}

#[test]
fn what_cannot_be_noted_leaves_no_history() {
    let user = User::new();
    user.refused(&["note", "x", "--at", "soon"], 2, &["\"soon\" is no time: expected"]);
    user.refused(&["note", "x", "--at", "05/08/2008"], 2, &["may have the day or the month first"]);
    user.refused(
        &["note", "x", "--at", "2008-11-02 01:30"],
        2,
        &["comes twice", "2008-11-02T01:30:00-08:00"],
    );
    user.refused(&["note", "x", "--until", "1h"], 2, &["is not after the begin"]);
    user.refused(&["note", "x", "--json", "-"], 2, &["no result to write as JSON"]);
    for (option, value, expected) in [
        ("--link", "javascript:alert(1)", "expected a page"),
        ("--link", "https://me:secret@example.org/", "leave them out"),
        ("--kind", "a very long kind that no table can ever show in one line", "a word or two"),
    ] {
        let done = user.iolag(&["note", "x", option, value]);
        assert_eq!(done.code, Some(2), "{done:?}");
        assert!(done.stderr.contains(expected), "{}", done.stderr);
    }
    assert_eq!(user.iolag(&["note", " "]).code, Some(2));
    assert!(!std::path::Path::new(&user.history).exists());
}

#[test]
fn a_directory_that_is_not_there_is_not_made() {
    let user = User::new();
    let history = user.path("missing/history.sqlite").display().to_string();
    let done = user.on(&history, &["note", "x"]);
    crate::user::assert_refused(&done, 3, &["cannot make a history in", "missing", "--history"]);
    assert!(!user.path("missing").exists());
}
