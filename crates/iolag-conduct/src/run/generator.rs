//! Is it the generator? Once a second the keeper looks how late the workers' timers were, and how much of the host's processors,
//! descriptors and ports is left, and what of the processors each measurer takes.

mod reading;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use iolag_keeper::Exchange;
use iolag_model::{
    Activity, ClientId, GeneratorLimit, GeneratorRecord, HeartbeatRecord, MarkedSpan, MeasurerRecord,
    MonotonicTime, Nanoseconds,
};
use rustix::thread::{CpuSet, sched_getaffinity};

use self::reading::{Measuring, Reading, Running, Use, of_ticks};

/// How often is looked.
const INTERVAL: Nanoseconds = Nanoseconds::from_seconds(1);
/// A look that comes later than this was not made because the keeper slept.
const INTERVAL_MAX: Nanoseconds = Nanoseconds::from_seconds(2);
/// So many spans are told apart. What follows is one span for each set of limits.
const SPANS_MAX: usize = 1000;
const LAG_MAX: Nanoseconds = Nanoseconds::from_milliseconds(50);

/// What was seen of the generator until now.
#[derive(Debug)]
pub struct GeneratorWatch {
    proc: PathBuf,
    /// Those that the run may use.
    processors: CpuSet,
    last: Option<Reading>,
    intervals: u64,
    time: Nanoseconds,
    lags: BTreeMap<u32, Vec<Nanoseconds>>,
    /// By process.
    shares: BTreeMap<u32, Vec<Share>>,
    marked: Vec<MarkedSpan>,
}

/// What a measurer took of the processors in an interval in which it ran clients.
#[derive(Debug, Clone, Copy)]
struct Share {
    first_client: u32,
    threads: u64,
    taken: Nanoseconds,
    /// By the one that took the most of its threads that wait for several operations: while such a thread is busy with one of them, others
    /// that have ended are not known to have.
    by_busiest: Nanoseconds,
    elapsed: Nanoseconds,
}

impl Share {
    /// Between two looks at a measurer; of one that ran no clients, or of which the system tells nothing, there is none.
    fn between(before: &Measuring, now: &Measuring, elapsed: Nanoseconds) -> Option<Self> {
        let threads = before.threads.len().max(now.threads.len()) as u64;
        let since = |before: Option<Nanoseconds>, now: Option<Nanoseconds>| {
            Some(Nanoseconds(now?.0.saturating_sub(before?.0)))
        };
        let of_thread =
            |(thread, running): (&u32, &Running)| since(before.threads.get(thread)?.taken, running.taken);
        let by_busiest = now.threads.iter().filter_map(of_thread).max().unwrap_or_default();
        let share = Self {
            first_client: now.first_client?,
            threads,
            taken: since(before.taken, now.taken)?,
            by_busiest,
            elapsed,
        };
        (threads > 0).then_some(share)
    }

    const fn permille(&self) -> u64 {
        self.taken.0 * 1000 / self.elapsed.0
    }
}

impl GeneratorWatch {
    /// Nothing is seen yet; `proc` is `/proc`.
    pub fn new(proc: &Path) -> Self {
        Self {
            proc: proc.to_owned(),
            // The measurers are children of this process.
            processors: sched_getaffinity(None).unwrap_or_else(|_| CpuSet::new()),
            last: None,
            intervals: 0,
            time: Nanoseconds::ZERO,
            lags: BTreeMap::new(),
            shares: BTreeMap::new(),
            marked: Vec::new(),
        }
    }

    /// Looks, if an interval has passed since the last look.
    pub fn look(&mut self, exchange: &Exchange, processes: impl Iterator<Item = u32>, now: MonotonicTime) {
        if self.last.as_ref().is_some_and(|last| now.since(last.now) < INTERVAL) {
            return;
        }
        let measurers = measurers(exchange, processes);
        let runs_clients = |process: u32| measurers.get(&process).is_some_and(|one| !one.threads.is_empty());
        let mut lag = Nanoseconds::ZERO;
        for client in 0..exchange.clients() {
            // A worker that something blocks has not told yet how late it is.
            let is_there = exchange.thread(client).is_some_and(|(process, _)| runs_clients(process));
            let overdue = if is_there { exchange.overdue(client, now) } else { None };
            if let Some(worst) = exchange.take_lag(client).max(overdue) {
                self.lags.entry(client).or_default().push(worst);
                lag = lag.max(worst);
            }
        }
        self.count(Reading::take(&self.proc, &self.processors, measurers, lag, now));
    }

    fn count(&mut self, reading: Reading) {
        if let Some(last) = self.last.replace(reading.clone()) {
            self.intervals += 1;
            self.time.0 += length(last.now, reading.now).0;
            let shares = shares(&last, &reading);
            self.mark(last.now, reading.now, judge(&last, &reading, shares.values()));
            for (process, share) in shares {
                self.shares.entry(process).or_default().push(share);
            }
        }
    }

    fn mark(&mut self, begin: MonotonicTime, end: MonotonicTime, beyond: Vec<GeneratorLimit>) {
        if beyond.is_empty() {
            return;
        }
        let time_ns = length(begin, end);
        let apart = self.marked.len().min(SPANS_MAX);
        let (apart, rest) = self.marked.split_at_mut(apart);
        let followed = apart.last_mut().filter(|last| last.end == begin && last.beyond == beyond);
        match followed.or_else(|| rest.iter_mut().find(|span| span.beyond == beyond)) {
            Some(span) => {
                span.end = end;
                span.intervals += 1;
                span.time_ns.0 += time_ns.0;
            }
            None => self.marked.push(MarkedSpan { begin, end, intervals: 1, time_ns, beyond }),
        }
    }

    /// What there is to tell; nothing of a run that was over before an interval was.
    pub fn record(self) -> Option<GeneratorRecord> {
        let heartbeats = self.lags.into_iter().map(|(client, lags)| heartbeat(client, lags)).collect();
        let measurers = self.shares.into_values().map(|shares| measurer(&shares)).collect();
        let (intervals, time_ns, marked) = (self.intervals, self.time, self.marked);
        let record =
            GeneratorRecord { interval_ns: INTERVAL, intervals, time_ns, heartbeats, measurers, marked };
        (intervals > 0).then_some(record)
    }
}

/// By process who is measuring, and which threads run clients.
fn measurers(exchange: &Exchange, processes: impl Iterator<Item = u32>) -> BTreeMap<u32, Measuring> {
    let mut measurers: BTreeMap<u32, Measuring> =
        processes.map(|process| (process, Measuring::default())).collect();
    for client in 0..exchange.clients() {
        if let Some((process, thread)) = exchange.thread(client)
            && let Some(measuring) = measurers.get_mut(&process)
        {
            measuring.first_client.get_or_insert(client);
            if exchange.activity(client) != Activity::Ended {
                // Who measures beside the load asks for one thing at a time.
                let operations = if exchange.role(client).is_load() { exchange.lanes() } else { 1 };
                measuring.runs_client(thread, operations);
            }
        }
    }
    measurers
}

/// How long an interval was; where the keeper slept in it, nobody knows of more.
fn length(begin: MonotonicTime, end: MonotonicTime) -> Nanoseconds {
    end.since(begin).min(INTERVAL_MAX)
}

fn heartbeat(client: u32, mut lags: Vec<Nanoseconds>) -> HeartbeatRecord {
    lags.sort_unstable();
    HeartbeatRecord {
        client: ClientId(client),
        intervals: lags.len() as u64,
        lag_median_ns: not_exceeded_by(&lags, 50),
        lag_p99_ns: not_exceeded_by(&lags, 99),
        lag_max_ns: not_exceeded_by(&lags, 100),
    }
}

fn measurer(shares: &[Share]) -> MeasurerRecord {
    let mut permilles: Vec<u64> = shares.iter().map(Share::permille).collect();
    permilles.sort_unstable();
    MeasurerRecord {
        client: ClientId(shares.iter().map(|share| share.first_client).min().unwrap_or(0)),
        intervals: shares.len() as u64,
        threads: shares.iter().map(|share| share.threads).max().unwrap_or(0),
        busy_median_permille: not_exceeded_by(&permilles, 50),
        busy_max_permille: not_exceeded_by(&permilles, 100),
    }
}

/// Of sorted values the least that so many of a hundred do not exceed.
fn not_exceeded_by<T: Copy>(sorted: &[T], hundredths: usize) -> T {
    sorted[(sorted.len() * hundredths).div_ceil(100).max(1) - 1]
}

/// By process what the measurers that were there at both looks took in between.
fn shares(before: &Reading, now: &Reading) -> BTreeMap<u32, Share> {
    let elapsed = now.now.since(before.now);
    let of = |(process, measuring): (&u32, &Measuring)| {
        Some((*process, Share::between(before.measurers.get(process)?, measuring, elapsed)?))
    };
    now.measurers.iter().filter_map(of).collect()
}

/// Which limits the interval between two looks was beyond.
fn judge<'a>(
    before: &Reading,
    now: &Reading,
    shares: impl Iterator<Item = &'a Share> + Clone,
) -> Vec<GeneratorLimit> {
    let is_busy = |share: &Share| Use { used: share.by_busiest.0, of: share.elapsed.0 }.is_over(95);
    let of_host = Use {
        used: now.busy_ticks.saturating_sub(before.busy_ticks),
        of: now.all_ticks.saturating_sub(before.all_ticks),
    };
    // It has the only processor to itself but for the keeper and the writer: what it takes of it is what is measured.
    let is_alone = |share: &Share| {
        share.threads == 1 && Use { used: share.taken.0, of: of_ticks(of_host.of).0 }.is_over(90)
    };
    let limits = [
        (now.lag > LAG_MAX, GeneratorLimit::Lag),
        (of_host.is_over(95) && !shares.clone().any(is_alone), GeneratorLimit::Processors),
        (now.descriptors.iter().any(|one| one.is_over(90)), GeneratorLimit::Descriptors),
        (now.ports.is_some_and(|ports| ports.is_over(90)), GeneratorLimit::Ports),
        (shares.clone().any(is_busy), GeneratorLimit::Measurer),
    ];
    limits.into_iter().filter(|(is_beyond, _)| *is_beyond).map(|(_, limit)| limit).collect()
}

#[cfg(test)]
mod tests;
