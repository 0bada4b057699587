//! Levels before and after a change: medians, their ratio with an interval, and how often one side is greater.
//!
//! The interval of a ratio combines those of the two medians (by order statistics, with effective sample sizes) on the logarithmic scale by the
//! method of variance estimates recovery (Zou and Donner 2008): no distribution is assumed. Limits: with fewer than six effective
//! values on a side, or a censored end, that end is open. The step of a coarse clock is added to it, as it is the same for all values.

use serde::{Deserialize, Serialize};

use crate::history::series::clock_steps::steps_in_ratio;
use crate::history::series::timed_values::TimedValues;
use crate::statistics::dependence::correlation_time::correlation_time;
use crate::statistics::interval::ranks_and_shares::effective_quantile_ranks;
use crate::statistics::knowledge::Knowledge;
use crate::statistics::ranking::{ascending, mid_ranks};
use crate::statistics::student::NORMAL_TWO_SIDED;

/// How much one level is of another.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LevelRatio {
    /// Median after by median before; absent if both are only known from the same side.
    pub value: Option<f64>,
    /// How much is known of it.
    pub value_is: Knowledge,
    /// Lower end at 95 %; absent if open.
    pub low: Option<f64>,
    /// Upper end at 95 %; absent if open.
    pub high: Option<f64>,
}

/// The values of one side, in order.
#[derive(Debug, Clone)]
pub(crate) struct Levels {
    values: TimedValues,
    order: Vec<usize>,
    effective: f64,
}

impl Levels {
    pub(crate) fn of(values: &TimedValues) -> Self {
        let ordered = values.ordered();
        let order = ascending(&ordered);
        let effective = values.len() as f64 / correlation_time(&ordered);
        Self { values: values.clone(), order, effective }
    }

    /// How many independent values they are worth.
    pub(crate) const fn effective(&self) -> f64 {
        self.effective
    }

    pub(crate) fn median(&self) -> (f64, Knowledge) {
        self.quantile(0.5)
    }

    fn quantile(&self, share: f64) -> (f64, Knowledge) {
        let rank = (share * self.order.len() as f64).ceil().max(1.0) as usize;
        self.values.at_rank(&self.order, rank).unwrap_or((0.0, Knowledge::Exactly))
    }

    /// Logarithm of a quantile or of its bound.
    pub(crate) fn quantile_logarithm(&self, share: f64) -> f64 {
        self.quantile(share).0.max(1e-9).ln()
    }

    /// Logarithms of the ends of a quantile's interval, where they exist and are exact.
    fn interval(&self, share: f64) -> (Option<f64>, Option<f64>) {
        let Some(ranks) = effective_quantile_ranks(self.order.len() as u64, self.effective, share) else {
            return (None, None);
        };
        let end = |rank: u64| {
            let (value, knowledge) = self.values.at_rank(&self.order, rank as usize)?;
            (knowledge == Knowledge::Exactly && value > 0.0).then(|| value.ln())
        };
        (end(ranks.low), end(ranks.high))
    }
}

impl LevelRatio {
    pub(crate) fn between(before: &Levels, after: &Levels) -> Self {
        Self::at(0.5, before, after)
    }

    /// The same of another quantile than the median.
    pub(crate) fn at(share: f64, before: &Levels, after: &Levels) -> Self {
        let ((old, old_is), (new, new_is)) = (before.quantile(share), after.quantile(share));
        let open = Self::open([(old, old_is), (new, new_is)]);
        if [old_is, new_is] != [Knowledge::Exactly; 2] || old <= 0.0 || new <= 0.0 {
            return open;
        }
        let steps = steps_in_ratio([old, new], [before, after].map(|side| side.values.step_seconds()));
        let (old, new) = (old.ln(), new.ln());
        let (old_low, old_high) = before.interval(share);
        let (new_low, new_high) = after.interval(share);
        let reach = |of_new: Option<f64>, of_old: Option<f64>| Some((of_new? - new).hypot(of_old? - old));
        let end = |logarithm: f64| logarithm.is_finite().then(|| logarithm.exp());
        Self {
            low: reach(new_low, old_high).and_then(|reach| end(new - old - reach + steps[0])),
            high: reach(new_high, old_low).and_then(|reach| end(new - old + reach + steps[1])),
            ..open
        }
    }

    /// That of two medians of which so much is known, without an interval.
    pub(crate) fn open([(old, old_is), (new, new_is)]: [(f64, Knowledge); 2]) -> Self {
        use Knowledge::{AtLeast, AtMost, Exactly};
        let value_is = match (old_is, new_is) {
            (Exactly, known) => Some(known),
            (AtMost, Exactly | AtLeast) => Some(AtLeast),
            (AtLeast, Exactly | AtMost) => Some(AtMost),
            (AtMost, AtMost) | (AtLeast, AtLeast) => None,
        };
        let value = value_is.filter(|_| old > 0.0).map(|_| new / old);
        Self { value, value_is: value_is.unwrap_or(Exactly), low: None, high: None }
    }

    /// Whether its interval says in which direction; of one that is open on both sides that is not known.
    pub(crate) fn excludes_none(&self) -> Option<bool> {
        match (self.low, self.high) {
            (None, None) => None,
            (low, high) => Some(low.is_some_and(|low| low > 1.0) || high.is_some_and(|high| high < 1.0)),
        }
    }
}

/// Probability that a value after is greater than one before, ties counting half (Mann and Whitney 1947).
pub(crate) fn share_greater(before: &[f64], after: &[f64]) -> f64 {
    let all: Vec<f64> = before.iter().chain(after).copied().collect();
    let ranks = mid_ranks(&all);
    let (n, m) = (before.len() as f64, after.len() as f64);
    let sum: f64 = ranks[before.len()..].iter().sum();
    (sum - m * (m + 1.0) / 2.0) / (n * m).max(1.0)
}

/// How far from 1/2 that probability comes by chance in 95 of 100 cases, for so many independent values (the same).
pub(crate) fn apart_by_chance(independent: [f64; 2]) -> f64 {
    let [before, after] = independent;
    NORMAL_TWO_SIDED * ((1.0 / before + 1.0 / after) / 12.0).sqrt()
}

#[cfg(test)]
mod tests {
    use iolag_model::WallTime;

    use super::*;

    fn levels(values: &[f64]) -> Levels {
        let moments: Vec<WallTime> =
            (0..values.len()).map(|slot| WallTime::from_seconds(slot as i64)).collect();
        Levels::of(&TimedValues::known(&moments, values))
    }

    #[test]
    fn a_ratio_lies_in_its_interval() {
        let before: Vec<f64> = (0..40).map(|index| f64::from(index * 17 % 41) + 10.0).collect();
        let after: Vec<f64> = before.iter().map(|value| 3.0 * value).collect();
        let ratio = LevelRatio::between(&levels(&before), &levels(&after));
        assert!((ratio.value.unwrap() - 3.0).abs() < 1e-12);
        assert!(ratio.low.unwrap() < 3.0 && ratio.high.unwrap() > 3.0);
        let few = LevelRatio::between(&levels(&before[..5]), &levels(&after));
        assert_eq!((few.low, few.high), (None, None));
    }

    #[test]
    fn ranks_tell_which_side_is_greater() {
        let low: Vec<f64> = (0..30).map(|index| f64::from(index * 13 % 30)).collect();
        let high: Vec<f64> = low.iter().map(|value| value + 100.0).collect();
        assert!(share_greater(&low, &high) == 1.0);
        assert!((share_greater(&low, &low) - 0.5).abs() < 1e-12);
    }
}
