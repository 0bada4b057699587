//! `iolag rm`: whole runs, also those that nobody can read; never what is in use or needed for clean-up.

use std::os::unix::fs::symlink;
use std::process::Stdio;

use crate::user::{User, text};

fn one_run(user: &User, target: &str) -> String {
    user.fine(&["bench", "metadata", target, "-D", "1", "-P", "20", "-I", "10", "-R", "1", "-q"]);
    text(&user.record(), "id").to_owned()
}

#[test]
fn runs_are_removed_whole_and_told() {
    let user = User::new();
    let runs: Vec<_> = (0..3).map(|_| one_run(&user, "memory:")).collect();
    let asked = user.iolag(&["rm", &runs[0]]);
    assert_eq!(asked.code, 2, "{asked:?}");
    assert!(asked.output.contains("would be removed: complete, ") && asked.output.contains(" samples, "));
    assert!(asked.errors.contains("remove 1 run for good with --yes"), "{}", asked.errors);
    assert!(user.store().join("runs").join(&runs[0]).exists());

    let path = user.store().join("runs").join(&runs[1]).display().to_string();
    let removed = user.fine(&["rm", &runs[0], &path, &runs[0], "--yes"]);
    assert_eq!(removed.output.lines().count(), 2, "{removed:?}");
    for (line, run) in removed.output.lines().zip(&runs) {
        assert!(line.starts_with(&format!("{run}  removed: complete, ")), "{line}");
    }
    assert_eq!(std::fs::read_dir(user.store().join("runs")).unwrap().count(), 1);
    user.fine(&["rm", "last", "--yes"]);
    assert!(user.fine(&["list"]).output.starts_with("no runs in"));
}

#[test]
fn an_unknown_name_removes_nothing_and_names_the_nearest() {
    let user = User::new();
    let run = one_run(&user, "memory:");
    let typed = format!("{}x", &run[..run.len() - 1]);
    let said = user.iolag(&["rm", &run, &typed, "--yes"]);
    assert_eq!((said.code, said.output.as_str()), (2, ""), "{said:?}");
    assert!(
        said.errors.contains(&format!("the nearest name is {run}; nothing is removed")),
        "{}",
        said.errors
    );
    let said = user.iolag(&["rm", "./nowhere", "--yes"]);
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.errors.contains("cannot open the run ./nowhere"), "{}", said.errors);
    let said = user.iolag(&["rm"]);
    assert_eq!(said.code, 2, "{said:?}");
    user.fine(&["show", &run]);
}

#[test]
fn damaged_and_newer_runs_go_and_strangers_stay() {
    let user = User::new();
    let runs: Vec<_> = (0..4).map(|_| one_run(&user, "memory:")).collect();
    let path = |run: usize| user.store().join("runs").join(&runs[run]);
    std::fs::write(path(0).join("run.json"), "{").unwrap();
    std::fs::write(path(1).join("run.json"), r#"{"format": "99.0"}"#).unwrap();
    std::fs::remove_file(path(2).join("run.json")).unwrap();
    std::fs::write(path(3).join("notes.txt"), "mine").unwrap();
    std::fs::write(user.path("precious"), "mine").unwrap();
    std::fs::remove_file(path(3).join("samples-0-0.parquet")).unwrap();
    symlink(user.path("precious"), path(3).join("samples-0-0.parquet")).unwrap();

    let names: Vec<&str> = runs.iter().map(String::as_str).collect();
    let said = user.fine(&[&["rm", "--yes"], &names[..]].concat());
    let lines: Vec<&str> = said.output.lines().collect();
    assert!(lines[0].contains("damaged") && lines[1].contains("of another format"), "{said:?}");
    assert!(
        lines[3].contains("except files that are not iolag's: notes.txt, samples-0-0.parquet"),
        "{said:?}"
    );
    assert!(!path(0).exists() && !path(1).exists() && !path(2).exists());
    assert_eq!(std::fs::read_to_string(user.path("precious")).unwrap(), "mine");
    assert_eq!(std::fs::read_to_string(path(3).join("notes.txt")).unwrap(), "mine");
}

/// Whoever cleans up needs the manifest; without the record nobody knows where the file system of a directory was mounted.
#[test]
fn a_damaged_run_that_may_have_left_something_is_not_let_go_without_a_word() {
    let user = User::new();
    let target = user.directory("target");
    user.fine(&["bench", "metadata", &target, "-D1", "-P20", "-I10", "--phases", "precreate", "-q"]);
    let run = text(&user.record(), "id").to_owned();
    std::fs::rename(&target, user.path("unmounted")).unwrap();
    std::fs::write(user.store().join("runs").join(&run).join("run.json"), "{").unwrap();
    let rules = ["prune", "--older-than", "0", "--yes"];
    let expected = "/iolag-work of run ";
    let refused = user.iolag(&["rm", "--yes", &run]);
    assert_eq!((refused.code, refused.output.as_str()), (2, ""), "{refused:?}");
    assert!(
        refused.errors.contains(expected) && refused.errors.contains("record cannot be read"),
        "{refused:?}"
    );
    let kept = user.fine(&rules);
    assert!(kept.errors.contains("not pruned: ") && kept.errors.contains(expected), "{kept:?}");

    std::fs::write(user.store().join("runs").join(&run).join("manifest.json"), "{").unwrap();
    let kept = user.fine(&rules);
    assert!(kept.errors.contains(&format!("what run {run} left on targets is not known: ")), "{kept:?}");
    let removed = user.fine(&["rm", "--yes", &run]);
    assert!(removed.output.contains("; what it left on targets is not known: "), "{removed:?}");
}

#[test]
fn a_run_that_lives_and_one_that_is_needed_for_clean_up_stay() {
    let user = User::new();
    let target = user.directory("target");
    user.fine(&["bench", "metadata", &target, "-D1", "-P20", "-I10", "--phases", "precreate", "-q"]);
    let run = text(&user.record(), "id").to_owned();
    let said = user.iolag(&["rm", &run, "--yes"]);
    assert_eq!((said.code, said.output.as_str()), (2, ""), "{said:?}");
    assert!(said.errors.contains(&format!("remove it first with iolag cleanup {run}")), "{}", said.errors);
    user.fine(&["cleanup", &run]);
    user.fine(&["rm", &run, "--yes"]);

    let mut command = user.command(env!("CARGO_BIN_EXE_iolag"));
    command.args(["bench", "metadata", "delayed:50ms:memory:", "-D", "1", "-P", "1000", "-I", "1000", "-q"]);
    let mut running = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let there = crate::support::wait_until(crate::support::PATIENCE, || {
        user.iolag(&["list"]).output.contains("running")
    });
    let said = user.iolag(&["rm", "last", "--yes"]);
    let pid = rustix::process::Pid::from_child(&running);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    running.wait().unwrap();
    assert!(there, "the run did not begin");
    assert_eq!((said.code, said.output.as_str()), (2, ""), "{said:?}");
    assert!(said.errors.contains("is still being measured by process"), "{}", said.errors);
}

#[test]
fn a_run_of_an_older_version_that_did_not_note_its_directory_stays_while_something_is_there() {
    let user = User::new();
    let target = user.directory("target");
    user.fine(&["bench", "metadata", &target, "-D1", "-P20", "-I10", "--phases", "precreate", "-q"]);
    let run = text(&user.record(), "id").to_owned();
    let path = user.store().join("runs").join(&run).join("manifest.json");
    let mut manifest: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    for field in ["device", "inode", "token"] {
        manifest["entries"][0][field] = serde_json::Value::Null;
    }
    std::fs::write(&path, manifest.to_string()).unwrap();
    let said = user.iolag(&["rm", &run, "--yes"]);
    assert_eq!((said.code, said.output.as_str()), (2, ""), "{said:?}");
    assert!(said.errors.contains("may be what is there: the run did not note that it made it"), "{said:?}");
    std::fs::remove_dir_all(&target).unwrap();
    user.fine(&["rm", &run, "--yes"]);
}

#[test]
fn prune_removes_nothing_outside_of_the_store() {
    let user = User::new();
    let target = user.directory("target");
    user.fine(&["bench", "metadata", &target, "-D1", "-P20", "-I10", "-q"]);
    let run = text(&user.record(), "id").to_owned();
    let (elsewhere, path) =
        (user.directory("elsewhere"), user.store().join("runs").join(&run).join("manifest.json"));
    let spool = std::path::Path::new(&elsewhere).join(format!("iolag-spool-{run}"));
    std::fs::create_dir(&spool).unwrap();
    // With somebody's file in it, no command can take it away when it puts the store in order.
    std::fs::write(spool.join("notes"), "mine").unwrap();
    std::fs::set_permissions(&spool, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let name = format!("iolag-spool-{run}");
    let entry = serde_json::json!({
        "parent": elsewhere, "name": name, "device": null, "inode": null, "kind": "spool",
    });
    let mut manifest: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    manifest["entries"].as_array_mut().unwrap().push(entry);
    std::fs::write(&path, manifest.to_string()).unwrap();
    // The last run of a store stays in any case.
    user.fine(&["bench", "metadata", "memory:", "-D1", "-P20", "-I10", "-q"]);
    let kept = user.fine(&["prune", "--keep-last", "1", "--yes"]);
    let expected = format!("samples of run {run} are in {} still", spool.display());
    assert!(kept.errors.contains(&expected) && spool.exists(), "{kept:?}");
    std::fs::remove_file(spool.join("notes")).unwrap();
    user.fine(&["rm", &run, "--yes"]);
    assert!(!spool.exists());
}

#[test]
fn what_another_run_works_in_is_not_cleaned_up() {
    let user = User::new();
    let target = user.directory("target");
    let size = ["-D1", "-P100", "-I50", "-q"];
    user.fine(&[&["bench", "metadata", &target, "--phases", "precreate"], &size[..]].concat());
    let run = text(&user.record(), "id").to_owned();
    let mut command = user.command(env!("CARGO_BIN_EXE_iolag"));
    command.args(["bench", "metadata", &target, "--phases", "benchmark", "-R1000", "--think", "5ms"]);
    command.args(size);
    let mut running = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let there = crate::support::wait_until(crate::support::PATIENCE, || {
        user.iolag(&["list"]).output.contains("running")
    });
    let said = user.iolag(&["cleanup", &run]);
    // By its path from another store, too.
    let (elsewhere, path) = (user.directory("elsewhere"), user.store().join("runs").join(&run));
    let by_path = user.iolag(&["--store", &elsewhere, "cleanup", path.to_str().unwrap()]);
    let pid = rustix::process::Pid::from_child(&running);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    running.wait().unwrap();
    assert!(there, "the run did not begin");
    for said in [said, by_path] {
        let expected = format!(" is at work in {target}/iolag-work; end it first");
        assert!(said.code == 2 && said.errors.contains(&expected), "{said:?}");
    }
    user.fine(&["cleanup", &run]);
    assert!(!std::path::Path::new(&target).join("iolag-work").exists());
}
