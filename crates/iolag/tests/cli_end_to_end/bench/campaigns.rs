//! Runs that belong together: what one of them meets does not end the others, and what was broken off is gone on with.

use serde_json::Value;

use crate::support::{Scene, wait_for};
use crate::user::{User, number, text};

/// A bench that takes no time.
const SMALL: [&str; 8] = ["-D", "1", "-P", "5", "-I", "2", "-R", "1"];

fn bench<'a>(targets: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [&["bench", "metadata"], targets, &SMALL, more].concat()
}

fn records(user: &User) -> Vec<Value> {
    serde_json::from_str(&user.fine(&["list", "--json", "-"]).output).unwrap()
}

/// Of each run the last part of its target, its clients and its block, in the order in which they were conducted.
fn places(runs: &[Value]) -> Vec<(String, String, u64)> {
    let place = |run: &Value| {
        assert_eq!(run["block"], run["repetition"]);
        let coordinates = &run["coordinates"];
        let target = text(coordinates, "target").rsplit('/').next().unwrap().to_owned();
        (target, text(coordinates, "clients").to_owned(), number(run, "block"))
    };
    runs.iter().map(place).collect()
}

#[test]
fn a_run_that_cannot_be_made_does_not_end_its_campaign() {
    let user = User::new();
    let there = user.directory("there");
    let said = user.iolag(&bench(&["nowhere", &there], &["-n", "1,2"]));
    assert_eq!(said.code, 3, "{said:?}");
    let nowhere = user.path("nowhere").display().to_string();
    let each = format!("cannot measure in {nowhere}: it does not exist");
    assert_eq!(said.errors.matches(&each).count(), 2, "told once for each of its runs: {said:?}");
    let whole = format!("{nowhere} cannot be compared: it has no run");
    assert_eq!(said.errors.matches(&whole).count(), 1, "{said:?}");
    assert_eq!(said.errors.matches("nowhere").count(), 3, "{said:?}");
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
    let said = user.iolag(&bench(&hanging, &["--order", "sequential", "--deadline", "300ms"]));
    assert_eq!(said.code, 4, "{said:?}");
    let made = records(&user);
    let states: Vec<_> = made.iter().map(|run| text(&run["state"], "state").to_owned()).collect();
    assert_eq!(states, ["incomplete", "complete"], "{said:?}");
    assert!(!said.errors.contains("left out"), "{said:?}");
}

#[test]
fn a_run_that_hung_is_not_made_again_and_is_in_every_table() {
    let user = User::new();
    let measure = |more: &[&'static str]| {
        let options = ["--repeat", "2", "--deadline", "2s", "--on-hang", "stop"];
        user.iolag(&bench(&["memory:", "faulty:stat:hang@#2:memory:"], &[&options[..], more].concat()))
    };
    let said = measure(&[]);
    assert_eq!((said.code, records(&user).len()), (4, 4), "{said:?}");
    // One of those that did not hang is lost.
    let is_gap = |run: &Value| number(run, "block") == 2 && text(&run["coordinates"], "target") == "memory:";
    let gap = records(&user).into_iter().find(is_gap).unwrap();
    std::fs::remove_dir_all(user.store().join("runs").join(text(&gap, "id"))).unwrap();
    let gone_on = measure(&["--resume", "last"]);
    assert_eq!((gone_on.code, records(&user).len()), (0, 4), "{gone_on:?}");
    let expected = "1 of 4 runs are already complete, and 2 hung or failed, which stays";
    assert!(gone_on.errors.contains(expected), "{gone_on:?}");
    let (_, table) = gone_on.output.split_once("\nSpeed by ").unwrap_or_else(|| panic!("{gone_on:?}"));
    let again = user.fine(&["compare", "campaign:last"]).output;
    assert!(again.ends_with(table), "{again}\n{gone_on:?}");
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
    assert!(done.stderr.trim_end().ends_with(" makes them"), "{done:?}");
    let told = "iolag: 3 of 3 runs are lacking; the same command with --resume 20";
    assert!(done.stderr.lines().last().unwrap().starts_with(told), "{done:?}");
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
fn a_campaign_that_is_between_two_runs_is_not_gone_on_with() {
    let scene = Scene::new();
    let begun = scene.path().join("begun");
    let after = format!("echo > {}; sleep 2", begun.display());
    let side = |name: &str| {
        format!(
            "[[side]]\nname = {name:?}\ntarget = \"memory:\"\nafter = {{ command = [\"sh\", \"-c\", {after:?}] }}\n"
        )
    };
    let bench =
        "[[bench]]\nworkload = \"metadata\"\ndatasets = 1\nprecreate = [5]\nobjects = 2\niterations = 1\n";
    std::fs::write(scene.path().join("plan.toml"), format!("{}{}{bench}", side("a"), side("b"))).unwrap();
    let running = scene.start(&["run", "plan.toml"]);
    wait_for("the command after a run", || begun.exists().then_some(()));
    let refused = scene.run(&["run", "plan.toml", "--resume", "last"]);
    let done = running.finish();
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("is still being measured on this host"), "{refused:?}");
    assert!(!refused.stderr.contains("was killed"), "{refused:?}");
    assert_eq!(done.code, Some(0), "{done:?}");
    let again = scene.run(&["run", "plan.toml", "--resume", "last"]);
    assert_eq!(again.code, Some(0), "it has ended: {again:?}");
}

#[test]
fn a_run_that_cannot_be_read_is_told_by_who_goes_on_with_its_campaign() {
    let user = User::new();
    user.fine(&bench(&["memory:"], &["--repeat", "2"]));
    let [first, damaged] = [0, 1].map(|at| text(&records(&user)[at], "id").to_owned());
    std::fs::write(user.store().join("runs").join(&damaged).join("run.json"), "{").unwrap();
    let gone_on = user.iolag(&bench(&["memory:"], &["--repeat", "2", "--resume", &first]));
    let told = format!("if it is of campaign {first}, that goes on without it");
    assert!(gone_on.errors.contains(&told) && gone_on.errors.contains(&damaged), "{gone_on:?}");
    assert!(gone_on.errors.contains("1 of 2 runs are already complete"), "{gone_on:?}");
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
    let begun = sweep(&[]);
    let first = records(&user);
    let told = format!("4 of 8 runs are lacking; the same command with --resume {} ", text(&first[0], "id"));
    assert!(begun.code == 3 && begun.errors.lines().last().unwrap().contains(&told), "{begun:?}");
    // Two blocks, the second the first backwards.
    let before = places(&first);
    assert_eq!(before.iter().map(|(_, _, block)| *block).collect::<Vec<_>>(), [1, 1, 2, 2]);
    let clients: Vec<&str> = before.iter().map(|(_, clients, _)| clients.as_str()).collect();
    assert!(matches!(clients[..], ["1", "2", "2", "1"] | ["2", "1", "1", "2"]), "{clients:?}");

    let other =
        user.iolag(&bench(&[&there, &later], &["-n", "1,2", "--repeat", "2", "--fsync", "--resume", "last"]));
    assert_eq!((other.code, other.output.as_str()), (2, ""), "{other:?}");
    assert!(other.errors.contains("other options: durability was default and is fsync; give"), "{other:?}");
    for (more, told) in [
        (["--order", "random"], "order was interleaved and is random"),
        (["--seed", "2"], "seed was 1 and is 2"),
    ] {
        let other = sweep(&[&more[..], &["--resume", "last"]].concat());
        assert_eq!((other.code, other.output.as_str()), (2, ""), "{other:?}");
        assert!(other.errors.contains(&format!("was made with other options: {told}; give")), "{other:?}");
    }
    let fewer = user.iolag(&bench(&[&there, &later], &["-n", "1", "--repeat", "2", "--resume", "last"]));
    assert_eq!(fewer.code, 2, "{fewer:?}");
    assert!(
        fewer.errors.contains("was made with other options: clients was 1, 2 and is 1; give"),
        "{fewer:?}"
    );
    assert_eq!(records(&user).len(), 4);

    user.directory("later");
    let gone_on = sweep(&["--resume", "last"]);
    assert_eq!(gone_on.code, 0, "{gone_on:?}");
    assert!(!gone_on.errors.contains("lacking"), "{gone_on:?}");
    assert_eq!(gone_on.errors.matches("4 of 8 runs are already complete").count(), 1, "{gone_on:?}");
    let all = records(&user);
    assert_eq!(all.len(), 8, "{gone_on:?}");
    let campaigns: std::collections::BTreeSet<_> = all.iter().map(|run| text(run, "campaign")).collect();
    assert_eq!(campaigns.len(), 1);
    // They are those that one command would have made, in its order.
    let another = User::new();
    let (there, later) = (another.directory("there"), another.directory("later"));
    another.fine(&bench(&[&there, &later], &["-n", "1,2", "--repeat", "2"]));
    let at_once = places(&records(&another));
    let left: Vec<_> = at_once.iter().filter(|(target, _, _)| target == "later").cloned().collect();
    assert_eq!(places(&all)[4..], left);
    let sorted = |mut places: Vec<(String, String, u64)>| {
        places.sort();
        places
    };
    assert_eq!(sorted(places(&all)), sorted(at_once));
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

#[test]
fn a_campaign_is_not_gone_on_with_by_what_would_come_after_all_others() {
    let user = User::new();
    let two = ["memory:", "delayed:1us:memory:"];
    let refused = |targets: &[&str], more: &[&str], told: &str| {
        let before = records(&user).len();
        let said = user.iolag(&bench(targets, &[more, &["--repeat", "2", "--resume", "last"]].concat()));
        assert_eq!((said.code, said.output.as_str()), (2, ""), "{more:?}: {said:?}");
        assert!(said.errors.contains(told), "{more:?}: {said:?}");
        assert_eq!(records(&user).len(), before);
    };
    user.fine(&bench(&two[..1], &["--repeat", "2"]));
    refused(&two[..1], &["-n", "1,2"], "was made with other options: clients was 1 and is 1, 2; give");
    refused(&two, &[], "what is added would have no turn");
    user.fine(&bench(&two, &["--repeat", "2"]));
    let other_order = [two[1], two[0]];
    refused(&other_order, &[], "; give the targets or sides that it was made with, in the same order");
}

#[test]
fn what_an_earlier_command_measured_is_told_although_no_further_run_can_be_made() {
    let user = User::new();
    let there = user.directory("there");
    let [later, latest] = ["later", "latest"].map(|name| user.path(name).display().to_string());
    let (json, page) = (user.path("all.json"), user.path("page.html"));
    let outputs = ["--json", json.to_str().unwrap(), "--report", page.to_str().unwrap()];
    for targets in [&[&*there, &later][..], &[&there, &later, &latest]] {
        assert_eq!(user.iolag(&bench(targets, &["--repeat", "1"])).code, 3);
        let again = user.iolag(&bench(targets, &[&outputs[..], &["--resume", "last"]].concat()));
        assert_eq!(again.code, 3, "{again:?}");
        let each = format!("cannot measure in {later}: ");
        assert_eq!(again.errors.matches(&each).count(), 1, "{again:?}");
        let made = records(&user).pop().unwrap();
        assert!(again.output.contains(text(&made, "id")), "{again:?}");
        let document = std::fs::read_to_string(&json).unwrap();
        assert!(document.contains(text(&made, "id")), "{document}");
        std::fs::remove_file(&page).unwrap_or_else(|error| panic!("{error}: {again:?}"));
    }
}

#[test]
fn the_table_of_a_campaign_is_by_point_and_not_by_time() {
    let user = User::new();
    let repeated = ["-n", "2,1", "--repeat", "3"];
    let said = user.fine(&bench(&["memory:"], &repeated));
    let table = said.output.rsplit_once("repetition").unwrap().1;
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
    let rows: Vec<_> = rows.iter().filter(|row| row.len() > 4).map(|row| (row[1], row[3])).collect();
    assert_eq!(rows, [("2", "1"), ("2", "2"), ("2", "3"), ("1", "1"), ("1", "2"), ("1", "3")], "{table}");
    let runs = records(&user);
    assert!(runs.iter().all(|run| text(&run["plan"], "order") == "interleaved"), "{runs:?}");
}

#[test]
fn what_comes_in_sequence_is_doubted() {
    const DOUBT: &str = "all runs of one target or setting come before those of the next";
    let user = User::new();
    let said = |more: &[&str]| user.fine(&bench(&["memory:"], more)).output;
    let in_sequence = said(&["-n", "1,2", "--repeat", "2", "--order", "sequential"]);
    assert_eq!(in_sequence.matches(DOUBT).count(), 4, "{in_sequence}");
    let clients =
        |runs: &[Value]| places(runs).into_iter().map(|(_, clients, _)| clients).collect::<Vec<_>>();
    assert_eq!(clients(&records(&user)), ["1", "1", "2", "2"]);
    for nothing_to_compare in
        [&["--repeat", "2", "--order", "sequential"][..], &["-n", "1,2", "--repeat", "2"]]
    {
        let said = said(nothing_to_compare);
        assert!(!said.contains(DOUBT), "{said}");
    }
}
