//! `iolag baseline`: named runs, which neither `prune` nor `rm` takes away.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::user::{User, text};

/// A short run with these labels.
fn one_run(user: &User, labels: &[&str]) -> String {
    let mut arguments =
        vec!["bench", "metadata", "memory:", "-D", "1", "-P", "20", "-I", "10", "-R", "1", "-q"];
    labels.iter().for_each(|label| arguments.extend(["--label", label]));
    user.fine(&arguments);
    text(&user.record(), "id").to_owned()
}

fn runs(user: &User, count: usize) -> Vec<String> {
    (0..count).map(|_| one_run(user, &[])).collect()
}

fn file(user: &User, name: &str) -> std::path::PathBuf {
    user.store().join("baselines").join(name)
}

#[test]
fn a_baseline_is_set_listed_replaced_and_removed() {
    let user = User::new();
    assert!(user.fine(&["baseline", "list"]).output.starts_with("no baselines in"));
    let runs: Vec<_> = ["1", "2", "3", "4"]
        .map(|night| one_run(&user, &["system=quiet", &format!("night={night}")]))
        .to_vec();
    let path = user.store().join("runs").join(&runs[3]).display().to_string();
    let day = format!("{}-{}-{}", &runs[0][..4], &runs[0][4..6], &runs[0][6..8]);
    let said = user.fine(&["baseline", "set", "nightly", &runs[0], &runs[1], &runs[2], &path, &runs[0]]);
    // A night may end between two of them.
    let is_one_day = runs.iter().all(|run| run[..8] == runs[0][..8]);
    let when = if is_one_day { format!("of {day}") } else { format!("from {day} to ") };
    assert!(said.output.starts_with(&format!("baseline nightly: 4 runs {when}")), "{said:?}");
    assert!(said.output.ends_with(", on memory:, 1 client\n"), "{said:?}");
    assert_eq!(said.errors, "", "four are enough");
    assert_eq!(file(&user, "nightly.json").metadata().unwrap().permissions().mode() & 0o777, 0o600);

    let said = user.fine(&["baseline", "set", "one", "last"]);
    assert!(said.errors.contains("one has 1 run: a comparison with it can show nothing; 3 more would do"));
    assert_eq!(user.fine(&["baseline", "set", "one", "last", "-q"]).errors, "");

    let list = user.fine(&["baseline", "list"]).output;
    let lines: Vec<Vec<&str>> = list.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["baseline", "set", "(UTC)", "runs", "targets", "labels"]);
    assert_eq!((lines[1][0], &lines[1][3..]), ("nightly", &["4", "memory:", "system=quiet"][..]), "{list}");
    assert_eq!((lines[2][0], &lines[2][3..]), ("one", &["1", "memory:", "night=4", "system=quiet"][..]));
    let document = user.fine(&["baseline", "list", "--json", "-"]).output;
    let document: Value = serde_json::from_str(&document).unwrap();
    assert_eq!(document[0]["runs"], Value::from(runs.clone()));
    assert_eq!(
        (text(&document[1], "name"), &document[1]["gone"]),
        ("one", &Value::from(Vec::<Value>::new()))
    );

    user.fine(&["baseline", "set", "nightly", &runs[1]]);
    let stored: Value =
        serde_json::from_str(&fs::read_to_string(file(&user, "nightly.json")).unwrap()).unwrap();
    assert_eq!(stored["runs"], Value::from(vec![runs[1].clone()]));
    let said = user.fine(&["baseline", "remove", "nightly"]);
    assert_eq!(said.output, "baseline nightly is removed; its runs stay\n");
    assert!(!file(&user, "nightly.json").exists());
    user.fine(&["show", &runs[1]]);
    let said = user.iolag(&["baseline", "remove", "nightly"]);
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.errors.contains("there is no baseline nightly in"), "{said:?}");
}

#[test]
fn prune_and_rm_leave_the_runs_of_a_baseline() {
    let user = User::new();
    let runs = runs(&user, 4);
    user.fine(&["baseline", "set", "old", &runs[0], &runs[1], "-q"]);
    let said = user.fine(&["prune", "--keep-last", "1"]);
    assert_eq!(said.output, format!("{}  would be removed (add --yes)\n", runs[2]));
    assert!(said.errors.contains("not pruned: 2 runs of the baseline old"), "{said:?}");
    let said = user.fine(&["prune", "--keep-last", "1", "--yes"]);
    assert_eq!(said.output, format!("{}  removed\n", runs[2]));
    // By another rule too, and where nothing else is to go nothing is said of the newest.
    let said = user.fine(&["prune", "--max-size", "1B", "--yes"]);
    assert_eq!(said.output, format!("{}  removed\n", runs[3]));
    assert!(said.errors.contains("not pruned: 2 runs of the baseline old"), "{said:?}");
    assert_eq!(user.fine(&["prune", "--keep-last", "2", "--yes"]).errors, "");

    let said = user.iolag(&["rm", &runs[0], "--yes"]);
    assert_eq!((said.code, said.output.as_str()), (2, ""), "{said:?}");
    let expected = format!(
        "run {} is in the baseline old: iolag baseline remove old first; nothing is removed",
        runs[0]
    );
    assert!(said.errors.contains(&expected), "{said:?}");
    user.fine(&["baseline", "remove", "old"]);
    user.fine(&["rm", &runs[0], "--yes"]);
    assert_eq!(user.fine(&["prune", "--keep-last", "0", "--yes"]).output, format!("{}  removed\n", runs[1]));
}

#[test]
fn a_baseline_tells_which_of_its_runs_are_gone() {
    let user = User::new();
    let runs = runs(&user, 2);
    user.fine(&["baseline", "set", "old", &runs[0], &runs[1], "-q"]);
    // Not by iolag, which refuses.
    fs::remove_dir_all(user.store().join("runs").join(&runs[0])).unwrap();
    assert!(user.fine(&["baseline", "list"]).output.contains("1 of 2"));
    let document: Value =
        serde_json::from_str(&user.fine(&["baseline", "list", "--json", "-"]).output).unwrap();
    assert_eq!(document[0]["gone"], Value::from(vec![runs[0].clone()]));
}

#[test]
fn what_cannot_be_a_baseline_is_refused_and_changes_nothing() {
    let user = User::new();
    let run = one_run(&user, &[]);
    let elsewhere = user.path("elsewhere").display().to_string();
    user.fine(&[
        "bench", "metadata", "memory:", "-D", "1", "-P", "20", "-I", "10", "-R", "1", "-q", "--store",
        &elsewhere,
    ]);
    let other = fs::read_dir(user.path("elsewhere/runs")).unwrap().flatten().next().unwrap().path();
    let other = other.display().to_string();
    for (arguments, code, expected) in [
        (&["face", &run][..], 2, "\"face\" cannot name a baseline: it may be a part of a run's name"),
        (&["last", &run], 2, "that word means something else"),
        (&["a/b", &run], 2, "letters, digits, -, . and _ may stand in it"),
        (&["nightly"], 2, "required"),
        (&["nightly", &run, "20200101"], 3, "no run \"20200101\""),
        (&["nightly", &run, &other], 2, "is not in the store"),
    ] {
        let said = user.iolag(&[&["baseline", "set"], arguments].concat());
        assert_eq!((said.code, said.output.as_str()), (code, ""), "{arguments:?}: {said:?}");
        assert!(said.errors.contains(expected), "{arguments:?}: {}", said.errors);
    }
    assert!(!user.store().join("baselines").exists());

    fs::set_permissions(user.store().join("runs"), fs::Permissions::from_mode(0o777)).unwrap();
    let said = user.iolag(&["baseline", "set", "nightly", &run]);
    assert_eq!(said.code, 3, "{said:?}");
    assert!(said.errors.contains("is no safe place for runs"), "{said:?}");
    assert!(!user.store().join("baselines").exists());
}

#[test]
fn nothing_is_removed_while_a_baseline_cannot_be_read() {
    let user = User::new();
    let runs = runs(&user, 2);
    user.fine(&["baseline", "set", "good", &runs[0], "-q"]);
    fs::write(file(&user, "cut.json"), "{\"format\": \"1.0\", \"na").unwrap();
    fs::write(file(&user, "newer.json"), "{\"format\": \"9.0\"}").unwrap();
    let said = user.iolag(&["baseline", "list"]);
    assert_eq!(said.code, 3, "{said:?}");
    assert!(said.output.contains("good"), "{said:?}");
    let advice = "set it again, or remove it with: iolag baseline remove cut";
    assert!(said.errors.contains("the baseline cut: ") && said.errors.contains(advice), "{said:?}");
    assert!(said.errors.contains("use a newer iolag"), "{said:?}");
    for arguments in [&["prune", "--keep-last", "0", "--yes"][..], &["rm", &runs[1], "--yes"]] {
        let said = user.iolag(arguments);
        assert_eq!((said.code, said.output.as_str()), (3, ""), "{arguments:?}: {said:?}");
        assert!(said.errors.contains("nothing is removed") && said.errors.contains(advice), "{said:?}");
    }
    user.fine(&["baseline", "set", "cut", &runs[0], "-q"]);
    user.fine(&["baseline", "remove", "newer"]);
    user.fine(&["rm", &runs[1], "--yes"]);
}

#[test]
fn labels_stand_in_the_list_if_there_are_some() {
    let user = User::new();
    one_run(&user, &[]);
    assert!(!user.fine(&["list"]).output.contains("labels"));
    one_run(&user, &["client=nfs", "system=quiet"]);
    let list = user.fine(&["list"]).output;
    let lines: Vec<&str> = list.lines().collect();
    assert!(lines[0].trim_end().ends_with("labels") && lines[1].trim_end().ends_with("memory:"), "{list}");
    assert!(lines[2].ends_with("memory:  client=nfs system=quiet"), "{list}");
}

#[test]
fn the_runs_of_a_campaign_or_a_label_are_a_baseline() {
    let user = User::new();
    let lone = one_run(&user, &["system=quiet"]);
    let small = ["-D", "1", "-P", "20", "-I", "10", "-R", "1", "-q", "--label", "system=quiet"];
    user.fine(
        &[&["bench", "metadata", "memory:", "delayed:1us:memory:", "--repeat", "2"][..], &small].concat(),
    );
    let listed: Value = serde_json::from_str(&user.fine(&["list", "--json", "-"]).output).unwrap();
    let own: Vec<&str> = listed.as_array().unwrap()[1..].iter().map(|run| text(run, "id")).collect();
    let campaign = own[0];
    let list = user.fine(&["list"]).output;
    let lines: Vec<&str> = list.lines().collect();
    assert!(lines[0].contains("  campaign ") && !lines[1].contains(campaign), "{list}");
    assert!(lines[2..].iter().all(|line| line.contains(&format!("  {campaign}  "))), "{list}");
    for (named, expected) in [
        (&["campaign:last"][..], 4),
        (&["campaign:last:memory:"], 2),
        (&["campaign:last:memory:", own[0], own[1]], 3),
        (&["label:system=quiet"], 5),
        (&[&lone, "campaign:last", "label:system=quiet"], 5),
    ] {
        user.fine(&[&["baseline", "set", "quiet"][..], named].concat());
        let stored: Value =
            serde_json::from_str(&fs::read_to_string(file(&user, "quiet.json")).unwrap()).unwrap();
        assert_eq!(stored["runs"].as_array().unwrap().len(), expected, "{named:?}: {stored}");
    }
    let baselines = user.fine(&["baseline", "list"]).output;
    assert!(baselines.contains(campaign) && baselines.contains("campaign "), "{baselines}");
    for (named, code, expected) in [
        ("campaign:last:/nowhere", 3, "has no target or side /nowhere: choose from"),
        ("label:system=busy", 3, "no run has the label system=busy"),
        ("history:/x", 2, "a baseline is of runs"),
        ("campain:last", 2, "did you mean campaign:last?"),
    ] {
        let said = user.iolag(&["baseline", "set", "other", named]);
        assert!(said.code == code && said.errors.contains(expected), "{named}: {said:?}");
    }
    // One that is damaged may belong to it.
    fs::write(user.store().join("runs").join(own[3]).join("run.json"), "{").unwrap();
    let said = user.iolag(&["baseline", "set", "quiet", &format!("campaign:{campaign}")]);
    assert_eq!(said.code, 3, "{said:?}");
    assert!(said.output.starts_with("baseline quiet: 3 runs"), "{said:?}");
    assert!(said.errors.contains("it may belong to campaign:"), "{said:?}");
}
