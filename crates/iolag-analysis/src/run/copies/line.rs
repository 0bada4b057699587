//! Time against copies: a line, how steep it is, and whether it is one.
//!
//! The run is the unit. In a block, which is one repetition of every number of copies, the slope of the line of least squares is one number,
//! and so is that of the square term beside it; over the blocks both are plain means with Student's interval. So nothing is assumed about
//! how the spread of times grows with the copies, and what drifts from block to block is between the blocks.
//!
//! The square term does not see steps and bends. So how far each level is off line and square term of its block is asked as well, by the spread of that
//! between blocks: lack of fit against pure error (Draper and Smith 1998, 2), level by level, since spreads differ, by Bonferroni.

use serde::{Deserialize, Serialize};

use crate::statistics::student::{CONFIDENCE, student_p, student_two_sided};

/// Blocks needed for an interval.
pub const BLOCKS_NEEDED: usize = 3;
/// Different numbers of copies needed to tell a line from a curve.
pub const LEVELS_NEEDED: usize = 3;
/// What is nowhere further from a line, as a share of the time there, is straight for every purpose.
pub const STRAIGHT_WITHIN: f64 = 0.05;
/// A curve by chance is found more rarely than this.
const CURVED_BELOW: f64 = 0.04;
/// And steps or bends more rarely than this: either in less than 5 of 100 campaigns.
const UNEVEN_BELOW: f64 = 0.01;

/// A line through the times.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CopiesLine {
    /// Blocks that have every number of copies.
    pub blocks: u64,
    /// More time for each further copy.
    pub slope_ns: f64,
    /// Time of none, by the line.
    pub base_ns: f64,
    /// 95 % interval of the slope.
    pub slope_interval_ns: Option<[f64; 2]>,
    /// Whether it is a line.
    pub shape: CopiesShape,
}

/// Whether times follow a line.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CopiesShape {
    /// Nothing else was shown, or nothing that matters.
    Straight {
        /// How far the mean times are from the line at most, as a share of them.
        off: f64,
    },
    /// Each further copy costs more than the one before.
    Upward {
        /// How probable as much curvature is by chance.
        p: f64,
    },
    /// Each further copy costs less than the one before.
    Downward {
        /// How probable as much curvature is by chance.
        p: f64,
    },
    /// Steps or bends that are no such curve.
    Uneven {
        /// How far the mean times are from the line at most, as a share of them.
        off: f64,
        /// How probable as much is by chance.
        p: f64,
    },
    /// Times are missing, and they are the longest.
    SlowestMissing,
    /// Too few numbers of copies, or too few blocks.
    TooFew,
}

/// The line through the times of these blocks, each of which has one for each of `levels`, which are different and ascend. `None` without a
/// block, or with fewer than two levels.
pub fn copies_line(levels: &[f64], blocks: &[Vec<f64>]) -> Option<CopiesLine> {
    let slope = Contrast::slope(levels).filter(|_| !blocks.is_empty())?;
    let slopes: Vec<f64> = blocks.iter().map(|times| slope.of(times)).collect();
    let means: Vec<f64> = (0..levels.len()).map(|at| mean(blocks.iter().map(|times| times[at]))).collect();
    let slope_ns = mean(slopes.iter().copied());
    let base_ns = mean(means.iter().copied()) - slope_ns * mean(levels.iter().copied());
    Some(CopiesLine {
        blocks: blocks.len() as u64,
        slope_ns,
        base_ns,
        slope_interval_ns: Spread::of(&slopes).map(|spread| spread.interval()),
        shape: shape(levels, blocks, &means, &slope),
    })
}

fn shape(levels: &[f64], blocks: &[Vec<f64>], means: &[f64], slope: &Contrast) -> CopiesShape {
    let Some(square) = Contrast::square(levels).filter(|_| levels.len() >= LEVELS_NEEDED) else {
        return CopiesShape::TooFew;
    };
    let squares: Vec<f64> = blocks.iter().map(|times| square.of(times)).collect();
    let Some(spread) = Spread::of(&squares) else { return CopiesShape::TooFew };
    let greatest =
        |off: &[f64]| off.iter().zip(means).map(|(off, mean)| (off / mean).abs()).fold(0.0, f64::max);
    let off = greatest(&slope.off_line(means));
    let matters = |off: &[f64]| greatest(off) >= STRAIGHT_WITHIN;
    let beyond = |times: &[f64]| square.off_curve(&slope.off_line(times));
    let curved: Vec<f64> = square.leftovers.iter().map(|leftover| leftover * spread.mean).collect();
    match (p_of_fit(&blocks.iter().map(|times| beyond(times)).collect::<Vec<_>>()), spread.p()) {
        (p, _) if matters(&beyond(means)) && p < UNEVEN_BELOW => CopiesShape::Uneven { off, p },
        (_, p) if matters(&curved) && p < CURVED_BELOW && spread.mean > 0.0 => CopiesShape::Upward { p },
        (_, p) if matters(&curved) && p < CURVED_BELOW => CopiesShape::Downward { p },
        _ => CopiesShape::Straight { off },
    }
}

/// How probable it is by chance that some level is as far off the curves of all blocks, of which each has what is left at each level.
fn p_of_fit(off: &[Vec<f64>]) -> f64 {
    let levels = off.first().map_or(0, Vec::len);
    let of_level = |level: usize| Spread::of(&off.iter().map(|off| off[level]).collect::<Vec<_>>());
    let least = (0..levels).filter_map(of_level).map(Spread::p).fold(1.0, f64::min);
    (least * levels as f64).min(1.0)
}

/// A coefficient of least squares on levels, as a weighted sum of the times there.
struct Contrast {
    /// What is left of its term beside those of lower order.
    leftovers: Vec<f64>,
    square_sum: f64,
}

impl Contrast {
    /// That of the level itself; `None` if there is only one.
    fn slope(levels: &[f64]) -> Option<Self> {
        let middle = mean(levels.iter().copied());
        Self::of_leftovers(levels.iter().map(|level| level - middle).collect())
    }

    /// That of its square; `None` with fewer than three levels.
    fn square(levels: &[f64]) -> Option<Self> {
        let slope = Self::slope(levels)?;
        let squares: Vec<f64> = slope.leftovers.iter().map(|level| level * level).collect();
        let (middle, steep) = (mean(squares.iter().copied()), slope.of(&squares));
        let left =
            squares.iter().zip(&slope.leftovers).map(|(square, level)| square - middle - steep * level);
        // What rounding leaves of two levels is nothing.
        Self::of_leftovers(left.collect()).filter(|_| levels.len() > 2)
    }

    fn of_leftovers(leftovers: Vec<f64>) -> Option<Self> {
        let square_sum = leftovers.iter().map(|left| left * left).sum();
        (square_sum > 0.0).then_some(Self { leftovers, square_sum })
    }

    /// Of the slope: what is left of these times beside their line.
    fn off_line(&self, times: &[f64]) -> Vec<f64> {
        let (middle, steep) = (mean(times.iter().copied()), self.of(times));
        times.iter().zip(&self.leftovers).map(|(time, level)| time - middle - steep * level).collect()
    }

    /// Of the square: what is left of what is off the line.
    fn off_curve(&self, off_line: &[f64]) -> Vec<f64> {
        let curved = self.of(off_line);
        off_line.iter().zip(&self.leftovers).map(|(off, square)| off - curved * square).collect()
    }

    fn of(&self, times: &[f64]) -> f64 {
        self.leftovers.iter().zip(times).map(|(left, time)| left * time).sum::<f64>() / self.square_sum
    }
}

/// A mean over units, and how far it may be off.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spread {
    pub mean: f64,
    error: f64,
    freedom: f64,
}

impl Spread {
    /// `None` with fewer than [`BLOCKS_NEEDED`].
    pub fn of(values: &[f64]) -> Option<Self> {
        let count = values.len() as f64;
        let middle = mean(values.iter().copied());
        let squares: f64 = values.iter().map(|value| (value - middle).powi(2)).sum();
        let error = (squares / (count - 1.0) / count).sqrt();
        (values.len() >= BLOCKS_NEEDED).then_some(Self { mean: middle, error, freedom: count - 1.0 })
    }

    pub fn interval(self) -> [f64; 2] {
        let reach = self.reach(CONFIDENCE);
        [self.mean - reach, self.mean + reach]
    }

    /// How far the truth may be to either side.
    pub fn reach(self, confidence: f64) -> f64 {
        student_two_sided(self.freedom, confidence) * self.error
    }

    fn p(self) -> f64 {
        student_p(self.freedom, self.mean / self.error)
    }
}

pub(super) fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / count
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_model::Random;

    const LEVELS: [f64; 4] = [1.0, 2.0, 4.0, 8.0];

    /// Blocks whose times are those of `truth` with a spread of this share.
    fn blocks(count: usize, spread: f64, seed: u64, truth: impl Fn(f64) -> f64) -> Vec<Vec<f64>> {
        let mut noise = Random::new(seed);
        let block = |_| LEVELS.map(|level| truth(level) * (1.0 + spread * noise.normal())).to_vec();
        (0..count).map(block).collect()
    }

    #[test]
    fn a_line_without_noise_is_found_as_it_is() {
        let found = copies_line(&LEVELS, &blocks(3, 0.0, 1, |copies| 5.0 + 21.0 * copies)).unwrap();
        assert!((found.slope_ns - 21.0).abs() < 1e-9 && (found.base_ns - 5.0).abs() < 1e-9, "{found:?}");
        assert!(matches!(found.shape, CopiesShape::Straight { off } if off < 1e-9), "{found:?}");
        let [low, high] = found.slope_interval_ns.unwrap();
        assert!(low <= 21.0 + 1e-9 && high >= 21.0 - 1e-9 && high - low < 1e-6);
    }

    #[test]
    fn few_blocks_have_a_slope_and_nothing_more_and_one_level_has_no_line() {
        let found = copies_line(&LEVELS, &blocks(2, 0.01, 1, |copies| copies)).unwrap();
        assert_eq!((found.blocks, found.slope_interval_ns, found.shape), (2, None, CopiesShape::TooFew));
        assert_eq!(copies_line(&[3.0], &[vec![1.0]]), None);
        assert_eq!(copies_line(&LEVELS, &[]), None);
        let two = copies_line(&[1.0, 2.0], &[vec![1.0, 2.0], vec![1.0, 2.1], vec![1.0, 1.9]]).unwrap();
        assert_eq!(two.shape, CopiesShape::TooFew);
        assert!(two.slope_interval_ns.is_some());
    }

    #[test]
    fn curves_are_told_by_their_direction() {
        let up =
            copies_line(&LEVELS, &blocks(9, 0.02, 2, |copies| 10.0 + 5.0 * copies + 2.0 * copies * copies))
                .unwrap();
        assert!(matches!(up.shape, CopiesShape::Upward { p } if p < 0.01), "{up:?}");
        let down = copies_line(&LEVELS, &blocks(9, 0.02, 3, |copies| 10.0 * copies.sqrt())).unwrap();
        assert!(matches!(down.shape, CopiesShape::Downward { p } if p < 0.01), "{down:?}");
        // A curve of a hundredth is none that matters, however sure it is.
        let hardly =
            copies_line(&LEVELS, &blocks(9, 0.0, 3, |copies| 100.0 + copies + 0.05 * copies * copies))
                .unwrap();
        assert!(matches!(hardly.shape, CopiesShape::Straight { off } if off > 0.001), "{hardly:?}");
    }

    #[test]
    fn steps_and_bends_are_no_line_also_where_they_are_no_curve() {
        // Of 1, 2, 4 and 8 copies: the third is off any curve.
        let bend = |copies: f64| if copies == 4.0 { 38.0 } else { 10.0 + 4.0 * copies };
        let found = copies_line(&LEVELS, &blocks(9, 0.02, 5, bend)).unwrap();
        assert!(matches!(found.shape, CopiesShape::Uneven { off, p } if off > 0.15 && p < 0.01), "{found:?}");
        // Where that is not shown it is told nevertheless how far they are off.
        let found = copies_line(&LEVELS, &blocks(3, 0.3, 6, bend)).unwrap();
        assert!(matches!(found.shape, CopiesShape::Straight { off } if off > STRAIGHT_WITHIN), "{found:?}");
    }

    #[test]
    fn lines_are_rarely_taken_for_curves_and_intervals_hold_the_slope_also_if_the_spread_grows() {
        let (mut curved, mut held) = (0, 0);
        for seed in 0..400 {
            let found =
                copies_line(&LEVELS, &blocks(5, 0.2, 100 + seed, |copies| 3.0 + 2.0 * copies)).unwrap();
            let [low, high] = found.slope_interval_ns.unwrap();
            held += u32::from(low <= 2.0 && 2.0 <= high);
            curved += u32::from(!matches!(found.shape, CopiesShape::Straight { .. }));
        }
        assert!((370..=393).contains(&held) && curved <= 30, "{held} of 400 hold it, {curved} are curved");
    }
}
