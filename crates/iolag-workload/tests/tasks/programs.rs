//! Compile, list, and commands of the user's.

use std::fs;
use std::path::Path;
use std::time::Duration;

use iolag_fixtures::{FuseCall, FuseMount, current_test, skip};
use iolag_model::{ErrorClass, FailureCode, Nanoseconds};
use iolag_workload::{TaskOutput, TaskSpec, find_compiler};

use crate::support::{lacks, names, peak_kib, probe, processes_with, seconds_of, shell_command, wait_until};

#[test]
fn a_real_ls_lists_in_both_forms() {
    if lacks("/bin/ls") {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let spec = TaskSpec::List { files: 6, output: TaskOutput::Discard };
    for _ in 0..2 {
        let recorder = probe(place.path(), &spec).unwrap();
        assert_eq!(recorder.order(), "+0 -0 +1 -1");
        for part in [0, 1] {
            assert_eq!(
                (recorder.ending(part).failure, recorder.ending(part).exit_status),
                (FailureCode::NONE, Some(0))
            );
        }
        assert!(recorder.ending(0).resident_bytes_max > 0);
        assert_eq!(recorder.guard, None, "nothing stands between ls and the clock");
    }
    assert_eq!(names(&place.path().join("listed-6")).len(), 6);
    fs::remove_dir_all(place.path().join("listed-6")).unwrap();
    let failed = probe(place.path(), &spec).unwrap();
    assert_eq!((failed.ending(0).failure, failed.ending(0).exit_status), (FailureCode::EXIT, Some(2)));
    assert_eq!(probe(place.path(), &spec).unwrap().ending(0).failure, FailureCode::NONE, "it is made anew");
}

#[test]
fn a_listing_on_a_terminal_is_read_to_its_end() {
    if lacks("/bin/ls") {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    // More than a terminal holds until somebody reads it.
    let spec = TaskSpec::List { files: 3500, output: TaskOutput::Terminal };
    for _ in 0..2 {
        let recorder = probe(place.path(), &spec).unwrap();
        assert_eq!(recorder.order(), "+0 -0 +1 -1");
        for part in [0, 1] {
            let ending = recorder.ending(part);
            assert_eq!((ending.failure, ending.exit_status), (FailureCode::NONE, Some(0)));
        }
        assert_eq!(recorder.guard, None, "nothing stands between ls and the clock");
    }
}

#[test]
fn a_listing_waits_for_the_file_system() {
    let backing = tempfile::tempdir().unwrap();
    let Some(mount) = FuseMount::start(backing.path()) else { return };
    let spec = TaskSpec::List { files: 2, output: TaskOutput::Discard };
    probe(mount.path(), &spec).unwrap();
    let delay = Duration::from_millis(100);
    mount.delay(FuseCall::Opendir, "listed-2", delay);
    mount.delay(FuseCall::Readdir, "listed-2", delay);
    let listed = probe(mount.path(), &spec).unwrap();
    assert!(listed.duration(0) >= delay && listed.duration(1) >= delay, "{listed:?}");
    let [user, system] = listed.ending(0).processor;
    assert!(user.0 + system.0 < listed.duration(0).as_nanos() as u64, "most of it is waiting");
}

#[test]
fn a_real_compiler_works_each_time_and_its_work_is_told() {
    let environment: Vec<_> = std::env::vars_os().collect();
    if find_compiler(&environment).is_none() {
        return skip(&current_test(), "no compiler was found");
    }
    let place = tempfile::tempdir().unwrap();
    for _ in 0..2 {
        let compiled = probe(place.path(), &TaskSpec::Compile).unwrap();
        assert_eq!(compiled.ending(0).failure, FailureCode::NONE);
        // The compiler proper is a grandchild: its time is that of those who waited for it.
        let [user, system] = compiled.ending(0).processor;
        assert!(user.0 + system.0 > 5_000_000, "{compiled:?}");
        let program = place.path().join("program");
        assert!(std::process::Command::new(&program).output().unwrap().status.success());
    }
    for source in names(place.path()).into_iter().filter(|name| name.starts_with("program.")) {
        if !source.ends_with(".ready") {
            fs::write(place.path().join(source), "this is no program").unwrap();
        }
    }
    let failed = probe(place.path(), &TaskSpec::Compile).unwrap();
    assert_eq!(failed.ending(0).failure, FailureCode::EXIT);
    assert!(failed.ending(0).exit_status.is_some_and(|status| status != 0));
    assert_eq!(probe(place.path(), &TaskSpec::Compile).unwrap().ending(0).failure, FailureCode::NONE);
}

#[test]
fn a_command_runs_in_its_directory_without_our_descriptors_and_signals() {
    let place = tempfile::tempdir().unwrap();
    let filter = || fs::read_to_string("/proc/self/coredump_filter").unwrap();
    let own_filter = filter();
    iolag_workload::withhold_core_dumps();
    assert_eq!(filter().trim(), "00000000");
    let script = "cat /proc/self/coredump_filter > filter; pwd > where; ls /proc/self/fd | wc -l > descriptors; grep SigBlk /proc/self/status > signals; \
                  grep SigIgn /proc/self/status >> signals";
    let ran = probe(place.path(), &shell_command(script, TaskOutput::Discard)).unwrap();
    assert_eq!((ran.ending(0).failure, ran.ending(0).exit_status), (FailureCode::NONE, Some(0)));
    let said = |name| fs::read_to_string(place.path().join(name)).unwrap();
    assert_eq!(said("where").trim(), place.path().canonicalize().unwrap().display().to_string());
    assert_eq!(said("filter"), own_filter);
    // Its three streams and the directory that ls reads.
    assert_eq!(said("descriptors").trim(), "4");
    for line in said("signals").lines() {
        let mask = u64::from_str_radix(line.split_whitespace().last().unwrap(), 16).unwrap();
        assert_eq!(mask & 0x7fff_ffff, 0, "{line}: real-time signals are as the user has them");
    }
}

#[test]
fn endings_of_commands_are_told() {
    let place = tempfile::tempdir().unwrap();
    for output in [TaskOutput::Discard, TaskOutput::Terminal, TaskOutput::Number] {
        let ended = probe(place.path(), &shell_command("exit 7", output)).unwrap().ending(0);
        assert_eq!((ended.failure, ended.exit_status, ended.value), (FailureCode::EXIT, Some(7), None));
        let killed = probe(place.path(), &shell_command("kill -9 $$", output)).unwrap().ending(0);
        assert_eq!((killed.failure, killed.exit_status), (FailureCode::EXIT, None));
        let missing = TaskSpec::Command { command: vec!["/missing/program".to_owned()], output };
        let missing = probe(place.path(), &missing).unwrap().ending(0);
        assert_eq!((missing.failure.class(), missing.exit_status), (ErrorClass::NotFound, None));
        let none = probe(place.path(), &TaskSpec::Command { command: vec![], output }).unwrap_err();
        assert!(none.message.contains("the command is empty"), "{none}");
    }
}

#[test]
fn what_a_command_that_sets_up_leaves_running_stays_if_it_succeeds() {
    let place = tempfile::tempdir().unwrap();
    let set_up =
        |script: &str| TaskSpec::SetUp { command: ["/bin/sh", "-c", script].map(str::to_owned).to_vec() };
    let (stays, ends) = (seconds_of(31), seconds_of(32));
    let leaves = |seconds: &str, then: &str| {
        format!("setsid sleep {seconds} </dev/null >/dev/null 2>&1 & echo $! > {seconds}; {then}")
    };
    let succeeded = probe(place.path(), &set_up(&leaves(&stays, "true"))).unwrap();
    assert_eq!(succeeded.ending(0).failure, FailureCode::NONE);
    let failed = probe(place.path(), &set_up(&leaves(&ends, "echo no such host >&2; exit 3"))).unwrap();
    assert_eq!((failed.ending(0).failure, failed.ending(0).exit_status), (FailureCode::EXIT, Some(3)));
    assert_eq!(failed.said.as_deref(), Some("no such host"));
    assert!(wait_until(|| processes_with(&ends) == 0));
    assert_eq!(processes_with(&stays), 1, "it belongs to whoever set it up");
    let process = fs::read_to_string(place.path().join(&stays)).unwrap();
    let process = rustix::process::Pid::from_raw(process.trim().parse().unwrap()).unwrap();
    rustix::process::kill_process(process, rustix::process::Signal::KILL).unwrap();
}

#[test]
fn what_a_command_that_failed_said_last_is_told() {
    let place = tempfile::tempdir().unwrap();
    for output in [TaskOutput::Discard, TaskOutput::Number] {
        for (script, said) in [
            ("echo first >&2; echo oops: no such project >&2; echo 5; exit 2", Some("oops: no such project")),
            (
                "printf 'no token=abc at https://x/?token=abc' >&2; exit 2",
                Some("no token=abc at https://x/?token=***"),
            ),
            ("printf '\\033]0;title\\007' >&2; kill -9 $$", Some("\u{fffd}]0;title\u{fffd}")),
            ("echo 5; exit 2", None),
            ("echo warning >&2; echo 5", None),
        ] {
            let ran = probe(place.path(), &shell_command(script, output)).unwrap();
            assert_eq!(ran.said.as_deref(), said, "{script}");
        }
    }
}

#[test]
fn a_command_on_a_terminal_has_one() {
    let place = tempfile::tempdir().unwrap();
    let script =
        "test -t 0 && test -t 1 && test -t 2 && test \"$(stty size)\" = '24 80' && echo x > /dev/tty";
    let ran = probe(place.path(), &shell_command(script, TaskOutput::Terminal)).unwrap();
    assert_eq!(ran.ending(0).exit_status, Some(0));
    let ran = probe(place.path(), &shell_command("test -t 0 || test -t 1", TaskOutput::Discard)).unwrap();
    assert_eq!(ran.ending(0).exit_status, Some(1));
}

#[test]
fn the_last_line_of_a_covariate_is_its_number() {
    let place = tempfile::tempdir().unwrap();
    for (script, number) in [
        ("echo jobs; echo 42", Some(42.0)),
        ("echo 42 >&2; echo -1.5e3; echo", Some(-1500.0)),
        ("yes 17 | head -c 3000000; echo; echo 18", Some(18.0)),
        ("echo 42 jobs", None),
        ("true", None),
    ] {
        let ran = probe(place.path(), &shell_command(script, TaskOutput::Number)).unwrap().ending(0);
        let failure = if number.is_some() { FailureCode::NONE } else { FailureCode::PROTOCOL };
        assert_eq!((ran.value, ran.failure), (number, failure), "{script}");
    }
}

#[test]
fn a_gigabyte_of_output_takes_no_memory() {
    let place = tempfile::tempdir().unwrap();
    let before_kib = peak_kib();
    let script =
        "head -c 536870912 /dev/zero; head -c 1073741824 /dev/zero >&2; echo >&2; echo oops >&2; exit 3";
    for output in [TaskOutput::Discard, TaskOutput::Number] {
        let ran = probe(place.path(), &shell_command(script, output)).unwrap();
        assert_eq!((ran.ending(0).exit_status, ran.said.as_deref()), (Some(3), Some("oops")));
    }
    let on_terminal = "head -c 20000000 /dev/zero | tr '\\0' x";
    let ran = probe(place.path(), &shell_command(on_terminal, TaskOutput::Terminal)).unwrap();
    assert_eq!(ran.ending(0).exit_status, Some(0));
    let more_kib = peak_kib().saturating_sub(before_kib);
    assert!(more_kib < 64 << 10, "{more_kib} KiB more");
}

#[test]
fn what_is_left_in_the_background_does_not_hold_the_probe_and_is_killed() {
    let place = tempfile::tempdir().unwrap();
    for (output, kind) in [(TaskOutput::Discard, 21), (TaskOutput::Number, 22), (TaskOutput::Terminal, 23)] {
        let seconds = &seconds_of(kind);
        let script = format!("sleep {seconds} & setsid sleep {seconds} & (yes 5 &) ; sleep 0.2; echo 5");
        let ran = probe(place.path(), &shell_command(&script, output)).unwrap();
        assert_eq!(ran.ending(0).exit_status, Some(0), "{output:?}");
        assert!(ran.duration(0) < Duration::from_secs(60), "it did not wait for the sleepers");
        assert!(wait_until(|| processes_with(seconds) == 0), "{output:?}: something lives on");
        let guard = ran.guard.expect("a guard was told");
        assert!(
            wait_until(|| !Path::new(&format!("/proc/{guard}")).exists()),
            "the guard ends when all have"
        );
    }
}

#[test]
fn processor_time_tells_work_from_waiting() {
    let place = tempfile::tempdir().unwrap();
    let idle = probe(place.path(), &shell_command("sleep 0.3", TaskOutput::Discard)).unwrap();
    let sum = |processor: [Nanoseconds; 2]| Duration::from_nanos(processor[0].0 + processor[1].0);
    assert!(sum(idle.ending(0).processor) < idle.duration(0) / 2, "{idle:?}");
    let script = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done";
    let busy = probe(place.path(), &shell_command(script, TaskOutput::Discard)).unwrap();
    assert!(sum(busy.ending(0).processor) > Duration::from_millis(10), "{busy:?}");
}
