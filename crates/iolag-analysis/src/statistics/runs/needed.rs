//! How many more runs would tell.

use super::log_range::LogRange;
use super::pairing::{RunPairing, likeness_of, worth_of};

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
    let likeness = likeness_of(pairing);
    let of_ranks = |runs: usize| {
        let counts = counts.map(|count| count.max(runs));
        worth_of(pairing, likeness, counts).map_or(level, |worth| worth.level(level))
    };
    let suffices =
        |runs: &usize| *runs >= RUNS_LEAST && (is_known || least_p(pairing, *runs) < of_ranks(*runs));
    (have..have + RANKS_MOST).find(suffices).map_or(RANKS_MOST, |runs| runs - have)
}

/// The least p of ranks, with at least so many runs on either side: if all are in one order.
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
    2.0 * tail
}

/// The probability that all runs of one side come before those of the other.
fn in_one_order(base: usize, other: usize) -> f64 {
    (1..=base).map(|k| k as f64 / (other + k) as f64).product()
}

/// So many more than there are make half of an interval at most `half_width` wide, whose half has this `reach` of so many; `None` if it is narrow enough, and if
/// that takes too many.
pub(super) fn more_for(have: usize, reach: impl Fn(usize) -> f64, half_width: f64) -> Option<u32> {
    let more = least_for(reach, half_width)?.checked_sub(have)?;
    (more > 0).then_some(more as u32)
}

/// The least number of blocks, or days, that does; `None` if that takes too many.
fn least_for(reach: impl Fn(usize) -> f64, half_width: f64) -> Option<usize> {
    let is_narrow = |blocks: usize| reach(blocks) <= half_width;
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
    use super::super::difference::RunDifference;
    use super::*;
    use crate::statistics::student::student_two_sided;

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
        let half = |blocks: usize, level: f64| {
            let count = blocks as f64;
            student_two_sided(count - 1.0, 1.0 - level) * 0.07 / count.sqrt()
        };
        for (width, level) in [(0.0488, 0.05 / 8.0), (0.0488, 0.05), (0.0198, 0.05), (0.01, 0.01)] {
            let found = least_for(|blocks| half(blocks, level), width).unwrap();
            assert!(half(found, level) <= width && half(found - 1, level) > width, "{found}");
            assert_eq!(more_for(5, |blocks| half(blocks, level), width), Some(found as u32 - 5));
        }
        assert_eq!(least_for(|_| 0.0, 0.01), Some(RUNS_LEAST));
        assert_eq!([least_for(|_| 0.07, 0.0), least_for(|_| f64::NAN, 0.1)], [None, None]);
    }

    /// What few days may hide is less of more of them.
    #[test]
    fn more_days_hide_less() {
        let days = |count: usize| -> RunPairing {
            let luck = |day: usize| [0.1, -0.1, -0.1, 0.1][day % 4] + if day % 8 < 4 { 0.01 } else { -0.01 };
            let pairs = (0..count).map(|day| [LogRange::exactly(0.0), LogRange::exactly(luck(day))]);
            RunPairing::Days(pairs.collect())
        };
        let reach = |count: usize| RunDifference::of(&days(count), 0.0).unwrap().interval_at(0.05).high();
        let more = RunDifference::of(&days(16), 0.0).unwrap().more_for(0.04, 0.05).unwrap() as usize;
        // Of 16 + more the interval is about as wide as asked for, and not of half as many more.
        assert!(reach(16 + more) < 0.045 && reach(16 + more / 2) > 0.04, "{more}: {}", reach(16 + more));
    }
}
