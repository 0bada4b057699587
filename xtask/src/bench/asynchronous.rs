//! Thousands of asynchronous clients that think a second, against a bare program with the same requests, library and timers and no
//! recording: how late they start, and what a request takes of the processors.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::setting::{Setting, Size};
use crate::machine;
use crate::pairs::{self, Requirement, TABLE_HEAD};
use crate::places::output;

/// A pair takes 45 s; twelve give an interval from the third to the tenth ratio.
const PAIRS: usize = 12;
const MOST: f64 = 1.10;
/// Missed only if the whole interval lies above.
const TAIL_MOST: f64 = 1.5;

/// What one side tells: median and 99th percentile of the lag and the time on the processor of a request, in µs.
type Told = [f64; 3];

/// Measures both sides in turn.
pub fn run(setting: &Setting<'_>) -> Result<()> {
    let example = setting.build_example("iolag", "asynchronous_cost")?;
    let (pairs, clients, seconds) = match setting.size {
        Size::Full => (PAIRS, "5000", "20"),
        Size::Tiny => (1, "50", "3"),
    };
    let side = |name| told(&example, [name, clients, seconds]);
    let mut told: Vec<(Told, Told)> = Vec::with_capacity(pairs);
    pairs::alternate(&mut told, pairs, || side("iolag"), || side("bare"))?;
    println!("{TABLE_HEAD}");
    let rows = [
        ("median lag", MOST),
        ("99th percentile of the lag", TAIL_MOST),
        ("processor time of a request", MOST),
    ];
    for (index, (name, most)) in rows.into_iter().enumerate() {
        let values: Vec<(f64, f64)> = told.iter().map(|(ours, bare)| (ours[index], bare[index])).collect();
        let required = (setting.size == Size::Full).then_some(Requirement::AtMost(most));
        let name = format!("{clients} asynchronous clients that think 1 s: {name}");
        println!("{}", pairs::compare(&values)?.row(&name, "µs", required, &machine::description()));
    }
    Ok(())
}

fn told(example: &Path, arguments: [&str; 3]) -> Result<Told> {
    let text = output(Command::new(example).args(arguments))?;
    let values = text.split_whitespace().map(str::parse).collect::<Result<Vec<f64>, _>>();
    let values = values.with_context(|| format!("reading {text:?}"))?;
    ensure!(values.len() == 3, "three numbers were expected, not {text:?}");
    Ok([values[0] / 1e3, values[1] / 1e3, values[2] / 1e3])
}
