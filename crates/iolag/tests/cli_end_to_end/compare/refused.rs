//! What cannot be compared: one sentence each, and the rest is compared.

use std::fs;

use serde_json::Value;

use super::{bench, compared, ids, rows};
use crate::user::User;

/// Refused with this code and this in its sentence; nothing is printed.
fn refused(user: &User, arguments: &[&str], code: i32, expected: &str) {
    let said = user.iolag(&[&["compare"], arguments].concat());
    assert_eq!((said.code, said.output.as_str()), (code, ""), "{arguments:?}: {said:?}");
    assert!(said.errors.contains(expected), "{arguments:?}: expected {expected:?} in {}", said.errors);
    assert!(!said.errors.contains("panicked"), "{}", said.errors);
}

#[test]
fn what_was_typed_wrongly_is_said_before_anything_is_read() {
    let user = User::new();
    for (arguments, expected) in [
        (&[][..], "<SIDE>"),
        (&["last"], "another side: name a second one, as in iolag compare last OTHER"),
        (
            &["memory:", "last"],
            "invalid value 'memory:' for '<SIDE>...': this is where to measure, and no run: measure there",
        ),
        (&["/tmp", "/"], "/tmp is where to measure, and no run: measure there and elsewhere"),
        (&["lable:client=nfs", "last"], "did you mean label:client=nfs?"),
        (&["label:client", "last"], "expected label:NAME=VALUE"),
        (&["campaign:", "last"], "expected campaign:RUN"),
        (&["last", "last", "--value", "mean"], "choose rate, throughput, median, p95 or over:DURATION"),
        (&["last", "last", "--same-within", "5"], "expected a percentage"),
        (&["last", "last", "--fail-if", "p95 > 10%"], "may be read in two ways"),
        (&["last", "last", "--fail-if", "p95"], "is no rule"),
        (&["last", "last", "--fail-unless-shown"], "--fail-if"),
        (&["last", "last", "--format", "json"], "--json FILE"),
        (&["last", "last", "--phases", "clean"], "expected one of"),
        (&["label:a=b", "last", "--since", "08/05/2008"], "may have the day or the month first"),
        (&["last", "last", "--report", "missing/page.html"], "there is no directory"),
        (&["last", "last", "--workload", "check"], "no side is history:TARGET"),
    ] {
        refused(&user, arguments, 2, expected);
    }
}

#[test]
fn who_chooses_no_run_is_told_what_is_nearest() {
    let user = User::new();
    bench(&user, &["memory:"], &["--label", "client=lustre"]);
    user.fine(&["baseline", "set", "nightly", "last", "-q"]);
    for (arguments, code, expected) in [
        (
            &["nihgtly", "last"][..],
            3,
            "there is no baseline or run \"nihgtly\"; the nearest baseline is nightly",
        ),
        (&["20200101", "last"], 3, "no run \"20200101\""),
        (
            &["label:client=lustra", "last"],
            3,
            "no run has the label client=lustra; the nearest is client=lustre",
        ),
        (&["campaign:20200101", "last"], 3, "no run \"20200101\""),
        (&["campaign:last:/nowhere", "last"], 3, "has no target or side /nowhere: choose from memory:"),
        (&["campaign:last"], 2, "has only one, memory:; name a second side"),
        (&["last", "last"], 2, "is on both sides"),
        (&["nightly", "label:client=lustre"], 2, "is on both sides"),
        // What is left of the other sides is told.
        (&["last", "label:client=nfs"], 3, "no run has the label client=nfs; iolag list shows labels"),
    ] {
        refused(&user, arguments, code, expected);
    }
    bench(&user, &["memory:"], &[]);
    let said = user.iolag(&["compare", "nightly", "last", "label:client=nfs"]);
    assert_eq!(said.code, 3, "{said:?}");
    assert!(
        said.output.starts_with("Speed by the median duration, in percent of nightly"),
        "the others are compared: {said:?}"
    );
    assert!(said.errors.contains("no run has the label client=nfs"), "{said:?}");
}

#[test]
fn what_stands_in_a_run_steers_no_terminal_and_is_one_line() {
    let user = User::new();
    bench(&user, &["memory:"], &["--label", "client=lustre"]);
    let id = ids(&user).remove(0);
    let file = user.store().join("runs").join(&id).join("run.json");
    let record = fs::read_to_string(&file).unwrap();
    let bad = "l\\u001bustre";
    fs::write(
        &file,
        record.replace("lustre", bad).replace("memory:", "memory:\\u001b[31m\\niolag: all is well"),
    )
    .unwrap();
    for arguments in [&["label:client=lustre", &id][..], &["campaign:last:x", &id], &["campaign:last"]] {
        let said = user.iolag(&[&["compare"], arguments].concat());
        assert_ne!(said.code, 0, "{arguments:?}: {said:?}");
        assert!(!said.errors.contains('\u{1b}'), "{arguments:?}: {said:?}");
        assert!(!said.errors.contains("\niolag: all is well"), "{arguments:?}: {said:?}");
        assert!(said.errors.contains('\u{fffd}'), "{arguments:?}: {said:?}");
    }
}

#[test]
fn what_has_nothing_in_common_is_said() {
    let user = User::new();
    bench(&user, &["memory:"], &["-n", "1,2"]);
    let all = ids(&user);
    refused(&user, &[&all[0], &all[1]], 2, "nothing is in both");
    for run in ["1", "2", "3"] {
        for side in ["side=a", "side=b"] {
            bench(&user, &["memory:"], &["--label", side, "--label", &format!("run={run}{side}")]);
        }
    }
    let sides = ["label:side=a", "label:side=b"];
    refused(&user, &sides, 2, "add --across run");
    assert_eq!(rows(&compared(&user, &[&sides[..], &["--across", "run"]].concat())).len(), 4);
    refused(
        &user,
        &[&sides[..], &["--across", "rnu"]].concat(),
        2,
        "no run here has such a label, choose from",
    );
    refused(&user, &[&sides[..], &["--across", "run", "--fail-if", "list rate < 0.9x"]].concat(), 2, "list");

    let directory = user.directory("checked");
    user.fine(&["check", &directory, "--budget", "2s", "-q"]);
    refused(&user, &["last", &all[0]], 2, "cannot compare a check with a bench of metadata");
    user.fine(&["check", &directory, "--budget", "2s", "-q"]);
    let checks = ids(&user);
    let [one, two] = [&checks[checks.len() - 2], &checks[checks.len() - 1]];
    refused(
        &user,
        &[one, two, "--value", "rate"],
        2,
        "a check has no rate: choose median, p95 or over:DURATION",
    );
}

#[test]
fn runs_that_cannot_be_read_are_told_and_the_rest_is_compared() {
    let user = User::new();
    for side in ["side=a", "side=b"] {
        bench(&user, &["memory:"], &["--repeat", "2", "--label", side]);
    }
    let all = ids(&user);
    let sides = ["compare", "label:side=a", "label:side=b", "--json", "-"];
    let file = user.store().join("runs").join(&all[3]).join("run.json");
    let record = fs::read_to_string(&file).unwrap();
    let mut newer: Value = serde_json::from_str(&record).unwrap();
    newer["format"] = "99.0".into();
    fs::write(&file, newer.to_string()).unwrap();
    let said = user.iolag(&sides);
    assert_eq!(said.code, 3, "{said:?}");
    assert!(said.errors.contains("newer format (99.0)"), "{said:?}");
    // Nobody knows which side it is of.
    let told = "label:side=a and label:side=b, to which it may belong, are compared without it";
    assert_eq!(said.errors.matches("newer format").count(), 1, "{said:?}");
    assert!(said.errors.contains(told), "{said:?}");
    let found: Value = serde_json::from_str(&said.output).unwrap();
    assert_eq!(rows(&found)[0]["cells"][0]["runs"].as_u64(), Some(1), "{found}");
    let said = user.iolag(&["compare", "label:side=a", &all[3]]);
    assert_eq!((said.code, said.output.as_str()), (3, ""), "{said:?}");
    assert!(said.errors.contains("newer format (99.0)"), "{said:?}");

    // Its samples are gone.
    fs::write(&file, record).unwrap();
    let run = file.parent().unwrap();
    let is_part = |path: &std::path::Path| path.extension().is_some_and(|extension| extension == "parquet");
    let parts = fs::read_dir(run).unwrap().map(|entry| entry.unwrap().path()).filter(|path| is_part(path));
    parts.for_each(|part| fs::write(part, "PAR1").unwrap());
    let said = user.iolag(&sides);
    assert_eq!(said.code, 3, "{said:?}");
    assert!(said.errors.contains("label:side=b is compared without it"), "{said:?}");
}

#[test]
fn runs_that_hung_count_and_those_that_say_nothing_are_left_out() {
    let user = User::new();
    bench(&user, &["memory:"], &["--repeat", "2", "--label", "side=a"]);
    let hanging = "faulty:stat:hang@#3:memory:";
    bench(&user, &[hanging], &["--label", "side=b", "--deadline", "2s", "--on-hang", "stop"]);
    let found = compared(&user, &["label:side=a", "label:side=b"]);
    let stat = rows(&found).iter().find(|row| row["operation"] == "stat").unwrap();
    assert_eq!(stat["cells"][0]["bounded"].as_u64(), Some(1), "{stat}");

    let full = "faulty:stat:eio@0:memory:";
    bench(&user, &[full], &["--label", "side=c"]);
    let record = user.record();
    let file = user.store().join("runs").join(record["id"].as_str().unwrap()).join("run.json");
    // Its user ended it.
    let mut ended: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    ended["state"] = serde_json::json!({"state": "incomplete", "reason": "interrupted (Ctrl-C)"});
    fs::write(&file, ended.to_string()).unwrap();
    let said = user.iolag(&["compare", "label:side=a", "label:side=c"]);
    assert_ne!(said.code, 0, "nothing of it is known: {said:?}");
    assert!(said.errors.contains("label:side=c"), "{said:?}");
    let all = user.fine(&["compare", "label:side=a", "label:side=b", "label:side=c"]).output;
    assert!(all.contains("1 run of c was broken off."), "{all}");
    // On another host, where nobody can see from here whether it goes on.
    ended["state"] = serde_json::json!({"state": "running", "keeper_pid": 1, "keeper_start_ticks": 1});
    ended["environment"]["host"] = "elsewhere".into();
    ended["environment"]["boot_id"] = "another".into();
    fs::write(&file, ended.to_string()).unwrap();
    let all = user.fine(&["compare", "label:side=a", "label:side=b", "label:side=c"]).output;
    assert!(all.contains("1 run of c is still running."), "{all}");
}
