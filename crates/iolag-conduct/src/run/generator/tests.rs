//! What a watch tells of given moments.

use super::*;
use iolag_keeper::Room;
use iolag_model::{Coordinator as _, Recorder as _, Role};

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
        assert_eq!(judge(&quiet, &reading, [].iter()), expected, "{reading:?}");
    }
}

#[test]
fn the_only_thread_keeps_the_only_processor_busy_with_what_it_measures() {
    let per_second = rustix::param::clock_ticks_per_second();
    let is_marked = |threads, taken_ms, processors| {
        let share = Share {
            first_client: 0,
            threads,
            taken: Nanoseconds::from_milliseconds(taken_ms),
            by_busiest: Nanoseconds::ZERO,
            elapsed: INTERVAL,
        };
        let ticks = per_second * processors;
        let now = Reading { busy_ticks: ticks, all_ticks: ticks, ..Reading::default() };
        judge(&Reading::default(), &now, [share].iter()) == [GeneratorLimit::Processors]
    };
    assert!(!is_marked(1, 950, 1));
    assert!(is_marked(16, 950, 1), "its threads wait for each other");
    assert!(is_marked(1, 500, 1), "somebody else takes the rest");
    assert!(is_marked(1, 950, 2));
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
fn an_interval_is_as_long_as_it_is_until_the_next_look_also_in_the_span_that_holds_the_rest() {
    let mut watch = GeneratorWatch::new(Path::new("/nowhere"));
    // Every other interval, of half a second more than the others.
    let looks = 2 * (SPANS_MAX as u64 + 10);
    for look in 0..=looks {
        let now = MonotonicTime(at(look).0 + look.div_ceil(2) * 500_000_000);
        let lag = Nanoseconds::from_milliseconds(60 * (look % 2));
        watch.count(Reading { now, lag, ..Reading::default() });
    }
    let record = watch.record().unwrap();
    let seconds = |intervals: u64| Nanoseconds::from_milliseconds(1500 * intervals);
    assert_eq!(record.time_ns.0, seconds(looks / 2).0 + at(looks / 2).0);
    let times: Vec<_> = record.marked.iter().map(|span| span.time_ns).collect();
    assert_eq!((times.len(), times[0], times[SPANS_MAX]), (SPANS_MAX + 1, seconds(1), seconds(10)));
}

#[test]
fn of_an_interval_in_which_the_keeper_slept_two_seconds_count() {
    let mut watch = GeneratorWatch::new(Path::new("/nowhere"));
    for second in [1, 2, 60] {
        watch.count(Reading { now: at(second), ..Reading::default() });
    }
    assert_eq!(watch.record().unwrap().time_ns, Nanoseconds::from_seconds(3));
}

#[test]
fn of_very_many_spans_each_limit_keeps_its_time() {
    const HOURS: u64 = 24 * 7;
    let mut watch = GeneratorWatch::new(Path::new("/nowhere"));
    watch.count(Reading::default());
    for second in 1..=HOURS * 3600 {
        // A week, with 2 late intervals and 1 without ports, apart from each other, in each 100.
        let lag = if second % 50 == 0 { Nanoseconds(LAG_MAX.0 + 1) } else { Nanoseconds::ZERO };
        let ports = (second % 100 == 25).then_some(Use { used: 91, of: 100 });
        watch.count(Reading { now: at(second), lag, ports, ..Reading::default() });
    }
    let record = watch.record().unwrap();
    let beyond = |limit| -> u64 {
        record.marked.iter().filter(|span| span.beyond == [limit]).map(|span| span.time_ns.0).sum()
    };
    let told = [beyond(GeneratorLimit::Lag), beyond(GeneratorLimit::Ports)];
    assert_eq!(told, [HOURS * 72, HOURS * 36].map(|seconds| Nanoseconds::from_seconds(seconds).0));
    assert_eq!(record.marked.len(), SPANS_MAX + 2);
}

#[test]
fn what_a_worker_was_late_is_taken_once_an_interval_and_told_by_its_first_client() {
    let exchange = Exchange::new(2, 1 << 20).unwrap();
    let mut watch = GeneratorWatch::new(Path::new("/nowhere"));
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
        let mut watch = GeneratorWatch::new(Path::new("/nowhere"));
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

/// Hundredths of a second that were taken until each of four looks.
const BUSY: [u64; 4] = [1000, 1096, 1146, 1196];
const IDLE: [u64; 4] = [1000; 4];

/// Looks for three intervals at clients of this process, which took so much, and at its threads.
fn look_at(exchange: &Exchange, taken: [u64; 4], threads: &[(u32, [u64; 4])]) -> GeneratorRecord {
    let (proc, process) = (tempfile::tempdir().unwrap(), std::process::id());
    let place = proc.path().join(process.to_string());
    let of_thread = |(thread, taken): &(u32, _)| (place.join(format!("task/{thread}")), *taken);
    let mut all: Vec<(PathBuf, [u64; 4])> = threads.iter().map(of_thread).collect();
    all.push((place.clone(), taken));
    let per_second = rustix::param::clock_ticks_per_second();
    let mut watch = GeneratorWatch::new(proc.path());
    for second in 0..4 {
        for (place, taken) in &all {
            let (user, system) = (per_second * taken[second] / 100 - 7, 7);
            let stat = format!("9 (iolag) R 1 7 7 0 -1 4194560 1 0 0 0 {user} {system} 0 0 20 0 1 0 42 9 9");
            std::fs::create_dir_all(place).unwrap();
            std::fs::write(place.join("stat"), stat).unwrap();
        }
        watch.look(exchange, [process, 1].into_iter(), at(second as u64));
    }
    watch.record().unwrap()
}

fn this_thread() -> u32 {
    rustix::thread::gettid().as_raw_nonzero().get() as u32
}

/// As [`look_at`], where this thread takes all that its process does.
fn look_at_busy(exchange: &Exchange) -> GeneratorRecord {
    look_at(exchange, BUSY, &[(this_thread(), BUSY)])
}

#[test]
fn a_measurer_whose_threads_wait_for_several_operations_is_marked_where_they_are_busy() {
    // As the clients of one worker: all of them are of this thread.
    let exchange = Exchange::new(3, 1 << 20).unwrap();
    [1, 2].into_iter().for_each(|client| exchange.recorder(client).set_activity(Activity::Pausing));
    let record = look_at_busy(&exchange);
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
fn each_worker_is_judged_by_itself_and_other_threads_of_its_measurer_are_not() {
    let exchange = Exchange::new(8, 1 << 20).unwrap();
    let begin = |worker: u32| {
        let clients = [worker, worker + 4];
        clients.into_iter().for_each(|client| exchange.recorder(client).set_activity(Activity::Pausing));
        this_thread()
    };
    let begin = &begin;
    let threads = std::thread::scope(|scope| {
        let workers = [0, 1, 2, 3].map(|worker| scope.spawn(move || begin(worker)));
        workers.map(|worker| worker.join().unwrap())
    });
    let mut taken = threads.map(|thread| (thread, IDLE));
    let by_a_library = [1000, 1400, 1800, 2200];
    let quiet = look_at(&exchange, by_a_library, &taken);
    assert_eq!((quiet.marked, quiet.measurers[0].busy_max_permille), (vec![], 4000));
    taken[2].1 = BUSY;
    let record = look_at(&exchange, BUSY, &taken);
    let [span] = record.marked.try_into().unwrap();
    assert_eq!((span.begin, span.end, span.beyond), (at(0), at(1), vec![GeneratorLimit::Measurer]));
    assert_eq!((record.measurers[0].threads, record.measurers[0].busy_max_permille), (4, 960));
}

#[test]
fn a_client_that_has_several_operations_in_flight_is_as_several_clients() {
    let room = Room { clients: 1, lanes: 2, ring_bytes: 1 << 20, samples_per_client: None };
    let exchange = Exchange::with_room(room).unwrap();
    exchange.recorder(0).set_activity(Activity::Working);
    assert_eq!(look_at_busy(&exchange).marked.len(), 1);
    exchange.set_role(0, Role::Bystander);
    assert_eq!(look_at_busy(&exchange).marked.len(), 0, "who measures beside has one");
}

#[test]
fn a_thread_with_one_client_is_busy_with_what_it_was_asked_and_that_is_only_recorded() {
    let exchange = Exchange::new(3, 1 << 20).unwrap();
    exchange.recorder(2).set_activity(Activity::Working);
    exchange.recorder(1).set_activity(Activity::Ended);
    let record = look_at_busy(&exchange);
    assert_eq!((record.marked.len(), record.measurers[0].busy_max_permille), (0, 960));
    exchange.recorder(2).set_activity(Activity::Ended);
    assert_eq!(look_at_busy(&exchange).measurers, [], "it runs none");
}
