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
    run(command.args(options))?;
    Ok(ExitCode::SUCCESS)
}
