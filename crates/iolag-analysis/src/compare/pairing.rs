//! How the runs of two sides are put side by side.

use std::collections::{BTreeMap, BTreeSet};

use iolag_model::{Order, RunId};

use super::cells::{Entry, Row};
use super::side::{UnitBlock, UnitKind};
use super::table::Pairs;
use crate::run::values::{RunAmount, RunQuantity};
use crate::statistics::runs::difference::RunPairing;
use crate::statistics::runs::log_range::LogRange;
use crate::statistics::runs::table::RunCell;

/// What of an amount is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scale {
    /// Its speed: more is faster.
    Speed,
    /// The amount itself.
    Amount,
}

/// Two sides of a row, to be judged.
pub(super) struct Paired {
    pub cell: RunCell,
    pub pairs: Pairs,
}

/// The runs of two sides of a row by a quantity; `None` if one of them has none.
pub(super) fn paired(row: &Row, sides: [usize; 2], quantity: RunQuantity, scale: Scale) -> Option<Paired> {
    let logarithm = |entry: &Entry| match scale {
        Scale::Speed => quantity.speed(corrected(entry, quantity)),
        Scale::Amount => corrected(entry, quantity).logarithm(),
    };
    let entries = sides.map(|side| &row.sides[side]);
    if entries.iter().any(|side| side.is_empty()) {
        return None;
    }
    let (pairing, pairs) = blocks(entries, logarithm)
        .or_else(|| days(entries, logarithm))
        .unwrap_or_else(|| (RunPairing::Apart(entries.map(|side| by_unit(side, logarithm))), Pairs::Apart));
    let margin = margin(entries, quantity);
    Some(Paired { cell: RunCell { pairing, margin }, pairs })
}

/// One value a unit: what it says several times, because targets are pooled, shares its luck.
fn by_unit(entries: &[Entry], of: impl Fn(&Entry) -> LogRange) -> Vec<LogRange> {
    let mut units: BTreeMap<usize, Vec<LogRange>> = BTreeMap::new();
    for entry in entries {
        units.entry(entry.place).or_default().push(of(entry));
    }
    units.into_values().map(|values| LogRange::mean(&values)).collect()
}

/// What a side has in a block, by what is pooled.
type OfBlock = BTreeMap<usize, Vec<LogRange>>;

fn mean_of_block(block: &OfBlock) -> LogRange {
    LogRange::mean(&block.values().map(|values| LogRange::mean(values)).collect::<Vec<LogRange>>())
}

/// The runs that share a block with one of the other side, if that is how they were conducted: all in campaigns that took turns, and none of
/// these has but one of the sides. Of what is pooled, blocks have what both sides have; where one of them lacks some of it in a block, that is no pair: the mean of the rest is of something else.
fn blocks(sides: [&Vec<Entry>; 2], of: impl Fn(&Entry) -> LogRange) -> Option<(RunPairing, Pairs)> {
    let strata = sides.map(|side| side.iter().map(|entry| entry.stratum).collect::<BTreeSet<usize>>());
    let common: BTreeSet<usize> = strata[0].intersection(&strata[1]).copied().collect();
    let mut blocks: BTreeMap<(&RunId, u32), [OfBlock; 2]> = BTreeMap::new();
    let mut order = Order::Random;
    for (side, entries) in sides.into_iter().enumerate() {
        for entry in entries {
            let UnitBlock { campaign, order: own, block, .. } = entry.unit.block.as_ref()?;
            match own {
                Order::Sequential => return None,
                // The wider of both.
                Order::Interleaved => order = Order::Interleaved,
                Order::Random => {}
            }
            let block = &mut blocks.entry((campaign, *block)).or_default()[side];
            // Sides that have none of it in common were not meant to.
            let stratum = if common.is_empty() { Some(0) } else { common.get(&entry.stratum).copied() };
            if let Some(stratum) = stratum {
                block.entry(stratum).or_default().push(of(entry));
            }
        }
    }
    let mut have_both: BTreeMap<&RunId, bool> = BTreeMap::new();
    let mut pairs = Vec::new();
    for ((campaign, _), [base, other]) in &blocks {
        let is_whole = !base.is_empty() && base.keys().eq(other.keys());
        *have_both.entry(*campaign).or_default() |= is_whole;
        if is_whole {
            pairs.push([base, other].map(mean_of_block));
        }
    }
    if !have_both.into_values().all(|both| both) {
        return None;
    }
    let told = Pairs::Blocks { blocks: pairs.len() as u32, order };
    // The other block of a two may be missing: what is left of it resembles its neighbours no more than that.
    let pairing =
        if order == Order::Interleaved { RunPairing::TurnedBlocks(pairs) } else { RunPairing::Blocks(pairs) };
    Some((pairing, told))
}

/// Days in the order of time, of all hosts together: those that both sides have, if that is most of what the one with fewer has; of before and after a
/// moment there are none, or one.
fn days(sides: [&Vec<Entry>; 2], of: impl Fn(&Entry) -> LogRange) -> Option<(RunPairing, Pairs)> {
    let mut days: BTreeMap<&str, [OfBlock; 2]> = BTreeMap::new();
    for (side, entries) in sides.into_iter().enumerate() {
        for entry in entries {
            if entry.unit.kind != UnitKind::Day {
                return None;
            }
            let of_day = &mut days.entry(&entry.unit.name).or_default()[side];
            of_day.entry(entry.stratum).or_default().push(of(entry));
        }
    }
    let of_side = |side: usize| days.values().filter(move |sides| !sides[side].is_empty());
    // As of blocks: a day on which one side has another host is no pair.
    let both: Vec<[LogRange; 2]> = of_side(0)
        .filter(|[base, other]| base.keys().eq(other.keys()))
        .map(|sides| sides.each_ref().map(mean_of_block))
        .collect();
    if 2 * both.len() > of_side(0).count().min(of_side(1).count()) {
        let told = Pairs::Days { days: both.len() as u32 };
        return Some((RunPairing::Days(both), told));
    }
    let apart = [0, 1].map(|side| of_side(side).map(|sides| mean_of_block(&sides[side])).collect());
    Some((RunPairing::DaysApart(apart), Pairs::Apart))
}

/// What is compared. A share rests on as many attempts as its run made: half an attempt more was over the threshold of one more, and if none was, the share is that or less, so that who
/// tried more often and met nothing is not faster for that.
pub(super) fn corrected(entry: &Entry, quantity: RunQuantity) -> RunAmount {
    let amount = entry.amount(quantity).unwrap_or(RunAmount::Open);
    if quantity.threshold().is_none() {
        return amount;
    }
    let attempts = entry.value.attempts as f64;
    let of = |share: f64| (share * attempts + 0.5) / (attempts + 1.0);
    match amount {
        RunAmount::Known(share) if share > 0.0 => RunAmount::Known(of(share)),
        RunAmount::Known(share) | RunAmount::AtMost(share) => RunAmount::AtMost(of(share)),
        RunAmount::AtLeast(share) if share > 0.0 => RunAmount::AtLeast(of(share)),
        RunAmount::AtLeast(_) | RunAmount::Open => RunAmount::Open,
    }
}

/// By how much the logarithm may be off: on either side a step of the clock, and of a histogram if there was one; of shares what the half of an attempt makes of them.
fn margin(sides: [&Vec<Entry>; 2], quantity: RunQuantity) -> f64 {
    let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let of_side = |side: &Vec<Entry>| {
        let least = |entry: &Entry| entry.amount(quantity).map(|amount| amount.ends().0);
        let least = side.iter().filter_map(least);
        match quantity {
            RunQuantity::Rate => 0.0,
            RunQuantity::ShareOver(_) => {
                let over = side
                    .iter()
                    .filter_map(|entry| Some(entry.amount(quantity)?.ends().0 * entry.value.attempts as f64));
                mean(over.map(of_so_few).collect())
            }
            RunQuantity::Median | RunQuantity::P95 => {
                // Of a run of which nothing is known nobody knows how many steps it had.
                let known: Vec<f64> = least.filter(|least| *least > 0.0).map(f64::ln).collect();
                let step = side.iter().map(|entry| entry.unit.clock_step_ns).fold(1.0, f64::max);
                let of_quantiles = side.iter().map(|entry| entry.unit.quantile_step).fold(0.0, f64::max);
                of_quantiles + if known.is_empty() { 0.0 } else { (step / mean(known).exp()).ln_1p() }
            }
        }
    };
    sides.into_iter().map(of_side).sum()
}

/// By how much the logarithm of a share is off, of which so many attempts were over the threshold. Chosen by simulation: of one to three the correction
/// is too great as often as too small, and a run that had none tells less than its bound, where half of all runs have none.
fn of_so_few(over: f64) -> f64 {
    match over.round() {
        ..1.0 => std::f64::consts::LN_2,
        1.0..=3.0 => (1.0 / (over - 0.5)).ln_1p(),
        _ => (0.5 / over).ln_1p(),
    }
}

/// The middle of what a side has: the geometric mean, of shares the mean.
pub(super) fn middle(side: &[Entry], quantity: RunQuantity) -> RunAmount {
    let ends = |end: fn((f64, f64)) -> f64| {
        let amounts = side.iter().filter_map(|entry| entry.amount(quantity));
        amounts.map(|amount| end(amount.ends())).collect::<Vec<f64>>()
    };
    let mean = |amounts: Vec<f64>| {
        let count = amounts.len() as f64;
        match amounts.first() {
            None => f64::NAN,
            _ if quantity.threshold().is_some() => amounts.iter().sum::<f64>() / count,
            Some(first) if amounts.iter().all(|amount| amount == first) => *first,
            _ => (amounts.iter().map(|amount| amount.ln()).sum::<f64>() / count).exp(),
        }
    };
    let (low, high) = (mean(ends(|(low, _)| low)), mean(ends(|(_, high)| high)));
    if low.is_nan() || high.is_nan() { RunAmount::Open } else { RunAmount::between(low, high) }
}
