//! A tree that is read by iolag, every name and file recorded: names a second against `find -printf`, and how fast files are summed against a bare
//! loop of the same calls and the same checksum, in memory.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::bench::setting::{Scratch, Setting, Size};
use crate::machine;
use crate::pairs::{self, Requirement, TABLE_HEAD};
use crate::places::output;

/// Directories, files in each.
const NAMES: (usize, usize) = (200, 500);
/// Files to sum, MiB of each.
const SUMMED: (usize, usize) = (64, 16);

/// Makes both trees in memory and reads them.
pub fn run(setting: &Setting<'_>) -> Result<()> {
    let iolag = setting.places.build("iolag", "iolag", setting.size.shipped())?;
    let bare = setting.build_example("iolag-backend", "sum_cost")?;
    let scratch = setting.scratch("tree")?;
    let place = Scratch::new(Path::new("/dev/shm"), "iolag-trees")?;
    let (names, summed) = (place.path().join("names"), place.path().join("summed"));
    let is_tiny = setting.size == Size::Tiny;
    let (names_of, summed_of) = if is_tiny { ((2, 5), (2, 1)) } else { (NAMES, SUMMED) };
    make(&names, names_of, 0)?;
    make(&summed, (1, summed_of.0), summed_of.1 << 20)?;
    println!("{TABLE_HEAD}");
    let required = |least| (!is_tiny).then_some(Requirement::AtLeast(least));
    let machine = machine::description();
    let listed = pairs::measure(
        setting.size.pairs(),
        || names_per_s(&told(&iolag, &names, "stat", scratch.path())?),
        || found_per_s(&names),
    )?;
    println!(
        "{}",
        listed.row("tree: names listed and asked for, against find -printf", "1/s", required(1.0), &machine)
    );
    let speed = pairs::measure(
        setting.size.pairs(),
        || summed_mb_per_s(&told(&iolag, &summed, "sum", scratch.path())?),
        || Ok(output(Command::new(&bare).arg(&summed))?.trim().parse::<f64>()? / 1e6),
    )?;
    println!("{}", speed.row("tree: files summed, against a bare loop", "MB/s", required(0.9), &machine));
    Ok(())
}

fn make(root: &Path, (directories, files): (usize, usize), bytes: usize) -> Result<()> {
    let content: Vec<u8> = (0..bytes).map(|index| (index * 7 + index / 251) as u8).collect();
    for directory in 0..directories {
        let directory = root.join(format!("directory-{directory}"));
        std::fs::create_dir_all(&directory)?;
        for file in 0..files {
            std::fs::write(directory.join(format!("file-{file}")), &content)?;
        }
    }
    Ok(())
}

fn told(iolag: &Path, tree: &Path, phase: &str, scratch: &Path) -> Result<Value> {
    let (store, json) = (scratch.join("store"), scratch.join("told.json"));
    let mut command = Command::new(iolag);
    command.args(["bench", "tree", "--quiet", "--phases", phase]).arg(tree);
    command.arg("--store").arg(&store).arg("--json").arg(&json);
    output(&mut command)?;
    std::fs::remove_dir_all(&store).with_context(|| format!("removing {}", store.display()))?;
    Ok(serde_json::from_str(&std::fs::read_to_string(&json)?)?)
}

/// Of the walk and of asking for attributes, which `find` does in one.
fn names_per_s(told: &Value) -> Result<f64> {
    let names = told["tree"]["stages"][0]["names"].as_f64().context("iolag's JSON tells no names")?;
    Ok(names / (number(told, "walk", "time_ns")? + number(told, "stat", "time_ns")?) * 1e9)
}

fn found_per_s(tree: &Path) -> Result<f64> {
    let mut command = Command::new("find");
    command.arg(tree).args(["-printf", "%s %T@ %p\\n"]).stdin(Stdio::null()).stdout(Stdio::piped());
    let start = Instant::now();
    let said = command.output().context("starting find")?;
    let elapsed_s = start.elapsed().as_secs_f64();
    ensure!(said.status.success(), "find failed: {}", said.status);
    Ok(said.stdout.iter().filter(|byte| **byte == b'\n').count() as f64 / elapsed_s)
}

fn summed_mb_per_s(told: &Value) -> Result<f64> {
    Ok(number(told, "sum", "bytes")? / number(told, "sum", "time_ns")? * 1e9 / 1e6)
}

fn number(told: &Value, phase: &str, name: &str) -> Result<f64> {
    let phases = told["phases"].as_array().context("iolag's JSON has no phases")?;
    let of_phase = phases.iter().find(|one| one["phase"] == phase).and_then(|one| one[name].as_f64());
    of_phase.with_context(|| format!("iolag's JSON has no {name} of {phase}"))
}
