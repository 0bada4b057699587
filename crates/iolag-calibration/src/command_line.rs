//! Does the command line say the same as the library, to eleven digits?
//!
//! The six series of a quiet campaign are written as CSV, imported into a new history and shown as JSON; every number of it must be
//! that of [`analyse_history`] of the same values.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use iolag_analysis::history::{HistoryInput, HistoryOptions, analyse_history};
use iolag_model::Nanoseconds;
use serde_json::Value;

use crate::measured::{Limit, Measured};
use crate::quiet::Quiet;
use crate::record::HOST;
use crate::seed::noise_of;

/// So many campaigns are enough to see whether digits are lost.
const CAMPAIGNS_MOST: usize = 20;
/// Fractions may differ by this share of them.
const DIGITS: f64 = 1e-11;
/// What is compared of each series, and of all together.
const OF_SERIES: [&str; 4] = ["/summary/by_attempt", "/changes", "/periodicity", "/summary/modes"];
const OF_ALL: [&str; 2] = ["/comparisons", "/correlations"];

/// How many campaigns the program at `program` tells as the library does.
pub fn measure(
    quiet: Quiet,
    program: &Path,
    name: &str,
    campaigns: usize,
    seed: u64,
) -> Result<Vec<Measured>> {
    let campaigns = campaigns.min(CAMPAIGNS_MOST);
    let scratch = Scratch::new()?;
    let mut equal = 0;
    for number in 0..campaigns {
        let mut input = quiet.input(&mut noise_of(name, number, seed));
        // Events are told apart by how they came in.
        input.events.clear();
        let expected = serde_json::to_string(&analyse_history(&input, &HistoryOptions::default()))?;
        let shown = shown(program, &input, &scratch.0)?;
        equal += usize::from(is_same(&serde_json::from_str(&expected)?, &shown));
    }
    Ok(vec![Measured::share("the same to eleven digits", equal, campaigns, Limit::AtLeast(1.0))])
}

fn is_same(expected: &Value, shown: &Value) -> bool {
    let at = |value: &Value, place: &str| value.pointer(place).cloned().unwrap_or_default();
    let of_all = OF_ALL.iter().all(|place| is_close(&at(expected, place), &at(shown, place)));
    let (left, right) = (&expected["series"], &shown["series"]);
    let count = left.as_array().map_or(0, Vec::len);
    let of_series = (0..count).all(|index| {
        OF_SERIES.iter().all(|place| is_close(&at(&left[index], place), &at(&right[index], place)))
    });
    of_all && of_series && count > 0 && right.as_array().map_or(0, Vec::len) == count
}

/// The same but for the last digits of fractions, which reading JSON rounds.
fn is_close(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_close(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let has_close =
                |(name, one): (&String, &Value)| other.get(name).is_some_and(|other| is_close(one, other));
            one.len() == other.len() && one.iter().all(has_close)
        }
        (Value::Number(one), Value::Number(other)) if one.is_f64() && other.is_f64() => {
            let (one, other) = (one.as_f64().unwrap_or(f64::NAN), other.as_f64().unwrap_or(f64::NAN));
            (one - other).abs() <= DIGITS * one.abs().max(other.abs())
        }
        _ => one == other,
    }
}

fn shown(program: &Path, input: &HistoryInput, scratch: &Path) -> Result<Value> {
    let [csv, history, json] = ["six.csv", "history.db", "shown.json"].map(|name| scratch.join(name));
    for old in [&history, &json] {
        if old.exists() {
            fs::remove_file(old).with_context(|| format!("removing {}", old.display()))?;
        }
    }
    fs::write(&csv, table(input)).with_context(|| format!("writing {}", csv.display()))?;
    let mut import = iolag(program, scratch);
    import.arg("import").arg(&csv).arg("--history").arg(&history);
    import.args(["--host", HOST, "--time", "when", "--time-format", "epoch-s"]);
    for (number, (series, _)) in input.series.iter().enumerate() {
        let (task, target) = (&series.key.task, &series.key.target);
        import.args(["--value", &format!("c{number}={task}@{target}[s]")]);
    }
    // The same for all. What reached it is written in whole microseconds.
    if let Some((series, _)) = input.series.iter().find(|(series, _)| series.deadline_ns > Nanoseconds::ZERO)
    {
        import.args(["--deadline", &format!("{}us", series.deadline_ns.0 / 1000)]);
    }
    // Else six digits are taken for a clock that counts microseconds.
    if let Some((series, _)) = input.series.first() {
        import.args(["--resolution", &format!("{}us", series.resolution_ns.0 / 1000)]);
    }
    finish(&mut import)?;
    let mut show = iolag(program, scratch);
    show.args(["show", "history", "--json"]).arg(&json).arg("--history").arg(&history);
    finish(&mut show)?;
    let text = fs::read_to_string(&json).with_context(|| format!("reading {}", json.display()))?;
    Ok(serde_json::from_str(&text)?)
}

/// A line a round, a column a series, in whole microseconds.
fn table(input: &HistoryInput) -> String {
    let mut text = String::from("when");
    for number in 0..input.series.len() {
        let _ = write!(text, ",c{number}");
    }
    let rounds = input.series.first().map_or(0, |(_, columns)| columns.len());
    for round in 0..rounds {
        let _ = write!(text, "\n{}", input.series[0].1.intended[round].0 / 1_000_000_000);
        for (_, columns) in &input.series {
            let _ = write!(text, ",{:.6}", columns.duration_ns[round].as_seconds());
        }
    }
    text.push('\n');
    text
}

/// The program, which finds none of the user's files.
pub(crate) fn iolag(program: &Path, scratch: &Path) -> Command {
    let mut command = Command::new(program);
    command.env("TZ", "UTC").env("HOME", scratch).stdin(Stdio::null());
    command
}

/// Waits for its end, which must be a good one.
pub(crate) fn finish(command: &mut Command) -> Result<()> {
    let output = command.output().with_context(|| format!("starting {}", command.get_program().display()))?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?}: {}: {}", output.status, complaint.trim());
    Ok(())
}

/// A directory that vanishes.
pub(crate) struct Scratch(pub(crate) PathBuf);

impl Scratch {
    pub(crate) fn new() -> Result<Self> {
        let path = std::env::temp_dir().join(format!("iolag-calibration-{}", std::process::id()));
        fs::create_dir_all(&path).with_context(|| format!("making {}", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed lies where temporary files lie.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_the_last_digits_of_fractions_may_differ() {
        assert!(is_close(&json!({ "a": [0.1, 5] }), &json!({ "a": [0.100_000_000_000_01, 5] })));
        assert!(!is_close(&json!({ "a": [0.1, 5] }), &json!({ "a": [0.100_000_01, 5] })));
        assert!(!is_close(&json!({ "a": 5 }), &json!({ "a": 6 })) && !is_close(&json!([1]), &json!([1, 2])));
        assert!(!is_close(&json!({ "a": 1 }), &json!({ "b": 1 })));
        assert!(!is_same(&json!({}), &json!({})), "nothing is no proof");
    }
}
