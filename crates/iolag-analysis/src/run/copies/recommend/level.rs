//! What the runs of one number of copies say of a node with so many slots.

use iolag_model::Nanoseconds;
use serde::{Deserialize, Serialize};

use super::share::{JobTimeouts, LimitVerdict, timeouts};
use super::slot::{JobBound, JobQuestion, JobsOfRun, jobs_by_processors, jobs_if_lost, jobs_per_hour};
use crate::run::copies::line::{BLOCKS_NEEDED, Spread, mean};
use crate::run::copies::of_run::CopiesRun;
use crate::run::copies::waits::{WaitsFor, mean_of};

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
        // Those that are lost take processors, too.
        let of_set_ups = if done > 0.0 { processor_ns.unwrap_or(0.0) / done } else { 0.0 };
        let by_processors = jobs_by_processors(cpus, question.payload_ns.0 as f64 + of_set_ups);
        let by_slots = jobs_per_hour(f64::from(copies), done, slot_ns);
        let bound = if by_processors < by_slots { JobBound::Processors } else { JobBound::Slots };
        let spread = Spread::of(&known.iter().map(influence).collect::<Vec<_>>()).filter(|_| done > 0.0);
        let per_hour = by_slots.min(by_processors);
        let timeouts = question.limit_ns.map(|_| timeouts(&known, question.timeouts_at_most, numbers));
        let ends = spread.map(|spread| {
            let by_luck = spread.interval().map(|end| by_slots * end.exp());
            let ends = with_losses(by_luck, f64::from(copies), &known, timeouts.as_ref(), question);
            ends.map(|end| end.min(by_processors))
        });
        let rate = JobRate {
            per_hour,
            interval: ends,
            efficiency: efficiency(per_hour, copies, question.payload_ns),
            bound,
        };
        let influences = match bound {
            JobBound::Slots if done > 0.0 => {
                runs.iter().zip(&known).map(|(run, jobs)| (run.block, influence(jobs))).collect()
            }
            // Nothing of the luck of runs is in what processors bound.
            _ => runs.iter().map(|run| (run.block, 0.0)).collect(),
        };
        let level = JobLevel {
            copies,
            runs: runs.len() as u64,
            set_up_ns: is_known.then(|| mean(known.iter().map(|run| run.set_up_ns))),
            processor_ns,
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

/// The ends of an interval, if as many are lost as theirs allows; the upper one is no more than slots can do if each set-up is as fast as the fastest.
fn with_losses(
    by_luck: [f64; 2],
    slots: f64,
    jobs: &[JobsOfRun],
    timeouts: Option<&JobTimeouts>,
    question: &JobQuestion,
) -> [f64; 2] {
    let [low, high] = by_luck;
    let limit_ns = question.limit_ns.map_or(0.0, |limit| limit.0 as f64);
    let done = mean(jobs.iter().map(|run| run.done));
    let set_up_ns = (mean(jobs.iter().map(|run| run.set_up_ns)) - (1.0 - done) * limit_ns) / done;
    let lost = timeouts.map(|timeouts| timeouts.interval);
    let of = |share: f64| jobs_if_lost(slots, share, set_up_ns, question);
    let least_ns = jobs.iter().filter_map(|run| run.least_ns).reduce(f64::min).unwrap_or(0.0);
    let most = jobs_if_lost(slots, 0.0, least_ns, question);
    [
        lost.map_or(low, |lost| low.min(of(lost.high))),
        lost.map_or(high, |lost| high.max(of(lost.low))).min(most),
    ]
}

fn efficiency(per_hour: f64, slots: u32, payload_ns: Nanoseconds) -> f64 {
    per_hour * payload_ns.0 as f64 / super::slot::HOUR_NS / f64::from(slots.max(1))
}
