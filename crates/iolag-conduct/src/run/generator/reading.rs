//! What one look tells of the generator: of /proc a line of each, and of each thread that waits for several operations.
//!
//! Limits: `/proc/PID/fd` tells how many descriptors there are from Linux 6.2 on. Ports are counted over all servers. What the quota of a
//! control group leaves of the processors is not known.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use iolag_model::{MonotonicTime, Nanoseconds, ProcessStat};

use crate::environment::limits::local_ports;

/// What one look tells. What the system does not tell is beyond no limit.
#[derive(Debug, Clone, Default)]
pub(super) struct Reading {
    pub(super) now: MonotonicTime,
    /// The worst since the last look.
    pub(super) lag: Nanoseconds,
    /// Of the host's processors since it was started.
    pub(super) busy_ticks: u64,
    pub(super) all_ticks: u64,
    pub(super) descriptors: Vec<Use>,
    pub(super) ports: Option<Use>,
    /// By process.
    pub(super) measurers: BTreeMap<u32, Measuring>,
}

/// A measurer that is there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Measuring {
    /// The first of those that it has begun.
    pub(super) first_client: Option<u32>,
    /// Those of its threads that run clients.
    pub(super) threads: BTreeMap<u32, Running>,
    /// Processor time that it has taken.
    pub(super) taken: Option<Nanoseconds>,
}

/// A thread that runs clients.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Running {
    /// How many operations it may have to wait for.
    pub(super) operations: u32,
    /// Processor time that it has taken. Not asked of one that waits for one operation: while that is busy, it is with it, and there
    /// may be thousands.
    pub(super) taken: Option<Nanoseconds>,
}

/// How much of something is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Use {
    pub(super) used: u64,
    pub(super) of: u64,
}

impl Use {
    /// Over this many hundredths.
    pub(super) const fn is_over(self, hundredths: u64) -> bool {
        self.of > 0 && self.used * 100 > self.of * hundredths
    }
}

impl Measuring {
    /// A thread of it runs one more client that may have so many operations in flight.
    pub(super) fn runs_client(&mut self, thread: u32, operations: u32) {
        self.threads.entry(thread).or_default().operations += operations;
    }
}

impl Reading {
    /// Of these measurers, whose clients are known.
    pub(super) fn take(
        proc: &Path,
        mut measurers: BTreeMap<u32, Measuring>,
        lag: Nanoseconds,
        now: MonotonicTime,
    ) -> Self {
        let (busy_ticks, all_ticks) = processor_ticks(proc).unwrap_or_default();
        let place = |process: &u32| proc.join(process.to_string());
        let descriptors = measurers.keys().filter_map(|process| descriptors(&place(process))).collect();
        for (process, measuring) in &mut measurers {
            measuring.taken = time_taken(&place(process));
            for (thread, running) in measuring.threads.iter_mut().filter(|(_, one)| one.operations > 1) {
                running.taken = time_taken(&place(process).join(format!("task/{thread}")));
            }
        }
        Self { now, lag, busy_ticks, all_ticks, descriptors, ports: ports(proc), measurers }
    }
}

/// The first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal; what guests take is in the first two.
fn processor_ticks(proc: &Path) -> Option<(u64, u64)> {
    let text = fs::read_to_string(proc.join("stat")).ok()?;
    let line = text.lines().next()?.strip_prefix("cpu ")?;
    let ticks: Vec<u64> = line.split_whitespace().take(8).map_while(|word| word.parse().ok()).collect();
    let all: u64 = ticks.iter().sum();
    Some((all - ticks.get(3)? - ticks.get(4)?, all))
}

/// The time of a thread, or of all threads of a process, those that have ended among them.
fn time_taken(place: &Path) -> Option<Nanoseconds> {
    let text = fs::read_to_string(place.join("stat")).ok()?;
    let stat = ProcessStat::of(&text);
    let (user_ticks, system_ticks) = (stat.number(14)?, stat.number(15)?);
    let tick_ns = 1_000_000_000 / rustix::param::clock_ticks_per_second().max(1);
    Some(Nanoseconds((user_ticks + system_ticks) * tick_ns))
}

fn descriptors(process: &Path) -> Option<Use> {
    let used = fs::metadata(process.join("fd")).ok()?.len();
    let text = fs::read_to_string(process.join("limits")).ok()?;
    let limit = text.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    Some(Use { used, of: limit.split_whitespace().next()?.parse().ok()? })
}

fn ports(proc: &Path) -> Option<Use> {
    let text = fs::read_to_string(proc.join("net/sockstat")).ok()?;
    let words: Vec<&str> = text.lines().find(|line| line.starts_with("TCP:"))?.split_whitespace().collect();
    let number_after = |name: &str| {
        let place = words.iter().position(|word| *word == name)?;
        words.get(place + 1)?.parse::<u64>().ok()
    };
    Some(Use { used: number_after("inuse")? + number_after("tw")?, of: local_ports(proc)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_read_from_proc_what_there_is() {
        let place = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = place.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("stat", "cpu  10 20 30 400 50 6 7 8 9 9\ncpu0 1 1 1 1 1\n");
        write("sys/net/ipv4/ip_local_port_range", "32768\t60999\n");
        write(
            "net/sockstat",
            "sockets: used 300\nTCP: inuse 40 orphan 0 tw 2 alloc 50 mem 1\nUDP: inuse 9 mem 1\n",
        );
        write(
            "7/limits",
            "Limit  Soft Limit  Hard Limit  Units\nMax open files            1024                 4096                 files\n",
        );
        write("7/fd", "12345");
        write("7/stat", "7 (iolag) S 1 7 7 0 -1 4194560 1 0 0 0 40 2 900 900 20 0 1 0 4242 9 9");
        let measurers = [7, 8].map(|process| (process, Measuring::default())).into();
        let reading = Reading::take(place.path(), measurers, Nanoseconds::ZERO, MonotonicTime(1));
        assert_eq!((reading.busy_ticks, reading.all_ticks), (81, 531));
        assert_eq!(reading.descriptors, [Use { used: 5, of: 1024 }]);
        assert_eq!(reading.ports, Some(Use { used: 42, of: 28_232 }));
        let tick_ns = 1_000_000_000 / rustix::param::clock_ticks_per_second();
        let taken: Vec<_> = reading.measurers.values().map(|measuring| measuring.taken).collect();
        assert_eq!(taken, [Some(Nanoseconds(42 * tick_ns)), None]);
    }
}
