//! What a slot of a node does: a job sets itself up and computes, and the slot is filled again at once.
//!
//! A job takes T to set itself up beside N - 1 others. If T is longer than the limit L it is ended at L and lost; otherwise its payload follows,
//! which takes W. Jobs of a slot follow each other without a gap, so that they are a renewal process whose cycle lasts
//! C = min(T, L) + W 1(T <= L) and ends with 1(T <= L) jobs that are done. By the renewal-reward theorem (Smith 1955; Ross, Stochastic
//! Processes, 3.6) a slot does E[1(T <= L)] / E[C] jobs per time in the long run, and N slots do
//!
//! ```text
//! X = N (1 - p) / (E[min(T, L)] + (1 - p) W),     p = P(T > L)
//! ```
//!
//! A payload that was told is W of one processor, and a set-up takes P of one, done or lost, and N of them may have fewer processors, c: no more than
//! c / (W + P / (1 - p)) are done per time, however many slots there are (operational bounds: Denning and Buzen 1978), so that X is the lesser of the two.
//! Efficiency is what the payloads that were done took of processors by the time of the slots, X W / N.
//!
//! Where payloads were really run, W is what they took beside N - 1 others, in each run the mean of its copies; a share f of them failed, whose jobs take their time and are not done,
//! and what they took of processors is Q for each job that is done:
//!
//! ```text
//! X = N (1 - p) (1 - f) / (E[min(T, L)] + (1 - p) W)
//! ```
//!
//! They have waited for each other's processors already, so that c / (Q + P / (1 - p)(1 - f)) bounds nothing more; where X is as good as that, processors are full. Efficiency is X Q / N.

use iolag_model::{JobTerms, MILLION, Nanoseconds};
use serde::{Deserialize, Serialize};

use crate::run::copies::of_run::CopiesRun;
use crate::run::copies::time::{CopyEnding, CopyTime};

/// What is asked of copies of a job.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct JobQuestion {
    /// What each job computes once it is set up, on a processor of its own; absent if that was really run, so that each number of copies has its own.
    pub payload_ns: Option<Nanoseconds>,
    /// A job that is not set up after so long is ended, and lost; absent if none is.
    pub limit_ns: Option<Nanoseconds>,
    /// The share of jobs that may be lost so.
    pub timeouts_at_most: f64,
}

impl JobQuestion {
    /// What these terms ask; nothing if they have no payload: set-up time alone always favours one copy.
    pub fn of(terms: &JobTerms) -> Option<Self> {
        let at_most = terms.timeouts_at_most_per_million.unwrap_or(TIMEOUTS_AT_MOST_PER_MILLION);
        terms.has_payload().then(|| Self {
            payload_ns: terms.payload_ns,
            limit_ns: terms.judge_ns,
            timeouts_at_most: f64::from(at_most) / f64::from(MILLION),
        })
    }
}

/// What may be lost if nobody says: the least that a night can show. That at most 5 % are takes 72 copies that share no luck, of which none is over,
/// 1 % takes 368.
const TIMEOUTS_AT_MOST_PER_MILLION: u32 = 50_000;

/// What bounds the jobs of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JobBound {
    /// Its slots: one more would do more jobs.
    Slots,
    /// Its processors: the payloads take all of them.
    Processors,
}

/// The jobs of a run, one for each copy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct JobsOfRun {
    /// How many there are.
    pub copies: u64,
    /// Of these, known to have taken longer than the limit.
    pub over: u64,
    /// Of these, ended before anybody knew.
    pub undecided: u64,
    /// Mean time until a job is set up or lost, in ns.
    pub set_up_ns: f64,
    /// The share of jobs that are set up in time; those of which nobody knows are not.
    pub set_up: f64,
    /// The share of jobs that are done.
    pub done: f64,
    /// What payloads took of processors, for each job that begins, in ns.
    pub processor_ns: f64,
    /// Mean time of a slot for each job that begins, in ns.
    pub slot_ns: f64,
    /// What the fastest set-up took; absent if none was done.
    pub least_ns: Option<f64>,
}

impl JobsOfRun {
    /// Of a run; absent if there is no limit, and copies did not come to their ends: nobody knows how long they would have taken. Absent, too, if their payloads were to be
    /// run, and none was.
    pub fn of(run: &CopiesRun<'_>, question: &JobQuestion) -> Option<Self> {
        let copies = u64::from(run.copies).max(run.times.len() as u64);
        let limit = question.limit_ns.unwrap_or(Nanoseconds(u64::MAX));
        let is_set_up = |copy: &&CopyTime| copy.ending == CopyEnding::Ended && copy.time_ns <= limit;
        let set_up = run.times.iter().filter(is_set_up).count() as u64;
        let over = run.times.iter().filter(|copy| copy.is_over(limit)).count() as u64;
        let lost = copies - set_up;
        let lost_after = match question.limit_ns {
            Some(limit) => limit.0 as f64,
            None if lost == 0 => 0.0,
            None => return None,
        };
        let of_set_up: f64 = run.times.iter().filter(is_set_up).map(|copy| copy.time_ns.0 as f64).sum();
        let share = |amount: f64| amount / copies.max(1) as f64;
        let set_up_ns = share(of_set_up + lost as f64 * lost_after);
        let (payload_ns, processor_ns, share_done) = match (question.payload_ns, run.payload) {
            (Some(told), _) => (told.0 as f64, told.0 as f64, 1.0),
            (None, Some(run)) => (run.mean_ns, run.processor_mean_ns, run.share_done()),
            // None was due.
            (None, None) if set_up == 0 => (0.0, 0.0, 0.0),
            (None, None) => return None,
        };
        let set_up = share(set_up as f64);
        Some(Self {
            copies,
            over,
            undecided: lost - over,
            set_up_ns,
            set_up,
            done: set_up * share_done,
            processor_ns: set_up * processor_ns,
            slot_ns: set_up_ns + set_up * payload_ns,
            least_ns: run.times.iter().filter(is_set_up).map(|copy| copy.time_ns.0 as f64).reduce(f64::min),
        })
    }
}

/// Jobs that so many slots do in an hour.
pub(super) fn jobs_per_hour(slots: f64, done: f64, slot_ns: f64) -> f64 {
    if slot_ns > 0.0 { slots * done / slot_ns * HOUR_NS } else { 0.0 }
}

/// Jobs that so many processors can do in an hour, if each that is done takes one of them for so long; without bound if it takes none.
pub(super) fn jobs_by_processors(processors: u32, job_ns: f64) -> f64 {
    if processors == 0 || job_ns <= 0.0 { f64::INFINITY } else { f64::from(processors) / job_ns * HOUR_NS }
}

/// What follows for each job that is set up in time.
#[derive(Debug, Clone, Copy)]
pub(super) struct OfSetUp {
    /// How long setting up took, in ns.
    pub set_up_ns: f64,
    /// How long its payload takes, in ns.
    pub payload_ns: f64,
    /// The share of payloads that come to a good end.
    pub share_done: f64,
}

/// Jobs that so many slots do in an hour if so large a share is lost after as long as it may take, and the others go on so.
pub(super) fn jobs_if_lost(slots: f64, lost: f64, kept: OfSetUp, limit_ns: f64) -> f64 {
    let set_up = 1.0 - lost;
    jobs_per_hour(
        slots,
        set_up * kept.share_done,
        lost * limit_ns + set_up * (kept.set_up_ns + kept.payload_ns),
    )
}

/// An hour in ns.
pub(super) const HOUR_NS: f64 = 3.6e12;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::copies::at_work::CopiesAtWork;
    use crate::run::copies::of_run::Pauses;
    use crate::run::copies::payload::PayloadTimes;
    use iolag_model::{ClientId, Random, RunId, RunState};

    const SECOND: f64 = 1e9;

    fn run(id: &RunId, copies: u32, times: &[CopyTime], question: &JobQuestion) -> Option<JobsOfRun> {
        let run = CopiesRun {
            id,
            target: "/afs",
            block: 1,
            copies,
            cpus: 24,
            state: &RunState::Complete,
            times,
            work: CopiesAtWork::default(),
            pauses: Pauses::None,
            full: None,
            payload: None,
        };
        JobsOfRun::of(&run, question)
    }

    fn copy(seconds: u64, ending: CopyEnding) -> CopyTime {
        CopyTime { client: ClientId(0), time_ns: Nanoseconds::from_seconds(seconds), ending }
    }

    #[test]
    fn a_job_is_done_or_lost_at_the_limit() {
        use CopyEnding::{Ended, Stopped, TimedOut};
        let id = RunId::new("20261128-000000", 1).unwrap();
        let limit_ns = Some(Nanoseconds::from_seconds(600));
        let payload_ns = Some(Nanoseconds::from_seconds(7200));
        let question = JobQuestion { payload_ns, limit_ns, timeouts_at_most: 0.05 };
        let times = [copy(100, Ended), copy(900, Ended), copy(600, TimedOut), copy(5, Stopped)];
        let jobs = run(&id, 5, &times, &question).unwrap();
        assert_eq!((jobs.copies, jobs.over, jobs.undecided), (5, 2, 2));
        assert_eq!((jobs.set_up_ns / SECOND, jobs.done), (500.0, 0.2));
        assert_eq!(jobs.slot_ns / SECOND, 500.0 + 0.2 * 7200.0);
        // Without a limit nobody knows when they would have ended.
        let question = JobQuestion { limit_ns: None, ..question };
        assert_eq!(run(&id, 5, &times, &question), None);
        let jobs = run(&id, 2, &times[..2], &question).unwrap();
        assert_eq!((jobs.over, jobs.done, jobs.set_up_ns / SECOND), (0, 1.0, 500.0));
    }

    #[test]
    fn a_job_whose_payload_fails_takes_its_time_and_is_not_done() {
        let id = RunId::new("20261128-000000", 1).unwrap();
        let limit_ns = Some(Nanoseconds::from_seconds(600));
        let question = JobQuestion { payload_ns: None, limit_ns, timeouts_at_most: 0.05 };
        let times =
            [copy(100, CopyEnding::Ended), copy(300, CopyEnding::Ended), copy(900, CopyEnding::Ended)];
        let of = |payload| {
            let state = RunState::Complete;
            let run = CopiesRun {
                id: &id,
                target: "/afs",
                block: 1,
                copies: 4,
                cpus: 2,
                state: &state,
                times: &times,
                work: CopiesAtWork::default(),
                pauses: Pauses::None,
                full: None,
                payload,
            };
            JobsOfRun::of(&run, &question)
        };
        // All three that were set up ran one, for 40 s with 10 s of processors, and one of them failed.
        let payload =
            PayloadTimes { done: 2, failed: 1, mean_ns: 40.0 * SECOND, processor_mean_ns: 10.0 * SECOND };
        let jobs = of(Some(payload)).unwrap();
        // Of four jobs two are set up in time, of which two thirds are done; the others are given up after 600 s.
        assert_eq!((jobs.set_up_ns / SECOND, jobs.done), (400.0, 0.5 * (2.0 / 3.0)));
        assert_eq!((jobs.slot_ns / SECOND, jobs.processor_ns / SECOND), (420.0, 5.0));
        assert_eq!((jobs.over, jobs.undecided), (1, 1));
        assert_eq!(of(None), None, "nobody knows what they would have taken");
    }

    /// Events instead of a formula: a slot that is filled again whenever its job has ended.
    #[test]
    fn a_simulated_node_does_as_many_jobs_as_the_formula_says() {
        let (slots, payload, limit, hours) = (21, 7200.0, 600.0, 40_000.0);
        let mut luck = Random::new(2);
        let mut set_up = || 300.0 * (0.5 * luck.normal()).exp();
        let (mut done, mut lost, mut waited) = (0.0, 0.0, 0.0);
        for _ in 0..slots {
            let mut now = 0.0;
            while now < hours * 3600.0 {
                let takes: f64 = set_up();
                waited += takes.min(limit);
                let is_done = takes <= limit;
                now += takes.min(limit) + if is_done { payload } else { 0.0 };
                if is_done { done += 1.0 } else { lost += 1.0 }
            }
        }
        let share = done / (done + lost);
        assert!((0.07..0.1).contains(&(1.0 - share)), "{share}");
        let slot_ns = (waited / (done + lost) + share * payload) * SECOND;
        let formula = jobs_per_hour(f64::from(slots), share, slot_ns);
        assert!((done / hours / formula - 1.0).abs() < 1e-3, "{} {formula}", done / hours);
    }

    #[test]
    fn processors_bound_what_slots_could_do() {
        assert_eq!(jobs_by_processors(24, 2.0 * HOUR_NS), 12.0);
        assert_eq!(jobs_by_processors(0, 2.0 * HOUR_NS), f64::INFINITY);
        assert_eq!(jobs_by_processors(24, 0.0), f64::INFINITY);
        assert_eq!(jobs_per_hour(3.0, 1.0, 0.0), 0.0);
    }
}
