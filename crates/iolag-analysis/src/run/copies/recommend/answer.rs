//! The number of copies that is advised, or what to measure before one can be.
//!
//! Among the numbers of copies that are shown to keep the limit of time-outs the best does the most jobs per hour. The *plateau* are those that are
//! not shown to do more than [`SAME_WITHIN`] fewer: the one-sided interval of the ratio, in blocks, at a confidence of 95 % for all of them together
//! (Bonferroni), does not end below 1 - [`SAME_WITHIN`]. So the truly best of them is in the plateau in at least 95 of 100 campaigns: a subset that
//! contains the best (Gupta 1965; Hsu 1984). What is advised is the smallest of the plateau whose estimate is no further from the best either: others may
//! be in it only because little is known of them.

use serde::{Deserialize, Serialize};

use super::level::{JobLevel, JobStanding, Measured, SAME_WITHIN};
use super::share::LimitVerdict;
use super::slot::{JobBound, JobQuestion};
use crate::run::copies::line::{BLOCKS_NEEDED, LEVELS_NEEDED};
use crate::run::copies::of_run::CopiesRun;
use crate::statistics::student::CONFIDENCE;

/// What is said of the copies of a job on one target or side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recommendation {
    /// Side, or target as the user named it.
    pub target: String,
    /// What was asked.
    pub question: JobQuestion,
    /// Processors that the copies could use; 0 if it is not known.
    pub cpus: u32,
    /// Each number of copies, ascending.
    pub levels: Vec<JobLevel>,
    /// What is advised.
    pub answer: JobAnswer,
}

impl Recommendation {
    /// So many copies, if they were measured.
    pub fn level(&self, copies: u32) -> Option<&JobLevel> {
        self.levels.iter().find(|level| level.copies == copies)
    }
}

/// What is advised.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JobAnswer {
    /// So many copies.
    Run {
        /// How many.
        copies: u32,
        /// Of those that keep the limit, the number that did the most jobs.
        best: u32,
        /// The number that would do the most jobs, if it does not keep the limit.
        beyond: Option<u32>,
        /// All that may be the best.
        plateau: Vec<u32>,
    },
    /// None, before something else is known.
    Refused(JobRefusal),
}

/// Why no number of copies is advised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JobRefusal {
    /// Too few numbers of copies were measured.
    FewNumbers {
        /// How many.
        numbers: u32,
    },
    /// Too few repetitions of so many copies.
    FewRuns {
        /// How many copies.
        copies: u32,
        /// How many runs.
        runs: u64,
    },
    /// So many copies did not come to their ends, and no limit says when they are given up.
    NoEnd {
        /// How many copies.
        copies: u32,
    },
    /// Not one payload came to a good end.
    PayloadsFail {
        /// How many were run.
        payloads: u64,
    },
    /// The most copies did the most jobs: even more may do more.
    MoreCopies {
        /// How many.
        copies: u32,
    },
    /// The fewest copies did the most jobs: even fewer may do more.
    FewerCopies {
        /// How many.
        copies: u32,
    },
    /// Every number of copies breaks the limit.
    AllBreak {
        /// The fewest.
        copies: u32,
    },
    /// It is not known whether so many copies keep the limit, and they do the most jobs.
    TooWide {
        /// How many.
        copies: u32,
        /// So many repetitions would show it, if nothing else is over; absent if those are very many.
        repetitions: Option<u64>,
    },
}

/// What is advised for each side or target of these runs, in the order in which they come.
pub fn recommendations<'a>(
    runs: impl IntoIterator<Item = CopiesRun<'a>>,
    question: &JobQuestion,
) -> Vec<Recommendation> {
    let mut by_target: Vec<Vec<CopiesRun<'a>>> = Vec::new();
    // What the user broke off says nothing of the target.
    for run in runs.into_iter().filter(|run| run.copies > 0 && !run.state.is_broken_off()) {
        match by_target.iter_mut().find(|group| group[0].target == run.target) {
            Some(group) => group.push(run),
            None => by_target.push(vec![run]),
        }
    }
    by_target.into_iter().map(|runs| recommend(runs, question)).collect()
}

fn recommend(mut runs: Vec<CopiesRun<'_>>, question: &JobQuestion) -> Recommendation {
    runs.sort_by_key(|run| (run.copies, run.block));
    let levels = runs.chunk_by(|left, right| left.copies == right.copies);
    let mut measured: Vec<Measured> = levels.map(|runs| Measured::of(runs, question)).collect();
    let answer = match advise(&mut measured) {
        Ok(answer) => answer,
        Err(refusal) => JobAnswer::Refused(refusal),
    };
    Recommendation {
        target: runs.first().map_or_else(String::new, |run| run.target.to_owned()),
        question: *question,
        cpus: runs.iter().map(|run| run.cpus).max().unwrap_or(0),
        levels: measured.into_iter().map(|measured| measured.level).collect(),
        answer,
    }
}

/// Says where each number stands, and which is advised. They ascend.
fn advise(measured: &mut [Measured]) -> Result<JobAnswer, JobRefusal> {
    for one in &mut *measured {
        one.level.standing = match (one.per_hour(), one.verdict()) {
            (None, _) => JobStanding::Unknown,
            (Some(_), LimitVerdict::Keeps) => JobStanding::Plateau,
            (Some(_), LimitVerdict::Breaks) => JobStanding::TimeOuts,
            (Some(_), LimitVerdict::TooWide { .. }) => JobStanding::Unsure,
        };
    }
    let best = best_of(measured, JobStanding::Plateau);
    if let Some((best, _)) = best {
        part_from(best, measured);
    }
    refuse_too_little(measured)?;
    let standing = |standing: JobStanding| measured.iter().filter(move |one| one.level.standing == standing);
    // The smallest of those that do about as many jobs.
    let smallest = |of: JobStanding, most: f64| {
        standing(of).find(|one| one.per_hour().is_some_and(|jobs| !is_more(most, jobs)))
    };
    let most = best.map_or(0.0, |(_, jobs)| jobs);
    if let Some((_, jobs)) = best_of(measured, JobStanding::Unsure).filter(|(_, jobs)| is_more(*jobs, most))
        && let Some(unsure) = smallest(JobStanding::Unsure, jobs)
    {
        return Err(too_wide(unsure));
    }
    let Some((best, _)) = best else {
        return Err(JobRefusal::AllBreak { copies: measured[0].level.copies });
    };
    let plateau: Vec<u32> = standing(JobStanding::Plateau).map(|one| one.level.copies).collect();
    let best = &measured[best];
    let advised = smallest(JobStanding::Plateau, most).unwrap_or(best);
    refuse_edge(advised, best, measured)?;
    let beyond = best_of(measured, JobStanding::TimeOuts).filter(|(_, jobs)| *jobs > most);
    Ok(JobAnswer::Run {
        copies: advised.level.copies,
        best: best.level.copies,
        beyond: beyond.map(|(place, _)| measured[place].level.copies),
        plateau,
    })
}

/// Whether one is more than the other, by more than is the same.
fn is_more(one: f64, other: f64) -> bool {
    one * (1.0 - SAME_WITHIN) > other
}

/// The place of the number that does the most jobs of those that stand so, the smallest of several, and how many jobs.
fn best_of(measured: &[Measured], standing: JobStanding) -> Option<(usize, f64)> {
    let numbers = measured.iter().enumerate().filter(|(_, one)| one.level.standing == standing);
    let rates = numbers.filter_map(|(place, one)| Some((place, one.per_hour()?)));
    rates.reduce(|best, other| if other.1 > best.1 { other } else { best })
}

/// Takes off the plateau what is shown to do fewer jobs than the best.
fn part_from(best: usize, measured: &mut [Measured]) {
    let in_plateau = |one: &&Measured| one.level.standing == JobStanding::Plateau;
    let others = measured.iter().filter(in_plateau).count().saturating_sub(1).max(1);
    let best = measured[best].clone();
    let each = 1.0 - 2.0 * (1.0 - CONFIDENCE) / others as f64;
    for one in measured.iter_mut().filter(|one| one.level.standing == JobStanding::Plateau) {
        if one.level.copies != best.level.copies && one.at_most_of(&best, each) < 1.0 - SAME_WITHIN {
            one.level.standing = JobStanding::Fewer;
        }
    }
}

fn refuse_too_little(measured: &[Measured]) -> Result<(), JobRefusal> {
    let payloads = || measured.iter().filter_map(|one| one.level.payload);
    if payloads().any(|payload| payload.failed > 0) && payloads().all(|payload| payload.done == 0) {
        return Err(JobRefusal::PayloadsFail { payloads: payloads().map(|payload| payload.failed).sum() });
    }
    if measured.len() < LEVELS_NEEDED {
        return Err(JobRefusal::FewNumbers { numbers: measured.len() as u32 });
    }
    let known = measured.iter().filter(|one| one.per_hour().is_some()).count();
    if known >= LEVELS_NEEDED {
        return Ok(());
    }
    let levels = || measured.iter().map(|one| &one.level);
    let (needed, few) = (BLOCKS_NEEDED as u64, levels().find(|level| level.runs < BLOCKS_NEEDED as u64));
    match (few, levels().find(|level| level.runs >= needed && level.jobs.is_none())) {
        (Some(level), _) => Err(JobRefusal::FewRuns { copies: level.copies, runs: level.runs }),
        (None, Some(level)) => Err(JobRefusal::NoEnd { copies: level.copies }),
        (None, None) => Ok(()),
    }
}

/// What stands at the edge of what was measured, and is alone there, says nothing of what is beyond.
fn refuse_edge(advised: &Measured, best: &Measured, measured: &[Measured]) -> Result<(), JobRefusal> {
    let copies = advised.level.copies;
    let bound = advised.level.jobs.map(|jobs| jobs.bound);
    let edge = |one: Option<&Measured>| one.is_some_and(|one| one.level.copies == copies);
    if edge(measured.last()) && bound == Some(JobBound::Slots) {
        return Err(JobRefusal::MoreCopies { copies });
    }
    if edge(measured.first()) && copies > 1 && best.level.copies == copies {
        return Err(JobRefusal::FewerCopies { copies });
    }
    Ok(())
}

fn too_wide(one: &Measured) -> JobRefusal {
    let repetitions = match one.verdict() {
        LimitVerdict::TooWide { repetitions } => repetitions,
        LimitVerdict::Keeps | LimitVerdict::Breaks => None,
    };
    JobRefusal::TooWide { copies: one.level.copies, repetitions }
}

#[cfg(test)]
mod tests {
    use iolag_model::{ClientId, Nanoseconds, RunId, RunState};

    use super::*;
    use crate::run::copies::payload::PayloadTimes;
    use crate::run::copies::time::{CopyEnding, CopyTime};

    /// What a copy takes in seconds: of so many, in which repetition, which of them.
    type Takes = fn(u32, u32, u32) -> f64;

    const LIMIT_S: u64 = 600;

    fn question(payload_s: u64, limit_s: Option<u64>) -> JobQuestion {
        JobQuestion {
            payload_ns: Some(Nanoseconds::from_seconds(payload_s)),
            limit_ns: limit_s.map(Nanoseconds::from_seconds),
            timeouts_at_most: 0.05,
        }
    }

    fn copies_of(copies: u32, block: u32, takes: Takes) -> Vec<CopyTime> {
        let copy = |place| CopyTime {
            client: ClientId(place),
            time_ns: Nanoseconds((takes(copies, block, place) * 1e9) as u64),
            ending: CopyEnding::Ended,
        };
        (0..copies).map(copy).collect()
    }

    fn recommended(levels: &[u32], blocks: u32, takes: Takes, question: &JobQuestion) -> Recommendation {
        let id = RunId::new("20261128-000000", 1).unwrap();
        let each = || (1..=blocks).flat_map(|block| levels.iter().map(move |copies| (*copies, block)));
        let times: Vec<Vec<CopyTime>> =
            each().map(|(copies, block)| copies_of(copies, block, takes)).collect();
        let runs = each().zip(&times).map(|((copies, block), times)| CopiesRun {
            id: &id,
            target: "/afs",
            block,
            copies,
            cpus: 24,
            state: &RunState::Complete,
            times,
            processors: None,
            full: None,
            payload: None,
        });
        recommendations(runs, question).remove(0)
    }

    /// Runs are some 2 % apart, and so are copies.
    fn linear(copies: u32, block: u32, place: u32) -> f64 {
        (40.0 + 10.0 * f64::from(copies)) * (1.0 + 0.02 * f64::from(block % 3) + 0.02 * f64::from(place % 3))
    }

    /// From 24 copies on one in four does not get ready.
    fn steep(copies: u32, block: u32, place: u32) -> f64 {
        if copies >= 24 && place.is_multiple_of(4) { 900.0 } else { linear(copies, block, place) }
    }

    fn answer(levels: &[u32], blocks: u32, takes: Takes, question: &JobQuestion) -> JobAnswer {
        recommended(levels, blocks, takes, question).answer
    }

    #[test]
    fn the_number_before_time_outs_is_advised_and_told_beside_the_one_that_would_do_more() {
        let told = recommended(&[8, 16, 21, 24, 28], 72, steep, &question(7200, Some(LIMIT_S)));
        let JobAnswer::Run { copies, best, beyond, plateau } = &told.answer else { panic!("{told:?}") };
        assert_eq!((*copies, *best, plateau.as_slice()), (21, 21, &[21][..]));
        // 24 processors do no more than 12 jobs of two hours in an hour.
        assert_eq!(*beyond, Some(28), "{told:?}");
        let standing: Vec<JobStanding> = told.levels.iter().map(|level| level.standing).collect();
        use JobStanding::{Fewer, Plateau, TimeOuts};
        assert_eq!(standing, [Fewer, Fewer, Plateau, TimeOuts, TimeOuts]);
        let jobs = told.level(16).unwrap().jobs.unwrap();
        // 16 slots of 7200 s and of some 208 s before.
        assert!((jobs.per_hour - 16.0 * 3600.0 / 7408.0).abs() < 0.05, "{jobs:?}");
        assert!((jobs.efficiency - 7200.0 / 7408.0).abs() < 0.005, "{jobs:?}");
        let [low, high] = jobs.interval.unwrap();
        assert!(low < jobs.per_hour && jobs.per_hour < high && high - low < 0.05, "{jobs:?}");
    }

    #[test]
    fn what_processors_bound_is_a_plateau_of_which_the_smallest_is_advised() {
        let told = recommended(&[8, 24, 32, 48], 3, linear, &question(72_000, None));
        let JobAnswer::Run { copies, best, beyond, plateau } = &told.answer else { panic!("{told:?}") };
        assert_eq!((*copies, *best, *beyond, plateau.as_slice()), (24, 32, None, &[24, 32, 48][..]));
        let jobs = told.level(48).unwrap().jobs.unwrap();
        assert_eq!((jobs.bound, jobs.per_hour, jobs.efficiency), (JobBound::Processors, 1.2, 0.5));
    }

    #[test]
    fn who_waits_for_one_server_does_as_much_by_one_copy() {
        let told = answer(
            &[1, 2, 4, 8],
            5,
            |copies, block, place| 30.0 * f64::from(copies) * (1.0 + 0.02 * f64::from((block + place) % 3)),
            &question(0, None),
        );
        assert!(
            matches!(&told, JobAnswer::Run { copies: 1, plateau, .. } if plateau.as_slice() == [1, 2, 4, 8]),
            "{told:?}"
        );
    }

    #[test]
    fn what_says_too_little_is_refused_with_what_to_measure() {
        use JobRefusal::*;
        let refused = |levels: &[u32], blocks, takes: Takes, question: &JobQuestion| match answer(
            levels, blocks, takes, question,
        ) {
            JobAnswer::Refused(refusal) => refusal,
            told @ JobAnswer::Run { .. } => panic!("{told:?}"),
        };
        let plain = question(7200, None);
        let limited = question(7200, Some(LIMIT_S));
        assert_eq!(refused(&[1, 2], 9, linear, &plain), FewNumbers { numbers: 2 });
        assert_eq!(refused(&[1, 2, 4], 2, linear, &plain), FewRuns { copies: 1, runs: 2 });
        assert_eq!(refused(&[1, 2, 4, 8], 3, linear, &plain), MoreCopies { copies: 8 });
        let worse_by_each: Takes = |copies, _, _| f64::from(copies).powi(2);
        assert_eq!(refused(&[4, 8, 16], 3, worse_by_each, &question(0, None)), FewerCopies { copies: 4 });
        assert_eq!(refused(&[2, 4, 8], 9, |_, _, _| 700.0, &limited), AllBreak { copies: 2 });
        // Nothing was over, but three runs do not say much.
        let few = TooWide { copies: 8, repetitions: Some(72) };
        assert_eq!(refused(&[1, 2, 4, 8], 3, linear, &limited), few);
    }

    #[test]
    fn without_a_limit_copies_without_an_end_are_refused_and_broken_off_runs_are_none() {
        let id = RunId::new("20261128-000000", 1).unwrap();
        let mut times = copies_of(4, 1, linear);
        times[0].ending = CopyEnding::Stopped;
        let interrupted = RunState::Incomplete { reason: "interrupted (Ctrl-C)".to_owned() };
        let runs = |state| {
            let of = |copies: u32, block| CopiesRun {
                id: &id,
                target: "/afs",
                block,
                copies,
                cpus: 24,
                state,
                times: &times[4 - copies as usize..],
                processors: None,
                full: None,
                payload: None,
            };
            (1..=3).flat_map(move |block| [2, 3, 4].map(|copies| of(copies, block))).collect::<Vec<_>>()
        };
        let told = recommendations(runs(&RunState::Complete), &question(60, None));
        assert_eq!(told[0].answer, JobAnswer::Refused(JobRefusal::NoEnd { copies: 4 }));
        assert!(recommendations(runs(&interrupted), &question(60, None)).is_empty());
    }

    const SECOND: f64 = 1e9;

    /// On two processors: a set-up takes a second, and a payload two of a processor, which run in turn. Runs are 1 % apart.
    fn recommended_by_payloads(levels: &[u32], failed: u64) -> Recommendation {
        let id = RunId::new("20261128-000000", 1).unwrap();
        let time = |copy| CopyTime {
            client: ClientId(copy),
            time_ns: Nanoseconds::from_seconds(1),
            ending: CopyEnding::Ended,
        };
        let times: Vec<CopyTime> = (0..64).map(time).collect();
        let run = |copies: u32, block: u32| CopiesRun {
            id: &id,
            target: "/afs",
            block,
            copies,
            cpus: 2,
            state: &RunState::Complete,
            times: &times[..copies as usize],
            processors: None,
            full: None,
            payload: Some(PayloadTimes {
                done: u64::from(copies) - failed.min(copies.into()),
                failed: failed.min(copies.into()),
                mean_ns: f64::from(copies.max(2)) * SECOND * (0.98 + 0.01 * f64::from(block)),
                processor_mean_ns: 2.0 * SECOND,
            }),
        };
        let runs = (1..=3).flat_map(|block| levels.iter().map(move |copies| (*copies, block)));
        let question = JobQuestion { payload_ns: None, limit_ns: None, timeouts_at_most: 0.05 };
        recommendations(runs.map(|(copies, block)| run(copies, block)), &question).remove(0)
    }

    #[test]
    fn what_payloads_took_beside_as_many_decides_and_its_luck_is_in_the_interval() {
        let told = recommended_by_payloads(&[4, 8, 16, 32], 0);
        // 4, 8, 16 and 32 do 4/5, 8/9, 16/17 and 32/33 jobs a second; two processors no more than 1.
        let JobAnswer::Run { copies, best, plateau, .. } = &told.answer else { panic!("{told:?}") };
        assert_eq!((*copies, *best, plateau.as_slice()), (16, 32, &[16, 32][..]));
        let level = told.level(16).unwrap();
        let jobs = level.jobs.unwrap();
        assert!((jobs.per_hour - 16.0 / 17.0 * 3600.0).abs() < 1e-6, "{jobs:?}");
        // 2 s of a processor for each of 16 slots: 16/17 jobs a second of 2 s, by 16.
        assert!((jobs.efficiency - 2.0 / 17.0).abs() < 1e-9, "{jobs:?}");
        assert_eq!(
            (jobs.bound, told.level(32).unwrap().jobs.unwrap().bound),
            (JobBound::Slots, JobBound::Processors)
        );
        // Three runs of 15.84, 16 and 16.16 s: 16 +- 4.3027 x 0.16 / sqrt(3), and the logarithm of jobs by a 17th of that.
        let payload = level.payload.unwrap();
        let [low, high] = payload.interval_ns.unwrap();
        assert!(
            (low / SECOND - 15.602_5).abs() < 1e-3 && (high / SECOND - 16.397_5).abs() < 1e-3,
            "{payload:?}"
        );
        let [low, high] = jobs.interval.unwrap();
        assert!((low - 3309.9).abs() < 0.2 && (high - 3468.4).abs() < 0.2, "{jobs:?}");
        assert_eq!((payload.done, payload.failed, payload.processor_mean_ns), (48, 0, 2.0 * SECOND));
        // The most do the most, and do not fill the processors.
        let few = recommended_by_payloads(&[1, 2, 4], 0).answer;
        assert_eq!(few, JobAnswer::Refused(JobRefusal::MoreCopies { copies: 4 }));
    }

    #[test]
    fn jobs_whose_payloads_fail_are_not_done_and_without_any_nothing_is_advised() {
        let told = recommended_by_payloads(&[4, 8, 16, 32], 2);
        let jobs = told.level(4).unwrap().jobs.unwrap();
        assert!((jobs.per_hour - 2.0 / 5.0 * 3600.0).abs() < 1e-6, "{jobs:?}");
        // What failed has taken processors, too: 4 s for each that is done.
        assert!((jobs.efficiency - 2.0 / 5.0 * 4.0 / 4.0).abs() < 1e-9, "{jobs:?}");
        let none = recommended_by_payloads(&[1, 2, 4], 4).answer;
        assert_eq!(none, JobAnswer::Refused(JobRefusal::PayloadsFail { payloads: 21 }));
    }
}
