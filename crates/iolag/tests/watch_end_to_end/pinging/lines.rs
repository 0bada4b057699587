//! `iolag ping`: a line for every probe, a summary at the end, and nothing left behind.

use std::fs;
use std::path::Path;

use iolag_fixtures::{FuseCall, FuseMount, current_test, skip};

use crate::stage::assert_refused;
use crate::support::{Finished, PATIENCE, Running, Scene, assert_says, wait_until};
use crate::terminal::AtTerminal;

pub fn ping(scene: &Scene, arguments: &[&str]) -> Running {
    let mut all = vec!["ping"];
    all.extend(arguments);
    Running::start(scene.command(&all))
}

fn lines<'a>(done: &'a Finished, start: &str) -> Vec<&'a str> {
    done.stdout.lines().filter(|line| line.starts_with(start)).collect()
}

/// The JSON lines of a kind.
pub fn json_lines(text: &str, kind: &str) -> Vec<serde_json::Value> {
    let all = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    all.filter(|line| line["kind"] == kind).collect()
}

pub fn iolag_is_gone_from(directory: &str) {
    assert_eq!(fs::read_dir(directory).unwrap().count(), 0, "nothing is left");
}

#[test]
fn every_probe_is_a_line_of_single_operations_and_the_run_is_kept() {
    let scene = Scene::new();
    let directory = scene.target().display().to_string();
    let done = ping(&scene, &["-n", "4", "--every", "250ms", "--deadline", "1h", &directory]).finish();
    assert_eq!(done.code, Some(0), "{done:?}");
    let told = lines(&done, "seq=");
    assert!(told.iter().any(|line| {
        ["stat ", "  read ", "  create ", "  total "].iter().all(|part| line.contains(part))
    }));
    let title = format!("--- {directory}, a probe every 250 ms ---");
    assert_says(&done.stdout, &[&title, "4 probes: ", "median", "whole probe", "remove (not in the probe)"]);
    assert_says(&done.stderr, &["no program is started", "the run is kept as"]);
    iolag_is_gone_from(&directory);
    let listed = scene.run(&["list"]);
    assert_says(&listed.stdout, &["ping", "complete", &directory]);
    let shown = scene.run(&["show", "last"]);
    assert_says(&shown.stdout, &[&title, "4 probes: ", "whole probe"]);
    let probes: Vec<_> = scene.exported().into_iter().filter(|sample| sample.operation == "probe").collect();
    assert_eq!(probes.len(), 4, "{probes:?}");
    scene.assert_nobody_is_left();
}

/// The programs that a ping with these arguments starts besides itself, by name; `None` if strace is not there or may not trace.
fn programs_started(task: &[&str]) -> Option<Vec<String>> {
    let scene = Scene::new();
    let trace = scene.path().join("trace");
    let strace = |more: &[&str]| {
        let mut command = scene.bare_command(
            Path::new("strace"),
            &["-f", "-qq", "-e", "trace=execve,execveat", "-e", "status=successful", "-o"],
        );
        command.arg(&trace).args(more);
        command
    };
    if !strace(&["true"]).status().is_ok_and(|status| status.success()) {
        skip(&current_test(), "strace is not installed or may not trace");
        return None;
    }
    let (store, directory) = (scene.store().display().to_string(), scene.target().display().to_string());
    let iolag = env!("CARGO_BIN_EXE_iolag");
    let ping = [iolag, "--store", &store, "ping", "-n", "3", "--every", "2s", "--deadline", "1h"];
    let done = Running::start(strace(&[&ping, task, &[&directory]].concat())).finish();
    assert_eq!(done.code, Some(0), "{done:?}");
    let trace = fs::read_to_string(&trace).unwrap();
    // `PID execve("/usr/bin/ls", …) = 0`; the sealed copy is `execveat(3, "", …) = 0`.
    let called = |name: &'static str| {
        trace
            .lines()
            .filter_map(move |line| Some(line.split_once(name)?.1.split_once('"')?.1.split_once('"')?.0))
    };
    assert_eq!(called(" execveat(").collect::<Vec<_>>(), [""], "the copy of itself, once: {trace}");
    let mut programs: Vec<_> = called(" execve(").collect();
    assert_eq!(programs.remove(0), iolag, "{trace}");
    Some(programs.iter().map(|path| path.rsplit('/').next().unwrap_or_default().to_owned()).collect())
}

#[test]
fn single_operations_start_no_program() {
    let Some(programs) = programs_started(&[]) else { return };
    assert_eq!(programs, Vec::<String>::new());
    // What would be seen if there were any.
    let programs = programs_started(&["--task", "list"]).expect("strace was there before");
    assert!(programs.iter().filter(|program| *program == "ls").count() >= 3, "{programs:?}");
}

#[test]
fn a_task_on_request_is_told_with_what_starting_it_costs() {
    let scene = Scene::new();
    let directory = scene.target().display().to_string();
    for (task, part) in [("list", "ls -l "), ("create", "create 500 "), ("write-fsync", "write+fsync ")] {
        let arguments = ["-n", "2", "--every", "2s", "--deadline", "1h", "--task", task, &directory];
        let done = ping(&scene, &arguments).finish();
        assert_eq!(done.code, Some(0), "{done:?}");
        let told = lines(&done, "seq=");
        assert!(told.iter().any(|line| line.contains(part) && line.contains("  total ")), "{done:?}");
        assert_says(&done.stderr, &["in a process of its own; starting that is part of the total"]);
        iolag_is_gone_from(&directory);
    }
    let listed = scene.run(&["list"]);
    assert_says(&listed.stdout, &["ping, list", "ping, write-fsync"]);
    scene.assert_nobody_is_left();
}

#[test]
fn ctrl_c_ends_with_a_summary_and_a_clean_directory() {
    for signal in [libc::SIGINT, libc::SIGTERM] {
        let scene = Scene::new();
        let directory = scene.target().display().to_string();
        let running = ping(&scene, &["--every", "60ms", "--deadline", "1h", &directory]);
        assert!(wait_until(PATIENCE, || running.stdout().contains("seq=3")), "{}", running.stdout());
        running.signal(signal);
        let done = running.finish();
        assert_eq!(done.code, Some(0), "{done:?}");
        assert_says(&done.stdout, &[" probes: ", "median"]);
        iolag_is_gone_from(&directory);
        assert_says(&scene.run(&["list"]).stdout, &["complete"]);
        scene.assert_nobody_is_left();
    }
}

fn assert_no_probe_was_sent(scene: &Scene, done: &Finished) {
    assert_eq!(done.code, Some(4), "{done:?}");
    assert_says(&done.stdout, &["no probe was sent"]);
    assert_says(&done.stderr, &["the run is incomplete: ", " before the first probe was sent"]);
    assert_says(&scene.run(&["list"]).stdout, &["incomplete"]);
}

#[test]
fn ctrl_c_while_a_slow_directory_is_set_up_is_said_and_leaves_nothing() {
    let scene = Scene::new();
    let Some(fuse) = FuseMount::start(&scene.target()) else { return };
    fuse.delay_all(std::time::Duration::from_millis(400));
    let running = ping(&scene, &["--deadline", "1h", fuse.path().to_str().unwrap()]);
    let is_made = || fs::read_dir(scene.target()).unwrap().count() > 0;
    assert!(wait_until(PATIENCE, is_made), "{} {}", running.stdout(), running.stderr());
    running.signal(libc::SIGINT);
    let done = running.finish();
    assert_no_probe_was_sent(&scene, &done);
    iolag_is_gone_from(scene.target().to_str().unwrap());
    fuse.release();
    scene.assert_nobody_is_left();
}

#[test]
fn what_a_set_up_that_hangs_leaves_behind_is_known_to_cleanup() {
    let scene = Scene::new();
    let Some(fuse) = FuseMount::start(&scene.target()) else { return };
    // The file that shows whose the working directory is, and whether it can be written.
    fuse.hang(FuseCall::Create, ".iolag-*");
    let running = ping(&scene, &["--deadline", "1h", fuse.path().to_str().unwrap()]);
    assert!(fuse.wait_until_held(1, PATIENCE), "{} {}", running.stdout(), running.stderr());
    running.signal(libc::SIGTERM);
    let done = running.finish();
    assert_no_probe_was_sent(&scene, &done);
    assert_says(&done.stderr, &["may still be there", "iolag cleanup "]);
    fuse.release();
    scene.assert_nobody_is_left();
    let cleaned = scene.run(&["cleanup", "last"]);
    assert_eq!(cleaned.code, Some(0), "{cleaned:?}");
    iolag_is_gone_from(scene.target().to_str().unwrap());
}

#[test]
fn a_count_that_is_not_reached_is_incomplete() {
    let scene = Scene::new();
    let directory = scene.target().display().to_string();
    let running = ping(&scene, &["-n", "5000", "--every", "60ms", &directory]);
    assert!(wait_until(PATIENCE, || running.stdout().contains("seq=3")), "{}", running.stdout());
    running.signal(libc::SIGINT);
    let done = running.finish();
    assert_eq!(done.code, Some(4), "{done:?}");
    assert_says(&scene.run(&["list"]).stdout, &["incomplete"]);
    iolag_is_gone_from(&directory);
}

#[test]
fn a_directory_that_hangs_is_told_while_it_does_and_when_it_answers() {
    let scene = Scene::new();
    let Some(fuse) = FuseMount::start(&scene.target()) else { return };
    let directory = fuse.path().to_str().unwrap().to_owned();
    let json = scene.path().join("lines").display().to_string();
    let arguments = ["--every", "100ms", "--deadline", "6s", "--json", &json, &directory];
    let running = ping(&scene, &arguments);
    assert!(wait_until(PATIENCE, || running.stdout().contains("seq=2 ")), "{}", running.stdout());
    fuse.hang_all();
    let said = |text: &str| {
        let has_come = wait_until(PATIENCE, || running.stdout().contains(text));
        assert!(has_come, "{text:?} is missing in: {}", running.stdout());
    };
    said("no answer for 2.00 s (process ");
    said("no answer within the deadline of 6.00 s; hung in ");
    fuse.release();
    said("skipped while ");
    running.signal(libc::SIGINT);
    let done = running.finish();
    assert_eq!(done.code, Some(1), "{done:?}");
    let skipped = done.stdout.lines().filter(|line| line.contains(" skipped while ")).count();
    assert!(skipped < 10, "each hang has one line for those that were skipped: {}", done.stdout);
    let text = fs::read_to_string(&json).unwrap();
    assert_eq!(json_lines(&text, "waiting").len(), 1, "{text}");
    let [summary] = &json_lines(&text, "summary")[..] else { panic!("{text}") };
    let probes = json_lines(&text, "probe");
    assert_eq!(summary["probes"]["due"], probes.len(), "{text}");
    assert!(summary["probes"]["skipped"].as_u64() >= Some(50), "six seconds at 0.1 s: {text}");
    let numbers: Vec<_> = probes.iter().map(|probe| probe["seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>(), "each once, in order");
    iolag_is_gone_from(scene.target().to_str().unwrap());
    scene.assert_nobody_is_left();
}

#[test]
fn a_directory_that_still_hangs_at_the_end_is_left_to_cleanup() {
    let scene = Scene::new();
    let Some(fuse) = FuseMount::start(&scene.target()) else { return };
    let directory = fuse.path().to_str().unwrap().to_owned();
    let running = ping(&scene, &["--every", "100ms", "--deadline", "1s", &directory]);
    assert!(wait_until(PATIENCE, || running.stdout().contains("seq=2 ")), "{}", running.stdout());
    fuse.hang_all();
    assert!(wait_until(PATIENCE, || running.stdout().contains("; hung in ")), "{}", running.stdout());
    running.signal(libc::SIGINT);
    let done = running.finish();
    assert_eq!(done.code, Some(1), "{done:?}");
    assert_says(&done.stdout, &[" skipped while ", " hung", "≥ "]);
    assert!(!done.stdout.contains("no answer for 2.00 s"), "the deadline is 1 s: {}", done.stdout);
    assert_says(&done.stderr, &["may still be there", "iolag cleanup "]);
    fuse.release();
    scene.assert_nobody_is_left();
    let command = done.stderr.split("with: iolag ").nth(1).unwrap().lines().next().unwrap();
    let cleaned = scene.run(&command.split(' ').collect::<Vec<_>>());
    assert_eq!(cleaned.code, Some(0), "{cleaned:?}");
    iolag_is_gone_from(scene.target().to_str().unwrap());
    let samples = scene.exported();
    let skipped = samples.iter().filter(|sample| sample.outcome == "skipped").count();
    assert!(skipped >= 5, "a second at 0.1 s: {skipped}");
    // The probe, and the one of its operations that it hangs in.
    let hung: Vec<_> = samples.iter().filter(|sample| sample.outcome == "hung").collect();
    let of = |operation: &str| hung.iter().filter(|sample| sample.operation == operation).count();
    assert_eq!((of("probe"), hung.len()), (1, 2), "{hung:?}");
}

#[test]
fn removing_the_file_of_a_probe_is_in_no_duration_and_has_a_sentence_of_its_own() {
    let scene = Scene::new();
    let Some(fuse) = FuseMount::start(&scene.target()) else { return };
    fuse.delay(FuseCall::Unlink, "*", std::time::Duration::from_secs(5));
    let directory = fuse.path().to_str().unwrap().to_owned();
    let json = scene.path().join("lines").display().to_string();
    let done =
        ping(&scene, &["-n", "4", "--every", "2s", "--deadline", "1h", "--json", &json, &directory]).finish();
    assert_eq!(done.code, Some(0), "{done:?}");
    let cause = "not sent: removing the file of seq=1 was not done";
    assert_says(&done.stdout, &[cause, "not sent (removing the file of the one before was not done)"]);
    let text = fs::read_to_string(&json).unwrap();
    let probes = json_lines(&text, "probe");
    let (sent, unsent): (Vec<_>, Vec<_>) = probes.iter().partition(|probe| probe["blocked_by"].is_null());
    let longest = |probes: &[&serde_json::Value]| {
        probes.iter().map(|probe| probe["duration_ns"].as_u64().unwrap()).max().unwrap_or(0)
    };
    assert!(longest(&unsent) <= longest(&sent), "a bound comes from a probe alone: {text}");
    let (held_up, _): (Vec<_>, Vec<_>) = unsent.iter().partition(|probe| probe["blocked_in"] == "removal");
    assert!(!held_up.is_empty() && longest(&held_up) == 0, "{text}");
    let [summary] = &json_lines(&text, "summary")[..] else { panic!("{text}") };
    assert_eq!(summary["probes"]["held_up"], held_up.len(), "{text}");
    let shown = scene.run(&["show", "last"]);
    assert_says(&shown.stdout, &["not sent (removing the file of the one before was not done)"]);
    scene.assert_nobody_is_left();
}

#[test]
fn probes_that_end_before_anybody_looks_keep_their_numbers() {
    let scene = Scene::new();
    let Some(fuse) = FuseMount::start(&scene.target()) else { return };
    // The second one is in flight when the keeper looks for the first time.
    fuse.delay(FuseCall::Create, "file-2", std::time::Duration::from_millis(700));
    let directory = fuse.path().to_str().unwrap().to_owned();
    for every in ["1ms", "2ms", "5ms"] {
        let done = ping(&scene, &["-n", "40", "--every", every, "--json", "-", &directory]).finish();
        let numbers: Vec<_> =
            json_lines(&done.stdout, "probe").iter().map(|probe| probe["seq"].as_u64().unwrap()).collect();
        assert_eq!(numbers, (1..=40).collect::<Vec<_>>(), "each once, in order: {done:?}");
    }
    scene.assert_nobody_is_left();
}

#[test]
fn a_file_of_lines_is_whole_though_who_measures_cannot_be_ended() {
    let scene = Scene::new();
    let Some(fuse) = FuseMount::start(&scene.target()) else { return };
    let json = scene.path().join("lines").display().to_string();
    let directory = fuse.path().to_str().unwrap().to_owned();
    let running = ping(&scene, &["--every", "100ms", "--deadline", "1s", "--json", &json, &directory]);
    assert!(wait_until(PATIENCE, || running.stdout().contains("seq=2 ")), "{}", running.stdout());
    fuse.hang_all();
    assert!(wait_until(PATIENCE, || running.stdout().contains("; hung in ")), "{}", running.stdout());
    running.signal(libc::SIGINT);
    let done = running.finish();
    // Who measures still hangs, and holds everything open that was open when it was forked.
    assert_eq!(done.code, Some(1), "{done:?}");
    assert!(!done.stderr.contains("cannot write"), "{}", done.stderr);
    let text = fs::read_to_string(&json).unwrap();
    assert!(!text.contains('\0'));
    assert_eq!(json_lines(&text, "summary").len(), 1, "{text}");
    fuse.release();
    scene.assert_nobody_is_left();
}

#[test]
fn two_probes_of_what_hangs_are_two_probes_and_both_are_lost() {
    let scene = Scene::new();
    let Some(fuse) = FuseMount::start(&scene.target()) else { return };
    fuse.hang_all();
    let directory = fuse.path().to_str().unwrap();
    let done =
        ping(&scene, &["-n", "2", "--every", "1s", "--deadline", "1s", "--json", "-", directory]).finish();
    assert_eq!(done.code, Some(1), "{done:?}");
    let probes = json_lines(&done.stdout, "probe");
    let told: Vec<_> = probes
        .iter()
        .map(|probe| {
            (
                probe["seq"].as_u64().unwrap(),
                probe["outcome"].as_str().unwrap(),
                probe["censored"].as_bool().unwrap(),
            )
        })
        .collect();
    assert_eq!(told, [(1, "hung", true), (2, "skipped", true)], "{done:?}");
    assert!(probes[0]["duration_ns"].as_u64().unwrap() >= 1_000_000_000);
    assert_eq!(probes[0]["first_contact"], true);
    let [summary] = &json_lines(&done.stdout, "summary")[..] else { panic!("{done:?}") };
    assert_eq!((&summary["probes"]["due"], &summary["lost"]), (&2.into(), &2.into()));
    assert_eq!(fuse.held(), 1, "nobody else was sent there");
    fuse.release();
    scene.assert_nobody_is_left();
    iolag_is_gone_from(scene.target().to_str().unwrap());
}

#[test]
fn programs_that_are_ended_at_their_deadline_are_known_to_have_taken_at_least_that() {
    let scene = Scene::new();
    let directory = scene.target().display().to_string();
    // No task is that quick, and neither is the first contact, which is then probe 1.
    let arguments = ["-n", "8", "--every", "500ms", "--deadline", "1ms", "--task", "list", &directory];
    let done = ping(&scene, &arguments).finish();
    assert_eq!(done.code, Some(1), "{done:?}");
    let ended = "no answer within the deadline of 1.00 ms; ended (killed)";
    assert_says(&done.stdout, &[ended, "8 probes: 0 answered, 8 lost ("]);
    let whole = done.stdout.lines().find(|line| line.starts_with("whole probe")).unwrap();
    let least = whole.split_whitespace().skip(3).take(3).collect::<Vec<_>>().join(" ");
    assert_eq!(least, "≥ 1.00 ms", "of what was ended the deadline is certain: {whole}");
    iolag_is_gone_from(&directory);
    scene.assert_nobody_is_left();
}

#[test]
fn at_a_terminal_one_line_is_renewed_while_a_probe_waits() {
    let scene = Scene::new();
    let Some(fuse) = FuseMount::start(&scene.target()) else { return };
    let directory = fuse.path().to_str().unwrap().to_owned();
    let terminal =
        AtTerminal::start(scene.command(&["ping", "--every", "50ms", "--deadline", "30s", &directory]));
    assert!(wait_until(PATIENCE, || terminal.text().contains("seq=2 ")), "{}", terminal.text());
    fuse.hang_all();
    assert!(
        wait_until(PATIENCE, || terminal.text().contains(" 3 s without an answer in ")),
        "{}",
        terminal.text()
    );
    let told = terminal.text().lines().filter(|line| line.contains("without an answer")).count();
    assert_eq!(told, 1, "it is one line that is written anew: {}", terminal.text());
    assert!(terminal.text().contains("(process "), "{}", terminal.text());
    fuse.release();
    assert!(wait_until(PATIENCE, || terminal.text().contains(" not sent: ")), "{}", terminal.text());
    let (text, code) = terminal.end(libc::SIGINT);
    assert_eq!(code, Some(0), "{text}");
    scene.assert_nobody_is_left();
}

#[test]
fn a_reader_that_has_seen_enough_ends_a_ping_as_ctrl_c_does() {
    let scene = Scene::new();
    let directory = scene.target().display().to_string();
    let store = scene.store().display().to_string();
    let line = format!(
        "'{}' --store '{store}' ping --every 50ms '{directory}' --json - | head -n 2",
        env!("CARGO_BIN_EXE_iolag")
    );
    let mut command = scene.bare_command(Path::new("/bin/sh"), &["-c", &line]);
    command.env("PATH", "/usr/bin:/bin");
    let done = Running::start(command).finish();
    assert_eq!(json_lines(&done.stdout, "probe").len(), 2, "{done:?}");
    scene.assert_nobody_is_left();
    iolag_is_gone_from(&directory);
    assert_says(&scene.run(&["list"]).stdout, &["ping", "complete"]);
}

#[test]
fn who_was_stopped_at_the_terminal_makes_up_for_nothing() {
    let scene = Scene::new();
    let directory = scene.target().display().to_string();
    let running = ping(&scene, &["--every", "100ms", &directory]);
    assert!(wait_until(PATIENCE, || running.stdout().contains("seq=2 ")), "{}", running.stdout());
    running.signal(libc::SIGTSTP);
    std::thread::sleep(std::time::Duration::from_secs(3));
    running.signal(libc::SIGCONT);
    let told = wait_until(PATIENCE, || running.stdout().contains(" not sent: iolag itself was stopped"));
    assert!(told, "{}", running.stdout());
    running.signal(libc::SIGINT);
    let done = running.finish();
    assert_says(&done.stdout, &["interrupted or missed by iolag itself"]);
    scene.assert_nobody_is_left();
}

#[test]
fn what_cannot_be_pinged_is_refused() {
    let scene = Scene::new();
    let directory = scene.target().display().to_string();
    let refused = |arguments: &[&str], code, parts: &[&str]| {
        assert_refused(&ping(&scene, arguments).finish(), code, parts);
    };
    refused(&["--task", "lst", &directory], 2, &["there is no task \"lst\"", "expected one of compile"]);
    let gone = scene.path().join("gone").display().to_string();
    refused(&[&gone], 3, &[&gone, "does not exist"]);
    refused(&["--plot=x.gif", &directory], 2, &["x.gif", ".svg"]);
    refused(&["--json", "-", "--plot", &directory], 2, &["--json - and --plot", "name a file"]);
    iolag_is_gone_from(&directory);
}

#[test]
fn a_plot_is_drawn_at_the_end_or_written() {
    let scene = Scene::new();
    let directory = scene.target().display().to_string();
    let arguments = ["-n", "3", "--every", "100ms", "--plot", &directory];
    let done = ping(&scene, &arguments).finish();
    assert!(done.stdout.chars().any(|letter| ('\u{2801}'..='\u{28ff}').contains(&letter)), "{done:?}");
    let figure = scene.path().join("figure.svg");
    let plot = format!("--plot={}", figure.display());
    let done = ping(&scene, &["-n", "3", "--every", "100ms", &plot, &directory]).finish();
    assert!(fs::read_to_string(&figure).unwrap().contains("<svg"), "{done:?}");
}
