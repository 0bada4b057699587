//! iolag's metadata loop, every operation recorded, against a bare loop of the same system calls that reads no clock and
//! records nothing; and what it costs above a bare loop that reads the clock as often and stores as much.

use anyhow::Result;

use super::bare_loop::{BareLoop, Shape};
use super::iolag_loop::{Detail, IolagLoop};
use super::setting::Setting;
use crate::machine;
use crate::pairs::{self, Requirement, TABLE_HEAD};

/// Above the bare loop with clock and store: at most so much per operation.
const OVERHEAD_NS_MAX: f64 = 25.0;

/// One client, by operations and by calls, and two clients on two processors against two loops.
pub fn run(setting: &Setting<'_>) -> Result<()> {
    let (bare, iolag, machine) =
        (BareLoop::build(setting)?, IolagLoop::build(setting)?, machine::description());
    let pairs = setting.size.pairs();
    println!("{TABLE_HEAD}");
    let shape = Shape::of(setting.size);
    let iterations = IolagLoop::iterations(shape, bare.rate(shape, &[])?);
    let rows = [
        ("metadata loop, 1 client", Detail::Operations, 0.95),
        ("metadata loop, 1 client, --detail calls", Detail::Calls, 0.90),
    ];
    for (name, detail, limit) in rows {
        let ours = || iolag.rate(bare.directory(), shape, 1, iterations, detail);
        let comparison = pairs::measure(pairs, ours, || bare.rate(shape, &[]))?;
        println!("{}", comparison.row(name, "op/s", Some(Requirement::AtLeast(limit)), &machine));
    }
    let shape = Shape::of_company(setting.size);
    let iterations = IolagLoop::iterations(shape, bare.rate_together(shape, 2)? / 2.0);
    let ours = || iolag.rate(bare.directory(), shape, 2, iterations, Detail::Operations);
    let comparison = pairs::measure(pairs, ours, || bare.rate_together(shape, 2))?;
    let name = "metadata loop, 2 clients, against 2 bare loops";
    println!("{}", comparison.row(name, "op/s", Some(Requirement::AtLeast(0.93)), &machine));
    Ok(())
}

/// Time per operation, against that of the bare loop with clock and store plus what iolag may add.
pub fn run_overhead(setting: &Setting<'_>) -> Result<()> {
    let (bare, iolag) = (BareLoop::build(setting)?, IolagLoop::build(setting)?);
    let shape = Shape::of(setting.size);
    let options = &["--clock", "--store"];
    let iterations = IolagLoop::iterations(shape, bare.rate(shape, options)?);
    let ours = || Ok(1e9 / iolag.rate(bare.directory(), shape, 1, iterations, Detail::Operations)?);
    let allowed = || Ok(1e9 / bare.rate(shape, options)? + OVERHEAD_NS_MAX);
    let comparison = pairs::measure(setting.size.pairs(), ours, allowed)?;
    println!("{TABLE_HEAD}");
    let name = "metadata loop, 1 client, against a bare loop with clock and store plus 25 ns";
    println!("{}", comparison.row(name, "ns/op", Some(Requirement::AtMost(1.0)), &machine::description()));
    Ok(())
}
