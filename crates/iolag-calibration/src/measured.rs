//! What a row measures: shares with limits, and how they are judged.
//!
//! A share fails if the exact binomial probability of what was counted, were the limit true, is under 0.001: a row of
//! 1000 campaigns fails at 5 % with more than 73. So a program that is exactly as good as the limit fails once in a thousand rows.

use iolag_analysis::{ShareInterval, share_interval};
use serde::{Deserialize, Serialize};
use statrs::function::beta::beta_reg;

/// A share with less probability under its limit fails.
const SIGNIFICANCE: f64 = 0.001;

/// One number of a row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// What was measured, as in `run p95: covered`.
    pub name: String,
    /// What came out.
    pub amount: Amount,
}

/// What came out, and what it must be.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Amount {
    /// So many of so many.
    Share {
        /// Of these.
        count: u64,
        /// Out of these.
        of: u64,
        /// What it must be.
        limit: Limit,
    },
    /// A number that must not be greater; absent if it could not be computed.
    Ratio {
        /// The number.
        value: Option<f64>,
        /// The greatest that is allowed.
        most: Option<f64>,
    },
}

/// What a share must be.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// Told, not judged.
    Untold,
    /// At most this.
    AtMost(f64),
    /// At least this.
    AtLeast(f64),
}

/// Whether a limit is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Judgement {
    /// It is.
    Passes,
    /// It is not.
    Fails,
    /// There is no limit, or nothing was counted.
    NotJudged,
}

impl Measured {
    /// A share.
    pub fn share(name: impl Into<String>, count: usize, of: usize, limit: Limit) -> Self {
        Self { name: name.into(), amount: Amount::Share { count: count as u64, of: of as u64, limit } }
    }

    /// A ratio.
    pub fn ratio(name: impl Into<String>, value: Option<f64>, most: Option<f64>) -> Self {
        Self { name: name.into(), amount: Amount::Ratio { value, most } }
    }

    /// Whether it is as it must be.
    pub fn judgement(&self) -> Judgement {
        match self.amount {
            Amount::Share { of: 0, .. } | Amount::Share { limit: Limit::Untold, .. } => Judgement::NotJudged,
            Amount::Share { count, of, limit: Limit::AtMost(limit) } => {
                judged(probability_of_as_many(count, of, limit))
            }
            Amount::Share { count, of, limit: Limit::AtLeast(limit) } => {
                judged(probability_of_as_many(of - count, of, 1.0 - limit))
            }
            Amount::Ratio { value: Some(value), most: Some(most) } if value > most => Judgement::Fails,
            Amount::Ratio { value: Some(_), most: Some(_) } => Judgement::Passes,
            Amount::Ratio { .. } => Judgement::NotJudged,
        }
    }

    /// The share or the ratio; absent of nothing.
    pub fn value(&self) -> Option<f64> {
        match self.amount {
            Amount::Share { of: 0, .. } => None,
            Amount::Share { count, of, .. } => Some(count as f64 / of as f64),
            Amount::Ratio { value, .. } => value,
        }
    }

    /// Count, rate with its interval, limit and judgement, in a line.
    pub fn in_words(&self) -> String {
        let judgement = match self.judgement() {
            Judgement::Passes => "pass",
            Judgement::Fails => "FAIL",
            Judgement::NotJudged => "-",
        };
        match self.amount {
            Amount::Share { count, of, limit } => {
                let ShareInterval { low, high } = share_interval(count as f64, of as f64);
                let rate = self.value().map_or_else(|| "-".to_owned(), percent);
                let limit = match limit {
                    Limit::Untold => "no limit".to_owned(),
                    Limit::AtMost(limit) => format!("at most {}", percent(limit)),
                    Limit::AtLeast(limit) => format!("at least {}", percent(limit)),
                };
                format!("{count} of {of}, {rate} [{}–{}], {limit}, {judgement}", percent(low), percent(high))
            }
            Amount::Ratio { value, most } => {
                let value = value.map_or_else(|| "-".to_owned(), |value| format!("{value:.2}"));
                let most = most.map_or_else(|| "no limit".to_owned(), |most| format!("at most {most:.1}"));
                format!("{value}, {most}, {judgement}")
            }
        }
    }
}

/// A share in percent with one decimal.
pub fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

fn judged(probability: f64) -> Judgement {
    if probability < SIGNIFICANCE { Judgement::Fails } else { Judgement::Passes }
}

/// Probability of at least `count` in `of` trials, each with the probability `share` (Johnson and others 2005, 3.6: the binomial
/// distribution by the incomplete beta function).
fn probability_of_as_many(count: u64, of: u64, share: f64) -> f64 {
    match count {
        0 => 1.0,
        count => beta_reg(count as f64, (of - count) as f64 + 1.0, share),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_fail_where_the_issue_says() {
        let at_most = |count, limit| Measured::share("", count, 1000, Limit::AtMost(limit)).judgement();
        assert_eq!((at_most(73, 0.05), at_most(74, 0.05)), (Judgement::Passes, Judgement::Fails));
        assert_eq!((at_most(130, 0.1), at_most(131, 0.1)), (Judgement::Passes, Judgement::Fails));
        let at_least = |count, limit| Measured::share("", count, 1000, Limit::AtLeast(limit)).judgement();
        assert_eq!((at_least(904, 0.93), at_least(903, 0.93)), (Judgement::Passes, Judgement::Fails));
        assert_eq!((at_least(870, 0.9), at_least(869, 0.9)), (Judgement::Passes, Judgement::Fails));
    }

    #[test]
    fn nothing_is_not_judged() {
        assert_eq!(Measured::share("", 0, 0, Limit::AtMost(0.05)).judgement(), Judgement::NotJudged);
        assert_eq!(Measured::share("", 9, 10, Limit::Untold).judgement(), Judgement::NotJudged);
        assert_eq!(Measured::ratio("", None, Some(1.5)).judgement(), Judgement::NotJudged);
        assert_eq!(Measured::ratio("", Some(1.51), Some(1.5)).judgement(), Judgement::Fails);
        assert_eq!(Measured::share("", 0, 5, Limit::AtMost(0.05)).judgement(), Judgement::Passes);
        assert_eq!(Measured::share("", 5, 5, Limit::AtLeast(0.93)).judgement(), Judgement::Passes);
    }

    #[test]
    fn words_have_count_rate_interval_limit_and_judgement() {
        let share = Measured::share("", 40, 100, Limit::AtLeast(0.9));
        assert_eq!(share.in_words(), "40 of 100, 40.0 % [30.3 %–50.3 %], at least 90.0 %, FAIL");
        assert_eq!(Measured::ratio("", Some(1.25), Some(1.5)).in_words(), "1.25, at most 1.5, pass");
    }
}
