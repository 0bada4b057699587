//! Days of a watch as units: what attempts of a day say together.

use std::collections::BTreeMap;

use iolag_analysis::compare::{
    CompareOptions, Days, Doubt, LeftOut, Pairs, RememberedRun, RememberedRuns, Side, Unit, UnitKind,
    compare_sides,
};
use iolag_analysis::history::{Blockers, LocalTime};
use iolag_analysis::{
    CampaignEnding, ComparedWord, LogRange, RunAmount, RunCell, RunMethod, RunPairing, RunQuantity, Standing,
    compare_runs,
};
use iolag_fixtures::made_up_series::{columns_of, series_of};
use iolag_model::{HistoryColumns, Nanoseconds, Outcome, ProbeId, Random, WallSpan, WallTime};

use crate::made_up::usual;

const DAY_SECONDS: i64 = 86_400;
const OVER: RunQuantity = RunQuantity::ShareOver(Nanoseconds(100_000_000));
const QUANTITIES: [RunQuantity; 4] = [RunQuantity::Rate, RunQuantity::Median, RunQuantity::P95, OVER];

fn days_of(target: &str, columns: &HistoryColumns) -> (Vec<Unit>, usize) {
    let (local, configurations) = (LocalTime::UTC, BTreeMap::new());
    let mut days = Days::new(&local, WallSpan::ALL, &QUANTITIES, &configurations);
    let mut blockers = Blockers::of_host("login1");
    let series = series_of(target, "list");
    blockers.add_series(&series, columns);
    days.add(&series, columns, &blockers);
    days.finish()
}

/// Every hour of some days.
fn hourly(days: i64, of: impl Fn(i64, i64) -> (u64, Outcome)) -> HistoryColumns {
    columns_of((0..24 * days).map(|slot| {
        let (milliseconds, outcome) = of(slot / 24, slot % 24);
        (3600 * slot, milliseconds, outcome)
    }))
}

fn amount(unit: &Unit, quantity: RunQuantity) -> Option<RunAmount> {
    let amounts = &unit.values[0].amounts;
    amounts.iter().find(|(known, _)| *known == quantity).map(|(_, amount)| *amount)
}

#[test]
fn a_day_has_the_quantiles_of_its_slots_and_what_hung_is_a_bound() {
    let columns = hourly(3, |day, hour| match (day, hour) {
        (1, 20..) => (60_000, Outcome::Timeout),
        (2, 6..) => (60_000, Outcome::Hung),
        _ => (10 * (hour as u64 + 1), Outcome::Ok),
    });
    let (units, partial) = days_of("/home", &columns);
    assert_eq!((units.len(), partial), (3, 0));
    let names: Vec<(&str, UnitKind, Standing)> =
        units.iter().map(|unit| (unit.name.as_str(), unit.kind, unit.standing)).collect();
    assert_eq!(names[0], ("1970-01-01", UnitKind::Day, Standing::Whole));
    assert_eq!(names[2], ("1970-01-03", UnitKind::Day, Standing::Hung));
    let of = |day: usize| {
        [RunQuantity::Median, RunQuantity::P95, OVER].map(|one| amount(&units[day], one).unwrap())
    };
    let ms = |amount: f64| amount * 1e6;
    // 10 to 240 ms: between the 12th and the 13th, and 0.45 from the 23rd to the last of 24; 14 take longer than 100 ms.
    let [RunAmount::Known(median), RunAmount::Known(p95), over] = of(0) else { panic!("{:?}", of(0)) };
    assert!((median / ms((120.0 * 130.0_f64).sqrt()) - 1.0).abs() < 1e-12, "{median}");
    assert!((p95 / ms(230.0 * (240.0 / 230.0_f64).powf(0.45)) - 1.0).abs() < 1e-12, "{p95}");
    assert_eq!(over, RunAmount::Known(14.0 / 24.0));
    assert_eq!(of(1)[..2], [RunAmount::Known(median), RunAmount::AtLeast(ms(60_000.0))]);
    assert_eq!(
        of(2),
        [RunAmount::AtLeast(ms(60_000.0)), RunAmount::AtLeast(ms(60_000.0)), RunAmount::Known(18.0 / 24.0)]
    );
    assert_eq!(amount(&units[0], RunQuantity::Rate), None, "a schedule sets it");
    assert_eq!((units[0].values[0].task.as_deref(), units[0].values[0].attempts), (Some("list"), 24));
}

#[test]
fn who_comes_while_something_hangs_waits_for_the_rest_of_it() {
    // At 2:00 something takes 20 hours, and what was due meanwhile was not started.
    let mut columns = hourly(2, |day, hour| match (day, hour) {
        (1, 2) => (20 * 3_600_000, Outcome::Ok),
        (1, 3..22) => (0, Outcome::Skipped),
        _ => (50, Outcome::Ok),
    });
    let blocker: ProbeId = columns.probe[26];
    (27..46).for_each(|row| columns.blocker[row] = blocker);
    let (units, _) = days_of("/home", &columns);
    assert_eq!(amount(&units[0], RunQuantity::Median), Some(RunAmount::Known(50e6)));
    // 4 quick slots, then 1 to 20 hours: the 12th of 24 is 8 hours, and the next one 9.
    let Some(RunAmount::Known(median)) = amount(&units[1], RunQuantity::Median) else {
        panic!("it is known")
    };
    assert!((median / (72.0_f64.sqrt() * 3600e9) - 1.0).abs() < 1e-12, "{median}");
}

#[test]
fn days_of_which_little_was_watched_and_days_that_only_failed_are_told() {
    let whole = hourly(6, |day, _| if day == 2 { (5, Outcome::Error) } else { (50, Outcome::Ok) });
    let columns =
        columns_of((0..24 * 6 - 16).map(|row| (whole.start[row].0 / 1_000_000_000, 50, whole.outcome[row])));
    let (units, partial) = days_of("/home", &columns);
    assert_eq!((units.len(), partial), (5, 1), "of the last day there are 8 hours");
    assert_eq!((units[2].standing, units[2].values.len()), (Standing::Unreached, 0));
}

/// Days of two targets that share their luck.
fn two_targets(days: i64, slower: f64) -> [Vec<Unit>; 2] {
    let luck = |day: i64| [1.0, 1.9, 0.6, 1.4, 0.7, 1.1, 0.5][day as usize % 7];
    let own = |day: i64| [1.0, 1.02, 0.99, 0.98, 1.01][day as usize % 5];
    let of = |factor: f64, own: &dyn Fn(i64) -> f64| {
        hourly(days, |day, hour| ((1000.0 * factor * luck(day) * own(day)) as u64 + hour as u64, Outcome::Ok))
    };
    [days_of("/home", &of(1.0, &|_| 1.0)).0, days_of("/scratch", &of(slower, &own)).0]
}

fn side(name: &str, units: Vec<Unit>) -> Side {
    Side { name: name.to_owned(), units, chosen_by: Default::default() }
}

#[test]
fn days_of_two_targets_are_pairs_and_those_before_and_after_are_not() {
    let [home, scratch] = two_targets(14, 1.3);
    let table =
        compare_sides(vec![side("/home", home.clone()), side("/scratch", scratch)], &usual()).unwrap();
    let cell = &table.rows[0].cells[0];
    assert_eq!((table.units, cell.pairs), (UnitKind::Day, Pairs::Days { days: 14 }));
    assert_eq!(cell.compared.word, ComparedWord::Slower);
    let (before, after): (Vec<Unit>, Vec<Unit>) =
        home.into_iter().partition(|unit| unit.span_ns[0] < 7 * DAY_SECONDS * 1_000_000_000);
    let table = compare_sides(vec![side("before", before), side("after", after)], &usual()).unwrap();
    let cell = &table.rows[0].cells[0];
    assert_eq!((cell.pairs, cell.runs), (Pairs::Apart, [7, 7]));
    assert_eq!(cell.compared.difference.as_ref().map(|one| one.method()), Some(RunMethod::ApartT));
    assert_eq!(cell.compared.word, ComparedWord::NoDifferenceShown);
    assert_eq!(table.doubts.len(), 1, "one after the other");
}

#[test]
fn a_part_of_a_day_that_is_on_both_sides_is_refused_whatever_it_is_called() {
    const HOUR: i64 = 3600 * 1_000_000_000;
    let columns = hourly(14, |day, hour| (100 + ((7 * day + hour) % 5) as u64, Outcome::Ok));
    let of_span = |begin: i64, end: i64| {
        let (local, configurations) = (LocalTime::UTC, BTreeMap::new());
        let span = WallSpan { begin: WallTime(begin * HOUR), end: WallTime(end * HOUR) };
        let mut days = Days::new(&local, span, &QUANTITIES, &configurations);
        let rows = (begin.max(0)..end.min(24 * 14)).map(|hour| {
            let at = hour as usize;
            (3600 * hour, columns.duration_ns[at].0 / 1_000_000, columns.outcome[at])
        });
        days.add(&series_of("/home", "list"), &columns_of(rows), &Blockers::of_host("login1"));
        days.finish().0
    };
    let sides = |until: i64, since: i64| {
        let sides = vec![side("before", of_span(0, until)), side("after", of_span(since, 24 * 14))];
        compare_sides(sides, &usual())
    };
    let noon = 24 * 7 + 12;
    sides(noon, noon).unwrap();
    let refused = sides(noon + 3, noon - 3).unwrap_err().to_string();
    assert!(refused.starts_with("the day 1970-01-08 from 09:00 of /home is on both sides"), "{refused}");
}

#[test]
fn runs_that_a_history_remembers_of_one_second_are_two() {
    let (local, configurations) = (LocalTime::UTC, BTreeMap::new());
    let mut runs = RememberedRuns::new(&local, &configurations);
    let mut columns = columns_of([(90, 5, Outcome::Ok), (90, 6, Outcome::Ok), (120, 7, Outcome::Ok)]);
    columns.start[1].0 += 250_000_000;
    runs.add(&series_of("/home", "metadata read, clients 1"), &columns);
    let names: Vec<String> = runs.finish().into_iter().map(|one| one.unit.name).collect();
    assert_eq!(names, ["1970-01-01 00:01:30", "1970-01-01 00:01:30.250000", "1970-01-01 00:02"]);
}

#[test]
fn few_days_that_both_sides_have_make_no_pairs() {
    let [home, scratch] = two_targets(14, 1.3);
    let early = home.into_iter().take(9).collect();
    let late: Vec<Unit> = scratch.into_iter().skip(7).collect();
    let table = compare_sides(vec![side("/home", early), side("/scratch", late)], &usual()).unwrap();
    assert_eq!(table.rows[0].cells[0].pairs, Pairs::Apart, "two of seven");
}

/// Days on which every attempt has the same luck, so many of them a day.
fn watched(noise: &mut Random, target: &str, days: i64, attempts: i64) -> Vec<Unit> {
    let row = |slot: i64| {
        let at = slot / attempts * DAY_SECONDS + slot % attempts * (DAY_SECONDS / attempts);
        (at, (1e6 * (0.6 * noise.normal()).exp()) as u64, Outcome::Ok)
    };
    days_of(target, &columns_of((0..days * attempts).map(row))).0
}

/// Sides that are equal but for how often they were watched. By order statistics, as they are shown elsewhere, 95 of 300 are called different.
#[test]
fn who_watches_more_often_is_no_faster() {
    let mut noise = Random::new(8);
    for attempts in [[2, 3], [4, 24]] {
        let is_different = |_: &usize| {
            let [base, other] = [0, 1].map(|side| watched(&mut noise, "/home", 30, attempts[side]));
            let other = other.into_iter().map(|unit| Unit {
                name: format!("later-{}", unit.name),
                span_ns: unit.span_ns.map(|ns| ns + 30 * DAY_SECONDS * 1_000_000_000),
                ..unit
            });
            let sides = vec![side("before", base), side("after", other.collect())];
            let table = compare_sides(sides, &usual()).unwrap();
            let is_told = |doubt: &Doubt| matches!(doubt, Doubt::DifferentAttempts { .. });
            assert!(table.doubts.iter().any(is_told), "{:?}", table.doubts);
            matches!(table.rows[0].cells[0].compared.word, ComparedWord::Faster | ComparedWord::Slower)
        };
        let different = (0..100).filter(is_different).count();
        assert!(different <= 5, "{different} of 100: {attempts:?}");
    }
}

#[test]
fn tails_of_few_attempts_are_compared_with_as_many_only() {
    let mut noise = Random::new(8);
    let mut sides = |attempts: [i64; 2]| {
        let [home, scratch] =
            [0, 1].map(|side| watched(&mut noise, ["/home", "/scratch"][side], 14, attempts[side]));
        vec![side("/home", home), side("/scratch", scratch)]
    };
    let p95 = CompareOptions { quantity: Some(RunQuantity::P95), ..usual() };
    let refused = compare_sides(sides([24, 96]), &p95).unwrap_err().to_string();
    let told = "p95 cannot be compared: it depends on the number of attempts where that is below 72, and a day has a different one of list, of /home \
                24 and of /scratch 96; choose median or over:DURATION";
    assert_eq!(refused, told);
    for attempts in [[24, 24], [24, 26], [72, 288]] {
        assert_eq!(compare_sides(sides(attempts), &p95).unwrap().rows.len(), 1, "{attempts:?}");
    }
    // Of medians 24 are enough, but a rule of the tail cannot be told.
    let rules = vec!["p95 > 1.1x".parse().unwrap()];
    let table = compare_sides(sides([24, 96]), &CompareOptions { rules, ..usual() }).unwrap();
    assert_eq!(
        (table.rows.len(), table.outcomes.len(), table.not_judged(&table.rules[0]).count()),
        (1, 0, 1)
    );
    assert!(matches!(&table.left_out[..], [LeftOut::FewAttempts { quantity: RunQuantity::P95, .. }]));
}

/// One host a day, of each target the other.
#[test]
fn days_of_unlike_hosts_are_neither_pairs_nor_apart() {
    let [mut home, mut scratch] = two_targets(14, 1.3);
    for (side, units) in [&mut home, &mut scratch].into_iter().enumerate() {
        for (day, unit) in units.iter_mut().enumerate() {
            let host = format!("login{}", (day + side) % 2);
            unit.coordinates.insert("host".to_owned(), host);
        }
    }
    let across = |host: &str| CompareOptions { across: vec![host.to_owned()], ..usual() };
    let sides = vec![side("/home", home), side("/scratch", scratch)];
    let cell = compare_sides(sides, &across("host")).unwrap().rows.remove(0).cells.remove(0);
    assert_eq!((cell.pairs, cell.compared.word), (Pairs::Days { days: 0 }, ComparedWord::TooFew { more: 4 }));
}

/// Three benchmarks in one night, two in the next, of which one hung, and one of other clients: a history says nothing of how the luck of a night is shared.
#[test]
fn runs_of_one_day_that_a_history_remembers_are_one_unit() {
    let (local, configurations) = (LocalTime::UTC, BTreeMap::new());
    let mut runs = RememberedRuns::new(&local, &configurations);
    let hour = 3600;
    let rows = [(2, 1.0), (3, 4.0), (4, 2.0), (26, 3.0), (27, 12.0)];
    let mut columns = columns_of(rows.map(|(at, _)| (at * hour, 0, Outcome::Ok)));
    rows.iter().enumerate().for_each(|(row, (_, seconds))| columns.value[row] = *seconds);
    columns.outcome[4] = Outcome::Hung;
    runs.add(&series_of("/scratch", "metadata create"), &columns);
    let runs = runs.finish();
    assert_eq!(runs.len(), 5);
    let mut of_others = runs[0].clone();
    of_others.unit.coordinates.insert("clients".to_owned(), "16".to_owned());
    let units = RememberedRun::by_day(runs.into_iter().chain([of_others]));
    let told: Vec<(&str, usize, RunAmount)> = units
        .iter()
        .map(|unit| (unit.name.as_str(), unit.values.len(), amount(unit, RunQuantity::Median).unwrap()))
        .collect();
    let expected = [
        ("1970-01-01 02:00", 1, RunAmount::Known(1e9)),
        ("1970-01-01 02:00", 1, RunAmount::Known(2e9)),
        // The middle of 3 s and at least 12.
        ("1970-01-02 02:00", 1, RunAmount::AtLeast(6e9)),
    ];
    let mut sorted = told.clone();
    sorted.sort_by(|one, other| one.2.ends().0.total_cmp(&other.2.ends().0));
    assert_eq!(sorted, expected);
    let of_second = units.iter().find(|unit| unit.name.starts_with("1970-01-02")).unwrap();
    assert_eq!((of_second.standing, of_second.span_ns[1]), (Standing::Hung, 27 * 3_600_000_000_000));
}

/// Days of one luck, each of which resembles the one before by `likeness`.
fn days_of_luck(noise: &mut Random, days: usize, likeness: f64) -> Vec<LogRange> {
    let mut luck = noise.normal();
    let mut day = || {
        let today = 0.3 * luck;
        luck = likeness * luck + (1.0 - likeness.powi(2)).sqrt() * noise.normal();
        LogRange::exactly(today)
    };
    (0..days).map(|_| day()).collect()
}

#[derive(Debug, Clone, Copy)]
enum DaysOf {
    /// Of two targets.
    Both(usize),
    /// Of the base, then of the other side.
    Each(usize, usize),
}

/// Tables of one cell in which nothing differs.
#[derive(Debug, Clone, Copy)]
struct EqualDays {
    days: DaysOf,
    likeness: f64,
    /// How many of the first days are only bounded.
    hung: usize,
}

impl EqualDays {
    fn pairing(&self, noise: &mut Random) -> RunPairing {
        let count = match self.days {
            DaysOf::Both(days) => days,
            DaysOf::Each(base, other) => base + other,
        };
        let mut days = days_of_luck(noise, count, self.likeness);
        days[..self.hung].iter_mut().for_each(|day| *day = LogRange::at_most(day.high()));
        match self.days {
            DaysOf::Both(_) => {
                RunPairing::Days(days.into_iter().map(|day| [LogRange::exactly(0.0), day]).collect())
            }
            DaysOf::Each(base, _) => {
                let after = days.split_off(base);
                RunPairing::DaysApart([days, after])
            }
        }
    }

    /// How many of so many tables say faster or slower.
    fn called_different(&self, tables: usize) -> usize {
        let mut noise = Random::new(14);
        let is_different = |_: &usize| {
            let cells = [RunCell { pairing: self.pairing(&mut noise), margin: 0.0 }];
            let word = compare_runs(&cells, 0.05, CampaignEnding::Planned)[0].word;
            matches!(word, ComparedWord::Faster | ComparedWord::Slower)
        };
        (0..tables).filter(is_different).count()
    }
}

/// A fifth to a quarter would be without an allowance for likeness.
#[test]
fn equal_days_that_resemble_the_one_before_are_seldom_called_different() {
    const TABLES: usize = 1000;
    let paired = [5, 7, 14, 30, 90].map(DaysOf::Both);
    let apart = [DaysOf::Each(7, 7), DaysOf::Each(9, 11), DaysOf::Each(30, 30), DaysOf::Each(7, 60)];
    let known = || paired.into_iter().chain(apart).map(|days| (days, 0));
    let bounded = [DaysOf::Both(14), DaysOf::Both(30), DaysOf::Each(14, 14)].map(|days| (days, 1));
    let cases = known().map(|case| (0.0, case)).chain(known().chain(bounded).map(|case| (0.5, case)));
    for (likeness, (days, hung)) in cases {
        let equal = EqualDays { days, likeness, hung };
        let different = equal.called_different(TABLES);
        assert!(20 * different <= TABLES, "{different} of {TABLES}: {equal:?}");
    }
}

/// Whoever calls nothing different is never wrong.
#[test]
fn days_that_differ_by_twice_their_luck_are_called_different() {
    let mut noise = Random::new(14);
    let slower = |day: LogRange| LogRange::between(day.low() - 0.6, day.high() - 0.6);
    for (days, hung) in [(14, 0), (30, 1)] {
        let pairings =
            (0..100).map(|_| EqualDays { days: DaysOf::Both(days), likeness: 0.0, hung }.pairing(&mut noise));
        let found = pairings.filter(|pairing| {
            let RunPairing::Days(days) = pairing else { return false };
            let days = days.iter().map(|[base, other]| [*base, slower(*other)]).collect();
            let cells = [RunCell { pairing: RunPairing::Days(days), margin: 0.0 }];
            compare_runs(&cells, 0.05, CampaignEnding::Planned)[0].word == ComparedWord::Slower
        });
        // As often as anything that is compared is to be found.
        let found = found.count();
        assert!(found >= 80, "{found} of 100, {days} days");
    }
}
