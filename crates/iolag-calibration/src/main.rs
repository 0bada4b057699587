//! `cargo xtask calibrate`: measures rows, prints them, and writes docs/calibration.md from them.
#![expect(clippy::print_stdout, reason = "this program talks to the developer at its terminal")]

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail, ensure};
use iolag_calibration::results::Results;
use iolag_calibration::{Done, Row, page, rows};

const USAGE: &str = "\
usage: cargo xtask calibrate [ROW…] [--campaigns N] [--seed S] [--again] [--list] [--out FILE]
  ROW          part of a row's name, as in quiet/storms or storms; all rows without any
  --campaigns  records a row (1000)
  --seed       of the noise (2026)
  --again      measure also what was measured before
  --list       name the rows
  --out        write the page from all rows that were ever measured, as in docs/calibration.md; they are kept beside it";

#[derive(Debug, PartialEq, Eq)]
struct Order {
    wanted: Vec<String>,
    campaigns: usize,
    seed: u64,
    repeats: Repeats,
    out: Option<PathBuf>,
    results: PathBuf,
    /// The commit that this program was built from; empty if it was not told.
    commit: String,
    /// iolag itself.
    program: Option<PathBuf>,
}

/// What becomes of rows that were measured before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Repeats {
    Kept,
    Again,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[String]) -> Result<()> {
    if words.iter().any(|word| word == "--list") {
        rows().iter().for_each(|row| println!("{}", row.name));
        return Ok(());
    }
    let order = order(words)?;
    let all = rows();
    let is_wanted =
        |row: &&Row| order.wanted.is_empty() || order.wanted.iter().any(|part| is_named(&row.name, part));
    let wanted: Vec<&Row> = all.iter().filter(is_wanted).collect();
    ensure!(!wanted.is_empty(), "no row is called like that: `--list` names them");
    let mut results = Results::open(&order.results)?;
    let mut failures = 0;
    for row in wanted {
        let known = results.find(row, order.campaigns, order.seed).filter(|_| order.repeats == Repeats::Kept);
        let done = match known {
            Some(done) => done.clone(),
            None => {
                let done =
                    row.measure(order.campaigns, order.seed, &order.commit, order.program.as_deref())?;
                results.add(done.clone())?;
                done
            }
        };
        show(&done);
        failures += done.failures().count();
    }
    println!("\n{failures} limits are not kept");
    if let Some(path) = &order.out {
        let done: Vec<&Done> = all.iter().filter_map(|row| results.last(row)).collect();
        std::fs::write(path, page::page(&done)).with_context(|| format!("writing {}", path.display()))?;
        println!("{} rows are in {}", done.len(), path.display());
    }
    Ok(())
}

/// Names are cut at slashes only: `runs` is not `modes-in-runs`.
fn is_named(row: &str, part: &str) -> bool {
    row.starts_with(part) || row.contains(&format!("/{part}"))
}

fn show(done: &Done) {
    println!("\n{} ({} campaigns, {:.1} s)", done.row, done.campaigns, done.seconds);
    for one in &done.measured {
        println!("  {}: {}", one.name, one.in_words());
    }
}

fn order(words: &[String]) -> Result<Order> {
    let mut order = Order {
        wanted: Vec::new(),
        campaigns: 1000,
        seed: 2026,
        repeats: Repeats::Kept,
        out: None,
        results: PathBuf::from("target/calibration/ROWS.jsonl"),
        commit: String::new(),
        program: None,
    };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().with_context(|| format!("{word} needs a value\n{USAGE}"));
        match word.as_str() {
            "--campaigns" => order.campaigns = value()?.parse().context("--campaigns needs a number")?,
            "--seed" => order.seed = value()?.parse().context("--seed needs a number")?,
            "--out" => order.out = Some(value()?.into()),
            "--results" => order.results = value()?.into(),
            "--commit" => order.commit.clone_from(value()?),
            "--iolag" => order.program = Some(value()?.into()),
            "--again" => order.repeats = Repeats::Again,
            name if !name.starts_with('-') => order.wanted.push(name.to_owned()),
            _ => bail!("unexpected {word:?}\n{USAGE}"),
        }
    }
    ensure!(order.campaigns > 0, "--campaigns needs a number above 0");
    Ok(order)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ordered(text: &str) -> Result<Order> {
        order(&text.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn a_row_is_named_by_its_parts() {
        assert!(is_named("quiet/storms/672", "quiet/st") && is_named("quiet/storms/672", "storms"));
        assert!(!is_named("quiet/modes-in-runs/672", "runs"));
    }

    #[test]
    fn words_are_read_and_mistyped_ones_named() {
        let order = ordered("quiet/storms --campaigns 100 --seed 7 --again --out page.md").unwrap();
        assert_eq!((order.wanted, order.campaigns, order.seed), (vec!["quiet/storms".to_owned()], 100, 7));
        assert_eq!((order.repeats, order.out), (Repeats::Again, Some(PathBuf::from("page.md"))));
        assert!(ordered("--campaign 5").unwrap_err().to_string().starts_with("unexpected \"--campaign\""));
        assert!(ordered("--campaigns").is_err() && ordered("--campaigns 0").is_err());
    }
}
