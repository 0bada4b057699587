//! Histories made from a fixed seed: like study 000, like a watch of months, like two hours with a hang; odd ones are in `odd.rs`.

use std::collections::BTreeMap;

use iolag_analysis::history::HistoryInput;
use iolag_fixtures::made_up_series::series_of;
use iolag_model::{
    Configuration, ConfigurationKey, Event, EventSource, HistoryColumns, HistorySample, Nanoseconds, Outage,
    OutageEnding, Outcome, ProbeId, Random, Series, SeriesKey, SeriesKind, SessionEnd, Surroundings,
    WallTime, WatchSession,
};

const MINUTE: i64 = 60;
const DAY: i64 = 86_400;
/// 2008-04-25 00:00 UTC.
const APRIL_25: i64 = 1_209_081_600;
/// 2008-05-08 21:00 UTC.
const LDAP_CACHE: i64 = APRIL_25 + 13 * DAY + 21 * 3600;
/// 2026-06-01 00:00 UTC.
pub const JUNE_1: i64 = 1_780_272_000;

pub fn series(host: &str, target: &str, task: &str, kind: SeriesKind) -> Series {
    let like = series_of(target, task);
    Series { key: SeriesKey { host: host.to_owned(), ..like.key.clone() }, kind, ..like }
}

/// A sample that succeeded.
pub fn sample(second: f64, duration_seconds: f64) -> HistorySample {
    let moment = WallTime((second * 1e9) as i64);
    HistorySample {
        exit_status: Some(0),
        ..HistorySample::new(
            SeriesKey::default(),
            ProbeId((second * 1e3) as u64),
            moment,
            Nanoseconds((duration_seconds * 1e9) as u64),
            Outcome::Ok,
        )
    }
}

pub fn columns(samples: impl IntoIterator<Item = HistorySample>) -> HistoryColumns {
    let mut columns = HistoryColumns::default();
    samples.into_iter().for_each(|sample| columns.push(&sample));
    columns
}

fn log_normal(noise: &mut Random, median: f64, sigma: f64) -> f64 {
    median * (sigma * noise.normal()).exp()
}

pub fn event(id: &str, second: i64, source: EventSource, text: &str) -> Event {
    Event {
        id: id.to_owned(),
        text: text.to_owned(),
        author: "admin".to_owned(),
        ..Event::of_all(source, WallTime::from_seconds(second))
    }
}

/// Six weeks like those of study 000: three tasks, two file systems of one machine and one of another, imported from logs with two
/// digits; the cache of the directory service was switched on on May 8.
pub fn study() -> HistoryInput {
    let mut noise = Random::new(2008);
    let mut input = HistoryInput::default();
    let busy: Vec<f64> = weather(&mut noise, 43 * 96);
    for (host, target, task) in [
        ("franklin", "/home", "compile"),
        ("franklin", "/home", "create"),
        ("franklin", "/home", "list"),
        ("franklin", "/scratch", "compile"),
        ("franklin", "/scratch", "create"),
        ("franklin", "/scratch", "list"),
        ("bassi", "/home", "compile"),
        ("bassi", "/home", "create"),
        ("bassi", "/home", "list"),
    ] {
        let (first, offset) = match (host, target) {
            ("franklin", "/scratch") => (33 * 96, 300.0),
            ("bassi", _) => (4 * 96, 60.0),
            _ => (0, 0.0),
        };
        let rows = (first..43 * 96).map(|slot| {
            let second = APRIL_25 as f64 + slot as f64 * 900.0 + offset + noise.unit();
            let storm = if host == "franklin" { busy[slot] } else { 0.0 };
            let took = study_duration(&mut noise, (host, target, task), second, storm);
            let mut one = sample(second, (took * 100.0).floor() / 100.0);
            if second > (APRIL_25 + 5 * DAY) as f64 && host == "franklin" {
                let load = (1.5 + 2.0 * storm + 0.6 * noise.normal().abs()) * 1e3;
                one.surroundings =
                    Some(Surroundings { load_milli: [0, load as u32, 0], ..Surroundings::default() });
            }
            one
        });
        let columns = columns(rows);
        let described = Series {
            resolution_ns: Nanoseconds::from_milliseconds(10),
            deadline_ns: Nanoseconds::ZERO,
            ..series(host, target, task, SeriesKind::ImportedDuration)
        };
        input.series.push((described, columns));
    }
    let mut cache = event("ldap", LDAP_CACHE, EventSource::Note, "LDAP cache enabled on the login nodes");
    cache.host = "franklin".to_owned();
    cache.target = "/home".to_owned();
    cache.kind = "change".to_owned();
    cache.link = Some("https://tickets.example/4711".to_owned());
    input.events.push(cache);
    input.events.push(event("meeting", APRIL_25 + 30 * DAY, EventSource::List, "users' meeting"));
    input
}

/// How busy it is in each slot: quiet, with mountains.
fn weather(noise: &mut Random, slots: usize) -> Vec<f64> {
    let mut level = 0.0_f64;
    (0..slots)
        .map(|_| {
            level = 0.93 * level + 0.3 * noise.normal();
            level.max(0.0)
        })
        .collect()
}

fn study_duration(
    noise: &mut Random,
    (host, target, task): (&str, &str, &str),
    second: f64,
    storm: f64,
) -> f64 {
    let spike = if noise.unit() < 0.01 { (2.0 * noise.normal().abs()).exp() } else { 1.0 };
    match (host, target, task) {
        ("bassi", _, "list") => log_normal(noise, 0.006, 0.4),
        ("bassi", _, "create") => log_normal(noise, 1.1, 0.5),
        ("bassi", ..) => log_normal(noise, 0.8, 0.15),
        (_, "/scratch", "list") if noise.unit() < 0.2 => log_normal(noise, 0.011, 0.2),
        (_, "/scratch", "list") => 1.3 + log_normal(noise, 0.15, 0.8) * spike,
        (_, "/scratch", "create") => log_normal(noise, 1.2, 0.6) * (0.8 * storm).exp() * spike,
        (_, "/scratch", _) => 18.0 + log_normal(noise, 1.5, 0.6) * (0.7 * storm).exp() * spike,
        (_, _, "list") if second > LDAP_CACHE as f64 => log_normal(noise, 0.004, 0.7) * spike,
        (_, _, "list") => 0.1 + log_normal(noise, 0.6, 1.0) * spike,
        (_, _, "create") => log_normal(noise, 1.0, 0.6) * (0.5 * storm).exp() * spike,
        _ => 5.0 + log_normal(noise, 0.8, 0.6) * (0.6 * storm).exp() * spike,
    }
}

/// Two hours with a round every 10 s on three file systems: a delay switched on and noted, and a hang of 10 minutes on the same.
pub fn hang() -> HistoryInput {
    let mut noise = Random::new(77);
    let mut input = HistoryInput::default();
    let begin = JUNE_1 + 36_000;
    let (delayed, hung, over) = (begin + 3600, begin + 5000, begin + 5603);
    for (target, kind, factor) in [
        ("/data", SeriesKind::Task, 1.0),
        ("/fuse", SeriesKind::Task, 1.4),
        ("tmpfs", SeriesKind::Control, 0.3),
    ] {
        for (task, median) in [("list", 0.004), ("create", 0.03), ("stat", 0.0006)] {
            let mut rows = Vec::new();
            for slot in 0..720_i64 {
                let second = (begin + slot * 10) as f64 + 0.4 * noise.unit();
                let mut one = sample(second, log_normal(&mut noise, median * factor, 0.35));
                if target == "/fuse" {
                    if second > delayed as f64 {
                        one.duration_ns = Nanoseconds(one.duration_ns.0 + 50_000_000);
                    }
                    let blocked = second > hung as f64 && second < over as f64;
                    if blocked && task == "list" && slot == 501 {
                        (one.outcome, one.duration_ns) = (Outcome::Late, Nanoseconds::from_seconds(593));
                    } else if blocked {
                        (one.outcome, one.duration_ns) = (Outcome::Skipped, Nanoseconds::ZERO);
                        one.blocker = Some(ProbeId(1));
                    }
                }
                one.surroundings = Some(Surroundings {
                    load_milli: [0, 400 + (300.0 * noise.unit()) as u32, 0],
                    runnable: 1,
                    blocked: u32::from(second > hung as f64 && second < over as f64),
                    ..Surroundings::default()
                });
                rows.push(one);
            }
            let described = Series {
                period_ns: Nanoseconds::from_seconds(10),
                deadline_ns: Nanoseconds::from_seconds(5),
                ..series("node1", target, task, kind)
            };
            input.series.push((described, columns(rows)));
        }
    }
    let mut noted = event("delay", delayed + 40, EventSource::Note, "delay of 50 ms switched on");
    noted.target = "/fuse".to_owned();
    input.events.push(noted);
    input.outages.push(Outage {
        kind: Default::default(),
        targets: Default::default(),
        host: "node1".to_owned(),
        mount: "/fuse".to_owned(),
        probe: ProbeId(1),
        begin: WallTime::from_seconds(hung + 10),
        end: Some(WallTime::from_seconds(over)),
        ending: Some(OutageEnding::Recovered),
        skipped: 179,
    });
    input.sessions.push(session("node1", begin, begin + 7200));
    input
}

fn session(host: &str, begin: i64, last: i64) -> WatchSession {
    WatchSession {
        host: host.to_owned(),
        boot_id: "boot".to_owned(),
        begin: WallTime::from_seconds(begin),
        last_seen: WallTime::from_seconds(last),
        end: SessionEnd::Stopped,
        iolag_version: "0.1.0".to_owned(),
    }
}

/// Months of a round every quarter of an hour from two hosts: parts, a control, a covariate, hangs, gaps, a change of configuration,
/// a daily swing, and a journal.
pub fn watched(days: i64) -> HistoryInput {
    let mut noise = Random::new(404);
    let mut input = HistoryInput::default();
    let upgraded = JUNE_1 + days * DAY * 3 / 5;
    let gap = JUNE_1 + 40 * DAY..JUNE_1 + 43 * DAY;
    let hangs: Vec<i64> =
        (0..days / 12).map(|which| JUNE_1 + (which * 12 + 5) * DAY + which * 3000).collect();
    for host in ["login1", "login2"] {
        for (target, task, part, median) in [
            ("/home", "list", "", 0.02),
            ("/home", "list", "ls -n", 0.008),
            ("/home", "create", "", 0.4),
            ("/home", "create", "unlink", 0.12),
            ("/scratch", "list", "", 0.05),
            ("/scratch", "create", "", 0.9),
            ("tmpfs", "list", "", 0.002),
            ("tmpfs", "create", "", 0.006),
        ] {
            let kind = if target == "tmpfs" { SeriesKind::Control } else { SeriesKind::Task };
            let mut rows = Vec::new();
            for slot in 0..days * 96 {
                let due = JUNE_1 + slot * 15 * MINUTE;
                if host == "login1" && gap.contains(&due) {
                    continue;
                }
                rows.push(watched_sample(&mut noise, due, target, median, upgraded, &hangs));
            }
            let mut described = series(host, target, task, kind);
            described.key.part = part.to_owned();
            if part.is_empty() {
                described.description = format!("{task} in a small directory");
            }
            input.series.push((described, columns(rows)));
        }
        let jobs =
            Series { unit: "jobs".to_owned(), ..series(host, "", "jobs on the node", SeriesKind::Covariate) };
        let rows = (0..days * 24).map(|hour| {
            let mut one = sample((JUNE_1 + hour * 3600) as f64, 0.01);
            one.value = Some(
                (20.0 + 12.0 * (hour as f64 / 24.0 * std::f64::consts::TAU).sin() + 4.0 * noise.normal())
                    .max(0.0)
                    .round(),
            );
            one
        });
        input.series.push((jobs, columns(rows.collect::<Vec<_>>())));
        input.sessions.push(session(host, JUNE_1, JUNE_1 + 40 * DAY));
        for (key, second, version) in [(11, JUNE_1, "2.15.4"), (12, upgraded, "2.15.6")] {
            let facts = [
                ("kernel", "5.14.0-503"),
                ("file system", "lustre"),
                ("client version", version),
                ("mount options", "rw,flock,lazystatfs,encrypt"),
            ];
            input.configurations.push(Configuration {
                key: ConfigurationKey(key),
                host: host.to_owned(),
                target: "/scratch".to_owned(),
                first_seen: WallTime::from_seconds(second),
                facts: facts
                    .map(|(name, value)| (name.to_owned(), value.to_owned()))
                    .into_iter()
                    .collect::<BTreeMap<_, _>>(),
            });
        }
        input.outages.extend(hangs.iter().enumerate().map(|(index, begin)| {
            Outage {
                kind: Default::default(),
                targets: Default::default(),
                host: host.to_owned(),
                mount: "/scratch".to_owned(),
                probe: ProbeId(*begin as u64 * 1000),
                begin: WallTime::from_seconds(*begin),
                end: (index + 1 < hangs.len() || host == "login1")
                    .then(|| WallTime::from_seconds(begin + 2 * 3600 + 17)),
                ending: (index + 1 < hangs.len() || host == "login1").then_some(match index % 3 {
                    0 => OutageEnding::Recovered,
                    1 => OutageEnding::Remounted,
                    _ => OutageEnding::Rebooted,
                }),
                skipped: 14,
            }
        }));
    }
    let mut upgrade =
        event("upgrade", upgraded + 600, EventSource::Configuration, "client version 2.15.4 → 2.15.6");
    upgrade.target = "/scratch".to_owned();
    input.events.push(upgrade);
    for (index, begin) in hangs.iter().enumerate() {
        let mut restart =
            event(&format!("mds{index}"), begin - 120, EventSource::List, "metadata server restarted");
        restart.kind = "mds restart".to_owned();
        input.events.push(restart);
    }
    for index in 0..400_i64 {
        let second = JUNE_1 + (noise.unit() * (days * DAY) as f64) as i64;
        let mut line =
            event(&format!("journal{index}"), second, EventSource::Journal, "LustreError: slow reply");
        line.kind = "lustre error".to_owned();
        input.events.push(line);
    }
    input
}

fn watched_sample(
    noise: &mut Random,
    due: i64,
    target: &str,
    median: f64,
    upgraded: i64,
    hangs: &[i64],
) -> HistorySample {
    let hour = (due % DAY) as f64 / DAY as f64;
    let daily = 1.0 + 0.5 * (std::f64::consts::TAU * (hour - 0.35)).sin().max(0.0);
    let slower = if target == "/scratch" && due >= upgraded { 1.8 } else { 1.0 };
    let tail = if noise.unit() < 0.004 { (3.0 * noise.normal().abs()).exp() } else { 1.0 };
    let of_target = if target == "tmpfs" { 1.0 } else { daily * slower * tail };
    let mut one =
        sample(due as f64 + 20.0 * noise.unit(), log_normal(noise, median * of_target, 0.3).min(59.0));
    one.intended = WallTime::from_seconds(due);
    one.configuration =
        (target == "/scratch").then_some(ConfigurationKey(if due < upgraded { 11 } else { 12 }));
    one.surroundings = Some(Surroundings {
        load_milli: [0, (1000.0 * daily * (2.0 + noise.normal().abs())) as u32, 0],
        runnable: 2,
        blocked: 0,
        ..Surroundings::default()
    });
    if let Some(begin) =
        hangs.iter().find(|begin| target == "/scratch" && due >= **begin && due < **begin + 7217)
    {
        if due < begin + 900 {
            (one.outcome, one.duration_ns) = (Outcome::Timeout, Nanoseconds::from_seconds(60));
        } else {
            (one.outcome, one.duration_ns) = (Outcome::Skipped, Nanoseconds::ZERO);
            one.blocker = Some(ProbeId(*begin as u64 * 1000));
        }
    } else if noise.unit() < 0.0005 {
        one.outcome = Outcome::Error;
    }
    one
}

/// Nine series with a round every minute.
pub fn large(samples: usize) -> HistoryInput {
    let mut noise = Random::new(5);
    let mut input = HistoryInput::default();
    for target in ["/home", "/scratch", "/projects"] {
        for (task, median) in [("compile", 1.0), ("list", 0.01), ("create", 0.3)] {
            let rows = (0..(samples / 9) as i64).map(|slot| {
                let second = (JUNE_1 + slot * MINUTE) as f64 + 5.0 * noise.unit();
                let mut one = sample(second, log_normal(&mut noise, median, 0.5));
                if noise.unit() < 1e-4 {
                    (one.outcome, one.duration_ns) = (Outcome::Timeout, Nanoseconds::from_seconds(60));
                }
                one
            });
            input.series.push((series("login1", target, task, SeriesKind::Task), columns(rows)));
        }
    }
    input
}
