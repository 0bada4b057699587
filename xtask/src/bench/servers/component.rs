//! A server of the tests, started for a benchmark.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process};

use crate::bench::processes::family_of;
use crate::bench::setting::Setting;

const PROGRAM: &str = "iolag-components";

/// A server with its processes. Dropping ends and removes it.
pub struct Component {
    starter: Child,
    /// What it says further; nobody reads it, and it must not be closed.
    _says: BufReader<ChildStdout>,
    /// What is to be measured.
    pub target: String,
}

impl Component {
    /// Starts it; `None`, which is said, where it is not installed.
    pub fn start(setting: &Setting<'_>, name: &str) -> Result<Option<Self>> {
        let program = setting.places.build("iolag-fixtures", PROGRAM, setting.size.optimised())?;
        let mut starter = Command::new(program)
            .arg(name)
            .env("IOLAG_SERVERS", setting.places.servers())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .context("starting a server")?;
        let stdout = starter.stdout.take().context("its output is a pipe")?;
        let (mut says, mut said) = (BufReader::new(stdout), Vec::new());
        loop {
            let mut line = String::new();
            if says.read_line(&mut line).context("reading what a server says")? == 0 {
                break;
            }
            let line = line.trim_end();
            let target =
                line.strip_prefix(name).and_then(|rest| rest.strip_prefix(": '")?.strip_suffix('\''));
            if let Some(target) = target {
                return Ok(Some(Self { starter, _says: says, target: target.to_owned() }));
            }
            said.push(line.to_owned());
        }
        starter.wait().context("waiting for a server")?;
        println!("left out: {name} does not start: {}", said.join("; "));
        Ok(None)
    }

    /// What its processes had of the processors, in ticks of 10 ms; also those of which it knows that they have ended.
    pub fn processor_seconds(&self) -> f64 {
        const TICKS_PER_SECOND: f64 = 100.0;
        let family = family_of(self.starter.id());
        family.into_iter().filter_map(ticks_of).sum::<u64>() as f64 / TICKS_PER_SECOND
    }
}

impl Drop for Component {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = kill_process(Pid::from_child(&self.starter), Signal::TERM);
        let _ = self.starter.wait();
    }
}

/// User and system time, its own and that of the children that it has waited for (proc_pid_stat(5), fields 14 to 17); `None` of a process that ended.
fn ticks_of(process: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    ticks_in(&text)
}

fn ticks_in(stat: &str) -> Option<u64> {
    // The name in brackets may hold anything.
    let fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11).take(4);
    fields.map(|field| field.parse::<u64>().ok()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_process_and_of_its_children_is_found() {
        let stat = "12 (a) b) S 1 12 12 0 -1 4194560 100 0 0 0 7 8 9 10 20 0 1 0 500 0 0";
        assert_eq!(ticks_in(stat), Some(34));
        assert_eq!(ticks_in("12 (a"), None);
    }
}
