//! A number of a distribution that may lie beyond what was seen.

use std::fmt;

use iolag_model::{Nanoseconds, counted};

use super::timed_values::Quantity;
use crate::statistics::interval::estimate;

/// A quantile or an extreme: seconds, or the unit of the series.
pub type Estimate = estimate::Estimate<f64>;
/// 95 % interval of a quantile.
pub type EstimateInterval = estimate::Interval<f64>;
/// A quantile with its uncertainty.
pub type HistoryQuantile = estimate::Quantile<f64>;

impl Estimate {
    /// The number in words: `1.25 ms`, `≥ 60.0 s`, `< 10.0 ms`; values with three digits and without unit.
    pub fn in_words(self, quantity: Quantity) -> String {
        match self {
            Self::Exactly(amount) => amount_in_words(amount, quantity),
            Self::AtLeast(amount) => format!("≥ {}", amount_in_words(amount, quantity)),
            Self::Below(amount) => format!("< {}", amount_in_words(amount, quantity)),
            Self::TooFew { needed, have } => format!("unknown ({have} of {needed} needed)"),
            Self::FewStretches { stretches } => {
                format!("unknown (in {})", counted(stretches, "stretch of time", "stretches of time"))
            }
        }
    }
}

/// An amount of a quantity for people: durations with their unit, anything else with three digits.
pub fn amount_in_words(amount: f64, quantity: Quantity) -> String {
    if is_time(quantity) {
        return Nanoseconds((amount * 1e9).round().max(0.0) as u64).to_string();
    }
    if amount == 0.0 {
        return "0".to_owned();
    }
    let decimals = (2 - amount.abs().log10().floor() as i32).clamp(0, 9);
    format!("{amount:.*}", decimals as usize)
}

/// Whether amounts of it are seconds.
pub(crate) const fn is_time(quantity: Quantity) -> bool {
    quantity.is_duration() || matches!(quantity, Quantity::ProcessorTime | Quantity::Waiting)
}

impl fmt::Display for EstimateInterval {
    /// For durations: `1.2 s to ≥ 60 s`, or why there is none.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Between { low, high } => {
                let [low, high] = [low, high].map(|end| end.in_words(Quantity::Duration));
                write!(formatter, "{low} to {high}")
            }
            Self::TooFew { needed, have } => {
                write!(formatter, "unknown ({have} of {needed} independent attempts needed)")
            }
            Self::FewStretches { stretches } => {
                let stretches = counted(*stretches, "stretch of time", "stretches of time");
                write!(formatter, "unknown (in {stretches})")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_told_from_numbers() {
        let words = |estimate: Estimate| estimate.in_words(Quantity::Duration);
        assert_eq!(words(Estimate::Exactly(0.00125)), "1.25 ms");
        assert_eq!(words(Estimate::AtLeast(60.0)), "≥ 60.0 s");
        assert_eq!(words(Estimate::Below(0.01)), "< 10.0 ms");
        assert_eq!(Estimate::Exactly(2.34567).in_words(Quantity::Value), "2.35");
        assert_eq!(Estimate::Exactly(1234.5).in_words(Quantity::Value), "1234");
        assert_eq!(Estimate::NOTHING.in_words(Quantity::Value), "unknown (0 of 1 needed)");
    }

    #[test]
    fn ends_that_are_bounds_are_open() {
        let open = EstimateInterval::Between { low: Estimate::Below(0.01), high: Estimate::AtLeast(60.0) };
        assert!(open.allows(0.001) && open.allows(1e6));
        let closed = EstimateInterval::Between { low: Estimate::Exactly(1.0), high: Estimate::Exactly(2.0) };
        assert!(!closed.allows(0.99) && closed.allows(1.5) && !closed.allows(2.01));
        assert_eq!(closed.to_string(), "1.00 s to 2.00 s");
    }

    #[test]
    fn names_in_json_are_stable() {
        let quantile = HistoryQuantile {
            q: 0.5,
            value: Estimate::Below(0.01),
            order_statistic: Estimate::Below(0.01),
            interval_naive: EstimateInterval::TooFew { needed: 6, have: 3 },
            interval: EstimateInterval::Between { low: Estimate::Exactly(1.0), high: Estimate::AtLeast(2.0) },
        };
        let expected = r#"{"q":0.5,"value":{"below":0.01},"order_statistic":{"below":0.01},"interval_naive":{"too_few":{"needed":6,"have":3}},"#;
        let json = serde_json::to_string(&quantile).unwrap();
        assert!(json.starts_with(expected), "{json}");
        assert!(json.ends_with(r#""interval":{"between":{"low":{"exactly":1.0},"high":{"at_least":2.0}}}}"#));
    }
}
