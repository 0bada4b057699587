//! How long the analysis of a year takes: ten series at one sample per minute, 5.2 million samples, on two processors.

use std::process::Command;

use anyhow::{Context, Result};

use super::setting::{Setting, Size};
use crate::machine;
use crate::pairs::{quantile, sorted};
use crate::places::output;

const RUNS: usize = 3;
const MOST_SECONDS: f64 = 30.0;
/// Where there are more, the analysis is bound to as many: the requirement is for two.
const PROCESSORS: &str = "0,1";

/// What the example prints: samples, seconds, changes, findings, MiB.
struct Run {
    samples: u64,
    seconds: f64,
    mebibytes: u64,
}

/// Runs it a few times; the median counts.
pub fn run(setting: &Setting<'_>) -> Result<()> {
    let program = setting.build_example("iolag-analysis", "history_cost")?;
    let (runs, days, period) = match setting.size {
        Size::Full => (RUNS, "365", "60"),
        Size::Tiny => (1, "3", "900"),
    };
    let measure = || -> Result<Run> {
        parse(&output(Command::new("taskset").args(["-c", PROCESSORS]).arg(&program).args([days, period]))?)
    };
    let measured = (0..runs).map(|_| measure()).collect::<Result<Vec<Run>>>()?;
    let seconds = sorted(measured.iter().map(|run| run.seconds));
    let median = quantile(&seconds, 0.5);
    let verdict = match setting.size {
        Size::Tiny => "not judged",
        Size::Full if seconds.iter().all(|seconds| *seconds < MOST_SECONDS) => "met",
        Size::Full => "missed",
    };
    let mebibytes = measured.iter().map(|run| run.mebibytes).max().unwrap_or(0);
    let samples = measured.first().map_or(0, |run| run.samples);
    println!(
        "| analysis of a history of {samples} samples, 2 processors | median {median:.1} s, longest {:.1} s, {mebibytes} MiB | \
         under {MOST_SECONDS} s | {verdict} | {runs} runs | {} |",
        seconds.last().copied().unwrap_or(median),
        machine::description()
    );
    Ok(())
}

fn parse(text: &str) -> Result<Run> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let [samples, seconds, _changes, _findings, mebibytes] = words[..] else {
        anyhow::bail!("history_cost printed {text:?}: expected five numbers");
    };
    Ok(Run {
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
        let run = parse("5256000 12.345 4 60 1500\n").unwrap();
        assert_eq!((run.samples, run.mebibytes), (5_256_000, 1500));
        assert!((run.seconds - 12.345).abs() < 1e-12);
        assert!(parse("5256000 12.345").is_err() && parse("a b c d e").is_err());
    }
}
