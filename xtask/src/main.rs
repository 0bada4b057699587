//! Developers' automation: `cargo xtask test` checks everything, `cargo xtask bench` measures iolag against its rivals.
#![expect(clippy::print_stdout, reason = "this program talks to the developer at its terminal")]

mod arrows;
mod bench;
mod count;
mod install;
mod machine;
mod pairs;
mod places;
mod readers;
mod steps;
mod tidy;
mod web;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask test [--only STEP] [--no-install]
       cargo xtask bench [NAME] [--tiny]";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match words[..] {
        ["test", ref options @ ..] => steps::test(options),
        ["bench", ref options @ ..] => bench::bench(options),
        _ => Err(anyhow::anyhow!("{USAGE}\nsteps: {}\nbenchmarks: {}", steps::names(), bench::names())),
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            println!("{error:#}");
            ExitCode::FAILURE
        }
    }
}
