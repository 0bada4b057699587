//! What days are worth, each of which resembles the one before: an autoregression of the first order, of which few days tell little.
//!
//! The likeness φ is that of the days compared, and 1.8/√n more, by which chance may hide it: with less, equal sides differ in more than one table of
//! twenty. Whoever asks for more certainty than 95 % must reckon with more, as a deviate grows with it. Where both sides have days of their own, these tell of one φ.

use super::contrasts::first_that;
use super::log_range::{LogRange, known};
use crate::statistics::multiple_testing::SIGNIFICANCE;
use crate::statistics::student::{student_p, student_two_sided};

/// By so much of 1/√n days may be more alike than they look.
const HIDDEN: f64 = 1.8;
/// Few days are taken to be no more alike than this, since of what is left hardly anything could be said.
const MOST_OF_FEW: f64 = 0.9;
/// Of more days this tells a drift: intervals cover everything then.
const MOST: f64 = 0.99;
/// From so many days a side on these are no few.
const FEW: usize = 30;
/// With fewer days on one of two sides each of them tells of the half only.
const FEW_APART: usize = 14;
/// Where a day is only bounded nobody knows how far they resemble each other, and ranks are not exact.
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

/// How far days are seen to resemble the one before.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SeenLikeness {
    seen: f64,
    /// They are not taken to be less alike.
    least: f64,
}

impl SeenLikeness {
    /// Of days in the order of time, on one side or on two. Where a day is only bounded it may be as alike as at its bound, or as if it had not been: what is more
    /// counts, and no less than a half.
    pub(super) fn of(sides: &[Vec<LogRange>]) -> Self {
        let known: Option<Vec<Vec<f64>>> = sides.iter().map(|side| known(side)).collect();
        if let Some(known) = known {
            return Self { seen: seen_of(&known), least: 0.0 };
        }
        let all = |of: fn(LogRange) -> Option<f64>| {
            let side = |side: &Vec<LogRange>| side.iter().filter_map(|day| of(*day)).collect::<Vec<f64>>();
            seen_of(&sides.iter().map(side).collect::<Vec<_>>())
        };
        let at_bounds = |day: LogRange| [day.high(), day.low()].into_iter().find(|end| end.is_finite());
        Self { seen: all(at_bounds).max(all(LogRange::known)), least: OF_BOUNDED }
    }

    /// Of so many days a side, for an interval of this level: who wants to be surer must reckon with more that is hidden.
    pub(super) fn at(self, counts: &[usize], level: f64) -> Likeness {
        let days: usize = counts.iter().sum();
        let is_few = counts.iter().any(|count| *count < FEW);
        let are_halves = counts.len() > 1 && counts.iter().any(|count| *count < FEW_APART);
        let apart = if are_halves { std::f64::consts::SQRT_2 } else { 1.0 };
        let surer = student_two_sided(f64::INFINITY, 1.0 - level)
            / student_two_sided(f64::INFINITY, 1.0 - SIGNIFICANCE);
        let hidden = HIDDEN * apart * surer / (days as f64).sqrt();
        let most = if is_few { MOST_OF_FEW } else { MOST };
        Likeness::Days((self.seen + hidden).max(self.least).clamp(0.0, most))
    }
}

/// The correlation of each day with the next, of all sides together.
fn seen_of(sides: &[Vec<f64>]) -> f64 {
    let days: usize = sides.iter().map(Vec::len).sum();
    sides.iter().map(|side| seen(side) * side.len() as f64).sum::<f64>() / days.max(1) as f64
}

impl Likeness {
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

/// What ranks of days are worth: they know nothing of likeness, so they are those at the level of a normal deviate that is as great as Student's of so many known
/// days.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RankWorth {
    likeness: SeenLikeness,
    /// Days of each side; of pairs of one.
    counts: Vec<usize>,
}

impl RankWorth {
    pub(super) const fn of_days(likeness: SeenLikeness, counts: Vec<usize>) -> Self {
        Self { likeness, counts }
    }

    /// The level of ranks that is this one of days.
    pub(super) fn level(&self, level: f64) -> f64 {
        let likeness = self.likeness.at(&self.counts, level);
        let square = |of: &dyn Fn(usize) -> f64| -> f64 {
            self.counts.iter().map(|count| of(*count) / *count as f64).sum()
        };
        let inflation = square(&|count| likeness.inflation(count)) / square(&|_| 1.0);
        let freedom: f64 = self.counts.iter().map(|count| likeness.freedom(*count)).sum();
        let deviate = student_two_sided(freedom.max(1.0), 1.0 - level) * inflation.sqrt();
        student_p(f64::INFINITY, deviate)
    }

    /// The probability that days are as far apart, if ranks of independent ones are with this one.
    pub(super) fn p(&self, of_ranks: f64) -> f64 {
        least_level(|level| self.level(level) >= of_ranks)
    }
}

/// The least level of which this holds, if it holds of all that are greater; 1 if of none.
pub(super) fn least_level(holds: impl Fn(f64) -> bool) -> f64 {
    // Numbers that are not negative are in the order of their bits.
    let place = first_that(0, 1.0_f64.to_bits(), |bits| holds(f64::from_bits(bits)));
    f64::from_bits(place)
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

    fn exactly(days: &[f64]) -> Vec<LogRange> {
        days.iter().map(|day| LogRange::exactly(*day)).collect()
    }

    fn days_at(sides: &[Vec<LogRange>], level: f64) -> f64 {
        let counts: Vec<usize> = sides.iter().map(Vec::len).collect();
        let Likeness::Days(likeness) = SeenLikeness::of(sides).at(&counts, level) else { panic!("days") };
        likeness
    }

    #[test]
    fn days_are_as_alike_as_chance_may_hide() {
        let turned: Vec<f64> = (0..24).map(|day| f64::from(day % 2)).collect();
        let slow: Vec<f64> = (0..24).map(|day| f64::from(day / 3 % 2)).collect();
        let likeness = |sides: &[&[f64]], level: f64| {
            days_at(&sides.iter().map(|side| exactly(side)).collect::<Vec<_>>(), level)
        };
        assert_eq!(likeness(&[&turned], 0.05), 0.0);
        // Of 23 neighbours 16 are alike and 7 are not, of 24 squares.
        let seen = 9.0 / 24.0;
        assert!(are_close(likeness(&[&slow], 0.05), seen + 1.8 / 24.0_f64.sqrt()));
        // In a table of eight cells: of 0.05/8 the deviate is 2.7344, of 0.05 1.96.
        let of_eight = likeness(&[&slow], 0.05 / 8.0) - seen;
        assert!((of_eight / (1.8 / 24.0_f64.sqrt()) - 2.734_369 / 1.959_964).abs() < 1e-6, "{of_eight}");
        assert!(are_close(likeness(&[&slow, &slow], 0.05), seen + 1.8 / 48.0_f64.sqrt()));
        // Of few days on either side half of them tell.
        let short = &slow[..13];
        let of_short = seen_of(&[short.to_vec(), short.to_vec()]);
        assert!(are_close(likeness(&[short, short], 0.05), of_short + 1.8 / 13.0_f64.sqrt()));
        assert_eq!(likeness(&[&[1.0], &[2.0]], 0.05), MOST_OF_FEW);
        let drift: Vec<f64> = (0..100).map(f64::from).collect();
        assert_eq!([likeness(&[&drift], 0.05), likeness(&[&drift[..29]], 0.05)], [MOST, MOST_OF_FEW]);
    }

    /// A hang that is far from all makes the others look less alike, not more.
    #[test]
    fn days_are_as_alike_as_those_that_are_known() {
        let slow: Vec<f64> = (0..48).map(|day| f64::from(day / 6 % 2)).collect();
        let mut bounded = exactly(&slow);
        bounded[20] = LogRange::at_most(-9.0);
        let known: Vec<LogRange> = bounded.iter().copied().filter(|day| day.known().is_some()).collect();
        let of_known = days_at(&[known], 0.05) + 1.8 / 48.0_f64.sqrt() - 1.8 / 47.0_f64.sqrt();
        assert!(are_close(days_at(&[bounded], 0.05), of_known));
        let mut turned = exactly(&(0..48).map(|day| f64::from(day % 2)).collect::<Vec<f64>>());
        turned[20] = LogRange::UNKNOWN;
        assert_eq!(days_at(&[turned], 0.05), OF_BOUNDED);
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
        let likeness = SeenLikeness { seen: 0.1, least: OF_BOUNDED };
        for counts in [vec![14], vec![4, 30]] {
            let worth = RankWorth::of_days(likeness, counts);
            let level = worth.level(0.05);
            assert!(level < 0.01 && (worth.p(level) / 0.05 - 1.0).abs() < 1e-9, "{level}");
            assert!(worth.p(0.0) == 0.0 && (worth.p(1.0) - 1.0).abs() < 1e-9);
        }
    }
}
