//! The configuration file: the printed one is the default, and what is wrong in one's own is named by file and line.

use iolag_model::{Outcome, WatchStatus};

use crate::remembered::assert_all_fine;
use crate::stage::{Stage, assert_refused, last};

#[test]
fn the_printed_configuration_is_what_is_done_without_one() {
    let stage = Stage::new();
    let directory = stage.directory("scratch");
    let printed = stage.watch_to(0, &["--print-config"]).stdout;
    let file = stage.configure(&printed);
    let with_file = stage.watch_to(0, &["--once", "-c", &file, &directory]).stderr;
    let without = stage.watch_to(0, &["--once", &directory]).stderr;
    assert_eq!(with_file, without);
    for task in ["compile", "list", "create"] {
        assert_eq!(stage.remembered().wholes(&directory, task).len(), 2);
    }
}

#[test]
fn a_configuration_names_targets_tasks_and_covariates() {
    let stage = Stage::new();
    let (one, two) = (stage.directory("one"), stage.directory("two"));
    let file = stage.configure(&format!(
        "tasks = [\"stat\"]\ncontrol = false\n[[target]]\ndirectory = {one:?}\nname = \"first\"\n\
         [[target]]\ndirectory = {two:?}\ntasks = [\"create\", \"own\"]\n[task.create]\nfiles = 3\n\
         [task.own]\ncommand = [\"sh\", \"-c\", \"exit 3\"]\n\
         [[covariate]]\nname = \"jobs\"\ncommand = [\"echo\", \"17.5\"]\nunit = \"jobs\"\n"
    ));
    stage.watch_to(0, &["--once", "-c", &file]);
    let remembered = stage.remembered();
    assert_all_fine(&remembered.wholes("first", "stat"), 1);
    assert_all_fine(&remembered.wholes(&two, "create"), 1);
    let [own] = remembered.wholes(&two, "own")[..] else { panic!() };
    assert_eq!(own.exit_status, Some(3));
    let [jobs] = remembered.wholes("", "jobs")[..] else { panic!() };
    assert_eq!(jobs.value, Some(17.5));
    assert!(remembered.wholes("host memory", "stat").is_empty());
}

#[test]
fn a_covariate_that_never_ends_in_time_is_told_once_and_is_no_hang() {
    let stage = Stage::new();
    let directory = stage.directory("scratch");
    let file = stage.configure(&format!(
        "every = \"200ms\"\njitter = \"0s\"\ntasks = [\"stat\"]\n[[target]]\ndirectory = {directory:?}\n\
         [[covariate]]\nname = \"jobs\"\ncommand = [\"sleep\", \"300\"]\ndeadline = \"100ms\"\n"
    ));
    let watch = stage.start(&["-c", &file]);
    let timed_out = |status: &WatchStatus| {
        last(status, "", "jobs").filter(|last| last.outcome == Outcome::Timeout).map(|last| last.start)
    };
    let first = timed_out(&stage.wait_for("a time-out", |status| timed_out(status).is_some()));
    stage.wait_for("another time-out", |status| timed_out(status) > first);
    let status = stage.status(0);
    assert!(status.contains("timeout"), "{status}");
    watch.signal(libc::SIGINT);
    let done = watch.finish();
    assert_eq!(done.stdout.matches("jobs is slow").count(), 1, "{done:?}");
}

#[test]
fn mistakes_are_named_by_file_and_line() {
    let stage = Stage::new();
    let directory = stage.directory("scratch");
    for (text, parts) in [
        ("every = \"1m\"\nevry = \"2m\"\n", ["iolag.toml:2: unknown field `evry`", "expected one of"]),
        ("\n\ncontrol = \"yes\"\n", ["iolag.toml:3: invalid type", "expected a boolean"]),
        ("every = \"soon\"\n", ["iolag.toml:1: ", "soon"]),
        (
            "# a\ntasks = [\"stat\",\n  \"lst\"]\n",
            ["iolag.toml:3: there is no task \"lst\"", "expected one of compile, list"],
        ),
        ("deadline = \"1s\"\n", ["iolag.toml:1: the soft deadline", "make it shorter"]),
        (
            "[task.x]\ncommand = [\"no-such-program\"]\n",
            ["iolag.toml:2: the program", "write its whole path"],
        ),
        ("[[target]]\ndirectory = \"here\"\n", ["iolag.toml:2: expected the path", "from / on"]),
        ("\nhistory = \"\"\n", ["iolag.toml:2: expected the path of a file", "postgres://"]),
        ("\n\nruntime = \"run\"\n", ["iolag.toml:3: expected the path of a directory", "from / on"]),
        ("# a\norphans-max = 0\n", ["iolag.toml:2: with orphans-max = 0", "expected 1 or more"]),
        ("[facts]\nslots = 28\n", ["iolag.toml:2: the fact slots", "a text in quotes"]),
        ("[[target]\n", ["iolag.toml:1: ", ""]),
    ] {
        let file = stage.configure(text);
        let done = stage.watch(&["--once", "-c", &file]);
        assert_refused(&done, 2, &parts);
        assert!(done.stderr.starts_with(&format!("iolag: {file}:")), "{}", done.stderr);
    }
    let gone = stage.scene.path().join("gone.toml").display().to_string();
    stage.refused(&["--once", "-c", &gone, &directory], 2, &[&gone, "--print-config"]);
    stage.refused(&["--status", "-c", &gone], 2, &[&gone, "--print-config"]);
}

#[test]
fn facts_of_the_site_join_the_configuration_and_change_it() {
    let stage = Stage::new();
    let (directory, tuning) = (stage.directory("scratch"), stage.scene.path().join("tuning"));
    let file = stage.configure(&format!(
        "tasks = [\"stat\"]\ncontrol = false\n[[target]]\ndirectory = {directory:?}\n[facts]\nslots = \"28\"\n\
         tuning = {{ file = {tuning:?} }}\nclient = {{ command = [\"sh\", \"-c\", \"echo 1.4.12; echo more\"] }}\n\
         package = {{ command = [\"false\"] }}\n"
    ));
    std::fs::write(&tuning, "none\n").unwrap();
    stage.watch_to(0, &["--once", "-c", &file]);
    std::fs::write(&tuning, "cache 4 GB\n").unwrap();
    stage.watch_to(0, &["--once", "-c", &file]);
    let remembered = stage.remembered();
    let [before, after] = remembered.configurations()[..] else { panic!("there are two") };
    let fact = |name: &str| before.facts.get(name).map(String::as_str);
    assert_eq!((fact("slots"), fact("client"), fact("tuning")), (Some("28"), Some("1.4.12"), Some("none")));
    assert!(
        fact("package").is_some_and(|why| why.starts_with("unknown: ") && why.ends_with("exit status: 1"))
    );
    assert_eq!(after.facts["tuning"], "cache 4 GB");
    let keys: Vec<_> =
        remembered.wholes(&directory, "stat").iter().map(|sample| sample.configuration).collect();
    assert_eq!(keys, [Some(before.key), Some(after.key)], "samples say under which they were taken");
    assert_eq!(remembered.events(), ["tuning changed from none to cache 4 GB"]);
}

#[test]
fn places_of_the_configuration_are_used_by_every_command() {
    let stage = Stage::new();
    let directory = stage.directory("scratch");
    let history = &stage.history;
    let file = stage.configure(&format!(
        "tasks = [\"stat\"]\nhistory = {history:?}\nruntime = {:?}\n[[target]]\ndirectory = {directory:?}\n",
        stage.runtime()
    ));
    let done = stage.scene.run(&["watch", "--once", "-c", &file]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_all_fine(&stage.remembered().wholes(&directory, "stat"), 1);
    let done = stage.scene.run(&["watch", "--status", "-c", &file]);
    assert_eq!(done.code, Some(3), "{done:?}");
    assert!(done.stdout.contains(history), "{done:?}");
}
