//! Incident reports from a history, as files in tests/snapshots.

use std::collections::BTreeMap;

use iolag_analysis::history::{HistoryInput, HistoryOptions, analyse_history, find_incident};
use iolag_model::Random;
use iolag_model::{
    Configuration, ConfigurationKey, Event, EventSource, Evidence, HistoryColumns, HistorySample,
    Nanoseconds, Outage, OutageEnding, OutageKind, Outcome, ProbeId, Series, SeriesKey, SeriesKind, WallSpan,
    WallTime,
};
use iolag_report::{HistoryHead, IncidentHistory, incident_history_text};
use jiff::tz::TimeZone;
use proptest::prelude::*;

/// 2008-05-01, midnight UTC.
const BEGIN_SECONDS: i64 = 1_209_600_000;
const PERIOD_SECONDS: i64 = 900;
const SLOTS: i64 = 192;
/// The slot of a hang of two hours in /home.
const HANG: i64 = 100;
/// Slots that nobody measured.
const GAP: std::ops::Range<i64> = 30..40;

fn at(slot: i64) -> WallTime {
    WallTime::from_seconds(BEGIN_SECONDS + slot * PERIOD_SECONDS)
}

fn series(target: &str, task: &str, kind: SeriesKind) -> Series {
    let key = SeriesKey {
        host: "login1".to_owned(),
        target: target.to_owned(),
        task: task.to_owned(),
        part: String::new(),
    };
    Series {
        key,
        kind,
        resolution_ns: Nanoseconds::ZERO,
        period_ns: Nanoseconds::from_seconds(900),
        deadline_ns: Nanoseconds::from_seconds(600),
        description: String::new(),
        unit: String::new(),
        described: WallTime(0),
    }
}

fn sample(key: &SeriesKey, probe: u64, slot: i64, seconds: f64, outcome: Outcome) -> HistorySample {
    HistorySample::new(key.clone(), ProbeId(probe), at(slot), Nanoseconds((seconds * 1e9) as u64), outcome)
}

/// Two days of three places. `has_hang`: /home hangs for two hours, and creating there is faster from the middle of the second day on; the
/// others go on.
fn measured(has_hang: bool) -> Vec<(Series, HistoryColumns)> {
    let mut noise = Random::new(2008);
    let mut all: Vec<(Series, HistoryColumns)> = [
        series("/home", "create", SeriesKind::Task),
        series("/home", "list", SeriesKind::Task),
        series("/scratch", "list", SeriesKind::Task),
        series("host memory", "list", SeriesKind::Control),
    ]
    .map(|series| (series, HistoryColumns::default()))
    .to_vec();
    for slot in (0..SLOTS).filter(|slot| !GAP.contains(slot)) {
        for (index, (series, columns)) in all.iter_mut().enumerate() {
            let usual = [0.4, 0.05, 1.1, 0.01][index] * (1.0 + 0.1 * noise.unit());
            let probe = slot as u64 * 10 + index as u64;
            let is_home = has_hang && series.key.target == "/home";
            let (outcome, seconds) = match slot {
                HANG if is_home && index == 0 => (Outcome::Late, 7000.0),
                HANG if is_home => (Outcome::Skipped, 0.0),
                _ if is_home && (HANG + 1..HANG + 8).contains(&slot) => (Outcome::Skipped, 0.0),
                _ if is_home && index == 0 && slot >= 144 => (Outcome::Ok, usual / 2.0),
                _ => (Outcome::Ok, usual),
            };
            let mut sample = sample(&series.key, probe, slot, seconds, outcome);
            sample.blocker = (outcome == Outcome::Skipped).then_some(hung_probe());
            columns.push(&sample);
        }
    }
    all
}

const fn hung_probe() -> ProbeId {
    ProbeId(HANG as u64 * 10)
}

fn outage() -> Outage {
    Outage {
        kind: Default::default(),
        targets: Default::default(),
        host: "login1".to_owned(),
        mount: "/home".to_owned(),
        probe: hung_probe(),
        begin: at(HANG),
        end: Some(at(HANG).after(Nanoseconds::from_seconds(7000))),
        ending: Some(OutageEnding::Recovered),
        skipped: 15,
    }
}

fn event(id: &str, slot: i64, source: EventSource, kind: &str, text: &str) -> Event {
    Event {
        id: id.to_owned(),
        kind: kind.to_owned(),
        text: text.to_owned(),
        author: "ann".to_owned(),
        ..Event::of_all(source, at(slot))
    }
}

fn events() -> Vec<Event> {
    let mut noted = event("a", HANG - 4, EventSource::Note, "change", "Server home1 rebooted");
    noted.target = "/home".to_owned();
    noted.link = Some("https://tickets.example/7".to_owned());
    let mut lasted = event("b", 20, EventSource::List, "maintenance", "Batch system down");
    lasted.end = Some(at(24));
    let complaint = "nfs: server home1 not responding";
    let near = event("c", HANG + 1, EventSource::Journal, "not responding", complaint);
    let far = event("d", 10, EventSource::Journal, "not responding", complaint);
    let open = event("e", HANG + 6, EventSource::Note, "", "Called the vendor");
    vec![far, lasted, noted, near, open]
}

fn configuration(key: u64, slot: i64, kernel: &str) -> Configuration {
    Configuration {
        key: ConfigurationKey(key),
        host: "login1".to_owned(),
        target: "/home".to_owned(),
        first_seen: at(slot),
        facts: BTreeMap::from([("kernel".to_owned(), kernel.to_owned())]),
    }
}

fn evidence() -> Vec<Evidence> {
    let text = |channel: &str| {
        format!(
            "process 70: state S, waits in do_wait, system call 61; process 71: state D, waits in {channel}, system call 4"
        )
    };
    let seen = |seconds, channel: &str| Evidence {
        host: "login1".to_owned(),
        probe: hung_probe(),
        at: at(HANG).after(Nanoseconds::from_seconds(seconds)),
        text: text(channel),
    };
    vec![seen(600, "nfs_wait_client_init_complete"), seen(3600, "nfs_wait_client_init_complete")]
}

fn text_of(input: &HistoryInput, evidence: &[Evidence], zone: &TimeZone) -> String {
    let options = HistoryOptions::default();
    let analysis = analyse_history(input, &options);
    let incident = find_incident(input, &analysis, &options);
    incident_history_text(&IncidentHistory {
        head: &HistoryHead {
            place: "/var/lib/iolag/history.sqlite".to_owned(),
            span: WallSpan { begin: at(0), ..WallSpan::ALL },
        },
        analysis: &analysis,
        incident: &incident,
        evidence,
        zone,
        written: at(SLOTS),
        iolag_version: "0.1.0",
    })
}

fn pacific() -> TimeZone {
    TimeZone::posix("PST8PDT,M3.2.0,M11.1.0").expect("a zone")
}

/// The sentences of findings and what they advise are the analysis' business.
fn without_findings(text: &str) -> String {
    let is_advice =
        |line: &&str| !["- serious:", "- warning:", "- note:"].iter().any(|word| line.starts_with(word));
    let end = text.find("What the findings advise").unwrap_or(text.len());
    let rest = text.find("## Lessons learned").expect("lessons are asked for");
    let mut kept: Vec<&str> = text[..end].lines().filter(is_advice).collect();
    kept.extend(text[rest..].lines());
    kept.join("\n")
}

fn with_outage() -> HistoryInput {
    HistoryInput {
        series: measured(true),
        events: events(),
        outages: vec![outage()],
        configurations: vec![configuration(1, 0, "5.14"), configuration(2, 150, "6.1")],
        ..HistoryInput::default()
    }
}

#[test]
fn an_outage_with_its_events_and_a_target_that_was_not_affected() {
    let text = text_of(&with_outage(), &evidence(), &pacific());
    assert!(text.contains("- serious: /home on login1 did not answer"), "{text}");
    insta::assert_snapshot!(without_findings(&text));
}

#[test]
fn a_target_by_another_name_than_its_mount_that_was_not_mounted() {
    let mut input = with_outage();
    for (series, columns) in &mut input.series[..2] {
        series.key.target = "homes".to_owned();
        // Nothing is measured on the disk below.
        for outcome in columns.outcome.iter_mut().filter(|outcome| **outcome == Outcome::Late) {
            *outcome = Outcome::Skipped;
        }
    }
    input.outages[0] = Outage {
        kind: OutageKind::NotMounted,
        mount: "/export/home".to_owned(),
        targets: ["homes".to_owned()].into(),
        ending: Some(OutageEnding::Remounted),
        ..outage()
    };
    let text = text_of(&input, &evidence(), &pacific());
    for expected in [
        "- **Type of incident:** storage was not mounted",
        "- /export/home (target homes) on login1 was not mounted from 2008-05-01 18:00 -07:00 to ",
        "outage begins: /export/home (target homes) on login1 is not mounted",
        "**Affected:**\n\n- homes on login1: it was not mounted (",
        "- serious: /export/home (target homes) on login1 was not mounted for 1 h 56 min, ",
        "If it may be absent, set",
        "| homes on login1 | nfs",
    ] {
        assert!(text.contains(expected), "{expected:?} is missing in: {text}");
    }
    assert!(!text.contains("did not answer"), "{text}");
    assert!(!text.contains("storage was bad"), "the episode is the outage: {text}");
}

#[test]
fn nothing_amiss_is_said() {
    let input = HistoryInput { series: measured(false), ..HistoryInput::default() };
    let text = text_of(&input, &[], &TimeZone::UTC);
    assert!(text.contains("Nothing amiss was found in "), "{text}");
    insta::assert_snapshot!(without_findings(&text));
}

#[test]
fn few_attempts_that_took_plainly_longer_are_told_as_seen() {
    let key = SeriesKey { target: "/home".to_owned(), task: "list".to_owned(), ..SeriesKey::default() };
    let mut input = HistoryInput { series: measured(false), ..HistoryInput::default() };
    input.series.truncate(1);
    input.series[0].0.key = key.clone();
    input.series[0].1 = HistoryColumns::default();
    for slot in 0..400 {
        let seconds = 0.2 + (slot * 7919 % 101) as f64 / 1000.0;
        let seconds = if (200..212).contains(&slot) { 200.0 * seconds } else { seconds };
        input.series[0].1.push(&sample(&key, slot as u64 + 1, slot, seconds, Outcome::Ok));
    }
    let text = text_of(&input, &[], &TimeZone::UTC);
    let told = "**Affected:**\n\n- /home: attempts took plainly longer than at other times, but are too few to judge by statistics (12 attempts in \
                bad times); seen: 12 of 12 of list took longer than 95 of 100 at other times, ";
    assert!(text.contains(told) && text.contains("instead of 250 ms"), "{text}");
}

#[test]
fn nothing_amiss_is_not_said_beside_a_serious_finding() {
    let mut input = HistoryInput { series: measured(false), ..HistoryInput::default() };
    input.series.truncate(2);
    for (slot, duration) in input.series[1].1.duration_ns.iter_mut().enumerate() {
        // Four times as long from the second day on, and under a second.
        duration.0 *= if slot >= 86 { 16 } else { 4 };
    }
    let text = text_of(&input, &[], &TimeZone::UTC);
    assert!(text.contains("- serious: ") && !text.contains("Nothing amiss"), "{text}");
    assert!(text.contains("But there is something amiss"), "{text}");
}

#[test]
fn an_empty_history_says_what_to_do() {
    let text = text_of(&HistoryInput::default(), &[], &TimeZone::UTC);
    assert!(text.contains("There is no sample of that time") && text.contains("--since"), "{text}");
}

#[test]
fn an_outage_that_lasts_is_not_over() {
    let mut input = with_outage();
    input.outages[0] = Outage { end: None, ending: None, ..outage() };
    for (_, columns) in &mut input.series[..2] {
        let rows =
            columns.start.iter().position(|start| *start >= at(HANG + 8)).expect("there are later slots");
        let mut cut = HistoryColumns::default();
        std::mem::swap(columns, &mut cut);
        for row in 0..rows {
            let outcome = if cut.outcome[row] == Outcome::Late { Outcome::Hung } else { cut.outcome[row] };
            let slot = (cut.start[row].0 / 1_000_000_000 - BEGIN_SECONDS) / PERIOD_SECONDS;
            let seconds = cut.duration_ns[row].as_seconds();
            columns.push(&sample(&SeriesKey::default(), cut.probe[row].0, slot, seconds, outcome));
        }
    }
    let text = text_of(&input, &[], &TimeZone::UTC);
    for expected in [
        "/home on login1 did not answer since 2008-05-02 01:00 +00:00 (at least ",
        "and not over by then",
        "- **Duration:** at least ",
        "1 probe passed the deadline; what it waited in is not in the history.",
    ] {
        assert!(text.contains(expected), "{expected:?} is missing in: {text}");
    }
    assert!(!text.contains("| after |"), "{text}");
}

#[test]
fn hostile_names_and_texts_stay_text() {
    let hostile = "<script>alert(1)</script> | [click](javascript:alert(1)) `x` **b**\n# head\n- item";
    let mut input = with_outage();
    for (series, _) in &mut input.series[..2] {
        series.key.target = hostile.to_owned();
        series.key.task = format!("{} {hostile}", series.key.task);
    }
    input.outages[0].mount = hostile.to_owned();
    for event in &mut input.events {
        event.text = hostile.to_owned();
        event.kind = hostile.to_owned();
        event.author = hostile.to_owned();
        event.link = Some("javascript:alert(1)".to_owned());
    }
    let mut seen = evidence();
    seen[0].text = format!("waits in {hostile}");
    let text = text_of(&input, &seen, &TimeZone::UTC);
    let bare = regex::Regex::new(r"\\.").expect("a valid expression").replace_all(&text, "").into_owned();
    for forbidden in ["script>", "](javascript", "`x`", "**b**", "\n# head", "\n- item"] {
        assert!(!bare.contains(forbidden), "{forbidden:?} in: {text}");
    }
    assert!(
        text.contains(r"\<script\>alert(1)\</script\> \| \[click\](javascript:alert(1)) \`x\` \*\*b"),
        "{text}"
    );
    assert!(text.contains("ticket: javascript:alert(1)"), "{text}");
    assert_tables_have_equal_columns(&text);
}

/// Every line of a table has as many cells as its head.
fn assert_tables_have_equal_columns(text: &str) {
    let mut expected = None;
    for line in text.lines() {
        if !line.starts_with('|') {
            expected = None;
            continue;
        }
        let cells = line.replace("\\\\", "").replace("\\|", "").matches('|').count();
        assert_eq!(*expected.get_or_insert(cells), cells, "{line}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_text_leaves_headings_and_tables_alone(text: String, name: String, link in ".{0,40}") {
        let mut input = with_outage();
        for (_, columns) in &mut input.series {
            *columns = HistoryColumns::default();
        }
        let key = SeriesKey { target: name.clone(), task: text.clone(), ..input.series[0].0.key.clone() };
        input.series[0].0.key = key.clone();
        for slot in 0..20 {
            let outcome = if slot == 10 { Outcome::Timeout } else { Outcome::Ok };
            input.series[0].1.push(&sample(&key, slot as u64 + 1, slot, 0.1, outcome));
        }
        for event in &mut input.events {
            event.text = text.clone();
            event.host = name.clone();
            event.link = Some(link.clone());
        }
        let seen = [Evidence { host: name, probe: ProbeId(11), at: at(11), text }];
        let report = text_of(&input, &seen, &TimeZone::UTC);
        assert_tables_have_equal_columns(&report);
        let headings = report.lines().filter(|line| line.starts_with("## ")).count();
        prop_assert_eq!(headings, 8);
        prop_assert!(report.lines().all(|line| !line.starts_with("    ")));
    }
}
