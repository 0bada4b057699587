//! A watch with a hang, and the history that it has written.

use iolag_analysis::history::Tallies;
use iolag_model::{
    FailureCode, HistorySample, LastSample, MonotonicTime, Nanoseconds, Outage, Outcome, ProbeId, ProbePhase,
    ProbeStatus, Series, SeriesKey, SeriesKind, TargetState, TargetStatus, WallTime, WatchStatus,
};
use iolag_report::Exposition;

pub const NOW_NS: u64 = 10_000_000_000_000;
const BEGIN: i64 = 1_795_000_000;

pub struct Scene {
    pub tallies: Tallies,
    pub status: WatchStatus,
}

impl Scene {
    pub fn empty() -> Self {
        let status = WatchStatus {
            version: 1,
            iolag_version: "0.1.0".into(),
            process: 7,
            process_start_ticks: 7,
            host: "login1".into(),
            boot_id: "b".into(),
            history: "/var/lib/iolag/history.sqlite".into(),
            begin: WallTime::from_seconds(BEGIN),
            written: WallTime::from_seconds(BEGIN + 9000),
            written_ns: MonotonicTime(NOW_NS - 1),
            next_round_ns: MonotonicTime(NOW_NS + 1),
            rounds: 11,
            in_flight: Vec::new(),
            last: Vec::new(),
            targets: Vec::new(),
            outages: Vec::new(),
            waiting_records: 0,
            history_trouble: None,
            lag_ns: Nanoseconds::from_milliseconds(12),
        };
        Self { tallies: Tallies::default(), status }
    }

    pub fn exposition(&self) -> Exposition<'_> {
        Exposition {
            host: "login1",
            iolag_version: "0.1.0",
            now: MonotonicTime(NOW_NS),
            status: Some(&self.status),
            left_behind: &[],
            tallies: Some(&self.tallies),
            history_read: Some(WallTime::from_seconds(BEGIN + 9001)),
        }
    }

    pub fn ended(&mut self, target: &str, task: &str, probe: u64, outcome: Outcome, milliseconds: u64) {
        self.count(&key("login1", target, task), probe, outcome, milliseconds);
    }

    fn describe(&mut self, key: &SeriesKey, kind: SeriesKind) {
        self.tallies.describe(&Series {
            key: key.clone(),
            kind,
            resolution_ns: Nanoseconds::ZERO,
            period_ns: Nanoseconds::from_seconds(900),
            deadline_ns: Nanoseconds::from_seconds(60),
            description: String::new(),
            unit: String::new(),
            described: WallTime::from_seconds(BEGIN),
        });
    }

    fn count(&mut self, key: &SeriesKey, probe: u64, outcome: Outcome, milliseconds: u64) {
        let moment = WallTime::from_seconds(BEGIN + 900 * probe as i64);
        self.tallies.count(&HistorySample {
            failure: if outcome == Outcome::Error { FailureCode::EXIT } else { FailureCode::NONE },
            ..HistorySample::new(
                key.clone(),
                ProbeId(probe),
                moment,
                Nanoseconds::from_milliseconds(milliseconds),
                outcome,
            )
        });
    }
}

pub fn key(host: &str, target: &str, task: &str) -> SeriesKey {
    SeriesKey { host: host.into(), target: target.into(), task: task.into(), part: String::new() }
}

/// /home is well; /scratch has hung twice, and its second hang lasts; login2 is another host; a covariate and a part must not show.
pub fn scene() -> Scene {
    let mut scene = Scene::empty();
    let (home, scratch) = (key("login1", "/home", "list"), key("login1", "/scratch", "list"));
    let part = SeriesKey { part: "ls -n".into(), ..scratch.clone() };
    let jobs = key("login1", "", "jobs");
    for (key, kind) in
        [(&home, SeriesKind::Task), (&scratch, SeriesKind::Task), (&jobs, SeriesKind::Covariate)]
    {
        scene.describe(key, kind);
    }
    for probe in 1..=8 {
        scene.count(&home, probe, Outcome::Ok, 12);
        scene.count(&jobs, probe, Outcome::Ok, 3);
        scene.count(&part, probe, Outcome::Ok, 2);
    }
    for (probe, outcome, milliseconds) in [
        (1, Outcome::Ok, 20),
        (2, Outcome::Ok, 300),
        (3, Outcome::Error, 1),
        (4, Outcome::Ok, 2000),
        (5, Outcome::Hung, 60_000),
        (5, Outcome::Late, 300_000),
        (6, Outcome::Skipped, 0),
        (7, Outcome::Hung, 60_000),
        (7, Outcome::Hung, 754_000),
    ] {
        scene.count(&scratch, probe, outcome, milliseconds);
    }
    scene.count(&key("login2", "/home", "list"), 1, Outcome::Ok, 500);
    let start = WallTime::from_seconds(BEGIN + 6300);
    let start_ns = MonotonicTime(NOW_NS - 754_000_000_000);
    let probe = ProbeId(7);
    let (phase, waits_in) = (ProbePhase::Hung, "request_wait_answer".to_owned());
    let (series, part) = (scratch.clone(), "ls -n".to_owned());
    scene.status.in_flight = vec![ProbeStatus {
        series,
        probe,
        part,
        process: 4711,
        start_ns,
        start,
        phase,
        waits_in,
        progress: None,
    }];
    let target = |name: &str, mount_point: &str, kind: &str, state, since| TargetStatus {
        name: name.into(),
        mount_point: mount_point.into(),
        kind: kind.into(),
        state,
        since,
    };
    scene.status.targets = vec![
        target("/home", "/", "ext4", TargetState::Slow, None),
        target("/scratch", "/scratch", "nfs4", TargetState::NoAnswer, Some(start)),
        target("archive", "/archive", "", TargetState::NotMounted, Some(start)),
        target("/new", "", "", TargetState::Unknown, None),
    ];
    scene.status.outages = vec![Outage {
        kind: Default::default(),
        targets: Default::default(),
        host: "login1".into(),
        mount: "/scratch".into(),
        probe,
        begin: start,
        end: None,
        ending: None,
        skipped: 0,
    }];
    let last = |series: &SeriesKey, outcome, milliseconds| LastSample {
        series: series.clone(),
        start: WallTime::from_seconds(BEGIN + 7200),
        duration_ns: Nanoseconds::from_milliseconds(milliseconds),
        value: None,
        outcome,
    };
    scene.status.last = vec![
        last(&home, Outcome::Ok, 12),
        last(&scratch, Outcome::Hung, 754_000),
        last(&jobs, Outcome::Ok, 3),
    ];
    scene
}
