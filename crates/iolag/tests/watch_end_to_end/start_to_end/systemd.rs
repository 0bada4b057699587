//! The units for systemd.

use std::fs;
use std::process::Command;

use iolag_fixtures::{current_test, skip};

use crate::stage::Stage;

const UNITS: [(&str, &str); 3] = [
    ("service", "iolag-watch.service"),
    ("once-service", "iolag-watch-once.service"),
    ("timer", "iolag-watch-once.timer"),
];

#[test]
fn systemd_understands_the_units() {
    let stage = Stage::new();
    let directory = stage.scene.path().join("units");
    fs::create_dir(&directory).unwrap();
    let program = env!("CARGO_BIN_EXE_iolag");
    let mut paths = Vec::new();
    for (name, file) in UNITS {
        let text = stage.watch_to(0, &["--print-unit", name]).stdout;
        assert!(text.contains("[Unit]"), "{text}");
        // systemd looks for the program, which is not installed here.
        let path = directory.join(file);
        fs::write(&path, text.replace("/usr/local/bin/iolag", program)).unwrap();
        paths.push(path);
    }
    let verified = Command::new("systemd-analyze")
        .arg("verify")
        .args(["--man=no", "--recursive-errors=no"])
        .args(&paths)
        .output();
    let output = match verified {
        Ok(output) => output,
        Err(error) => return skip(&current_test(), &format!("systemd-analyze cannot be started: {error}")),
    };
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if ["Failed to initialize manager", "Failed to allocate", "Unknown option", "unrecognized option"]
        .iter()
        .any(|text| said.contains(text))
    {
        return skip(&current_test(), &format!("systemd-analyze cannot work here: {said}"));
    }
    assert!(output.status.success(), "{said}");
    let about_ours: Vec<_> = said.lines().filter(|line| line.contains("iolag")).collect();
    assert!(about_ours.is_empty(), "{said}");
}

#[test]
fn the_commands_of_the_units_are_commands_of_this_program() {
    let stage = Stage::new();
    let directory = stage.directory("scratch");
    let file = stage.configure(&format!("tasks = [\"stat\"]\n[[target]]\ndirectory = {directory:?}\n"));
    for (name, _) in UNITS {
        let text = stage.watch_to(0, &["--print-unit", name]).stdout;
        for line in text.lines().filter_map(|line| line.strip_prefix("ExecStart=")) {
            let line = line.replace("/etc/iolag.toml", &file);
            let mut words = line.split_ascii_whitespace().skip(2).collect::<Vec<_>>();
            words.extend(["--rounds", "1"].into_iter().filter(|_| !line.contains("--once")));
            stage.watch_to(0, &words);
        }
    }
    assert_eq!(stage.remembered().wholes(&directory, "stat").len(), 2);
}
