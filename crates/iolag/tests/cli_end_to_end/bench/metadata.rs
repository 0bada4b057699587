//! The life of a working set over several commands, sweeps, repetitions and several targets.

use serde_json::Value;

use crate::user::{Said, User, number, text};

const SET: [&str; 8] = ["-n", "2", "-D", "2", "-P", "20", "-I", "10"];

fn phases(user: &User, target: &str, phases: &str, more: &[&str]) -> Said {
    user.iolag(&[&["bench", "metadata", target, "-R", "1", "--phases", phases], &SET[..], more].concat())
}

#[test]
fn a_working_set_lives_over_several_commands() {
    let user = User::new();
    let target = user.directory("target");
    let fine = |said: Said| assert_eq!(said.code, 0, "{said:?}");
    let positions = || user.record()["positions"].clone();
    let errors = || user.samples("last").iter().filter(|sample| text(sample, "outcome") != "ok").count();
    fine(phases(&user, &target, "precreate", &[]));
    assert_eq!(positions(), serde_json::json!([0, 0]));
    for (round, position) in [(1, 10), (2, 20), (3, 30)] {
        fine(phases(&user, &target, "benchmark", &[]));
        assert_eq!(positions(), serde_json::json!([position, position]), "round {round}");
        assert_eq!(errors(), 0, "round {round}");
        let objects = std::fs::read_dir(user.path("target/iolag-work/0_0")).unwrap().count();
        assert_eq!(objects, 20, "the working set stays as large as it is");
    }
    // The last ones removed: 0 to 29 went, 30 to 49 are there.
    assert!(!user.path("target/iolag-work/1_1/file-29").exists());
    assert!(user.path("target/iolag-work/1_1/file-30").exists());
    fine(phases(&user, &target, "cleanup", &[]));
    assert_eq!(errors(), 0);
    assert_eq!(std::fs::read_dir(&target).unwrap().count(), 0);
}

#[test]
fn a_phase_that_does_not_fit_what_is_there_is_refused_in_one_sentence() {
    let user = User::new();
    let target = user.directory("target");
    let refused = |said: Said, code: i32, expected: &str| {
        assert_eq!((said.code, said.output.as_str()), (code, ""), "{said:?}");
        assert_eq!(said.errors.trim_end().lines().count(), 1, "{}", said.errors);
        assert!(said.errors.contains(expected), "{}", said.errors);
    };
    let quiet = ["--quiet"];
    refused(
        phases(&user, &target, "benchmark", &quiet),
        3,
        "run the precreate phase first, with the same --store",
    );
    assert_eq!(phases(&user, &target, "precreate", &quiet).code, 0);
    refused(
        phases(&user, &target, "precreate", &quiet),
        3,
        ": let that end if it still measures; else remove it with iolag cleanup 20",
    );
    // Whose it is, is told to who cleans up after another run.
    let refused_run = text(&user.record(), "id").to_owned();
    let cleaned = user.fine(&["cleanup", &refused_run]);
    let said = format!(": nothing to remove of run {refused_run}\n");
    assert!(cleaned.output.contains("target/iolag-work is that of run 20"), "{cleaned:?}");
    assert!(cleaned.output.ends_with(&said), "{cleaned:?}");
    for other in [
        ["-n", "3", "-D", "2", "-P", "20"],
        ["-n", "2", "-D", "1", "-P", "20"],
        ["-n", "2", "-D", "2", "-P", "21"],
    ] {
        let arguments =
            [&["bench", "metadata", &target, "-q", "-I", "10", "--phases", "benchmark"], &other[..]].concat();
        refused(user.iolag(&arguments), 2, "--clients 2 --datasets 2 --precreate 20");
    }
    assert_eq!(phases(&user, &target, "benchmark", &quiet).code, 0);
    refused(
        phases(&user, &target, "benchmark", &["-q", "--pattern", "paper"]),
        2,
        "--pattern code; give the same",
    );
    // A store that forgot the run cannot continue it, and says where it is not known.
    let kept = user.fine(&["prune", "--older-than", "0", "--yes"]);
    assert!(kept.errors.contains("target/iolag-work of run 20"), "{kept:?}");
    assert_eq!(kept.output, format!("{refused_run}  removed\n"), "it has left nothing");
    std::fs::remove_dir_all(user.store().join("runs")).unwrap();
    refused(phases(&user, &target, "benchmark", &quiet), 3, "the store knows no run that left a working set");
    refused(phases(&user, &target, "precreate", &quiet), 3, "(by hand, if no store knows that run any more)");
    assert!(user.path("target/iolag-work/0_0").exists(), "a refusal removes nothing");
}

#[test]
fn cleanup_removes_what_a_run_left_and_says_when_nothing_is_left() {
    let user = User::new();
    let target = user.directory("target");
    std::fs::write(user.path("target/mine"), "").unwrap();
    assert_eq!(phases(&user, &target, "precreate", &[]).code, 0);
    assert_eq!(user.fine(&["cleanup"]).output, format!("{target}/iolag-work is removed\n"));
    let again = user.fine(&["cleanup"]).output;
    assert!(again.ends_with(" has left nothing on its targets: nothing to remove\n"), "{again}");
    assert!(user.path("target/mine").exists());
    assert!(!user.path("target/iolag-work").exists());
}

#[test]
fn what_a_run_has_removed_itself_is_no_working_set_to_go_on_with() {
    let user = User::new();
    let target = user.directory("target");
    assert_eq!(phases(&user, &target, "precreate,benchmark,cleanup", &[]).code, 0);
    let continued = phases(&user, &target, "benchmark", &["--pattern", "paper"]);
    assert_eq!(continued.code, 3, "{continued:?}");
    assert!(continued.errors.contains("the store knows no run that left a working set"), "{continued:?}");
}

#[test]
fn cleanup_says_what_to_look_for_where_the_working_directory_was_moved_away() {
    let user = User::new();
    let target = user.directory("target");
    assert_eq!(phases(&user, &target, "precreate", &[]).code, 0);
    let [place, away] = ["iolag-work", "away"].map(|name| user.path("target").join(name));
    std::fs::rename(&place, &away).unwrap();
    let token =
        std::fs::read_dir(&away).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let token = token.into_iter().find(|name| name.starts_with(".iolag-")).unwrap();
    let said = user.fine(&["cleanup"]).output;
    assert!(said.starts_with(&format!("{target}/iolag-work is not there any more, where run ")), "{said}");
    assert!(said.contains(&format!("for a directory that holds {token}, and move it back")), "{said}");
    std::fs::rename(&away, &place).unwrap();
    assert_eq!(user.fine(&["cleanup"]).output, format!("{target}/iolag-work is removed\n"));
}

#[test]
fn everything_in_one_command_leaves_nothing_and_refuses_a_directory_in_use() {
    let user = User::new();
    let target = user.directory("target");
    user.directory("target/iolag-work");
    std::fs::write(user.path("target/iolag-work/precious"), "precious").unwrap();
    let arguments = [&["bench", "metadata", &target, "-R", "1"], &SET[..]].concat();
    let said = user.iolag(&arguments);
    assert_eq!(said.code, 3, "{said:?}");
    assert!(said.errors.contains("is not empty"), "{}", said.errors);
    assert_eq!(std::fs::read(user.path("target/iolag-work/precious")).unwrap(), b"precious");
    std::fs::remove_file(user.path("target/iolag-work/precious")).unwrap();
    let said = user.fine(&arguments);
    for announced in ["with 2 clients", "objects of 3.81 KiB in all", "at most", "iolag-work"] {
        assert!(said.errors.contains(announced), "{announced}: {}", said.errors);
    }
    assert!(user.path("target").exists());
    assert!(!user.path("target/iolag-work/0_0").exists());
}

#[test]
fn a_sweep_over_sizes_and_clients_closes_with_what_it_found() {
    let user = User::new();
    let sweep = [
        "bench",
        "metadata",
        "memory:",
        "-D",
        "1",
        "-P",
        "10,100,1k",
        "-I",
        "10",
        "-n",
        "1,2",
        "-R",
        "2",
        "-q",
    ];
    let said = user.fine(&sweep);
    assert!(said.output.contains("All runs of this campaign"), "{}", said.output);
    // First what more clients do, by size and operation.
    let table = &said.output[said.output.find("What more clients do").unwrap()..];
    let head = table.lines().find(|line| line.contains("clients  ")).unwrap();
    let columns: Vec<&str> = head.split_whitespace().collect();
    assert_eq!(columns[..7], ["clients", "per", "s", "per", "client", "median", "p99"], "{table}");
    assert!(table.find("per dataset").unwrap() < table.find("All runs of this campaign").unwrap());
    // Three sizes are enough; two passes of each are not, and that is said once.
    let flat = said.output.split_whitespace().collect::<Vec<_>>().join(" ");
    let told = "With 1 client, with 2 clients: too few passes to say from which size on";
    assert!(flat.contains(told), "{}", said.output);
    let list: Value = serde_json::from_str(&user.fine(&["list", "--json", "-"]).output).unwrap();
    let points: Vec<(u64, u64)> = list
        .as_array()
        .unwrap()
        .iter()
        .map(|run| (number(&run["spec"]["workload"], "precreated_objects"), number(&run["spec"], "clients")))
        .collect();
    let mut sorted = points.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, [(10, 1), (10, 2), (100, 1), (100, 2), (1000, 1), (1000, 2)]);
    assert_ne!(sorted, points, "in an order by the seed");
    let campaigns: std::collections::BTreeSet<&str> =
        list.as_array().unwrap().iter().map(|run| text(run, "campaign")).collect();
    assert_eq!(campaigns.len(), 1);
}

#[test]
fn repetitions_and_targets_are_runs_of_one_campaign_and_one_document() {
    let user = User::new();
    let target = user.directory("target");
    let both = [
        "bench", "metadata", "memory:", "target", "-D", "1", "-P", "10", "-I", "5", "-R", "1", "--repeat",
        "2", "-q",
    ];
    let output = user.fine(&[&both[..], &["--json", "-"]].concat()).output;
    let documents: Value = serde_json::from_str(&output).expect("one document");
    let documents = documents.as_array().expect("an array of runs");
    let repetitions: Vec<u64> =
        documents.iter().map(|document| number(&document["run"], "repetition")).collect();
    assert_eq!(repetitions, [1, 2, 1, 2]);
    let list: Value = serde_json::from_str(&user.fine(&["list", "--json", "-"]).output).unwrap();
    let targets: Vec<&str> =
        list.as_array().unwrap().iter().map(|run| text(&run["targets"][0], "name")).collect();
    let memory_first = ["memory:", &target, &target, "memory:"];
    assert!(targets == memory_first || targets == [&target, "memory:", "memory:", &target], "{targets:?}");
    let csv = user.fine(&[&both[..], &["--format", "csv"]].concat()).output;
    assert_eq!(csv.lines().filter(|line| line.starts_with("run,")).count(), 1, "one header");
    let json = user.fine(&[&both[..], &["--format", "json"]].concat()).output;
    assert!(serde_json::from_str::<Value>(&json).unwrap().is_array());
}

#[test]
fn a_second_target_is_continued_in_its_own_place() {
    let user = User::new();
    let target = user.directory("target");
    assert_eq!(phases(&user, &target, "precreate", &[]).code, 0);
    // The first target is no directory, so the places of directories are not those of targets.
    let said = user.iolag(
        &[&["bench", "metadata", "memory:", "target", "-R", "1", "--phases", "benchmark", "-q"], &SET[..]]
            .concat(),
    );
    assert_eq!(said.code, 3, "{said:?}");
    assert!(said.errors.contains("the store knows no run"), "memory: keeps nothing: {}", said.errors);
    assert_eq!(phases(&user, &target, "benchmark", &[]).code, 0);
}
