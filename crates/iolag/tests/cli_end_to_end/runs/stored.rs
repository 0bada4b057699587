//! What can be done with stored runs: list, show, export, prune, cleanup.

use std::process::Stdio;

use serde_json::Value;

use crate::user::{User, number, said, text};

fn one_run(user: &User) -> String {
    user.fine(&["bench", "metadata", "memory:", "-D", "2", "-P", "50", "-I", "50", "-R", "2", "-q"]);
    text(&user.record(), "id").to_owned()
}

#[test]
fn a_store_that_is_not_there_is_said_and_not_made() {
    let user = User::new();
    assert!(user.fine(&["list"]).output.contains("make one with: iolag check"));
    assert_eq!(user.fine(&["list", "--json", "-"]).output, "[]\n");
    for arguments in [&["show"][..], &["export"], &["cleanup"], &["prune", "--keep-last", "1"]] {
        let said = user.iolag(arguments);
        assert_eq!((said.code, said.output.as_str()), (3, ""), "{arguments:?}: {said:?}");
        assert!(said.errors.contains("there is no store in"), "{}", said.errors);
    }
    assert!(!user.path("data").exists());
}

#[test]
fn who_mistypes_history_is_told_of_it() {
    let user = User::new();
    let of = |name: &str| user.iolag(&["show", name]).errors;
    let told = "; what a watch recorded is called: history";
    assert!(
        of("histroy").contains("there is no store in") && of("histroy").contains(told),
        "{}",
        of("histroy")
    );
    assert!(!of("20").contains("history"), "{}", of("20"));
    one_run(&user);
    assert!(of("hsitory").contains("hsitory") && of("hsitory").contains(told), "{}", of("hsitory"));
}

#[test]
fn runs_are_found_by_name_part_path_and_last() {
    let user = User::new();
    let first = one_run(&user);
    let last = one_run(&user);
    let list = user.fine(&["list"]).output;
    assert!(list.contains(&first) && list.contains(&last) && list.contains("complete"), "{list}");
    let id = |name: &str| text(&user.document(name)["run"], "id").to_owned();
    assert_eq!(id("last"), last);
    assert_eq!(id(&first), first);
    let path = user.store().join("runs").join(&first);
    let path = if path.exists() { path } else { find(&user, &first) };
    assert_eq!(id(&path.display().to_string()), first);
    let said = user.iolag(&["show", "20"]);
    assert_eq!(said.code, 3);
    assert!(said.errors.contains(&first) && said.errors.contains("give more of the name"), "{}", said.errors);
    let said = user.iolag(&["show", "zzz"]);
    assert_eq!(said.code, 3);
    assert!(said.errors.contains("no run \"zzz\"") && said.errors.contains("iolag list"), "{}", said.errors);
    let said = user.iolag(&["show", "./nowhere"]);
    assert_eq!(said.code, 3);
    assert!(said.errors.contains("cannot open the run ./nowhere"), "{}", said.errors);
}

/// Their points follow each other within a second, as do their processes: each run needs a name that no other has.
#[test]
fn sweeps_side_by_side_keep_all_their_runs() {
    const SWEEPS: usize = 6;
    const POINTS: usize = 4;
    let user = User::new();
    let sweep = || {
        let mut command = user.command(env!("CARGO_BIN_EXE_iolag"));
        command.args([
            "bench", "metadata", "memory:", "-n", "1,2,3,4", "-D", "1", "-P", "2", "-I", "2", "-R", "1",
        ]);
        said(command)
    };
    std::thread::scope(|scope| {
        let sweeps: Vec<_> = (0..SWEEPS).map(|_| scope.spawn(sweep)).collect();
        for sweep in sweeps {
            let said = sweep.join().unwrap();
            assert_eq!(said.code, 0, "{said:?}");
            assert!(!said.errors.contains("is kept in /"), "{}", said.errors);
        }
    });
    let said = user.fine(&["list", "--json", "-"]);
    let listed: Value = serde_json::from_str(&said.output).unwrap();
    assert_eq!(listed.as_array().unwrap().len(), SWEEPS * POINTS, "{}", said.errors);
    assert!(!said.errors.contains("another run of this name"), "{}", said.errors);
    assert_eq!(std::fs::read_dir(user.store().join("runs")).unwrap().count(), SWEEPS * POINTS);
}

fn find(user: &User, id: &str) -> std::path::PathBuf {
    let mut waiting = vec![user.store()];
    while let Some(directory) = waiting.pop() {
        for entry in std::fs::read_dir(directory).unwrap().flatten() {
            if entry.file_name().to_string_lossy() == id {
                return entry.path();
            }
            if entry.file_type().unwrap().is_dir() {
                waiting.push(entry.path());
            }
        }
    }
    panic!("no directory {id} in {}", user.store().display());
}

#[test]
fn a_run_is_shown_in_every_form() {
    let user = User::new();
    one_run(&user);
    let shown = user.fine(&["show"]).output;
    for expected in ["Run ", "precreate", "benchmark 2", "cleanup", "Working set: constant"] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
    let json: Value = serde_json::from_str(&user.fine(&["show", "--format", "json"]).output).unwrap();
    assert_eq!(json, user.document("last"));
    assert!(user.fine(&["show", "--format", "csv"]).output.starts_with("run,host"));
    user.fine(&["check", ".", "--budget", "6s", "--stream-size", "64KiB", "-q"]);
    let said = user.iolag(&["show", "--format", "md-workbench"]);
    assert_eq!(said.code, 2);
    assert!(said.errors.contains("this is a check"), "{}", said.errors);
    assert!(user.fine(&["show"]).output.contains("Verdict"));
}

#[test]
fn samples_are_exported_in_every_form() {
    let user = User::new();
    one_run(&user);
    let expected =
        user.record()["parts"].as_array().unwrap().iter().map(|part| number(part, "samples")).sum::<u64>();
    let csv = user.fine(&["export"]).output;
    assert_eq!(csv.lines().count() as u64, expected + 1);
    assert!(csv.starts_with("attempt,client,target,stage,operation,"));
    user.fine(&["export", "--format", "csv", "-o", "samples.csv"]);
    assert_eq!(std::fs::read_to_string(user.path("samples.csv")).unwrap(), csv);
    assert!(!user.path("samples.csv.part").exists());
    assert_eq!(user.samples("last").len() as u64, expected);
    user.fine(&["export", "--format", "parquet", "-o", "parquet"]);
    let files: Vec<_> =
        std::fs::read_dir(user.path("parquet")).unwrap().flatten().map(|entry| entry.path()).collect();
    assert!(!files.is_empty());
    for file in files {
        let bytes = std::fs::read(&file).unwrap();
        assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"), "{}", file.display());
    }
    user.fine(&["export", "--format", "md-workbench", "-o", "latencies"]);
    let names: Vec<String> = std::fs::read_dir(user.path("latencies"))
        .unwrap()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    assert!(names.iter().any(|name| name.starts_with("latency") && name.ends_with(".csv")), "{names:?}");
}

#[test]
fn exports_that_cannot_be_written_leave_nothing() {
    let user = User::new();
    one_run(&user);
    std::fs::write(user.path("file"), "mine").unwrap();
    let before = user.everything();
    for (arguments, code, expected) in [
        (&["export", "-o", "missing/samples.csv"][..], 3, "cannot write missing/samples.csv"),
        (&["export", "-o", "tmp"], 3, "tmp"),
        (&["export", "--format", "parquet", "-o", "file"], 3, "file"),
        (&["export", "--format", "parquet"], 2, "name a directory with -o"),
        (&["export", "--format", "md-workbench"], 2, "name a directory with -o"),
        (&["export", "--format", "xml"], 2, "csv, json, parquet, md-workbench"),
    ] {
        let said = user.iolag(arguments);
        assert_eq!(said.code, code, "{arguments:?}: {said:?}");
        assert!(said.errors.contains(expected), "{arguments:?}: {}", said.errors);
        assert_eq!(user.everything(), before, "{arguments:?}");
    }
    assert_eq!(std::fs::read(user.path("file")).unwrap(), b"mine");
}

#[test]
fn a_device_or_pipe_is_written_and_not_replaced_by_a_file() {
    let user = User::new();
    one_run(&user);
    let csv = user.fine(&["export"]).output;
    rustix::fs::mkfifoat(rustix::fs::CWD, user.path("pipe"), rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR)
        .unwrap();
    let mut command = user.command("sh");
    command
        .args(["-c", "cat pipe & \"$0\" export -o pipe; wait", env!("CARGO_BIN_EXE_iolag")])
        .stdin(Stdio::null());
    let said = said(command);
    assert_eq!(said.output, csv, "{}", said.errors);
    use std::os::unix::fs::FileTypeExt;
    assert!(user.path("pipe").metadata().unwrap().file_type().is_fifo());
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let user = User::new();
    user.fine(&["bench", "metadata", "memory:", "-D", "2", "-P", "3000", "-I", "3000", "-R", "2", "-q"]);
    let mut command = user.command("sh");
    command
        .args(["-c", "\"$0\" export 2> errors | head -n 2; echo", env!("CARGO_BIN_EXE_iolag")])
        .stdin(Stdio::null());
    let said = said(command);
    assert_eq!(said.output.lines().filter(|line| !line.is_empty()).count(), 2, "{said:?}");
    assert_eq!(std::fs::read_to_string(user.path("errors")).unwrap(), "");
}

#[test]
fn a_result_that_cannot_be_printed_is_not_lost_in_silence() {
    let user = User::new();
    one_run(&user);
    for arguments in [&["show"][..], &["list", "--json", "-"], &["export"]] {
        let mut command = user.command(env!("CARGO_BIN_EXE_iolag"));
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let done = command.args(arguments).stdin(Stdio::null()).stdout(full).output().unwrap();
        let errors = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(3), "{arguments:?}: {errors}");
        assert!(errors.contains("standard output: No space left on device"), "{arguments:?}: {errors}");
    }
}

#[test]
fn prune_lists_first_and_removes_only_with_yes() {
    let user = User::new();
    let runs = [one_run(&user), one_run(&user), one_run(&user)];
    let count = || user.fine(&["list"]).output.lines().count() - 1;
    let dry = user.fine(&["prune", "--keep-last", "1"]).output;
    assert!(dry.contains(&runs[0]) && dry.contains(&runs[1]) && !dry.contains(&runs[2]), "{dry}");
    assert!(dry.contains("would be removed (add --yes)"), "{dry}");
    assert_eq!(count(), 3);
    assert_eq!(
        user.fine(&["prune", "--older-than", "1h", "--yes"]).output,
        "nothing to remove by these rules\n"
    );
    user.fine(&["prune", "--keep-last", "2", "--yes"]);
    assert_eq!(count(), 2);
    assert_eq!(user.iolag(&["show", &runs[0]]).code, 3);
    user.fine(&["prune", "--max-size", "1B", "--keep-last", "1", "--yes"]);
    assert_eq!(count(), 1);
    user.fine(&["prune", "--older-than", "0", "--yes"]);
    assert!(user.fine(&["list"]).output.contains("no runs in"));
}

/// A program that does not outlive its test. It works in memory alone, so that a signal ends it.
struct Running(std::process::Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_run_that_still_runs_is_neither_cleaned_up_nor_pruned() {
    let user = User::new();
    let mut command = user.command(env!("CARGO_BIN_EXE_iolag"));
    command.args(["bench", "metadata", "delayed:50ms:memory:", "-D", "1", "-P", "1000", "-I", "1000", "-q"]);
    let mut running = Running(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    let end = std::time::Instant::now() + std::time::Duration::from_secs(60);
    let listed = loop {
        let list = user.fine(&["list"]).output;
        if list.contains("running") || std::time::Instant::now() > end {
            break list;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    };
    let cleanup = user.iolag(&["cleanup"]);
    let prune = user.iolag(&["prune", "--older-than", "0", "--yes"]);
    let pid = rustix::process::Pid::from_child(&running.0);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    let status = running.0.wait().unwrap();
    assert!(listed.contains("running"), "{listed}");
    assert_eq!(cleanup.code, 2, "{cleanup:?}");
    assert!(cleanup.errors.contains("is still running; end it first"), "{}", cleanup.errors);
    assert_eq!(prune.output, "nothing to remove by these rules\n");
    assert_eq!(status.code(), Some(4));
}
