//! What is known of a logarithm.

/// No logarithm of a speed or of a ratio lies beyond this: that of the greatest number is 709.8.
const FAR: f64 = 700.0;

/// A logarithm that lies between two ends, which are equal if it is known. An open end is infinite.
///
/// Invariants: neither end is NaN; the lower one is below positive, the upper one above negative infinity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogRange {
    low: f64,
    high: f64,
}

impl LogRange {
    /// Nothing is known.
    pub const UNKNOWN: Self = Self { low: f64::NEG_INFINITY, high: f64::INFINITY };

    /// It is this. A speed of nothing, whose logarithm is infinite, is slower than any.
    pub fn exactly(value: f64) -> Self {
        Self::between(value, value)
    }

    /// It is this or less: a run that hung or failed was no faster.
    pub fn at_most(high: f64) -> Self {
        Self::between(f64::NEG_INFINITY, high)
    }

    /// It is this or more.
    pub fn at_least(low: f64) -> Self {
        Self::between(low, f64::INFINITY)
    }

    /// It lies between these; what is no number says nothing.
    pub fn between(low: f64, high: f64) -> Self {
        if low.is_nan() || high.is_nan() || low > high {
            return Self::UNKNOWN;
        }
        let low = if low < -FAR { f64::NEG_INFINITY } else { low.min(FAR) };
        let high = if high > FAR { f64::INFINITY } else { high.max(-FAR) };
        Self { low, high }
    }

    /// The mean of some: of their lower ends, and of their upper ones. Of nothing nothing is known.
    pub fn mean(values: &[Self]) -> Self {
        Self::weighted_mean(values.iter().map(|value| (1.0, *value)))
    }

    /// The same of values of which each has a weight.
    pub(super) fn weighted_mean(values: impl Iterator<Item = (f64, Self)> + Clone) -> Self {
        let weights: f64 = values.clone().map(|(weight, _)| weight).sum();
        let of = |end: fn(Self) -> f64| {
            values.clone().map(|(weight, value)| weight * end(value)).sum::<f64>() / weights
        };
        Self::between(of(Self::low), of(Self::high))
    }

    /// The lower end; negative infinity if it is open.
    pub const fn low(self) -> f64 {
        self.low
    }

    /// The upper end; infinite if it is open.
    pub const fn high(self) -> f64 {
        self.high
    }

    /// What it is, if that is known.
    pub fn known(self) -> Option<f64> {
        (self.low == self.high).then_some(self.low)
    }

    /// Whether it certainly differs from 0.
    pub const fn excludes_zero(self) -> bool {
        self.low > 0.0 || self.high < 0.0
    }

    /// Whether it certainly lies within this of 0.
    pub const fn is_within(self, limit: f64) -> bool {
        self.low >= -limit && self.high <= limit
    }

    /// By how much it is more than `other`.
    pub(super) fn less(self, other: Self) -> Self {
        Self { low: self.low - other.high, high: self.high - other.low }
    }

    /// Its ends moved outwards.
    pub(super) fn widened(self, by: f64) -> Self {
        Self { low: self.low - by, high: self.high + by }
    }
}

/// The values, if all are known.
pub(super) fn known(ranges: &[LogRange]) -> Option<Vec<f64>> {
    ranges.iter().map(|range| range.known()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_makes_a_range_without_order() {
        for (low, high) in [(f64::NAN, 0.0), (0.0, f64::NAN), (1.0, 0.0), (f64::NEG_INFINITY, f64::INFINITY)]
        {
            assert_eq!(LogRange::between(low, high), LogRange::UNKNOWN);
        }
        let nothing = LogRange::exactly(f64::NEG_INFINITY);
        assert_eq!((nothing.low(), nothing.high(), nothing.known()), (f64::NEG_INFINITY, -FAR, None));
        let endless = LogRange::exactly(f64::INFINITY);
        assert_eq!((endless.low(), endless.high()), (FAR, f64::INFINITY));
        let between = nothing.less(endless);
        assert_eq!((between.low(), between.high()), (f64::NEG_INFINITY, -2.0 * FAR));
        assert!(between.excludes_zero() && !LogRange::UNKNOWN.excludes_zero());
        assert_eq!(LogRange::exactly(0.5).less(LogRange::at_most(0.25)), LogRange::at_least(0.25));
    }
}
