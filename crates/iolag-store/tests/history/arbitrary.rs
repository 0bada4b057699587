//! Records for tests: plain ones by hand, and arbitrary ones with few different keys, so that many meet.

use std::collections::BTreeMap;

use iolag_model::{
    Batch, BatchId, Configuration, ConfigurationKey, Event, EventSource, EventState, Evidence, FailureCode,
    HistoryRecord, HistorySample, Nanoseconds, Outage, OutageEnding, OutageKind, Outcome, ProbeId, Rename,
    Series, SeriesKey, SeriesKind, SessionEnd, Surroundings, WallTime, WatchSession,
};
use proptest::collection::{btree_map, btree_set, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

pub fn key(host: &str, task: &str) -> SeriesKey {
    SeriesKey { host: host.into(), target: "/scratch".into(), task: task.into(), part: String::new() }
}

/// A sample as a watch makes them: the `number`-th of its series, one every 15 minutes.
pub fn sample(series: &SeriesKey, number: u64, outcome: Outcome, duration_ns: u64) -> HistorySample {
    let intended = WallTime::from_seconds(1_700_000_000 + 900 * number as i64);
    HistorySample {
        series: series.clone(),
        probe: ProbeId((1_700_000_000 << 24) + number),
        intended,
        start: intended.after(Nanoseconds(1_234_567 + number % 1000 * 1000)),
        duration_ns: Nanoseconds(duration_ns),
        value: None,
        outcome,
        failure: FailureCode::NONE,
        exit_status: None,
        batch: None,
        blocker: None,
        configuration: Some(ConfigurationKey(0xfeed_0000_0000_0001 + number / 1000)),
        processor_ns: Some([2_000_000 + number % 100_000, 3_000_000 + number % 77_777]),
        resident_bytes_max: Some(4 << 20),
        surroundings: Some(Surroundings {
            load_milli: [1200 + number as u32 % 500, 1100, 1000],
            runnable: 2,
            blocked: 0,
            stalled_cpu_us: Some(number % 3000),
            stalled_io_us: Some([number % 50_000, number % 20_000]),
            stalled_memory_us: Some([0, 0]),
        }),
    }
}

pub fn series(key: &SeriesKey) -> Series {
    Series {
        key: key.clone(),
        kind: SeriesKind::Task,
        resolution_ns: Nanoseconds::ZERO,
        period_ns: Nanoseconds(900_000_000_000),
        deadline_ns: Nanoseconds(60_000_000_000),
        description: "ls -l of 200 files".into(),
        unit: String::new(),
        described: WallTime::from_seconds(1_700_000_000),
    }
}

pub fn event(id: &str, begin: WallTime) -> Event {
    Event {
        id: id.into(),
        target: "/scratch".into(),
        text: "LDAP cache enabled".into(),
        link: Some("https://tickets.example/1".into()),
        author: "me".into(),
        ..Event::of_all(EventSource::Note, begin)
    }
}

pub fn outage(host: &str, probe: u64) -> Outage {
    Outage {
        kind: Default::default(),
        targets: ["/scratch".to_owned()].into(),
        host: host.into(),
        mount: "/scratch".into(),
        probe: ProbeId(probe),
        begin: WallTime::from_seconds(1_700_000_000),
        end: None,
        ending: None,
        skipped: 3,
    }
}

pub fn session(host: &str) -> WatchSession {
    WatchSession {
        host: host.into(),
        boot_id: "b00t".into(),
        begin: WallTime::from_seconds(1_700_000_000),
        last_seen: WallTime::from_seconds(1_700_000_900),
        end: SessionEnd::Open,
        iolag_version: "0.1.0".into(),
    }
}

/// An import, and when it was undone, in seconds.
pub fn batch(id: u64, undone: Option<i64>) -> Batch {
    Batch {
        id: BatchId(id),
        made: WallTime::from_seconds(1_700_000_000 + id as i64),
        file: "a.txt".into(),
        hash: "00ff".into(),
        options: "--task list".into(),
        author: "me".into(),
        undone: undone.map(WallTime::from_seconds),
    }
}

/// Whatever the types allow, with few keys.
pub fn any_record() -> impl Strategy<Value = HistoryRecord> {
    prop_oneof![
        8 => any_sample().prop_map(HistoryRecord::Sample).boxed(),
        1 => any_series().prop_map(HistoryRecord::Series),
        1 => any_configuration().prop_map(HistoryRecord::Configuration),
        1 => any_event().prop_map(HistoryRecord::Event).boxed(),
        1 => any_outage().prop_map(HistoryRecord::Outage).boxed(),
        1 => any_evidence().prop_map(HistoryRecord::Evidence),
        1 => any_session().prop_map(HistoryRecord::Session),
        2 => any_batch().prop_map(HistoryRecord::Batch),
        1 => any_rename().prop_map(HistoryRecord::Rename).boxed(),
    ]
}

fn any_sample() -> impl Strategy<Value = HistorySample> {
    let what = (
        (any_key(), few_ids(), any_batch_id()),
        any_time(),
        any_time(),
        any_length(),
        select(&Outcome::ALL),
        any::<u16>(),
    );
    let more = (
        option::of(prop_oneof![any::<f64>(), Just(0.0), Just(-0.0), Just(f64::NAN)]),
        option::of(-2..2i32),
        option::of(few_ids()),
        option::of(few_ids()),
        option::of([any_number(), any_number()]),
        option::of(any_number()),
        option::of(any_surroundings()),
    );
    (what, more).prop_map(|(((series, probe, batch), intended, start, duration, outcome, failure), more)| {
        HistorySample {
            series,
            probe: ProbeId(probe),
            intended,
            start,
            duration_ns: duration,
            outcome,
            failure: FailureCode(failure),
            value: more.0,
            exit_status: more.1,
            batch,
            blocker: more.2.map(ProbeId),
            configuration: more.3.map(ConfigurationKey),
            processor_ns: more.4,
            resident_bytes_max: more.5,
            surroundings: more.6,
        }
    })
}

fn any_surroundings() -> impl Strategy<Value = Surroundings> {
    let pair = || option::of([any_number(), any_number()]);
    ([any::<u32>(); 3], any::<u32>(), any::<u32>(), option::of(any_number()), pair(), pair()).prop_map(
        |(load_milli, runnable, blocked, stalled_cpu_us, stalled_io_us, stalled_memory_us)| Surroundings {
            load_milli,
            runnable,
            blocked,
            stalled_cpu_us,
            stalled_io_us,
            stalled_memory_us,
        },
    )
}

fn any_series() -> impl Strategy<Value = Series> {
    use SeriesKind::{
        Benchmark, BenchmarkControl, Control, Covariate, ImportedDuration, ImportedValue, Task,
    };
    let imported = [ImportedDuration, ImportedValue];
    let kinds =
        select([[Task, Control, Covariate].as_slice(), &imported, &[Benchmark, BenchmarkControl]].concat());
    (any_key(), kinds, any_length(), any_length(), any_length(), any_text(), any_text(), any_time()).prop_map(
        |(key, kind, resolution_ns, period_ns, deadline_ns, description, unit, described)| Series {
            key,
            kind,
            resolution_ns,
            period_ns,
            deadline_ns,
            description,
            unit,
            described,
        },
    )
}

fn any_configuration() -> impl Strategy<Value = Configuration> {
    (few_ids(), any_host(), any_target(), any_time(), btree_map(any_text(), any_text(), 0..3)).prop_map(
        |(key, host, target, first_seen, facts): (_, _, _, _, BTreeMap<_, _>)| Configuration {
            key: ConfigurationKey(key),
            host,
            target,
            first_seen,
            facts,
        },
    )
}

fn any_event() -> impl Strategy<Value = Event> {
    use EventSource::{Journal, List, Note, Watch};
    let sources = select(&[Note, EventSource::Configuration, List, Journal, Watch][..]);
    let states = select(&[EventState::Holds, EventState::Holds, EventState::Removed][..]);
    let when = (
        select(&["a1", "b2"][..]),
        any_time(),
        option::of(any_time()),
        (option::of(any_time()), states, any_batch_id()),
    );
    (when, any_host(), any_target(), sources, any_text(), any_text(), option::of(any_text()), any_text())
        .prop_map(
            |((id, begin, end, (revised, state, batch)), host, target, source, kind, text, link, author)| {
                Event {
                    id: id.into(),
                    begin,
                    end,
                    host,
                    target,
                    source,
                    kind,
                    text,
                    link,
                    author,
                    revised,
                    state,
                    batch,
                }
            },
        )
}

fn any_batch() -> impl Strategy<Value = Batch> {
    let texts = (any_text(), any_text(), any_text(), any_text());
    (any_batch_id(), any_time(), texts, option::of(any_time())).prop_map(
        |(id, made, (file, hash, options, author), undone)| Batch {
            id: id.unwrap_or(BatchId(1)),
            made,
            file,
            hash,
            options,
            author,
            undone,
        },
    )
}

/// Few, and none as often as all others together.
fn any_batch_id() -> impl Strategy<Value = Option<BatchId>> {
    option::of(select(&[BatchId(1), BatchId(2), BatchId(3), BatchId(i64::MAX as u64)][..]))
}

fn any_outage() -> impl Strategy<Value = Outage> {
    use OutageEnding::{Rebooted, Recovered, Remounted, Unmounted};
    let endings = option::of(select(&[Recovered, Remounted, Unmounted, Rebooted][..]));
    let kinds = select(&[OutageKind::NoAnswer, OutageKind::NotMounted][..]);
    let targets = btree_set(any_target(), 0..3);
    let times = (any_time(), option::of(any_time()), endings, any_number());
    (any_host(), kinds, targets, any_text(), few_ids(), times).prop_map(
        |(host, kind, targets, mount, probe, (begin, end, ending, skipped))| Outage {
            kind,
            targets,
            host,
            mount,
            probe: ProbeId(probe),
            begin,
            end,
            ending,
            skipped,
        },
    )
}

pub fn any_rename() -> impl Strategy<Value = Rename> {
    let texts = (any_target(), any_target(), any_text());
    (any_host(), texts, -1..2i64).prop_map(|(host, (old, new, author), at)| Rename {
        host,
        old,
        new,
        at: WallTime(at),
        author,
    })
}

fn any_evidence() -> impl Strategy<Value = Evidence> {
    (any_host(), few_ids(), -1..1i64, any_text()).prop_map(|(host, probe, at, text)| Evidence {
        host,
        probe: ProbeId(probe),
        at: WallTime(at),
        text,
    })
}

fn any_session() -> impl Strategy<Value = WatchSession> {
    let end = select(&[SessionEnd::Open, SessionEnd::Stopped][..]);
    (any_host(), any_text(), -1..1i64, any_time(), end, any_text()).prop_map(
        |(host, boot_id, begin, last_seen, end, iolag_version)| WatchSession {
            host,
            boot_id,
            begin: WallTime(begin),
            last_seen,
            end,
            iolag_version,
        },
    )
}

fn any_host() -> impl Strategy<Value = String> {
    select(&["", "login1", "login2"][..]).prop_map(str::to_owned)
}

/// Few, and now and then another.
fn any_target() -> impl Strategy<Value = String> {
    prop_oneof![8 => select(&["", "/home", "/scratch", "work"][..]).prop_map(str::to_owned), 1 => any_text()]
}

fn any_key() -> impl Strategy<Value = SeriesKey> {
    (any_host(), select(&["/home", "/scratch"][..]), select(&["list", "list's \"part\""][..])).prop_map(
        |(host, target, task)| SeriesKey {
            host,
            target: target.into(),
            task: task.into(),
            part: "ls -n".into(),
        },
    )
}

/// Few, but with those at the ends of what a signed number holds.
fn few_ids() -> impl Strategy<Value = u64> {
    select(&[0, 1, 1 << 63, u64::MAX][..])
}

fn any_time() -> impl Strategy<Value = WallTime> {
    prop_oneof![Just(0), Just(7), Just(i64::MIN), Just(i64::MAX - 1), any::<i64>()].prop_map(|ns| {
        // The last moment belongs to no span.
        WallTime(ns.min(i64::MAX - 1))
    })
}

fn any_number() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), Just(1), Just(i64::MAX as u64), any::<u64>()]
}

fn any_length() -> impl Strategy<Value = Nanoseconds> {
    any_number().prop_map(Nanoseconds)
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        Just("a".to_owned()),
        Just("A'; DROP TABLE sample; --".to_owned()),
        Just("nul \0 ö\u{10ffff}".to_owned()),
        vec(any::<char>(), 0..6).prop_map(|letters| letters.into_iter().collect())
    ]
}
