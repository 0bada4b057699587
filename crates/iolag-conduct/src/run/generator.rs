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

use self::reading::{Measuring, Reading, Use};

/// How often is looked.
const INTERVAL: Nanoseconds = Nanoseconds::from_seconds(1);
/// So many spans are told apart.
const SPANS_MAX: usize = 1000;
const LAG_MAX: Nanoseconds = Nanoseconds::from_milliseconds(50);

/// What was seen of the generator until now.
#[derive(Debug)]
pub struct GeneratorWatch {
    proc: PathBuf,
    /// That the measurers may use, all together.
    processors: u64,
    last: Option<Reading>,
    intervals: u64,
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
    elapsed: Nanoseconds,
    waits_for: WaitsFor,
}

/// What each thread that runs clients waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WaitsFor {
    /// One operation: while it is busy, it is with that.
    One,
    /// Some for several: while one is busy with one operation, the others that have ended are not known to have.
    Several,
}

impl Share {
    /// Between two looks at a measurer; of one that ran no clients, or of which the system tells nothing, there is none.
    fn between(before: &Measuring, now: &Measuring, elapsed: Nanoseconds) -> Option<Self> {
        let threads = before.threads.len().max(now.threads.len()) as u64;
        let of_all = before.threads.values().chain(now.threads.values());
        let waits_for = if of_all.max()? > &1 { WaitsFor::Several } else { WaitsFor::One };
        let taken = Nanoseconds(now.taken?.0.saturating_sub(before.taken?.0));
        Some(Self { first_client: now.first_client?, threads, taken, elapsed, waits_for })
    }

    /// Of all that its threads can have of so many processors.
    const fn of_possible(&self, processors: u64) -> Use {
        let at_once = if self.threads < processors { self.threads } else { processors };
        Use { used: self.taken.0, of: self.elapsed.0 * at_once }
    }

    const fn permille(&self) -> u64 {
        self.taken.0 * 1000 / self.elapsed.0
    }
}

impl GeneratorWatch {
    /// Nothing is seen yet; `proc` is `/proc`, and measurers may use so many processors.
    pub fn new(proc: &Path, processors: u32) -> Self {
        Self {
            proc: proc.to_owned(),
            processors: processors.max(1).into(),
            last: None,
            intervals: 0,
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
        self.count(Reading::take(&self.proc, measurers, lag, now));
    }

    fn count(&mut self, reading: Reading) {
        if let Some(last) = self.last.replace(reading.clone()) {
            self.intervals += 1;
            let shares = shares(&last, &reading);
            self.mark(last.now, reading.now, judge(&last, &reading, shares.values(), self.processors));
            for (process, share) in shares {
                self.shares.entry(process).or_default().push(share);
            }
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
        let measurers = self.shares.into_values().map(|shares| measurer(&shares)).collect();
        let (intervals, marked) = (self.intervals, self.marked);
        let record = GeneratorRecord { interval_ns: INTERVAL, intervals, heartbeats, measurers, marked };
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
                measuring.runs_client(thread, exchange.lanes());
            }
        }
    }
    measurers
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
    mut shares: impl Iterator<Item = &'a Share>,
    processors: u64,
) -> Vec<GeneratorLimit> {
    let is_busy =
        |share: &Share| share.waits_for == WaitsFor::Several && share.of_possible(processors).is_over(95);
    let of_host = Use {
        used: now.busy_ticks.saturating_sub(before.busy_ticks),
        of: now.all_ticks.saturating_sub(before.all_ticks),
    };
    let limits = [
        (now.lag > LAG_MAX, GeneratorLimit::Lag),
        (of_host.is_over(95), GeneratorLimit::Processors),
        (now.descriptors.iter().any(|one| one.is_over(90)), GeneratorLimit::Descriptors),
        (now.ports.is_some_and(|ports| ports.is_over(90)), GeneratorLimit::Ports),
        (shares.any(is_busy), GeneratorLimit::Measurer),
    ];
    limits.into_iter().filter(|(is_beyond, _)| *is_beyond).map(|(_, limit)| limit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_keeper::Room;
    use iolag_model::{Coordinator as _, Recorder as _};

    const NEVER: MonotonicTime = MonotonicTime(u64::MAX);

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
            assert_eq!(judge(&quiet, &reading, [].iter(), 1), expected, "{reading:?}");
        }
    }

    #[test]
    fn marked_intervals_that_follow_each_other_are_one_span() {
        let mut watch = GeneratorWatch::new(Path::new("/nowhere"), 2);
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
        assert_eq!(GeneratorWatch::new(Path::new("/nowhere"), 2).record(), None);
    }

    #[test]
    fn what_a_worker_was_late_is_taken_once_an_interval_and_told_by_its_first_client() {
        let exchange = Exchange::new(2, 1 << 20).unwrap();
        let mut watch = GeneratorWatch::new(Path::new("/nowhere"), 2);
        for second in 0..3 {
            exchange.coordinator().beat(1, Nanoseconds(200_000_000 * second), NEVER);
            exchange.coordinator().beat(1, Nanoseconds(5), NEVER);
            watch.look(&exchange, std::iter::empty(), at(second));
            // Too early: nothing is taken.
            exchange.coordinator().beat(1, Nanoseconds(7), NEVER);
            watch.look(&exchange, std::iter::empty(), at(second).after(Nanoseconds(1)));
        }
        let record = watch.record().unwrap();
        let [heart] = record.heartbeats.try_into().unwrap();
        assert_eq!((heart.client, heart.intervals), (ClientId(1), 3));
        assert_eq!([heart.lag_median_ns.0, heart.lag_max_ns.0], [200_000_000, 400_000_000]);
        assert_eq!(record.marked.len(), 1, "{:?}", record.marked);
    }

    #[test]
    fn a_worker_that_does_not_beat_is_late_as_long_as_it_is_there_and_runs_clients() {
        let process = std::process::id();
        let lags = |beats: &dyn Fn(&Exchange), processes: &[u32]| {
            let exchange = Exchange::new(1, 1 << 20).unwrap();
            exchange.recorder(0).set_activity(Activity::Pausing);
            exchange.coordinator().beat(0, Nanoseconds(3), at(1).after(Nanoseconds::from_milliseconds(10)));
            let mut watch = GeneratorWatch::new(Path::new("/nowhere"), 2);
            watch.look(&exchange, processes.iter().copied(), at(1));
            beats(&exchange);
            (2..5).for_each(|second| watch.look(&exchange, processes.iter().copied(), at(second)));
            let record = watch.record().unwrap();
            let marked: Vec<_> = record.marked.iter().map(|span| (span.begin, span.intervals)).collect();
            let heart = &record.heartbeats[0];
            (marked, heart.intervals, heart.lag_max_ns)
        };
        assert_eq!(
            lags(&|_| {}, &[1, process]),
            (vec![(at(1), 3)], 4, Nanoseconds::from_milliseconds(2990)),
            "something blocks it"
        );
        let quiet = (vec![], 1, Nanoseconds(3));
        assert_eq!(lags(&|exchange| exchange.coordinator().heart_ends(0), &[process]), quiet);
        assert_eq!(lags(&|exchange| exchange.recorder(0).set_activity(Activity::Ended), &[process]), quiet);
        assert_eq!(lags(&|_| {}, &[1]), quiet, "its measurer has ended");
        let goes_on = |exchange: &Exchange| {
            let late = Nanoseconds::from_milliseconds(800);
            exchange.coordinator().beat(0, late, NEVER);
        };
        assert_eq!(lags(&goes_on, &[process]), (vec![(at(1), 1)], 2, Nanoseconds::from_milliseconds(800)));
    }

    /// Looks for three intervals at clients of this thread, which is busy for 96 % of the first and 50 % of the others.
    fn look_at_busy(exchange: &Exchange, processors: u32) -> GeneratorRecord {
        let proc = tempfile::tempdir().unwrap();
        let process = std::process::id();
        std::fs::create_dir(proc.path().join(process.to_string())).unwrap();
        let per_second = rustix::param::clock_ticks_per_second();
        let mut watch = GeneratorWatch::new(proc.path(), processors);
        for (second, hundredths) in [(0, 1000), (1, 1096), (2, 1146), (3, 1196)] {
            let (user, system) = (per_second * hundredths / 100 - 7, 7);
            let stat =
                format!("{process} (iolag) R 1 7 7 0 -1 4194560 1 0 0 0 {user} {system} 0 0 20 0 1 0 42 9 9");
            std::fs::write(proc.path().join(format!("{process}/stat")), stat).unwrap();
            watch.look(exchange, [process, 1].into_iter(), at(second));
        }
        watch.record().unwrap()
    }

    #[test]
    fn a_measurer_whose_threads_wait_for_several_operations_is_marked_where_they_are_busy() {
        // As the clients of one worker: all of them are of this thread.
        let exchange = Exchange::new(3, 1 << 20).unwrap();
        [1, 2].into_iter().for_each(|client| exchange.recorder(client).set_activity(Activity::Pausing));
        let record = look_at_busy(&exchange, 8);
        let [span] = record.marked.try_into().unwrap();
        assert_eq!((span.begin, span.end, span.beyond), (at(0), at(1), vec![GeneratorLimit::Measurer]));
        let expected = MeasurerRecord {
            client: ClientId(1),
            intervals: 3,
            threads: 1,
            busy_median_permille: 500,
            busy_max_permille: 960,
        };
        assert_eq!(record.measurers, [expected]);
    }

    #[test]
    fn a_client_that_has_several_operations_in_flight_is_as_several_clients() {
        let room = Room { clients: 1, lanes: 2, ring_bytes: 1 << 20, samples_per_client: None };
        let exchange = Exchange::with_room(room).unwrap();
        exchange.recorder(0).set_activity(Activity::Working);
        assert_eq!(look_at_busy(&exchange, 8).marked.len(), 1);
    }

    #[test]
    fn a_thread_with_one_client_is_busy_with_what_it_was_asked_and_that_is_only_recorded() {
        let exchange = Exchange::new(3, 1 << 20).unwrap();
        exchange.recorder(2).set_activity(Activity::Working);
        exchange.recorder(1).set_activity(Activity::Ended);
        let record = look_at_busy(&exchange, 8);
        assert_eq!((record.marked.len(), record.measurers[0].busy_max_permille), (0, 960));
        exchange.recorder(2).set_activity(Activity::Ended);
        assert_eq!(look_at_busy(&exchange, 8).measurers, [], "it runs none");
    }

    #[test]
    fn threads_can_have_no_more_than_the_processors() {
        let busy = |threads, taken_ms| Share {
            first_client: 0,
            threads,
            taken: Nanoseconds::from_milliseconds(taken_ms),
            elapsed: INTERVAL,
            waits_for: WaitsFor::Several,
        };
        let is_marked = |share| {
            let reading = Reading::default();
            judge(&reading, &reading, [share].iter(), 4) == [GeneratorLimit::Measurer]
        };
        assert!(!is_marked(busy(2, 1900)) && is_marked(busy(2, 1901)));
        assert!(!is_marked(busy(9, 3800)) && is_marked(busy(9, 3801)));
    }
}
