//! What every history does, whichever database keeps it.

use iolag_model::{
    BatchContent, BatchId, Configuration, ConfigurationKey, EventState, HistoryRecord, HistorySample,
    Nanoseconds, OutageEnding, Outcome, ProbeId, Series, SeriesKey, SeriesKind, SessionEnd, WallSpan,
    WallTime,
};
use iolag_store::history::{ChangeMark, History};

use crate::arbitrary::{batch, event, key, outage, sample, series, session};
use crate::opened::{Open, content};
use crate::{joins, renames};

/// Runs all of it.
pub fn check(open: &Open<'_>, cases: u32) {
    what_was_appended_comes_back(open);
    an_empty_history_answers_with_nothing(open);
    what_knows_more_remains(open);
    a_later_description_remains(open);
    spans_select_by_time(open);
    a_probe_is_found_in_all_series_of_its_host(open);
    changes_are_followed(open);
    the_present_configuration_is_that_of_the_newest_sample(open);
    benchmarks_come_back(open);
    open_outages_are_those_of_a_host(open);
    an_outage_is_of_the_targets_that_were_told_or_of_its_probes_own(open);
    a_record_that_cannot_be_taken_takes_nothing_with_it(open);
    an_import_that_is_undone_gives_back_what_it_hid(open);
    an_event_lasts_as_long_as_one_that_brought_it(open);
    a_later_edition_of_an_event_remains_until_it_is_removed(open);
    joins::check(open, cases);
    renames::check(open, cases);
}

fn what_was_appended_comes_back(open: &Open<'_>) {
    let mut history = open();
    let list = key("login1", "list");
    let (mut one, two) =
        (sample(&list, 1, Outcome::Ok, 5_000_000), sample(&list, 2, Outcome::Hung, 60_000_000_000));
    one.value = Some(2.5);
    one.exit_status = Some(-1);
    one.blocker = Some(ProbeId(u64::MAX));
    let begin = WallTime::from_seconds(1_700_000_000);
    let configuration = Configuration {
        key: ConfigurationKey(0xfeed_0000_0000_0001),
        host: "login1".into(),
        target: "/scratch".into(),
        first_seen: begin,
        facts: [("kernel".to_owned(), "6.18".to_owned())].into(),
    };
    let seen = iolag_model::Evidence {
        host: "login1".into(),
        probe: two.probe,
        at: begin,
        text: "D request_wait_answer".into(),
    };
    let records = [
        HistoryRecord::Sample(two.clone()),
        HistoryRecord::Sample(one.clone()),
        HistoryRecord::Series(series(&list)),
        HistoryRecord::Configuration(configuration.clone()),
        HistoryRecord::Event(event("e1", begin)),
        HistoryRecord::Outage(outage("login1", two.probe.0)),
        HistoryRecord::Evidence(seen.clone()),
        HistoryRecord::Session(session("login1")),
    ];
    let appended = history.append(&records).unwrap();
    assert_eq!((appended.records, appended.changed), (8, 8));
    assert_eq!(history.append(&records).unwrap().changed, 0, "the same again changes nothing");

    assert_eq!(history.hosts().unwrap(), ["login1"]);
    assert_eq!(history.series().unwrap(), [series(&list)]);
    let columns = history.samples(&list, WallSpan::ALL).unwrap();
    assert_eq!(columns.probe, [one.probe, two.probe]);
    assert_eq!(columns.start, [one.start, two.start]);
    assert_eq!(columns.value[0], 2.5);
    assert!(columns.value[1].is_nan());
    assert_eq!(columns.outcome, [Outcome::Ok, Outcome::Hung]);
    assert_eq!(columns.configuration, [ConfigurationKey(0xfeed_0000_0000_0001); 2]);
    assert_eq!(columns.blocker, [ProbeId(u64::MAX), ProbeId(0)]);
    assert_eq!(columns.load_5min, [1.1, 1.1]);
    assert_eq!(history.events(WallSpan::ALL).unwrap(), [event("e1", begin)]);
    assert_eq!(history.outages(WallSpan::ALL).unwrap(), [outage("login1", two.probe.0)]);
    assert_eq!(history.sessions(WallSpan::ALL).unwrap(), [session("login1")]);
    assert_eq!(history.configurations().unwrap(), [configuration]);
    assert_eq!(history.evidence("login1", two.probe).unwrap(), [seen]);
    assert_eq!(history.evidence("login2", two.probe).unwrap(), []);
    let all = content(&mut *history);
    assert!(records.iter().all(|record| all.contains(record)) && all.len() == 8, "{all:?}");
}

fn an_empty_history_answers_with_nothing(open: &Open<'_>) {
    let mut history = open();
    assert!(history.hosts().unwrap().is_empty() && history.series().unwrap().is_empty());
    assert!(history.samples(&key("nobody", "nothing"), WallSpan::ALL).unwrap().is_empty());
    assert_eq!(history.covered(&key("nobody", "nothing"), WallSpan::ALL).unwrap(), None);
    assert_eq!(history.probe("nobody", ProbeId(1), WallSpan::ALL).unwrap(), []);
    assert_eq!(history.newest_change().unwrap(), ChangeMark(0));
    assert!(history.changes_after(ChangeMark(0), 10).unwrap().samples.is_empty());
    assert!(content(&mut *history).is_empty());
    assert_eq!(history.append(&[]).unwrap().records, 0);
}

fn what_knows_more_remains(open: &Open<'_>) {
    let list = key("login1", "list");
    let hung = HistoryRecord::Sample(sample(&list, 1, Outcome::Hung, 60));
    let older = HistoryRecord::Sample(sample(&list, 1, Outcome::Hung, 90));
    let late = HistoryRecord::Sample(sample(&list, 1, Outcome::Late, 70));
    let begun = outage("login1", 1);
    let mut ended = begun.clone();
    (ended.end, ended.ending) = (Some(WallTime::from_seconds(1_700_000_100)), Some(OutageEnding::Recovered));
    ended.skipped = 1;
    let lives = session("login1");
    let mut stopped = lives.clone();
    (stopped.end, stopped.last_seen) = (SessionEnd::Stopped, stopped.begin);
    let records = [
        hung,
        late.clone(),
        older,
        begun.into_record(),
        ended.clone().into_record(),
        lives.clone().into_record(),
        stopped.into_record(),
    ];
    for forwards in [true, false] {
        let mut history = open();
        let mut order: Vec<_> = records.to_vec();
        if !forwards {
            order.reverse();
        }
        for record in order {
            history.append(&[record]).unwrap();
        }
        let all = content(&mut *history);
        assert!(all.contains(&late), "{all:?}");
        let outages = history.outages(WallSpan::ALL).unwrap();
        assert_eq!((outages[0].ending, outages[0].skipped), (Some(OutageEnding::Recovered), 3));
        let sessions = history.sessions(WallSpan::ALL).unwrap();
        assert_eq!((sessions[0].end, sessions[0].last_seen), (SessionEnd::Stopped, lives.last_seen));
    }
}

fn a_later_description_remains(open: &Open<'_>) {
    let mut history = open();
    let list = key("login1", "list");
    history.append(&[HistoryRecord::Sample(sample(&list, 1, Outcome::Ok, 1))]).unwrap();
    let unknown = history.series().unwrap();
    assert_eq!((&unknown[0].key, unknown[0].description.as_str()), (&list, ""));
    let mut later = series(&list);
    later.described = later.described.after(Nanoseconds(1));
    later.deadline_ns = Nanoseconds(5);
    history.append(&[HistoryRecord::Series(later.clone()), HistoryRecord::Series(series(&list))]).unwrap();
    assert_eq!(history.series().unwrap(), [later]);
}

fn spans_select_by_time(open: &Open<'_>) {
    let mut history = open();
    let list = key("login1", "list");
    let at = |number: i64| WallTime::from_seconds(1_700_000_000 + 900 * number);
    let mut records: Vec<_> =
        (0..10).map(|number| HistoryRecord::Sample(sample(&list, number, Outcome::Ok, 1))).collect();
    let mut lasting = event("lasting", at(1));
    lasting.end = Some(at(4));
    let mut over = outage("login1", 2);
    over.end = Some(at(1));
    records.extend([
        event("first", at(0)).into_record(),
        lasting.into_record(),
        event("last", at(9)).into_record(),
        over.into_record(),
        outage("login1", 3).into_record(),
    ]);
    history.append(&records).unwrap();
    let span = WallSpan { begin: at(3), end: at(5) };
    assert_eq!(history.samples(&list, span).unwrap().intended, [at(3), at(4)]);
    assert_eq!(history.covered(&list, span).unwrap(), Some(WallSpan { begin: at(3), end: at(4) }));
    let of_probe = |number: u64| sample(&list, number, Outcome::Ok, 1);
    assert_eq!(history.probe("login1", of_probe(4).probe, span).unwrap(), [of_probe(4)]);
    assert_eq!(history.probe("login1", of_probe(5).probe, span).unwrap(), [], "due when the span ends");
    let events = history.events(span).unwrap();
    assert_eq!(events.iter().map(|event| event.id.as_str()).collect::<Vec<_>>(), ["lasting"]);
    let outages = history.outages(span).unwrap();
    assert_eq!(outages.iter().map(|outage| outage.probe.0).collect::<Vec<_>>(), [3], "the open one");
}

fn a_probe_is_found_in_all_series_of_its_host(open: &Open<'_>) {
    let mut history = open();
    let whole = key("login1", "list");
    let part = SeriesKey { part: "ls -n".to_owned(), ..whole.clone() };
    let samples = [&part, &whole, &key("login2", "list")].map(|key| sample(key, 7, Outcome::Late, 5));
    let other = sample(&whole, 8, Outcome::Ok, 5);
    let records: Vec<_> = samples.iter().chain([&other]).cloned().map(HistoryRecord::Sample).collect();
    history.append(&records).unwrap();
    let found = history.probe("login1", samples[0].probe, WallSpan::ALL).unwrap();
    assert_eq!(found, [samples[1].clone(), samples[0].clone()]);
}

fn changes_are_followed(open: &Open<'_>) {
    let mut history = open();
    let (list, create) = (key("login1", "list"), key("login1", "create"));
    let hung = sample(&list, 1, Outcome::Hung, 60);
    let record = HistoryRecord::Sample;
    history.append(&[record(hung), record(sample(&create, 2, Outcome::Ok, 3))]).unwrap();
    let first = history.changes_after(ChangeMark(0), 1).unwrap();
    assert_eq!(first.samples.iter().map(|sample| &sample.series).collect::<Vec<_>>(), [&list]);
    let second = history.changes_after(first.mark, 10).unwrap();
    assert_eq!(second.samples, [sample(&create, 2, Outcome::Ok, 3)]);
    assert_eq!(second.mark, history.newest_change().unwrap());
    let late = sample(&list, 1, Outcome::Late, 70);
    let worse = sample(&create, 2, Outcome::Hung, 1);
    history.append(&[record(late.clone()), record(worse)]).unwrap();
    let third = history.changes_after(second.mark, 10).unwrap();
    assert_eq!(third.samples, [late], "what was superseded comes again, what was refused does not");
    assert_eq!(history.changes_after(third.mark, 10).unwrap().samples, []);
}

fn an_import_that_is_undone_gives_back_what_it_hid(open: &Open<'_>) {
    let mut history = open();
    let list = key("login1", "list");
    let of = |number: u64, batch: u64, duration_ns: u64| HistorySample {
        batch: (batch > 0).then_some(BatchId(batch)),
        ..sample(&list, number, Outcome::Ok, duration_ns)
    };
    let record = HistoryRecord::Sample;
    let durations = |history: &mut dyn History| {
        history.samples(&list, WallSpan::ALL).unwrap().duration_ns.iter().map(|ns| ns.0).collect::<Vec<_>>()
    };
    history.append(&[record(of(1, 0, 90)), record(of(2, 0, 90))]).unwrap();
    // The value of the later import is the smaller one, and its description comes after its samples.
    history.append(&[record(of(1, 5, 10)), record(of(3, 5, 10)), record(of(1, 4, 50))]).unwrap();
    history.append(&[HistoryRecord::Batch(batch(5, None)), HistoryRecord::Batch(batch(4, None))]).unwrap();
    assert_eq!(durations(&mut *history), [10, 90, 10]);
    let contents = history.batches().unwrap();
    let counts =
        |content: &BatchContent| (content.batch.id.0, content.samples_counting, content.samples_beside);
    assert_eq!(contents.iter().map(counts).collect::<Vec<_>>(), [(4, 0, 1), (5, 2, 0)]);
    let mark = history.newest_change().unwrap();
    history.append(&[HistoryRecord::Batch(batch(5, Some(9)))]).unwrap();
    assert_eq!(durations(&mut *history), [50, 90]);
    let changes = history.changes_after(mark, 10).unwrap();
    assert_eq!(changes.samples, [of(1, 4, 50)], "what counts again is a change");
    history.append(&[HistoryRecord::Batch(batch(4, Some(9))), record(of(2, 5, 1))]).unwrap();
    assert_eq!(durations(&mut *history), [90, 90], "also what comes later of an undone batch does not count");
    assert_eq!(content(&mut *history).len(), 8, "all of it is kept");
    let mark = history.newest_change().unwrap();
    history.append(&[record(of(4, 0, 7))]).unwrap();
    assert_eq!(history.changes_after(mark, 10).unwrap().samples, [of(4, 0, 7)], "no change is given twice");
}

fn an_event_lasts_as_long_as_one_that_brought_it(open: &Open<'_>) {
    let begin = WallTime::from_seconds(1_700_000_000);
    let of = |id: &str, batch: Option<u64>| {
        iolag_model::Event { batch: batch.map(BatchId), ..event(id, begin) }.into_record()
    };
    let mut history = open();
    history
        .append(&[of("a", Some(1)), of("b", Some(1)), of("b", None), of("c", Some(1)), of("c", Some(2))])
        .unwrap();
    let shown = |history: &mut dyn History| {
        history.events(WallSpan::ALL).unwrap().into_iter().map(|event| event.id).collect::<String>()
    };
    assert_eq!(shown(&mut *history), "abc");
    history.append(&[HistoryRecord::Batch(batch(1, Some(9)))]).unwrap();
    assert_eq!(shown(&mut *history), "bc");
    history.append(&[HistoryRecord::Batch(batch(2, Some(9)))]).unwrap();
    assert_eq!(shown(&mut *history), "b");
}

fn a_later_edition_of_an_event_remains_until_it_is_removed(open: &Open<'_>) {
    let begin = WallTime::from_seconds(1_700_000_000);
    let edition = |text: &str, revised: Option<i64>, state: EventState| {
        let revised = revised.map(WallTime::from_seconds);
        iolag_model::Event { text: text.into(), revised, state, ..event("e", begin) }.into_record()
    };
    let first = edition("zzz", None, EventState::Holds);
    let (second, third) =
        (edition("b", Some(5), EventState::Holds), edition("a", Some(7), EventState::Holds));
    let removed = edition("", Some(6), EventState::Removed);
    for order in [[&first, &second, &third], [&third, &first, &second]] {
        let mut history = open();
        for record in order {
            history.append(std::slice::from_ref(record)).unwrap();
        }
        assert_eq!(history.events(WallSpan::ALL).unwrap()[0].text, "a");
        history.append(&[removed.clone(), third.clone()]).unwrap();
        assert_eq!(history.events(WallSpan::ALL).unwrap(), []);
        assert_eq!(content(&mut *history), std::slice::from_ref(&removed));
    }
}

/// Texts that a database cannot hold are changed, not refused, so that nothing blocks a spool for ever.
fn a_record_that_cannot_be_taken_takes_nothing_with_it(open: &Open<'_>) {
    let mut history = open();
    let mut odd = event("odd", WallTime(0));
    odd.text = "zero \0 byte".into();
    let list = key("login1", "list");
    let mut long = sample(&list, 1, Outcome::Late, u64::MAX);
    long.value = Some(f64::INFINITY);
    history.append(&[odd.into_record(), HistoryRecord::Sample(long)]).unwrap();
    assert_eq!(history.events(WallSpan::ALL).unwrap()[0].text, "zero \u{fffd} byte");
    let columns = history.samples(&list, WallSpan::ALL).unwrap();
    assert_eq!(columns.duration_ns, [Nanoseconds(i64::MAX as u64)]);
    assert!(columns.value[0].is_nan());
}

/// So that lists of different records stay short.
trait IntoRecord {
    fn into_record(self) -> HistoryRecord;
}

impl IntoRecord for iolag_model::Event {
    fn into_record(self) -> HistoryRecord {
        HistoryRecord::Event(self)
    }
}

impl IntoRecord for iolag_model::Outage {
    fn into_record(self) -> HistoryRecord {
        HistoryRecord::Outage(self)
    }
}

impl IntoRecord for iolag_model::WatchSession {
    fn into_record(self) -> HistoryRecord {
        HistoryRecord::Session(self)
    }
}

fn the_present_configuration_is_that_of_the_newest_sample(open: &Open<'_>) {
    let seconds = |seconds: i64| WallTime::from_seconds(1_700_000_000 + seconds);
    let configuration = |host: &str, target: &str, kernel: u64, first_seen: i64| {
        HistoryRecord::Configuration(Configuration {
            key: ConfigurationKey(kernel),
            host: host.into(),
            target: target.into(),
            first_seen: seconds(first_seen),
            facts: [("kernel".to_owned(), kernel.to_string())].into(),
        })
    };
    let sampled = |host: &str, task: &str, number: u64, at: i64, kernel: Option<u64>| {
        let mut sample = sample(&key(host, task), number, Outcome::Ok, 5);
        (sample.intended, sample.start) = (seconds(at), seconds(at));
        sample.configuration = kernel.map(ConfigurationKey);
        HistoryRecord::Sample(sample)
    };
    let target = key("login1", "list").target;
    let mut history = open();
    let present = |history: &mut dyn History, host: &str| -> Vec<(String, u64)> {
        let present = history.present_configurations(host).unwrap();
        present.into_iter().map(|known| (known.target, known.key.0)).collect()
    };
    assert_eq!(present(&mut *history, "login1"), []);
    // One, then two, then one again; another host has two all the time.
    history
        .append(&[
            configuration("login1", &target, 1, 0),
            configuration("login1", &target, 2, 100),
            configuration("login2", &target, 2, 150),
            configuration("login1", "/unsampled", 3, 10),
            configuration("login1", "/unsampled", u64::MAX, 20),
            sampled("login1", "list", 1, 10, Some(1)),
            sampled("login1", "list", 2, 110, Some(2)),
            sampled("login1", "create", 4, 200, Some(1)),
            sampled("login1", "list", 3, 200, Some(2)),
            sampled("login1", "list", 5, 300, None),
            sampled("login2", "list", 1, 400, Some(2)),
        ])
        .unwrap();
    let unsampled = || ("/unsampled".to_owned(), u64::MAX);
    let expected = |kernel| {
        let mut expected = vec![(target.clone(), kernel), unsampled()];
        expected.sort();
        expected
    };
    assert_eq!(present(&mut *history, "login1"), expected(1));
    assert_eq!(present(&mut *history, "login2"), [(target.clone(), 2)]);
    assert_eq!(present(&mut *history, "nobody"), []);
    // One that was seen for the first time after the newest sample holds, although nothing was measured under it.
    history.append(&[configuration("login1", &target, 4, 250)]).unwrap();
    assert_eq!(present(&mut *history, "login1"), expected(4));
    history.append(&[sampled("login1", "list", 6, 260, Some(2))]).unwrap();
    assert_eq!(present(&mut *history, "login1"), expected(2));
    // That of a benchmark is no news to a watch of the same place.
    let mut of_benchmark = configuration("login1", &target, 5, 900);
    if let HistoryRecord::Configuration(configuration) = &mut of_benchmark {
        configuration.facts.insert(Configuration::OPTIONS.to_owned(), "8f".to_owned());
    }
    history.append(&[of_benchmark]).unwrap();
    assert_eq!(present(&mut *history, "login1"), expected(2));
}

fn benchmarks_come_back(open: &Open<'_>) {
    let mut history = open();
    let of_kind =
        |task: &str, kind: SeriesKind| Series { kind, unit: "/s".to_owned(), ..series(&key("login1", task)) };
    let all = [
        of_kind("metadata read, 1 client", SeriesKind::Benchmark),
        of_kind("metadata stat, 1 client", SeriesKind::BenchmarkControl),
    ];
    let records = all.clone().map(HistoryRecord::Series);
    assert_eq!(history.append(&records).unwrap().changed, 2);
    assert_eq!(history.append(&records).unwrap().changed, 0);
    assert_eq!(history.series().unwrap(), all);
}

fn open_outages_are_those_of_a_host(open: &Open<'_>) {
    let mut history = open();
    let open_one = |host: &str, probe| iolag_model::Outage { end: None, ending: None, ..outage(host, probe) };
    let end = Some(WallTime::from_seconds(1_800_000_000));
    let over = iolag_model::Outage { end, ending: Some(OutageEnding::Recovered), ..open_one("login1", 7) };
    let records = [open_one("login1", 5), open_one("login2", 6), over];
    history.append(&records.clone().map(|outage| outage.into_record())).unwrap();
    assert_eq!(history.open_outages("login1").unwrap(), records[..1]);
    assert_eq!(history.open_outages("nobody").unwrap(), []);
}

fn an_outage_is_of_the_targets_that_were_told_or_of_its_probes_own(open: &Open<'_>) {
    let mut history = open();
    let named = |host: &str, probe, targets: &[&str]| iolag_model::Outage {
        targets: targets.iter().map(|target| (*target).to_owned()).collect(),
        ..outage(host, probe)
    };
    let series = key("login1", "list");
    let of_probe =
        |probe| HistorySample { probe: ProbeId(probe), ..sample(&series, probe, Outcome::Hung, 9) };
    let told = [named("login1", 5, &["a"]), named("login1", 5, &["b"])];
    let untold = [named("login1", 6, &[]), named("login1", 7, &[]), named("login2", 6, &[])];
    history.append(&told.map(|outage| outage.into_record())).unwrap();
    history.append(&untold.clone().map(|outage| outage.into_record())).unwrap();
    let samples = [5, 6].map(|probe| HistoryRecord::Sample(of_probe(probe)));
    history.append(&samples).unwrap();
    let mut found = history.outages(WallSpan::ALL).unwrap();
    found.sort_by_key(|outage| (outage.host.clone(), outage.probe));
    let expected = [
        named("login1", 5, &["a", "b"]),
        named("login1", 6, &[&series.target]),
        named("login1", 7, &[]),
        named("login2", 6, &[]),
    ];
    assert_eq!(found, expected);
    // What was concluded is not exported as if it had been told.
    let exported = content(&mut *history);
    assert!(exported.contains(&untold[0].clone().into_record()), "{exported:?}");
}
