//! Real programs: what is counted of an execution is what strace counted of the same one.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use super::may_trace;
use crate::support::{Running, Scene};

/// Calls and errors by name, as `strace -C` prints them at the end of its text.
fn counted_by_strace(text: &str) -> BTreeMap<String, (u64, u64)> {
    let table = text.rsplit_once("% time").expect("there is a table").1;
    let rows = table.lines().skip(2).take_while(|line| !line.starts_with("----"));
    rows.filter(|line| !line.trim().is_empty())
        .map(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let name = (*fields.last().unwrap()).to_owned();
            let errors = if fields.len() == 6 { fields[4].parse().unwrap() } else { 0 };
            (name, (fields[3].parse().unwrap(), errors))
        })
        .collect()
}

/// The same, as iolag tells it of that text.
fn counted_by_iolag(scene: &Scene, text: &Path) -> BTreeMap<String, (u64, u64)> {
    let done = scene.run(&["trace", "--from", text.to_str().unwrap(), "--json", "-"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    let document: serde_json::Value = serde_json::from_str(&done.stdout).unwrap();
    let kinds = document["summary"]["kinds"].as_array().unwrap().iter();
    kinds
        .map(|kind| {
            let number = |name: &str| kind[name].as_u64().unwrap();
            (kind["name"].as_str().unwrap().to_owned(), (number("calls"), number("errors")))
        })
        .collect()
}

/// Executes a program once, under strace, and compares.
fn counts_are_equal(scene: &Scene, name: &str, command: &[&str]) -> u64 {
    let text = scene.path().join(format!("{name}.strace"));
    let mut strace = scene.bare_command(Path::new("strace"), &["-f", "-C", "-ttt", "-T", "-y", "-o"]);
    strace.arg(&text).args(command);
    let done = Running::start(strace).finish();
    assert_eq!(done.code, Some(0), "{done:?}");
    let mut expected = counted_by_strace(&std::fs::read_to_string(&text).unwrap());
    let mut told = counted_by_iolag(scene, &text);
    // What never comes back strace does not count.
    told.retain(|name, _| !matches!(name.as_str(), "exit" | "exit_group"));
    expected.retain(|name, _| !matches!(name.as_str(), "exit" | "exit_group"));
    assert_eq!(told, expected, "{name}");
    expected.values().map(|(calls, _)| calls).sum()
}

#[test]
fn an_interpreter() {
    if !may_trace() {
        return;
    }
    let scene = Scene::new();
    let is_there = |module: &str| {
        Command::new("/usr/bin/python3")
            .args(["-c", &format!("import {module}")])
            .output()
            .is_ok_and(|done| done.status.success())
    };
    let module = if is_there("numpy") { "numpy" } else { "json, email.message, xml.dom.minidom" };
    let calls = counts_are_equal(&scene, "import", &["/usr/bin/python3", "-c", &format!("import {module}")]);
    assert!(calls > 500, "{calls}");
}

#[test]
fn a_program_with_threads() {
    if !may_trace() {
        return;
    }
    let scene = Scene::new();
    let directory = scene.path().join("work");
    std::fs::create_dir(&directory).unwrap();
    for number in 0..10_000 {
        std::fs::write(directory.join(format!("file-{number}")), number.to_string()).unwrap();
    }
    let git = |arguments: &[&str]| {
        let mut command =
            scene.bare_command(Path::new("git"), &["-c", "user.name=x", "-c", "user.email=x@localhost"]);
        let done = command.arg("-C").arg(&directory).args(arguments).output().unwrap();
        assert!(done.status.success(), "{done:?}");
    };
    git(&["init", "-q"]);
    git(&["add", "-A"]);
    git(&["commit", "-q", "-m", "all"]);
    let directory = directory.to_str().unwrap();
    let threads = ["git", "-C", directory, "-c", "core.preloadIndex=true", "status"];
    assert!(counts_are_equal(&scene, "git", &threads) > 10_000);
}

#[test]
fn a_compiler_that_starts_others() {
    if !may_trace() {
        return;
    }
    let scene = Scene::new();
    std::fs::write(scene.path().join("main.c"), "#include <stdio.h>\nint main(void) { return 0; }\n")
        .unwrap();
    counts_are_equal(&scene, "gcc", &["gcc", "-o", "main", "main.c"]);
}

#[test]
fn a_script_with_pipes_and_children_in_the_background() {
    if !may_trace() {
        return;
    }
    let scene = Scene::new();
    let script = "for i in 1 2 3 4; do (ls /usr | sort | tail -n 1 > $i) & done; wait; cat 1 2 3 4 | wc -l; cd /; (cd etc; cat passwd) > /dev/null";
    counts_are_equal(&scene, "script", &["/bin/sh", "-c", script]);
}
