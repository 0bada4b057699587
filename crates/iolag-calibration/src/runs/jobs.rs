//! Nodes that run jobs: is the number of copies that does the most jobs in the plateau that is told, and does what is advised keep the limit?

use iolag_analysis::{
    CopiesAtWork, CopiesRun, CopyEnding, CopyTime, JobAnswer, JobQuestion, Pauses, PayloadTimes,
    Recommendation, recommendations,
};
use iolag_model::{ClientId, Nanoseconds, Random, RunId, RunState};
use statrs::distribution::{ContinuousCDF, Normal};

use crate::measured::{Limit, Measured};
use crate::seed::noise_of;

/// Copies at once.
const LEVELS: [u32; 6] = [4, 8, 12, 16, 24, 32];
/// Of the luck's variance, what all runs of a repetition have in common.
const OF_BLOCK: f64 = 0.5;
/// How far copies of a run are apart (standard deviation of the logarithm).
const WITHIN: f64 = 0.1;
/// What a storm makes of the times of a run, and how many runs it meets.
const STORM: f64 = 10.0;
const STORMS: f64 = 0.03;
/// What a payload that is run takes of a processor.
const OF_PROCESSOR_S: f64 = 1200.0;
/// 182 of 200.
const IN_PLATEAU_LEAST: f64 = 0.91;
const FALSE_MOST: f64 = 0.05;
/// What does fewer jobs than the best by more than this is bad advice.
const FEWER_MOST: f64 = 0.1;

/// Campaigns on one node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Jobs {
    truth: Node,
    /// How far runs are apart (standard deviation of the logarithm).
    spread: f64,
    /// Repetitions.
    blocks: u32,
}

/// A node of which all is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Node {
    /// Each further copy costs 15 s; of two hours of payload more copies do more, until they are lost after 600 s.
    Linear,
    /// A set-up takes longer with the square of the copies, and is lost after 600 s; then 20 minutes of payload.
    Steep,
    /// The same for two minutes of payload, and none is lost: more than 16 copies do less.
    SteepUnlimited,
    /// A server that serves one after the other: no number does more than another.
    Flat,
    /// Payloads that take all of 12 processors.
    Processors,
    /// As `Linear`, and 3 of 100 runs are ten times slower, while 2 % may be lost.
    Storms,
    /// As `SteepUnlimited`, of payloads that are run, of which one in twenty fails: they wait for each other's 12 processors, and for memory.
    RunPayload,
}

impl Node {
    const fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Steep => "steep",
            Self::SteepUnlimited => "steep-unlimited",
            Self::Flat => "flat",
            Self::Processors => "processors",
            Self::Storms => "storms",
            Self::RunPayload => "run-payload",
        }
    }

    /// Mean time of a set-up beside so many, without storms.
    fn seconds(self, copies: u32) -> f64 {
        let copies = f64::from(copies);
        match self {
            Self::Linear | Self::Storms => 40.0 + 15.0 * copies,
            Self::Steep | Self::SteepUnlimited | Self::RunPayload => 60.0 + 0.6 * copies * copies,
            Self::Flat => 10.0 * copies,
            Self::Processors => 20.0,
        }
    }

    const fn question(self) -> JobQuestion {
        let (payload_s, limit_s, timeouts_at_most) = match self {
            Self::Linear => (Some(7200), Some(600), 0.05),
            Self::Storms => (Some(7200), Some(600), 0.02),
            Self::Steep => (Some(1200), Some(600), 0.05),
            Self::SteepUnlimited => (Some(120), None, 0.05),
            Self::Flat => (Some(0), None, 0.05),
            Self::Processors => (Some(7200), None, 0.05),
            Self::RunPayload => (None, None, 0.05),
        };
        JobQuestion { payload_ns: seconds(payload_s), limit_ns: seconds(limit_s), timeouts_at_most }
    }

    /// Mean time of a payload beside so many, and the share that comes to a good end.
    fn payload(self, copies: u32) -> (f64, f64) {
        let (copies, cpus) = (f64::from(copies), f64::from(self.cpus()));
        match self.question().payload_ns {
            Some(told) => (told.as_seconds(), 1.0),
            None => (OF_PROCESSOR_S * (copies / cpus).max(1.0) * (1.0 + 0.001 * copies * copies), 0.95),
        }
    }

    const fn cpus(self) -> u32 {
        if matches!(self, Self::Processors | Self::RunPayload) { 12 } else { 24 }
    }

    const fn storms(self) -> f64 {
        if matches!(self, Self::Storms) { STORMS } else { 0.0 }
    }
}

const fn seconds(known: Option<u64>) -> Option<Nanoseconds> {
    match known {
        Some(seconds) => Some(Nanoseconds::from_seconds(seconds)),
        None => None,
    }
}

/// What so many copies truly do.
#[derive(Debug, Clone, Copy)]
struct TrueLevel {
    copies: u32,
    lost: f64,
    per_second: f64,
}

impl Jobs {
    /// All rows with their names.
    pub fn rows() -> Vec<(String, Self)> {
        let unlimited: [(Node, &[u32]); 4] = [
            (Node::SteepUnlimited, &[3, 5, 9, 30]),
            (Node::Flat, &[3, 9]),
            (Node::Processors, &[3, 9]),
            (Node::RunPayload, &[3, 5, 9, 30]),
        ];
        let limited: [(Node, &[u32]); 3] =
            [(Node::Linear, &[9, 100, 200]), (Node::Steep, &[9, 100, 200]), (Node::Storms, &[150, 300])];
        let rows = unlimited.into_iter().chain(limited).flat_map(|(truth, blocks)| {
            let of_spread = move |spread| blocks.iter().map(move |&blocks| Self { truth, spread, blocks });
            [0.05, 0.3].into_iter().flat_map(of_spread)
        });
        rows.map(|row| (row.name(), row)).collect()
    }

    fn name(&self) -> String {
        format!("jobs/{}/{}-percent/{}", self.truth.name(), 100.0 * self.spread, self.blocks)
    }

    /// In how many campaigns a number is advised, its plateau holds the best, and it is bad advice.
    pub fn measure(self, name: &str, campaigns: usize, seed: u64) -> Vec<Measured> {
        let levels = LEVELS.map(|copies| self.true_level(copies));
        let question = self.truth.question();
        let keeps = |level: &&TrueLevel| level.lost <= question.timeouts_at_most;
        // Of several that do as much the smallest.
        let best = levels.iter().filter(keeps).reduce(|best, other| {
            if other.per_second > best.per_second * (1.0 + 1e-9) { other } else { best }
        });
        let (mut advised, mut held, mut lost, mut fewer, mut numbers) = (0, 0, 0, 0, 0);
        for number in 0..campaigns {
            let told = self.told(&mut noise_of(name, number, seed));
            let Some(JobAnswer::Run { copies, plateau, .. }) = told.map(|told| told.answer) else { continue };
            advised += 1;
            numbers += plateau.len();
            let Some(of_advised) = levels.iter().find(|level| level.copies == copies) else { continue };
            held += usize::from(best.is_some_and(|best| plateau.contains(&best.copies)));
            lost += usize::from(!keeps(&of_advised));
            let most = best.map_or(0.0, |best| best.per_second);
            fewer += usize::from(of_advised.per_second < (1.0 - FEWER_MOST) * most);
        }
        let in_plateau = if best.is_some() { Limit::AtLeast(IN_PLATEAU_LEAST) } else { Limit::Untold };
        vec![
            Measured::share("advised", advised, campaigns, Limit::Untold),
            Measured::share("of these with the best in the plateau", held, advised, in_plateau),
            Measured::ratio(
                "numbers in a plateau",
                (advised > 0).then(|| numbers as f64 / advised as f64),
                None,
            ),
            Measured::share("one that breaks the limit", lost, campaigns, Limit::AtMost(FALSE_MOST)),
            Measured::share("one that does a tenth fewer", fewer, campaigns, Limit::AtMost(FALSE_MOST)),
        ]
    }

    /// By the distribution of one copy of one run, over all luck: that is what jobs meet in the long run.
    fn true_level(&self, copies: u32) -> TrueLevel {
        let question = self.truth.question();
        let (payload, share_done) = self.truth.payload(copies);
        let of_mean = |mean: f64| self.lost_and_waited(mean, question.limit_ns);
        let mean = self.truth.seconds(copies);
        let (calm, stormy, share) = (of_mean(mean), of_mean(STORM * mean), self.truth.storms());
        let mixed = |calm: f64, stormy: f64| (1.0 - share) * calm + share * stormy;
        let (lost, waited) = (mixed(calm.0, stormy.0), mixed(calm.1, stormy.1));
        let by_slots = f64::from(copies) * (1.0 - lost) * share_done / (waited + (1.0 - lost) * payload);
        // Those that are run have waited for them.
        let told = question.payload_ns.map_or(0.0, Nanoseconds::as_seconds);
        let by_processors = if told > 0.0 { f64::from(self.truth.cpus()) / told } else { f64::INFINITY };
        TrueLevel { copies, lost, per_second: by_slots.min(by_processors) }
    }

    /// P(T > L) and E[min(T, L)] of a log-normal time with this mean.
    fn lost_and_waited(&self, mean: f64, limit: Option<Nanoseconds>) -> (f64, f64) {
        let Some(limit) = limit.map(Nanoseconds::as_seconds) else { return (0.0, mean) };
        let deviation = self.spread.hypot(WITHIN);
        let at = ((limit / mean).ln() + deviation * deviation / 2.0) / deviation;
        let normal = Normal::standard();
        let lost = normal.sf(at);
        (lost, mean * normal.cdf(at - deviation) + limit * lost)
    }

    fn told(&self, noise: &mut Random) -> Option<Recommendation> {
        let mut runs: Vec<(u32, u32, Vec<CopyTime>, Option<PayloadTimes>)> = Vec::new();
        for block in 1..=self.blocks {
            let common = OF_BLOCK.sqrt() * noise.normal();
            for copies in LEVELS {
                let luck = common + (1.0 - OF_BLOCK).sqrt() * noise.normal();
                let storm = if noise.unit() < self.truth.storms() { STORM } else { 1.0 };
                let mean = storm * self.truth.seconds(copies);
                let times: Vec<CopyTime> =
                    (0..copies).map(|place| self.copy(place, mean, luck, noise)).collect();
                let payload = self.payload(copies, common, noise);
                runs.push((block, copies, times, payload));
            }
        }
        let id = RunId::new("20261130-000000", 1).ok()?;
        let copies_runs = runs.iter().map(|(block, copies, times, payload)| CopiesRun {
            id: &id,
            target: "/node",
            block: *block,
            copies: *copies,
            cpus: self.truth.cpus(),
            state: &RunState::Complete,
            times,
            work: CopiesAtWork::default(),
            pauses: Pauses::None,
            full: None,
            payload: *payload,
        });
        recommendations(copies_runs, &self.truth.question()).pop()
    }

    /// Of all copies of a run, whose luck is half that of its repetition; nothing if none is run.
    fn payload(&self, copies: u32, common: f64, noise: &mut Random) -> Option<PayloadTimes> {
        if self.truth.question().payload_ns.is_some() {
            return None;
        }
        let (seconds, share_done) = self.truth.payload(copies);
        let failed = (0..copies).filter(|_| noise.unit() > share_done).count() as u64;
        let luck = common + (1.0 - OF_BLOCK).sqrt() * noise.normal();
        let times = (0..copies).map(|place| self.copy(place, seconds, luck, noise).time_ns.0 as f64);
        Some(PayloadTimes {
            done: u64::from(copies) - failed,
            failed,
            mean_ns: times.sum::<f64>() / f64::from(copies),
            processor_mean_ns: OF_PROCESSOR_S * 1e9,
        })
    }

    /// One that takes as long as the luck of its run and its own say; the mean over all luck is `mean`.
    fn copy(&self, place: u32, mean: f64, luck: f64, noise: &mut Random) -> CopyTime {
        let variance = self.spread.powi(2) + WITHIN.powi(2);
        let logarithm = self.spread * luck + WITHIN * noise.normal() - variance / 2.0;
        let time_ns = Nanoseconds((1e9 * mean * logarithm.exp()) as u64);
        CopyTime { client: ClientId(place), time_ns, ending: CopyEnding::Ended }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_number_of_each_node_is_known() {
        let best = |truth, spread| {
            let jobs = Jobs { truth, spread, blocks: 3 };
            let keeps = |level: &TrueLevel| level.lost <= truth.question().timeouts_at_most;
            let levels = LEVELS.map(|copies| jobs.true_level(copies));
            let best = levels.into_iter().filter(keeps).reduce(|best, other| {
                if other.per_second > best.per_second * (1.0 + 1e-9) { other } else { best }
            });
            best.map(|level| level.copies)
        };
        assert_eq!([best(Node::Linear, 0.05), best(Node::Linear, 0.3)], [Some(24), Some(16)]);
        assert_eq!([best(Node::Steep, 0.05), best(Node::Steep, 0.3)], [Some(24), Some(16)]);
        assert_eq!([best(Node::SteepUnlimited, 0.05), best(Node::SteepUnlimited, 0.3)], [Some(16); 2]);
        assert_eq!([best(Node::Flat, 0.05), best(Node::Processors, 0.3)], [Some(4), Some(16)]);
        assert_eq!([best(Node::Storms, 0.05), best(Node::Storms, 0.3)], [None; 2]);
        assert_eq!([best(Node::RunPayload, 0.05), best(Node::RunPayload, 0.3)], [Some(12); 2]);
    }

    #[test]
    fn the_truth_is_that_of_many_copies() {
        let jobs = Jobs { truth: Node::Linear, spread: 0.3, blocks: 1 };
        let mut noise = Random::new(3);
        let times: Vec<f64> = (0..20_000)
            .map(|_| {
                let luck = noise.normal();
                jobs.copy(0, jobs.truth.seconds(32), luck, &mut noise).time_ns.as_seconds()
            })
            .collect();
        let share = |of: &dyn Fn(f64) -> f64| times.iter().map(|time| of(*time)).sum::<f64>() / 20_000.0;
        let (lost, waited) = jobs.lost_and_waited(jobs.truth.seconds(32), jobs.truth.question().limit_ns);
        assert!((share(&|time| f64::from(u8::from(time > 600.0))) - lost).abs() < 0.01, "{lost}");
        assert!((share(&|time| time.min(600.0)) / waited - 1.0).abs() < 0.01, "{waited}");
    }
}
