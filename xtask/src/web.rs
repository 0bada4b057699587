//! The page: its types and its bundle are made again and must be what is committed, and a real browser opens reports made from known data.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::built::Profile;
use crate::places::{Places, output, run};
use crate::suite::{Case, Launch};

/// The programs with tests in `web/test`.
const PROGRAMS: [&str; 5] = ["report", "history", "serve", "compare", "trace"];

/// Why the page cannot be tested here, if it cannot.
pub fn lack() -> Option<String> {
    let found = output(Command::new("npm").arg("--version"));
    found.err().map(|error| format!("npm is lacking: {error:#}"))
}

/// Why there are no tests of the page yet, if [`prepare`] has not been here.
pub fn unprepared(places: &Places) -> Option<String> {
    let is_there = places.root.join("web/node_modules").exists();
    (!is_there).then(|| "web/node_modules is not there: run the step web first".to_owned())
}

/// Makes the types and the bundle, compares them with what is committed, and makes the sample reports.
pub fn prepare(places: &Places) -> Result<()> {
    let web = places.root.join("web");
    write_types(places)?;
    run(Command::new("npm").args(["ci", "--no-audit", "--no-fund", "--silent"]).current_dir(&web))?;
    run(Command::new("npm").args(["run", "--silent", "build"]).current_dir(&web))?;
    let reports = places.root.join("artefacts/reports");
    for example in ["write_report", "write_history"] {
        run(Command::new(places.build_example("iolag-report", example, Profile::Dev)?).arg(&reports))?;
    }
    run(Command::new("git")
        .args(["diff", "--exit-code", "--stat", "--", "web/dist", "web/src/generated"])
        .current_dir(&places.root))
    .context("web/dist is not what `npm run build` makes of web/src, or web/src/generated not what `cargo xtask types` makes: make them and commit the result")
}

/// Writes the types of the data that the pages read, as they are in Rust.
pub fn write_types(places: &Places) -> Result<()> {
    let types = places.build_example("iolag-report", "write_types", Profile::Dev)?;
    run(Command::new(types).arg(places.root.join("web/src/generated")))
}

/// The tests in the browser.
pub fn cases(places: &Places) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for program in PROGRAMS {
        let (file, web) = (format!("test/{program}.test.mjs"), places.root.join("web"));
        let names = output(Command::new("node").arg(&file).env("IOLAG_TEST", "?").current_dir(&web))?;
        let tests: Vec<&str> = names.lines().filter_map(|line| line.strip_prefix("test: ")).collect();
        ensure!(!tests.is_empty(), "web/{file} names no test");
        cases.extend(tests.into_iter().map(|test| case(&places.root, program, &file, &web, test)));
    }
    Ok(cases)
}

fn case(root: &Path, program: &str, file: &str, web: &Path, test: &str) -> Case {
    let artefacts = root.join("artefacts");
    let launch = Launch {
        program: "node".into(),
        // In the form that the proof is of; the default has changed between versions.
        arguments: vec![OsString::from("--test-reporter=tap"), OsString::from(file)],
        directory: web.to_owned(),
        environment: vec![
            ("IOLAG_TEST", test.into()),
            ("IOLAG_REPORTS", artefacts.join("reports").into()),
            ("IOLAG_ARTEFACTS", artefacts.join("pictures").into()),
        ],
        proof: Some("# pass 1"),
    };
    // Names of tests hold no space, so that they can be typed.
    let name: String =
        test.chars().map(|letter| if letter.is_alphanumeric() { letter } else { '_' }).collect();
    Case::new(&format!("web::{program}"), &name, launch)
}
