//! How long it takes to read the values of two hundred stored runs, as a comparison does: from the store to a rate, a median and a p95 of
//! each operation.
//!
//! The runs are made once, by the program, as a user makes them who only names a target (in memory, so that making them takes minutes), and
//! kept in the cache. The files stay in the page cache; each measurement is a process of its own.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::setting::{Setting, Size};
use crate::machine;
use crate::pairs::{quantile, sorted};
use crate::places::output;

const MOST_S: f64 = 2.0;
/// By medians benches are compared unless the user says otherwise.
const QUANTITIES: [&str; 2] = ["median", "rate,median,p95,over:100ms"];

/// Reads them with the quantities that are usual, and with all.
pub fn run(setting: &Setting<'_>) -> Result<()> {
    let program = setting.build_example("iolag", "values_cost")?;
    let (runs, times) = match setting.size {
        Size::Full => (200, 10),
        Size::Tiny => (3, 1),
    };
    let store = stored(setting, runs)?;
    for quantities in QUANTITIES {
        let read = || parse(&output(Command::new(&program).arg(&store).arg(quantities))?);
        let measured = (0..times).map(|_| read()).collect::<Result<Vec<_>>>()?;
        ensure!(measured.iter().all(|one| one.runs == runs), "not all of {runs} runs were read");
        let seconds = sorted(measured.iter().map(|one| one.seconds));
        let (median, longest) = (quantile(&seconds, 0.5), quantile(&seconds, 1.0));
        let mebibytes = measured.iter().map(|one| one.mebibytes).max().unwrap_or(0);
        let verdict = match setting.size {
            Size::Tiny => "not judged",
            Size::Full if longest < MOST_S => "met",
            Size::Full => "missed",
        };
        println!(
            "| {quantities} of {runs} stored runs of {} samples | median {median:.2} s, longest {longest:.2} s of {times}, {mebibytes} MiB | \
             under {MOST_S} s | {verdict} | {} |",
            measured[0].samples,
            machine::description()
        );
    }
    Ok(())
}

/// The store with so many runs, made if it is not in the cache. A half-made one is made again.
fn stored(setting: &Setting<'_>, runs: usize) -> Result<PathBuf> {
    let store = setting.places.cache.join(format!("compare-{runs}"));
    if !store.exists() {
        let unfinished = setting.places.cache.join(format!("compare-{runs}-unfinished"));
        if unfinished.exists() {
            std::fs::remove_dir_all(&unfinished)
                .with_context(|| format!("removing {}", unfinished.display()))?;
        }
        let iolag = setting.places.build("iolag", "iolag", setting.size.optimised())?;
        let mut command = Command::new(iolag);
        command.args(["bench", "metadata", "memory:", "--quiet", "--repeat", &runs.to_string()]);
        if setting.size == Size::Tiny {
            command.args(["-D", "1", "-P", "20", "-I", "20"]);
        }
        command.arg("--store").arg(&unfinished).stdin(Stdio::null());
        output(&mut command)?;
        std::fs::rename(&unfinished, &store).with_context(|| format!("naming {}", store.display()))?;
    }
    Ok(store)
}

/// What one process measured.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Measured {
    runs: usize,
    samples: u64,
    seconds: f64,
    mebibytes: u64,
}

/// The example prints runs, samples, seconds and MiB.
fn parse(text: &str) -> Result<Measured> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let [runs, samples, seconds, mebibytes] = words[..] else {
        anyhow::bail!("values_cost printed {text:?}: expected four numbers");
    };
    Ok(Measured {
        runs: runs.parse().context("runs")?,
        samples: samples.parse().context("samples")?,
        seconds: seconds.parse().context("seconds")?,
        mebibytes: mebibytes.parse().context("MiB")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_example_prints_is_read() {
        let measured = Measured { runs: 200, samples: 36_000_000, seconds: 1.25, mebibytes: 90 };
        assert_eq!(parse("200 36000000 1.25 90\n").unwrap(), measured);
        assert!(parse("200 36000000 1.25").is_err() && parse("a b c d").is_err());
    }
}
