//! `iolag explain` of commands of which it is known where their time goes.

use std::fs;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use iolag_fixtures::{FuseMount, current_test, skip, skip_unless_root};
use serde_json::Value;

use super::{WITH_SLOW_NAMES, serve_names_slowly, share, words_of};
use crate::support::{Finished, PATIENCE, Running, Scene, assert_says};
use crate::trace::may_trace;

const PYTHON: &str = "/usr/bin/python3";

/// `iolag explain` of a command, with a document.
fn explaining(scene: &Scene, options: &[&str], words: &[&str]) -> Command {
    scene.command(&[&["explain", "--json", "told.json"], options, &["--"], words].concat())
}

fn told(scene: &Scene) -> Value {
    serde_json::from_str(&fs::read_to_string(scene.path().join("told.json")).unwrap()).unwrap()
}

fn explained(scene: &Scene, words: &[&str]) -> (Finished, Value) {
    let done = Running::start(explaining(scene, &[], words)).finish();
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(!scene.store().exists(), "no run is kept");
    (done, told(scene))
}

/// The one that has most.
fn first(told: &Value) -> &Value {
    &told["parts"][0]
}

#[test]
fn absent_directories_of_a_search_path_are_named_with_what_to_change() {
    if !may_trace() {
        return;
    }
    if !Path::new(PYTHON).exists() {
        return skip(&current_test(), &format!("there is no {PYTHON}"));
    }
    let scene = Scene::new();
    let Some(fuse) = FuseMount::start(&scene.target()) else { return };
    fuse.delay_all(Duration::from_millis(5));
    let absent = |number| format!("{}/absent-{number}", fuse.path().display());
    let path = (0..200).map(absent).collect::<Vec<_>>().join(":");
    let mut explain = explaining(&scene, &[], &[PYTHON, "-c", "import json, email, http.client"]);
    explain.env("PYTHONPATH", path);
    let done = Running::start(explain).finish();
    assert_eq!(done.code, Some(0), "{done:?}");
    let told = told(&scene);
    assert_eq!((&told["kind"], &told["subject"]), (&"explanation".into(), &"command".into()), "{told:#}");
    assert_eq!(told["word"], "because", "{told:#}");
    assert_eq!(first(&told)["layers"], serde_json::json!(["look-ups"]), "{told:#}");
    assert!(share(&told, "look-ups") > 0.5, "{told:#}");
    let absent = &first(&told)["reason"]["absent"];
    assert!(
        absent["absent"].as_u64().unwrap() >= 200 && absent["look_ups"].as_u64() > absent["absent"].as_u64()
    );
    let list = &told["seen"]["lists"][0];
    assert_eq!(
        (&list["variable"], &list["directories"], &list["in_vain"]),
        (&"PYTHONPATH".into(), &200.into(), &200.into()),
        "{told:#}"
    );
    let text = words_of(&done.stdout);
    assert_says(
        &text,
        &[
            "`/usr/bin/python3` is slow because of look-ups: ",
            "Shorten `PYTHONPATH`: of its 200 directories none is there",
        ],
    );
    scene.assert_nobody_is_left();
}

#[test]
fn the_process_behind_a_slow_mount_is_named_for_who_reads_there() {
    if !may_trace() {
        return;
    }
    let scene = Scene::new();
    let names: Vec<String> = (0..40).map(|number| format!("file-{number}")).collect();
    names.iter().for_each(|name| fs::write(scene.target().join(name), "something").unwrap());
    let Some(fuse) = FuseMount::start(&scene.target()) else { return };
    fuse.delay_all(Duration::from_millis(8));
    let paths: Vec<String> =
        names.iter().map(|name| fuse.path().join(name).to_str().unwrap().to_owned()).collect();
    let words: Vec<&str> = std::iter::once("cat").chain(paths.iter().map(String::as_str)).collect();
    let (done, told) = explained(&scene, &words);
    assert!(done.stdout.starts_with(&"something".repeat(40)), "the command's own comes first");
    assert_eq!(told["word"], "because", "{told:#}");
    let part = first(&told);
    assert_eq!(
        (&part["layers"], &part["mount"]),
        (&serde_json::json!(["server"]), &fuse.path().to_str().into()),
        "{told:#}"
    );
    assert!(share(&told, "server") > 0.5, "{told:#}");
    let says =
        ["`cat` is slow because of the process that serves /", "request_wait_answer", "ended with status 0"];
    assert_says(&words_of(&done.stdout), &says);
    scene.assert_nobody_is_left();
}

#[test]
fn a_command_that_computes_or_sleeps_is_not_slow_because_of_storage() {
    if !may_trace() {
        return;
    }
    let scene = Scene::new();
    let count = "i=0; while [ $i -lt 1500000 ]; do i=$((i+1)); done; exit 3";
    let (done, told) = explained(&scene, &["/bin/sh", "-c", count]);
    for layer in ["client", "network", "server", "look-ups", "name-service", "elsewhere"] {
        assert!(share(&told, layer) < 0.2, "{layer} {told:#}");
    }
    let document = fs::read_to_string(scene.path().join("told.json")).unwrap();
    assert!(!document.contains("1500000"), "its arguments are kept nowhere");
    // On a busy machine it has to wait for a processor, which nobody sees.
    assert!(share(&told, "processor") > 0.2, "{told:#}");
    assert_says(&words_of(&done.stdout), &["The command: it ended with status 3."]);
    // In a process that calls nothing before it begins to count.
    let (_, told) = explained(&scene, &["/bin/sh", "-c", &format!("( {count} ); true")]);
    assert!(share(&told, "processor") > 0.2 && share(&told, "elsewhere") < 0.2, "{told:#}");
    let (done, told) = explained(&scene, &["/bin/sh", "-c", "sleep 1"]);
    assert!(share(&told, "elsewhere") > 0.5, "{told:#}");
    assert_says(&words_of(&done.stdout), &["is not slow because of storage: ", "mostly for time to pass"]);
    scene.assert_nobody_is_left();
}

#[test]
fn a_name_service_that_waits_half_a_second_is_named() {
    if !may_trace() || skip_unless_root() {
        return;
    }
    let scene = Scene::new();
    fs::write(scene.target().join("name"), "").unwrap();
    let service = scene.path().join("nscd");
    fs::create_dir(&service).unwrap();
    serve_names_slowly(UnixListener::bind(service.join("socket")).unwrap(), Duration::from_millis(500));
    let mut arguments = vec!["--mount", "--propagation", "private", "sh", "-c", WITH_SLOW_NAMES, "sh"];
    let (service, store, target) = (service.to_str().unwrap(), scene.store(), scene.target());
    arguments.extend([service, env!("CARGO_BIN_EXE_iolag"), "--store", store.to_str().unwrap()]);
    arguments.extend(["explain", "--json", "told.json", "--", "ls", "-l", target.to_str().unwrap()]);
    let done = Running::start(scene.bare_command(Path::new("unshare"), &arguments)).finish();
    assert_eq!(done.code, Some(0), "{done:?}");
    let told = told(&scene);
    assert_eq!(
        (&told["word"], &first(&told)["layers"]),
        (&"because".into(), &serde_json::json!(["name-service"])),
        "{told:#}"
    );
    // One user and one group.
    let took = first(&told)["time_ns"].as_u64().unwrap();
    assert!((1_000_000_000..3_000_000_000).contains(&took), "{told:#}");
    assert_says(&words_of(&done.stdout), &["`ls` is slow because of the name service: ", "nsswitch.conf"]);
    scene.assert_nobody_is_left();
}

#[test]
fn a_command_that_hangs_is_ended_at_its_deadline_and_explained() {
    if !may_trace() {
        return;
    }
    let scene = Scene::new();
    fs::write(scene.target().join("file"), "something").unwrap();
    let Some(fuse) = FuseMount::start(&scene.target()) else { return };
    let file = fuse.path().join("file");
    fuse.hang_all();
    let mut running =
        Running::start(explaining(&scene, &["--deadline", "2s"], &["cat", file.to_str().unwrap()]));
    assert!(fuse.wait_until_held(1, PATIENCE));
    // It holds the output until it is let go.
    running.wait_for("it cannot be ended and was left behind: cat (");
    fuse.release();
    let done = running.finish();
    assert_eq!(done.code, Some(4), "{done:?}");
    let told = told(&scene);
    assert_eq!(told["seen"]["past_deadline_ns"], 2_000_000_000_u64, "{told:#}");
    assert!(share(&told, "server") > 0.5, "{told:#}");
    assert_says(
        &words_of(&done.stdout),
        &[
            "is slow because of the process that serves",
            "request_wait_answer",
            "2.00 s were over",
            "Hangs: `",
        ],
    );
    assert!(!done.stdout.contains("Fewer questions help"), "{done:?}");
    fuse.release();
    scene.assert_nobody_is_left();
}

#[test]
fn what_cannot_be_explained_is_refused_in_one_sentence() {
    let scene = Scene::new();
    for (arguments, words) in [
        (&["explain"][..], "name a directory, or a command behind --"),
        (&["explain", "target", "--", "ls"], "two questions"),
        (&["explain", "--json", "-", "--", "ls"], "name a file with --json FILE"),
        (&["explain", "--json", "absent/file", "--", "ls"], "absent/file"),
    ] {
        let done = scene.run(arguments);
        assert_eq!(
            (done.code, done.stdout.as_str(), done.stderr.lines().count()),
            (Some(2), "", 1),
            "{done:?}"
        );
        assert_says(&done.stderr, &[words]);
    }
    let typed = scene.run(&["explain", "ls", "-l"]);
    assert_eq!(typed.code, Some(2), "{typed:?}");
    assert_says(&typed.stderr, &["put -- before it: iolag explain -- ls -l"]);
    if may_trace() {
        let absent = scene.run(&["explain", "--", "no-such-program"]);
        assert_eq!((absent.code, absent.stdout.as_str()), (Some(2), ""), "{absent:?}");
        assert_says(&absent.stderr, &["there is no program \"no-such-program\""]);
    }
    let mut without = scene.command(&["explain", "--", "/bin/true"]);
    without.env("PATH", scene.path());
    let without = Running::start(without).finish();
    assert_eq!(without.code, Some(3), "{without:?}");
    assert_says(&without.stderr, &["strace, which does the tracing, is not to be found in PATH"]);
}
