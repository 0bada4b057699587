//! What days are worth, each of which resembles the one before: an autoregression of the first order, of which few days tell little.
//!
//! The likeness φ is that of the days compared, and 1.8/√n more, by which chance may hide it: with less, equal sides differ in more than one table of
//! twenty. Where both sides have days of their own, these tell of one φ.

use crate::statistics::student::{student_p, student_two_sided};

/// By so much of 1/√n days may be more alike than they look.
const HIDDEN: f64 = 1.8;
/// Few days are taken to be no more alike than this, since of what is left hardly anything could be said.
const MOST_OF_FEW: f64 = 0.9;
/// Of more days this tells a drift: intervals cover everything then.
const MOST: f64 = 0.99;
/// From so many days a side on these are no few.
const FEW: usize = 30;
/// Where days are only bounded nobody knows how they resemble each other.
const OF_BOUNDED: f64 = 0.5;
/// Where each run resembles the one before by φ, the differences of A B, B A are correlated by φ (1 - φ)/2, an eighth at most, if
/// a block has two runs; over the drawn places of many it is 0.136.
const TURNED: f64 = 0.125;

/// How far values resemble the one before.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Likeness {
    /// Not at all.
    None,
    /// Those of turned blocks: the next one only, by design, which takes nothing from what is known of their spread.
    Turned,
    /// Each by as much.
    Days(f64),
}

impl Likeness {
    /// Of days in the order of time, on one side or on two.
    pub(super) fn of_days(sides: &[&[f64]]) -> Self {
        let days: usize = sides.iter().map(|days| days.len()).sum();
        let most = if sides.iter().all(|days| days.len() >= FEW) { MOST } else { MOST_OF_FEW };
        let seen = sides.iter().map(|side| seen(side) * side.len() as f64).sum::<f64>() / days as f64;
        Self::Days((seen + HIDDEN / (days as f64).sqrt()).clamp(0.0, most))
    }

    /// By how much the square error of the mean of so many values is greater than their variance, as it looks, tells of independent ones.
    pub(super) fn inflation(self, count: usize) -> f64 {
        match self {
            Self::Days(likeness) if count > 1 => {
                let (mean, count) = (of_mean(likeness, count), count as f64);
                // Values that resemble each other are less far apart.
                mean * (count - 1.0) / (count - mean)
            }
            Self::None | Self::Days(_) => 1.0,
            Self::Turned => 1.0 + TURNED,
        }
    }

    /// The degrees of freedom with which the variance of so many values is known.
    pub(super) fn freedom(self, count: usize) -> f64 {
        let free = count as f64 - 1.0;
        match self {
            Self::Days(likeness) => {
                let square = likeness.powi(2);
                (free * (1.0 - square) / (1.0 + square)).max(free.min(1.0))
            }
            Self::None | Self::Turned => free,
        }
    }
}

/// The correlation of each value with the next; of less than three nothing is known.
fn seen(days: &[f64]) -> f64 {
    let mean = days.iter().sum::<f64>() / days.len() as f64;
    let apart: Vec<f64> = days.iter().map(|day| day - mean).collect();
    let squares: f64 = apart.iter().map(|day| day * day).sum();
    if days.len() < 3 || squares <= 0.0 {
        return 0.0;
    }
    apart.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>() / squares
}

/// By how much the variance of a mean of so many values is greater than that of independent ones.
fn of_mean(likeness: f64, count: usize) -> f64 {
    let (rest, count) = (1.0 - likeness, count as f64);
    (1.0 + likeness) / rest - 2.0 * likeness * (1.0 - likeness.powf(count)) / (count * rest.powi(2))
}

/// What ranks of days are worth: they know nothing of likeness.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct RankWorth(f64);

impl RankWorth {
    /// Of values that do not resemble each other.
    pub(super) const WHOLE: Self = Self(1.0);

    /// Of so many days a side; of pairs on one.
    pub(super) fn of_days(counts: &[usize]) -> Self {
        let square =
            |of: fn(usize) -> f64| counts.iter().map(|count| of(*count) / *count as f64).sum::<f64>();
        Self((square(|count| of_mean(OF_BOUNDED, count)) / square(|_| 1.0)).sqrt())
    }

    /// The probability that days are as far apart, if ranks of independent ones are with this one.
    pub(super) fn p(self, of_ranks: f64) -> f64 {
        if self == Self::WHOLE {
            return of_ranks;
        }
        student_p(f64::INFINITY, student_two_sided(f64::INFINITY, 1.0 - of_ranks) / self.0)
    }

    /// The level of ranks that is this one of days.
    pub(super) fn level(self, level: f64) -> f64 {
        if self == Self::WHOLE {
            return level;
        }
        student_p(f64::INFINITY, student_two_sided(f64::INFINITY, 1.0 - level) * self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn are_close(one: f64, other: f64) -> bool {
        (one - other).abs() < 1e-9
    }

    /// By adding up the covariances.
    #[test]
    fn a_mean_varies_as_much_as_its_values_together() {
        for (likeness, count) in [(0.0, 7), (0.5, 2), (0.5, 7), (0.9, 30)] {
            let covariance = |one: i32, other: i32| likeness_power(likeness, one.abs_diff(other));
            let all: f64 =
                (0..count).flat_map(|one| (0..count).map(move |other| covariance(one, other))).sum();
            let expected = all / f64::from(count);
            assert!(are_close(of_mean(likeness, count as usize), expected), "{likeness}, {count}");
        }
    }

    fn likeness_power(likeness: f64, days: u32) -> f64 {
        if days == 0 { 1.0 } else { likeness.powi(days as i32) }
    }

    #[test]
    fn days_are_as_alike_as_chance_may_hide() {
        let turned: Vec<f64> = (0..24).map(|day| f64::from(day % 2)).collect();
        let slow: Vec<f64> = (0..24).map(|day| f64::from(day / 3 % 2)).collect();
        assert_eq!(Likeness::of_days(&[&turned]), Likeness::Days(0.0));
        // Of 23 neighbours 16 are alike and 7 are not, of 24 squares.
        let Likeness::Days(of_slow) = Likeness::of_days(&[&slow]) else { panic!("days") };
        assert!(are_close(of_slow, 9.0 / 24.0 + 1.8 / 24.0_f64.sqrt()), "{of_slow}");
        let Likeness::Days(of_both) = Likeness::of_days(&[&slow, &slow]) else { panic!("days") };
        assert!(are_close(of_both, 9.0 / 24.0 + 1.8 / 48.0_f64.sqrt()), "{of_both}");
        assert_eq!(Likeness::of_days(&[&[1.0], &[2.0]]), Likeness::Days(MOST_OF_FEW));
        let drift: Vec<f64> = (0..100).map(f64::from).collect();
        assert_eq!(Likeness::of_days(&[&drift]), Likeness::Days(MOST));
        assert_eq!(Likeness::of_days(&[&drift[..29]]), Likeness::Days(MOST_OF_FEW));
    }

    #[test]
    fn values_that_are_not_alike_are_worth_themselves() {
        for likeness in [Likeness::None, Likeness::Days(0.0)] {
            assert_eq!((likeness.inflation(7), likeness.freedom(7)), (1.0, 6.0));
        }
        assert_eq!((Likeness::Days(0.5).inflation(1), Likeness::Days(0.5).freedom(1)), (1.0, 0.0));
        // 3 - 0.5714, of which the variance of seven values lacks a part.
        let mean = 3.0 - 4.0 * (1.0 - 0.5_f64.powi(7)) / 7.0;
        assert!(are_close(Likeness::Days(0.5).inflation(7), mean * 6.0 / (7.0 - mean)));
        assert!(are_close(Likeness::Days(0.5).freedom(7), 3.6));
    }

    #[test]
    fn ranks_of_days_are_worth_less() {
        assert_eq!((RankWorth::WHOLE.p(0.01), RankWorth::WHOLE.level(0.01)), (0.01, 0.01));
        for worth in [RankWorth::of_days(&[14]), RankWorth::of_days(&[4, 30])] {
            let level = worth.level(0.05);
            assert!(level < 0.01 && are_close(worth.p(level), 0.05), "{level}");
            assert_eq!((worth.p(0.0), worth.p(1.0)), (0.0, 1.0));
        }
    }
}
