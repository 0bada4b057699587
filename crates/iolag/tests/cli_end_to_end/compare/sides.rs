//! What can be a side.

use std::fs;

use serde_json::Value;

use super::{EIGHTY, FAST, FORTY, bench, compared, ids, operations, rows, words};
use crate::user::{User, text};

fn names(document: &Value) -> Vec<&str> {
    document["sides"].as_array().unwrap().iter().map(|side| text(side, "name")).collect()
}

fn runs_of(document: &Value, side: usize) -> usize {
    document["sides"][side]["runs"].as_array().unwrap().len()
}

#[test]
fn streams_that_were_stored_are_compared_by_their_throughput() {
    let user = User::new();
    user.fine(&[
        "bench",
        "stream",
        "memory:",
        "delayed:stream.write=3ms:memory:",
        "-s",
        "4k",
        "-b",
        "1k",
        "-q",
    ]);
    let found = compared(&user, &["campaign:last"]);
    assert_eq!((text(&found, "value"), text(&found, "unit")), ("throughput", "bytes_per_second"));
    assert_eq!(operations(&found), ["stream.write", "stream.read"]);
    let middle = |value: &Value| value["middle"]["known"].as_f64().unwrap();
    assert!(middle(&rows(&found)[0]["base"]) > middle(&rows(&found)[0]["cells"][0]), "{found:#}");
}

#[test]
fn the_targets_of_a_campaign_are_compared_run_by_run() {
    let user = User::new();
    bench(&user, &[FORTY, EIGHTY], &["--repeat", "4"]);
    let found = compared(&user, &["campaign:last", "--value", "median"]);
    // The first that was named is the base, whichever was measured first.
    assert_eq!(names(&found), [FORTY, EIGHTY]);
    assert_eq!(operations(&found), ["stat", "read", "delete", "create"]);
    assert_eq!(
        (found["design"]["pairs"].as_u64(), text(&found["design"], "order")),
        (Some(4), "interleaved")
    );
    for row in rows(&found) {
        let cell = &row["cells"][0];
        let percent = cell["percent"].as_f64().unwrap();
        let [low, high] = ["low", "high"].map(|end| cell["interval"][end].as_f64().unwrap());
        assert!(low <= percent && percent <= high, "{cell}");
        // Half the speed: a busy machine makes the interval wider.
        assert!(percent < 0.0 && low < -25.0 && high > -75.0, "80 ms by 40 ms are -50 %: {cell}");
        assert!(!["faster", "same"].contains(&text(cell, "word")), "{cell}");
    }
    // By name, and the other way round.
    let (slow, fast) = (format!("campaign:last:{EIGHTY}"), format!("campaign:last:{FORTY}"));
    let turned = compared(&user, &[&slow, &fast, "--value", "median"]);
    for row in rows(&turned) {
        assert!(row["cells"][0]["percent"].as_f64().unwrap() > 0.0, "{row}");
    }
    // Medians are usual where operations take turns and have one rate, and a text is printed.
    assert_eq!(text(&compared(&user, &["campaign:last"]), "value"), "median");
    let rates = compared(&user, &["campaign:last", "--value", "rate"]);
    assert_eq!(operations(&rates), ["create"], "the rate of all of them");
    let said = user.fine(&["compare", "campaign:last"]).output;
    assert!(said.starts_with("Speed by the median duration, in percent of "), "{said}");
}

#[test]
fn a_target_against_itself_is_neither_faster_nor_slower() {
    let user = User::new();
    for _ in 0..4 {
        bench(&user, &[FAST], &["--label", "copy=a"]);
        bench(&user, &[FAST], &["--label", "copy=b"]);
    }
    let found = compared(&user, &["label:copy=a", "label:copy=b"]);
    assert_eq!([runs_of(&found, 0), runs_of(&found, 1)], [4, 4]);
    for row in rows(&found) {
        // One table in twenty may say that they differ, hardly any that it is so sure of it.
        assert!(row["cells"][0]["p_adjusted"].as_f64().unwrap() > 1e-4, "{row}");
    }
}

#[test]
fn like_is_compared_with_like() {
    let user = User::new();
    for system in ["system=quiet", "system=active"] {
        for client in ["client=native", "client=nfs"] {
            bench(&user, &["memory:"], &["--repeat", "2", "--label", system, "--label", client]);
        }
    }
    let sides = ["label:client=native", "label:client=nfs"];
    let found = compared(&user, &sides);
    assert_eq!([runs_of(&found, 0), runs_of(&found, 1)], [4, 4]);
    assert_eq!(rows(&found).len(), 8, "four operations, each quiet and active");
    for row in rows(&found) {
        assert!(["quiet", "active"].contains(&text(&row["labels"], "system")), "{row}");
        assert_eq!((row["base"]["runs"].as_u64(), row["cells"][0]["runs"].as_u64()), (Some(2), Some(2)));
        // Two a side are too few for a word, whatever they say.
        assert_eq!(text(&row["cells"][0], "word"), "too-few", "{row}");
    }
    let pooled = compared(&user, &[&sides[..], &["--across", "system"]].concat());
    assert_eq!(rows(&pooled).len(), 4);
    assert!(rows(&pooled).iter().all(|row| row["base"]["runs"].as_u64() == Some(4)), "{pooled}");
    // The other sides of the same runs.
    let systems = compared(&user, &["label:system=quiet", "label:system=active"]);
    assert!(rows(&systems).iter().all(|row| row["labels"]["client"].is_string()), "{systems}");
    // Who names runs means them, whatever labels they have.
    let all = ids(&user);
    let two = compared(&user, &[&all[0], &all[7]]);
    assert_eq!(operations(&two).len(), 4, "{two}");
    assert!(words(&two).iter().all(|word| *word == "too-few"));
    assert_eq!(rows(&two)[0]["cells"][0]["more"].as_u64(), Some(3));
}

#[test]
fn labels_are_of_a_span_if_one_is_given() {
    let user = User::new();
    bench(&user, &["memory:"], &["--label", "night=1"]);
    bench(&user, &["memory:"], &["--label", "night=2"]);
    let sides = ["compare", "label:night=1", "label:night=2"];
    user.fine(&[&sides[..], &["--since", "1d", "--until", "now"]].concat());
    let said = user.iolag(&[&sides[..], &["--since", "2008-05-08", "--until", "2008-05-09"]].concat());
    assert_eq!(said.code, 3, "{said:?}");
    assert!(said.errors.contains("no run has the label night=1 and began in that time"), "{said:?}");
    let said = user.iolag(&["compare", "last", "last", "--since", "1d"]);
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.errors.contains("--since chooses among the runs of a label"), "{said:?}");
}

#[test]
fn a_baseline_is_a_side_as_long_as_a_run_of_it_is_left() {
    let user = User::new();
    bench(&user, &[FAST], &["--repeat", "4"]);
    let runs = ids(&user);
    let names: Vec<&str> = runs.iter().map(String::as_str).collect();
    user.fine(&[&["baseline", "set", "nightly"], &names[..]].concat());
    bench(&user, &[EIGHTY], &["--repeat", "4"]);
    let found = compared(&user, &["nightly", "campaign:last", "--value", "median"]);
    assert_eq!([runs_of(&found, 0), runs_of(&found, 1)], [4, 4]);
    assert!(rows(&found).iter().all(|row| row["cells"][0]["percent"].as_f64().unwrap() < 0.0), "{found}");

    // Not by iolag, which refuses.
    let lose = |run: &str| fs::remove_dir_all(user.store().join("runs").join(run)).unwrap();
    names[..3].iter().for_each(|run| lose(run));
    let said = user.fine(&["compare", "nightly", "campaign:last"]);
    assert!(said.errors.contains("baseline nightly names 4 runs, of which 1 is left"), "{said:?}");
    let document: Value =
        serde_json::from_str(&user.fine(&["compare", "nightly", "campaign:last", "--json", "-"]).output)
            .unwrap();
    let told = document["left_out"].as_array().unwrap().iter().filter_map(|one| one["sentence"].as_str());
    assert_eq!(told.collect::<Vec<_>>(), ["baseline nightly names 4 runs, of which 1 is left"], "{document}");
    lose(names[3]);
    let said = user.iolag(&["compare", "nightly", "campaign:last"]);
    assert_eq!((said.code, said.output.as_str()), (3, ""), "{said:?}");
    let expected =
        "baseline nightly names 4 runs, none of which is in the store: set it again with iolag baseline set";
    assert!(said.errors.contains(expected), "{said:?}");
}

#[test]
fn runs_of_another_store_are_named_by_their_paths() {
    let user = User::new();
    let elsewhere = user.path("elsewhere").display().to_string();
    bench(&user, &["memory:"], &["--repeat", "2", "--store", &elsewhere]);
    bench(&user, &["memory:"], &[]);
    let mut theirs: Vec<_> =
        fs::read_dir(user.path("elsewhere/runs")).unwrap().map(|entry| entry.unwrap().path()).collect();
    theirs.sort();
    let path = theirs[0].display().to_string();
    assert_eq!(runs_of(&compared(&user, &[&path, "last"]), 0), 1);
    let campaign = compared(&user, &[&format!("campaign:{path}"), "last"]);
    assert_eq!(runs_of(&campaign, 0), 2);
}

#[test]
fn the_directories_of_a_check_are_compared_with_each_other() {
    let user = User::new();
    let directories = [user.directory("one"), user.directory("two")];
    user.fine(&["check", &directories[0], &directories[1], "--budget", "4s", "-q"]);
    let found = compared(&user, &["campaign:last"]);
    assert_eq!(names(&found), directories);
    assert_eq!(text(&found, "value"), "median");
    assert!(!rows(&found).is_empty() && words(&found).iter().all(|word| *word == "too-few"), "{found}");
    let doubts = found["doubts"].to_string();
    assert!(doubts.contains("file system"), "both are on one: {doubts}");
}
