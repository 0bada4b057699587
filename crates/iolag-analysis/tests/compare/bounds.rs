//! Runs that hung or failed, shares of which there are none, and clocks that count in steps.

use iolag_analysis::compare::{CompareOptions, ComparedTable, LeftOut, Side, Unit, compare_sides};
use iolag_analysis::{ComparedWord, LogRange, RunAmount, RunMethod, RunQuantity, Standing};
use iolag_model::{Nanoseconds, Operation};

use crate::made_up::{compared, estimate, first, known, nine, side, unit, usual, value};

fn stats(name: &str, factor: f64) -> Side {
    nine(name, &[(Operation::Stat, factor)], 0.01)
}

fn with_amount(mut side: Side, at: usize, standing: Standing, amount: RunAmount) -> Side {
    side.units[at].standing = standing;
    side.units[at].values[0].amounts[0].1 = amount;
    side
}

/// One hang of nine leaves "slower" possible, and "faster" not.
#[test]
fn a_hang_opens_the_lower_end() {
    let nfs = with_amount(stats("nfs", 0.5), 3, Standing::Hung, RunAmount::AtMost(20.0));
    let table = compared(vec![stats("native", 1.0), nfs]);
    let cell = &table.rows[0].cells[0];
    assert_eq!((cell.runs, cell.bounded), ([9, 9], [0, 1]));
    assert_eq!(cell.compared.word, ComparedWord::Slower);
    let interval = cell.compared.interval.unwrap();
    assert!(interval.low() == f64::NEG_INFINITY && interval.high() < 0.6_f64.ln(), "{interval:?}");
    assert_eq!(cell.compared.difference.as_ref().unwrap().method(), RunMethod::SignedRanks);
    assert_eq!(table.sides[1].standings[3], Standing::Hung);
    // The middle is a bound: the mean of the eight others and of at most 20.
    let RunAmount::AtMost(middle) = table.rows[0].sides[1].middle else { panic!("it is a bound") };
    assert!((30.0..50.0).contains(&middle), "{middle}");

    let fast = with_amount(stats("nfs", 2.0), 3, Standing::Failed, RunAmount::Open);
    let table = compared(vec![stats("native", 1.0), fast]);
    assert_eq!(
        first(&table).word,
        ComparedWord::NoDifferenceShown,
        "nine blocks with one of which nothing is known"
    );
    assert_eq!(table.rows[0].sides[1].middle, RunAmount::Open);
}

#[test]
fn a_run_that_says_nothing_of_its_target_is_left_out_and_told() {
    let mut nfs = stats("nfs", 0.5);
    nfs.units[8].standing = Standing::BrokenOff;
    nfs.units[2].standing = Standing::Unreached;
    let table = compared(vec![stats("native", 1.0), nfs]);
    let left_out = |at: usize, standing| LeftOut::Run { side: 1, run: format!("nfs-{}", at + 1), standing };
    assert_eq!(table.left_out[..2], [left_out(2, Standing::Unreached), left_out(8, Standing::BrokenOff)]);
    // Those of the base in the same blocks have no partner any more.
    let [LeftOut::Unpaired { side: 0, against: 1, runs, .. }] = &table.left_out[2..] else {
        panic!("{:?}", table.left_out)
    };
    assert_eq!(runs[..], ["native-3", "native-9"]);
    assert_eq!(table.sides[1].runs.len(), 7);
    assert_eq!(table.rows[0].cells[0].runs, [7, 7]);
    assert_eq!(first(&table).word, ComparedWord::Slower);
}

const OVER: RunQuantity = RunQuantity::ShareOver(Nanoseconds::from_milliseconds(100));

/// Runs with so many of their attempts over the threshold.
fn shares(name: &str, from: i64, counts: &[(u64, u64)]) -> Side {
    let unit = |(at, (over, attempts)): (usize, &(u64, u64))| {
        let mut value = value(Operation::Stat, &[(OVER, known(*over as f64 / *attempts as f64))]);
        value.attempts = *attempts;
        Unit { values: vec![value], ..unit(&format!("{name}-{at}"), from + at as i64) }
    };
    side(name, counts.iter().enumerate().map(unit).collect())
}

fn by_share(sides: Vec<Side>) -> ComparedTable {
    compare_sides(sides, &CompareOptions { quantity: Some(OVER), ..usual() }).expect("they have shares")
}

#[test]
fn less_over_the_threshold_is_faster() {
    let table = by_share(vec![
        shares("native", 0, &[(100, 1000), (110, 1000), (95, 1000), (105, 1000), (99, 1000)]),
        shares("nfs", 10, &[(20, 1000), (25, 1000), (22, 1000), (18, 1000), (21, 1000)]),
    ]);
    assert_eq!(first(&table).word, ComparedWord::Faster);
    // (k + 1/2)/1001, by hand.
    let mean = |counts: [f64; 5]| counts.iter().map(|count| ((count + 0.5) / 1001.0).ln()).sum::<f64>() / 5.0;
    let expected = mean([100.0, 110.0, 95.0, 105.0, 99.0]) - mean([20.0, 25.0, 22.0, 18.0, 21.0]);
    assert!((estimate(first(&table)) - expected).abs() < 1e-9);
    // The middles are those that are compared, so that they fit the percent.
    let [RunAmount::Known(base), RunAmount::Known(other)] = table.rows[0].cells[0].middles else {
        panic!("they are known")
    };
    assert!((base - mean([100.0, 110.0, 95.0, 105.0, 99.0]).exp()).abs() < 1e-12);
    assert!(((base / other).ln() - expected).abs() < 1e-9);
}

/// One bad run makes the mean of the shares of a side greater, though it is the faster one by most.
#[test]
fn the_middles_of_shares_are_on_the_side_of_the_word() {
    let table = by_share(vec![
        shares("native", 0, &[(40, 1000), (42, 1000), (38, 1000), (41, 1000), (39, 1000), (40, 1000)]),
        shares("nfs", 10, &[(20, 1000), (21, 1000), (19, 1000), (22, 1000), (18, 1000), (300, 1000)]),
    ]);
    let [RunAmount::Known(base), RunAmount::Known(other)] = table.rows[0].cells[0].middles else {
        panic!("they are known")
    };
    assert!(other < base && estimate(first(&table)) > 0.0, "{base} {other}");
}

/// Where none was over, the share is a bound, as one that hung is.
#[test]
fn runs_without_any_over_are_counted_as_bounded() {
    let few = shares("nfs", 20, &[(0, 1000), (2, 1000), (1, 1000), (0, 1000), (3, 1000)]);
    let table = by_share(vec![shares("native", 0, &[(15, 1000); 5]), few]);
    let cell = &table.rows[0].cells[0];
    assert_eq!((cell.runs, cell.bounded, table.rows[0].sides[1].bounded), ([5, 5], [0, 2], 2));
    assert!(matches!(cell.middles[1], RunAmount::AtMost(_)));
}

#[test]
fn of_nothing_over_the_threshold_no_difference_is_shown() {
    let none = |name, from, attempts| shares(name, from, &[(0, attempts); 9]);
    for attempts in [1000, 20] {
        let table = by_share(vec![none("native", 0, 1000), none("nfs", 10, attempts)]);
        let cell = first(&table);
        assert_eq!(cell.word, ComparedWord::NoDifferenceShown, "{attempts} attempts");
        assert_eq!(
            (cell.interval, cell.p_adjusted, cell.more_for_same),
            (Some(LogRange::UNKNOWN), Some(1.0), None)
        );
    }
    // Who tried ten times as often and met as little is not faster for that.
    let few = shares("nfs", 10, &[(0, 100), (1, 100), (0, 100), (0, 100), (0, 100), (1, 100), (0, 100)]);
    let many =
        shares("native", 0, &[(2, 1000), (3, 1000), (3, 1000), (2, 1000), (3, 1000), (4, 1000), (3, 1000)]);
    assert_eq!(first(&by_share(vec![many, few])).word, ComparedWord::NoDifferenceShown);
}

#[test]
fn a_run_of_five_attempts_makes_nothing_the_same() {
    let runs = |over: u64, last: (u64, u64)| -> Vec<(u64, u64)> {
        (0..9).map(|at| (over + at % 3, 10_000)).chain([last]).collect()
    };
    let many = shares("native", 0, &runs(20, (0, 5)));
    let few = shares("nfs", 20, &runs(5, (5, 10_000)));
    let table = by_share(vec![many.clone(), few]);
    assert_eq!(first(&table).word, ComparedWord::Faster, "{:?}", first(&table));
    // ln(21.5/6.5) = 1.2; of five attempts nobody knows.
    let estimated = first(&table).difference.as_ref().unwrap().estimate();
    assert!(1.0 < estimated.low() && estimated.high() < 1.5, "a fourth of it, {estimated:?}");
    // Neither is it a difference that one side tried ten times as often.
    let seldom =
        shares("nfs", 20, &[(0, 1000), (2, 1000), (1, 1000), (0, 1000), (3, 1000), (1, 1000), (2, 1000)]);
    let often = shares("native", 0, &runs(14, (15, 10_000)));
    assert_eq!(first(&by_share(vec![often, seldom])).word, ComparedWord::NoDifferenceShown);
}

/// What half an attempt makes of a share is in the interval: where so few are over, nothing is the same.
#[test]
fn shares_are_the_same_where_enough_is_over() {
    let word = |over: u64, attempts: u64| {
        let of = |name, from| shares(name, from, &[(over, attempts); 9]);
        let table = by_share(vec![of("native", 0), of("nfs", 20)]);
        let interval = first(&table).interval.unwrap();
        // ln((k + 1/2)/k) of either side, by hand.
        assert!((interval.high() - 2.0 * (0.5 / over as f64).ln_1p()).abs() < 1e-9, "{interval:?}");
        first(&table).word
    };
    assert_eq!(word(5, 1000), ComparedWord::NoDifferenceShown);
    assert_eq!(word(500, 100_000), ComparedWord::Same);
}

#[test]
fn steps_of_the_clock_are_no_difference() {
    let medians = |name: &str, from: i64, ns: f64, step: f64| {
        let unit = |at: i64| Unit {
            workload: "check".into(),
            usual: RunQuantity::Median,
            clock_step_ns: step,
            values: vec![value(Operation::Stat, &[(RunQuantity::Median, known(ns))])],
            ..unit(&format!("{name}-{at}"), from + at)
        };
        side(name, (0..5).map(unit).collect())
    };
    let word = |step| {
        let table = compared(vec![medians("native", 0, 4000.0, step), medians("nfs", 10, 5000.0, step)]);
        (first(&table).word, first(&table).interval.unwrap())
    };
    let (by_a_fine_clock, interval) = word(1.0);
    assert_eq!(by_a_fine_clock, ComparedWord::Slower);
    assert!(
        (interval.high() - (0.8_f64.ln() + 1.00025_f64.ln() + 1.0002_f64.ln())).abs() < 1e-9,
        "{interval:?}"
    );
    assert_eq!(word(1000.0).0, ComparedWord::NoDifferenceShown);
}
