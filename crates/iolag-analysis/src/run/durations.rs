//! Quantiles and shares of the durations of a group, with their intervals.

use iolag_model::Nanoseconds;

use super::clustering::worth::GroupWorth;
use super::summary::{DurationSummary, QuantileEstimate, TwoModes};
use crate::statistics::interval::agreement;
use crate::statistics::interval::estimate::{Interval, Quantile};
use crate::statistics::interval::ranks_and_shares::{RankInterval, quantile_ranks, ranks_by_worth};
use crate::statistics::interval::share_over::ShareOver;
use crate::statistics::quantile::censored::{CensoredRanks, QUANTILES, QuantileValue};
use crate::statistics::quantile::interpolated::{Interpolated, InterpolatedQuantiles, QuantilePlace};

/// What a [`DurationSummary`] is computed from.
pub(crate) struct Durations<'a> {
    pub ranks: &'a CensoredRanks,
    pub known: u64,
    pub worth: &'a GroupWorth,
    pub min_ns: Option<Nanoseconds>,
    pub max_known_ns: Option<Nanoseconds>,
    pub min_censored_ns: Option<Nanoseconds>,
    pub max_censored_ns: Option<Nanoseconds>,
    pub mean_ns: Option<f64>,
    pub value_of_rank: &'a dyn Fn(u64) -> Option<Nanoseconds>,
}

impl Durations<'_> {
    pub(crate) fn estimate(&self, q: f64) -> QuantileEstimate {
        let count = self.ranks.total();
        let worth = self.worth.at(q);
        let at = |rank: u64| self.ranks.quantile(rank as f64 / count as f64, self.value_of_rank);
        let between = |ranks: Option<RankInterval>, have: f64| match ranks {
            Some(ranks) => Interval::Between { low: at(ranks.low), high: at(ranks.high) },
            None => Interval::too_few(q, have),
        };
        let interval = match worth.beyond.few_stretches {
            Some(stretches) => Interval::FewStretches { stretches },
            None => between(ranks_by_worth(count, &worth, q), worth.beyond.effective),
        };
        let naive = between(quantile_ranks(count, q), count as f64);
        Quantile::new(q, self.ranks.quantile(q, self.value_of_rank), [naive, interval])
    }

    /// What is compared between units; nothing without attempts.
    pub(crate) fn interpolated(&self) -> Option<InterpolatedQuantiles> {
        let count = self.ranks.total();
        let end = |rank: u64| match self.ranks.quantile(rank as f64 / count as f64, self.value_of_rank) {
            // What took no time by the clock took less than its smallest step.
            QuantileValue::Exactly(duration) => [duration.0.max(1) as f64; 2],
            other => [other.lower_bound().map_or(0.0, |bound| bound.0.max(1) as f64), f64::INFINITY],
        };
        let quantile = |q: f64| {
            let place = QuantilePlace::of(q, count);
            let [below, above] = place.ranks.map(end);
            let [low_ns, high_ns] = [0, 1].map(|end| place.between([below[end], above[end]]));
            Interpolated { low_ns, high_ns: Some(high_ns).filter(|ns| ns.is_finite()) }
        };
        (count > 0).then(|| InterpolatedQuantiles { median: quantile(0.5), p95: quantile(0.95) })
    }

    pub(crate) fn summarise(
        &self,
        shares: Vec<ShareOver>,
        part_means_ns: Vec<f64>,
        modes: Option<TwoModes>,
    ) -> DurationSummary {
        let count = self.ranks.total();
        let none = QuantileValue::TooFew { needed: 1, have: 0 };
        let max = match (self.max_known_ns, self.max_censored_ns) {
            (known, Some(censored)) => {
                QuantileValue::AtLeast(known.map_or(censored, |known| known.max(censored)))
            }
            (Some(known), None) => QuantileValue::Exactly(known),
            (None, None) => none,
        };
        let mut quantiles = QUANTILES.map(|q| self.estimate(q));
        agreement::of_quantiles(&mut quantiles);
        let [p25, median, p75, p90, p95, p99] = quantiles;
        DurationSummary {
            count,
            censored: count - self.known,
            sample_size: self.worth.sample_size,
            min: match (self.min_ns, self.min_censored_ns) {
                // One that was cut off earlier may have been shorter, whatever ended first.
                (Some(min), Some(bound)) if bound < min => QuantileValue::AtLeast(bound),
                (Some(min), _) => QuantileValue::Exactly(min),
                (None, Some(bound)) => QuantileValue::AtLeast(bound),
                (None, None) => none,
            },
            p25,
            median,
            p75,
            p90,
            p95,
            p99,
            max,
            interpolated: self.interpolated(),
            mean_ns: self.mean_ns.filter(|_| count == self.known),
            shares,
            part_means_ns,
            modes,
        }
    }
}
