//! Which runs stand beside which.

use iolag_analysis::compare::{Pairs, Side, UnitBlock};
use iolag_analysis::{CampaignEnding, ComparedWord, RunAmount};
use iolag_model::{Operation, Order};

use crate::made_up::{apart, campaign, compared, estimate, first, known, nine, run};

fn stats(name: &str, factor: f64) -> Side {
    nine(name, &[(Operation::Stat, factor)], 0.01)
}

fn in_order(mut side: Side, order: Order) -> Side {
    side.units.iter_mut().filter_map(|unit| unit.block.as_mut()).for_each(|block| block.order = order);
    side
}

fn blocks(side: &mut Side) -> impl Iterator<Item = &mut UnitBlock> {
    side.units.iter_mut().filter_map(|unit| unit.block.as_mut())
}

#[test]
fn a_campaign_that_took_turns_is_paired_and_others_are_not() {
    let of = |order| {
        let nfs = nine("nfs", &[(Operation::Stat, 1.1)], 0.02);
        let table = compared(vec![in_order(stats("native", 1.0), order), in_order(nfs, order)]);
        let interval = first(&table).interval.unwrap();
        (table.rows[0].cells[0].pairs, interval.high() - interval.low())
    };
    let (turned, random, apart) = (of(Order::Interleaved), of(Order::Random), of(Order::Sequential));
    assert_eq!(turned.0, Pairs::Blocks { blocks: 9, order: Order::Interleaved });
    assert_eq!(random.0, Pairs::Blocks { blocks: 9, order: Order::Random });
    assert_eq!(apart.0, Pairs::Apart);
    // The luck of a block falls out; what A B, B A have in common counts.
    assert!((turned.1 / random.1 - 1.125_f64.sqrt()).abs() < 1e-6, "{turned:?} {random:?}");
    assert!(apart.1 > 2.0 * turned.1, "{apart:?}");
    // Of runs of before plans nobody knows the order.
    let without = |mut side: Side| {
        side.units.iter_mut().for_each(|unit| unit.block = None);
        side
    };
    let table = compared(vec![without(stats("native", 1.0)), stats("nfs", 1.1)]);
    assert_eq!(table.rows[0].cells[0].pairs, Pairs::Apart);
}

#[test]
fn campaigns_are_paired_each_within_itself() {
    let of = |name: &str, factor: f64| {
        let mut both = stats(name, factor);
        // Another campaign, on a day when all is three times as fast, with the same blocks.
        let later = (1..=4).map(|block| {
            let mut unit = run(name, block, &[(Operation::Stat, known(300.0 * factor))]);
            unit.name.push_str("-later");
            unit.block.as_mut().unwrap().campaign = campaign(2);
            unit
        });
        both.units.extend(later);
        both
    };
    let table = compared(vec![of("native", 1.0), of("nfs", 1.2)]);
    assert_eq!(table.rows[0].cells[0].pairs, Pairs::Blocks { blocks: 13, order: Order::Interleaved });
    assert!((estimate(first(&table)) - 1.2_f64.ln()).abs() < 0.002);
    assert!(first(&table).interval.unwrap().high() < 1.22_f64.ln());
    // A campaign of one side alone has nothing to stand beside.
    let mixed = compared(vec![of("native", 1.0), stats("nfs", 1.2)]);
    assert_eq!((mixed.rows[0].cells[0].pairs, mixed.rows[0].cells[0].runs), (Pairs::Apart, [13, 9]));
}

/// The second of a two is missing: the other goes on being a pair, and is no less sure than its neighbours.
#[test]
fn a_block_without_one_of_the_sides_is_no_pair() {
    let mut base = stats("native", 1.0);
    base.units.remove(3);
    let table = compared(vec![base, stats("nfs", 1.1)]);
    let cell = &table.rows[0].cells[0];
    assert_eq!((cell.pairs, cell.runs), (Pairs::Blocks { blocks: 8, order: Order::Interleaved }, [8, 9]));
    assert_eq!(table.rows[0].sides[1].amounts.len(), 9, "the run that is left is not hidden");

    // With one more block missing on either side there are seven, and what is compared are those.
    let (mut base, mut other) = (stats("native", 1.0), stats("nfs", 1.1));
    base.units.remove(3);
    other.units.remove(5);
    // A run without partner says nothing of the difference.
    let unpaired = other.units.iter_mut().find(|unit| unit.block.as_ref().unwrap().block == 4).unwrap();
    unpaired.values[0].amounts[0].1 = known(1.0);
    let table = compared(vec![base, other]);
    assert_eq!(table.rows[0].cells[0].pairs, Pairs::Blocks { blocks: 7, order: Order::Interleaved });
    assert!((estimate(first(&table)) - 1.1_f64.ln()).abs() < 0.01);
}

#[test]
fn several_runs_of_a_block_are_its_mean() {
    let mut base = stats("native", 1.0);
    let again = base.units.iter().map(|unit| {
        let mut again = unit.clone();
        again.name.push_str("-again");
        if let RunAmount::Known(rate) = &mut again.values[0].amounts[0].1 {
            *rate *= 4.0;
        }
        again
    });
    base.units = base.units.iter().cloned().chain(again).collect();
    let table = compared(vec![base, stats("nfs", 2.0)]);
    let cell = &table.rows[0].cells[0];
    assert_eq!((cell.pairs, cell.runs), (Pairs::Blocks { blocks: 9, order: Order::Interleaved }, [18, 9]));
    // The geometric mean of one and four is two.
    assert!(estimate(first(&table)).abs() < 1e-9);
    assert_eq!(first(&table).word, ComparedWord::Same);
}

#[test]
fn a_campaign_that_looked_at_its_table_has_wider_intervals() {
    let of = |ending| {
        let mut sides = vec![stats("native", 1.0), stats("nfs", 1.1)];
        blocks(&mut sides[1]).for_each(|block| block.ending = ending);
        let table = compared(sides);
        first(&table).p_adjusted.unwrap()
    };
    assert!((of(CampaignEnding::WhenPrecise) / of(CampaignEnding::Planned) - 1.25).abs() < 1e-9);
}

#[test]
fn one_run_a_side_says_what_is_lacking() {
    let table = compared(vec![apart("native", 0, &[100.0]), apart("nfs", 5, &[103.0])]);
    let cell = first(&table);
    assert_eq!((cell.word, cell.interval, cell.p_adjusted), (ComparedWord::TooFew { more: 3 }, None, None));
    assert!((estimate(cell) - 1.03_f64.ln()).abs() < 1e-12);
    let table = compared(vec![apart("native", 0, &[100.0; 20]), apart("nfs", 50, &[103.0, 104.0])]);
    assert_eq!(first(&table).word, ComparedWord::TooFew { more: 2 });
}
