//! Commands of the user's: whatever they leave behind or print, the watch stays small and goes on.

use std::fs;
use std::time::Duration;

use iolag_model::{HistorySample, Outcome};

use crate::remembered::assert_all_fine;
use crate::stage::{Stage, target};

/// Runs `rounds` of a command and returns its samples; no process may be left afterwards.
fn samples_of(command: &str, more: &str, rounds: &str) -> Vec<HistorySample> {
    let stage = Stage::new();
    let directory = stage.directory("scratch");
    let file = stage.configure(&format!(
        "control = false\n[task.own]\ncommand = [\"sh\", \"-c\", {command:?}]\n{more}\n{}",
        target("scratch", &directory, "own")
    ));
    stage.watch_to(0, &["-c", &file, "--rounds", rounds, "--every", "50ms"]);
    stage.scene.assert_nobody_is_left();
    let remembered = stage.remembered();
    remembered.wholes("scratch", "own").into_iter().cloned().collect()
}

#[test]
fn grandchildren_that_hold_the_pipes_hold_nothing_up() {
    for more in ["", "output = \"terminal\""] {
        for command in
            ["sleep 300 & sleep 300 & echo started", "(trap '' TERM HUP; exec setsid sleep 300) & exit 0"]
        {
            let samples = samples_of(command, more, "3");
            let samples: Vec<_> = samples.iter().collect();
            assert_all_fine(&samples, 1);
            for sample in samples {
                assert!(sample.duration_ns.as_duration() < Duration::from_secs(60), "{sample:?}");
            }
        }
    }
}

#[test]
fn what_a_command_said_last_of_its_failure_is_told_where_that_is() {
    let stage = Stage::new();
    let directory = stage.directory("scratch");
    let command = "echo first >&2; echo 'oops: no such project at https://me:hush@site/' >&2; echo 5; exit 2";
    let file = stage.configure(&format!(
        "control = false\n[task.own]\ncommand = [\"sh\", \"-c\", {command:?}]\n{}",
        target("scratch", &directory, "own")
    ));
    let journal = stage.watch_to(0, &["-c", &file, "--rounds", "3", "--every", "50ms"]).stdout;
    let said = "failed with exit status 2: oops: no such project at https://me:***@site/";
    assert_eq!(journal.matches(said).count(), 1, "{journal}");
    let look = |arguments: &[&str]| {
        let done = stage.scene.run(&[arguments, &["--history", &stage.history]].concat());
        assert_eq!(done.code, Some(0), "{done:?}");
        done.stdout
    };
    let finding = "; the last with exit status 2: oops: no such project at https://me:***@site/";
    let shown = look(&["show", "history"]);
    assert!(shown.split_whitespace().collect::<Vec<_>>().join(" ").contains(finding), "{shown}");
    let page = stage.scene.path().join("page.html");
    look(&["report", "-o", page.to_str().unwrap()]);
    assert!(fs::read_to_string(page).unwrap().contains(finding), "the page does not say it");
    assert_eq!(look(&["export", "history"]).matches(said).count(), 3, "evidence of every probe");
}

#[test]
fn a_command_past_its_deadline_is_ended_with_everything_that_it_started() {
    let command = "trap '' TERM; (trap '' TERM; setsid sleep 300) & sleep 300; sleep 300";
    let samples = samples_of(command, "soft-deadline = \"100ms\"\ndeadline = \"300ms\"", "2");
    assert_eq!(samples[0].outcome, Outcome::Timeout, "{samples:?}");
    assert!(
        samples.iter().all(|sample| matches!(sample.outcome, Outcome::Timeout | Outcome::Skipped)),
        "{samples:?}"
    );
    let took = samples[0].duration_ns.as_duration();
    assert!(took >= Duration::from_millis(300) && took < Duration::from_secs(60), "{took:?}");
}

#[test]
fn a_command_that_prints_gigabytes_costs_no_memory() {
    const GIGABYTES: u64 = 2;
    /// Of all processes together; a program without debug information takes a fraction of it.
    const MOST_KIB: u64 = 100 << 10;
    for output in ["discard", "terminal"] {
        let stage = Stage::new();
        let directory = stage.directory("scratch");
        // A terminal passes on less at a time.
        let bytes = if output == "terminal" { GIGABYTES << 27 } else { GIGABYTES << 30 };
        let file = stage.configure(&format!(
            "control = false\n[task.own]\ncommand = [\"head\", \"-c\", \"{bytes}\", \"/dev/zero\"]\noutput = {output:?}\n\
             deadline = \"10m\"\n{}",
            target("scratch", &directory, "own")
        ));
        let mut watch = stage.start(&["-c", &file, "--once"]);
        let mut most = 0;
        let mut looks = 0;
        while !watch.has_ended() {
            // What was looked at while the program printed counts.
            let prints = stage.scene.processes().into_iter().any(|(_, stat)| stat.contains("(head) "));
            most = most.max(private_kib(&stage));
            looks += u32::from(prints);
            std::thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(watch.finish().code, Some(0));
        assert!(looks > 0 && most > 0 && most < MOST_KIB, "{most} KiB in {looks} looks");
        let remembered = stage.remembered();
        assert_all_fine(&remembered.wholes("scratch", "own"), 1);
    }
}

/// Memory that the processes of a stage have for themselves.
fn private_kib(stage: &Stage) -> u64 {
    let of_process = |process: u32| {
        let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
        line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0)
    };
    stage.scene.processes().into_iter().map(|(process, _)| of_process(process)).sum()
}
