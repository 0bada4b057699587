//! iolag's metadata loop against md-workbench, the tool that it replaces: the same shape on the same tmpfs, one process.
//!
//! md-workbench is in no package: its binary is named by `--rival PATH` or in the environment as IOLAG_MD_WORKBENCH, and
//! the benchmark is left out where neither is there. It was linked with MPI and is started as a single rank.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::bare_loop::{BareLoop, Shape};
use super::iolag_loop::{Detail, IolagLoop};
use crate::bench::setting::Setting;
use crate::machine;
use crate::pairs::{self, Requirement, TABLE_HEAD};
use crate::places::output;

const VARIABLE: &str = "IOLAG_MD_WORKBENCH";

/// Rates of the benchmark phase, one client against one rank.
pub fn run(setting: &Setting<'_>) -> Result<()> {
    let rival = setting.rival.clone().or_else(|| std::env::var_os(VARIABLE).map(PathBuf::from));
    let Some(rival) = rival else {
        println!("md-workbench is left out: name its binary with --rival PATH or {VARIABLE}");
        return Ok(());
    };
    let (bare, iolag) = (BareLoop::build(setting)?, IolagLoop::build(setting)?);
    let shape = Shape::of(setting.size);
    let iterations = IolagLoop::iterations(shape, bare.rate(shape, &[])?);
    let scratch = setting.scratch("md-workbench")?;
    let ours = || iolag.rate(bare.directory(), shape, 1, iterations, Detail::Operations);
    let theirs = || rate(&rival, scratch.path(), bare.directory(), shape, iterations);
    let comparison = pairs::measure(setting.size.pairs(), ours, theirs)?;
    println!("{TABLE_HEAD}");
    let (name, limit) = ("metadata loop, 1 client, against md-workbench, 1 rank", Requirement::AtLeast(1.05));
    println!("{}", comparison.row(name, "op/s", Some(limit), &machine::description()));
    Ok(())
}

/// Runs it once; returns operations per second of the benchmark phase, over all iterations.
fn rate(program: &Path, scratch: &Path, directory: &Path, shape: Shape, iterations: u64) -> Result<f64> {
    let place = directory.join(format!("md-workbench-{}", std::process::id()));
    let mut command = Command::new(program);
    // It leaves a status file in its current directory.
    command.current_dir(scratch).args(["-i=posix", "-O=1"]);
    command.arg(format!("-D={}", shape.datasets)).arg(format!("-P={}", shape.precreated));
    command.arg(format!("-I={}", shape.objects)).arg(format!("-S={}", shape.object_bytes));
    command.arg(format!("-R={iterations}")).arg("--").arg(format!("-D={}", place.display()));
    rate_in(&output(&mut command)?, iterations)
}

/// Of lines such as `benchmark process max:0.25s … rate:160136.4 iops/s objects:10000 …`: the times are printed with two
/// decimals only, so they are computed back from rates.
fn rate_in(text: &str, iterations: u64) -> Result<f64> {
    let (mut operations, mut seconds, mut found) = (0.0, 0.0, 0);
    for line in text.lines().filter(|line| line.starts_with("benchmark process")) {
        ensure!(line.contains("(0 errs)"), "md-workbench failed in some operations: {line}");
        let rate = number_behind(line, "rate:")?;
        let done = 4.0 * number_behind(line, "objects:")?;
        operations += done;
        seconds += done / rate;
        found += 1;
    }
    ensure!(found == iterations, "md-workbench reported {found} iterations of {iterations}: {text}");
    Ok(operations / seconds)
}

fn number_behind(line: &str, name: &str) -> Result<f64> {
    let (_, rest) = line.split_once(name).with_context(|| format!("there is no {name} in {line:?}"))?;
    let number = rest.split(' ').next().unwrap_or_default();
    number.parse().with_context(|| format!("{name} is followed by {number:?} in {line:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iterations_are_weighted_by_their_time() {
        let line = |rate: f64| {
            format!(
                "benchmark process max:0.25s min:0.2s rate:{rate:.1} iops/s objects:1000 rate:9.9 obj/s (0 errs)\n"
            )
        };
        let text = format!("precreate process rate:1.0 iops/s\n{}{}", line(1000.0), line(2000.0));
        // 4000 operations in 4 s, 4000 in 2 s.
        assert!((rate_in(&text, 2).unwrap() - 8000.0 / 6.0).abs() < 1e-6);
        assert!(rate_in(&text, 3).is_err());
        assert!(rate_in(&text.replace("(0 errs)", "(1 errs!!!)"), 2).is_err());
    }
}
