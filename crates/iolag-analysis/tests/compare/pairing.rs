//! Which runs stand beside which.

use std::collections::BTreeMap;

use iolag_analysis::compare::{CompareOptions, LeftOut, Pairs, Side, Unit, UnitBlock, compare_sides};
use iolag_analysis::{CampaignEnding, ComparedWord, RunAmount};
use iolag_model::{Operation, Order};

use crate::made_up::{apart, campaign, compared, estimate, first, known, nine, run, side, usual};

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
    assert_eq!((cell.pairs, cell.runs), (Pairs::Blocks { blocks: 8, order: Order::Interleaved }, [8, 8]));
    assert_eq!(table.rows[0].sides[1].amounts.len(), 9, "the run that is left is not hidden");
    let [LeftOut::Unpaired { side: 1, against: 0, runs, .. }] = &table.left_out[..] else {
        panic!("{:?}", table.left_out)
    };
    assert_eq!(runs[..], ["nfs-4"]);

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
    // What is shown is of what is compared: of seven, without the run of one a second.
    let [RunAmount::Known(base), RunAmount::Known(other)] = table.rows[0].cells[0].middles else {
        panic!("{:?}", table.rows[0].cells[0])
    };
    assert!(((other / base).ln() - estimate(first(&table))).abs() < 1e-9);
    let shown: Vec<_> = table.rows[0].sides.iter().map(|side| (side.middle, side.runs)).collect();
    assert_eq!(shown, [(RunAmount::Known(base), 7), (RunAmount::Known(other), 7)]);
    assert_eq!(table.left_out.len(), 2);
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

/// A block of 1 and 16 clients, of which 16 are a fifth as fast, with clients pooled.
#[test]
fn blocks_that_lack_some_of_what_is_pooled_are_no_pairs() {
    let of = |name: &str, factor: f64, clients: &[(&str, f64)]| {
        let runs = clients.iter().flat_map(|(clients, slower)| {
            let runs = stats(name, factor * slower).units.into_iter();
            runs.map(move |unit| {
                let coordinates = BTreeMap::from([("clients".to_owned(), (*clients).to_owned())]);
                Unit { name: format!("{}-{clients}", unit.name), coordinates, ..unit }
            })
        });
        side(name, runs.collect())
    };
    let both = [("1", 1.0), ("16", 0.2)];
    let options = CompareOptions { across: vec!["clients".into()], ..usual() };
    let pooled = |base: Side, other: Side| {
        let table = compare_sides(vec![base, other], &options).unwrap();
        (table.rows[0].cells[0].pairs, estimate(first(&table)), first(&table).word)
    };
    let nine = Pairs::Blocks { blocks: 9, order: Order::Interleaved };
    let (pairs, found, word) = pooled(of("native", 1.0, &both), of("nfs", 1.0, &both));
    assert!(pairs == nine && found.abs() < 1e-9 && word == ComparedWord::Same, "{pairs:?} {found}");

    // Two of the other side's runs with one client were broken off.
    let mut lacking = of("nfs", 1.0, &both);
    lacking.units.drain(3..5);
    let (pairs, found, word) = pooled(of("native", 1.0, &both), lacking);
    assert_eq!((pairs, word), (Pairs::Blocks { blocks: 7, order: Order::Interleaved }, ComparedWord::Same));
    assert!(found.abs() < 0.005, "{found}");

    // Four clients are the base's alone, in all blocks; and twice the runs are no more weight.
    let mut base = of("native", 1.0, &[("1", 1.0), ("4", 0.5), ("16", 0.2)]);
    base.units.extend(of("native-again", 1.0, &both[..1]).units);
    let (pairs, found, _) = pooled(base, of("nfs", 0.5, &both));
    assert!(pairs == nine && (found - 0.5_f64.ln()).abs() < 1e-9, "{pairs:?} {found}");

    // What has nothing in common is pooled as it is.
    let (pairs, found, _) = pooled(of("native", 1.0, &both[..1]), of("nfs", 1.0, &both[1..]));
    assert!(pairs == nine && (found - 0.2_f64.ln()).abs() < 1e-9, "{pairs:?} {found}");
}

/// Runs apart with one client or with 16, which are a fifth as fast: so many of either.
fn of_clients(name: &str, factor: f64, [one, sixteen]: [usize; 2]) -> Side {
    let runs = |clients: &'static str, slower: f64, count: usize| {
        let rates: Vec<f64> =
            (0..count).map(|at| 100.0 * factor / slower * (1.0 + 0.01 * (at % 3) as f64)).collect();
        let units = apart(&format!("{name}-{clients}"), 0, &rates).units.into_iter();
        units.map(move |unit| Unit {
            coordinates: BTreeMap::from([("clients".to_owned(), clients.to_owned())]),
            ..unit
        })
    };
    side(name, runs("1", 1.0, one).chain(runs("16", 5.0, sixteen)).collect())
}

/// What the sides have in different shares is no difference between them.
#[test]
fn what_is_pooled_is_compared_with_its_like() {
    let options = CompareOptions { across: vec!["clients".into()], ..usual() };
    let table = |factor: f64, base: [usize; 2], other: [usize; 2]| {
        let sides = vec![of_clients("native", 1.0, base), of_clients("nfs", factor, other)];
        compare_sides(sides, &options).unwrap()
    };
    let equal = table(1.0, [9, 3], [3, 9]);
    assert_eq!(equal.rows.len(), 1);
    assert!(estimate(first(&equal)).abs() < 1e-9, "{:?}", first(&equal));
    assert_eq!((first(&equal).word, equal.rows[0].cells[0].pairs), (ComparedWord::Same, Pairs::Apart));
    let slower = table(0.5, [9, 3], [3, 9]);
    assert!((estimate(first(&slower)) - 0.5_f64.ln()).abs() < 1e-9);
    assert_eq!(first(&slower).word, ComparedWord::Slower);
    // Of one run nobody knows how far it is off, and there is nothing else that is alike.
    let nothing = table(1.0, [9, 1], [1, 9]);
    assert_eq!(first(&nothing).word, ComparedWord::TooFew { more: 4 });
    assert!(first(&nothing).difference.is_none());
    // What one of them has alone, or once, is left away.
    for (base, other, alone) in [([6, 0], [6, 6], 6), ([6, 6], [6, 1], 1)] {
        let left = table(1.0, base, other);
        let is_told = |one: &LeftOut| matches!(one, LeftOut::Unpaired { side: 1, runs, pairs: Pairs::Apart, .. } if runs.len() == alone);
        assert!(left.left_out.iter().any(is_told), "{:?}", left.left_out);
        // As many with one client, three rates in turns.
        let (middle, of_one) = (left.rows[0].sides[1].middle.ends().0, (1.01_f64.ln() + 1.02_f64.ln()) / 3.0);
        assert!(((middle / 100.0).ln() - of_one).abs() < 1e-9 && left.rows[0].sides[1].runs == 6, "{middle}");
        assert!(estimate(first(&left)).abs() < 1e-9 && first(&left).word == ComparedWord::Same, "{base:?}");
    }
}

/// 1 client of one side and 16 of the other in each block, the other way round in the next.
#[test]
fn runs_that_took_turns_are_never_compared_apart() {
    let of = |name: &str, first: u32| {
        let mut side = stats(name, 1.0);
        for unit in &mut side.units {
            let is_one = (unit.block.as_ref().unwrap().block + first).is_multiple_of(2);
            unit.coordinates.insert("clients".to_owned(), if is_one { "1" } else { "16" }.to_owned());
            if let (RunAmount::Known(rate), false) = (&mut unit.values[0].amounts[0].1, is_one) {
                *rate /= 5.0;
            }
        }
        side
    };
    let options = CompareOptions { across: vec!["clients".into()], ..usual() };
    let table = compare_sides(vec![of("native", 0), of("nfs", 1)], &options).unwrap();
    assert_eq!(table.rows[0].cells[0].pairs, Pairs::Blocks { blocks: 0, order: Order::Interleaved });
    assert_eq!(first(&table).word, ComparedWord::TooFew { more: 4 });
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
