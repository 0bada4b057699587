//! What iolag's loop costs above a bare loop that reads the clock as often and stores as much, alternated within one process.
//!
//! Two processes differ by some percent on a shared machine, whatever they do: 25 ns of 4000 are less than that. Within one
//! process both sides share its moment; but where in memory it has its names and buffers makes some percent, too. So a process with its
//! 25 pairs is one value, by the medians of its sides, and the interval is that between processes. The first row, the bare loop
//! against itself, says how much that is.

use std::process::Command;

use anyhow::{Context, Result};

use crate::bench::setting::{Setting, Size};
use crate::machine;
use crate::pairs::{self, Comparison, Requirement, TABLE_HEAD};
use crate::places::output;

/// Above the bare loop with clock and store: at most so much per operation.
const OVERHEAD_NS_MAX: f64 = 25.0;

/// Four rows, of which one is judged.
pub fn run(setting: &Setting<'_>) -> Result<()> {
    let program = setting.build_example("iolag", "loop_cost")?;
    let (objects, pairs, processes) = match setting.size {
        Size::Full => ("500", "25", 16),
        Size::Tiny => ("5", "2", 1),
    };
    let measure = |rival: &str, allowed_ns: f64| -> Result<Comparison> {
        let process = || -> Result<(f64, f64)> {
            let text = output(Command::new(&program).args([objects, pairs, rival]))?;
            let pairs = text.lines().map(pair_in).collect::<Result<Vec<_>>>()?;
            let comparison = pairs::compare(&pairs)?;
            Ok((comparison.first.median, comparison.second.median + allowed_ns))
        };
        pairs::compare(&(0..processes).map(|_| process()).collect::<Result<Vec<_>>>()?)
    };
    let machine = machine::description();
    println!("{TABLE_HEAD}");
    let itself = measure("itself", 0.0)?;
    println!("{}", itself.row("bare loop against itself, within one process", "ns/op", None, &machine));
    let overhead = measure("clock", OVERHEAD_NS_MAX)?;
    let name =
        "metadata loop, 1 client, against a bare loop with clock and store plus 25 ns, within one process";
    println!("{}", overhead.row(name, "ns/op", Some(Requirement::AtMost(1.0)), &machine));
    let blind = measure("blind", 0.0)?;
    let name = "metadata loop, 1 client, against a bare loop without either, within one process";
    println!("{}", blind.row(name, "ns/op", None, &machine));
    let ceiling = measure("ceiling", 0.0)?;
    let name = "bare loop with clock and store against one without, within one process";
    println!("{}", ceiling.row(name, "ns/op", None, &machine));
    Ok(())
}

fn pair_in(line: &str) -> Result<(f64, f64)> {
    let (ours, bare) = line.split_once(' ').with_context(|| format!("loop_cost printed {line:?}"))?;
    Ok((ours.parse()?, bare.parse()?))
}
