//! The mean up to a limit (restricted mean): how long an attempt takes, or its user waits who gives up at the limit.
//!
//! It is the area below the share that lasts longer, by Kaplan and Meier, from 0 to the limit (Irwin 1949), so that what was cut off counts
//! with all that is known of it. Its variance is Greenwood's: Σ A² d / (n (n - d)), A being the area from there to the limit (Klein and Moeschberger
//! 2003, 4.5.1), divided by the effective share of attempts; the interval is Student's.

use serde::{Deserialize, Serialize};

use crate::history::series::distribution::Distribution;
use crate::history::series::observations::Weight;
use crate::statistics::student::{CONFIDENCE, student_two_sided};

/// Fewer independent attempts give no interval.
const ATTEMPTS_LEAST: f64 = 3.0;

/// A mean up to a limit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RestrictedMean {
    /// The limit, in seconds: longer counts as so long.
    pub limit_seconds: f64,
    /// The mean, in seconds.
    pub seconds: f64,
    /// Its 95 % interval, in seconds; absent of fewer than three independent attempts.
    pub interval_seconds: Option<[f64; 2]>,
}

/// The mean of these durations up to `limit_seconds`; `None` without any, or if what had not ended was seen last before the limit.
pub(crate) fn restricted_mean<W: Weight>(
    durations: &Distribution<W>,
    limit_seconds: f64,
) -> Option<RestrictedMean> {
    durations.share_at_most(limit_seconds)?;
    let mut area_behind = Vec::new();
    let (mut from, mut survival, mut greenwood, mut area) = (0.0, 1.0, 0.0, 0.0);
    for (amount, left, sum) in durations.steps().take_while(|step| step.0 < limit_seconds) {
        area += survival * (amount - from);
        area_behind.push((area, sum - greenwood));
        (from, survival, greenwood) = (amount, left, sum);
    }
    let seconds = area + survival * (limit_seconds - from);
    // Behind the last step nothing is left if nobody is.
    let part = |(until, increase): &(f64, f64)| {
        let rest = seconds - until;
        if rest > 0.0 && increase.is_finite() { rest * rest * increase } else { 0.0 }
    };
    let sample_size = durations.sample_size();
    let variance = area_behind.iter().map(part).sum::<f64>() / sample_size.ratio();
    let reach = (sample_size.effective >= ATTEMPTS_LEAST)
        .then(|| student_two_sided(sample_size.effective - 1.0, CONFIDENCE) * variance.sqrt());
    let ends = |reach: f64| [(seconds - reach).max(0.0), (seconds + reach).min(limit_seconds)];
    Some(RestrictedMean { limit_seconds, seconds, interval_seconds: reach.map(ends) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::series::observations::{ByAttempt, Observation, Observations, Origin};
    use crate::history::series::timed_values::Quantity;
    use crate::statistics::knowledge::Knowledge;
    use iolag_model::WallTime;

    fn mean(amounts: &[(f64, Knowledge)], limit: f64) -> Option<RestrictedMean> {
        let one = |(place, (amount, knowledge)): (usize, &(f64, Knowledge))| Observation {
            at: WallTime::from_seconds(place as i64),
            amount: *amount,
            knowledge: *knowledge,
            origin: Origin::Measured,
        };
        let list = amounts.iter().enumerate().map(one);
        let observations = Observations::<ByAttempt>::new(Quantity::Duration, list);
        restricted_mean(&Distribution::of(&observations), limit)
    }

    #[test]
    fn what_was_ended_at_the_limit_counts_as_the_limit() {
        use Knowledge::{AtLeast, Exactly};
        let known = [(100.0, Exactly), (200.0, Exactly), (600.0, AtLeast), (600.5, AtLeast)];
        assert_eq!(mean(&known, 600.0).unwrap().seconds, (100.0 + 200.0 + 600.0 + 600.0) / 4.0);
        let later = [(100.0, Exactly), (900.0, Exactly)];
        assert_eq!(mean(&later, 600.0).unwrap().seconds, 350.0);
        assert_eq!(mean(&[], 600.0), None);
    }

    #[test]
    fn what_was_broken_off_counts_as_the_others_that_lasted_as_long() {
        use Knowledge::{AtLeast, Exactly};
        // By hand: S is 1 to 100, 3/4 to 300, then 3/4 · 1/2; the one seen until 200 is left out of the second step.
        let some = [(100.0, Exactly), (200.0, AtLeast), (300.0, Exactly), (700.0, Exactly)];
        let expected = 100.0 + 0.75 * 200.0 + 0.375 * 300.0;
        assert!((mean(&some, 600.0).unwrap().seconds - expected).abs() < 1e-9);
        assert_eq!(mean(&[(100.0, Exactly), (200.0, AtLeast)], 600.0), None, "nobody knows");
    }

    #[test]
    fn without_censoring_the_interval_is_that_of_a_mean() {
        let values: Vec<f64> = (1..=40).map(|number| f64::from(number * 7919 % 41)).collect();
        let known: Vec<_> = values.iter().map(|value| (*value, Knowledge::Exactly)).collect();
        let found = mean(&known, 1000.0).unwrap();
        let average = values.iter().sum::<f64>() / 40.0;
        // Greenwood's has n where the variance of a sample has n - 1.
        let variance = values.iter().map(|value| (value - average).powi(2)).sum::<f64>() / 40.0;
        let reach = student_two_sided(39.0, CONFIDENCE) * (variance / 40.0).sqrt();
        let [low, high] = found.interval_seconds.unwrap();
        assert!((found.seconds - average).abs() < 1e-9);
        assert!(high - low >= 2.0 * reach - 1e-9, "{found:?} {reach}");
    }
}
