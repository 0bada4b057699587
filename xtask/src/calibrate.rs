//! `cargo xtask calibrate`: how often intervals and findings are wrong, by the program of the crate `iolag-calibration`.
//!
//! What was measured is kept in `calibration/ROWS.jsonl` of the target directory, so that a calibration that was stopped goes on
//! where it was.

use std::process::{Command, ExitCode};

use anyhow::Result;

use crate::places::{Places, Profile, run};

/// Gives the words to the program, which knows them.
pub fn calibrate(options: &[&str]) -> Result<ExitCode> {
    let places = Places::find()?;
    let program = places.build("iolag-calibration", "iolag-calibration", Profile::Release)?;
    let mut command = Command::new(program);
    command.current_dir(&places.root).arg("--results").arg(places.target.join("calibration/ROWS.jsonl"));
    // Only rows of the command line need the program, which takes long to build.
    let mut names = rows_named(options).peekable();
    if names.peek().is_none() || names.any(|name| name.starts_with("command")) {
        command.arg("--iolag").arg(places.build("iolag", "iolag", Profile::Release)?);
    }
    run(command.args(options))?;
    Ok(ExitCode::SUCCESS)
}

/// Words that are neither options nor their values.
fn rows_named<'a>(options: &'a [&'a str]) -> impl Iterator<Item = &'a str> {
    let before = std::iter::once("").chain(options.iter().copied());
    let named = before.zip(options).filter(|(before, word)| {
        let is_value = matches!(*before, "--campaigns" | "--seed" | "--out" | "--results");
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
}
