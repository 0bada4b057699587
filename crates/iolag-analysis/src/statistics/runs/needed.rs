//! How many more runs would tell.

use super::difference::{RunPairing, worth_of};
use super::log_range::LogRange;
use crate::statistics::student::student_two_sided;

/// With fewer runs on a side nothing is said: of three the interval of a table of eight cells is seven times as wide as they are apart.
pub const RUNS_LEAST: usize = 4;
/// Nobody makes more blocks than this.
const BLOCKS_MOST: usize = 10_000;
/// By ranks no level of a table needs more.
const RANKS_MOST: usize = 64;

/// How many more runs the side that has fewer must have, before anything can be said at this level.
pub(super) fn lacking(pairing: &RunPairing, level: f64) -> usize {
    let counts = pairing.counts();
    let have = counts[0].min(counts[1]);
    let is_known = pairing.is_known();
    let suffices = |runs: &usize| *runs >= RUNS_LEAST && (is_known || least_p(pairing, *runs) < level);
    (have..have + RANKS_MOST).find(suffices).map_or(RANKS_MOST, |runs| runs - have)
}

/// The least p by ranks, with at least so many runs on either side: if all are in one order.
fn least_p(pairing: &RunPairing, runs: usize) -> f64 {
    let counts = pairing.counts().map(|count| count.max(runs));
    let tail = match pairing {
        RunPairing::Blocks(_) | RunPairing::TurnedBlocks(_) | RunPairing::Days(_) => {
            0.5_f64.powi(runs as i32)
        }
        RunPairing::Apart(_) | RunPairing::DaysApart(_) => {
            let [base, other] = counts;
            in_one_order(base, other)
        }
        RunPairing::Strata(strata) => {
            // With as many more in each.
            let have = pairing.counts().into_iter().min().unwrap_or(0).max(1);
            let of_side = |side: &Vec<LogRange>| (side.len() * runs / have).max(side.len());
            strata.iter().map(|[base, other]| in_one_order(of_side(base), of_side(other))).product()
        }
    };
    worth_of(pairing, counts).p(2.0 * tail)
}

/// The probability that all runs of one side come before those of the other.
fn in_one_order(base: usize, other: usize) -> f64 {
    (1..=base).map(|k| k as f64 / (other + k) as f64).product()
}

/// About so many more runs of each side make half of the interval at this level at most `half_width` wide, if they are as far apart as those
/// that there are; `None` if it is narrow enough, and if that takes too many.
pub(crate) fn more_for(pairing: &RunPairing, spread: f64, half_width: f64, level: f64) -> Option<u32> {
    let have = pairing.counts().into_iter().min()?;
    let more = blocks_for(spread, half_width, level)?.checked_sub(have)?;
    (more > 0).then_some(more as u32)
}

/// The least number of blocks that makes half of the interval at this level at most `half_width` wide; `None` if that takes too many.
fn blocks_for(spread: f64, half_width: f64, level: f64) -> Option<usize> {
    let is_narrow = |blocks: usize| {
        let count = blocks as f64;
        student_two_sided(count - 1.0, 1.0 - level) * spread / count.sqrt() <= half_width
    };
    let (mut wide, mut narrow) = (RUNS_LEAST, BLOCKS_MOST);
    if is_narrow(wide) {
        return Some(wide);
    }
    if !is_narrow(narrow) {
        return None;
    }
    while narrow - wide > 1 {
        let middle = usize::midpoint(wide, narrow);
        if is_narrow(middle) { narrow = middle } else { wide = middle }
    }
    Some(narrow)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(count: usize, last: LogRange) -> RunPairing {
        let mut blocks = vec![[LogRange::exactly(0.0), LogRange::exactly(0.1)]; count];
        blocks.iter_mut().last().into_iter().for_each(|block| block[1] = last);
        RunPairing::Blocks(blocks)
    }

    #[test]
    fn one_run_a_side_needs_three_more() {
        let known = |count| blocks(count, LogRange::exactly(0.2));
        assert_eq!([1, 3, 4, 9].map(|count| lacking(&known(count), 0.05)), [3, 1, 0, 0]);
        let apart = |base: usize, other: usize| {
            RunPairing::Apart([base, other].map(|count| vec![LogRange::exactly(0.0); count]))
        };
        assert_eq!([lacking(&apart(1, 20), 0.05), lacking(&apart(5, 4), 0.05)], [3, 0]);
    }

    #[test]
    fn bounds_need_as_many_as_ranks_do() {
        let hung = |count| blocks(count, LogRange::at_most(0.0));
        assert_eq!([1, 5, 6].map(|count| lacking(&hung(count), 0.05)), [5, 1, 0]);
        assert_eq!([4, 8, 9].map(|count| lacking(&hung(count), 0.05 / 8.0)), [5, 1, 0]);
        // 2 / C(8, 4) = 0.029, 2 / C(12, 6) = 0.0022, 2 / C(11, 5) = 0.0043.
        let apart = |base: usize, other: usize| {
            let values = |count| vec![LogRange::at_most(0.0); count];
            RunPairing::Apart([values(base), values(other)])
        };
        assert_eq!([lacking(&apart(4, 4), 0.05), lacking(&apart(4, 4), 0.05 / 8.0)], [0, 2]);
        assert_eq!([lacking(&apart(5, 6), 0.05 / 8.0), lacking(&apart(5, 5), 0.05 / 8.0)], [0, 1]);
    }

    #[test]
    fn blocks_are_the_least_that_suffice() {
        let half =
            |blocks: f64, level: f64| student_two_sided(blocks - 1.0, 1.0 - level) * 0.07 / blocks.sqrt();
        for (width, level) in [(0.0488, 0.05 / 8.0), (0.0488, 0.05), (0.0198, 0.05), (0.01, 0.01)] {
            let found = blocks_for(0.07, width, level).unwrap() as f64;
            assert!(half(found, level) <= width && half(found - 1.0, level) > width, "{found}");
        }
        assert_eq!(blocks_for(0.0, 0.01, 0.05), Some(RUNS_LEAST));
        assert_eq!([blocks_for(0.07, 0.0, 0.05), blocks_for(f64::NAN, 0.1, 0.05)], [None, None]);
    }
}
