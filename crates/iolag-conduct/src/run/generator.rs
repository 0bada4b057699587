//! Is it the generator? Once a second the keeper looks how late the workers' timers were, and how much of the host's processors,
//! descriptors and ports is left: of /proc a line of each.
//!
//! Limits: `/proc/PID/fd` tells how many descriptors there are from Linux 6.2 on. Ports are counted over all servers.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use iolag_keeper::Exchange;
use iolag_model::{
    ClientId, GeneratorLimit, GeneratorRecord, HeartbeatRecord, MarkedSpan, MonotonicTime, Nanoseconds,
};

use crate::environment::limits::local_ports;

/// How often is looked.
const INTERVAL: Nanoseconds = Nanoseconds::from_seconds(1);
/// So many spans are told apart.
const SPANS_MAX: usize = 1000;
const LAG_MAX: Nanoseconds = Nanoseconds::from_milliseconds(50);

/// What was seen of the generator until now.
#[derive(Debug)]
pub struct GeneratorWatch {
    proc: PathBuf,
    last: Option<Reading>,
    intervals: u64,
    lags: BTreeMap<u32, Vec<Nanoseconds>>,
    marked: Vec<MarkedSpan>,
}

/// What one look tells. What the system does not tell is beyond no limit.
#[derive(Debug, Clone, Default)]
struct Reading {
    now: MonotonicTime,
    /// The worst since the last look.
    lag: Nanoseconds,
    /// Of the host's processors since it was started.
    busy_ticks: u64,
    all_ticks: u64,
    descriptors: Vec<Use>,
    ports: Option<Use>,
}

/// How much of something is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Use {
    used: u64,
    of: u64,
}

impl Use {
    /// Over this many hundredths.
    const fn is_over(self, hundredths: u64) -> bool {
        self.of > 0 && self.used * 100 > self.of * hundredths
    }
}

impl GeneratorWatch {
    /// Nothing is seen yet; `proc` is `/proc`.
    pub fn new(proc: &Path) -> Self {
        Self { proc: proc.to_owned(), last: None, intervals: 0, lags: BTreeMap::new(), marked: Vec::new() }
    }

    /// Looks, if an interval has passed since the last look.
    pub fn look(&mut self, exchange: &Exchange, processes: impl Iterator<Item = u32>, now: MonotonicTime) {
        if self.last.as_ref().is_some_and(|last| now.since(last.now) < INTERVAL) {
            return;
        }
        let mut lag = Nanoseconds::ZERO;
        for client in 0..exchange.clients() {
            if let Some(worst) = exchange.take_lag(client) {
                self.lags.entry(client).or_default().push(worst);
                lag = lag.max(worst);
            }
        }
        self.count(read(&self.proc, processes, lag, now));
    }

    fn count(&mut self, reading: Reading) {
        if let Some(last) = self.last.replace(reading.clone()) {
            self.intervals += 1;
            self.mark(last.now, reading.now, judge(&last, &reading));
        }
    }

    fn mark(&mut self, begin: MonotonicTime, end: MonotonicTime, beyond: Vec<GeneratorLimit>) {
        if beyond.is_empty() {
            return;
        }
        let is_full = self.marked.len() == SPANS_MAX;
        match self.marked.last_mut() {
            Some(last) if is_full || (last.end == begin && last.beyond == beyond) => {
                last.end = end;
                last.intervals += 1;
                last.beyond.extend(beyond);
                last.beyond.sort_unstable();
                last.beyond.dedup();
            }
            _ => self.marked.push(MarkedSpan { begin, end, intervals: 1, beyond }),
        }
    }

    /// What there is to tell; nothing of a run that was over before an interval was.
    pub fn record(self) -> Option<GeneratorRecord> {
        let heartbeats = self.lags.into_iter().map(|(client, lags)| heartbeat(client, lags)).collect();
        let (intervals, marked) = (self.intervals, self.marked);
        (intervals > 0).then_some(GeneratorRecord { interval_ns: INTERVAL, intervals, heartbeats, marked })
    }
}

fn heartbeat(client: u32, mut lags: Vec<Nanoseconds>) -> HeartbeatRecord {
    lags.sort_unstable();
    // The least value that so many of a hundred do not exceed.
    let of = |hundredths: usize| lags[(lags.len() * hundredths).div_ceil(100).max(1) - 1];
    HeartbeatRecord {
        client: ClientId(client),
        intervals: lags.len() as u64,
        lag_median_ns: of(50),
        lag_p99_ns: of(99),
        lag_max_ns: of(100),
    }
}

/// Which limits the interval between two looks was beyond.
fn judge(before: &Reading, now: &Reading) -> Vec<GeneratorLimit> {
    let processors = Use {
        used: now.busy_ticks.saturating_sub(before.busy_ticks),
        of: now.all_ticks.saturating_sub(before.all_ticks),
    };
    let limits = [
        (now.lag > LAG_MAX, GeneratorLimit::Lag),
        (processors.is_over(95), GeneratorLimit::Processors),
        (now.descriptors.iter().any(|one| one.is_over(90)), GeneratorLimit::Descriptors),
        (now.ports.is_some_and(|ports| ports.is_over(90)), GeneratorLimit::Ports),
    ];
    limits.into_iter().filter(|(is_beyond, _)| *is_beyond).map(|(_, limit)| limit).collect()
}

fn read(proc: &Path, processes: impl Iterator<Item = u32>, lag: Nanoseconds, now: MonotonicTime) -> Reading {
    let (busy_ticks, all_ticks) = processor_ticks(proc).unwrap_or_default();
    let descriptors = processes.filter_map(|process| descriptors(&proc.join(process.to_string()))).collect();
    Reading { now, lag, busy_ticks, all_ticks, descriptors, ports: ports(proc) }
}

/// The first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal; what guests take is in the first two.
fn processor_ticks(proc: &Path) -> Option<(u64, u64)> {
    let text = fs::read_to_string(proc.join("stat")).ok()?;
    let line = text.lines().next()?.strip_prefix("cpu ")?;
    let ticks: Vec<u64> = line.split_whitespace().take(8).map_while(|word| word.parse().ok()).collect();
    let all: u64 = ticks.iter().sum();
    Some((all - ticks.get(3)? - ticks.get(4)?, all))
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
    use iolag_model::Coordinator as _;

    fn at(second: u64) -> MonotonicTime {
        MonotonicTime(second * 1_000_000_000)
    }

    #[test]
    fn an_interval_beyond_a_limit_is_marked_with_it() {
        let quiet = Reading { now: at(1), all_ticks: 100, ..Reading::default() };
        let after = Reading { now: at(2), all_ticks: 300, ..quiet.clone() };
        let over = Use { used: 91, of: 100 };
        for (reading, expected) in [
            (after.clone(), vec![]),
            (
                Reading {
                    lag: LAG_MAX,
                    busy_ticks: 190,
                    ports: Some(Use { used: 90, of: 100 }),
                    ..after.clone()
                },
                vec![],
            ),
            (Reading { lag: Nanoseconds(LAG_MAX.0 + 1), ..after.clone() }, vec![GeneratorLimit::Lag]),
            (Reading { busy_ticks: 191, ..after.clone() }, vec![GeneratorLimit::Processors]),
            (Reading { descriptors: vec![over], ..after.clone() }, vec![GeneratorLimit::Descriptors]),
            (Reading { ports: Some(over), ..after.clone() }, vec![GeneratorLimit::Ports]),
            (
                Reading { ports: Some(over), busy_ticks: 200, ..after },
                vec![GeneratorLimit::Processors, GeneratorLimit::Ports],
            ),
        ] {
            assert_eq!(judge(&quiet, &reading), expected, "{reading:?}");
        }
    }

    #[test]
    fn marked_intervals_that_follow_each_other_are_one_span() {
        let mut watch = GeneratorWatch::new(Path::new("/nowhere"));
        for (second, lag_ms) in [(0, 900), (1, 60), (2, 70), (3, 0), (4, 80)] {
            watch.count(Reading {
                now: at(second),
                lag: Nanoseconds::from_milliseconds(lag_ms),
                ..Reading::default()
            });
        }
        let record = watch.record().unwrap();
        let spans: Vec<_> = record.marked.iter().map(|span| (span.begin, span.end, span.intervals)).collect();
        assert_eq!((spans, record.intervals), (vec![(at(0), at(2), 2), (at(3), at(4), 1)], 4));
        assert_eq!(GeneratorWatch::new(Path::new("/nowhere")).record(), None);
    }

    #[test]
    fn what_a_worker_was_late_is_taken_once_an_interval_and_told_by_its_first_client() {
        let exchange = Exchange::new(2, 1 << 20).unwrap();
        let mut watch = GeneratorWatch::new(Path::new("/nowhere"));
        for second in 0..3 {
            exchange.coordinator().beat(1, Nanoseconds(200_000_000 * second));
            exchange.coordinator().beat(1, Nanoseconds(5));
            watch.look(&exchange, std::iter::empty(), at(second));
            // Too early: nothing is taken.
            exchange.coordinator().beat(1, Nanoseconds(7));
            watch.look(&exchange, std::iter::empty(), at(second).after(Nanoseconds(1)));
        }
        let record = watch.record().unwrap();
        let [heart] = record.heartbeats.try_into().unwrap();
        assert_eq!((heart.client, heart.intervals), (ClientId(1), 3));
        assert_eq!([heart.lag_median_ns.0, heart.lag_max_ns.0], [200_000_000, 400_000_000]);
        assert_eq!(record.marked.len(), 1, "{:?}", record.marked);
    }

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
        let reading = read(place.path(), [7, 8].into_iter(), Nanoseconds::ZERO, at(1));
        assert_eq!((reading.busy_ticks, reading.all_ticks), (81, 531));
        assert_eq!(reading.descriptors, [Use { used: 5, of: 1024 }]);
        assert_eq!(reading.ports, Some(Use { used: 42, of: 28_232 }));
    }
}
