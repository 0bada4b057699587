//! A replay as fast as it goes, every call recorded, against a bare loop of the same system calls that reads no clock and records nothing.
//!
//! One copy of a program that is made up: about six look-ups to an open, most in vain. iolag's time is what it tells of its copy, from the start of the first call to the
//! end of the last; reading the trace, the look for all paths before, and storing are in neither side.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::bare_loop;
use crate::bench::setting::{Scratch, Setting, Size};
use crate::machine;
use crate::pairs::{self, Requirement, TABLE_HEAD};
use crate::places::output;

/// In parts of the bare loop's rate.
const LEAST: f64 = 0.90;

/// Makes program and files in memory, and repeats it there.
pub fn run(setting: &Setting<'_>) -> Result<()> {
    let bare = setting.places.build("xtask", "bare_replay", setting.size.optimised())?;
    let iolag = setting.places.build("iolag", "iolag", setting.size.shipped())?;
    let scratch = setting.scratch("replay")?;
    let place = Scratch::new(Path::new("/dev/shm"), "iolag-replay")?;
    // About 130 000 calls, each side's passes together at least 2 s.
    let (files, passes) = match setting.size {
        Size::Full => (10_800_usize, 8_usize),
        Size::Tiny => (20, 2),
    };
    let [files, times] = [files, passes].map(|number| number.to_string());
    let text = output(Command::new(&bare).arg("make").arg(place.path()).arg(&files))?;
    let calls = text.lines().count() as u64;
    let (strace, trace) = (scratch.path().join("program.strace"), scratch.path().join("program.iolag"));
    std::fs::write(&strace, text)?;
    output(Command::new(&iolag).args(["trace", "--quiet", "-o"]).arg(&trace).arg("--from").arg(&strace))?;
    println!("{TABLE_HEAD}");
    let compared = pairs::measure(
        setting.size.pairs(),
        || rate_of_copies(&replayed(&iolag, &trace, place.path(), scratch.path(), &times)?, calls, passes),
        || {
            bare_loop::rate_in(&output(
                Command::new(&bare).arg("ask").arg(place.path()).args([&files, &times]),
            )?)
        },
    )?;
    let required = (setting.size == Size::Full).then_some(Requirement::AtLeast(LEAST));
    let name = format!("replay of {calls} calls, 1 copy");
    println!("{}", compared.row(&name, "calls/s", required, &machine::description()));
    Ok(())
}

/// What iolag tells of so many copies, one after the other.
fn replayed(iolag: &Path, trace: &Path, target: &Path, scratch: &Path, times: &str) -> Result<Value> {
    let (store, json) = (scratch.join("store"), scratch.join("told.json"));
    let mut command = Command::new(iolag);
    command.args(["replay", "--quiet", "--copies", "1", "--repeat", times]).arg(trace);
    command.arg("--map").arg(format!("/site={}", target.display()));
    command.arg("--store").arg(&store).arg("--json").arg(&json);
    output(&mut command)?;
    std::fs::remove_dir_all(&store).with_context(|| format!("removing {}", store.display()))?;
    Ok(serde_json::from_str(&std::fs::read_to_string(&json)?)?)
}

/// Calls a second; a call that came back otherwise, or that was left out, is none of the bare loop's.
fn rate_of_copies(told: &Value, calls: u64, passes: usize) -> Result<f64> {
    let documents = told.as_array().context("iolag's JSON is no list of runs")?;
    // Beside them stands what they come to together.
    let runs: Vec<&Value> = documents.iter().filter(|document| document["kind"] == "replay").collect();
    ensure!(runs.len() == passes, "{} runs were made, and not {passes}", runs.len());
    let mut time_ns = 0;
    for run in runs {
        let agreement = &run["agreement"];
        let is_whole = ["calls", "agreed"].iter().all(|number| agreement[number] == calls);
        ensure!(is_whole, "of {calls} calls these were made: {agreement}");
        time_ns += run["copies"][0]["time_ns"].as_u64().context("iolag's JSON has no time of a copy")?;
    }
    Ok(calls as f64 * passes as f64 / (time_ns as f64 / 1e9))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_copies_that_made_all_calls_of_the_trace_have_a_rate() {
        let run = |calls: u64, agreed: u64| json!({ "kind": "replay", "agreement": { "calls": calls, "agreed": agreed }, "copies": [{ "time_ns": 1_000 }] });
        let rate = |runs: &[Value], passes| rate_of_copies(&json!(runs), 10, passes);
        assert_eq!(rate(&[run(10, 10), run(10, 10)], 2).unwrap(), 1e7);
        assert!(rate(&[run(10, 10)], 2).is_err(), "a run is missing");
        assert!(rate(&[run(10, 9)], 1).is_err(), "a call disagrees");
        assert!(rate(&[run(9, 9)], 1).is_err(), "a call is left out");
    }
}
