//! The number of copies that is advised, or what to measure before one can be.
//!
//! Among the numbers of copies that are shown to keep the limit of time-outs the best does the most jobs per hour. The *plateau* are those that are
//! not shown to do more than [`SAME_WITHIN`] fewer: the one-sided interval of the ratio, in blocks, at a confidence of 95 % for all of them together
//! (Bonferroni), does not end below 1 - [`SAME_WITHIN`]. So the truly best of them is in the plateau in at least 95 of 100 campaigns: a subset that
//! contains the best (Gupta 1965; Hsu 1984). What is advised is the smallest of the plateau whose estimate is no further from the best either: others may
//! be in it only because little is known of them.

use serde::{Deserialize, Serialize};

use super::level::{JobLevel, JobStanding, Measured, SAME_WITHIN};
use super::setting::JobSetting;
use super::share::{LimitVerdict, Needed};
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
    let needed = match one.verdict() {
        LimitVerdict::TooWide(needed) => needed,
        LimitVerdict::Keeps | LimitVerdict::Breaks => Needed { if_same: None, if_no_more: None },
    };
    JobRefusal::TooWide { copies: one.level.copies, needed }
}

#[cfg(test)]
mod tests;
