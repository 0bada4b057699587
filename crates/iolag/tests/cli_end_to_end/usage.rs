//! What can be typed, and what is said to what cannot be done: exit code 2 (or 3), one clear sentence, nothing created.

use crate::user::{Said, User};

#[test]
fn help_of_every_command() {
    let user = User::new();
    for (name, arguments) in [
        ("iolag", &["--help"][..]),
        ("check", &["check", "--help"]),
        ("bench", &["bench", "--help"]),
        ("bench-metadata", &["bench", "metadata", "--help"]),
        ("bench-tree", &["bench", "tree", "--help"]),
        ("run", &["run", "--help"]),
        ("plan", &["plan", "--help"]),
        ("list", &["list", "--help"]),
        ("show", &["show", "--help"]),
        ("export", &["export", "--help"]),
        ("ping", &["ping", "--help"]),
        ("watch", &["watch", "--help"]),
        ("compare", &["compare", "--help"]),
        ("report", &["report", "--help"]),
        ("plot", &["plot", "--help"]),
        ("serve", &["serve", "--help"]),
        ("note", &["note", "--help"]),
        ("history", &["history", "--help"]),
        ("history-undo", &["history", "undo", "--help"]),
        ("history-rename", &["history", "rename", "--help"]),
        ("import", &["import", "--help"]),
        ("baseline", &["baseline", "--help"]),
        ("baseline-set", &["baseline", "set", "--help"]),
        ("prune", &["prune", "--help"]),
        ("rm", &["rm", "--help"]),
        ("cleanup", &["cleanup", "--help"]),
    ] {
        let said = user.fine(arguments);
        assert_eq!(said.errors, "");
        insta::assert_snapshot!(format!("help-{name}"), said.output);
    }
    assert!(user.fine(&["--version"]).output.starts_with("iolag 0."));
    assert_eq!(user.everything(), [user.path("tmp")]);
}

/// Refused: the code, one paragraph on standard error that holds every one of `expected`, nothing on standard output,
/// and nothing created anywhere, the store included.
fn refused(user: &User, arguments: &[&str], code: i32, expected: &[&str]) -> Said {
    let before = user.everything();
    let said = user.iolag(arguments);
    assert_eq!(said.code, code, "{arguments:?}: {said:?}");
    assert_eq!(said.output, "", "{arguments:?}");
    for text in expected {
        assert!(said.errors.contains(text), "{arguments:?}: expected {text:?} in {:?}", said.errors);
    }
    assert!(!said.errors.contains("panicked"), "{}", said.errors);
    assert!(!said.errors.contains('\u{1b}'), "{}", said.errors);
    assert_eq!(user.everything(), before, "{arguments:?}");
    assert!(!user.path("data").exists(), "{arguments:?} made a store");
    said
}

#[test]
fn bad_numbers_of_bench_metadata_are_refused_before_anything_is_created() {
    let user = User::new();
    let target = user.directory("target");
    for (option, value, expected) in [
        ("--clients", "0", "--clients 0 measures nothing"),
        ("--clients", "-1", "\"-1\" is not a whole number such as 3000"),
        ("--clients", "99999999999", "is more than one node can run"),
        ("--clients", "4x", "\"4x\" is not a whole number"),
        ("--clients", "", "\"\" is not a whole number"),
        ("--datasets", "0", "the number of datasets per client is 0, it must be at least 1"),
        ("--datasets", "-3", "\"-3\" is not a whole number"),
        ("--datasets", "99999999999", "--datasets 99999999999 is too large"),
        ("--precreate", "0", "the number of precreated objects is 0"),
        ("--precreate", "1P", "precreated objects is 1000000000000000, at most"),
        ("--precreate", "10Ki", "\"10Ki\" is not a whole number"),
        ("--objects", "0", "the number of objects per iteration is 0"),
        ("--objects", "99999999999999999999", "is not a whole number"),
        ("--iterations", "0", "the number of iterations is 0"),
        ("--iterations", "1M", "the number of iterations is 1000000, at most"),
        ("--object-size", "-4k", "\"-4k\" is not a size such as 3901"),
        ("--object-size", "1P", "the object size in bytes is 1125899906842624, at most"),
        ("-S", "5T", "every client holds an object in memory, reduce --object-size"),
        ("--object-size", "4 furlongs", "\"4 furlongs\" is not a size"),
        ("--offset", "99999999999", "--offset 99999999999 is too large"),
        ("--repeat", "0", "--repeat 0 measures nothing"),
        ("--order", "abba", "expected one of: interleaved, random, sequential"),
        ("--deadline", "0", "expected at least 1ms"),
        ("--deadline", "-15s", "\"-15s\" is not a duration"),
        ("--deadline", "15", "the unit is required"),
        ("--time-limit", "0s", "expected at least 1ms"),
        ("--think", "-1x", "expected a factor such as 0.5x"),
        ("--think", "1 fortnight", "expected a factor of the operation's time such as 0.5x, or a duration"),
        ("--think", "1e9x", "at most 1000000x"),
        ("--buffer", "0", "--buffer must be at least"),
        ("--buffer", "9P", "more than a node has: at most 1.00 TiB"),
        ("--seed", "-1", "invalid digit found in string"),
        ("--label", "quiet", "expected NAME=VALUE"),
        ("--pattern", "codes", "expected one of: code, paper, batch"),
        ("--detail", "call", "expected one of: operations, calls"),
        ("--phases", "benchmark,clean", "expected one of: precreate, benchmark, cleanup"),
        ("--on-hang", "panic", "expected one of: wait, continue, stop"),
        ("--format", "xml", "expected one of: text, md-workbench, csv, json"),
        ("--format", "parquet", "iolag export --format parquet"),
        ("--working-name", "../elsewhere", "working"),
        ("--working-name", "", "working"),
    ] {
        refused(&user, &["bench", "metadata", &target, option, value], 2, &[expected]);
    }
}

#[test]
fn options_that_do_not_go_together_are_refused() {
    let user = User::new();
    let target = user.directory("target");
    for (options, expected) in [
        (
            &["--precreate", "10", "--objects", "20"][..],
            "10 objects are precreated per dataset, but an iteration consumes 20",
        ),
        (&["--wear-out"], "--time-limit"),
        (&["--pattern", "batch", "--time-limit", "1s"], "pattern batch has no time limit"),
        (&["--pattern", "batch", "--read-only"], "leave out --read-only"),
        (&["--phases", "benchmark", "--clients", "1,2"], "leave out --phases"),
        (&["--phases", "precreate", "--repeat", "2"], "leave out --phases"),
        (&["--give-up-after", "1s"], "--give-up-after needs --on-hang wait"),
        (&["--label", "a=1", "--label", "a=2"], "--label a is given twice"),
        (&["--clients", "65000", "--buffer", "1M"], "--buffer must be at least"),
        (&["--clinets", "4"], "unexpected argument '--clinets'"),
    ] {
        let arguments = [&["bench", "metadata", target.as_str()], options].concat();
        refused(&user, &arguments, 2, &[expected]);
    }
}

#[test]
fn targets_and_commands_that_nobody_knows_are_refused() {
    let user = User::new();
    for (arguments, expected) in [
        (&["bench", "metadata"][..], "<TARGET>"),
        (&["bench", "metadata", "gsiftp://host/prefix"], "this build has no backend for gsiftp targets"),
        (&["bench", "metadata", "ftp://host"], "is no kind of target"),
        (&["bench", "metadata", "memory:x"], "expected nothing after memory:"),
        (&["bench", "metadata", "delayed:5:memory:"], "\"5\" is not a duration"),
        (&["bench", "metadata", "faulty:eio@2:memory:"], "after @"),
        (&["bench", "tape", "."], "unrecognized subcommand 'tape'"),
        (&["cheque"], "a similar subcommand exists: 'check'"),
        (&[], "Usage: iolag"),
    ] {
        refused(&user, arguments, 2, &[expected]);
    }
}

#[test]
fn bad_options_of_a_check_are_refused() {
    let user = User::new();
    for (option, value, expected) in [
        ("--budget", "0", "a check needs at least 1s"),
        ("--budget", "300ms", "a check needs at least 1s"),
        ("--budget", "45", "the unit is required"),
        ("--budget", "-1s", "\"-1s\" is not a duration"),
        ("--budget", "400d", "the budget"),
        ("--deadline", "0", "expected at least 1ms"),
        ("--thresholds", "0.1", "the unit is required"),
        ("--thresholds", "0,1s", "expected at least 1ms"),
        ("--stream-size", "0", "the stream size in bytes is 0"),
        ("--stream-size", "1P", "the stream size in bytes is 1125899906842624"),
        ("--stream-size", "big", "\"big\" is not a size"),
        ("--json", "", "expected a file, or -"),
        ("--json", "missing/result.json", "there is no directory"),
        ("--report", "missing/report.html", "there is no directory"),
        ("--json", ".", "it is a directory"),
    ] {
        refused(&user, &["check", ".", option, value], 2, &[expected]);
    }
    refused(&user, &["check", ""], 2, &["a directory has a name; write . for the current one"]);
}

#[test]
fn a_document_of_what_has_none_is_refused() {
    let user = User::new();
    for command in ["prune", "cleanup", "export"] {
        refused(&user, &[command, "--json", "x.json"], 2, &["has no result to write as JSON"]);
    }
    refused(&user, &["prune"], 2, &["prune needs a rule"]);
}

#[test]
fn usage_errors_as_they_are_printed() {
    let user = User::new();
    let target = user.directory("target");
    let mut text = String::new();
    for arguments in [
        &["bench", "metadata", "TARGET", "--clients", "0"][..],
        &["bench", "metadata", "TARGET", "--object-size", "4 furlongs"],
        &["bench", "metadata", "TARGET", "--precreate", "10", "--objects", "20"],
        &["bench", "metadata", "TARGET", "--wear-out"],
        &["bench", "metadata", "gsiftp://me:secret@host/bucket"],
        &["check", "--budget", "45"],
        &["show", "--format", "xml"],
        &["prune"],
    ] {
        let real: Vec<&str> =
            arguments.iter().map(|word| if *word == "TARGET" { target.as_str() } else { word }).collect();
        let said = user.iolag(&real);
        assert!(!said.errors.contains("secret"));
        // Not every build has it.
        let errors = said.errors.replace("mongodb://HOST/DATABASE, ", "");
        text.push_str(&format!("$ iolag {}\n{errors}(exit code {})\n\n", arguments.join(" "), said.code));
    }
    insta::assert_snapshot!(text);
}
