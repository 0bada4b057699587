//! The distribution of a series: Kaplan and Meier's estimate with bands, and quantiles with intervals.
//!
//! - *Right-censored* amounts (time-outs, hangs) follow Kaplan and Meier 1958; at ties, known amounts come
//!   first.
//! - *Left-censored* amounts (below the clock's resolution) are one step of unknown place below it. Where
//!   several resolutions meet, the coarsest counts and known amounts below it join the step. What is then
//!   left is Turnbull's estimate (1976): an amount that is only known to be at least something below the
//!   resolution is compatible with all of it and tells nothing.
//! - *Pointwise bands*: Greenwood's variance on the scale log(-log S) (Kalbfleisch and Prentice 1980); where
//!   S is 0 or 1, Clopper and Pearson.
//! - *Simultaneous bands*: Hall and Wellner 1980 with the constant of Dvoretzky, Kiefer, Wolfowitz and
//!   Massart (1990), √(ln(2/α)/2) = 1.3581 at 95 %. Without censoring the two are the same; with it the
//!   constant is on the safe side.
//! - *Quantiles' intervals*: order statistics for the number of independent attempts that are worth as much
//!   at that point: Peto's (1-S)/(S·V) (1977; Dorey and Korn 1987), V being Greenwood's sum, which is n
//!   without censoring, times the effective share under autocorrelation.
//!
//! Invariants: without censoring all equals the empirical distribution; the order of observations changes
//! nothing but the effective sample size.

use super::clock_steps::truth_behind;
use serde::{Deserialize, Serialize};

use super::estimate::{Estimate, EstimateInterval, HistoryQuantile};
use super::observations::{Observations, Weight};
use super::timed_values::Quantity;
use crate::statistics::dependence::effective_size::beyond_quantile;
use crate::statistics::dependence::regimes::Regimes;
use crate::statistics::dependence::worth::{EffectiveSampleSize, QuantileWorth, Worth};
use crate::statistics::interval::agreement;
use crate::statistics::interval::ranks_and_shares::{ShareInterval, ranks_by_worth, share_interval};
use crate::statistics::knowledge::Knowledge;
use crate::statistics::ranking::ascending;
use crate::statistics::student::CONFIDENCE;
use crate::statistics::student::NORMAL_TWO_SIDED;

/// A share that misses its step by rounding is that step.
const ROUNDING: f64 = 1e-12;

/// How often each kind of knowledge occurs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnowledgeCounts {
    /// Known amounts.
    pub exact: u64,
    /// Lower bounds: not ended.
    pub at_least: u64,
    /// Below the clock's resolution.
    pub below: u64,
}

impl KnowledgeCounts {
    /// All of them.
    pub const fn total(&self) -> u64 {
        self.exact + self.at_least + self.below
    }
}

/// One step of the estimate.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Step {
    amount: f64,
    /// Share that lasts longer.
    survival: f64,
    /// Greenwood's sum Σ d / (n (n - d)); infinite when nobody is left.
    variance: f64,
}

/// The distribution of one quantity under one weighting.
#[derive(Debug, Clone, PartialEq)]
pub struct Distribution<W> {
    steps: Vec<Step>,
    /// The coarsest resolution below which something lies; its step is the first.
    resolution: Option<f64>,
    counts: KnowledgeCounts,
    /// All but those that are at least something below the resolution.
    informative: u64,
    greatest: f64,
    regimes: Regimes,
    /// One step of the clock, in seconds; 0 where amounts have none.
    step_seconds: f64,
    /// In time order, what had not ended above everything, what is below the resolution below it.
    ordered: Vec<f64>,
    quantity: Quantity,
    weight: std::marker::PhantomData<W>,
}

/// A point of the curve that a reader sees.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// Seconds, or the unit of the series. At the first point this is the clock's resolution if anything lies
    /// below it.
    pub amount: f64,
    /// Share that does not exceed it.
    pub share: f64,
    /// 95 % band for this point alone.
    pub pointwise: ShareInterval,
    /// 95 % band for all points together.
    pub simultaneous: ShareInterval,
}

/// How far two curves are apart.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CurveDistance {
    /// Greatest difference of the shares, 0 to 1.
    pub distance: f64,
    /// The least amount at which it is found.
    pub at: f64,
}

impl<W: Weight> Distribution<W> {
    /// The distribution of these observations.
    pub fn of(observations: &Observations<W>) -> Self {
        let ordered = observations.ordered();
        let order = ascending(&ordered);
        let (mut exact, mut at_least) = (Vec::with_capacity(ordered.len()), Vec::new());
        let mut below = 0;
        let mut resolution: Option<f64> = None;
        // Known amounts come in their order, all others stand before and after them.
        for one in order.iter().map(|place| &observations.list()[*place]) {
            match one.knowledge {
                Knowledge::Exactly => exact.push(one.amount),
                Knowledge::AtLeast => at_least.push(one.amount),
                Knowledge::AtMost => {
                    below += 1;
                    resolution = Some(resolution.map_or(one.amount, |coarsest| coarsest.max(one.amount)));
                }
            }
        }
        at_least.sort_unstable_by(f64::total_cmp);
        let counts = KnowledgeCounts {
            exact: exact.len() as u64,
            at_least: at_least.len() as u64,
            below: below as u64,
        };
        let greatest = [exact.last(), at_least.last(), resolution.as_ref()]
            .into_iter()
            .flatten()
            .fold(f64::NEG_INFINITY, |greatest, amount| greatest.max(*amount));
        if let Some(limit) = resolution {
            let hidden = exact.partition_point(|amount| *amount < limit);
            below += hidden;
            exact.drain(..hidden);
            at_least.drain(..at_least.partition_point(|amount| *amount < limit));
        }
        let lowest = resolution.map(|limit| (limit, below as u64));
        Self {
            steps: steps_of(lowest, &exact, &at_least),
            resolution,
            counts,
            informative: (below + exact.len() + at_least.len()) as u64,
            greatest,
            regimes: Regimes::of_ascending(&order, &ordered, observations.changes()),
            step_seconds: observations.step_seconds(),
            ordered,
            quantity: observations.quantity(),
            weight: std::marker::PhantomData,
        }
    }

    /// How often each kind of knowledge occurs.
    pub const fn counts(&self) -> KnowledgeCounts {
        self.counts
    }

    /// What the observations are worth under autocorrelation.
    pub const fn sample_size(&self) -> EffectiveSampleSize {
        self.regimes.sample_size()
    }

    /// What the amounts are.
    pub const fn quantity(&self) -> Quantity {
        self.quantity
    }

    /// Share of observations that do not exceed `amount`; `None` where nothing is known: below the clock's
    /// resolution, or beyond the last observation if that had not ended.
    pub fn share_at_most(&self, amount: f64) -> Option<f64> {
        let seen = self.steps.partition_point(|step| step.amount <= amount);
        let survival = self.steps[..seen].last().map_or(1.0, |step| step.survival);
        let too_small = self.resolution.is_some_and(|limit| amount < limit);
        let too_large = amount > self.greatest && survival > 0.0;
        (!too_small && !too_large).then_some(1.0 - survival)
    }

    /// The smallest amount that at least the share `q` does not exceed.
    pub fn quantile(&self, q: f64) -> Estimate {
        if self.counts.total() == 0 {
            return Estimate::NOTHING;
        }
        match self.step_of_share(q) {
            Some(0) if self.resolution.is_some() => Estimate::Below(self.steps[0].amount),
            Some(step) => Estimate::Exactly(self.steps[step].amount),
            None => Estimate::AtLeast(self.greatest),
        }
    }

    /// Ascending quantiles with their intervals. Above the median each needs enough observations for an interval
    /// with two ends.
    pub fn quantiles_with_intervals<const N: usize>(&self, wanted: [f64; N]) -> [HistoryQuantile; N] {
        let mut quantiles = wanted.map(|q| self.quantile_with_interval(q));
        agreement::of_quantiles(&mut quantiles);
        quantiles
    }

    /// The quantile `q` by itself.
    pub fn quantile_with_interval(&self, q: f64) -> HistoryQuantile {
        let uncensored = self.worth_at_share(q);
        let worth = QuantileWorth::of(q, |q| self.worth_beyond(q));
        let interval = match worth.beyond.few_stretches {
            Some(stretches) => EstimateInterval::FewStretches { stretches },
            None => self.interval_of(q, &worth.scaled(uncensored / self.ordered.len().max(1) as f64)),
        };
        let naive = QuantileWorth::of(q, |_| Worth { effective: uncensored, few_stretches: None });
        HistoryQuantile::new(q, self.quantile(q), [self.interval_of(q, &naive), interval])
    }

    /// What the observations are worth for the share beyond the quantile `q`.
    fn worth_beyond(&self, q: f64) -> Worth {
        let limit = match self.quantile(q) {
            Estimate::Exactly(amount) => amount,
            Estimate::Below(_) => f64::NEG_INFINITY,
            Estimate::AtLeast(_) | Estimate::TooFew { .. } | Estimate::FewStretches { .. } => f64::INFINITY,
        };
        self.regimes.worth_of(&beyond_quantile(&self.ordered, limit, q))
    }

    /// What the observations are worth for the share that exceeds `limit`.
    pub(crate) fn worth_over(&self, limit: f64) -> Worth {
        let is_over: Vec<bool> = self.ordered.iter().map(|amount| *amount > limit).collect();
        self.regimes.worth_of(&is_over)
    }

    /// Order statistics that enclose the quantile `q` if the observations are worth so many independent ones.
    fn interval_of(&self, q: f64, worth: &QuantileWorth) -> EstimateInterval {
        let total = self.informative;
        let Some(ranks) = ranks_by_worth(total, worth, q) else {
            return EstimateInterval::too_few(q, worth.beyond.effective);
        };
        let at = |rank: u64| self.quantile(rank as f64 / total as f64);
        let high = if ranks.high < total { at(ranks.high) } else { self.greatest() };
        self.with_step(at(ranks.low), high)
    }

    /// The ends with the step of a coarse clock.
    fn with_step(&self, low: Estimate, high: Estimate) -> EstimateInterval {
        let end = |end: Estimate, of: usize| match end {
            Estimate::Exactly(amount) => Estimate::Exactly(truth_behind(amount, self.step_seconds)[of]),
            bound => bound,
        };
        EstimateInterval::Between { low: end(low, 0), high: end(high, 1) }
    }

    /// How many uncensored attempts would tell as much at the quantile `q`.
    fn worth_at_share(&self, q: f64) -> f64 {
        let known = self.steps.partition_point(|step| step.survival > 0.0);
        let reached = self.step_of_share(q).unwrap_or(self.steps.len());
        match self.steps[..known].get(reached.min(known.saturating_sub(1))) {
            Some(step) => self.worth_of(step),
            None => self.informative as f64,
        }
    }

    fn worth_of(&self, step: &Step) -> f64 {
        let total = self.informative as f64;
        if step.survival >= 1.0 || step.survival <= 0.0 {
            return total;
        }
        ((1.0 - step.survival) / (step.survival * step.variance)).min(total)
    }

    /// Attempts that are worth as much as these, for shares over `amount`, autocorrelation included.
    pub fn worth_at(&self, amount: f64) -> f64 {
        let seen = self.steps.partition_point(|step| step.amount <= amount);
        let worth = self.steps[..seen].last().map_or(self.informative as f64, |step| self.worth_of(step));
        worth * self.sample_size().ratio()
    }

    /// Each step, ascending: its amount, the share that lasts longer, and Greenwood's sum until there.
    pub(crate) fn steps(&self) -> impl Iterator<Item = (f64, f64, f64)> {
        self.steps.iter().map(|step| (step.amount, step.survival, step.variance))
    }

    fn step_of_share(&self, q: f64) -> Option<usize> {
        let step = self.steps.partition_point(|step| 1.0 - step.survival < q - ROUNDING);
        (step < self.steps.len()).then_some(step)
    }

    /// The smallest and the greatest observation.
    pub fn extremes(&self) -> (Estimate, Estimate) {
        (self.quantile(0.0), self.greatest())
    }

    /// What was cut off may have lasted longer than anything that ended.
    fn greatest(&self) -> Estimate {
        match self.counts {
            KnowledgeCounts { at_least: 1.., .. } => Estimate::AtLeast(self.greatest),
            _ => self.quantile(1.0),
        }
    }

    /// The greatest vertical distance to another distribution (Kolmogorov and Smirnov), and where it is, over
    /// amounts at which both are known.
    pub fn greatest_distance(&self, other: &Self) -> Option<CurveDistance> {
        let amounts = self.steps.iter().chain(&other.steps).map(|step| step.amount);
        let distance = |amount: f64| {
            let distance = (self.share_at_most(amount)? - other.share_at_most(amount)?).abs();
            Some(CurveDistance { distance, at: amount })
        };
        amounts
            .filter_map(distance)
            .max_by(|left, right| left.distance.total_cmp(&right.distance).then(right.at.total_cmp(&left.at)))
    }

    /// At most `points` points of the curve: every step if there are no more of them, otherwise evenly by share in the body and by the
    /// logarithm of what is left in the tail, always with the first and the last. Many equal amounts are one step, and as
    /// high as they are many.
    pub fn curve(&self, points: usize) -> Vec<CurvePoint> {
        let count = self.steps.len();
        let mut chosen: Vec<usize> = if count <= points {
            (0..count).collect()
        } else {
            let half = (points / 2).saturating_sub(1).max(1);
            let part = |index: usize| index as f64 / half as f64;
            let at_share = |share: f64| self.step_of_share(share).unwrap_or(count - 1);
            let body = (0..half).map(|index| at_share(part(index)));
            let tail = (0..half).map(|index| at_share(1.0 - (self.informative as f64).powf(-part(index))));
            body.chain(tail).chain([0, count - 1]).collect()
        };
        chosen.sort_unstable();
        chosen.dedup();
        chosen.into_iter().map(|index| self.point(&self.steps[index])).collect()
    }

    fn point(&self, step: &Step) -> CurvePoint {
        CurvePoint {
            amount: step.amount,
            share: 1.0 - step.survival,
            pointwise: self.pointwise(step),
            simultaneous: self.simultaneous(step),
        }
    }

    fn pointwise(&self, step: &Step) -> ShareInterval {
        let ratio = self.sample_size().ratio();
        if step.survival <= 0.0 {
            let known = self.counts.exact + self.counts.below;
            return share_interval(known as f64 * ratio, known as f64 * ratio);
        }
        let deviation = (step.variance / ratio).sqrt() / step.survival.ln().abs();
        let end = |sign: f64| 1.0 - step.survival.powf((sign * NORMAL_TWO_SIDED * deviation).exp());
        ShareInterval { low: end(-1.0), high: end(1.0) }
    }

    fn simultaneous(&self, step: &Step) -> ShareInterval {
        let total = self.informative as f64;
        let ratio = self.sample_size().ratio();
        let share = 1.0 - step.survival;
        // (1 + n V) S is 1 without censoring; when nobody is left it keeps the value of the step before,
        // which is at least 1.
        let widening = match step.survival > 0.0 {
            true => (1.0 + total * step.variance) * step.survival,
            false => (1.0 + total * self.last_finite_variance()) * self.last_survival(),
        };
        let reach = ((2.0 / (1.0 - CONFIDENCE)).ln() / (2.0 * total * ratio)).sqrt() * widening.max(1.0);
        ShareInterval { low: (share - reach).max(0.0), high: (share + reach).min(1.0) }
    }

    fn last_finite_variance(&self) -> f64 {
        self.steps.iter().rev().map(|step| step.variance).find(|variance| variance.is_finite()).unwrap_or(0.0)
    }

    fn last_survival(&self) -> f64 {
        let alive = |step: &&Step| step.survival > 0.0;
        self.steps.iter().rev().find(alive).map_or(1.0, |step| step.survival)
    }
}

/// The steps of Kaplan and Meier's estimate. `lowest` is the resolution and how many lie below it; both
/// slices ascend.
fn steps_of(lowest: Option<(f64, u64)>, exact: &[f64], at_least: &[f64]) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut at_risk = lowest.map_or(0, |lowest| lowest.1) + (exact.len() + at_least.len()) as u64;
    let (mut survival, mut variance) = (1.0, 0.0);
    let mut step = |amount: f64, events: u64, at_risk: u64| {
        let left = at_risk - events;
        survival *= left as f64 / at_risk as f64;
        variance += events as f64 / (at_risk as f64 * left as f64);
        if left == 0 {
            (survival, variance) = (0.0, f64::INFINITY);
        }
        steps.push(Step { amount, survival, variance });
    };
    if let Some((limit, below)) = lowest {
        step(limit, below, at_risk);
        at_risk -= below;
    }
    let mut passed = 0;
    for equal in exact.chunk_by(|left, right| left == right) {
        let amount = equal[0];
        let ended_before = at_least[passed..].partition_point(|bound| *bound < amount);
        passed += ended_before;
        at_risk -= ended_before as u64;
        step(amount, equal.len() as u64, at_risk);
        at_risk -= equal.len() as u64;
    }
    steps
}
