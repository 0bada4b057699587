//! How many jobs are lost to the limit, and whether that is shown to be few enough.
//!
//! Copies of a run share its luck: what slows one down slows down all, most of all what is rare. So runs count, and not copies, and the interval of the
//! share is that of Clopper and Pearson for as many as there are runs. Only where copies were over in [`RUNS_TELLING`] runs at least is it seen how much they share: with
//! a coefficient ρ of intraclass correlation of whether they were over, from the analysis of variance, n copies in runs of m are worth n / (1 + (m - 1) ρ)
//! (Kish 1965; Korn and Graubard 1998).
//!
//! Several numbers of copies are held against one limit, of which luck would let one pass more often than any by itself. So the intervals are those that hold
//! for all numbers together (Bonferroni).

use serde::{Deserialize, Serialize};

use super::slot::JobsOfRun;
use crate::statistics::interval::ranks_and_shares::{ShareInterval, share_interval_of_several};

/// Runs in which something was over, of which fewer do not tell how much copies share.
const RUNS_TELLING: usize = 8;
/// More repetitions than this are not advised.
const REPETITIONS_MOST: u64 = 100_000;

/// Jobs that were lost to the limit, of one number of copies.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct JobTimeouts {
    /// Copies of all runs.
    pub copies: u64,
    /// Known to have taken longer than the limit.
    pub over: u64,
    /// Did not come to their ends before, so that it is not known.
    pub undecided: u64,
    /// As many copies that share no luck would tell as much.
    pub worth: f64,
    /// 95 % interval of the share that is over, for all numbers of copies together.
    pub interval: ShareInterval,
    /// Whether that is few enough.
    pub verdict: LimitVerdict,
}

/// Whether as few jobs are lost as may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LimitVerdict {
    /// The interval ends below what may be lost.
    Keeps,
    /// The interval begins beyond it.
    Breaks,
    /// Neither.
    TooWide(Needed),
}

/// Repetitions that would show whether as few are lost as may be; absent if those are very many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Needed {
    /// If the share and the likeness of copies stay what they were: then about every other campaign would show it.
    pub if_same: Option<u64>,
    /// If no more are over than until now: then they would show that few enough are.
    pub if_no_more: Option<u64>,
}

/// What is lost of one number of copies, of whose runs these jobs are, beside so many numbers in all.
pub(super) fn timeouts(jobs: &[JobsOfRun], at_most: f64, numbers: usize) -> JobTimeouts {
    let sum = |of: fn(&JobsOfRun) -> u64| jobs.iter().map(of).sum::<u64>();
    let (copies, over, undecided) = (sum(|run| run.copies), sum(|run| run.over), sum(|run| run.undecided));
    let in_run = copies as f64 / jobs.len().max(1) as f64;
    let worth = copies as f64 / (1.0 + (in_run - 1.0).max(0.0) * likeness(jobs));
    let part = |some: u64| some as f64 / copies.max(1) as f64;
    let (known, possible) = (part(over), part(over + undecided));
    let of = |share: f64, worth: f64| share_interval_of_several(share * worth, worth, numbers);
    let interval = ShareInterval { low: of(known, worth).low, high: of(possible, worth).high };
    let verdict = match () {
        () if interval.high <= at_most => LimitVerdict::Keeps,
        () if interval.low > at_most => LimitVerdict::Breaks,
        () => {
            let times = |runs: u64| worth * runs as f64 / jobs.len().max(1) as f64;
            let is_shown = |share: f64, worth: f64| match possible > at_most {
                true => of(share, worth).low > at_most,
                false => of(share, worth).high <= at_most,
            };
            LimitVerdict::TooWide(Needed {
                if_same: fewest(|runs| {
                    is_shown(if possible > at_most { known } else { possible }, times(runs))
                }),
                if_no_more: fewest(|runs| of(possible * worth / times(runs), times(runs)).high <= at_most)
                    .filter(|runs| *runs > jobs.len() as u64),
            })
        }
    };
    JobTimeouts { copies, over, undecided, worth, interval, verdict }
}

/// The fewest runs that are enough, if that is not very many.
fn fewest(is_enough: impl Fn(u64) -> bool) -> Option<u64> {
    let (mut few, mut enough) = (0, 1);
    while !is_enough(enough) {
        (few, enough) = (enough, enough * 2);
        if enough > REPETITIONS_MOST {
            return None;
        }
    }
    while enough - few > 1 {
        let middle = few.midpoint(enough);
        if is_enough(middle) { enough = middle } else { few = middle }
    }
    Some(enough)
}

/// How much copies of a run resemble each other in being over: 1 if all of it are or none, 0 if they might as well be of different runs. By the analysis of
/// variance of a balanced layout (Fisher 1925).
fn likeness(jobs: &[JobsOfRun]) -> f64 {
    let shares: Vec<f64> =
        jobs.iter().map(|run| (run.over + run.undecided) as f64 / run.copies as f64).collect();
    if shares.iter().filter(|share| **share > 0.0).count() < RUNS_TELLING {
        return 1.0;
    }
    let runs = shares.len() as f64;
    let in_run = jobs.iter().map(|run| run.copies as f64).sum::<f64>() / runs;
    if in_run <= 1.0 {
        return 1.0;
    }
    let middle = shares.iter().sum::<f64>() / runs;
    let within =
        shares.iter().map(|share| share * (1.0 - share)).sum::<f64>() / runs * in_run / (in_run - 1.0);
    let of_means = shares.iter().map(|share| (share - middle).powi(2)).sum::<f64>() / (runs - 1.0);
    let between = (of_means - within / in_run).max(0.0);
    if between + within > 0.0 { between / (between + within) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jobs(runs: usize, copies: u64, over: u64) -> Vec<JobsOfRun> {
        let run = JobsOfRun {
            copies,
            over,
            undecided: 0,
            set_up_ns: 1.0,
            done: 1.0,
            set_up: 1.0,
            processor_ns: 0.0,
            slot_ns: 1.0,
            least_ns: Some(1.0),
        };
        vec![run; runs]
    }

    fn alone(jobs: &[JobsOfRun], at_most: f64) -> JobTimeouts {
        timeouts(jobs, at_most, 1)
    }

    fn too_wide(if_same: Option<u64>, if_no_more: Option<u64>) -> LimitVerdict {
        LimitVerdict::TooWide(Needed { if_same, if_no_more })
    }

    #[test]
    fn runs_count_where_nothing_was_over() {
        let none = alone(&jobs(3, 8, 0), 0.05);
        assert_eq!((none.copies, none.over, none.worth), (24, 0, 3.0));
        // Clopper and Pearson: 1 - 0.025^(1/3).
        assert!((none.interval.high - 0.707_598).abs() < 1e-5, "{none:?}");
        // 1 - 0.025^(1/72) is the first below 0.05, and 1 - 0.025^(1/368) below 0.01.
        assert_eq!(none.verdict, too_wide(Some(72), Some(72)));
        assert_eq!(alone(&jobs(3, 8, 0), 0.01).verdict, too_wide(Some(368), Some(368)));
        assert_eq!(alone(&jobs(72, 1, 0), 0.05).verdict, LimitVerdict::Keeps);
        // One of six that are alike: 1 - (0.025 / 6)^(1/107) is the first below 0.05.
        assert_eq!(timeouts(&jobs(72, 1, 0), 0.05, 6).verdict, too_wide(Some(107), Some(107)));
        // That none at all is lost nothing can show.
        assert_eq!(alone(&jobs(72, 1, 0), 0.0).verdict, too_wide(None, None));
    }

    #[test]
    fn luck_lets_a_number_pass_in_one_of_forty_campaigns_however_many_are_asked() {
        let mut luck = iolag_model::Random::new(4);
        let mut passed = 0;
        for _ in 0..400 {
            let mut is_kept = |_| {
                let mut runs = jobs(107, 1, 0);
                runs.iter_mut().for_each(|run| run.over = u64::from(luck.unit() < 0.051));
                timeouts(&runs, 0.05, 6).verdict == LimitVerdict::Keeps
            };
            passed += u32::from((0..6).any(&mut is_kept));
        }
        assert!(passed <= 20, "{passed} of 400");
    }

    #[test]
    fn where_many_runs_had_some_over_it_is_seen_how_much_they_share() {
        // The same in each run: nothing is shared, and 200 copies are 200.
        let alike = alone(&jobs(20, 10, 1), 0.2);
        assert_eq!((alike.over, alike.worth, alike.verdict), (20, 200.0, LimitVerdict::Keeps));
        // All copies of ten runs and none of the others.
        let mut whole = jobs(20, 10, 0);
        whole.iter_mut().step_by(2).for_each(|run| run.over = 10);
        let whole = alone(&whole, 0.2);
        assert_eq!((whole.worth, whole.verdict), (20.0, LimitVerdict::Breaks));
        // Of one run alone: nobody knows whether that is how they come.
        let mut of_one = jobs(20, 8, 0);
        of_one[3].over = 1;
        let found = alone(&of_one, 0.1);
        assert_eq!(found.worth, 20.0);
        let LimitVerdict::TooWide(needed) = found.verdict else { panic!("{found:?}") };
        assert!(needed.if_no_more > Some(20) && needed.if_no_more < needed.if_same, "{needed:?}");
    }

    #[test]
    fn only_an_interval_beyond_it_breaks_the_limit_and_what_nobody_knows_is_over() {
        // One of three runs: the truth may be 1 % as well.
        let few = alone(&jobs(3, 8, 1), 0.05).verdict;
        assert!(
            matches!(few, LimitVerdict::TooWide(Needed { if_same: Some(_), if_no_more: Some(_) })),
            "{few:?}"
        );
        assert_eq!(alone(&jobs(9, 8, 8), 0.05).verdict, LimitVerdict::Breaks);
        let mut unknown = jobs(20, 8, 0);
        unknown[3].undecided = 8;
        let found = alone(&unknown, 0.1);
        assert_eq!((found.over, found.undecided, found.interval.low), (0, 8, 0.0));
        assert!(found.interval.high > 0.1);
        // As much as may be is never shown to be less.
        let LimitVerdict::TooWide(needed) = alone(&jobs(3, 10, 1), 0.1).verdict else {
            panic!("it is not known")
        };
        assert!(needed.if_same.is_none() && needed.if_no_more.is_some(), "{needed:?}");
    }
}
