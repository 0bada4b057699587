//! Starting a watch: what it does once, what it refuses and in which words, and that it takes away what it made.

use std::fs;

use iolag_fixtures::FuseMount;
use iolag_model::{Outcome, SessionEnd};

use crate::remembered::assert_all_fine;
use crate::stage::{Stage, assert_refused, last};
use crate::support::{Running, assert_says};

#[test]
fn one_round_executes_every_task_once_and_is_remembered() {
    let stage = Stage::new();
    let directory = stage.directory("scratch");
    let done = stage.watch_to(0, &["--once", &directory]);
    assert_eq!((done.stdout.as_str(), done.stderr.as_str()), ("", ""), "cron would mail what is said");
    let remembered = stage.remembered();
    for target in [directory.as_str(), "host memory"] {
        assert_all_fine(&remembered.wholes(target, "list"), 1);
        assert_all_fine(&remembered.wholes(target, "create"), 1);
        // A machine without a compiler fails here; that is data too.
        assert_eq!(remembered.wholes(target, "compile").len(), 1);
    }
    let create = remembered.samples().find(|sample| sample.series.part == "unlink").unwrap();
    assert_eq!(create.outcome, Outcome::Ok);
    let [session] = remembered.sessions()[..] else { panic!("{:?}", remembered.sessions()) };
    assert_eq!(session.end, SessionEnd::Stopped);
    stage.scene.assert_nobody_is_left();
    stage.assert_database_is_sound();

    let told = stage.watch_to(0, &["--rounds", "1", "--tasks", "stat", &directory]);
    assert_says(&told.stderr, &["watching once", &directory, "stat", "history in", &stage.history]);
    let remembered = stage.remembered();
    assert_eq!(remembered.wholes(&directory, "stat").len(), 1);
    assert_eq!(remembered.wholes(&directory, "list").len(), 1, "the first round is still there");
    assert_eq!(remembered.sessions().len(), 2);
}

#[test]
fn rounds_are_counted() {
    let stage = Stage::new();
    let directory = stage.directory("scratch");
    stage.watch_to(0, &["--rounds", "4", "--every", "50ms", "--tasks", "stat,open-read", &directory]);
    let remembered = stage.remembered();
    for task in ["stat", "open-read"] {
        assert_eq!(remembered.wholes(&directory, task).len(), 4);
        assert_eq!(remembered.wholes("host memory", task).len(), 4);
    }
    remembered.assert_nothing_is_double();
}

#[test]
fn relative_paths_mean_the_directory_where_it_was_started() {
    let stage = Stage::new().with_history("here.sqlite");
    let absolute = stage.directory("scratch");
    stage.watch_to(0, &["--once", "--tasks", "stat", "scratch"]);
    assert!(stage.scene.path().join("here.sqlite").is_file());
    assert_all_fine(&stage.remembered().wholes(&absolute, "stat"), 1);
    // The same place by its other name.
    stage.watch_to(3, &["--status"]);
    let stage = stage.with_history(absolute.replace("scratch", "here.sqlite"));
    assert!(stage.status(3).contains("no watch is running"));
    stage.watch_to(0, &["--once", "--tasks", "stat", "."]);
    assert_eq!(stage.remembered().wholes(stage.scene.path().to_str().unwrap(), "stat").len(), 1);
}

#[test]
fn what_cannot_be_watched_is_refused() {
    let stage = Stage::new();
    let directory = stage.directory("scratch");
    let gone = stage.scene.path().join("gone").display().to_string();
    stage.refused(&["--once", &gone], 3, &[&gone, "does not exist"]);
    stage.refused(&["--once", &directory, &gone], 3, &[&gone, "does not exist"]);
    let file = stage.configure("");
    stage.refused(&["--once", &file], 3, &[&file, "not a directory"]);
    stage.refused(
        &["--once", "--tasks", "lst", &directory],
        2,
        &["iolag: there is no task \"lst\": expected one of compile, list"],
    );
    stage.refused(&["--once", &directory, &directory], 2, &["iolag: the target", "named twice"]);
    stage.refused(&["--json", "x.json", "--once", &directory], 2, &["--json"]);
    for (arguments, said) in [
        (["--every", "soon"], "soon"),
        (["--every", "0s"], "--every"),
        (["--rounds", "none"], "none"),
        (["--print-unit", "socket"], "socket"),
    ] {
        let done = stage.watch_to(2, &arguments);
        assert!(done.stderr.starts_with("error: ") && done.stderr.contains(said), "{done:?}");
    }
    assert!(!fs::exists(&stage.history).unwrap(), "nothing was begun");
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 0);
}

#[test]
fn a_name_that_is_not_text_is_refused_in_one_sentence() {
    use std::os::unix::ffi::OsStringExt;
    let stage = Stage::new();
    let name = std::ffi::OsString::from_vec(b"b\xffd".to_vec());
    fs::create_dir(stage.scene.path().join(&name)).unwrap();
    for arguments in [&["watch", "--once"][..], &["check"], &["ping"], &["bench", "metadata"]] {
        let mut command = stage.scene.command(arguments);
        command.arg(&name);
        let done = Running::start(command).finish();
        assert_refused(&done, 2, &["b\u{fffd}d", "is not UTF-8", "symbolic link"]);
    }
}

#[test]
fn a_history_where_databases_are_damaged_is_refused_with_advice() {
    let stage = Stage::new();
    let Some(fuse) = FuseMount::start(&stage.scene.target()) else { return };
    let directory = stage.directory("scratch");
    let stage = stage.with_history(fuse.path().join("history.sqlite").to_str().unwrap());
    let advice = ["damaged sooner or later", "local disk with --history", "postgres://"];
    stage.refused(&["--once", "--tasks", "stat", &directory], 3, &advice);
    assert_eq!(fs::read_dir(stage.scene.target()).unwrap().count(), 0, "nothing was made there");
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 0, "nothing was measured");
}

#[test]
fn a_second_watch_of_one_history_is_refused_and_the_first_goes_on() {
    let stage = Stage::new();
    let directory = stage.directory("scratch");
    let first = stage.start(&["--every", "100ms", "--tasks", "stat", &directory]);
    stage.wait_for_rounds(2);
    let process = format!("process id {}", first.id());
    for more in [&[][..], &["--once"]] {
        let mut arguments = vec!["--tasks", "stat", directory.as_str()];
        arguments.extend(more);
        stage.refused(&arguments, 3, &[&process]);
    }
    let rounds = stage.wait_for_rounds(3).rounds;
    stage.wait_for_rounds(rounds + 2);
    first.signal(libc::SIGINT);
    assert_eq!(first.finish().code, Some(0));
    stage.watch_to(0, &["--once", "--tasks", "stat", &directory]);
}

#[test]
fn what_watching_made_is_removed_and_nothing_else() {
    let stage = Stage::new();
    let directory = stage.directory("scratch");
    let all = "compile,list,create,stat,open-read,write-fsync";
    stage.watch_to(0, &["--once", "--tasks", all, &directory]);
    let made: Vec<_> = fs::read_dir(&directory).unwrap().flatten().map(|entry| entry.path()).collect();
    let [made] = &made[..] else { panic!("one directory of its own: {made:?}") };
    assert!(made.file_name().unwrap().to_str().unwrap().starts_with("iolag-watch-"), "{made:?}");
    fs::write(format!("{directory}/mine"), "x").unwrap();
    fs::write(made.join("mine too"), "x").unwrap();

    let done = stage.watch_to(4, &["--remove", "--tasks", all, &directory]);
    assert_says(&done.stdout, &["mine too", "is left"]);
    fs::remove_file(made.join("mine too")).unwrap();
    let done = stage.watch_to(0, &["--remove", &directory]);
    assert_says(&done.stdout, &[&format!("{directory}: nothing of iolag's watch is left")]);
    let left: Vec<_> = fs::read_dir(&directory).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(left, ["mine"]);
    let control = stage.runtime().join("control");
    assert_eq!(fs::read_dir(control).map_or(0, Iterator::count), 0, "the control's place is empty, too");
    stage.watch_to(0, &["--remove", &directory]);
}

#[test]
fn nothing_is_removed_while_the_watch_runs() {
    let stage = Stage::new();
    let directory = stage.directory("scratch");
    let running = stage.start(&["--every", "100ms", "--tasks", "stat", &directory]);
    stage.wait_for_rounds(2);
    let process = format!("(process id {})", running.id());
    stage.refused(&["--remove", &directory], 3, &["is running", &process, "stop it before", &stage.history]);
    let rounds = stage.wait_for_rounds(3).rounds;
    let status = stage.wait_for_rounds(rounds + 2);
    assert_eq!(last(&status, &directory, "stat").unwrap().outcome, Outcome::Ok);
    running.signal(libc::SIGINT);
    assert_eq!(running.finish().code, Some(0));
    stage.watch_to(0, &["--remove", &directory]);
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 0);
}

#[test]
fn watches_with_other_histories_and_pings_have_places_of_their_own() {
    let (stage, other) = (Stage::new(), Stage::new());
    let directory = stage.directory("scratch");
    let places = || fs::read_dir(&directory).unwrap().count();
    let once = ["--once", "--tasks", "open-read", directory.as_str()];
    stage.watch_to(0, &once);
    other.watch_to(0, &once);
    assert_eq!(places(), 2);
    let ping = stage.scene.run(&["ping", "-n", "1", "--task", "open-read", &directory]);
    assert_eq!(ping.code, Some(0), "{ping:?}");
    assert_eq!(places(), 2, "a ping removes its own place only");
    other.watch_to(0, &["--remove", &directory]);
    assert_eq!(places(), 1, "the other history's stays");
    stage.watch_to(0, &["--remove", &directory]);
    assert_eq!(places(), 0);
}

#[test]
fn without_a_watch_the_status_says_so() {
    let stage = Stage::new();
    let done = stage.watch(&["--status"]);
    assert_refused(&done, 3, &["no watch has written to", &stage.history, "iolag watch DIR"]);
    let directory = stage.directory("scratch");
    stage.watch_to(0, &["--once", "--tasks", "stat", &directory]);
    let told = stage.status(3);
    assert_says(&told, &["no watch is running", "the last one said this at", &stage.history, "stat on"]);
    let done = stage.watch_to(3, &["--status", "--json", "-"]);
    let status: serde_json::Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!((&status["rounds"], &status["waiting_records"]), (&1.into(), &0.into()), "{status:#}");
}
