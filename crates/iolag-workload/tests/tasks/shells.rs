//! A shell until its prompt, and a keystroke until it appears.

use std::path::Path;
use std::time::Duration;

use iolag_fixtures::{current_test, skip};
use iolag_model::{ErrorClass, FailureCode};
use iolag_workload::{TaskSpec, probe_task};

use crate::support::{Remembering, perform, probe};

/// Shells that are here, with and without a line editor.
fn shells() -> Vec<&'static str> {
    let known = ["/bin/sh", "/bin/dash", "/bin/bash", "/bin/zsh", "/bin/tcsh", "/usr/bin/fish", "/bin/ksh"];
    let found: Vec<_> = known.into_iter().filter(|path| Path::new(path).exists()).collect();
    assert!(!found.is_empty(), "every system has a shell");
    if !found.contains(&"/bin/bash") {
        skip(&current_test(), "there is no bash");
    }
    found
}

#[test]
fn every_shell_here_shows_its_prompt() {
    let place = tempfile::tempdir().unwrap();
    for shell in shells() {
        let spec = TaskSpec::Shell { program: shell.into() };
        for _ in 0..3 {
            let started = probe(place.path(), &spec).unwrap();
            assert_eq!(started.order(), "+0 -0", "{shell}");
            assert_eq!(started.ending(0).failure, FailureCode::NONE, "{shell}");
            assert!(started.duration(0) > Duration::from_micros(100), "{shell}: {started:?}");
        }
    }
}

#[test]
fn a_keystroke_appears_and_enter_brings_the_next_prompt() {
    let place = tempfile::tempdir().unwrap();
    for shell in shells() {
        let echoed = probe(place.path(), &TaskSpec::Echo { program: shell.into() }).unwrap();
        assert_eq!(echoed.order(), "+0 -0 +1 -1", "{shell}");
        for part in [0, 1] {
            assert_eq!(echoed.ending(part).failure, FailureCode::NONE, "{shell}");
        }
    }
}

#[test]
fn no_shell_is_an_error_with_its_errno_and_one_that_ends_is_none() {
    let place = tempfile::tempdir().unwrap();
    let started = probe(place.path(), &TaskSpec::Shell { program: "/missing/shell".into() }).unwrap();
    assert_eq!(started.ending(0).failure.class(), ErrorClass::NotFound);
    let started = probe(place.path(), &TaskSpec::Shell { program: "/bin/false".into() }).unwrap();
    assert_eq!((started.ending(0).failure, started.ending(0).exit_status), (FailureCode::EXIT, Some(1)));
    let started = probe(place.path(), &TaskSpec::Shell { program: "/bin/true".into() }).unwrap();
    assert_eq!((started.ending(0).failure, started.ending(0).exit_status), (FailureCode::PROTOCOL, Some(0)));
    let refused = probe(place.path(), &TaskSpec::Echo { program: "/bin/false".into() }).unwrap_err();
    assert!(
        refused.message.contains("/bin/false did not show a prompt: it ended with status 1"),
        "{refused}"
    );
}

#[test]
fn a_task_that_was_not_prepared_fails_instead_of_hanging() {
    let place = tempfile::tempdir().unwrap();
    let directory = std::fs::File::open(place.path()).unwrap();
    for name in
        TaskSpec::builtin_names().iter().filter(|name| !["stat", "open-read", "write-fsync"].contains(name))
    {
        let mut recorder = Remembering::default();
        let mut task = probe_task(&TaskSpec::from_name(name).unwrap(), 1);
        task.perform(std::os::fd::AsFd::as_fd(&directory), &mut recorder);
        assert_ne!(recorder.ending(0).failure, FailureCode::NONE, "{name}");
    }
}

/// What the startup file of a shell does is a matter of its environment, which belongs to a process: so in one of its own.
#[test]
fn the_prompt_is_told_from_what_startup_files_write() {
    let place = tempfile::tempdir().unwrap();
    let home = tempfile::tempdir().unwrap();
    let startup = home.path().join(".bashrc");
    std::fs::write(
        &startup,
        "echo Welcome to the machine; sleep 0.7; printf 'more '; (sleep 0.3); PS1='> '\n",
    )
    .unwrap();
    for shell in shells().into_iter().filter(|shell| ["/bin/bash", "/bin/dash"].contains(shell)) {
        let took = crate::killed::in_child(|| {
            crate::killed::set_variable("HOME", home.path());
            crate::killed::set_variable("ENV", &startup);
            let mut task = probe_task(&TaskSpec::Shell { program: shell.into() }, 1);
            let started = perform(place.path(), &mut *task).expect("a terminal is there");
            let is_well = started.ending(0).failure == FailureCode::NONE;
            i32::from(is_well && started.duration(0) >= Duration::from_secs(1))
        });
        assert_eq!(took, Some(1), "{shell}: the prompt comes after the second that the startup file takes");
    }
}
