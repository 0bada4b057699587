//! iolag's metadata loop, every operation recorded, against a bare loop of the same system calls that reads no clock and
//! records nothing.

use anyhow::Result;

use super::bare_loop::{BareLoop, Shape};
use super::iolag_loop::{Detail, IolagLoop};
use crate::bench::setting::Setting;
use crate::machine;
use crate::pairs::{self, Requirement, TABLE_HEAD};

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
