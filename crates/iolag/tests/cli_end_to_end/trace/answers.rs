//! What is said of real programs that ask in vain, and where the rest of it is to be seen.

use std::fs;
use std::path::Path;

use iolag_fixtures::{current_test, skip};

use super::may_trace;
use crate::support::{Finished, Running, Scene, assert_says};

/// The first lines as one.
fn answer(done: &Finished) -> String {
    done.stdout.lines().take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

#[test]
fn who_asks_for_one_file_again_and_again_is_not_told_to_shorten_a_list() {
    if !may_trace() {
        return;
    }
    let scene = Scene::new();
    let script = "i=0; while [ $i -lt 150 ]; do [ -e conf/site.cfg ]; i=$((i + 1)); done";
    fs::create_dir(scene.path().join("conf")).unwrap();
    let mut command = scene.command(&["trace", "--json", "trace.json", "--", "/bin/sh", "-c", script]);
    // Whoever tests may have a list of its own.
    command.env_remove("LD_LIBRARY_PATH");
    let done = Running::start(command).finish();
    assert_eq!(done.code, Some(0), "{done:?}");
    let answer = answer(&done);
    let path = scene.path().join("conf/site.cfg").display().to_string();
    assert_says(
        &answer,
        &[
            "Have the program remember that this file is not there, or create it.",
            &format!("{path} (150 times)."),
        ],
    );
    let document = fs::read_to_string(scene.path().join("trace.json")).unwrap();
    let document: serde_json::Value = serde_json::from_str(&document).unwrap();
    let summary = &document["summary"];
    let vain = &summary["in_vain"]["most"][0];
    assert_eq!((&vain["names"], &vain["asked_most"][0]["calls"]), (&1.into(), &150.into()));
    // The same calls in each of the forms in which they are told.
    let sum = |of: &serde_json::Value, what: &str| {
        of.as_array().unwrap().iter().map(|one| one[what].as_u64().unwrap()).sum::<u64>()
    };
    assert_eq!(summary["calls"].as_u64().unwrap(), sum(&summary["time_line"]["slots"], "calls"));
    let branches = summary["tree"].as_array().unwrap();
    let conf = branches.iter().find(|branch| branch["path"].as_str().unwrap().ends_with("/conf")).unwrap();
    assert_eq!((&conf["own"]["calls"], &conf["all"]["errors"]), (&150.into(), &150.into()));
    let page = scene.path().join("page.html");
    assert_eq!(scene.run(&["report", "last", "-o", page.to_str().unwrap()]).code, Some(0));
    let page = fs::read_to_string(page).unwrap();
    assert_says(&page, &["What /bin/sh asked of the file systems", "<svg ", "<div class=\"tree\">"]);
    assert_says(&scene.run(&["list"]).stdout, &[&scene.path().display().to_string()]);
}

#[test]
fn a_slow_import_is_told_by_the_list_whose_directories_are_not_there() {
    const PYTHON: &str = "/usr/bin/python3";
    if !may_trace() {
        return;
    }
    if !Path::new(PYTHON).exists() {
        return skip(&current_test(), &format!("there is no {PYTHON}"));
    }
    let scene = Scene::new();
    // Beside what is there: no directory is without anything.
    fs::write(scene.path().join("module.py"), "").unwrap();
    let absent = |number| scene.path().join(format!("absent-{number}")).display().to_string();
    let list = (0..200).map(absent).chain([scene.path().display().to_string()]);
    let mut command = scene.command(&["trace", "--", PYTHON, "-c", "import module"]);
    command.env_remove("LD_LIBRARY_PATH").env("PYTHONPATH", list.collect::<Vec<_>>().join(":"));
    let done = Running::start(command).finish();
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_says(
        &answer(&done),
        &["Shorten `PYTHONPATH`: 200 of its 201 directories are not there, or have nothing"],
    );
    let stored = scene.run(&["show", "last", "--format", "json"]);
    assert!(stored.stdout.contains("\"listed-in-vain\""), "{}", stored.stdout);
}

#[test]
fn what_the_loader_tries_below_each_directory_is_not_counted_as_the_users() {
    if !may_trace() {
        return;
    }
    let scene = Scene::new();
    let directories: Vec<String> =
        (0..30).map(|number| scene.path().join(format!("lib{number}")).display().to_string()).collect();
    directories.iter().for_each(|directory| fs::create_dir(directory).unwrap());
    let mut command = scene.command(&["trace", "--", "/bin/ls", "/"]);
    command.env("LD_LIBRARY_PATH", directories.join(":"));
    let done = Running::start(command).finish();
    assert_eq!(done.code, Some(0), "{done:?}");
    let text = done.stdout;
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_says(&words, &["looked in vain in all 30 directories of `LD_LIBRARY_PATH`."]);
    assert_eq!(words.matches("Shorten `LD_LIBRARY_PATH`").count(), 1, "it is told once: {words}");
}
