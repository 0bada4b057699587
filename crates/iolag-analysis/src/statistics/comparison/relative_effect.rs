//! How often the second of two samples is greater, with censoring and strata.

use super::strata::{Range, Repeats, Side, Stratum};
use crate::statistics::dependence::effective_size::variance_of;
use crate::statistics::ranking::ascending_keys;

const DAY_NS: i64 = 86_400_000_000_000;
const WEEK_NS: i64 = 7 * DAY_NS;

/// Probability that the second is greater, ties and the undecided counting half, and its variance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RelativeEffect {
    /// P(first < second) + P(tie) / 2.
    pub probability: f64,
    /// Variance that the first sample contributes, and its degrees of freedom.
    pub first: VariancePart,
    /// The same of the second.
    pub second: VariancePart,
}

/// A part of a variance.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct VariancePart {
    pub variance: f64,
    /// Σ (part of a stratum)² / (its degrees of freedom), for Satterthwaite's formula.
    pub squares: f64,
}

impl RelativeEffect {
    /// Of `strata`, the second sample being moved by `-shift` first. Variances are those of Brunner and
    /// Munzel (2000): how much the share of the other sample that an observation exceeds varies, as if all
    /// were independent.
    pub(crate) fn of(strata: &[Stratum], shift: f64) -> Self {
        let mut effect =
            Self { probability: 0.0, first: VariancePart::default(), second: VariancePart::default() };
        for (share, [first, second]) in placements_of(strata, shift) {
            let mean = second.iter().sum::<f64>() / second.len() as f64;
            effect.probability += share * mean;
            effect.first.add(&first, share);
            effect.second.add(&second, share);
        }
        effect
    }

    /// Standard error of the probability.
    pub(crate) fn standard_error(&self) -> f64 {
        (self.first.variance + self.second.variance).sqrt()
    }

    /// Degrees of freedom by Satterthwaite's formula.
    pub(crate) fn degrees_of_freedom(&self) -> f64 {
        let variance = self.first.variance + self.second.variance;
        (variance * variance / (self.first.squares + self.second.squares)).max(1.0)
    }
}

impl VariancePart {
    fn add(&mut self, placements: &[f64], share: f64) {
        let independent = (placements.len() as f64).max(2.0);
        let part = share * share * variance_of(placements) / independent;
        self.variance += part;
        self.squares += part * part / (independent - 1.0);
    }
}

/// What each observation of the first and of the second sample contributes to the error of the probability, with its moment in ns: its
/// placement less their mean, on the scale of the probability (Hájek's projection). Within strata the mean is that of a few days or weeks, and what
/// these have in common goes into it. Working days and weekends are by themselves, other strata together: a stall moves one kind's mean, like memory.
pub(crate) fn contributions(strata: &[Stratum], shift: f64) -> Vec<[Vec<(i64, f64)>; 2]> {
    let mut parts: Vec<[Vec<(i64, f64)>; 2]> = Vec::new();
    for (stratum, (share, placed)) in strata.iter().zip(placements_of(strata, shift)) {
        let is_by_itself = parts.is_empty() || stratum.repeats == Repeats::Days;
        let mut all = if is_by_itself { [Vec::new(), Vec::new()] } else { parts.pop().unwrap_or_default() };
        for (side, (ranges, placements)) in
            [&stratum.first.ranges, &stratum.second.ranges].into_iter().zip(placed).enumerate()
        {
            let count = placements.len() as f64;
            let mean = placements.iter().sum::<f64>() / count;
            let repeats = match stratum.repeats {
                Repeats::Attempts => count,
                Repeats::Days => spans_of(ranges, DAY_NS),
                Repeats::Weeks => weeks_of(ranges),
            };
            let scale = share / count * (repeats / (repeats - 1.0).max(0.5)).sqrt();
            // The first sample's placements say how often it is greater itself.
            let scale = if side == 0 { -scale } else { scale };
            let placed = ranges.iter().zip(placements);
            all[side].extend(placed.map(|(range, placement)| (range.at, scale * (placement - mean))));
        }
        parts.push(all);
    }
    let in_order = |side: Vec<(i64, f64)>| {
        let order = ascending_keys(side.iter().map(|one| one.0));
        order.into_iter().map(|place| side[place]).collect()
    };
    parts.into_iter().map(|part| part.map(in_order)).collect()
}

/// In how many weeks there are some of them.
pub(crate) fn weeks_of(ranges: &[Range]) -> f64 {
    spans_of(ranges, WEEK_NS)
}

/// In how many spans of this length there are some of them.
fn spans_of(ranges: &[Range], length_ns: i64) -> f64 {
    let mut spans: Vec<i64> = ranges.iter().map(|range| range.at.div_euclid(length_ns)).collect();
    spans.sort_unstable();
    spans.dedup();
    spans.len() as f64
}

/// The share of each stratum, and how much of the other sample each observation of the first and of the second exceeds, the second having been moved
/// by `-shift`.
fn placements_of(strata: &[Stratum], shift: f64) -> impl Iterator<Item = (f64, [Vec<f64>; 2])> {
    let total: f64 = strata.iter().map(Stratum::total).sum();
    strata.iter().map(move |stratum| {
        let first = placements(&stratum.first, &stratum.second, -shift);
        let second = placements(&stratum.second, &stratum.first, shift);
        (stratum.total() / total, [first, second])
    })
}

/// For each of `these`, in the order of their lower ends, the share of `others` that it exceeds after `others` were moved up by `shift`,
/// ties and the undecided counting half.
fn placements(these: &Side, others: &Side, shift: f64) -> Vec<f64> {
    let count = others.lows.len() as f64;
    let (mut among_highs, mut among_lows) =
        (Walk::along(&others.highs, shift), Walk::along(&others.lows, shift));
    let mut lows_anywhere = Walk::along(&others.lows, shift);
    let placement = |one: &Range| {
        // This one is certainly greater than those whose upper end is below its lower end, and so on.
        let certainly = if one.low.is_finite() { among_highs.below(one.low) } else { 0.0 };
        let possibly = match one.high {
            high if !high.is_finite() => count,
            high if high == one.low => among_lows.below(high),
            // The upper ends of what is below the resolution stand in order as well.
            high => lows_anywhere.below(high),
        };
        (certainly + possibly) / 2.0 / count
    };
    these.ranges.iter().map(placement).collect()
}

/// A walk along ends that ascend.
struct Walk<'a> {
    ends: &'a [f64],
    shift: f64,
    under: usize,
    up_to: usize,
}

impl<'a> Walk<'a> {
    const fn along(ends: &'a [f64], shift: f64) -> Self {
        Self { ends, shift, under: 0, up_to: 0 }
    }

    /// How many ends, moved, lie below a limit that is not less than the last one; those at it count half.
    fn below(&mut self, limit: f64) -> f64 {
        let (ends, shift) = (self.ends, self.shift);
        while self.under < ends.len() && ends[self.under] + shift < limit {
            self.under += 1;
        }
        self.up_to = self.up_to.max(self.under);
        while self.up_to < ends.len() && ends[self.up_to] + shift <= limit {
            self.up_to += 1;
        }
        (self.under + self.up_to) as f64 / 2.0
    }
}
