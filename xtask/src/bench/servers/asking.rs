//! The same requests by iolag and by a bare loop, in turn.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use super::component::Component;
use super::told::Told;
use crate::bench::setting::{Setting, Size};
use crate::machine;
use crate::pairs::{self, Requirement};
use crate::places::output;

/// Twelve give an interval from the third to the tenth ratio.
const PAIRS: usize = 12;
const PAIRS_TINY: usize = 1;
/// What asks, for either side.
pub const EXAMPLE: &str = "server_cost";

/// What is asked of a server.
pub struct Asking<'a> {
    /// `objects`, or `get=BYTES`.
    pub what: &'a str,
    /// The server, or an object of it.
    pub target: &'a str,
    /// How many ask.
    pub clients: u32,
    /// How much is measured.
    pub setting: &'a Setting<'a>,
}

impl Asking<'_> {
    /// For how long.
    pub const fn seconds(&self) -> u64 {
        match self.setting.size {
            Size::Full => 5,
            Size::Tiny => 1,
        }
    }

    /// How often.
    pub const fn pairs(&self) -> usize {
        match self.setting.size {
            Size::Full => PAIRS,
            Size::Tiny => PAIRS_TINY,
        }
    }

    /// Both sides in turn; rows of the rate and of the processor time, which may be so many times that of the bare loop.
    pub fn compare(&self, program: &Path, server: &Component, name: &str, most: f64) -> Result<()> {
        let side = |side| self.told(program, server, side);
        let mut told = Vec::new();
        pairs::alternate(&mut told, self.pairs(), || side("iolag"), || side("bare"))?;
        self.tell(name, "a bare loop", &told, [None, Some(Requirement::AtMost(most))])?;
        let servers = |of: fn(&(Told, Told)) -> Told| {
            pairs::quantile(&pairs::sorted(told.iter().map(|pair| of(pair).server_us)), 0.5)
        };
        let (ours, theirs) = (servers(|pair| pair.0), servers(|pair| pair.1));
        println!(
            "the server itself took {ours:.1} µs of a request of iolag's, {theirs:.1} µs of the bare loop's (medians)"
        );
        Ok(())
    }

    /// Rows of pairs that were measured.
    pub fn tell(
        &self,
        name: &str,
        rival: &str,
        told: &[(Told, Told)],
        [rate, time]: [Option<Requirement>; 2],
    ) -> Result<()> {
        let is_judged = self.setting.size == Size::Full;
        let row = |what: &str, unit, of: fn(&Told) -> f64, required: Option<Requirement>| {
            let values: Vec<(f64, f64)> = told.iter().map(|(ours, theirs)| (of(ours), of(theirs))).collect();
            let required = required.filter(|_| is_judged);
            let name = format!("{name}: {what}, against {rival}");
            println!("{}", pairs::compare(&values)?.row(&name, unit, required, &machine::description()));
            Ok(())
        };
        row("requests a second", "1/s", |told| told.requests_per_second, rate)?;
        row("processor time of a request", "µs", |told| told.processor_us, time)
    }

    /// One measurement of a side.
    pub fn told(&self, program: &Path, server: &Component, side: &str) -> Result<Told> {
        let before = server.processor_seconds();
        let mut command = Command::new(program);
        command.args([side, self.what, self.target]);
        command.arg(self.clients.to_string()).arg(self.seconds().to_string());
        let text = output(&mut command)?;
        let busy = server.processor_seconds() - before;
        let values = text.split_whitespace().map(str::parse).collect::<Result<Vec<f64>, _>>();
        let values = values.with_context(|| format!("reading {text:?}"))?;
        let [requests_per_second, processor_ns, requests] = values[..] else {
            bail!("three numbers were expected, not {text:?}");
        };
        ensure!(requests > 0.0, "nothing was asked");
        Ok(Told {
            requests_per_second,
            processor_us: processor_ns / 1e3,
            // What only the precise clock of the client tells is not asked of the server: its time is counted in ticks.
            server_us: busy.max(0.0) * 1e6 / requests,
        })
    }
}
