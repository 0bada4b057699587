//! Developers' automation: `cargo xtask test` checks everything, `cargo xtask bench` measures iolag against its rivals,
//! `cargo xtask calibrate` measures how often its intervals and findings are wrong.
#![expect(clippy::print_stdout, reason = "this program talks to the developer at its terminal")]

mod bench;
mod built;
mod calibrate;
mod features;
mod house;
mod install;
mod machine;
mod pairs;
mod places;
mod readers;
mod room;
mod servers;
mod steps;
pub mod suite;
mod testing;
mod web;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask test [NAME…] [--only STEP] [--no-install]
       cargo xtask types
       cargo xtask components postgres|s3|webdav|mongodb…
       cargo xtask bench [NAME] [--tiny]
       cargo xtask calibrate [ROW…] [--campaigns N] [--seed S] [--again] [--list] [--out docs/calibration.md]";

/// Does what the words after `cargo xtask` say.
pub fn run(words: &[&str]) -> ExitCode {
    let result = match *words {
        ["test", ref options @ ..] => steps::test(options),
        ["bench", ref options @ ..] => bench::bench(options),
        ["calibrate", ref options @ ..] => calibrate::calibrate(options),
        ["components", ref names @ ..] => servers::components(names),
        ["types"] => {
            places::Places::find().and_then(|places| web::write_types(&places)).map(|()| ExitCode::SUCCESS)
        }
        // For the tests' own use.
        ["guard", ref order @ ..] => suite::guard(order),
        ["readers"] => readers::read_everywhere(),
        _ => Err(anyhow::anyhow!("{USAGE}\nsteps: {}\nbenchmarks: {}", steps::names(), bench::names())),
    };
    result.unwrap_or_else(|error| {
        println!("{error:#}");
        ExitCode::FAILURE
    })
}
