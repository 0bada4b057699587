//! `iolag trace --from`: text of strace becomes a run or a file, and can be shown, reported, exported and removed.

use std::fs;

use crate::user::{User, text};

const LINES: &str = "\
7 1700000000.000100 execve(\"/usr/bin/prog\", 0x1, 0x2) = 0 <0.000100>
7 1700000000.000300 openat(AT_FDCWD, \"/opt/secret/a\", O_RDONLY) = -1 ENOENT (No such file or directory) <0.000010>
7 1700000000.000400 openat(AT_FDCWD, \"/etc/hosts\", O_RDONLY) = 3 <0.000010>
";

fn with_text(name: &str) -> (User, String) {
    let user = User::new();
    let path = user.path(name);
    fs::write(&path, LINES).unwrap();
    (user, path.display().to_string())
}

#[test]
fn a_trace_is_a_run_like_any_other() {
    let (user, path) = with_text("a.strace");
    let said = user.fine(&["trace", "--from", &path, "--label", "site=here"]);
    assert!(said.output.contains("1 process made 3 calls, of which 1 failed"), "{}", said.output);
    let list = user.fine(&["list"]).output;
    assert!(
        list.contains("trace, prog") && list.contains("site=here") && list.contains("2023-11-14"),
        "{list}"
    );
    assert!(list.contains(&path), "what it was read from: {list}");
    let shown = user.fine(&["show"]).output;
    assert_eq!(shown, said.output, "it is computed again");
    let document = user.document("last");
    assert_eq!((text(&document, "kind"), &document["summary"]["calls"]), ("trace", &3.into()));
    let page = user.path("page.html");
    user.fine(&["report", "last", "-o", page.to_str().unwrap()]);
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("What prog asked of the file systems") && page.contains("/opt/secret"));
    assert!(
        page.contains(&format!("<pre><code>iolag trace --from {path} --label site=here</code></pre>")),
        "{page}"
    );
    for arguments in [&["compare", "last", "last"][..], &["baseline", "set", "base", "last"]] {
        let said = user.iolag(arguments);
        assert_eq!(said.code, 2, "{said:?}");
        assert!(said.errors.contains("is a trace, of which there is no comparison"), "{}", said.errors);
    }
    for asked in [&["--format", "csv"][..], &["--plot"], &["--judge", "9s"]] {
        let said = user.iolag(&[&["show", "last"], asked].concat());
        assert!(said.code == 2 && said.errors.contains("a trace has calls and no samples"), "{said:?}");
        assert!(said.errors.contains(&asked.join(" ")) || asked[0] == "--judge", "{said:?}");
    }
    let incident = user.iolag(&["report", "last", "--incident", "-o", "incident.md"]);
    assert!(incident.code == 2 && incident.errors.contains("--incident is for runs"), "{incident:?}");
    assert!(!user.path("incident.md").exists());
    user.fine(&["rm", "last", "--yes"]);
    assert!(!user.fine(&["list"]).output.contains("trace"));
}

#[test]
fn a_trace_in_a_file_is_neither_lost_nor_taken_for_a_run() {
    let (user, path) = with_text("a.strace");
    user.fine(&["trace", "--from", &path, "-q", "-o", "a.iolag"]);
    let kept = fs::read(user.path("a.iolag")).unwrap();
    fs::hard_link(user.path("a.iolag"), user.path("b.html")).unwrap();
    let of_trace = "it is a trace, which would be lost";
    let of_input = "the command needs that file itself; name another file";
    let strace = fs::read(&path).unwrap();
    for (code, command, expected) in [
        (3, &["report", "a.iolag", "-o", "a.iolag"][..], of_trace),
        (3, &["export", "a.iolag", "-o", "b.html"], of_trace),
        (3, &["show", "a.iolag", "--json", "a.iolag"], of_trace),
        (2, &["trace", "--from", "a.iolag", "--json", "b.html"], of_trace),
        (2, &["bench", "setup", "memory:", "--like", "a.iolag", "--json", "a.iolag"], of_trace),
        (2, &["bench", "setup", "memory:", "--like", "a.iolag", "--report", "a.iolag"], of_trace),
        (2, &["trace", "--from", "a.strace", "--json", "./a.strace"], of_input),
        (2, &["trace", "--from", "a.strace", "-o", "x", "--json", "x"], of_input),
        (
            3,
            &["trace", "--from", "a.iolag", "-o", "a.strace"],
            "it is no trace, and only a trace is replaced by one",
        ),
    ] {
        let said = user.iolag(command);
        assert!(said.code == code && said.errors.contains(expected), "{command:?}: {said:?}");
    }
    std::os::unix::fs::symlink(user.path("."), user.path("here")).unwrap();
    for output in ["here/a.iolag", "b.html"] {
        let said = user.iolag(&["trace", "--from", "a.iolag", "--anonymise", "-o", output]);
        assert!(said.code == 2 && said.errors.contains("-o names what is read"), "{output}: {said:?}");
    }
    assert_eq!(fs::read(&path).unwrap(), strace);
    assert_eq!(fs::read(user.path("a.iolag")).unwrap(), kept);
    let json = user.fine(&["show", "a.iolag", "--format", "json"]).output;
    assert_eq!(text(&serde_json::from_str(&json).unwrap(), "kind"), "trace");
    for asked in [&["--format", "csv"][..], &["--plot"], &["--judge", "9s"]] {
        let said = user.iolag(&[&["show", "a.iolag"], asked].concat());
        assert!(said.code == 2 && said.errors.contains("a trace has calls and no samples"), "{said:?}");
    }
    user.fine(&["trace", "--from", &path, "-q"]);
    fs::rename(user.path("a.iolag"), user.path("a.trace")).unwrap();
    let shown = user.iolag(&["show", "a.trace"]);
    assert!(shown.code == 3 && shown.errors.contains("a.trace is a file here, and no run"), "{shown:?}");
    assert!(user.iolag(&["show", "./a.trace"]).output.contains("1 process made 3 calls"));
    assert_eq!(user.iolag(&["rm", "a.trace", "--yes"]).code, 2);
    assert_eq!(fs::read(user.path("a.trace")).unwrap(), kept);
}

#[test]
fn calls_are_exported_and_read_again() {
    let (user, path) = with_text("a.strace");
    user.fine(&["trace", "--from", &path, "-q"]);
    let csv = user.fine(&["export"]).output;
    assert!(csv.starts_with("call,task,process,") && csv.contains("/opt/secret/a"), "{csv}");
    let strace = user.path("again.strace");
    user.fine(&["export", "--format", "strace", "-o", strace.to_str().unwrap()]);
    user.fine(&["trace", "--from", strace.to_str().unwrap(), "-q"]);
    assert_eq!(user.fine(&["export"]).output, csv);
    let parquet = user.path("calls.parquet");
    user.fine(&["export", "--format", "parquet", "-o", parquet.to_str().unwrap()]);
    assert!(fs::read(parquet).unwrap().starts_with(b"PAR1"));
    let said = user.iolag(&["export", "--format", "json"]);
    assert!(said.code == 2 && said.errors.contains("choose --format csv, parquet or strace"), "{said:?}");
}

#[test]
fn a_trace_in_a_file_is_taken_where_a_run_is() {
    let (user, path) = with_text("a.strace");
    let file = user.path("t.iolag");
    let file = file.to_str().unwrap();
    let said = user.fine(&["trace", "--from", &path, "--anonymise", "-o", file]);
    assert!(said.output.contains("1 process made 3 calls"), "{}", said.output);
    assert!(!user.fine(&["list"]).output.contains("trace, "), "it is no run");
    assert_eq!(user.fine(&["show", file]).output, said.output);
    let csv = user.fine(&["export", file]).output;
    assert!(!csv.contains("secret") && csv.contains(",ENOENT,"), "{csv}");
    let page = user.path("page.html");
    user.fine(&["report", file, "-o", page.to_str().unwrap()]);
    assert!(!fs::read_to_string(page).unwrap().contains("secret"));
}

#[test]
fn what_cannot_be_read_is_said_in_a_sentence_and_nothing_is_kept() {
    let (user, path) = with_text("a.strace");
    let other = user.path("other");
    fs::write(&other, "hello\n").unwrap();
    let other = other.to_str().unwrap();
    for (arguments, code, sentence) in [
        (
            &["trace", "--from", other][..],
            3,
            "is no text of strace: none of its 1 line is a system call, line 1 is \"hello\"",
        ),
        (&["trace", "--from", "./nowhere"], 3, "No such file or directory"),
        (&["trace", "--from", &path, other], 2, "does not: name the others, or it alone"),
        (
            &["show", other],
            3,
            "it is no trace of iolag; text of strace is read with: iolag trace --from FILE",
        ),
    ] {
        let said = user.iolag(arguments);
        assert_eq!((said.code, said.output.as_str()), (code, ""), "{said:?}");
        assert!(said.errors.contains(sentence) && said.errors.lines().count() == 1, "{}", said.errors);
    }
    assert!(!user.fine(&["list"]).output.contains("trace"));
}
