//! How often a whole result says something of series together that is not so, on campaigns of which the truth is known, with fixed seeds: three tasks on
//! two targets and two notes that mean nothing. The gate runs a few; `cargo test --release -- --ignored --nocapture campaigns` prints a table.

use iolag_analysis::history::{
    ComparisonVerdict, HistoryAnalysis, HistoryFindingKind, HistoryInput, HistoryOptions, Stratify,
    analyse_history,
};
use iolag_model::Random;
use iolag_model::{
    ConfigurationKey, Event, EventSource, HistoryColumns, Nanoseconds, Outcome, ProbeId, Series, SeriesKey,
    SeriesKind, WallTime,
};

const BEGIN: i64 = 1_700_000_000 / 86_400 * 86_400;
const PERIOD: i64 = 900;

/// What a series is made of, on the scale of logarithms.
#[derive(Debug, Clone, Copy)]
enum Process {
    Autoregressive(f64),
    /// A cycle with a peak of its own, or the one of all.
    Daily {
        is_shared: bool,
    },
}

fn logarithms(process: Process, n: usize, noise: &mut Random) -> Vec<f64> {
    let day = |slot: usize, peak: f64| (std::f64::consts::TAU * (slot as f64 / 96.0 - peak)).cos();
    match process {
        Process::Autoregressive(phi) => autoregressive(phi, n, noise),
        Process::Daily { is_shared } => {
            let peak = if is_shared { 0.5 } else { noise.unit() };
            let quiet = autoregressive(0.5, n, noise);
            (0..n).map(|slot| quiet[slot] + 0.8 * day(slot, peak)).collect()
        }
    }
}

fn autoregressive(phi: f64, n: usize, noise: &mut Random) -> Vec<f64> {
    let mut state = noise.normal();
    (0..n)
        .map(|_| {
            state = phi * state + (1.0 - phi * phi).sqrt() * noise.normal();
            state
        })
        .collect()
}

fn series(target: &str, task: &str, offset: i64, values: &[f64]) -> (Series, HistoryColumns) {
    let mut columns = HistoryColumns::default();
    for (slot, value) in values.iter().enumerate() {
        let moment = WallTime::from_seconds(BEGIN + slot as i64 * PERIOD + offset);
        columns.probe.push(ProbeId(slot as u64 + 1));
        columns.intended.push(moment);
        columns.start.push(moment);
        columns.duration_ns.push(Nanoseconds((0.25e9 * (0.6 * value).exp()) as u64));
        columns.outcome.push(Outcome::Ok);
        columns.configuration.push(ConfigurationKey(0));
        columns.blocker.push(ProbeId(0));
        let unknown = [
            &mut columns.value,
            &mut columns.processor_seconds,
            &mut columns.load_5min,
            &mut columns.runnable,
            &mut columns.blocked,
            &mut columns.stalled_io,
        ];
        unknown.into_iter().for_each(|column| column.push(f64::NAN));
    }
    let series = Series {
        key: SeriesKey {
            host: "login1".into(),
            target: target.into(),
            task: task.into(),
            part: String::new(),
        },
        kind: SeriesKind::Task,
        resolution_ns: Nanoseconds::ZERO,
        period_ns: Nanoseconds::from_seconds(PERIOD as u64),
        deadline_ns: Nanoseconds::from_seconds(600),
        description: String::new(),
        unit: String::new(),
        described: WallTime(0),
    };
    (series, columns)
}

fn note(second: i64) -> Event {
    Event {
        id: second.to_string(),
        text: "nothing happened".into(),
        ..Event::of_all(EventSource::Note, WallTime::from_seconds(BEGIN + second))
    }
}

fn campaign(process: Process, n: usize, stratify: Stratify, noise: &mut Random) -> HistoryAnalysis {
    let mut input = HistoryInput::default();
    for (place, target) in ["/home", "/scratch"].into_iter().enumerate() {
        for (task, name) in ["compile", "create", "list"].into_iter().enumerate() {
            let values = logarithms(process, n, noise);
            input.series.push(series(target, name, 20 * task as i64 + 120 * place as i64, &values));
        }
    }
    input.events = (0..2).map(|_| note(((0.05 + 0.9 * noise.unit()) * n as f64) as i64 * PERIOD)).collect();
    analyse_history(&input, &HistoryOptions { stratify, ..HistoryOptions::default() })
}

/// Which kinds of false sentences a result has.
#[derive(Debug, Default, Clone, Copy)]
struct False {
    places: usize,
    events: usize,
    correlated: usize,
    pair_p: f64,
    periodic: usize,
    bad_together: usize,
    places_judged: f64,
}

fn is_told(verdict: ComparisonVerdict) -> bool {
    !matches!(verdict, ComparisonVerdict::NoDifferenceShown | ComparisonVerdict::TooFew)
}

fn count(campaigns: usize, process: Process, n: usize, stratify: Stratify) -> False {
    let mut noise = Random::new(2026);
    let mut found = False::default();
    for _ in 0..campaigns {
        let analysis = campaign(process, n, stratify, &mut noise);
        let effects = || analysis.series.iter().flat_map(|one| &one.event_effects);
        found.places += usize::from(analysis.comparisons.iter().any(|one| is_told(one.comparison.verdict)));
        let judged =
            analysis.comparisons.iter().filter(|one| one.comparison.verdict != ComparisonVerdict::TooFew);
        found.places_judged += judged.count() as f64 / 3.0 / campaigns as f64;
        found.events += usize::from(effects().any(|one| is_told(one.comparison.verdict)));
        let told =
            |kind: HistoryFindingKind| usize::from(analysis.findings.iter().any(|one| one.kind() == kind));
        found.correlated += told(HistoryFindingKind::Correlation);
        found.bad_together += told(HistoryFindingKind::BadTogether);
        let pairs = &analysis.correlations.pairs;
        let small = pairs.iter().filter(|pair| pair.judged().p < 0.05).count();
        found.pair_p += small as f64 / pairs.len() as f64 / campaigns as f64;
        let is_daily = matches!(process, Process::Daily { .. });
        let periods = analysis.series.iter().filter(|one| one.periodicity.is_some()).count();
        found.periodic += if is_daily { periods } else { usize::from(periods > 0) };
    }
    found
}

#[test]
fn quiet_series_have_nothing_to_do_with_each_other() {
    for process in [Process::Autoregressive(0.8), Process::Daily { is_shared: true }] {
        let found = count(12, process, 480, Stratify::No);
        println!("{process:?}: {found:?}");
        assert!(
            found.places + found.events + found.correlated + found.bad_together <= 3,
            "{process:?} {found:?}"
        );
    }
}

#[test]
fn what_differs_and_what_shares_a_cause_is_told() {
    let mut noise = Random::new(2027);
    let (mut slower, mut together) = (0, 0);
    for _ in 0..10 {
        // On the scale of logarithms before they are scaled: 1.2 is a factor of two.
        let cause = logarithms(Process::Daily { is_shared: true }, 672, &mut noise);
        let mut own = |level: f64| -> Vec<f64> {
            let quiet = logarithms(Process::Autoregressive(0.6), 672, &mut noise);
            cause.iter().zip(quiet).map(|(cause, quiet)| cause + 0.7 * quiet + level).collect()
        };
        let series = vec![series("/home", "list", 0, &own(0.0)), series("/scratch", "list", 120, &own(1.2))];
        let input = HistoryInput { series, ..HistoryInput::default() };
        let analysis = analyse_history(&input, &HistoryOptions::default());
        slower += usize::from(analysis.comparisons[0].comparison.verdict == ComparisonVerdict::Slower);
        together +=
            usize::from(analysis.findings.iter().any(|one| one.kind() == HistoryFindingKind::Correlation));
    }
    println!("slower {slower}, together {together} of 10");
    assert!(slower >= 9 && together >= 9, "slower {slower}, together {together} of 10");
}

/// Two places with the same slots, outcomes and durations in milliseconds.
fn twice(rows: &[(i64, u64, Outcome)]) -> HistoryInput {
    let mut input = HistoryInput { events: vec![note(PERIOD)], ..HistoryInput::default() };
    for target in ["/home", "/scratch"] {
        let (series, mut columns) = series(target, "list", 0, &vec![0.0; rows.len()]);
        for (row, (slot, milliseconds, outcome)) in rows.iter().enumerate() {
            columns.intended[row] = WallTime::from_seconds(BEGIN + slot * PERIOD);
            columns.start[row] = columns.intended[row];
            columns.duration_ns[row] = Nanoseconds::from_milliseconds(*milliseconds);
            columns.outcome[row] = *outcome;
        }
        input.series.push((series, columns));
    }
    input
}

#[test]
fn odd_records_have_sensible_words() {
    let many = |milliseconds: u64, outcome: Outcome| -> Vec<(i64, u64, Outcome)> {
        (0..500).map(|slot| (slot, milliseconds, outcome)).collect()
    };
    let mut backwards = many(7, Outcome::Ok);
    backwards.reverse();
    let records = [
        Vec::new(),
        vec![(0, 5, Outcome::Ok)],
        vec![(0, 5, Outcome::Ok), (1, 6, Outcome::Ok)],
        vec![(0, 5, Outcome::Ok), (0, 6, Outcome::Ok)],
        many(5, Outcome::Ok),
        many(60_000, Outcome::Hung),
        many(5, Outcome::Error),
        backwards,
        (0..500).map(|slot| (0, slot, Outcome::Ok)).collect(),
    ];
    for rows in records {
        let analysis = analyse_history(&twice(&rows), &HistoryOptions::default());
        assert!(analysis.comparisons.iter().all(|one| !is_told(one.comparison.verdict)), "{rows:?}");
        let told = |kind: HistoryFindingKind| analysis.findings.iter().any(|one| one.kind() == kind);
        assert!(!told(HistoryFindingKind::Correlation) && !told(HistoryFindingKind::Periodicity), "{rows:?}");
        let numbers = analysis.correlations.pairs.iter().flat_map(|pair| {
            [pair.correlation.coefficient, pair.judged().p, pair.p_adjusted, pair.judged().pairs_effective]
        });
        assert!(numbers.into_iter().all(f64::is_finite), "{rows:?}");
        for one in &analysis.findings {
            let found = format!("{:?}", one.found);
            assert!(!found.contains("NaN") && !found.contains("inf"), "{found}");
        }
    }
}
