//! The phase `copy` of `iolag bench stream`: what each way of copying moves, costs and leaves, and what is refused.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

use serde_json::Value;

use super::stream::{attempts, document, phase};
use crate::user::{User, said};

/// A user with a directory `d`, and `bin` with a program cp of this text.
fn with_cp(script: &str) -> User {
    let user = User::new();
    std::fs::create_dir(user.path("d")).unwrap();
    std::fs::create_dir(user.path("bin")).unwrap();
    std::fs::write(user.path("bin/cp"), format!("#!/bin/sh\n{script}\n")).unwrap();
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(user.path("bin/cp"), mode).unwrap();
    user
}

fn copying(user: &User, words: &[&str]) -> Command {
    let mut command = user.command(env!("CARGO_BIN_EXE_iolag"));
    command.args([&["bench", "stream", "d", "--phases", "write,copy", "--copy-with"], words].concat());
    command
}

fn nothing_is_left(user: &User) -> bool {
    std::fs::read_dir(user.path("d")).unwrap().count() == 0
}

#[test]
fn each_way_of_copying_copies_all_of_each_file_as_it_is_and_leaves_nothing() {
    let user = User::new();
    std::fs::create_dir(user.path("d")).unwrap();
    for (with, io, operation, times) in [
        ("loop", "buffered", "stream.copy", 10),
        ("loop", "direct", "stream.copy", 10),
        ("loop", "dsync", "stream.copy", 10),
        ("copy_file_range", "buffered", "stream.copy", 10),
        ("cp", "buffered", "stream.cp", 2),
    ] {
        let words = ["d", "-n", "2", "-s", "260KiB", "-b", "64KiB", "--verify", "--io", io, "--phases"];
        let run = document(&user, &[words.as_slice(), &["copy,write,copy", "--copy-with", with]].concat());
        for phase in run["phases"].as_array().unwrap() {
            assert_eq!(phase["bytes"], (2 * 260) << 10, "{with}, {io}: {phase}");
            assert!(phase["processor_time_ns"].as_u64().unwrap() > 0);
        }
        for (stage, operation, times) in [
            // In blocks of 256 KiB.
            (0, "stream.write", 4),
            (1, "stream.open", 2),
            (1, "stream.create", 2),
            (1, operation, times),
            (1, "stream.fsync", 2),
            (1, "stream.close-written", 2),
            (1, "stream.close", 2),
            (3, operation, times),
            (4, "stream.compare", 2),
            (4, "delete", 4),
        ] {
            assert_eq!(attempts(&run, stage, operation), times, "{with}, {io}, {stage}, {operation}");
        }
        assert_eq!(run["copies"]["with"], with);
        assert!(nothing_is_left(&user));
    }
    user.fine(&["bench", "stream", "d", "-s", "1MiB", "-b", "64KiB", "--phases", "write,copy", "-q"]);
    let said = user.fine(&["show", "last"]).output;
    assert!(said.contains("\nWrite ") && said.contains(", copy "), "{said}");
    // It is compared as other phases are.
    let first = user.record()["id"].as_str().unwrap().to_owned();
    user.fine(&["bench", "stream", "d", "-s", "1MiB", "-b", "64KiB", "--phases", "write,copy", "-q"]);
    let compared = user.fine(&["compare", &first, "last"]).output;
    assert!(compared.contains("stream.copy"), "{compared}");
}

#[test]
fn the_processor_time_of_a_program_that_copies_counts() {
    let user = with_cp("i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; exec cat");
    let mut command = copying(&user, &["cp", "-s", "64KiB", "--verify", "--format", "json", "-q"]);
    command.env("PATH", format!("{}:/usr/bin:/bin", user.path("bin").display()));
    let said = said(command);
    assert_eq!(said.code, 0, "{said:?}");
    let run: Value = serde_json::from_str(&said.output).unwrap();
    let copy = phase(&run, "copy");
    assert!(copy["processor_time_ns"].as_u64().unwrap() > 50_000_000, "{copy}");
    assert_eq!(copy["bytes"], 64 << 10);
}

#[test]
fn a_program_that_fails_or_copies_too_little_or_does_not_end_makes_a_run_incomplete() {
    for (script, expected) in [
        (
            "echo first >&2; echo no room at http://me:hush@host >&2; exit 1",
            "0 B of 64.0 KiB: stream.cp failed: program failed: no room at http://me:***@host",
        ),
        ("exec head -c 1000", "0.98 KiB of 64.0 KiB: stream.cp failed: short transfer"),
        (
            "echo $$ > \"$0.pid\"; exec sleep 600",
            "0 B of 64.0 KiB: stream.cp timed out: it was ended at its deadline",
        ),
    ] {
        let user = with_cp(script);
        let mut command = copying(&user, &["cp", "-s", "64KiB", "--deadline", "1s", "-q"]);
        command.env("PATH", format!("{}:/usr/bin:/bin", user.path("bin").display()));
        let said = said(command);
        assert_eq!(said.code, 4, "{script}: {said:?}");
        let told = said.output.replace("\n  ", " ");
        assert!(told.contains(&format!("broke off copy after {expected}")), "{script}: {said:?}");
        let run = user.document("last");
        let reason = run["run"]["state"]["reason"].as_str().unwrap();
        assert!(reason.contains(expected), "{script}: {reason}");
        assert!(nothing_is_left(&user), "{script}: {said:?}");
        if let Ok(id) = std::fs::read_to_string(user.path("bin/cp.pid")) {
            let there = std::fs::read_to_string(format!("/proc/{}/cmdline", id.trim())).unwrap_or_default();
            assert!(!there.contains("sleep"), "it was ended: {there}");
        }
    }
}

#[test]
fn where_the_kernel_does_not_copy_reading_and_writing_does_and_that_is_told() {
    let user = User::new();
    std::fs::create_dir(user.path("d")).unwrap();
    let mut command = copying(&user, &["copy_file_range", "-s", "1MiB", "-b", "64KiB", "--verify"]);
    // SAFETY: nothing but two system calls between fork and exec.
    unsafe { command.pre_exec(|| iolag_fixtures::forbid(libc::SYS_copy_file_range)) };
    let said = said(command);
    assert_eq!(said.code, 0, "{said:?}");
    let told = "reading and writing (loop) did the work of copy_file_range";
    assert!(said.output.replace("\n      ", " ").contains(told), "{said:?}");
    assert!(nothing_is_left(&user));
}

#[test]
fn what_cannot_be_copied_is_refused_before_anything_is_made() {
    let user = User::new();
    std::fs::create_dir(user.path("d")).unwrap();
    for (words, expected) in [
        (&["--copy-with", "loop"][..], "add copy to --phases, or leave out --copy-with"),
        (&["--phases", "copy", "--copy-with", "scp"], "expected one of: loop, copy_file_range, cp"),
        (&["--phases", "copy", "--engine", "io_uring"], "choose --engine sync"),
        (&["--phases", "copy", "--copy-with", "cp", "--io", "direct"], "cp opens files by itself"),
    ] {
        let said = user.iolag(&[&["bench", "stream", "d"], words].concat());
        assert_eq!(said.code, 2, "{words:?}: {said:?}");
        assert!(said.errors.contains(expected), "{words:?}: {said:?}");
        assert!(nothing_is_left(&user));
    }
    let elsewhere = ["bench", "stream", "memory:", "--phases", "copy", "--copy-with", "copy_file_range"];
    assert!(user.iolag(&elsewhere).errors.contains("is for directories, and memory: is none"));
    let mut command = copying(&user, &["cp"]);
    command.env("PATH", user.path("d"));
    let said = said(command);
    assert!(said.code == 2 && said.errors.contains("there is no program cp in $PATH"), "{said:?}");
    let run = document(&user, &["memory:", "-s", "3k", "-b", "1k", "--phases", "copy", "--verify"]);
    assert_eq!(phase(&run, "copy")["bytes"], 3 << 10);
}

#[test]
fn a_plan_and_the_command_of_a_run_say_who_copies() {
    let user = User::new();
    let plan = "[[bench]]\nworkload = \"stream\"\nphases = [\"write\", \"copy\"]\nfile-size = \"64KiB\"\ncopy-with = \"cp\"\n";
    std::fs::write(user.path("plan.toml"), plan).unwrap();
    std::fs::create_dir(user.path("d")).unwrap();
    user.fine(&["run", "plan.toml", "d", "-q"]);
    assert_eq!(user.record()["spec"]["workload"]["copy_with"], "cp");
    let page = user.path("page.html");
    user.fine(&["report", "last", "-o", page.to_str().unwrap()]);
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("--phases write,copy") && page.contains("--copy-with cp"), "{page}");
}

#[test]
fn between_targets_each_pair_has_a_run_and_both_are_left_as_they_were() {
    let user = User::new();
    let (a, b) = (user.directory("a"), user.directory("b"));
    let words = [
        "bench",
        "stream",
        "a",
        "b",
        "-s",
        "260KiB",
        "-b",
        "64KiB",
        "-n",
        "2",
        "--phases",
        "write,copy",
        "--verify",
    ];
    let said = user.fine(&[&words[..], &["--report", "page.html", "--json", "all.json"]].concat());
    assert!(said.output.contains("Copied between the targets, in bytes per second"), "{said:?}");
    for (from, to) in [(&a, &a), (&a, &b), (&b, &a), (&b, &b)] {
        assert!(
            said.output.contains(&format!("{from}, copies to {to}, 2 clients")),
            "{from} to {to}: {said:?}"
        );
    }
    // The comparison of the targets names the places of copies as it does its sides.
    for row in ["stream.write, to …/a  ", "stream.copy, to …/b  "] {
        assert!(said.output.contains(&format!("\n  {row}")), "{row}: {said:?}");
    }
    let told = said.output.replace("\n      ", " ");
    assert_eq!(told.matches("lie on one file system").count(), 2, "{said:?}");
    assert!(said.errors.contains(&format!("measuring {a}, copies to {b}, with 2 clients")), "{said:?}");
    for place in [&a, &b] {
        assert_eq!(std::fs::read_dir(place).unwrap().count(), 0);
    }
    // JSON, CSV and the page say where each copy went, too.
    let all: Value = serde_json::from_str(&std::fs::read_to_string(user.path("all.json")).unwrap()).unwrap();
    let pair = |run: &Value| {
        ["target", "copy-to"].map(|name| run["run"]["coordinates"][name].as_str().unwrap().to_owned())
    };
    let pairs: Vec<[String; 2]> = all.as_array().unwrap().iter().map(pair).collect();
    assert_eq!(pairs, [[&a, &a], [&a, &b], [&b, &a], [&b, &b]].map(|pair| pair.map(String::clone)));
    for run in all.as_array().unwrap() {
        let csv = user.fine(&["show", run["run"]["id"].as_str().unwrap(), "--format", "csv"]).output;
        let (names, rows) = csv.split_once('\n').unwrap();
        assert!(names.ends_with(",copy_to") && rows.lines().all(|row| row.ends_with(&pair(run)[1])), "{csv}");
    }
    let page = std::fs::read_to_string(user.path("page.html")).unwrap();
    let matrix = &page[page.find("<h2>Copied between the targets</h2>").unwrap()..];
    for (place, shown) in [(format!("<th scope=\"col\">to {a}</th>"), 1), (format!(">{b}</th><td>"), 1)] {
        assert_eq!(matrix.matches(&place).count(), shown, "{place}");
    }
    assert!(
        page.contains("…/a, copies to …/b, repetition") || page.contains("…/a, copies to …/b ("),
        "{page}"
    );
    let listed = user.fine(&["list"]).output;
    assert_eq!(listed.matches("stream, write, copy").count(), 4, "{listed}");
    let run = user.document("last");
    assert_eq!(phase(&run, "copy")["bytes"], (2 * 260) << 10);
    assert_eq!(attempts(&run, 3, "stream.compare"), 2);
    // What is resumed has all of them.
    let again = user.fine(&[words.as_slice(), &["--resume", "last"]].concat());
    assert_eq!(user.fine(&["list"]).output.matches("stream, write, copy").count(), 4, "{again:?}");
}

#[test]
fn a_history_takes_no_other_place_of_copies_for_a_change() {
    let user = User::new();
    let (a, b) = (user.directory("a"), user.directory("b"));
    let phases = ["-s", "64KiB", "--phases", "write,copy", "-q", "--history", "h.sqlite"];
    let measure = |more: &[&str]| user.fine(&[&["bench", "stream", "a", "b"], &phases[..], more].concat());
    (0..2).for_each(|_| drop(measure(&[])));
    let shown = || user.fine(&["show", "history", "--history", "h.sqlite"]).output;
    let told = shown();
    for to in [&a, &b] {
        assert_eq!(told.matches(&format!("stream.copy, block 1MiB, clients 1, copy-to {to} ")).count(), 2);
    }
    assert!(!told.contains("changed"), "{told}");
    // Another label is one, of each pair by itself.
    measure(&["--label", "mount=new"]);
    let told = shown().replace("\n      ", " ");
    assert!(told.contains("label mount") && !told.contains("coordinate copy-to"), "{told}");
}

#[test]
fn a_program_that_hangs_between_two_places_leaves_nothing_in_either() {
    let user = with_cp("exec sleep 600");
    let (a, b) = (user.directory("a"), user.directory("b"));
    let mut command = user.command(env!("CARGO_BIN_EXE_iolag"));
    command.env("PATH", format!("{}:/usr/bin:/bin", user.path("bin").display()));
    command.args([
        "bench",
        "stream",
        "a",
        "b",
        "-s",
        "64KiB",
        "--phases",
        "write,copy",
        "--copy-with",
        "cp",
        "-q",
    ]);
    command.args(["--deadline", "1s"]);
    let said = said(command);
    assert_eq!(said.code, 4, "{said:?}");
    // Which of both the program waits for nobody knows.
    let told = said.output.replace("\n  ", " ");
    assert!(told.contains(&format!("stream.cp in {a} and {b} timed out")), "{said:?}");
    for place in [&a, &b] {
        assert_eq!(std::fs::read_dir(place).unwrap().count(), 0, "{said:?}");
    }
}

#[test]
fn what_a_killed_run_left_in_both_places_is_removed_by_cleanup_and_its_program_is_gone() {
    let user = with_cp("echo $$ > \"$0.pid\"; exec sleep 600");
    let (a, b) = (user.directory("a"), user.directory("b"));
    let mut command = user.command(env!("CARGO_BIN_EXE_iolag"));
    command.env("PATH", format!("{}:/usr/bin:/bin", user.path("bin").display()));
    let phases = ["--phases", "write,copy", "--copy-with", "cp", "--order", "sequential", "-q"];
    // Sequential: the second run is the first from one to the other.
    command.args(["bench", "stream", "a", "b", "-s", "64KiB", "--deadline", "2s"]).args(phases);
    let mut run = command.stdout(std::process::Stdio::null()).spawn().unwrap();
    let filled = |place: &str| std::fs::read_dir(place).unwrap().count() > 0;
    let start = std::time::Instant::now();
    let mut is_between = false;
    while !is_between && start.elapsed().as_secs() < 60 {
        std::thread::sleep(std::time::Duration::from_millis(20));
        is_between = filled(&a) && filled(&b) && user.path("bin/cp.pid").exists();
    }
    assert!(is_between, "a run between both has begun");
    run.kill().unwrap();
    run.wait().unwrap();
    let id = std::fs::read_to_string(user.path("bin/cp.pid")).unwrap();
    let is_there = || {
        std::fs::read_to_string(format!("/proc/{}/cmdline", id.trim())).is_ok_and(|it| it.contains("sleep"))
    };
    while is_there() && start.elapsed().as_secs() < 90 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert!(!is_there(), "the program ends with the run");
    user.fine(&["list"]);
    user.fine(&["cleanup", "last"]);
    assert!(!filled(&a) && !filled(&b));
}
