//! A result that cannot be printed is never fine: every command that prints one, on a disk that is full.

use std::path::Path;

use crate::user::{Said, User, said};

/// iolag with a standard output that takes nothing.
fn on_a_full_disk(user: &User, arguments: &[&str]) -> Said {
    let mut command = user.command("sh");
    command.args(["-c", "exec \"$0\" \"$@\" > /dev/full", env!("CARGO_BIN_EXE_iolag")]).args(arguments);
    said(command)
}

/// iolag with a reader that is gone: `| head`. Its exit code is printed.
fn without_a_reader(user: &User, arguments: &[&str]) -> Said {
    let mut command = user.command("sh");
    let script = "{ sleep 0.2; \"$0\" \"$@\"; echo $? > code; } | true; cat code";
    command.args(["-c", script, env!("CARGO_BIN_EXE_iolag")]).args(arguments);
    said(command)
}

#[test]
fn no_command_ends_well_whose_result_is_lost() {
    let user = User::new();
    let target = user.directory("target");
    let small = ["-q", "bench", "metadata", &target, "-D1", "-P10", "-I5", "-R1"];
    let bench = |more: &[&'static str]| [&small[..], more].concat();
    user.fine(&small);
    std::fs::write(user.path("values.csv"), "time,list\n2008-05-08 14:00,1.5\n2008-05-08 14:15,2.5\n")
        .unwrap();
    let history = user.path("history.sqlite").display().to_string();
    let of_history = |more: &[&'static str]| [more, &["--history", &history][..]].concat();
    user.fine(&of_history(&["import", "values.csv", "--time-zone", "UTC"]));
    for arguments in [
        vec!["--help"],
        vec!["--version"],
        vec!["bench", "metadata", "--help"],
        vec!["check", &target, "--budget", "2s"],
        vec!["check", &target, "--budget", "2s", "--json", "-"],
        vec!["check", &target, "--budget", "2s", "--json", "check.json", "--report", "check.html"],
        bench(&[]),
        bench(&["-n1,2"]),
        bench(&["--json", "-"]),
        bench(&["--json", "bench.json", "--report", "bench.html"]),
        bench(&["--format", "csv"]),
        bench(&["--format", "json"]),
        bench(&["--format", "md-workbench"]),
        vec!["ping", &target, "-n1"],
        vec!["ping", &target, "-n1", "--json", "-"],
        vec!["ping", &target, "-n1", "--plot"],
        vec!["list"],
        vec!["list", "--json", "-"],
        vec!["show"],
        vec!["show", "--json", "-"],
        vec!["show", "--plot"],
        vec!["show", "--json", "show.json"],
        of_history(&["show", "history", "--since", "2000-01-01"]),
        of_history(&["show", "history", "--since", "2000-01-01", "--json", "-"]),
        vec!["export"],
        vec!["export", "--format", "json"],
        of_history(&["export", "history"]),
        of_history(&["note", "a disk was replaced"]),
        of_history(&["import", "values.csv", "--time-zone", "UTC", "--dry-run"]),
        of_history(&["import", "values.csv", "--time-zone", "UTC"]),
        vec!["watch", "--print-config"],
        vec!["watch", "--print-unit", "timer"],
        vec!["cleanup"],
        vec!["prune", "--keep-last", "1000"],
        vec!["rm", "last"],
        vec!["rm", "last", "--yes"],
    ] {
        let said = on_a_full_disk(&user, &arguments);
        // A ping that nobody can read ends early.
        let code = if arguments[0] == "ping" { said.code.min(3) } else { said.code };
        assert_eq!(code, 3, "{arguments:?}: {said:?}");
        let why = "standard output: No space left on device";
        assert!(said.errors.contains(why), "{arguments:?}: {said:?}");
    }
    // What goes elsewhere is not lost with it.
    for written in ["check.json", "check.html", "bench.json", "bench.html", "show.json"] {
        assert!(user.path(written).is_file(), "{written}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let user = User::new();
    let target = user.directory("target");
    let bench = ["-q", "bench", "metadata", &target, "-D1", "-P10", "-I5", "-R1"];
    for arguments in [&["--help"][..], &bench, &["list"], &["show", "--json", "-"], &["export"]] {
        let said = without_a_reader(&user, arguments);
        assert_eq!((said.output.trim(), said.errors.contains("standard output")), ("0", false), "{said:?}");
    }
}

#[test]
fn two_results_are_not_written_to_one_file_and_none_through_a_link() {
    let user = User::new();
    let there = user.directory("there");
    std::os::unix::fs::symlink(&there, user.path("same")).unwrap();
    std::fs::write(user.path("real.html"), "before").unwrap();
    std::os::unix::fs::symlink(user.path("real.html"), user.path("link.html")).unwrap();
    let bench = ["bench", "metadata", "memory:", "-D1", "-P10", "-I5", "-R1", "-q"];
    for measuring in [&bench[..], &["check", &there, "--budget", "2s"], &["compare", "last", "last"]] {
        for (outputs, told) in [
            (&["--report", "x", "--json", "./x"][..], "name the same file"),
            (&["--report", "there/x", "--json", "same/x"], "name the same file"),
            (&["--report", "-"], "expected a file"),
            (&["--report", "link.html"], "it is a symbolic link"),
            (&["--json", "link.html"], "it is a symbolic link"),
        ] {
            let said = user.iolag(&[measuring, outputs].concat());
            assert_eq!((said.code, said.output.as_str()), (2, ""), "{outputs:?}: {said:?}");
            assert!(said.errors.contains(told), "{outputs:?}: {said:?}");
        }
    }
    assert!(!user.path("data").exists(), "nothing was measured");
    user.fine(&[&bench[..], &["--report", "/dev/null", "--json", "/dev/null"]].concat());
    for arguments in [&["report", "-o", "-"][..], &["plot", "ecdf", "-o", "-"]] {
        assert_eq!(user.iolag(arguments).code, 2, "{arguments:?}");
    }
    let linked = user.iolag(&["report", "-o", "link.html"]);
    assert!(linked.code == 3 && linked.errors.contains("it is a symbolic link"), "{linked:?}");
    assert_eq!(std::fs::read_to_string(user.path("real.html")).unwrap(), "before");
}

#[test]
fn no_result_replaces_a_history_or_what_the_command_needs() {
    let user = User::new();
    let bench = ["bench", "metadata", "memory:", "-D1", "-P10", "-I5", "-R1", "-q"];
    let refused = |arguments: &[&str], told: &str| {
        let said = user.iolag(arguments);
        assert_eq!((said.code, said.output.as_str()), (2, ""), "{arguments:?}: {said:?}");
        assert!(said.errors.contains(told), "{arguments:?}: {said:?}");
    };
    let needed = "the command needs that file itself";
    for output in ["--report", "--json"] {
        refused(&[&bench[..], &["--history", "new.db", output, "./new.db"]].concat(), needed);
    }
    user.fine(&[&bench[..], &["--history", "h.db"]].concat());
    let database = "it is a database, as a history is";
    let shown = ["show", "history", "--history", "h.db"];
    let compared = ["compare", "history:/a", "history:/b", "--history", "h.db"];
    for (arguments, output) in
        [(&shown[..], "--json"), (&compared, "--json"), (&compared, "--report"), (&bench, "--report")]
    {
        refused(&[arguments, &[output, "h.db"]].concat(), database);
    }
    let plan =
        "[[bench]]\nworkload = \"metadata\"\ndatasets = 1\nprecreate = [5]\nobjects = 2\niterations = 1\n";
    std::fs::write(user.path("plan.toml"), plan).unwrap();
    std::os::unix::fs::symlink(user.path("plan.toml"), user.path("link.toml")).unwrap();
    for plan in ["plan.toml", "link.toml"] {
        for output in ["--report", "--json"] {
            refused(&["run", plan, "memory:", output, "plan.toml"], needed);
        }
    }
    assert_eq!(std::fs::read_to_string(user.path("plan.toml")).unwrap(), plan);
    assert!(std::fs::read(user.path("h.db")).unwrap().starts_with(b"SQLite format 3\0"));
}

#[test]
fn no_result_replaces_a_part_of_a_store_or_of_a_history() {
    let user = User::new();
    let bench = ["bench", "metadata", "memory:", "-D1", "-P10", "-I5", "-R1", "-q"];
    user.fine(&[&bench[..], &["--history", "h.db"]].concat());
    user.fine(&["baseline", "set", "base", "last"]);
    let run = user.store().join("runs").join(user.record()["id"].as_str().unwrap());
    let baselines = user.store().join("baselines");
    let text = |path: &Path| std::fs::read(path).unwrap();
    let files = [
        run.join("run.json"),
        run.join("manifest.json"),
        run.join("samples-0-0.parquet"),
        baselines.join("base.json"),
    ];
    let before = files.each_ref().map(|path| text(path));
    let refused = |arguments: &[&str], code: i32, told: &str| {
        let said = user.iolag(arguments);
        assert_eq!(said.code, code, "{arguments:?}: {said:?}");
        assert!(said.errors.contains(told), "{arguments:?}: {said:?}");
    };
    for file in files.iter().chain([&run.join("new.json"), &baselines.join("new.json")]) {
        let file = file.to_str().unwrap();
        refused(&["show", "last", "--json", file], 3, "it is in a store");
        refused(&[&bench[..], &["--report", file]].concat(), 2, "it is in a store");
        refused(&["export", "last", "-o", file], 3, "it is in a store");
        refused(&["report", "last", "-o", file], 3, "it is in a store");
    }
    assert_eq!(files.each_ref().map(|path| text(path)), before);
    refused(&["compare", "last", "base", "--json", "h.db-wal"], 2, "belongs to one");
    refused(
        &[&bench[..], &["--history", "new.db", "--json", "new.db-journal"]].concat(),
        2,
        "the command needs that file",
    );
    assert_eq!(user.fine(&["list", "--json", "-"]).output.matches("\"id\"").count(), 1);
}

#[test]
fn standard_output_has_several_names_and_no_result_goes_to_the_other_streams() {
    let user = User::new();
    let bench = ["bench", "metadata", "memory:", "-D1", "-P10", "-I5", "-R1", "-q"];
    user.fine(&bench);
    let document = user.fine(&["show", "last", "--json", "-"]).output;
    for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
        assert_eq!(user.fine(&["show", "last", "--json", name]).output, document, "{name}");
    }
    for (option, stream) in [("--json", "/dev/stderr"), ("--json", "/dev/fd/0"), ("--report", "/dev/stdout")]
    {
        let said = user.iolag(&[&bench[..], &[option, stream]].concat());
        assert_eq!((said.code, said.output.as_str()), (2, ""), "{said:?}");
        assert!(said.errors.contains(&format!("to {stream}: name a file")), "{said:?}");
    }
}

#[test]
fn what_is_left_where_a_document_is_lost_is_told_as_it_is() {
    let user = User::new();
    let bench = ["bench", "metadata", "memory:", "-D1", "-P10", "-I5", "-R1", "-q", "--repeat", "2"];
    user.fine(&bench);
    let lost = |arguments: &[&str]| {
        let said = user.iolag(&[arguments, &["--json", "/dev/full"]].concat());
        assert_eq!(said.code, 3, "{arguments:?}: {said:?}");
        said.errors
    };
    let told = lost(&bench);
    assert!(told.contains("the run is kept, write it elsewhere with: iolag show"), "{told}");
    let first = user.record()["campaign"].as_str().unwrap().to_owned();
    for arguments in [&["show"][..], &["list"], &["compare", "last", &first]] {
        let told = lost(arguments);
        assert!(told.contains("name another file with --json") && !told.contains("kept"), "{told}");
    }
}
