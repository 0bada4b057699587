//! How the runs of two sides are put side by side.

use std::collections::{BTreeMap, BTreeSet};

use iolag_model::{Order, RunId};

use super::cells::{Entry, Row};
use super::side::{UnitBlock, UnitKind};
use super::table::Pairs;
use crate::run::values::{RunAmount, RunQuantity};
use crate::statistics::runs::log_range::LogRange;
use crate::statistics::runs::pairing::RunPairing;
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
pub(super) struct Paired<'a> {
    pub cell: RunCell,
    pub pairs: Pairs,
    /// What of either side is in it.
    pub entries: [Vec<Entry<'a>>; 2],
}

/// The runs of two sides of a row by a quantity; `None` if one of them has none.
pub(super) fn paired<'a>(
    row: &Row<'a>,
    sides: [usize; 2],
    quantity: RunQuantity,
    scale: Scale,
) -> Option<Paired<'a>> {
    let logarithm = |entry: &Entry| match scale {
        Scale::Speed => quantity.speed(corrected(entry, quantity)),
        Scale::Amount => corrected(entry, quantity).logarithm(),
    };
    let entries = sides.map(|side| row.sides[side].as_slice());
    if entries.iter().any(|side| side.is_empty()) {
        return None;
    }
    let design = Design::of(entries);
    let entries = [0, 1].map(|side| design.entries(side));
    let margin = margin(entries.each_ref(), quantity);
    Some(Paired {
        cell: RunCell { pairing: design.pairing(logarithm), margin },
        pairs: design.pairs,
        entries,
    })
}

impl Paired<'_> {
    /// The middle of what is compared of either side, by which percent and word go: of shares that of the corrected ones.
    pub(super) fn middles(&self, quantity: RunQuantity) -> [RunAmount; 2] {
        let middles = self.cell.pairing.middles();
        [0, 1].map(|side| {
            let mut amounts = self.entries[side].iter().map(|entry| corrected(entry, quantity));
            let first = amounts.next();
            // What is the same everywhere is not rounded.
            let is_first = |amount: RunAmount| Some(amount) == first;
            first.filter(|_| amounts.all(is_first)).unwrap_or_else(|| quantity.amount(middles[side]))
        })
    }
}

/// What a side has in a block, on a day or in a unit, by what is pooled.
type Pooled<'a> = BTreeMap<usize, Vec<Entry<'a>>>;

/// One value, in which what is pooled has the same weight however often it is there.
fn mean_of(pooled: &Pooled, of: impl Fn(&Entry) -> LogRange) -> LogRange {
    let of_stratum =
        |entries: &Vec<Entry>| LogRange::mean(&entries.iter().map(&of).collect::<Vec<LogRange>>());
    LogRange::mean(&pooled.values().map(of_stratum).collect::<Vec<LogRange>>())
}

/// What stands beside what.
struct Design<'a> {
    beside: Beside<'a>,
    pairs: Pairs,
}

enum Beside<'a> {
    /// The base and the other side in each block, or on each day.
    Pairs(Vec<[Pooled<'a>; 2]>),
    /// All units of the base and of the other side, like ones together.
    Units(Vec<[Vec<Pooled<'a>>; 2]>),
    /// The same of days, all of which are alike.
    Days([Vec<Pooled<'a>>; 2]),
}

impl<'a> Design<'a> {
    fn of(sides: [&[Entry<'a>]; 2]) -> Self {
        let alike = in_common(sides);
        let are_days =
            sides.iter().flat_map(|side| side.iter()).all(|entry| entry.unit.kind == UnitKind::Day);
        let found = if are_days { Some(days(sides, &alike)) } else { blocks(sides, &alike) };
        found.unwrap_or_else(|| Self { beside: Beside::Units(like_units(&alike)), pairs: Pairs::Apart })
    }

    /// What of a side is compared.
    fn entries(&self, side: usize) -> Vec<Entry<'a>> {
        let pooled: Vec<&Pooled> = match &self.beside {
            Beside::Pairs(pairs) => pairs.iter().map(|sides| &sides[side]).collect(),
            Beside::Units(groups) => groups.iter().flat_map(|sides| &sides[side]).collect(),
            Beside::Days(sides) => sides[side].iter().collect(),
        };
        pooled.into_iter().flat_map(BTreeMap::values).flatten().copied().collect()
    }

    fn pairing(&self, of: impl Fn(&Entry) -> LogRange) -> RunPairing {
        let value = |pooled: &Pooled| mean_of(pooled, &of);
        let side = |side: &Vec<Pooled>| side.iter().map(value).collect::<Vec<LogRange>>();
        match &self.beside {
            Beside::Pairs(pairs) => {
                let pairs = pairs.iter().map(|sides| sides.each_ref().map(value)).collect();
                match self.pairs {
                    // The other block of a two may be missing: what is left of it resembles its neighbours no more than that.
                    Pairs::Blocks { order: Order::Interleaved, .. } => RunPairing::TurnedBlocks(pairs),
                    Pairs::Blocks { .. } => RunPairing::Blocks(pairs),
                    Pairs::Days { .. } | Pairs::Apart => RunPairing::Days(pairs),
                }
            }
            Beside::Units(groups) => match groups.as_slice() {
                [] => RunPairing::Apart([Vec::new(), Vec::new()]),
                [sides] => RunPairing::Apart(sides.each_ref().map(side)),
                groups => RunPairing::Strata(groups.iter().map(|sides| sides.each_ref().map(side)).collect()),
            },
            Beside::Days(sides) => RunPairing::DaysApart(sides.each_ref().map(side)),
        }
    }
}

/// What both sides have of what is pooled. Sides that have none of it in common were not meant to: there it is all alike.
fn in_common<'a>(sides: [&[Entry<'a>]; 2]) -> [Vec<Entry<'a>>; 2] {
    let strata = sides.map(|side| side.iter().map(|entry| entry.stratum).collect::<BTreeSet<usize>>());
    let is_common = |entry: &&Entry| strata.iter().all(|own| own.contains(&entry.stratum));
    match strata[0].is_disjoint(&strata[1]) {
        true => sides.map(|side| side.iter().map(|entry| Entry { stratum: 0, ..*entry }).collect()),
        false => sides.map(|side| side.iter().filter(is_common).copied().collect()),
    }
}

/// What each side has of each of these places.
fn by_place<'a, K: Ord>(
    sides: &[Vec<Entry<'a>>; 2],
    place: impl Fn(&Entry<'a>) -> Option<K>,
) -> BTreeMap<K, [Pooled<'a>; 2]> {
    let mut places: BTreeMap<K, [Pooled; 2]> = BTreeMap::new();
    for (side, entries) in sides.iter().enumerate() {
        for (place, entry) in entries.iter().filter_map(|entry| Some((place(entry)?, entry))) {
            places.entry(place).or_default()[side].entry(entry.stratum).or_default().push(*entry);
        }
    }
    places
}

/// Whether a place has the same of both sides: where one of them lacks some of what is pooled, the mean of the rest is of something else.
fn is_whole([base, other]: &[Pooled; 2]) -> bool {
    !base.is_empty() && base.keys().eq(other.keys())
}

/// The runs that share a block with one of the other side, if that is how they were conducted: all in campaigns that took turns, and none of
/// these has but one of the sides. There may be no such block: runs that took turns are not compared otherwise.
fn blocks<'a>(sides: [&[Entry<'a>]; 2], alike: &[Vec<Entry<'a>>; 2]) -> Option<Design<'a>> {
    let mut campaigns: BTreeMap<&RunId, BTreeSet<usize>> = BTreeMap::new();
    let mut order = Order::Random;
    for (side, entries) in sides.into_iter().enumerate() {
        for entry in entries {
            let UnitBlock { campaign, order: own, .. } = entry.unit.block.as_ref()?;
            match own {
                Order::Sequential => return None,
                // The wider of both.
                Order::Interleaved => order = Order::Interleaved,
                Order::Random => {}
            }
            campaigns.entry(campaign).or_default().insert(side);
        }
    }
    if campaigns.into_values().any(|sides| sides.len() < 2) {
        return None;
    }
    let block = |entry: &Entry<'a>| entry.unit.block.as_ref().map(|block| (&block.campaign, block.block));
    let pairs: Vec<[Pooled; 2]> = by_place(alike, block).into_values().filter(is_whole).collect();
    let told = Pairs::Blocks { blocks: pairs.len() as u32, order };
    Some(Design { beside: Beside::Pairs(pairs), pairs: told })
}

/// Days in the order of time, of all hosts together: those that both sides have, if that is most of what the one with fewer has; of before and after a
/// moment there are none, or one. A day on which one side has another host is no pair.
fn days<'a>(sides: [&[Entry<'a>]; 2], alike: &[Vec<Entry<'a>>; 2]) -> Design<'a> {
    let names = sides.map(|side| side.iter().map(|entry| &entry.unit.name).collect::<BTreeSet<&String>>());
    let days = by_place(alike, |entry| Some(&entry.unit.name));
    if 2 * names[0].intersection(&names[1]).count() > names[0].len().min(names[1].len()) {
        let pairs: Vec<[Pooled; 2]> = days.into_values().filter(is_whole).collect();
        let told = Pairs::Days { days: pairs.len() as u32 };
        return Design { beside: Beside::Pairs(pairs), pairs: told };
    }
    let all: BTreeSet<usize> = alike.iter().flatten().map(|entry| entry.stratum).collect();
    let has_all = |day: &Pooled| day.len() == all.len();
    let of_side = |side: usize| days.values().map(|sides| sides[side].clone()).filter(has_all).collect();
    Design { beside: Beside::Days([0, 1].map(of_side)), pairs: Pairs::Apart }
}

/// Units in groups that have the same of what is pooled, of which there are at least two on either side, unless all are alike.
fn like_units<'a>(alike: &[Vec<Entry<'a>>; 2]) -> Vec<[Vec<Pooled<'a>>; 2]> {
    let mut groups: BTreeMap<Vec<usize>, [Vec<Pooled>; 2]> = BTreeMap::new();
    for (_, sides) in by_place(alike, |entry| Some(entry.place)) {
        for (side, unit) in sides.into_iter().enumerate().filter(|(_, unit)| !unit.is_empty()) {
            groups.entry(unit.keys().copied().collect()).or_default()[side].push(unit);
        }
    }
    let has = |least: usize| move |sides: &[Vec<Pooled>; 2]| sides.iter().all(|side| side.len() >= least);
    let mut shared: Vec<[Vec<Pooled>; 2]> = groups.into_values().filter(has(1)).collect();
    if shared.len() > 1 {
        // How far one is off nobody knows.
        shared.retain(has(2));
    }
    shared
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
            RunQuantity::Rate | RunQuantity::Throughput => 0.0,
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
