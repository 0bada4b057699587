//! What users see of a history, as files in tests/snapshots.

use iolag_analysis::history::{
    ComparisonVerdict, HistoryAnalysis, HistoryInput, HistoryOptions, analyse_history,
};
use iolag_model::Random;
use iolag_model::{
    Event, EventSource, FailureCode, HistoryColumns, HistorySample, Nanoseconds, Outage, OutageEnding,
    OutageKind, Outcome, ProbeId, Series, SeriesKey, SeriesKind, Surroundings, WallSpan, WallTime,
};
use iolag_report::{Colour, HistoryHead, history_text, write_history_json};
use unicode_width::UnicodeWidthStr;

/// 2008-05-01, midnight UTC.
const BEGIN_SECONDS: i64 = 1_209_600_000;
const PERIOD_SECONDS: i64 = 900;
const DAYS: i64 = 14;

fn series(target: &str, task: &str, part: &str, kind: SeriesKind, unit: &str) -> Series {
    Series {
        key: SeriesKey {
            host: "login1".to_owned(),
            target: target.to_owned(),
            task: task.to_owned(),
            part: part.to_owned(),
        },
        kind,
        resolution_ns: Nanoseconds::ZERO,
        period_ns: Nanoseconds::from_seconds(900),
        deadline_ns: Nanoseconds::from_seconds(600),
        description: String::new(),
        unit: unit.to_owned(),
        described: WallTime(0),
    }
}

fn sample(key: &SeriesKey, slot: i64, seconds: f64, outcome: Outcome, load: f64) -> HistorySample {
    let moment = WallTime::from_seconds(BEGIN_SECONDS + slot * PERIOD_SECONDS);
    HistorySample {
        series: key.clone(),
        probe: ProbeId(slot as u64 + 1),
        intended: moment,
        start: moment,
        duration_ns: Nanoseconds((seconds * 1e9) as u64),
        value: None,
        outcome,
        failure: if outcome == Outcome::Error { FailureCode::EXIT } else { FailureCode::NONE },
        exit_status: None,
        batch: None,
        blocker: None,
        configuration: None,
        processor_ns: None,
        resident_bytes_max: None,
        surroundings: Some(Surroundings {
            load_milli: [0, (load * 1000.0) as u32, 0],
            runnable: load as u32,
            ..Surroundings::default()
        }),
    }
}

/// The slot of a hang of two hours in /home.
const HANG: i64 = 900;

/// Two weeks of /home and /scratch: listing in /home becomes faster after a week, /home hangs once, a command fails now and then.
fn input() -> HistoryInput {
    let mut noise = Random::new(2008);
    let mut all: Vec<(Series, HistoryColumns)> = [
        series("/home", "create", "", SeriesKind::Task, ""),
        series("/home", "create", "unlink", SeriesKind::Task, ""),
        series("/home", "list", "", SeriesKind::Task, ""),
        series("/scratch", "list", "", SeriesKind::Task, ""),
        series("/scratch", "status", "", SeriesKind::Task, ""),
        series("", "jobs", "", SeriesKind::Covariate, "jobs"),
    ]
    .map(|series| (series, HistoryColumns::default()))
    .to_vec();
    for slot in 0..DAYS * 96 {
        let load = (0.5 + 0.8 * noise.normal()).exp();
        let jobs = (3.0 + 2.0 * noise.unit()).round();
        let shared = -0.2 * (1.0 - noise.unit()).ln();
        let level = if slot < DAYS * 48 { 1.3 } else { 0.05 };
        let create = 0.4 + 0.2 * load + shared;
        let seconds =
            [create, create / 4.0, level * (1.0 + shared), 1.0 + shared, 0.2 + 0.1 * noise.unit(), 0.0];
        for (index, (series, columns)) in all.iter_mut().enumerate() {
            let outcome = match series.key.target.as_str() {
                "/home" if slot == HANG => Outcome::Late,
                "/home" if (HANG + 1..HANG + 8).contains(&slot) => Outcome::Skipped,
                _ if series.key.task == "status" && slot % 100 == 50 => Outcome::Error,
                _ => Outcome::Ok,
            };
            let seconds = match outcome {
                Outcome::Late => 7000.0 + index as f64,
                Outcome::Skipped => 0.0,
                _ => seconds[index],
            };
            let mut sample = sample(&series.key, slot, seconds, outcome, load);
            sample.blocker = (outcome == Outcome::Skipped).then_some(ProbeId(HANG as u64 + 1));
            sample.value = (series.kind == SeriesKind::Covariate).then_some(jobs);
            columns.push(&sample);
        }
    }
    HistoryInput { series: all, events: events(), outages: vec![outage()], ..HistoryInput::default() }
}

fn events() -> Vec<Event> {
    let event = |id: &str, hours: i64, source, kind: &str, text: &str| Event {
        id: id.to_owned(),
        kind: kind.to_owned(),
        text: text.to_owned(),
        author: "ann".to_owned(),
        ..Event::of_all(source, WallTime::from_seconds(BEGIN_SECONDS + hours * 3600))
    };
    let mut noted = event("a", DAYS * 12 + 2, EventSource::Note, "change", "LDAP cache enabled");
    noted.target = "/home".to_owned();
    noted.link = Some("https://tickets.example/7".to_owned());
    let mut lasted = event("b", DAYS * 20, EventSource::List, "", "Maintenance of the batch system");
    lasted.end = Some(lasted.begin.after(Nanoseconds::from_seconds(5400)));
    let complaint = |id: &str, hours| {
        event(
            id,
            hours,
            EventSource::Journal,
            "file system not responding",
            "nfs: server home1 not responding",
        )
    };
    vec![noted, lasted, complaint("c", HANG / 4), complaint("d", 30)]
}

fn outage() -> Outage {
    let begin = WallTime::from_seconds(BEGIN_SECONDS + HANG * PERIOD_SECONDS);
    Outage {
        kind: Default::default(),
        targets: Default::default(),
        host: "login1".to_owned(),
        mount: "/home".to_owned(),
        probe: ProbeId(HANG as u64 + 1),
        begin,
        end: Some(begin.after(Nanoseconds::from_seconds(7000))),
        ending: Some(OutageEnding::Recovered),
        skipped: 21,
    }
}

fn head() -> HistoryHead {
    HistoryHead { place: "/var/lib/iolag/history.sqlite".to_owned(), span: WallSpan::ALL }
}

fn analysis() -> HistoryAnalysis {
    analyse_history(&input(), &HistoryOptions::default())
}

/// Everything before the findings, whose sentences are the analysis' business.
fn tables(text: &str) -> String {
    let end = text.find("\nFindings\n").expect("there are findings");
    text[..end].to_owned()
}

#[test]
fn two_weeks_on_a_terminal() {
    insta::assert_snapshot!(tables(&history_text(&head(), &analysis(), 110, Colour::Never)));
}

#[test]
fn two_weeks_on_a_narrow_terminal_with_two_hosts() {
    let mut input = input();
    input.series[3].0.key.host = "login2".to_owned();
    let analysis = analyse_history(&input, &HistoryOptions::default());
    insta::assert_snapshot!(tables(&history_text(&head(), &analysis, 80, Colour::Never)));
}

#[test]
fn a_weekend_behind_an_event_is_not_compared_with_the_working_days_before_it() {
    let mut input = input();
    let day = Nanoseconds::from_seconds(86_400);
    // It begins on a Thursday.
    let saturday = WallTime::from_seconds(BEGIN_SECONDS).after(day).after(day);
    let around = WallSpan { begin: saturday.before(day), end: saturday.after(day) };
    input.series.drain(..3);
    input.series.truncate(1);
    let columns = &mut input.series[0].1;
    let kept: Vec<usize> = (0..columns.len()).filter(|row| around.contains(columns.intended[*row])).collect();
    *columns = columns.rows(&kept);
    input.events.truncate(1);
    input.events[0].target = String::new();
    input.events[0].begin = saturday;
    let text =
        history_text(&head(), &analyse_history(&input, &HistoryOptions::default()), 110, Colour::Never);
    assert!(text.contains("working days on one side, a weekend on the other: list on /scratch"), "{text}");
}

#[test]
fn an_event_beside_a_change_that_is_told_is_not_without_difference() {
    let mut analysis = analysis();
    let one = analysis.series.iter_mut().find(|one| !one.events.matched.is_empty());
    let one = one.expect("the cache comes with a change");
    let event = one.events.matched[0].event.clone();
    let of_event = one.event_effects.iter_mut().filter(|effect| effect.event.id == event);
    let changed = of_event.map(|effect| effect.comparison.verdict = ComparisonVerdict::NoDifferenceShown);
    assert_eq!(changed.count(), 1);
    let told = format!("the level changed near it, see the findings: {}", one.summary.series.key.task);
    let text = history_text(&head(), &analysis, 160, Colour::Never);
    assert!(text.contains(&told) && !text.contains("no difference shown: list on /home"), "{text}");
}

#[test]
fn what_changed_little_by_little_is_told_from_its_begin_to_its_end() {
    let mut input = input();
    input.series = vec![input.series.swap_remove(3)];
    let (series, columns) = &mut input.series[0];
    *columns = HistoryColumns::default();
    let mut noise = Random::new(5);
    for slot in 0..30 * 96 {
        // Four times as long within four days.
        let share = ((slot - 10 * 96) as f64 / (4.0 * 96.0)).clamp(0.0, 1.0);
        let seconds = 0.2 * 4.0_f64.powf(share) * (0.3 * noise.normal()).exp();
        columns.push(&sample(&series.key, slot, seconds, Outcome::Ok, 1.0));
    }
    let analysis = analyse_history(&input, &HistoryOptions::default());
    let [change] = analysis.series[0].changes[..] else { panic!("{:?}", analysis.series[0].changes) };
    let minute = |moment: WallTime| moment.to_string()[..16].replace('T', " ");
    let when = format!(
        "  {} to {}, little by little  list on /scratch: ",
        minute(change.began.expect("it took its time")),
        minute(change.first_after)
    );
    let text = history_text(&head(), &analysis, 120, Colour::Never);
    assert!(text.contains(&when), "{when:?} is missing in: {text}");
}

#[test]
fn no_line_is_wider_than_the_terminal_and_colour_changes_no_letter() {
    let analysis = analysis();
    for width in [80, 100, 120] {
        for line in history_text(&head(), &analysis, width, Colour::Never).lines() {
            assert!(line.width() <= width, "{width}: {line}");
            assert_eq!(line, line.trim_end());
        }
    }
    let codes = regex::Regex::new("\x1b\\[[0-9;]*m").expect("a valid expression");
    let coloured = history_text(&head(), &analysis, 120, Colour::Always);
    assert!(codes.is_match(&coloured));
    assert_eq!(codes.replace_all(&coloured, ""), history_text(&head(), &analysis, 120, Colour::Never));
}

#[test]
fn an_outage_names_the_mount_and_its_targets_and_what_it_did() {
    let mut analysis = analysis();
    let absent = Outage {
        kind: OutageKind::NotMounted,
        mount: "/mnt/lustre".to_owned(),
        targets: ["scratch".to_owned()].into(),
        ending: Some(OutageEnding::Remounted),
        ..outage()
    };
    analysis.outages.push(absent);
    let text = history_text(&head(), &analysis, 200, Colour::Never);
    for told in
        ["  /home: recovered by itself", "  /mnt/lustre (target scratch): was not mounted, was mounted again"]
    {
        assert!(text.contains(told), "{told:?} is missing in: {text}");
    }
}

#[test]
fn attempts_that_were_broken_off_did_not_succeed() {
    let mut input = input();
    input.series.truncate(1);
    let (series, columns) = &mut input.series[0];
    *columns = HistoryColumns::default();
    for slot in 0..10 {
        columns.push(&sample(&series.key, slot, 1.0, Outcome::Interrupted, 1.0));
    }
    let analysis = analyse_history(&input, &HistoryOptions::default());
    let text = history_text(&head(), &analysis, 120, Colour::Never);
    assert!(text.contains("No attempt was left to itself until its end."), "{text}");
    assert!(!text.contains("succeeded"), "{text}");
}

#[test]
fn a_history_of_nothing_says_what_to_do() {
    let nothing = analyse_history(&HistoryInput::default(), &HistoryOptions::default());
    let text = history_text(&head(), &nothing, 80, Colour::Never);
    assert!(text.contains("iolag watch") && text.contains("iolag import FILE"), "{text}");
    let span = WallSpan { begin: WallTime(0), end: WallTime(1) };
    let text = history_text(&HistoryHead { span, ..head() }, &nothing, 80, Colour::Never);
    assert!(text.contains("--since and --until"), "{text}");
}

#[test]
fn the_document_holds_the_whole_analysis() {
    let analysis = analysis();
    let span = WallSpan { begin: WallTime(7), ..WallSpan::ALL };
    let mut bytes = Vec::new();
    write_history_json(&HistoryHead { span, ..head() }, &analysis, &mut bytes)
        .expect("a Vec takes everything");
    assert!(bytes.ends_with(b"}\n"));
    let document: serde_json::Value = serde_json::from_slice(&bytes).expect("it is JSON");
    assert_eq!((document["kind"].as_str(), document["schema"].as_u64()), (Some("history"), Some(1)));
    assert_eq!(document["history"], "/var/lib/iolag/history.sqlite");
    assert_eq!((document["asked"]["since"].as_i64(), document["asked"]["until"].as_i64()), (Some(7), None));
    // Read as the document was: a reader may round the last digit of a number.
    let whole = serde_json::to_string(&analysis).expect("it can be written");
    let whole: serde_json::Value = serde_json::from_str(&whole).expect("it is JSON");
    for (member, value) in whole.as_object().expect("it is an object") {
        assert_eq!(&document[member], value, "{member}");
    }
    assert_eq!(document["series"].as_array().map(Vec::len), Some(6));
    assert_eq!(document["outages"][0]["ending"], "recovered");
}
