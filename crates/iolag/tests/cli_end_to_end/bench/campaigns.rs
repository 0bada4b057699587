//! Runs that belong together: what one of them meets does not end the others, and what was broken off is gone on with.

use serde_json::Value;

use crate::support::Scene;
use crate::user::{User, text};

/// A bench that takes no time.
const SMALL: [&str; 8] = ["-D", "1", "-P", "5", "-I", "2", "-R", "1"];

fn bench<'a>(targets: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [&["bench", "metadata"], targets, &SMALL, more].concat()
}

fn records(user: &User) -> Vec<Value> {
    serde_json::from_str(&user.fine(&["list", "--json", "-"]).output).unwrap()
}

#[test]
fn a_run_that_cannot_be_made_does_not_end_its_campaign() {
    let user = User::new();
    let there = user.directory("there");
    let said = user.iolag(&bench(&["nowhere", &there], &["-n", "1,2"]));
    assert_eq!(said.code, 3, "{said:?}");
    assert_eq!(said.errors.matches("nowhere").count(), 2, "told once for each of its runs: {said:?}");
    let made = records(&user);
    assert_eq!(made.len(), 2, "{said:?}");
    assert!(made.iter().all(|run| text(&run["coordinates"], "target") == there), "{made:?}");
    let none = user.iolag(&bench(&["nowhere"], &["-n", "1,2"]));
    assert_eq!(none.code, 3, "{none:?}");
    assert!(none.errors.contains("no run of the campaign could be made"), "{none:?}");
}

#[test]
fn a_run_that_hangs_does_not_end_its_campaign() {
    let user = User::new();
    let hanging = ["faulty:create:hang@1:memory:", "memory:"];
    let said = user.iolag(&bench(&hanging, &["--deadline", "300ms"]));
    assert_eq!(said.code, 4, "{said:?}");
    let made = records(&user);
    let states: Vec<_> = made.iter().map(|run| text(&run["state"], "state").to_owned()).collect();
    assert_eq!(states, ["incomplete", "complete"], "{said:?}");
    assert!(!said.errors.contains("left out"), "{said:?}");
}

#[test]
fn only_the_user_ends_a_campaign() {
    let scene = Scene::new();
    let long = ["bench", "metadata", "memory:", "-n", "1,2,4", "-R", "10000", "--think", "100us"];
    let mut running = scene.start(&long);
    running.wait_for("measuring");
    running.signal(libc::SIGINT);
    let done = running.finish();
    assert_eq!(done.code, Some(4), "{done:?}");
    assert!(done.stderr.contains("the campaign ends here: 2 further runs are left out"), "{done:?}");
}

#[test]
fn a_campaign_that_is_being_measured_is_not_gone_on_with() {
    let scene = Scene::new();
    let long = ["bench", "metadata", "memory:", "-R", "10000", "--think", "100us"];
    let mut running = scene.start(&long);
    running.wait_for("measuring");
    let refused = scene.run(&[&long[..], &["--resume", "last"]].concat());
    running.signal(libc::SIGINT);
    running.finish();
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("is still running; end it first"), "{refused:?}");
}

#[test]
fn every_form_of_a_campaign_that_is_gone_on_with_has_all_of_its_runs() {
    let user = User::new();
    let there = user.directory("there");
    let later = user.path("later").display().to_string();
    let csv = |more: &[&'static str]| {
        let more: Vec<&str> = ["--format", "csv"].into_iter().chain(more.iter().copied()).collect();
        user.iolag(&bench(&[&there, &later], &more))
    };
    let first = csv(&[]).output;
    user.directory("later");
    let all = csv(&["--resume", "last"]).output;
    assert!(all.starts_with(&first) && all.len() > first.len(), "{first}\n{all}");
    assert_eq!(all.lines().filter(|line| line.starts_with("run,")).count(), 1, "one header: {all}");
    let one = user.fine(&bench(&[&there], &["--repeat", "1"]));
    let again = user.fine(&bench(&[&there], &["--repeat", "1", "--resume", "last"]));
    let table = |output: &str| output.split_once("\nprecreate").map(|(_, table)| table.to_owned()).unwrap();
    assert_eq!(table(&one.output), table(&again.output));
}

#[test]
fn a_campaign_is_gone_on_with_where_it_ended() {
    let user = User::new();
    let there = user.directory("there");
    let later = user.path("later").display().to_string();
    let sweep = |more: &[&'static str]| {
        let more: Vec<&str> =
            ["-n", "1,2", "--repeat", "2"].into_iter().chain(more.iter().copied()).collect();
        user.iolag(&bench(&[&there, &later], &more))
    };
    assert_eq!(sweep(&[]).code, 3);
    let first = records(&user);
    let places: Vec<_> = first
        .iter()
        .map(|run| {
            (text(&run["coordinates"], "clients").to_owned(), run["block"].clone(), run["repetition"].clone())
        })
        .collect();
    let expected = [("1", 1), ("2", 1), ("1", 2), ("2", 2)];
    let expected: Vec<_> = expected
        .map(|(clients, block)| (clients.to_owned(), Value::from(block), Value::from(block)))
        .to_vec();
    assert_eq!(places, expected);

    let other =
        user.iolag(&bench(&[&there, &later], &["-n", "1,2", "--repeat", "2", "--fsync", "--resume", "last"]));
    assert_eq!((other.code, other.output.as_str()), (2, ""), "{other:?}");
    assert!(other.errors.contains("was made with other options: give the options"), "{other:?}");
    let fewer = user.iolag(&bench(&[&there, &later], &["-n", "1", "--repeat", "2", "--resume", "last"]));
    assert_eq!(fewer.code, 2, "{fewer:?}");
    assert!(fewer.errors.contains("would not be made by these options"), "{fewer:?}");
    assert_eq!(records(&user).len(), 4);

    user.directory("later");
    let gone_on = sweep(&["--resume", "last"]);
    assert_eq!(gone_on.code, 0, "{gone_on:?}");
    assert_eq!(gone_on.errors.matches("4 of 8 runs are already complete").count(), 1, "{gone_on:?}");
    let all = records(&user);
    assert_eq!(all.len(), 8, "{gone_on:?}");
    let campaigns: std::collections::BTreeSet<_> = all.iter().map(|run| text(run, "campaign")).collect();
    assert_eq!(campaigns.len(), 1);
    // The table has them all, those of the first command as well.
    for run in &all {
        let id = text(run, "id");
        let tables = gone_on.output.rsplit_once("repetition").unwrap().1;
        assert!(tables.contains(id) || gone_on.output.contains(id), "{id}: {}", gone_on.output);
    }
    let nothing_left = sweep(&["--resume", "last"]);
    assert_eq!(nothing_left.code, 0, "{nothing_left:?}");
    assert!(nothing_left.errors.contains("8 of 8 runs are already complete"), "{nothing_left:?}");
    assert_eq!(records(&user).len(), 8);
}
