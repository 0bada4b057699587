//! Histories about which everything is known: does the analysis say so?

use iolag_analysis::history::{
    EventPlace, HistoryAnalysis, HistoryFinding, HistoryFindingKind, HistoryFound, HistoryInput,
    HistoryOptions, Knowledge, LevelEnd, Strength, analyse_history,
};
use iolag_model::Random;
use iolag_model::{
    Event, EventSource, HistoryColumns, HistorySample, Nanoseconds, Outage, OutageEnding, Outcome, ProbeId,
    Series, SeriesKey, SeriesKind, Surroundings, WallTime,
};

const FIRST_SECOND: i64 = 1_209_081_600;

fn series(target: &str, task: &str, part: &str, kind: SeriesKind) -> Series {
    Series {
        key: SeriesKey {
            host: "nid4100".to_owned(),
            target: target.to_owned(),
            task: task.to_owned(),
            part: part.to_owned(),
        },
        kind,
        resolution_ns: Nanoseconds::ZERO,
        period_ns: Nanoseconds::ZERO,
        deadline_ns: Nanoseconds::from_seconds(600),
        description: String::new(),
        unit: String::new(),
        described: WallTime(0),
    }
}

fn sample(probe: u64, second: f64, duration_seconds: f64, outcome: Outcome) -> HistorySample {
    let moment = WallTime(FIRST_SECOND * 1_000_000_000 + (second * 1e9) as i64);
    HistorySample {
        failure: iolag_model::FailureCode::NONE,
        ..HistorySample::new(
            SeriesKey::default(),
            ProbeId(probe + 1),
            moment,
            Nanoseconds((duration_seconds * 1e9) as u64),
            outcome,
        )
    }
}

fn columns(samples: impl IntoIterator<Item = HistorySample>) -> HistoryColumns {
    let mut columns = HistoryColumns::default();
    samples.into_iter().for_each(|sample| columns.push(&sample));
    columns
}

fn event(id: &str, second: i64, text: &str) -> Event {
    Event {
        id: id.to_owned(),
        text: text.to_owned(),
        author: "operator".to_owned(),
        ..Event::of_all(EventSource::Note, WallTime::from_seconds(FIRST_SECOND + second))
    }
}

fn of_kind(analysis: &HistoryAnalysis, kind: HistoryFindingKind) -> Vec<&HistoryFinding> {
    analysis.findings.iter().filter(|finding| finding.kind() == kind).collect()
}

/// Two hours, a round every 10 s, on two targets and memory: a delay of 30 ms from the middle on, and a hang of ten minutes.
fn accelerated() -> HistoryInput {
    let mut noise = Random::new(1);
    let mut quiet = |seconds: f64| seconds * (0.3 * noise.normal()).exp();
    let fuse = (0..720_u64).map(|round| {
        let second = round as f64 * 10.0;
        match round {
            500 => sample(round, second, 603.0, Outcome::Late),
            501..560 => sample(round, second, 0.0, Outcome::Skipped),
            _ => sample(round, second, quiet(0.002) + if round >= 360 { 0.03 } else { 0.0 }, Outcome::Ok),
        }
    });
    let fuse = columns(fuse);
    let ext4 =
        columns((0..720).map(|round| sample(round, round as f64 * 10.0 + 1.0, quiet(0.002), Outcome::Ok)));
    let memory =
        columns((0..720).map(|round| sample(round, round as f64 * 10.0 + 2.0, quiet(0.001), Outcome::Ok)));
    HistoryInput {
        series: vec![
            (series("/mnt/fuse", "list", "", SeriesKind::Task), fuse),
            (series("/mnt/ext4", "list", "", SeriesKind::Task), ext4),
            (series("/dev/shm", "list", "", SeriesKind::Control), memory),
        ],
        events: vec![event("delay", 3580, "delay switched on"), event("restart", 4880, "mds restart")],
        outages: vec![Outage {
            kind: Default::default(),
            targets: Default::default(),
            host: "nid4100".to_owned(),
            mount: "/mnt/fuse".to_owned(),
            probe: ProbeId(501),
            begin: WallTime::from_seconds(FIRST_SECOND + 5000),
            end: Some(WallTime::from_seconds(FIRST_SECOND + 5603)),
            ending: Some(OutageEnding::Recovered),
            skipped: 59,
        }],
        ..HistoryInput::default()
    }
}

#[test]
fn hang_change_event_and_unaffected_targets_of_the_accelerated_run_are_plain_to_see() {
    let analysis = analyse_history(&accelerated(), &HistoryOptions::default());
    let HistoryFound::Outage(outage) = &analysis.findings[0].found else {
        panic!("{:?}", analysis.findings[0])
    };
    assert_eq!(outage.length_ns, Nanoseconds::from_seconds(603));
    let before = EventPlace::Before(Nanoseconds::from_seconds(120));
    assert_eq!(outage.event, Some(("mds restart".to_owned(), before)));
    let changes = of_kind(&analysis, HistoryFindingKind::Change);
    let [change] = changes[..] else { panic!("{changes:?}") };
    let HistoryFound::Level(level) = &change.found else { panic!("{change:?}") };
    assert!(level.direction.is_up && level.end == LevelEnd::Lasts, "{level:?}");
    assert_eq!(level.event.as_ref().map(|event| event.text.as_str()), Some("delay switched on"));
    assert_eq!((change.series.len(), change.series[0].target.as_str()), (1, "/mnt/fuse"));
    let fuse = analysis.series.iter().find(|one| one.summary.series.key.target == "/mnt/fuse").unwrap();
    assert!(fuse.changes[0].place.abs_diff(360) <= 1);
    assert_eq!(fuse.events.events_unmatched, ["restart"]);
    assert!(
        analysis
            .series
            .iter()
            .filter(|one| one.summary.series.key.target != "/mnt/fuse")
            .all(|one| one.changes.is_empty())
    );
    // The hang is one episode, of one series.
    let hang = analysis
        .episodes
        .iter()
        .find(|one| one.end.since(one.begin) >= Nanoseconds::from_seconds(600))
        .unwrap();
    assert_eq!((hang.series.len(), hang.series[0].skipped), (1, 59));
}

/// The shape of study 000: 42 days every 15 min; names cached from the 14th day on; home and scratch compile together, five minutes
/// apart; one listing in five on scratch is answered by a cache.
fn study_000() -> HistoryInput {
    let mut noise = Random::new(2);
    let slots = 42 * 96;
    let cause: Vec<f64> = (0..slots).map(|_| noise.normal()).collect();
    let mut home_list = Vec::new();
    let mut scratch_list = Vec::new();
    let mut home_compile = Vec::new();
    let mut scratch_compile = Vec::new();
    let mut home_create = Vec::new();
    for (slot, cause) in cause.iter().enumerate() {
        let (second, probe) = (slot as f64 * 900.0, slot as u64);
        let hundredth = |seconds: f64| (seconds * 100.0).floor() / 100.0;
        let listing = if slot < 14 * 96 {
            1.1 * (0.8 * noise.normal()).exp() + 0.1
        } else {
            0.004 * (0.5 * noise.normal()).exp()
        };
        home_list.push(sample(probe, second + 20.0, hundredth(listing), Outcome::Ok));
        let cached = noise.unit() < 0.2;
        let listing = if cached { 0.01 } else { 1.3 + 0.3 * (0.7 * noise.normal()).exp() };
        scratch_list.push(sample(probe, second + 320.0, hundredth(listing), Outcome::Ok));
        let mut compile = |least: f64| hundredth(least * (0.25 * (0.8 * cause + 0.6 * noise.normal())).exp());
        home_compile.push(sample(probe, second, compile(5.0), Outcome::Ok));
        scratch_compile.push(sample(probe, second + 300.0, compile(18.0), Outcome::Ok));
        let mut create =
            sample(probe, second + 40.0, hundredth(0.9 * (0.6 * noise.normal()).exp()), Outcome::Ok);
        let load_milli = (4000.0 * (0.4 * noise.normal()).exp()) as u32;
        create.surroundings = Some(Surroundings { load_milli: [load_milli; 3], ..Surroundings::default() });
        home_create.push(create);
    }
    let imported = |target: &str, task: &str, samples: Vec<HistorySample>| {
        let described = Series {
            resolution_ns: Nanoseconds::from_milliseconds(10),
            ..series(target, task, "", SeriesKind::ImportedDuration)
        };
        (described, columns(samples))
    };
    HistoryInput {
        series: vec![
            imported("/home", "compile", home_compile),
            imported("/scratch", "compile", scratch_compile),
            imported("/home", "ls -l", home_list),
            imported("/scratch", "ls -l", scratch_list),
            imported("/home", "create", home_create),
        ],
        events: vec![event("ldap", 13 * 86_400, "LDAP cache enabled")],
        ..HistoryInput::default()
    }
}

#[test]
fn study_000_is_told_as_its_author_told_it() {
    let input = study_000();
    let analysis = analyse_history(&input, &HistoryOptions::default());
    let changes = of_kind(&analysis, HistoryFindingKind::Change);
    let key = |index: usize| &input.series[index].0.key;
    let [change] = changes[..] else { panic!("{changes:?}") };
    let HistoryFound::Level(level) = &change.found else { panic!("{change:?}") };
    assert_eq!(change.series[0], *key(2));
    assert!(!level.direction.is_up, "it became faster");
    let bounds = (level.change.ratio.value_is, level.change.median_after_is);
    assert_eq!(bounds, (Knowledge::AtMost, Knowledge::AtMost), "{level:?}");
    let event = level.event.as_ref().expect("the cache is named");
    assert_eq!(event.text, "LDAP cache enabled");
    let EventPlace::Before(apart) = event.place else { panic!("{event:?}") };
    assert_eq!(apart.as_seconds() as u64 / 3600, 24);

    let strength = |one: usize, other: usize| {
        analysis.correlations.pair(key(one), key(other)).unwrap().correlation.strength
    };
    assert_eq!(
        (strength(0, 1), strength(2, 3), strength(0, 2)),
        (Strength::Strong, Strength::None, Strength::None)
    );
    let correlated = of_kind(&analysis, HistoryFindingKind::Correlation);
    assert_eq!(correlated.len(), 1, "{correlated:?}");

    let modes = of_kind(&analysis, HistoryFindingKind::Modes);
    assert!(modes.iter().any(|finding| finding.series[0] == *key(3)), "{modes:?}");
    assert!(
        of_kind(&analysis, HistoryFindingKind::Resolution).iter().any(|finding| finding.series[0] == *key(2))
    );
    assert!(of_kind(&analysis, HistoryFindingKind::Periodicity).is_empty());
}

#[test]
fn the_order_of_what_comes_in_does_not_matter() {
    let input = accelerated();
    let mut turned = input.clone();
    turned.series.reverse();
    turned.events.reverse();
    let options = HistoryOptions::default();
    let (one, other) = (analyse_history(&input, &options), analyse_history(&turned, &options));
    let text = |analysis: &HistoryAnalysis| serde_json::to_string(analysis).unwrap();
    assert!(text(&one) == text(&other));
}

#[test]
fn an_empty_history_says_nothing() {
    let analysis = analyse_history(&HistoryInput::default(), &HistoryOptions::default());
    assert!(analysis.findings.is_empty() && analysis.begin.is_none());
    let nothing = HistoryInput {
        series: vec![(series("/home", "list", "", SeriesKind::Task), HistoryColumns::default())],
        ..HistoryInput::default()
    };
    assert!(analyse_history(&nothing, &HistoryOptions::default()).episodes.is_empty());
}
