//! What holds of all tables.

use proptest::prelude::*;

use iolag_analysis::compare::{ComparedTable, Side, compare_sides};
use iolag_analysis::{ComparedWord, LogRange, RunAmount, Standing};
use iolag_model::{Operation, Order};

use crate::made_up::{compared, run, side, usual};

const OPERATIONS: [Operation; 2] = [Operation::Stat, Operation::Create];

/// Rates of two operations: mostly known, now and then only bounded.
fn any_rate() -> impl Strategy<Value = RunAmount> {
    prop_oneof![
        12 => (10.0_f64..1000.0).prop_map(RunAmount::Known),
        1 => (10.0_f64..1000.0).prop_map(RunAmount::AtMost),
        1 => Just(RunAmount::Open),
    ]
}

fn any_side(name: &'static str) -> impl Strategy<Value = Side> {
    let runs = prop::collection::vec([any_rate(), any_rate()], 1..12);
    (runs, prop::sample::select(Order::ALL)).prop_map(move |(runs, order)| {
        let unit = |(at, rates): (usize, &[RunAmount; 2])| {
            let mut unit = run(name, at as u32 + 1, &[(OPERATIONS[0], rates[0]), (OPERATIONS[1], rates[1])]);
            unit.block.as_mut().expect("it is in one").order = order;
            unit
        };
        side(name, runs.iter().enumerate().map(unit).collect())
    })
}

fn cells(table: &ComparedTable) -> impl Iterator<Item = &iolag_analysis::ComparedRuns> {
    table.rows.iter().flat_map(|row| &row.cells).map(|cell| &cell.compared)
}

fn is_mirrored(one: Option<LogRange>, other: Option<LogRange>) -> bool {
    let near = |one: f64, other: f64| one == other || (one - other).abs() < 1e-9;
    match (one, other) {
        (Some(one), Some(other)) => near(one.low(), -other.high()) && near(one.high(), -other.low()),
        (one, other) => one.is_none() && other.is_none(),
    }
}

const fn turned(word: ComparedWord) -> ComparedWord {
    match word {
        ComparedWord::Faster => ComparedWord::Slower,
        ComparedWord::Slower => ComparedWord::Faster,
        word => word,
    }
}

proptest! {
    #[test]
    fn who_is_the_base_decides_the_sign_alone(base in any_side("base"), other in any_side("other")) {
        let one = compared(vec![base.clone(), other.clone()]);
        let swapped = compared(vec![other, base]);
        prop_assert_eq!(one.family, swapped.family);
        for (one, other) in cells(&one).zip(cells(&swapped)) {
            prop_assert_eq!(one.word, turned(other.word));
            prop_assert!(is_mirrored(one.interval, other.interval));
            let estimate = |cell: &iolag_analysis::ComparedRuns| cell.difference.as_ref().map(|one| one.estimate());
            prop_assert!(is_mirrored(estimate(one), estimate(other)));
        }
    }

    #[test]
    fn p_and_the_interval_agree(base in any_side("base"), other in any_side("other"), third in any_side("third")) {
        let table = compared(vec![base, other, third]);
        let between = table.between.iter().map(|between| &between.cell.compared);
        for cell in cells(&table).chain(between) {
            let (Some(p), Some(interval)) = (cell.p_adjusted, cell.interval) else {
                let is_too_few = matches!(cell.word, ComparedWord::TooFew { .. });
                prop_assert!(is_too_few);
                continue;
            };
            // Rounding decides where both are equal.
            if (p - 0.05).abs() > 1e-9 {
                prop_assert_eq!(p < 0.05, interval.excludes_zero());
            }
            let word = match interval {
                _ if interval.is_within(0.05_f64.ln_1p()) => ComparedWord::Same,
                _ if interval.low() > 0.0 => ComparedWord::Faster,
                _ if interval.high() < 0.0 => ComparedWord::Slower,
                _ => ComparedWord::NoDifferenceShown,
            };
            prop_assert_eq!(cell.word, word);
        }
    }

    #[test]
    fn the_order_of_runs_changes_nothing(
        base in any_side("base"),
        (other, shuffled) in any_side("other").prop_flat_map(|side| {
            let units = Just(side.units.clone()).prop_shuffle();
            (Just(side), units)
        }),
    ) {
        let table = compared(vec![base.clone(), other.clone()]);
        let again = compared(vec![base, Side { units: shuffled, ..other }]);
        // Of one run some numbers are none, which are never equal.
        prop_assert_eq!(format!("{table:?}"), format!("{again:?}"));
    }

    /// A run of which less is known makes nothing surer. (What is known by means goes by ranks with a bound, so there is one before, too.)
    #[test]
    fn a_bound_only_widens(base in any_side("base"), other in any_side("other"), at in any::<prop::sample::Index>()) {
        let mut bounded = other.clone();
        let count = bounded.units.len();
        let unit = &mut bounded.units[at.index(count)];
        unit.standing = Standing::Hung;
        let mut was_bounded = other.clone();
        for (value, was) in unit.values.iter_mut().zip(&mut was_bounded.units[at.index(count)].values) {
            let (_, most) = value.amounts[0].1.ends();
            was.amounts[0].1 = RunAmount::AtMost(most);
            value.amounts[0].1 = RunAmount::AtMost(2.0 * most);
        }
        let (one, wider) = (compared(vec![base.clone(), was_bounded]), compared(vec![base, bounded]));
        for (one, wider) in cells(&one).zip(cells(&wider)) {
            let (Some(one), Some(wider)) = (one.interval, wider.interval) else { continue };
            prop_assert!(wider.low() <= one.low() && wider.high() >= one.high(), "{one:?} {wider:?}");
        }
    }

    #[test]
    fn the_slower_of_others_comes_first(sides in prop::collection::vec(any_side("other"), 2..5)) {
        let mut all = vec![side("base", sides[0].units.clone())];
        all.extend(sides);
        for (at, one) in all.iter_mut().enumerate() {
            one.units.iter_mut().for_each(|unit| unit.name = format!("{at}-{}", unit.name));
        }
        let others = all.len() - 1;
        let table = compare_sides(all, &usual()).unwrap();
        prop_assert_eq!(table.between.len(), 2 * others * (others - 1) / 2);
        for between in &table.between {
            if let Some(estimate) = between.cell.compared.difference.as_ref().unwrap().estimate().known() {
                prop_assert!(estimate >= 0.0);
            }
            prop_assert!(!between.sides.contains(&0) && between.sides[0] != between.sides[1]);
        }
    }
}

/// With more than six sides all pairs of others are counted, and neighbours told.
#[test]
fn of_many_others_neighbours_are_told() {
    let factors = [1.0, 3.0, 2.0, 5.0, 4.0, 7.0, 6.0];
    let sides = |count: usize| {
        let one = |(at, factor): (usize, &f64)| {
            crate::made_up::nine(&format!("side{at}"), &[(Operation::Stat, *factor)], 0.02 + 0.01 * at as f64)
        };
        factors[..count].iter().enumerate().map(one).collect::<Vec<_>>()
    };
    let table = compared(sides(7));
    let told: Vec<[usize; 2]> = table.between.iter().map(|between| between.sides).collect();
    // 2 < 3 < 4 < 5 < 6 < 7.
    let mut sorted = told.clone();
    sorted.sort_by(|one, other| factors[one[0]].total_cmp(&factors[other[0]]));
    assert_eq!(sorted, [[2, 1], [1, 4], [4, 3], [3, 6], [6, 5]]);
    let p = |between: &iolag_analysis::compare::BetweenOthers| {
        let compared = &between.cell.compared;
        compared.p_adjusted.unwrap() / compared.difference.as_ref().unwrap().p()
    };
    assert!(
        table.between.iter().all(|between| (p(between) - 15.0).abs() < 1e-6),
        "5 of 15 are told, 15 counted"
    );
    assert_eq!(compared(sides(6)).between.len(), 10);
}
