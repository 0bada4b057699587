//! iolag's metadata loop, every operation recorded, against a bare loop of the same system calls that reads no clock and
//! records nothing; or, where one is named by `--rival PATH`, against an earlier iolag.

use anyhow::Result;

use super::bare_loop::{BareLoop, Shape};
use super::iolag_loop::{Detail, IolagLoop};
use crate::bench::setting::Setting;
use crate::machine;
use crate::pairs::{self, Requirement, TABLE_HEAD};

/// One client, by operations and by calls, and two clients on two processors, against two loops.
pub fn run(setting: &Setting<'_>) -> Result<()> {
    let (bare, iolag) = (BareLoop::build(setting)?, IolagLoop::build(setting)?);
    let earlier = setting.rival.as_deref().map(|path| IolagLoop::built(path, setting)).transpose()?;
    println!("{TABLE_HEAD}");
    let (alone, company) = (Shape::of(setting.size), Shape::of_company(setting.size));
    let rate_alone = bare.rate(alone, &[])?;
    let rate_in_company = bare.rate_together(company, 2)? / 2.0;
    let rows = [
        ("metadata loop, 1 client", alone, 1, rate_alone, Detail::Operations, 0.95),
        ("metadata loop, 1 client, --detail calls", alone, 1, rate_alone, Detail::Calls, 0.90),
        ("metadata loop, 2 clients", company, 2, rate_in_company, Detail::Operations, 0.93),
    ];
    for (name, shape, clients, rate_of_client, detail, limit) in rows {
        let iterations = IolagLoop::iterations(shape, rate_of_client);
        let rate = |iolag: &IolagLoop| iolag.rate(bare.directory(), shape, clients, iterations, detail);
        let rival = || match &earlier {
            Some(earlier) => rate(earlier),
            None if clients == 1 => bare.rate(shape, &[]),
            None => bare.rate_together(shape, clients),
        };
        let comparison = pairs::measure(setting.size.pairs(), || rate(&iolag), rival)?;
        let against = match &setting.rival {
            Some(earlier) => format!("{name}, against {}", earlier.display()),
            None => name.to_owned(),
        };
        let required = earlier.is_none().then_some(Requirement::AtLeast(limit));
        println!("{}", comparison.row(&against, "op/s", required, &machine::description()));
    }
    Ok(())
}
