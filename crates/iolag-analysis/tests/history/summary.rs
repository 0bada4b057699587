//! From columns to one summary of a series: slots behind a hang, calendars, configurations.

use iolag_analysis::history::{
    Blockers, ByAttempt, ByTime, ComparisonOptions, ComparisonVerdict, Estimate, HistoryFinding,
    HistoryFindingKind, HistoryFound, HistoryInput, HistoryOptions, Knowledge, LocalTime, Observations,
    Origin, Quantity, SeriesSummary, SummaryOptions, analyse_history, compare, summarise_series,
};
use iolag_model::Random;
use iolag_model::{
    ConfigurationKey, HistoryColumns, HistorySample, Nanoseconds, Outage, OutageEnding, Outcome, ProbeId,
    Series, SeriesKey, SeriesKind, WallTime,
};

const MINUTE: i64 = 60;
/// 2008-05-05, a Monday, midnight.
const MONDAY: i64 = 1_209_945_600;

fn series(kind: SeriesKind, resolution: Nanoseconds) -> Series {
    Series {
        key: SeriesKey {
            host: "login1".to_owned(),
            target: "/scratch".to_owned(),
            task: "list".to_owned(),
            part: String::new(),
        },
        kind,
        resolution_ns: resolution,
        period_ns: Nanoseconds::from_seconds(900),
        deadline_ns: Nanoseconds::from_seconds(60),
        description: String::new(),
        unit: String::new(),
        described: WallTime(0),
    }
}

fn sample(probe: u64, second: i64, outcome: Outcome, seconds: f64) -> HistorySample {
    HistorySample {
        configuration: Some(ConfigurationKey(7)),
        processor_ns: Some([1_000_000, 1_000_000]),
        ..HistorySample::new(
            SeriesKey::default(),
            ProbeId(probe),
            WallTime::from_seconds(second),
            Nanoseconds((seconds * 1e9).round() as u64),
            outcome,
        )
    }
}

fn columns<'a>(samples: impl IntoIterator<Item = &'a HistorySample>) -> HistoryColumns {
    let mut columns = HistoryColumns::default();
    samples.into_iter().for_each(|sample| columns.push(sample));
    columns
}

/// 2008-05-05 on, every 15 minutes a second or a little more; every fiftieth is what `other` makes of it.
fn calm_with(other: impl Fn(HistorySample) -> HistorySample) -> HistoryInput {
    let samples: Vec<HistorySample> = (0..400)
        .map(|slot| {
            let seconds = 1.0 + (slot * 7 % 11) as f64 / 100.0;
            let calm = sample(slot as u64 + 1, MONDAY + slot * 15 * MINUTE, Outcome::Ok, seconds);
            if slot % 50 == 49 { other(calm) } else { calm }
        })
        .collect();
    let series = series(SeriesKind::Task, Nanoseconds::ZERO);
    HistoryInput { series: vec![(series, columns(&samples))], ..HistoryInput::default() }
}

#[test]
fn tasks_of_a_target_that_change_within_a_day_are_told_in_one_sentence() {
    let tasks = ["list", "create", "stat", "shell"];
    let of_task = |(number, task): (usize, &&str)| {
        let mut noise = Random::new(number as u64 + 1);
        let samples: Vec<HistorySample> = (0..960)
            .map(|slot| {
                // Each three hours after the one before.
                let level = if slot < 480 + 12 * number as i64 { 1.0 } else { 3.0 + number as f64 };
                let seconds = level * (0.2 * noise.normal()).exp();
                sample(slot as u64 + 1, MONDAY + slot * 15 * MINUTE, Outcome::Ok, seconds / 100.0)
            })
            .collect();
        let mut series = series(SeriesKind::Task, Nanoseconds::ZERO);
        (*task).clone_into(&mut series.key.task);
        (series, columns(&samples))
    };
    let series = tasks.iter().enumerate().map(of_task).collect();
    let analysis =
        analyse_history(&HistoryInput { series, ..HistoryInput::default() }, &HistoryOptions::default());
    let is_change = |one: &HistoryFinding| one.kind() == HistoryFindingKind::Change;
    assert_eq!(analysis.findings.iter().filter(|one| is_change(one)).count(), 4, "the JSON keeps each");
    let told = analysis.findings_told();
    let changes: Vec<_> = told.iter().filter(|told| is_change(told.members[0])).collect();
    let [change] = changes[..] else { panic!("{changes:#?}") };
    let names = |keys: Vec<&SeriesKey>| keys.into_iter().map(|key| key.task.clone()).collect::<Vec<_>>();
    assert_eq!(names(change.subjects()), ["create", "list", "shell", "stat"]);
    assert_eq!(change.most().map(|most| names(most.series.iter().collect())), Some(vec!["shell".to_owned()]));
}

#[test]
fn what_the_watch_interrupted_is_censored_and_nothing_went_wrong() {
    let broken_off = |calm| HistorySample {
        outcome: Outcome::Interrupted,
        duration_ns: Nanoseconds::from_milliseconds(300),
        ..calm
    };
    let analysis = analyse_history(&calm_with(broken_off), &HistoryOptions::default());
    let summary = &analysis.series[0].summary;
    let counts = summary.by_attempt.counts;
    assert_eq!((counts.exact, counts.at_least), (392, 8));
    let rates = &summary.rates.total;
    assert_eq!((rates.slots, rates.attempts, rates.ok, rates.interrupted), (400, 392, 392, 8));
    assert_eq!([rates.timeout, rates.hung, rates.past_deadline, rates.error].map(|rate| rate.count), [0; 4]);
    assert!(summary.rates.by_day.iter().all(|day| day.rates.past_deadline.count == 0));
    let seen: u32 = summary.hour_by_day.observations.iter().flatten().sum();
    assert_eq!(seen, 392, "its age is nothing that somebody met");
    assert!(analysis.episodes.is_empty(), "{:?}", analysis.episodes);
    let is_lost =
        |one: &HistoryFinding| matches!(one.found, HistoryFound::PastDeadline(_) | HistoryFound::Failed(_));
    assert!(!analysis.findings.iter().any(is_lost), "{:?}", analysis.findings);
    // At least 0.3 s says nothing of more than a second, so the curve is that of the others.
    let without = analyse_history(
        &calm_with(|calm| HistorySample { outcome: Outcome::Error, ..calm }),
        &HistoryOptions::default(),
    );
    let median = |summary: &SeriesSummary| summary.by_attempt.median().unwrap().value;
    assert_eq!(median(summary), median(&without.series[0].summary));
    // As a time-out it would have gone wrong.
    let timed_out = analyse_history(
        &calm_with(|calm| HistorySample { outcome: Outcome::Timeout, ..calm }),
        &HistoryOptions::default(),
    );
    assert_eq!(timed_out.series[0].summary.rates.total.past_deadline.count, 8);
    assert!(!timed_out.episodes.is_empty());
}

/// Eight slots every 15 minutes: two good, one that takes two hours, and seven that are skipped because of
/// it.
fn hang(outcome: Outcome) -> Vec<HistorySample> {
    let mut samples =
        vec![sample(1, MONDAY, Outcome::Ok, 1.0), sample(2, MONDAY + 15 * MINUTE, Outcome::Ok, 2.0)];
    samples.push(sample(3, MONDAY + 30 * MINUTE, outcome, 7200.0));
    for slot in 1..8_u64 {
        let second = MONDAY + 30 * MINUTE + slot as i64 * 15 * MINUTE;
        samples.push(HistorySample {
            blocker: Some(ProbeId(3)),
            ..sample(3 + slot, second, Outcome::Skipped, 0.0)
        });
    }
    samples
}

fn summary_of(series: &Series, samples: &[HistorySample], options: &SummaryOptions) -> SeriesSummary {
    let columns = columns(samples);
    let mut blockers = Blockers::of_host("login1");
    blockers.add_series(series, &columns);
    summarise_series(series, &columns, &blockers, [&[], &[]], options)
}

#[test]
fn fifteen_minute_probes_that_hang_for_two_hours_are_one_attempt_and_eight_slots() {
    let series = series(SeriesKind::Task, Nanoseconds::ZERO);
    let summary = summary_of(&series, &hang(Outcome::Late), &SummaryOptions::default());
    assert_eq!((summary.by_attempt.counts.total(), summary.by_attempt.left_out.skipped), (3, 7));
    let by_time = summary.by_time.expect("slots were skipped");
    assert_eq!((by_time.counts.exact, by_time.imputed, by_time.left_out.skipped), (10, 7, 0));
    // Residuals are 105, 90, … 15 minutes; half of the slots wait 45 minutes or less.
    let residuals: Vec<f64> = by_time.curve.iter().map(|point| point.amount).collect();
    assert_eq!(residuals, [1.0, 2.0, 900.0, 1800.0, 2700.0, 3600.0, 4500.0, 5400.0, 6300.0, 7200.0]);
    let median = by_time.quantiles.iter().find(|quantile| quantile.q == 0.5).expect("the median");
    assert_eq!(median.value, Estimate::Exactly(2700.0));
    let over =
        by_time.shares.iter().find(|share| share.counted.threshold_ns == Nanoseconds::from_seconds(60));
    assert_eq!(over.map(|share| (share.counted.over, share.of)), Some((8, 10)));
    assert_eq!(
        (summary.rates.total.slots, summary.rates.total.skipped.count, summary.rates.total.late.count),
        (10, 7, 1)
    );
}

#[test]
fn behind_what_still_hangs_slots_wait_at_least_so_long() {
    let series = series(SeriesKind::Task, Nanoseconds::ZERO);
    let by_time =
        summary_of(&series, &hang(Outcome::Hung), &SummaryOptions::default()).by_time.expect("skipped slots");
    assert_eq!((by_time.counts.exact, by_time.counts.at_least), (2, 8));
    assert_eq!(by_time.greatest, Estimate::AtLeast(7200.0));
}

#[test]
fn what_another_target_holds_up_says_nothing_of_this_one() {
    let own = series(SeriesKind::Task, Nanoseconds::ZERO);
    let mut elsewhere = own.clone();
    elsewhere.key.target = "elsewhere".to_owned();
    let (begun, skipped) = (columns(&hang(Outcome::Late)[..3]), columns(&hang(Outcome::Late).split_off(3)));
    let imputed = |blocking: &Series| {
        let mut blockers = Blockers::of_host("login1");
        blockers.add_series(blocking, &begun);
        Observations::<ByTime>::by_time(&own, &skipped, &blockers).list().len()
    };
    assert_eq!((imputed(&own), imputed(&elsewhere)), (7, 0));
}

#[test]
fn a_blocker_may_be_another_series_or_an_outage_and_an_unknown_one_is_counted() {
    let series = series(SeriesKind::Task, Nanoseconds::ZERO);
    let skipped: Vec<HistorySample> = hang(Outcome::Ok).split_off(3);
    let columns = columns(&skipped);
    let unknown = Observations::<ByTime>::by_time(&series, &columns, &Blockers::of_host("login1"));
    assert_eq!((unknown.list().len(), unknown.left_out().skipped), (0, 7));
    let outage = |host: &str, ending| Outage {
        kind: Default::default(),
        targets: Default::default(),
        host: host.to_owned(),
        mount: "/scratch".to_owned(),
        probe: ProbeId(3),
        begin: WallTime::from_seconds(MONDAY + 30 * MINUTE),
        end: Some(WallTime::from_seconds(MONDAY + 150 * MINUTE)),
        ending: Some(ending),
        skipped: 7,
    };
    let by = |outage: &Outage| {
        let mut blockers = Blockers::of_host("login1");
        blockers.add_outage(outage);
        Observations::<ByTime>::by_time(&series, &columns, &blockers)
    };
    let recovered = by(&outage("login1", OutageEnding::Recovered));
    assert!(
        recovered
            .list()
            .iter()
            .all(|one| one.knowledge == Knowledge::Exactly && one.origin == Origin::Imputed)
    );
    assert_eq!(recovered.list()[0].amount, 6300.0);
    let rebooted = by(&outage("login1", OutageEnding::Rebooted));
    assert!(rebooted.list().iter().all(|one| one.knowledge == Knowledge::AtLeast));
    assert!(
        by(&outage("login2", OutageEnding::Recovered)).is_empty(),
        "another host's probe has the same number"
    );
}

#[test]
fn without_skipped_slots_both_weightings_are_the_same() {
    let series = series(SeriesKind::Task, Nanoseconds::from_milliseconds(10));
    let mut noise = Random::new(5);
    let outcomes = [Outcome::Ok, Outcome::Ok, Outcome::Late, Outcome::Timeout, Outcome::Error, Outcome::Hung];
    let samples: Vec<HistorySample> = (0..300)
        .map(|slot| {
            sample(slot, MONDAY + slot as i64 * 900, outcomes[slot as usize % 6], 0.02 * noise.normal().exp())
        })
        .collect();
    let columns = columns(&samples);
    let by_attempt = Observations::<ByAttempt>::by_attempt(&series, &columns);
    let by_time = Observations::<ByTime>::by_time(&series, &columns, &Blockers::of_host("login1"));
    assert_eq!((by_attempt.list(), by_attempt.left_out()), (by_time.list(), by_time.left_out()));
    assert_eq!(by_attempt.left_out().failed, 50);
    assert!(by_attempt.list().iter().any(|one| one.knowledge == Knowledge::AtMost));
    assert_eq!(summary_of(&series, &samples, &SummaryOptions::default()).by_time, None);
}

#[test]
fn a_week_has_its_days_hours_and_configurations() {
    let series = series(SeriesKind::Task, Nanoseconds::ZERO);
    let mut samples: Vec<HistorySample> = (0..7 * 96)
        .map(|slot| sample(slot, MONDAY + slot as i64 * 900, Outcome::Ok, 1.0 + slot as f64 / 1000.0))
        .collect();
    for slot in [100, 101, 102] {
        samples[slot].outcome = Outcome::Timeout;
        samples[slot].duration_ns = Nanoseconds::from_seconds(60);
    }
    samples[200].outcome = Outcome::Error;
    samples.iter_mut().skip(400).for_each(|sample| sample.configuration = Some(ConfigurationKey(9)));
    let summary = summary_of(&series, &samples, &SummaryOptions::default());
    let rates = &summary.rates;
    assert_eq!((rates.by_day.len(), rates.by_weekday.len(), rates.by_hour.len()), (7, 7, 24));
    let tuesday = &rates.by_day[1];
    assert_eq!(
        (tuesday.group.to_string().as_str(), tuesday.rates.timeout.count, tuesday.rates.slots),
        ("2008-05-06", 3, 96)
    );
    assert_eq!(rates.by_hour[1].rates.timeout.count, 3);
    assert_eq!(rates.by_configuration.iter().map(|group| group.rates.slots).collect::<Vec<_>>(), [400, 272]);
    let matrix = &summary.hour_by_day;
    assert_eq!((matrix.days.len(), matrix.past_deadline[1][1], matrix.worst[1][1]), (7, 3, Some(60.0)));
    assert_eq!((matrix.median[0][0], matrix.observations[0][0], matrix.failed[2][2]), (Some(1.001), 4, 1));
    assert_eq!(matrix.median[2][2], Some(1.202), "the failed one has no duration");
    assert_eq!(summary.by_configuration.len(), 2);
    assert_eq!(summary.by_configuration[1].first, WallTime::from_seconds(MONDAY + 400 * 900));
    // Seven hours west, the first slots belong to Sunday.
    let options = SummaryOptions { local_time: LocalTime::fixed(-7 * 3600), ..Default::default() };
    let there = summary_of(&series, &samples, &options);
    assert_eq!((there.rates.by_day.len(), there.rates.by_day[0].rates.slots), (8, 28));
    let json = serde_json::to_value(&there).expect("everything can be written");
    assert_eq!(json["rates"]["by_day"][0]["group"], "2008-05-04");
    assert_eq!(json["rates"]["by_weekday"][0]["group"], "monday");
    assert_eq!(json["by_attempt"]["weighting"], "by-attempt");
    assert!(
        json["by_attempt"]["quantiles"][1]["value"]["exactly"].is_number(),
        "{}",
        json["by_attempt"]["quantiles"]
    );
    assert_eq!(json["beside"][0]["quantity"], "processor-time");
    assert_eq!(json["beside"][0]["median"]["value"]["exactly"], 0.002);
}

#[test]
fn a_series_of_values_has_no_thresholds_and_may_be_negative() {
    let series = series(SeriesKind::Covariate, Nanoseconds::ZERO);
    let mut samples: Vec<HistorySample> = (0..50)
        .map(|slot| HistorySample {
            value: Some(slot as f64 - 25.0),
            ..sample(slot, MONDAY + slot as i64 * 900, Outcome::Ok, 0.1)
        })
        .collect();
    samples[10].value = None;
    let summary = summary_of(&series, &samples, &SummaryOptions::default());
    assert_eq!((summary.quantity, summary.modes), (Quantity::Value, None));
    assert_eq!(
        (summary.by_attempt.least, summary.by_attempt.greatest),
        (Estimate::Exactly(-25.0), Estimate::Exactly(24.0))
    );
    assert_eq!((summary.by_attempt.shares.len(), summary.by_attempt.left_out.without_value), (0, 1));
    let halves = [0..25, 25..50].map(|rows: std::ops::Range<usize>| {
        Observations::<ByAttempt>::by_attempt(&series, &columns(&samples[rows]))
    });
    let comparison = compare(&halves[0], &halves[1], &ComparisonOptions::default()).expect("both are values");
    // A trend is worth few independent values.
    assert_eq!(comparison.verdict, ComparisonVerdict::TooFew);
}

#[test]
fn an_empty_series_is_summarised() {
    let series = series(SeriesKind::Task, Nanoseconds::ZERO);
    let summary = summary_of(&series, &[], &SummaryOptions::default());
    assert_eq!((summary.first, summary.by_attempt.least, &summary.modes), (None, Estimate::NOTHING, &None));
    assert!(serde_json::to_string(&summary).is_ok());
}
