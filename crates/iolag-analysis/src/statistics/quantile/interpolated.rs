//! Quantiles that depend as little as may be on how many attempts there are: those of units are compared, and units may have few of them.
//!
//! Between two order statistics, at the place that is about right in the median whatever the distribution (type 8 of Hyndman and Fan 1996), on a logarithmic
//! scale. An order statistic alone ([`super::censored`]) is 8 % below a p95 of 24 attempts and 3 % above that of 36.

use serde::{Deserialize, Serialize};

/// A quantile in ns, or between what it lies.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interpolated {
    /// It is at least this.
    pub low_ns: f64,
    /// And at most this; absent where nobody knows, because of attempts that were cut off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high_ns: Option<f64>,
}

/// Those by which units are compared.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct InterpolatedQuantiles {
    /// The median.
    pub median: Interpolated,
    /// 95 %.
    pub p95: Interpolated,
}

/// Where a quantile lies among the attempts in their order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct QuantilePlace {
    /// Between the attempts of these ranks, of which 1 is the shortest.
    pub ranks: [u64; 2],
    /// How far from the first to the second.
    weight: f64,
}

impl QuantilePlace {
    /// That of the quantile `q` of so many attempts, of which there is at least one.
    pub(crate) fn of(q: f64, attempts: u64) -> Self {
        let count = attempts.max(1) as f64;
        let position = ((count + 1.0 / 3.0) * q + 1.0 / 3.0).clamp(1.0, count);
        let below = position.floor();
        Self { ranks: [below as u64, (below + 1.0).min(count) as u64], weight: position - below }
    }

    /// The amount there, by those of both ranks: none is negative, and one may be 0 or infinite.
    pub(crate) fn between(self, [below, above]: [f64; 2]) -> f64 {
        // What is the same is not rounded.
        if self.weight == 0.0 || below == above {
            return below;
        }
        ((1.0 - self.weight) * below.ln() + self.weight * above.ln()).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: (n + 1/3) q + 1/3.
    #[test]
    fn quantiles_lie_between_their_neighbours() {
        let of = |q: f64, attempts: u64| {
            let QuantilePlace { ranks, weight } = QuantilePlace::of(q, attempts);
            (ranks, (weight * 1e6).round() / 1e6)
        };
        assert_eq!([of(0.5, 1), of(0.5, 2), of(0.5, 3)], [([1, 1], 0.0), ([1, 2], 0.5), ([2, 3], 0.0)]);
        assert_eq!([of(0.95, 2), of(0.95, 24)], [([2, 2], 0.0), ([23, 24], 0.45)]);
        assert_eq!((of(0.95, 96), of(0.0, 9)), (([91, 92], 0.85), ([1, 2], 0.0)));
        let middle = QuantilePlace::of(0.5, 2);
        assert!((middle.between([2.0, 8.0]) - 4.0).abs() < 1e-12);
        assert_eq!(middle.between([2.0, f64::INFINITY]), f64::INFINITY);
        assert_eq!((middle.between([0.0, 8.0]), middle.between([3.0, 3.0])), (0.0, 3.0));
        assert_eq!(QuantilePlace::of(0.5, 3).between([2.0, f64::INFINITY]), 2.0);
    }
}
