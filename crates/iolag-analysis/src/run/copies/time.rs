//! Copies of a job: how long each took, and how many took longer than is allowed.

use iolag_model::{ClientId, Nanoseconds, StageIndex};
use serde::{Deserialize, Serialize};

use crate::run::summary::{StageEnding, Summaries};
use crate::statistics::interval::ranks_and_shares::{ShareInterval, share_interval};

/// How long a copy took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopyTime {
    /// Which.
    pub client: ClientId,
    /// From its first call to the end of its last; of one that did not come to its end, at least that.
    pub time_ns: Nanoseconds,
    /// Whether it did.
    pub ending: CopyEnding,
}

impl CopyTime {
    /// Whether it is known to have taken longer than this.
    pub(crate) fn is_over(&self, limit_ns: Nanoseconds) -> bool {
        match self.ending {
            CopyEnding::Ended => self.time_ns > limit_ns,
            // It was not done then.
            CopyEnding::TimedOut | CopyEnding::Stopped => self.time_ns >= limit_ns,
        }
    }
}

/// How a copy ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CopyEnding {
    /// It made all its calls.
    Ended,
    /// It was ended after as long as it was allowed.
    TimedOut,
    /// It was stopped.
    Stopped,
}

/// The median of all copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopiesTime {
    /// It, or what it is at least.
    pub median_ns: Nanoseconds,
    /// Whether the longest copies, which did not come to their ends, may move it.
    pub is_at_least: bool,
}

/// How many copies took longer than is allowed. Nothing is done about them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CopiesJudgement {
    /// How long a copy may take.
    pub limit_ns: Nanoseconds,
    /// Copies in all.
    pub copies: u64,
    /// Known to have taken longer.
    pub over: u64,
    /// Did not come to their ends before, so that it is not known.
    pub undecided: u64,
    /// The share of such copies that take longer, as if each were independent of the others; exact (Clopper and Pearson).
    pub interval: ShareInterval,
}

/// Each copy that began this stage, in their order; one that was not done with it after `kill_after_ns` was ended for that.
pub(crate) fn copies_in(
    stage: StageIndex,
    kill_after_ns: Option<Nanoseconds>,
    summaries: &Summaries,
) -> Vec<CopyTime> {
    let began = summaries.stage_clients.iter().filter(|client| client.stage == stage);
    let mut copies: Vec<CopyTime> = began
        .map(|client| CopyTime {
            client: client.client,
            time_ns: client.duration_ns,
            ending: match (client.ending, kill_after_ns) {
                (StageEnding::Ended, _) => CopyEnding::Ended,
                (StageEnding::Unfinished, Some(limit)) if client.duration_ns >= limit => CopyEnding::TimedOut,
                (StageEnding::Unfinished, _) => CopyEnding::Stopped,
            },
        })
        .collect();
    copies.sort_by_key(|copy| copy.client);
    copies
}

/// Their median; of an even number the middle of the middle two.
pub(crate) fn median_of_copies(copies: &[CopyTime]) -> Option<CopiesTime> {
    let mut times: Vec<Nanoseconds> = copies.iter().map(|copy| copy.time_ns).collect();
    times.sort_unstable();
    let (lower, upper) = (*times.get(times.len().checked_sub(1)? / 2)?, *times.get(times.len() / 2)?);
    let is_open = |copy: &CopyTime| copy.ending != CopyEnding::Ended && copy.time_ns <= upper;
    let median_ns = Nanoseconds(lower.0 + (upper.0 - lower.0) / 2);
    Some(CopiesTime { median_ns, is_at_least: copies.iter().any(is_open) })
}

/// How many of the copies of a run took longer than `limit_ns`; those that never said how long are undecided.
pub(crate) fn judge(copies: &[CopyTime], all: u32, limit_ns: Nanoseconds) -> CopiesJudgement {
    let silent = u64::from(all).saturating_sub(copies.len() as u64);
    let over = copies.iter().filter(|copy| copy.is_over(limit_ns)).count() as u64;
    let ended = copies.iter().filter(|copy| copy.ending == CopyEnding::Ended);
    let within = ended.filter(|copy| copy.time_ns <= limit_ns).count() as u64;
    let copies = copies.len() as u64 + silent;
    let undecided = copies - over - within;
    let interval = ShareInterval {
        low: share_interval(over as f64, copies as f64).low,
        high: share_interval((over + undecided) as f64, copies as f64).high,
    };
    CopiesJudgement { limit_ns, copies, over, undecided, interval }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copy(seconds: u64, ending: CopyEnding) -> CopyTime {
        CopyTime { client: ClientId(0), time_ns: Nanoseconds::from_seconds(seconds), ending }
    }

    use CopyEnding::{Ended, Stopped, TimedOut};

    #[test]
    fn copies_over_the_limit_are_counted_and_those_of_which_nobody_knows_are_not_taken_for_fast() {
        let limit = Nanoseconds::from_seconds(600);
        let all =
            [copy(600, Ended), copy(601, Ended), copy(600, TimedOut), copy(700, Stopped), copy(5, Stopped)];
        let judged = judge(&all, 6, limit);
        assert_eq!((judged.copies, judged.over, judged.undecided), (6, 3, 2));
        let none = judge(&[copy(1, Ended); 24], 24, limit);
        assert_eq!((none.over, none.undecided, none.interval.low), (0, 0, 0.0));
        // Clopper and Pearson: 1 - 0.025^(1/24).
        assert!((none.interval.high - 0.142_469).abs() < 1e-5, "{:?}", none.interval);
        // One of twenty: the table of the exact interval.
        let mut some = vec![copy(1, Ended); 19];
        some.push(copy(601, Ended));
        let interval = judge(&some, 20, limit).interval;
        assert!((interval.low - 0.001_265).abs() < 1e-5 && (interval.high - 0.248_733).abs() < 1e-5);
    }

    #[test]
    fn the_median_is_known_if_all_that_were_ended_are_beyond_it() {
        let median = |copies: &[CopyTime]| median_of_copies(copies);
        let known = CopiesTime { median_ns: Nanoseconds::from_seconds(2), is_at_least: false };
        assert_eq!(median(&[copy(1, Ended), copy(2, Ended), copy(9, TimedOut)]), Some(known));
        let bound = median(&[copy(3, Ended), copy(2, TimedOut)]).unwrap();
        assert_eq!((bound.median_ns.0, bound.is_at_least), (2_500_000_000, true));
        assert_eq!(median(&[]), None);
    }
}
