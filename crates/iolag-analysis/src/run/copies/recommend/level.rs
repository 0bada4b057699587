//! What the runs of one number of copies say of a node with so many slots.

use serde::{Deserialize, Serialize};

use super::payload::JobPayload;
use super::share::{JobTimeouts, LimitVerdict, timeouts};
use super::slot::{
    HOUR_NS, JobBound, JobQuestion, JobsOfRun, OfSetUp, jobs_by_processors, jobs_if_lost, jobs_per_hour,
};
use crate::run::copies::line::{BLOCKS_NEEDED, Spread, mean};
use crate::run::copies::of_run::CopiesRun;
use crate::run::copies::waits::{WaitsFor, mean_of};

/// Jobs per hour that are closer than this to the best are as good.
pub const SAME_WITHIN: f64 = 0.05;

/// One number of copies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobLevel {
    /// How many copies, and slots.
    pub copies: u32,
    /// How many runs.
    pub runs: u64,
    /// Mean time until a job is set up or lost, over the runs; absent if of one nobody knows.
    pub set_up_ns: Option<f64>,
    /// Mean time that processors took for a set-up, over the runs; absent if it was not recorded.
    pub processor_ns: Option<f64>,
    /// What jobs computed then, if that was really run, and is what was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<JobPayload>,
    /// Jobs that were lost to the limit, if there is one.
    pub timeouts: Option<JobTimeouts>,
    /// What so many slots do; absent if of a run nobody knows.
    pub jobs: Option<JobRate>,
    /// For what the copies waited while they set themselves up, if that is known.
    pub waits_for: Option<WaitsFor>,
    /// What stands in the answer of it.
    pub standing: JobStanding,
}

/// Jobs of a node.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct JobRate {
    /// Jobs that are done in an hour.
    pub per_hour: f64,
    /// Its 95 % interval, of at least three runs; as many may be lost as their interval allows.
    pub interval: Option<[f64; 2]>,
    /// What payloads take of processors by the time of the slots: 1 is one processor for each slot, all the time.
    pub efficiency: f64,
    /// What bounds it.
    pub bound: JobBound,
}

/// Where a number of copies stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JobStanding {
    /// It may be the best, as far as was measured.
    Plateau,
    /// It is shown to do fewer jobs than the best, by more than is the same.
    Fewer,
    /// More jobs than may be are lost.
    TimeOuts,
    /// It is not known whether more jobs than may be are lost.
    Unsure,
    /// Too few runs, or some of which nobody knows how long their copies would have taken.
    Unknown,
}

/// A number of copies with what is needed to compare it with others.
#[derive(Debug, Clone)]
pub(super) struct Measured {
    pub level: JobLevel,
    /// How far the logarithm of its jobs per hour goes with the luck of each block, by block.
    influences: Vec<(u32, f64)>,
}

impl Measured {
    /// Of runs that have the same number of copies, beside so many numbers in all.
    pub fn of(runs: &[CopiesRun<'_>], question: &JobQuestion, numbers: usize) -> Self {
        let jobs: Vec<Option<JobsOfRun>> = runs.iter().map(|run| JobsOfRun::of(run, question)).collect();
        let known: Vec<JobsOfRun> = jobs.iter().copied().flatten().collect();
        let is_known = known.len() == runs.len();
        let copies = runs.first().map_or(0, |run| run.copies);
        let cpus = runs.iter().map(|run| run.cpus).max().unwrap_or(0);
        let done = mean(known.iter().map(|run| run.done));
        let slot_ns = mean(known.iter().map(|run| run.slot_ns));
        let influence = |run: &JobsOfRun| run.done / done - run.slot_ns / slot_ns;
        let processor_ns = mean_of(runs, |run| run.work.processor_ns);
        let by_slots = jobs_per_hour(f64::from(copies), done, slot_ns);
        let of_job_done = |amount: f64| if done > 0.0 { amount / done } else { 0.0 };
        let payload_ns = match question.payload_ns {
            Some(told) => told.0 as f64,
            None => of_job_done(mean(known.iter().map(|run| run.processor_ns))),
        };
        // Those that are lost take processors, too.
        let job_ns = payload_ns + of_job_done(processor_ns.unwrap_or(0.0));
        let by_processors = jobs_by_processors(cpus, job_ns);
        // Payloads that were run have waited for processors.
        let (from, at_most) = match question.payload_ns {
            Some(_) => (1.0, by_processors),
            None => (1.0 - SAME_WITHIN, f64::INFINITY),
        };
        let is_full = by_slots > from * by_processors;
        let bound = if is_full { JobBound::Processors } else { JobBound::Slots };
        let spread = Spread::of(&known.iter().map(influence).collect::<Vec<_>>()).filter(|_| done > 0.0);
        let per_hour = by_slots.min(at_most);
        let timeouts = question.limit_ns.map(|_| timeouts(&known, question.timeouts_at_most, numbers));
        let ends = spread.map(|spread| {
            let by_luck = spread.interval().map(|end| by_slots * end.exp());
            let ends = with_losses(by_luck, f64::from(copies), &known, timeouts.as_ref(), question);
            ends.map(|end| end.min(at_most))
        });
        let rate = JobRate {
            per_hour,
            interval: ends,
            efficiency: per_hour * payload_ns / HOUR_NS / f64::from(copies.max(1)),
            bound,
        };
        // Nothing of the luck of runs is in what processors bound.
        let moves = done > 0.0 && by_slots <= at_most;
        let influence = |run: &JobsOfRun| if moves { influence(run) } else { 0.0 };
        let influences = runs.iter().zip(&known).map(|(run, jobs)| (run.block, influence(jobs))).collect();
        let level = JobLevel {
            copies,
            runs: runs.len() as u64,
            set_up_ns: is_known.then(|| mean(known.iter().map(|run| run.set_up_ns))),
            processor_ns,
            payload: JobPayload::of(runs).filter(|_| question.payload_ns.is_none()),
            timeouts,
            jobs: is_known.then_some(rate),
            waits_for: WaitsFor::of(runs),
            standing: JobStanding::Unknown,
        };
        Self { level, influences }
    }

    /// What it does, if that is known of enough runs.
    pub fn per_hour(&self) -> Option<f64> {
        let is_enough = self.level.runs >= BLOCKS_NEEDED as u64;
        self.level.jobs.filter(|_| is_enough).map(|jobs| jobs.per_hour)
    }

    /// Whether few enough jobs are lost; so they are if there is no limit.
    pub fn verdict(&self) -> LimitVerdict {
        self.level.timeouts.map_or(LimitVerdict::Keeps, |timeouts| timeouts.verdict)
    }

    /// The one-sided upper end of its jobs per hour by those of `other`, in blocks that both have; without bound if these are too few.
    pub fn at_most_of(&self, other: &Self, confidence: f64) -> f64 {
        let of_block = |block: u32| other.influences.iter().find(|(known, _)| *known == block);
        let differences: Vec<f64> = self
            .influences
            .iter()
            .filter_map(|(block, influence)| Some(influence - of_block(*block)?.1))
            .collect();
        match (self.per_hour(), other.per_hour(), Spread::of(&differences)) {
            (Some(own), Some(others), Some(spread)) => own / others * spread.reach(confidence).exp(),
            _ => f64::INFINITY,
        }
    }
}

/// The ends of an interval, if as many are lost as theirs allows; the upper one is no more than slots can do if each set-up is as fast as the fastest, and payloads
/// take what was told.
fn with_losses(
    by_luck: [f64; 2],
    slots: f64,
    jobs: &[JobsOfRun],
    timeouts: Option<&JobTimeouts>,
    question: &JobQuestion,
) -> [f64; 2] {
    let [low, high] = by_luck;
    let limit_ns = question.limit_ns.map_or(0.0, |limit| limit.0 as f64);
    let mean_of = |of: fn(&JobsOfRun) -> f64| mean(jobs.iter().map(of));
    let (set_up, waited_ns) = (mean_of(|run| run.set_up), mean_of(|run| run.set_up_ns));
    let kept = OfSetUp {
        set_up_ns: (waited_ns - (1.0 - set_up) * limit_ns) / set_up,
        payload_ns: (mean_of(|run| run.slot_ns) - waited_ns) / set_up,
        share_done: mean_of(|run| run.done) / set_up,
    };
    let lost = timeouts.map(|timeouts| timeouts.interval);
    let of = |share: f64| jobs_if_lost(slots, share, kept, limit_ns);
    let most = question.payload_ns.map_or(f64::INFINITY, |_| {
        let least_ns = jobs.iter().filter_map(|run| run.least_ns).reduce(f64::min).unwrap_or(0.0);
        jobs_if_lost(slots, 0.0, OfSetUp { set_up_ns: least_ns, ..kept }, limit_ns)
    });
    [
        lost.map_or(low, |lost| low.min(of(lost.high))),
        lost.map_or(high, |lost| high.max(of(lost.low))).min(most),
    ]
}
