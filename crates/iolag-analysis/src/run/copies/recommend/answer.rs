//! The number of copies that is advised, or what to measure before one can be.
//!
//! Among the numbers of copies that are shown to keep the limit of time-outs the best does the most jobs per hour. The *plateau* are those that are
//! not shown to do more than [`SAME_WITHIN`] fewer: the one-sided interval of the ratio, in blocks, at a confidence of 95 % for all of them together
//! (Bonferroni), does not end below 1 - [`SAME_WITHIN`]. So the truly best of them is in the plateau in at least 95 of 100 campaigns: a subset that
//! contains the best (Gupta 1965; Hsu 1984). What is advised is the smallest of the plateau whose estimate is no further from the best either: others may
//! be in it only because little is known of them.

use serde::{Deserialize, Serialize};

use super::level::{JobLevel, JobStanding, Measured};
use super::setting::JobSetting;
use super::share::{LimitVerdict, Needed};
use super::slot::{JobBound, JobQuestion};
use crate::run::copies::line::{BLOCKS_NEEDED, LEVELS_NEEDED};
use crate::run::copies::of_run::CopiesRun;
use crate::statistics::student::CONFIDENCE;

/// Jobs per hour that are closer than this to the best are as good.
pub const SAME_WITHIN: f64 = 0.05;

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
    /// How far what was measured is what jobs meet that follow each other.
    pub setting: JobSetting,
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
    /// Not one job was done, of whatever number of copies.
    NoneDone,
    /// It is not known whether so many copies keep the limit, and they do the most jobs.
    TooWide {
        /// How many.
        copies: u32,
        /// So many repetitions would show it.
        needed: Needed,
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
    let levels = || runs.chunk_by(|left, right| left.copies == right.copies);
    let numbers = levels().count();
    let mut measured: Vec<Measured> = levels().map(|runs| Measured::of(runs, question, numbers)).collect();
    let answer = match advise(&mut measured) {
        Ok(answer) => answer,
        Err(refusal) => JobAnswer::Refused(refusal),
    };
    Recommendation {
        target: runs.first().map_or_else(String::new, |run| run.target.to_owned()),
        question: *question,
        cpus: runs.iter().map(|run| run.cpus).max().unwrap_or(0),
        setting: JobSetting::of(&runs, question),
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
            (Some(_), LimitVerdict::TooWide(_)) => JobStanding::Unsure,
        };
    }
    let best = best_of(measured, JobStanding::Plateau);
    if let Some((best, _)) = best {
        part_from(best, measured);
    }
    refuse_too_little(measured)?;
    if measured.iter().all(|one| one.level.standing == JobStanding::TimeOuts) {
        return Err(JobRefusal::AllBreak { copies: measured[0].level.copies });
    }
    if measured.iter().all(|one| one.per_hour().is_some_and(|jobs| jobs <= 0.0)) {
        return Err(JobRefusal::NoneDone);
    }
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
    let Some((best, _)) = best.filter(|_| most > 0.0) else {
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
    let needed = match one.verdict() {
        LimitVerdict::TooWide(needed) => needed,
        LimitVerdict::Keeps | LimitVerdict::Breaks => Needed { if_same: None, if_no_more: None },
    };
    JobRefusal::TooWide { copies: one.level.copies, needed }
}

#[cfg(test)]
mod tests {
    use iolag_model::{ClientId, Nanoseconds, RunId, RunState};

    use super::*;
    use crate::run::copies::at_work::CopiesAtWork;
    use crate::run::copies::of_run::Pauses;
    use crate::run::copies::time::{CopyEnding, CopyTime};

    /// What a copy takes in seconds: of so many, in which repetition, which of them.
    type Takes = fn(u32, u32, u32) -> f64;

    const LIMIT_S: u64 = 600;

    fn question(payload_s: u64, limit_s: Option<u64>) -> JobQuestion {
        JobQuestion {
            payload_ns: Nanoseconds::from_seconds(payload_s),
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
            work: CopiesAtWork { apart: Some(0.01), ..CopiesAtWork::default() },
            pauses: Pauses::None,
            full: None,
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
        let told = recommended(&[8, 16, 21, 24, 28], 110, steep, &question(7200, Some(LIMIT_S)));
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
        assert!(low < jobs.per_hour && jobs.per_hour < high && high - low < 0.4, "{jobs:?}");
        // No more than so many slots do whose set-ups are as fast as the fastest.
        assert!(high <= 16.0 * 3600.0 / 7400.0 && told.setting == JobSetting::Together, "{jobs:?}");
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
        let few = TooWide { copies: 8, needed: Needed { if_same: Some(99), if_no_more: Some(99) } };
        assert_eq!(refused(&[1, 2, 4, 8], 3, linear, &limited), few);
        // What may all be lost, and is.
        let lossy = JobQuestion { timeouts_at_most: 1.0, ..limited };
        assert_eq!(refused(&[1, 2, 4], 9, |_, _, _| 700.0, &lossy), NoneDone);
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
                work: CopiesAtWork::default(),
                pauses: Pauses::None,
                full: None,
            };
            (1..=3).flat_map(move |block| [2, 3, 4].map(|copies| of(copies, block))).collect::<Vec<_>>()
        };
        let told = recommendations(runs(&RunState::Complete), &question(60, None));
        assert_eq!(told[0].answer, JobAnswer::Refused(JobRefusal::NoEnd { copies: 4 }));
        assert!(recommendations(runs(&interrupted), &question(60, None)).is_empty());
    }

    #[test]
    fn what_was_not_seen_may_be_lost_and_set_ups_take_processors() {
        let id = RunId::new("20261128-000000", 1).unwrap();
        let times = copies_of(1, 1, linear);
        let of_level = |copies: u32, seconds: f64| {
            let ended = CopyTime { time_ns: Nanoseconds((seconds * 1e9) as u64), ..times[0] };
            (copies, vec![ended; copies as usize])
        };
        let levels =
            [(1, 0.2786), (2, 0.3522), (4, 0.6), (8, 1.1735)].map(|(copies, takes)| of_level(copies, takes));
        let runs = |of_set_up| {
            let work = CopiesAtWork { processor_ns: of_set_up, apart: Some(0.01), ..CopiesAtWork::default() };
            let run =
                move |block, (copies, times): &'_ (u32, Vec<CopyTime>)| (block, *copies, times.clone(), work);
            (1..=3).flat_map(|block| levels.iter().map(move |level| run(block, level))).collect::<Vec<_>>()
        };
        let told = |of_set_up, question: &JobQuestion| {
            let all = runs(of_set_up);
            let runs = all.iter().map(|(block, copies, times, work)| CopiesRun {
                id: &id,
                target: "/afs",
                block: *block,
                copies: *copies,
                cpus: 2,
                state: &RunState::Complete,
                times,
                work: *work,
                pauses: Pauses::None,
                full: None,
            });
            recommendations(runs, question).remove(0)
        };
        let question =
            JobQuestion { payload_ns: Nanoseconds(400_000_000), limit_ns: None, timeouts_at_most: 0.05 };
        let most =
            |of_set_up, question: &JobQuestion| told(of_set_up, question).level(8).unwrap().jobs.unwrap();
        // 2 processors, of which a set-up takes 0.266 s and a payload 0.4 s.
        assert_eq!(most(Some(0.266e9), &question).per_hour.round(), 10_811.0);
        assert_eq!(most(None, &question).per_hour.round(), 18_000.0);
        // Nothing was over in three runs, of which up to 81 % may be: 1 - (0.025 / 4)^(1/3).
        let limited = JobQuestion { limit_ns: Some(Nanoseconds::from_seconds(2)), ..question };
        let [low, high] = told(None, &limited).level(2).unwrap().jobs.unwrap().interval.unwrap();
        let lost = 1.0 - (0.025_f64 / 4.0).powf(1.0 / 3.0);
        let slot = lost * 2.0 + (1.0 - lost) * 0.7522;
        assert!((low - 2.0 * (1.0 - lost) * 3600.0 / slot).abs() < 0.1, "{low}");
        assert!((high - 2.0 * 3600.0 / 0.7522).abs() < 0.1, "{high}");
        assert_eq!(told(None, &limited).setting, JobSetting::ShortPayload);
    }
}
