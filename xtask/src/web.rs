//! The page: its bundle is built again and must be what is committed, and a real browser opens reports made from known data.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::count::Count;
use crate::places::{Places, Profile, run};

/// Builds the bundle, makes sample reports and opens them.
pub fn check(places: &Places, skipped_file: &Path, count: &mut Count) -> Result<()> {
    let web = places.root.join("web");
    if let Err(error) = run(Command::new("npm").arg("--version")) {
        count.passed += 1;
        return skip(skipped_file, "web", &format!("npm is lacking: {error:#}"));
    }
    run(Command::new("npm").args(["ci", "--no-audit", "--no-fund", "--silent"]).current_dir(&web))?;
    run(Command::new("npm").args(["run", "--silent", "build"]).current_dir(&web))?;
    run(Command::new("git")
        .args(["diff", "--exit-code", "--stat", "--", "web/dist"])
        .current_dir(&places.root))
    .context("web/dist is not what `npm run build` makes of web/src: build it and commit the result")?;
    count.passed += 1;
    let (reports, pictures) = (places.root.join("artefacts/reports"), places.root.join("artefacts/pictures"));
    for example in ["write_report", "write_history"] {
        run(places
            .cargo()
            .args(["run", "--quiet", "-p", "iolag-report", "--example", example, "--"])
            .arg(&reports))?;
    }
    let program = places.build("iolag", "iolag", Profile::Dev)?;
    let environment =
        [("IOLAG_REPORTS", &reports), ("IOLAG_ARTEFACTS", &pictures), ("IOLAG_PROGRAM", &program)];
    open_in_browser(&web, &environment, skipped_file, count)
}

fn open_in_browser(
    web: &Path,
    environment: &[(&str, &PathBuf)],
    skipped_file: &Path,
    count: &mut Count,
) -> Result<()> {
    let output = Command::new("npm")
        .args(["test", "--silent"])
        .current_dir(web)
        .envs(environment.iter().copied())
        .output()
        .context("starting `npm test`")?;
    let text = String::from_utf8_lossy(&output.stdout);
    for line in text.lines() {
        let line = line.trim_start_matches(['#', 'ℹ', ' ']);
        if let Some((test, why)) = line.strip_prefix("SKIPPED ").and_then(|line| line.split_once(": ")) {
            // Names of tests that are counted hold no space.
            skip(skipped_file, &format!("web::{}", test.replace(' ', "-")), why)?;
        } else if let Some(number) =
            line.strip_prefix("pass ").and_then(|number| number.parse::<usize>().ok())
        {
            count.passed += number;
        } else if let Some(number) =
            line.strip_prefix("fail ").and_then(|number| number.parse::<usize>().ok())
        {
            count.failed += number;
        }
    }
    if !output.status.success() {
        println!("{text}{}", String::from_utf8_lossy(&output.stderr));
    }
    ensure!(output.status.success(), "the page failed in the browser: see the messages above");
    Ok(())
}

fn skip(skipped_file: &Path, test: &str, why: &str) -> Result<()> {
    let mut file =
        OpenOptions::new().append(true).open(skipped_file).context("opening the list of skipped tests")?;
    writeln!(file, "SKIPPED {test}: {why}").context("writing the list of skipped tests")
}
