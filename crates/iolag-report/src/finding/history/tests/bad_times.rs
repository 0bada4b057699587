//! Tests of the words for outages and episodes.

use super::*;

#[test]
fn a_series_that_was_bad_twice_in_an_episode_is_named_once() {
    let bad = |target: &str, is_bad: fn(i64) -> bool| {
        let milliseconds = |slot: i64| if is_bad(slot) { 20_000 } else { 20 + (slot as u64 * 7) % 11 };
        let columns = columns_of((0..200).map(|slot| (slot * 900, milliseconds(slot), Outcome::Ok)));
        (series_of(target, "list"), columns)
    };
    let series = vec![
        bad("/home", |slot| (100..110).contains(&slot)),
        bad("/scratch", |slot| [101, 102, 106, 107].contains(&slot)),
    ];
    let input = HistoryInput { series, ..HistoryInput::default() };
    let analysis = analyse_history(&input, &HistoryOptions::default());
    assert_eq!(analysis.episodes[0].series.len(), 3, "{:#?}", analysis.episodes);
    let found = told_of_kind(FindingKind::Episode, input.series);
    let sentence = &found[0].sentence;
    assert!(sentence.contains("`list` on /home and `list` on /scratch were bad in 14 samples"), "{sentence}");
}

fn outage_of(mount: &str, targets: &[&str]) -> Outage {
    Outage {
        kind: OutageKind::NoAnswer,
        targets: targets.iter().map(|target| (*target).to_owned()).collect(),
        host: "login1".to_owned(),
        mount: mount.to_owned(),
        probe: ProbeId(7),
        begin: WallTime::from_seconds(100 * 900),
        end: Some(WallTime::from_seconds(110 * 900)),
        ending: None,
        skipped: 0,
    }
}

#[test]
fn an_event_of_another_target_is_not_named_with_an_outage() {
    let outage = outage_of("/mnt/lustre", &["scratch"]);
    let event = |host: &str, target: &str| Event {
        id: "01".to_owned(),
        host: host.to_owned(),
        target: target.to_owned(),
        text: "cache enabled".to_owned(),
        ..Event::of_all(EventSource::Note, outage.begin)
    };
    let is_named = |host, target| {
        let (outages, events) = (vec![outage.clone()], vec![event(host, target)]);
        let told = told_of(&HistoryInput { outages, events, ..HistoryInput::default() });
        told[0].sentence.contains("cache enabled")
    };
    for (host, target) in [("", ""), ("login1", "scratch"), ("", "/mnt/lustre")] {
        assert!(is_named(host, target), "{host:?} {target:?}");
    }
    for (host, target) in [("login2", ""), ("", "fuse"), ("login1", "/mnt/lustre2"), ("", "/mnt")] {
        assert!(!is_named(host, target), "{host:?} {target:?}");
    }
}

#[test]
fn what_was_not_mounted_is_not_said_to_have_been_silent() {
    let outage = Outage { kind: OutageKind::NotMounted, ..outage_of("/mnt/lustre", &["scratch"]) };
    let told = |outage: &Outage| {
        let series = vec![(series_of("/home", "list"), columns_of([(110 * 900, 0, Outcome::Ok)]))];
        let outages = vec![outage.clone()];
        told_of(&HistoryInput { series, outages, ..HistoryInput::default() }).swap_remove(0)
    };
    let closed = told(&outage).sentence;
    assert!(
        closed.starts_with("/mnt/lustre (target scratch) on login1 was not mounted for 2 h 30 min, from "),
        "{closed}"
    );
    let open = told(&Outage { end: None, ..outage });
    assert!(open.sentence.contains("on login1 has not been mounted since 1970-01-02 01:00"), "{open:?}");
    assert!(open.advice.contains("mounted = \"any\""), "{open:?}");
}

#[test]
fn an_episode_of_another_target_during_an_outage_is_told() {
    let hung = columns_of((0..200).map(|slot| match slot {
        100 => (slot * 900, 9_000_000, Outcome::Late),
        101..110 => (slot * 900, 0, Outcome::Skipped),
        _ => (slot * 900, 20 + (slot as u64 * 7) % 11, Outcome::Ok),
    }));
    let slow = columns_of((0..200).map(|slot| {
        let milliseconds = if (101..109).contains(&slot) { 20_000 } else { 20 + (slot as u64 * 7) % 11 };
        (slot * 900 + 20, milliseconds, Outcome::Ok)
    }));
    let told = |series, outages: Vec<Outage>| -> Vec<String> {
        let input = HistoryInput { series, outages, ..HistoryInput::default() };
        let found = told_of(&input).into_iter().filter(|one| one.kind == FindingKind::Episode);
        found.map(|one| one.sentence).collect()
    };
    let scratch = (series_of("scratch", "list"), hung);
    let home = (series_of("/home", "list"), slow);
    let outage = || vec![outage_of("/mnt/lustre", &["scratch"])];
    assert_eq!(told(vec![scratch.clone()], outage()), Vec::<String>::new());
    assert_eq!(told(vec![scratch.clone()], vec![outage_of("/", &["/tmp"])]).len(), 1);
    let both = told(vec![scratch.clone(), home.clone()], outage());
    assert!(both.len() == 1 && both[0].contains("/home"), "{both:?}");
    let shared = vec![outage_of("/fs", &["/home", "scratch"])];
    assert_eq!(told(vec![scratch, home], shared), Vec::<String>::new());
}
