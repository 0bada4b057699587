//! Corrections: imports that contradict what is known, that are taken back, and notes that are mended and removed.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use serde_json::Value;

use crate::study::Study;
use crate::support::Running;
use crate::user::{LOGIN_NODE, User};

fn batches(user: &User) -> Vec<Value> {
    serde_json::from_str(&user.fine(&["history", "batches", "--json", "-"]).stdout).unwrap()
}

fn id(batch: &Value) -> &str {
    batch["id"].as_str().unwrap()
}

/// The command is a mistake, and says these things, also where it has shown what it read.
fn says(user: &User, arguments: &[&str], parts: &[&str]) {
    let done = user.iolag(arguments);
    assert_eq!(done.code, Some(2), "{done:?}");
    for part in parts {
        assert!(done.stderr.contains(part), "{part:?} is missing in: {}", done.stderr);
    }
}

#[test]
fn other_values_at_known_moments_are_refused_and_replace_only_if_the_user_says_so() {
    let user = User::new();
    user.write("a.txt", "1700000000 0.1\n1700000900 0.2\n1700001800 0.3\n");
    user.write("b.txt", "1700000000 0.15\n1700000900 0.05\n1700001800 0.9\n1700002700 0.3\n");
    fn import<'a>(more: &[&'a str]) -> Vec<&'a str> {
        [&["import", "b.txt", "--task", "list", "--target", "/x"], more].concat()
    }
    let stored = user.fine(&["import", "a.txt", "--task", "list", "--target", "/x"]).stdout;
    let [first] = &batches(&user)[..] else { panic!("one import") };
    assert!(stored.contains("a.txt: 3 samples are new in ") && stored.contains(id(first)), "{stored}");
    let before = user.exported();
    for more in [&[][..], &["--dry-run"]] {
        let told = [
            "b.txt says something else at 3 moments",
            "list on /x at 2023-11-14 22:28:20 UTC 50.0 ms, known as 200 ms",
            "nothing was imported",
            "--time-zone",
            "--host",
            "--replace",
        ];
        says(&user, &import(more), &told);
        assert!(user.exported() == before);
    }
    // Of another host it is no contradiction.
    user.fine(&import(&["--as-host", "login2"]));
    let shown = user.fine(&import(&["--replace"])).stdout;
    assert!(shown.contains("b.txt: 1 sample is new, 3 replace others in "), "{shown}");
    let again = user.fine(&import(&[])).stdout;
    assert!(again.contains("b.txt: nothing is new in ") && again.contains("4 were known"), "{again}");

    let all = batches(&user);
    let counts = |batch: &Value| (batch["samples_counting"].as_u64(), batch["samples_beside"].as_u64());
    assert_eq!(
        all.iter().map(counts).collect::<Vec<_>>(),
        [(Some(0), Some(3)), (Some(4), Some(0)), (Some(4), Some(0))]
    );
    let table = user.fine(&["history", "batches"]).stdout;
    assert!(
        table.contains("replaced") && table.contains("b.txt --task list --target /x --replace"),
        "{table}"
    );
    for batch in &all[1..] {
        let undone = user.fine(&["history", "undo", id(batch)]).stdout;
        assert!(undone.contains("of b.txt: its 4 samples in "), "{undone}");
    }
    let counting = |user: &User| {
        batches(user).iter().map(|batch| batch["samples_counting"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(counting(&user), [3, 0, 0]);
    user.refused(&["history", "undo", id(&all[1])], 2, &["was undone before"]);
    user.refused(
        &["history", "undo", "00000000000000ff"],
        2,
        &["no batch 00000000000000ff", "iolag history batches"],
    );
    says(&user, &["history", "undo", "latest"], &["16 hexadecimal digits"]);

    // What was undone here is undone wherever this is merged.
    user.write("undone.jsonl", &user.exported());
    let other = user.path("other.sqlite").display().to_string();
    assert_eq!(user.on(&other, &["import", "undone.jsonl"]).code, Some(0));
    assert!(user.on(&other, &["export", "history"]).stdout == user.exported());
    // And it can be imported again.
    user.fine(&import(&["--replace"]));
    assert_eq!(counting(&user), [0, 0, 0, 4]);
}

#[test]
fn a_wrong_time_zone_is_refused_before_anything_is_changed() {
    let (user, study) = (User::new(), Study::new());
    user.import_script(&study.scratch, LOGIN_NODE);
    let before = user.exported();
    let csv = study.scratch.csv();
    let hours_late: String = csv
        .lines()
        .map(|line| match line.split_once(',') {
            Some((time, rest)) if time.parse::<u64>().is_ok() => {
                format!("{},{rest}\n", time.parse::<u64>().unwrap() + 7 * 3600)
            }
            _ => format!("{line}\n"),
        })
        .collect();
    user.write("late.csv", &hours_late);
    let options = study.scratch.options();
    let mut arguments = vec!["import", "late.csv", "--host", LOGIN_NODE];
    arguments.extend(options.iter().map(String::as_str));
    says(&user, &arguments, &["late.csv says something else at ", "--time-zone"]);
    assert!(user.exported() == before);
}

#[test]
fn a_series_does_not_become_one_of_values_and_a_name_of_a_file_need_not_be_text() {
    let user = User::new();
    let name = OsStr::from_bytes(b"t\xff.csv");
    std::fs::write(user.path("").join(name), "time,s\n1210204800,1.5\n1210205700,1.6\n").unwrap();
    let mut command = user.scene.command(&["import", "--value", "s=list@/home", "--history", &user.history]);
    command.arg(name);
    let done = Running::start(command).finish();
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(batches(&user)[0]["options"].as_str().unwrap().contains("t\u{fffd}.csv"));
    user.write("jobs.csv", "time,s\n1210206600,3\n1210207500,4\n");
    let told = [
        "jobs.csv has values in jobs of list on /home, of which the history has durations",
        "--task",
        "nothing was imported",
    ];
    for more in [&[][..], &["--replace"]] {
        says(&user, &[&["import", "jobs.csv", "--value", "s=list@/home[jobs]"], more].concat(), &told);
    }
}

#[test]
fn a_note_is_mended_and_removed_and_so_in_every_copy() {
    let user = User::new();
    user.fine(&["note", "cahce enabled, password geheim", "--target", "/hme", "--at", "2008-05-08 14:00"]);
    user.write("first.jsonl", &user.exported());
    let listed: Vec<Value> =
        serde_json::from_str(&user.fine(&["history", "notes", "--json", "-"]).stdout).unwrap();
    let note = listed[0]["id"].as_str().unwrap()[..8].to_owned();
    assert!(user.fine(&["history", "notes"]).stdout.contains(&note));
    user.refused(&["note", "--edit", &note], 2, &["nothing of", "--target"]);
    let mended = user.fine(&["note", "cache enabled", "--edit", &note, "--target", "/home"]).stdout;
    assert!(
        mended.starts_with("corrected ") && mended.contains("cache enabled") && mended.contains("for /home"),
        "{mended}"
    );
    // An older copy changes nothing.
    user.fine(&["import", "first.jsonl"]);
    let shown = user.fine(&["history", "notes"]).stdout;
    assert!(shown.contains("cache enabled") && !shown.contains("/hme"), "{shown}");

    user.fine(&["note", "--remove", &note]);
    user.fine(&["import", "first.jsonl"]);
    assert!(user.fine(&["history", "notes"]).stdout.starts_with("nothing was noted in "));
    assert!(!user.exported().contains("geheim"), "what a removed note said is not kept");
    user.refused(&["note", "--remove", &note], 2, &["no note", "iolag history notes"]);
    says(&user, &["note", "--remove", "xy"], &["at least 4 digits"]);
    says(&user, &["note", "text", "--remove", &note], &["cannot be used with"]);
    says(&user, &["note"], &["<TEXT>"]);
}

#[test]
fn what_iolag_saw_itself_is_not_removed_and_events_go_with_their_import() {
    let user = User::new();
    user.write("events.csv", "time,text\n2008-05-08T14:00:00Z,LDAP cache\n2008-05-09T10:00:00Z,restart\n");
    user.fine(&["import", "events.csv", "--events"]);
    let seen = "{\"record\":\"event\",\"id\":\"c0ffee00\",\"begin\":1,\"host\":\"\",\"target\":\"\",\"source\":\"configuration\",\
                \"kind\":\"\",\"text\":\"kernel changed\",\"author\":\"iolag\"}\n";
    user.write("seen.jsonl", seen);
    user.fine(&["import", "seen.jsonl"]);
    user.refused(&["note", "--remove", "c0ffee00"], 2, &["what iolag saw itself", "kernel changed"]);
    let listed = user.fine(&["history", "notes"]).stdout;
    assert!(
        listed.contains("LDAP cache") && listed.contains("restart") && !listed.contains("kernel"),
        "{listed}"
    );
    let undone = user.fine(&["history", "undo", id(&batches(&user)[0])]).stdout;
    assert!(undone.contains("its 0 samples and 2 events"), "{undone}");
    assert!(user.fine(&["history", "notes"]).stdout.starts_with("nothing was noted in "));
}
