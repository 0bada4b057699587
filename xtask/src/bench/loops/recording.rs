//! What recording a sample costs: loop, slot and ring around an operation that does nothing, against two readings of the
//! clock plus 30 ns.

use std::process::Command;

use anyhow::{Context, Result};

use crate::bench::setting::{Setting, Size};
use crate::machine;
use crate::pairs::{self, Requirement, TABLE_HEAD};
use crate::places::output;

const RECORDING_NS_MAX: f64 = 30.0;

/// Each pair is one process, which measures both in turn for 2 s: they share its fate.
pub fn run(setting: &Setting<'_>) -> Result<()> {
    let program = setting.build_example("iolag", "recording_cost")?;
    let seconds = match setting.size {
        Size::Full => "2",
        Size::Tiny => "0",
    };
    let measure = || -> Result<(f64, f64)> {
        let text = output(Command::new(&program).arg(seconds))?;
        let (clock, sample) =
            text.trim().split_once(' ').with_context(|| format!("recording_cost printed {text:?}"))?;
        Ok((sample.parse()?, 2.0 * clock.parse::<f64>()? + RECORDING_NS_MAX))
    };
    let values = (0..setting.size.pairs()).map(|_| measure()).collect::<Result<Vec<_>>>()?;
    println!("{TABLE_HEAD}");
    let name = "recording one sample, against two clock readings plus 30 ns";
    let row =
        pairs::compare(&values)?.row(name, "ns", Some(Requirement::AtMost(1.0)), &machine::description());
    println!("{row}");
    Ok(())
}
