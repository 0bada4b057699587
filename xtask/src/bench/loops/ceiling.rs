//! What two clock reads and a store of 48 bytes cost a bare loop: the ceiling of any loop that records.
//!
//! Where a row is missed, iolag's own limit (the same number) is out of reach on this machine. The first row compares the
//! loop with itself: it shows whether the machine is quiet enough to judge a few percent.

use anyhow::Result;

use super::bare_loop::{BareLoop, Shape};
use crate::bench::setting::Setting;
use crate::machine;
use crate::pairs::{self, Requirement, TABLE_HEAD};

/// Measures it per operation and per call.
pub fn run(setting: &Setting<'_>) -> Result<()> {
    let bare = BareLoop::build(setting)?;
    let (shape, pairs, machine) = (Shape::of(setting.size), setting.size.pairs(), machine::description());
    println!("{TABLE_HEAD}");
    let time = || Ok(1e9 / bare.rate(shape, &[])?);
    let itself = pairs::measure(pairs, time, time)?;
    println!(
        "{}",
        itself.row("bare loop against itself", "ns/op", Some(Requirement::AtMost(1.03)), &machine)
    );
    let rows: [(&str, &[&str], f64); 2] = [
        ("bare loop with clock and store per operation", &["--clock", "--store"], 0.95),
        ("bare loop with clock and store per call", &["--calls", "--store"], 0.90),
    ];
    for (name, options, limit) in rows {
        let recorded = || bare.rate(shape, options);
        let comparison = pairs::measure(pairs, recorded, || bare.rate(shape, &[]))?;
        println!("{}", comparison.row(name, "op/s", Some(Requirement::AtLeast(limit)), &machine));
    }
    Ok(())
}
