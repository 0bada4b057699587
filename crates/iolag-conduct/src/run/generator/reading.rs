//! What one look tells of the generator: of /proc a line of each, and of each thread that waits for several operations.
//!
//! Limits: `/proc/PID/fd` tells how many descriptors there are from Linux 6.2 on. Ports are counted over all servers. What the quota of a
//! control group leaves of the processors is not known.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use iolag_model::{MonotonicTime, Nanoseconds, ProcessStat};
use rustix::thread::CpuSet;

use crate::environment::limits::local_ports;

/// What one look tells. What the system does not tell is beyond no limit.
#[derive(Debug, Clone, Default)]
pub(super) struct Reading {
    pub(super) now: MonotonicTime,
    /// The worst since the last look.
    pub(super) lag: Nanoseconds,
    /// Of the processors that the run may use, since the host was started.
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
        processors: &CpuSet,
        mut measurers: BTreeMap<u32, Measuring>,
        lag: Nanoseconds,
        now: MonotonicTime,
    ) -> Self {
        let (busy_ticks, all_ticks) = processor_ticks(proc, processors).unwrap_or_default();
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

/// Of these processors how long they were busy, and how long there were: the lines of /proc/stat that begin with `cpu`. Where one of
/// them has none, as in a container that has numbers of its own, the line of all.
fn processor_ticks(proc: &Path, processors: &CpuSet) -> Option<(u64, u64)> {
    let text = fs::read_to_string(proc.join("stat")).ok()?;
    let mut lines = text.lines().map_while(|line| line.strip_prefix("cpu")).map_while(ticks);
    let (_, of_all) = lines.next()?;
    let is_usable = |number: usize| number < CpuSet::MAX_CPU && processors.is_set(number);
    let of_each: Vec<_> = lines.filter(|(name, _)| name.parse().is_ok_and(is_usable)).collect();
    if of_each.is_empty() || of_each.len() != processors.count() as usize {
        return Some(of_all);
    }
    Some(of_each.iter().fold((0, 0), |sum, (_, (busy, all))| (sum.0 + busy, sum.1 + all)))
}

/// A number, then user, nice, system, idle, iowait, irq, softirq, steal; what guests take is in the first two.
fn ticks(line: &str) -> Option<(&str, (u64, u64))> {
    let (name, numbers) = line.split_once(' ')?;
    let ticks: Vec<u64> = numbers.split_whitespace().take(8).map_while(|word| word.parse().ok()).collect();
    let all: u64 = ticks.iter().sum();
    Some((name, (all - ticks.get(3)? - ticks.get(4)?, all)))
}

/// How long so many ticks are.
pub(super) fn of_ticks(ticks: u64) -> Nanoseconds {
    Nanoseconds(ticks * (1_000_000_000 / rustix::param::clock_ticks_per_second().max(1)))
}

/// The time of a thread, or of all threads of a process, those that have ended among them.
fn time_taken(place: &Path) -> Option<Nanoseconds> {
    let text = fs::read_to_string(place.join("stat")).ok()?;
    ProcessStat::of(&text).busy_ticks().map(of_ticks)
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
        let reading =
            Reading::take(place.path(), &CpuSet::new(), measurers, Nanoseconds::ZERO, MonotonicTime(1));
        assert_eq!((reading.busy_ticks, reading.all_ticks), (81, 531));
        assert_eq!(reading.descriptors, [Use { used: 5, of: 1024 }]);
        assert_eq!(reading.ports, Some(Use { used: 42, of: 28_232 }));
        let taken: Vec<_> = reading.measurers.values().map(|measuring| measuring.taken).collect();
        assert_eq!(taken, [Some(of_ticks(42)), None]);
    }

    #[test]
    fn only_processors_that_the_run_may_use_are_looked_at() {
        let place = tempfile::tempdir().unwrap();
        let lines = [
            "cpu  180 0 30 590 0 0 0 0 0 0",
            "cpu0 0 0 10 190 0 0 0 0 0 0",
            "cpu1 90 0 5 4 1 0 0 0 0 0",
            "cpu3 1 0 0 199 0 0 0 0 0 0",
            "cpu11 89 0 15 197 0 0 0 0 0 0",
            "intr 7 7",
        ];
        fs::write(place.path().join("stat"), lines.join("\n")).unwrap();
        let ticks = |usable: &[usize]| {
            let mut processors = CpuSet::new();
            usable.iter().for_each(|number| processors.set(*number));
            processor_ticks(place.path(), &processors).unwrap()
        };
        assert_eq!([ticks(&[1]), ticks(&[1, 3])], [(95, 100), (96, 300)]);
        let all = (210, 800);
        assert_eq!([ticks(&[]), ticks(&[1, 2]), ticks(&[40])], [all; 3], "it is not known which they are");
    }
}
