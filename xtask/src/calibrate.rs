//! `cargo xtask calibrate`: how often intervals and findings are wrong, by the program of the crate `iolag-calibration`.
//!
//! What was measured is kept, so that a calibration that was stopped goes on where it was: beside the page that is to be written, so that
//! it goes on at another machine too, or else in `calibration/ROWS.jsonl` of the target directory.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::Result;

use crate::built::Profile;
use crate::places::{Places, run};

/// Gives the words to the program, which knows them.
pub fn calibrate(options: &[&str]) -> Result<ExitCode> {
    let places = Places::find()?;
    let program = places.build("iolag-calibration", "iolag-calibration", Profile::Release)?;
    let mut command = Command::new(program);
    command.current_dir(&places.root).arg("--results").arg(results(options, &places.target));
    command.arg("--commit").arg(commit(&places.root));
    if needs_program(options) {
        command.arg("--iolag").arg(places.build("iolag", "iolag", Profile::Release)?);
    }
    run(command.args(options))?;
    Ok(ExitCode::SUCCESS)
}

/// Whether a row is named that asks the program itself, which takes long to build.
fn needs_program(options: &[&str]) -> bool {
    const ROWS: [&str; 2] = ["command-line/", "compare-real/"];
    let mut names = rows_named(options).peekable();
    let is_of_program = |name: &str| ROWS.iter().any(|row| row.starts_with(name) || name.starts_with(row));
    names.peek().is_none() || names.any(is_of_program)
}

/// Where rows are kept; relative to the root of the repository, as the page is.
fn results(options: &[&str], target: &Path) -> PathBuf {
    let page = options.iter().position(|option| *option == "--out").and_then(|place| options.get(place + 1));
    page.map_or_else(|| target.join("calibration/ROWS.jsonl"), |page| Path::new(page).with_extension("jsonl"))
}

/// The commit that is checked out, with `+` if there is work that is not committed; nothing where there is no git.
fn commit(root: &Path) -> String {
    let described = Command::new("git")
        .args(["describe", "--always", "--abbrev=7", "--exclude=*", "--dirty=+"])
        .current_dir(root)
        .output();
    let described = described.ok().filter(|described| described.status.success());
    described
        .map_or_else(String::new, |described| String::from_utf8_lossy(&described.stdout).trim().to_owned())
}

/// Words that are neither options nor their values.
fn rows_named<'a>(options: &'a [&'a str]) -> impl Iterator<Item = &'a str> {
    let before = std::iter::once("").chain(options.iter().copied());
    let named = before.zip(options).filter(|(before, word)| {
        let is_value = matches!(*before, "--campaigns" | "--seed" | "--out" | "--results" | "--commit");
        !is_value && !word.starts_with('-')
    });
    named.map(|(_, word)| *word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_told_from_values_of_options() {
        let options = ["--campaigns", "20", "quiet/storms", "--again", "--out", "page.md", "power"];
        assert_eq!(rows_named(&options).collect::<Vec<_>>(), ["quiet/storms", "power"]);
        assert_eq!(rows_named(&["--list"]).count(), 0);
    }

    #[test]
    fn the_program_is_built_for_rows_that_ask_it() {
        for rows in [&[][..], &["command"], &["compare-real/equal"], &["power", "compare"]] {
            assert!(needs_program(rows), "{rows:?}");
        }
        assert!(!needs_program(&["compare/equal"]) && !needs_program(&["--campaigns", "20", "quiet"]));
    }

    #[test]
    fn rows_of_a_page_are_kept_beside_it() {
        let target = Path::new("target");
        let kept = results(&["power", "--out", "docs/calibration.md"], target);
        assert_eq!(kept, Path::new("docs/calibration.jsonl"));
        for options in [&["power"][..], &["--out"]] {
            assert_eq!(results(options, target), Path::new("target/calibration/ROWS.jsonl"));
        }
    }
}
