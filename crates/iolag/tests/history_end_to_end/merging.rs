//! Export, and import of exports: histories of several hosts become one, in whichever order.

use iolag_fixtures::TmpfsMount;

use crate::study::Study;
use crate::user::{User, assert_refused};

/// Two histories of two hosts, each with a note of its own; the names of their files.
fn two_hosts() -> (User, [String; 2]) {
    let user = User::new();
    let study = Study::new();
    let histories = ["one", "two"].map(|host| {
        user.write("t.csv", &study.home.csv());
        let history = user.path(&format!("{host}.sqlite")).display().to_string();
        let done = user.on(&history, &["import", "t.csv", "--value", "list=list@/home", "--host", host]);
        assert_eq!(done.code, Some(0), "{done:?}");
        assert_eq!(user.on(&history, &["note", host, "--host", host]).code, Some(0));
        history
    });
    (user, histories)
}

#[test]
fn two_hosts_become_one_history_in_either_order() {
    let (user, [one, two]) = two_hosts();
    for (history, file) in [(&one, "one.jsonl"), (&two, "two.jsonl")] {
        let done = user.on(history, &["export", "history", "-o", file]);
        assert_eq!(done.code, Some(0), "{done:?}");
        assert!(done.stderr.contains("records written to"), "{}", done.stderr);
        assert_eq!(done.stdout, "");
    }
    let merge = |history: &str, file: &str| {
        let done = user.on(history, &["import", file]);
        assert_eq!(done.code, Some(0), "{done:?}");
        done.stdout
    };
    let shown = merge(&one, "two.jsonl");
    assert!(shown.contains("two.jsonl: an export of iolag\n  4 031 samples, 1 series, 1 event,"), "{shown}");
    merge(&two, "one.jsonl");
    let export = |history: &str| user.on(history, &["export", "history"]).stdout;
    let merged = export(&one);
    assert!(merged == export(&two), "the order of merging made a difference");
    assert_eq!(merged.matches("\"record\":\"sample\"").count(), 2 * 4031);
    // A third time, from both, changes nothing.
    let again = merge(&one, "two.jsonl");
    assert!(again.contains(": 0 new or changed records"), "{again}");
    assert!(export(&one) == merged);
}

#[test]
fn samples_are_exported_as_a_table_whole_or_not_at_all() {
    let (user, [one, _]) = two_hosts();
    let table = user.on(&one, &["export", "history", "--format", "csv"]).stdout;
    assert_eq!(table.lines().count(), 1 + 4031);
    assert!(table.starts_with("host,target,task,part,kind,intended_utc,intended_ns,"), "{table:.200}");
    let second = table.lines().nth(1).unwrap();
    assert!(
        second.starts_with(
            "one,/home,list,,imported-duration,2008-04-24T00:00:00.000000000Z,1208995200000000000,"
        ),
        "{second}"
    );
    let done = user.on(&one, &["export", "history", "--format", "parquet", "-o", "samples.parquet"]);
    assert!(done.stderr.contains("4 031 samples written to samples.parquet"), "{done:?}");
    let bytes = std::fs::read(user.path("samples.parquet")).unwrap();
    assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
    // What cannot be written leaves nothing, not even a part.
    let Some(full) = TmpfsMount::new(64 << 10) else { return };
    let to = full.path().join("samples.csv").display().to_string();
    let done = user.on(&one, &["export", "history", "--format", "csv", "-o", &to]);
    assert_refused(&done, 3, &["cannot write", "No space left", "-o"]);
    assert_eq!(std::fs::read_dir(full.path()).unwrap().count(), 0);
    let done = user.on(&one, &["export", "history", "--format", "parquet"]);
    assert_refused(&done, 2, &["Parquet is not printed: name a file with -o"]);
    let done = user.on(&one, &["export", "history", "--format", "md-workbench", "-o", "x"]);
    assert_refused(&done, 2, &["a history has no latency files"]);
}

#[test]
fn an_export_may_come_through_a_pipe() {
    let (user, [one, two]) = two_hosts();
    let exported = user.on(&one, &["export", "history"]).stdout;
    user.write("one.jsonl", &exported);
    let both = user.with_history(two.clone());
    let mut command = both.scene.command(&["import", "-", "--history", &two]);
    let (reader, mut writer) = std::io::pipe().unwrap();
    command.stdin(reader);
    let running = crate::support::Running::start(command);
    std::io::Write::write_all(&mut writer, exported.as_bytes()).unwrap();
    drop(writer);
    let done = running.finish();
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.stdout.contains("standard input: an export of iolag"), "{}", done.stdout);
    assert_eq!(both.exported().matches("\"record\":\"sample\"").count(), 2 * 4031);
}

#[test]
fn a_torn_last_line_is_told_and_a_bad_one_is_refused() {
    let (user, [one, _]) = two_hosts();
    let exported = user.on(&one, &["export", "history"]).stdout;
    user.write("torn.jsonl", &exported[..exported.len() - 20]);
    let done = user.fine(&["import", "torn.jsonl", "--dry-run"]);
    assert!(done.stdout.contains("is cut off and was left out"), "{}", done.stdout);
    assert!(!std::path::Path::new(&user.history).exists());
    user.write("bad.jsonl", &exported.replacen("\"record\":\"event\"", "\"record\":\"omen\"", 1));
    user.refused(&["import", "bad.jsonl"], 2, &["no record of kind \"omen\"", "nothing was imported"]);
    assert!(!std::path::Path::new(&user.history).exists());
}

#[test]
fn a_span_is_exported_as_far_as_it_goes() {
    let (user, [one, _]) = two_hosts();
    let done = user.on(&one, &["export", "history", "--since", "2008-05-01", "--until", "2008-05-02"]);
    assert_eq!(done.stdout.matches("\"record\":\"sample\"").count(), 96);
    assert_eq!(done.stdout.matches("\"record\":\"event\"").count(), 0);
}

#[test]
fn an_export_is_whole_or_not_there() {
    let (user, [one, _]) = two_hosts();
    let done = user.on(&one, &["export", "history", "-o", "missing/x.jsonl"]);
    assert_refused(&done, 3, &["cannot write missing/x.jsonl", "name another place with -o"]);
    let Some(small) = TmpfsMount::new(256 << 10) else { return };
    let file = small.path().join("x.jsonl");
    std::fs::write(&file, "older").unwrap();
    let done = user.on(&one, &["export", "history", "-o", file.to_str().unwrap()]);
    assert_refused(&done, 3, &["cannot write", "No space left"]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "older");
    assert_eq!(std::fs::read_dir(small.path()).unwrap().count(), 1);
}
