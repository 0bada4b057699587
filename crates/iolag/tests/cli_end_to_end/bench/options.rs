//! Every option of `iolag bench metadata` does what it says, told by the stored run.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::user::{User, number, text};

/// A small run: 2 datasets of 20 objects, 10 of them used per iteration.
const SMALL: [&str; 8] = ["-D", "2", "-P", "20", "-I", "10", "-R", "1"];

fn bench(user: &User, target: &str, options: &[&str]) -> String {
    user.fine(&[&["bench", "metadata", target, "--quiet"], &SMALL[..], options].concat()).output
}

fn counts(user: &User) -> BTreeMap<(String, String), u64> {
    let mut counts = BTreeMap::new();
    for sample in user.samples("last") {
        *counts
            .entry((text(&sample, "phase").to_owned(), text(&sample, "operation").to_owned()))
            .or_default() += 1;
    }
    counts
}

fn count(counts: &BTreeMap<(String, String), u64>, phase: &str, operation: &str) -> u64 {
    counts.get(&(phase.to_owned(), operation.to_owned())).copied().unwrap_or(0)
}

fn spec(user: &User) -> Value {
    user.record()["spec"].clone()
}

#[test]
fn clients_datasets_objects_precreated_and_iterations() {
    let user = User::new();
    let target = user.directory("target");
    user.fine(&["bench", "metadata", &target, "-n", "3", "-D", "2", "-P", "12", "-I", "5", "-R", "2", "-q"]);
    let counts = counts(&user);
    assert_eq!(count(&counts, "precreate", "mkdir"), 3 * 2);
    assert_eq!(count(&counts, "precreate", "create"), 3 * 2 * 12);
    for operation in ["stat", "read", "delete", "create"] {
        assert_eq!(count(&counts, "benchmark", operation), 3 * 2 * 5 * 2, "{operation}");
    }
    assert_eq!(count(&counts, "cleanup", "delete"), 3 * 2 * 12);
    assert_eq!(count(&counts, "cleanup", "rmdir"), 3 * 2);
    let samples = user.samples("last");
    let clients: BTreeSet<u64> = samples.iter().map(|sample| number(sample, "client")).collect();
    assert_eq!(clients, BTreeSet::from([0, 1, 2]));
    let iterations: BTreeSet<u64> = samples
        .iter()
        .filter(|sample| text(sample, "phase") == "benchmark")
        .map(|sample| number(sample, "iteration"))
        .collect();
    assert_eq!(iterations, BTreeSet::from([0, 1]));
    assert_eq!(user.record()["positions"], serde_json::json!([10, 10, 10]));
    assert_eq!(std::fs::read_dir(&target).unwrap().count(), 0);
}

#[test]
fn sizes_are_those_of_the_objects() {
    for (size, bytes) in [("0", 0), ("1", 1), ("3901", 3901), ("64KiB", 65536)] {
        let user = User::new();
        let target = user.directory("target");
        user.fine(&[
            "bench",
            "metadata",
            &target,
            "-D",
            "1",
            "-P",
            "3",
            "-I",
            "2",
            "-R",
            "1",
            "-S",
            size,
            "-q",
            "--phases",
            "precreate",
        ]);
        let path = user.path("target/iolag-work/0_0/file-1");
        assert_eq!(path.metadata().unwrap().len(), bytes, "{size}");
        assert!(user.operations(&["create"]).iter().all(|sample| number(sample, "bytes") == bytes), "{size}");
    }
}

#[test]
fn the_offset_decides_whose_objects_are_read_and_the_share_is_in_the_document() {
    let user = User::new();
    let target = user.directory("target");
    // By default the offset is the number of clients on this node, so that on many nodes others' objects are read.
    bench(&user, &target, &["-n", "2"]);
    let default = number(&spec(&user)["workload"], "offset");
    assert!(user.fine(&["bench", "metadata", "--help"]).output.contains("distance to the client"));
    for (clients, offset, precreated, steady) in
        [("2", "1", 0.5, 1.0), ("4", "1", 0.0, 0.5), ("1", "1", 1.0, 1.0)]
    {
        bench(&user, &target, &["-n", clients, "-O", offset]);
        let document = user.fine(&["show", "last", "--json", "-"]).output;
        let document: Value = serde_json::from_str(&document).expect("it is JSON");
        let share = |which: &str| document["self_read"][which].as_f64();
        assert_eq!((share("precreated"), share("steady_state")), (Some(precreated), Some(steady)));
        assert_eq!(number(&spec(&user)["workload"], "offset"), 1);
    }
    assert!(default <= 2);
}

#[test]
fn think_time_by_factor_and_by_duration_is_seen_between_operations_and_not_in_them() {
    let user = User::new();
    let pauses = |samples: &[Value]| -> Vec<(u64, u64)> {
        samples
            .windows(2)
            .map(|pair| {
                let end = number(&pair[0], "start_ns") + number(&pair[0], "duration_ns");
                (number(&pair[0], "duration_ns"), number(&pair[1], "start_ns") - end)
            })
            .collect()
    };
    let benchmark = || -> Vec<Value> {
        let mut samples = user.operations(&["stat", "read", "delete", "create"]);
        samples.retain(|sample| text(sample, "phase") == "benchmark");
        samples.sort_by_key(|sample| number(sample, "attempt"));
        samples
    };
    bench(&user, "memory:", &["--think", "2ms"]);
    let paused = benchmark();
    assert_eq!(paused.len(), 80);
    assert!(pauses(&paused).iter().all(|(_, pause)| *pause >= 2_000_000), "{:?}", pauses(&paused));
    bench(&user, "delayed:1ms:memory:", &["--think", "3x"]);
    let paused = benchmark();
    assert!(
        pauses(&paused).iter().all(|(duration, pause)| *pause >= 3 * duration - 1_000),
        "{:?}",
        pauses(&paused)
    );
    bench(&user, "memory:", &[]);
    // Here and there others take the processor away for a while.
    let pauses = pauses(&benchmark());
    let long = pauses.iter().filter(|(_, pause)| *pause >= 2_000_000).count();
    assert!(long * 2 < pauses.len(), "without think time nobody pauses: {pauses:?}");
}

#[test]
fn read_only_runs_stat_and_read() {
    let user = User::new();
    bench(&user, "memory:", &["--read-only"]);
    let counts = counts(&user);
    assert_eq!(
        ["stat", "read", "delete", "create"].map(|operation| count(&counts, "benchmark", operation)),
        [20, 20, 0, 0]
    );
}

#[test]
fn a_time_limit_ends_iterations_and_wear_out_makes_clients_equal() {
    let user = User::new();
    // Operations of clients are delayed at random, so that they are at different places when the time is over.
    let target = "delayed:500us~exp:memory:";
    let run = |more: &[&str]| {
        let options = [
            &[
                "bench",
                "metadata",
                target,
                "-q",
                "-n",
                "3",
                "-D",
                "1",
                "-P",
                "4000",
                "-I",
                "4000",
                "-R",
                "2",
                "--phases",
                "precreate,benchmark",
                "-w",
                // Time enough for some rows of each client on a busy machine, too.
                "1s",
            ][..],
            more,
        ]
        .concat();
        user.fine(&options);
        let mut rows: BTreeMap<(u64, u64), u64> = BTreeMap::new();
        for sample in user.operations(&["stat"]) {
            if text(&sample, "phase") == "benchmark" {
                *rows.entry((number(&sample, "iteration"), number(&sample, "client"))).or_default() += 1;
            }
        }
        rows
    };
    let unequal = run(&[]);
    assert_eq!(unequal.len(), 6);
    assert!(unequal.values().all(|rows| (5..4000).contains(rows)), "{unequal:?}");
    let equal = run(&["--wear-out"]);
    for iteration in [0, 1] {
        let rows: BTreeSet<u64> = (0..3).map(|client| equal[&(iteration, client)]).collect();
        assert_eq!(rows.len(), 1, "{equal:?}");
    }
    assert_eq!(spec(&user)["workload"]["time_limit"]["wear_out"], "equalise");
}

#[test]
fn the_seed_repeats_faults_and_another_one_does_not() {
    let user = User::new();
    let failed = |seed: &str| -> Vec<u64> {
        bench(&user, "faulty:stat:eio@0.3:memory:", &["--seed", seed]);
        let mut failed: Vec<u64> = user
            .operations(&["stat"])
            .iter()
            .filter(|sample| text(sample, "outcome") == "error")
            .map(|sample| number(sample, "attempt"))
            .collect();
        failed.sort_unstable();
        failed
    };
    let once = failed("7");
    assert!(!once.is_empty());
    assert_eq!(once, failed("7"));
    assert_ne!(once, failed("8"));
}

#[test]
fn fsync_is_a_call_of_its_own_among_calls() {
    let user = User::new();
    let target = user.directory("target");
    let operations = |user: &User| -> BTreeSet<String> {
        let samples = user.samples("last");
        let benchmark = samples.iter().filter(|sample| text(sample, "phase") == "benchmark");
        benchmark.map(|sample| text(sample, "operation").to_owned()).filter(|name| name != "stage").collect()
    };
    bench(&user, &target, &["--detail", "calls"]);
    let calls = [
        "call.stat",
        "call.open",
        "call.read",
        "call.close",
        "call.unlink",
        "call.create",
        "call.write",
        "call.close-written",
    ];
    let expected: BTreeSet<String> = calls.map(str::to_owned).into();
    assert_eq!(operations(&user), expected);
    bench(&user, &target, &["--detail", "calls", "--fsync"]);
    let with: BTreeSet<String> = expected.iter().cloned().chain(["call.fsync".to_owned()]).collect();
    assert_eq!(operations(&user), with);
    bench(&user, &target, &["--fsync"]);
    assert_eq!(operations(&user), ["stat", "read", "delete", "create"].map(str::to_owned).into());
    assert_eq!(spec(&user)["workload"]["durability"], "fsync");
}

#[test]
fn verify_finds_what_somebody_changed_and_without_it_nobody_looks() {
    let user = User::new();
    let target = user.directory("target");
    let phases = |phase: &str, more: &[&str]| {
        let arguments =
            [&["bench", "metadata", &target, "-q", "--phases", phase, "--read-only"], &SMALL[..], more]
                .concat();
        user.fine(&arguments).output
    };
    phases("precreate", &["--verify"]);
    let path = user.path("target/iolag-work/0_1/file-3");
    let mut content = std::fs::read(&path).unwrap();
    content[100] ^= 0xff;
    std::fs::write(&path, content).unwrap();
    let errors = |user: &User| {
        user.operations(&["read"]).iter().filter(|sample| text(sample, "outcome") == "error").count()
    };
    let output = phases("benchmark", &["--verify"]);
    assert_eq!(errors(&user), 1);
    assert!(output.contains("wrong content"), "{output}");
    phases("benchmark", &[]);
    assert_eq!(errors(&user), 0);
    // The last run wrote without, so nobody knows any more what is in the objects.
    let arguments =
        [&["bench", "metadata", &target, "--phases", "benchmark", "--verify"], &SMALL[..]].concat();
    let said = user.iolag(&arguments);
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.errors.contains("its content cannot be compared; leave out --verify"), "{}", said.errors);
}

#[test]
fn errors_by_class_are_in_the_table() {
    let user = User::new();
    let target = "faulty:stat:eio@#3,read:estale@#4,create:enospc@#25:memory:";
    // A target that fails in mid-run is measured to the end, and the run says that it is not what was asked for.
    let said = user.iolag(&[&["bench", "metadata", target, "--quiet"], &SMALL[..]].concat());
    assert_eq!(said.code, 4, "{said:?}");
    let output = said.output;
    for expected in ["input/output error", "stale", "no space left"] {
        assert!(output.contains(expected), "{expected}: {output}");
    }
}

#[test]
fn a_known_delay_is_reported_for_every_operation() {
    let user = User::new();
    let target = user.directory("target");
    bench(&user, &format!("delayed:5ms:{target}"), &[]);
    let document = user.document("last");
    let mut seen = BTreeSet::new();
    for stage in document["stages"].as_array().unwrap() {
        for row in stage["rows"].as_array().unwrap() {
            let durations = &row["summary"]["durations"];
            let least = number(&durations["min"], "exactly_ns");
            assert!(least >= 5_000_000, "{row}");
            seen.insert(text(&row["summary"], "operation").to_owned());
        }
    }
    for operation in ["stat", "read", "delete", "create"] {
        assert!(seen.contains(operation), "{seen:?}");
    }
}

#[test]
fn the_working_name_is_the_directory_in_the_target() {
    let user = User::new();
    let target = user.directory("target");
    bench(&user, &target, &["--working-name", "elsewhere", "--phases", "precreate"]);
    assert!(user.path("target/elsewhere/0_0/file-0").exists());
    let record = user.record();
    assert_eq!(text(&record["targets"][0], "working_place"), format!("{target}/elsewhere"));
}

#[test]
fn labels_and_the_command_are_kept_and_shown() {
    let user = User::new();
    bench(&user, "memory:", &["--label", "rack=7", "--label", "mood=calm"]);
    let record = user.record();
    assert_eq!(record["labels"], serde_json::json!({ "mood": "calm", "rack": "7" }));
    let shown = user.fine(&["show"]).output;
    assert!(shown.contains("mood=calm rack=7") && shown.contains("bench metadata memory:"), "{shown}");
}

#[test]
fn patterns_differ_in_what_they_do() {
    let user = User::new();
    let target = user.directory("target");
    bench(&user, &target, &["--pattern", "paper", "-n", "2"]);
    assert_eq!(spec(&user)["workload"]["pattern"], "paper");
    bench(&user, &target, &["--pattern", "batch", "-n", "2"]);
    let counts = counts(&user);
    let expected = [
        ("tree-create", "mkdir", 4),
        ("batch-create", "create", 80),
        ("batch-stat", "stat", 80),
        ("batch-read", "read", 80),
        ("batch-remove", "delete", 80),
        ("tree-remove", "rmdir", 4),
    ];
    for (phase, operation, times) in expected {
        assert_eq!(count(&counts, phase, operation), times, "{phase}: {counts:?}");
    }
    assert_eq!(std::fs::read_dir(&target).unwrap().count(), 0);
}

#[test]
fn every_form_of_the_result() {
    let user = User::new();
    let csv = bench(&user, "memory:", &["--format", "csv"]);
    let columns = csv.lines().next().unwrap().split(',').count();
    assert!(csv.starts_with("run,host,target,role,stage") && csv.lines().count() > 6);
    assert!(csv.lines().all(|line| line.split(',').count() == columns), "{csv}");
    let json: Value = serde_json::from_str(&bench(&user, "memory:", &["--format", "json"])).unwrap();
    assert_eq!(json, user.document("last"));
    let lines = bench(&user, "memory:", &["--format", "md-workbench"]);
    assert!(lines.lines().any(|line| line.starts_with("benchmark process max:")), "{lines}");
    assert_eq!(user.fine(&["show", "--format", "md-workbench"]).output, lines);
}
