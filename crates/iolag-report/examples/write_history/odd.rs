//! Odd histories: hostile names, a single sample, nothing that ended, values only.

use std::collections::BTreeMap;

use iolag_analysis::history::HistoryInput;
use iolag_model::Random;
use iolag_model::{
    Configuration, ConfigurationKey, EventSource, HistorySample, Nanoseconds, Outage, OutageEnding,
    OutageKind, Outcome, ProbeId, Series, SeriesKind, WallTime,
};

use crate::made_up::{JUNE_1, columns, event, sample, series};

/// Names that want to be markup.
pub fn hostile() -> HistoryInput {
    const SCRIPT: &str = "<script>alert(1)</script>";
    let mut noise = Random::new(13);
    let rows = || -> Vec<HistorySample> {
        (0..300).map(|slot| sample((JUNE_1 + slot * 900) as f64, 0.01)).collect()
    };
    let mut described =
        series("</script><img src=x onerror=alert(2)>", SCRIPT, "\"><b>'&amp;`", SeriesKind::Task);
    described.description = "</style><!-- \u{202e}evil\u{0}".to_owned();
    let mut values =
        series("</script><img src=x onerror=alert(2)>", "", "<svg/onload=alert(3)>", SeriesKind::Covariate);
    values.unit = "<i>".to_owned();
    let other = series("</script><img src=x onerror=alert(2)>", "/plain", "\"><b>'&amp;`", SeriesKind::Task);
    let mut events = Vec::new();
    for (index, link) in
        ["javascript:alert(4)", "https://ok.example/\"><script>", " data:text/html,x"].iter().enumerate()
    {
        let mut one = event(
            &format!("e\"{index}>"),
            JUNE_1 + 40_000 + index as i64 * 50_000,
            EventSource::Note,
            "<img src=x onerror=alert(5)>`${7}`",
        );
        one.link = Some((*link).to_owned());
        one.kind = "</td><script>alert(6)</script>".to_owned();
        one.author = "<u>me".to_owned();
        events.push(one);
    }
    let with_values = rows().into_iter().map(|mut one| {
        one.value = Some(noise.unit());
        one
    });
    HistoryInput {
        series: vec![(values, columns(with_values)), (described, columns(rows())), (other, columns(rows()))],
        events,
        outages: vec![Outage {
            kind: Default::default(),
            targets: Default::default(),
            host: "</script><img src=x onerror=alert(2)>".to_owned(),
            mount: SCRIPT.to_owned(),
            probe: ProbeId(9),
            begin: WallTime::from_seconds(JUNE_1 + 90_000),
            end: None,
            ending: None,
            skipped: 3,
        }],
        configurations: vec![Configuration {
            key: ConfigurationKey(1),
            host: "<script>".to_owned(),
            target: SCRIPT.to_owned(),
            first_seen: WallTime::from_seconds(JUNE_1),
            facts: BTreeMap::from([("<script>alert(8)</script>".to_owned(), "</textarea>".to_owned())]),
        }],
        sessions: Vec::new(),
        failures: Vec::new(),
    }
}

pub fn one_sample() -> HistoryInput {
    let columns = columns([sample(JUNE_1 as f64, 0.3)]);
    HistoryInput {
        series: vec![(series("login1", "/home", "list", SeriesKind::Task), columns)],
        ..HistoryInput::default()
    }
}

/// Nothing ever ended.
pub fn all_hung() -> HistoryInput {
    let rows = (0..200_i64).map(|slot| {
        let mut one = sample((JUNE_1 + slot * 900) as f64, 0.0);
        if slot == 0 {
            (one.outcome, one.duration_ns) = (Outcome::Hung, Nanoseconds::from_seconds(200 * 900));
        } else {
            (one.outcome, one.blocker) = (Outcome::Skipped, Some(ProbeId((JUNE_1 * 1000) as u64)));
        }
        one
    });
    let outage = Outage {
        kind: Default::default(),
        targets: Default::default(),
        host: "login1".to_owned(),
        mount: "/scratch".to_owned(),
        probe: ProbeId((JUNE_1 * 1000) as u64),
        begin: WallTime::from_seconds(JUNE_1),
        end: None,
        ending: None,
        skipped: 199,
    };
    HistoryInput {
        series: vec![(series("login1", "/scratch", "list", SeriesKind::Task), columns(rows))],
        outages: vec![outage],
        ..HistoryInput::default()
    }
}

/// Targets with names of their own: one whose mount hung, one that was not mounted, and one beside which another of its root hung.
pub fn named_targets() -> HistoryInput {
    let (hang, absence, of_root) = (JUNE_1 + 100 * 900, JUNE_1 + 160 * 900, JUNE_1 + 220 * 900);
    let outage = |kind, mount: &str, target: &str, begin: i64| Outage {
        kind,
        targets: [target.to_owned()].into(),
        host: "login1".to_owned(),
        mount: mount.to_owned(),
        probe: ProbeId((begin * 1000) as u64),
        begin: WallTime::from_seconds(begin),
        end: Some(WallTime::from_seconds(begin + 20 * 900)),
        ending: Some(match kind {
            OutageKind::NoAnswer => OutageEnding::Recovered,
            OutageKind::NotMounted => OutageEnding::Remounted,
        }),
        skipped: 19,
    };
    let outages = vec![
        outage(OutageKind::NoAnswer, "/mnt/lustre", "scratch", hang),
        outage(OutageKind::NotMounted, "/work", "work", absence),
        outage(OutageKind::NoAnswer, "/", "/var/tmp", of_root),
    ];
    let mut noise = Random::new(5);
    let list = ["scratch", "work", "/home"].map(|target| {
        let rows = (0..300_i64).map(|slot| {
            let second = JUNE_1 + slot * 900;
            let mut one = sample(second as f64, 0.02 + 0.01 * noise.unit());
            let is_in = |outage: &&Outage| {
                outage.targets.contains(target) && outage.begin <= one.start && Some(one.start) < outage.end
            };
            if let Some(outage) = outages.iter().find(is_in) {
                if outage.begin == one.start && outage.kind == OutageKind::NoAnswer {
                    (one.outcome, one.duration_ns) = (Outcome::Late, Nanoseconds::from_seconds(20 * 900));
                } else {
                    (one.outcome, one.duration_ns) = (Outcome::Skipped, Nanoseconds::ZERO);
                    one.blocker = Some(outage.probe);
                }
            }
            one
        });
        (series("login1", target, "list", SeriesKind::Task), columns(rows.collect::<Vec<_>>()))
    });
    HistoryInput { series: list.to_vec(), outages, ..HistoryInput::default() }
}

/// Imports of values, no duration at all.
pub fn values_only() -> HistoryInput {
    let mut noise = Random::new(3);
    let mut list = Vec::new();
    for (name, unit, around) in [("open files", "files", 4000.0), ("network", "MB/s", 90.0)] {
        let rows = (0..2000_i64).map(|slot| {
            let mut one = sample((JUNE_1 + slot * 300) as f64, 0.0);
            one.value =
                Some(around * (1.0 + 0.3 * (slot as f64 / 90.0).sin()) + 0.05 * around * noise.normal());
            one
        });
        let described =
            Series { unit: unit.to_owned(), ..series("login1", "", name, SeriesKind::ImportedValue) };
        list.push((described, columns(rows.collect::<Vec<_>>())));
    }
    HistoryInput { series: list, ..HistoryInput::default() }
}
