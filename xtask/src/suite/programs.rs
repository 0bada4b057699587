//! The tests in a program with the standard harness.

use std::process::Command;

use anyhow::Result;

use super::case::{Case, Launch};
use crate::built::Executable;
use crate::places::output;

/// The tests in a program, which is called `package::target`.
pub fn cases(program: &Executable) -> Result<Vec<Case>> {
    let package = program.package.file_name().unwrap_or_default().to_string_lossy();
    let name = format!("{package}::{}", program.name);
    let mut list = Command::new(&program.path);
    list.args(["--list", "--format", "terse"]).current_dir(&program.package);
    let listing = output(&mut list)?;
    let tests = listing.lines().filter_map(|line| line.strip_suffix(": test"));
    Ok(tests.map(|test| Case::new(&name, test, launch(program, test))).collect())
}

fn launch(program: &Executable, test: &str) -> Launch {
    Launch {
        program: program.path.clone(),
        // Without capture, so that what a test said is there when it had to be ended.
        arguments: [test, "--exact", "--nocapture"].map(Into::into).to_vec(),
        directory: program.package.clone(),
        environment: vec![
            ("CARGO_MANIFEST_DIR", program.package.clone().into()),
            // The harness names a test's thread after it only if it may run several at once.
            ("RUST_TEST_THREADS", "2".into()),
        ],
        proof: Some("test result: ok. 1 passed"),
    }
}
