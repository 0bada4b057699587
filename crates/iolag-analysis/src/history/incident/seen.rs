//! How long attempts in bad times took where they are too few to compare.

use serde::Serialize;

use crate::history::series::observations::{ByTime, Observation, Observations};
use crate::history::series::shares::OutcomeRates;
use crate::statistics::knowledge::Knowledge;

/// How long attempts in bad times took, seen without any statistics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Seen {
    /// None failed, or took longer than the slowest at other times.
    Usual,
    /// Some did.
    Unusual,
    /// Half of them and more took longer than 95 of 100 at other times, and twice as long as usual; of one or two attempts each took longer
    /// than the slowest at other times.
    Slower {
        /// How many took longer than 95 of 100 at other times.
        beyond: u64,
        /// Of how many: attempts, and slots that were lost to one.
        of: u64,
    },
}

impl Seen {
    /// Of attempts and slots in bad times, which ended as `during` tells, and at other times.
    pub(crate) fn of(
        during: &OutcomeRates,
        while_bad: &Observations<ByTime>,
        usual: &Observations<ByTime>,
    ) -> Self {
        let mut bad: Vec<f64> = while_bad.list().iter().map(least_of).collect();
        let mut usual = usual.ordered();
        bad.sort_unstable_by(f64::total_cmp);
        usual.sort_unstable_by(f64::total_cmp);
        let slowest = usual.last().copied().unwrap_or(f64::NEG_INFINITY);
        let has_all_as_usual =
            during.attempts == during.ok && bad.last().is_none_or(|longest| *longest <= slowest);
        if let (Some(shortest), true) = (bad.first(), usual.len() >= USUAL_LEAST) {
            let limit = usual[(95 * usual.len()).div_ceil(100) - 1];
            let (middle, usual_middle) = (bad[(bad.len() - 1) / 2], usual[usual.len() / 2]);
            let is_plain = bad.len() > 2 || *shortest > slowest;
            if is_plain && middle > limit && middle >= SEEN_RATIO * usual_middle {
                let beyond = bad.iter().filter(|amount| **amount > limit).count() as u64;
                return Self::Slower { beyond, of: bad.len() as u64 };
            }
        }
        if has_all_as_usual { Self::Usual } else { Self::Unusual }
    }
}

/// Attempts at other times that tell what is usual.
const USUAL_LEAST: usize = 6;
/// What takes this many times as long is plainly slower.
const SEEN_RATIO: f64 = 2.0;

/// It took at least so long.
fn least_of(one: &Observation) -> f64 {
    if one.knowledge == Knowledge::AtMost { f64::NEG_INFINITY } else { one.amount }
}
