//! Distribution-free intervals, two-sided, at [`CONFIDENCE`].
//!
//! - Quantiles: by order statistics. The number of attempts below the true quantile `q` is binomial(n, q),
//!   whatever the distribution; ranks `l` and `u` are its quantiles (Hahn and Meeker 1991). Exact,
//!   conservative.
//! - Shares: Clopper and Pearson 1934, by quantiles of the beta distribution. Exact, conservative.
//!
//! Both assume independent attempts. Where attempts follow each other closely they are not: the corrected
//! interval uses the effective sample size `m <= n` (see [`crate::EffectiveSampleSize`]), ranks scaled by `n
//! / m`.

use crate::statistics::student::CONFIDENCE;
use serde::{Deserialize, Serialize};
use statrs::function::beta::ln_beta;

use crate::statistics::dependence::worth::QuantileWorth;

const TAIL: f64 = (1.0 - CONFIDENCE) / 2.0;

/// Independent attempts needed before the quantile `q` has an interval with two finite ends: the smallest n
/// with `max(q, 1-q)^n <= 0.025`. 6 for a median, 72 for p95, 368 for p99, 3688 for p99.9.
pub fn attempts_needed(q: f64) -> u64 {
    let needed = TAIL.ln() / q.max(1.0 - q).ln();
    if needed.is_finite() { needed.ceil() as u64 } else { u64::MAX }
}

/// Ranks of two order statistics, 1 being the shortest duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RankInterval {
    /// Rank of the lower end.
    pub low: u64,
    /// Rank of the upper end.
    pub high: u64,
}

/// Ranks of the order statistics that enclose the quantile `q` of `n` independent attempts, or `None` if
/// there are fewer than [`attempts_needed`].
pub fn quantile_ranks(n: u64, q: f64) -> Option<RankInterval> {
    if n < attempts_needed(q) {
        return None;
    }
    let (low, high) = binomial_quantiles(n, q, TAIL);
    Some(RankInterval { low: low.max(1), high: (high + 1).min(n) })
}

/// The same, of `n` attempts that are worth only `effective` independent ones.
pub fn effective_quantile_ranks(n: u64, effective: f64, q: f64) -> Option<RankInterval> {
    let whole = whole_number(effective, n);
    let ranks = quantile_ranks(whole, q)?;
    let scale = n as f64 / whole as f64;
    let low = scaled_low(ranks.low, scale);
    let high = (ranks.high as f64 * scale).ceil() as u64;
    Some(RankInterval { low, high: high.min(n) })
}

/// The same, of attempts that are worth something else for each end.
pub fn ranks_by_worth(n: u64, worth: &QuantileWorth, q: f64) -> Option<RankInterval> {
    let ranks = effective_quantile_ranks(n, worth.beyond.effective, q)?;
    let whole = whole_number(worth.effective_of_lower_end, n).max(1);
    let (low, _) = binomial_quantiles(whole, q, TAIL);
    let low = scaled_low(low.max(1), n as f64 / whole as f64);
    Some(RankInterval { low: low.min(ranks.low), ..ranks })
}

/// Of `n` attempts: rounding may not take one away.
fn whole_number(effective: f64, n: u64) -> u64 {
    ((effective + 1e-6).floor() as u64).min(n)
}

fn scaled_low(rank: u64, scale: f64) -> u64 {
    ((rank - 1) as f64 * scale).floor() as u64 + 1
}

/// The smallest counts at which the binomial distribution reaches `tail` and `1 - tail`.
///
/// Terms are summed relative to that of the mode and normalised by their own sum, so that neither large
/// factorials nor their rounding appear. Terms further away than 12 standard deviations change no digit.
fn binomial_quantiles(n: u64, q: f64, tail: f64) -> (u64, u64) {
    let deviation = (n as f64 * q * (1.0 - q)).sqrt();
    let reach = (12.0 * deviation + 40.0) as u64;
    let mode = ((n + 1) as f64 * q).floor().min(n as f64) as u64;
    let first = mode.saturating_sub(reach);
    let last = mode.saturating_add(reach).min(n);
    let odds = q / (1.0 - q);

    let mut terms = vec![0.0; (last - first + 1) as usize];
    let at = |count: u64| (count - first) as usize;
    terms[at(mode)] = 1.0;
    for count in mode + 1..=last {
        terms[at(count)] = terms[at(count - 1)] * odds * (n - count + 1) as f64 / count as f64;
    }
    for count in (first..mode).rev() {
        terms[at(count)] = terms[at(count + 1)] / odds * (count + 1) as f64 / (n - count) as f64;
    }
    let sum: f64 = terms.iter().sum();
    let reaches = |limit: f64| {
        let mut cumulated = 0.0;
        for count in first..=last {
            cumulated += terms[at(count)];
            if cumulated >= limit * sum {
                return count;
            }
        }
        last
    };
    (reaches(tail), reaches(1.0 - tail))
}

/// A wider interval of a share tells nothing.
const SHARE_WIDTH_MOST: f64 = 0.9;

/// Ends of an interval of a share, 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ShareInterval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl ShareInterval {
    /// Whether it tells anything: from nearly nothing to nearly all, it says only that these attempts count as one or two.
    pub fn tells(self) -> bool {
        self.high - self.low <= SHARE_WIDTH_MOST
    }
}

/// Interval of the share of which `successes` in `trials` were observed. Both may be fractional: effective
/// sample sizes are. No trials say nothing: 0 to 1.
pub fn share_interval(successes: f64, trials: f64) -> ShareInterval {
    share_interval_of_several(successes, trials, 1)
}

/// The same of one of several shares, all of which lie in their intervals together (Bonferroni).
pub(crate) fn share_interval_of_several(successes: f64, trials: f64, shares: usize) -> ShareInterval {
    let tail = TAIL / shares.max(1) as f64;
    if trials.is_nan() || trials <= 0.0 {
        return ShareInterval { low: 0.0, high: 1.0 };
    }
    let failures = (trials - successes).max(0.0);
    // With nothing on one side the beta quantile has a closed form.
    if successes <= 0.0 {
        return ShareInterval { low: 0.0, high: 1.0 - tail.powf(1.0 / trials) };
    }
    if failures <= 0.0 {
        return ShareInterval { low: tail.powf(1.0 / trials), high: 1.0 };
    }
    ShareInterval {
        low: beta_quantile(tail, successes, failures + 1.0),
        high: beta_quantile(1.0 - tail, successes + 1.0, failures),
    }
}

/// Quantile `p` of the beta distribution, by Newton's method kept inside a shrinking bracket.
fn beta_quantile(p: f64, a: f64, b: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    let mut x = a / (a + b);
    let log_scale = ln_beta(a, b);
    for _ in 0..200 {
        let excess = beta_distribution(x, a, b) - p;
        if excess > 0.0 {
            high = x;
        } else {
            low = x;
        }
        let density = ((a - 1.0) * x.ln() + (b - 1.0) * (-x).ln_1p() - log_scale).exp();
        let newton = x - excess / density;
        let next = if newton > low && newton < high { newton } else { (low + high) / 2.0 };
        if (next - x).abs() <= 1e-15 * x {
            return next;
        }
        x = next;
    }
    x
}

/// Regularised incomplete beta function, by Lentz's continued fraction (Numerical Recipes 6.4). It needs some
/// `sqrt(max(a, b))` steps, so the limit suffices for 10^9 attempts.
fn beta_distribution(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let front = (a * x.ln() + b * (-x).ln_1p() - ln_beta(a, b)).exp();
    if x < (a + 1.0) / (a + b + 2.0) {
        front * beta_fraction(x, a, b) / a
    } else {
        1.0 - front * beta_fraction(1.0 - x, b, a) / b
    }
}

fn beta_fraction(x: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away_from_zero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    for step in 1..200_000 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / away_from_zero(1.0 + even * d);
        c = away_from_zero(1.0 + even / c);
        fraction *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / away_from_zero(1.0 + odd * d);
        c = away_from_zero(1.0 + odd / c);
        fraction *= d * c;
        if (d * c - 1.0).abs() < 1e-16 {
            break;
        }
    }
    fraction
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::statistics::dependence::worth::Worth;

    #[test]
    fn attempts_needed_are_those_of_the_textbook() {
        assert_eq!([0.5, 0.9, 0.95, 0.99, 0.999].map(attempts_needed), [6, 36, 72, 368, 3688]);
        assert_eq!(quantile_ranks(5, 0.5), None);
        assert_eq!(quantile_ranks(6, 0.5), Some(RankInterval { low: 1, high: 6 }));
        assert_eq!(quantile_ranks(71, 0.95), None);
        assert!(quantile_ranks(72, 0.95).is_some() && quantile_ranks(368, 0.99).is_some());
    }

    #[test]
    fn fewer_independent_attempts_widen_the_interval() {
        let naive = quantile_ranks(1000, 0.5).unwrap();
        let corrected = effective_quantile_ranks(1000, 100.0, 0.5).unwrap();
        assert!(corrected.low < naive.low && corrected.high > naive.high);
        assert_eq!(effective_quantile_ranks(1000, 1000.0, 0.5), Some(naive));
        assert_eq!(effective_quantile_ranks(1000, 5.9, 0.5), None);
    }

    #[test]
    fn only_the_lower_end_goes_by_what_attempts_are_worth_there() {
        let worth = |effective: f64, effective_of_lower_end: f64| QuantileWorth {
            beyond: Worth { effective, few_stretches: None },
            effective_of_lower_end,
        };
        let same = effective_quantile_ranks(3000, 800.0, 0.99).unwrap();
        assert_eq!(ranks_by_worth(3000, &worth(800.0, 800.0), 0.99), Some(same));
        let wider = ranks_by_worth(3000, &worth(800.0, 100.0), 0.99).unwrap();
        assert!(wider.low < same.low && wider.high == same.high, "{wider:?} {same:?}");
        // Its end alone needs no 368: the lowest rank of all is below any quantile.
        assert_eq!(ranks_by_worth(3000, &worth(800.0, 0.3), 0.99), Some(RankInterval { low: 1, ..same }));
        assert_eq!(ranks_by_worth(3000, &worth(300.0, 300.0), 0.99), None);
        assert_eq!(ranks_by_worth(0, &worth(0.0, 0.0), 0.99), None);
        let rounded = 1000.0 * (1.0 - f64::EPSILON);
        assert_eq!(ranks_by_worth(1000, &worth(rounded, rounded), 0.5), quantile_ranks(1000, 0.5));
    }

    #[test]
    fn nothing_slow_in_a_day_of_probes_still_allows_four_percent() {
        let interval = share_interval(0.0, 96.0);
        assert!(interval.low == 0.0 && (interval.high - 0.0377).abs() < 1e-4, "{interval:?}");
        assert_eq!(share_interval(0.0, 0.0), ShareInterval { low: 0.0, high: 1.0 });
    }

    proptest! {
        #[test]
        fn a_share_lies_in_its_interval(successes in 0_u32..500, failures in 0_u32..500) {
            prop_assume!(successes + failures > 0);
            let trials = f64::from(successes + failures);
            let interval = share_interval(f64::from(successes), trials);
            let share = f64::from(successes) / trials;
            prop_assert!(interval.low <= share && share <= interval.high);
        }
    }
}
