//! Shares: how much lasts longer than a threshold, and how many attempts and slots end in which way.
//!
//! All intervals are Clopper and Pearson's (1934), exact for independent attempts, and once more for the
//! effective number. Hangs come in clusters, so for outcomes the effective number is that of the sequence of
//! slots with and without that outcome.

use iolag_model::{Nanoseconds, Outcome};
use serde::{Deserialize, Serialize};

use super::clock_steps::coarse_step;
use super::distribution::Distribution;
use super::observations::{Observations, Weight};
use crate::statistics::dependence::effective_size::{Level, stretches_of, worth_of_share};
use crate::statistics::dependence::worth::EffectiveSampleSize;
use crate::statistics::interval::agreement;
use crate::statistics::interval::ranks_and_shares::{ShareInterval, share_interval};
use crate::statistics::interval::share_over::{ShareOver, share_over};
use crate::statistics::knowledge::Knowledge;

/// Share of observations longer than a threshold.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ThresholdShare {
    /// How many are known to be longer, how many are undecided (censored on the wrong side of the threshold),
    /// and the intervals, which undecided ones widen upwards.
    #[serde(flatten)]
    pub counted: ShareOver,
    /// Observations.
    pub of: u64,
    /// Estimated share that is longer, by the distribution; absent where that knows nothing: below the
    /// clock's resolution, or beyond the last observation if that had not ended.
    pub share: Option<f64>,
    /// By how much observations are known to be longer, in all.
    pub beyond_seconds: f64,
}

/// Shares of observations longer than each of these ascending thresholds. Only durations have thresholds.
pub fn shares_over<W: Weight>(
    observations: &Observations<W>,
    distribution: &Distribution<W>,
    thresholds: &[Nanoseconds],
) -> Vec<ThresholdShare> {
    let share = |threshold: &Nanoseconds| {
        let limit = threshold.as_seconds();
        let (over, undecided) = count_over(observations, limit);
        let of = observations.list().len() as u64;
        let sample_size =
            EffectiveSampleSize { attempts: of, effective: distribution.worth_over(limit).effective };
        ThresholdShare {
            counted: share_over(*threshold, over, undecided, sample_size),
            of,
            share: distribution.share_at_most(limit).map(|share| 1.0 - share),
            beyond_seconds: seconds_beyond(observations, limit),
        }
    };
    let mut shares: Vec<ThresholdShare> = thresholds.iter().map(share).collect();
    agreement::of_shares(shares.iter_mut().map(|share| &mut share.counted.interval).collect());
    shares
}

/// How many observations are known to exceed `limit` seconds, and of how many that is not known.
pub(crate) fn count_over<W: Weight>(observations: &Observations<W>, limit: f64) -> (u64, u64) {
    let (mut over, mut undecided) = (0, 0);
    let step = coarse_step(observations.step_seconds(), limit);
    for one in observations.list() {
        let exceeds = one.amount > limit;
        match one.knowledge {
            // The truth lies from half a step below to a step above what a coarse clock shows.
            Knowledge::Exactly
                if step > 0.0 && one.amount + step > limit && one.amount - step / 2.0 <= limit =>
            {
                undecided += 1;
            }
            Knowledge::Exactly => over += u64::from(exceeds),
            Knowledge::AtLeast if exceeds => over += 1,
            Knowledge::AtLeast => undecided += 1,
            Knowledge::AtMost => undecided += u64::from(exceeds),
        }
    }
    (over, undecided)
}

/// By how much observations are known to exceed `limit` seconds, in all.
fn seconds_beyond<W: Weight>(observations: &Observations<W>, limit: f64) -> f64 {
    let known = observations.list().iter().filter(|one| one.knowledge != Knowledge::AtMost);
    known.map(|one| (one.amount - limit).max(0.0)).sum()
}

/// How often something happened.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Rate {
    /// How many times.
    pub count: u64,
    /// Of how many.
    pub of: u64,
    /// Interval of the share as if every one were independent.
    pub interval_naive: ShareInterval,
    /// Interval with the effective number: the one to show.
    pub interval: ShareInterval,
}

impl Rate {
    /// `count` of `of`, which are worth the share `ratio` of as many independent ones.
    pub fn new(count: u64, of: u64, ratio: f64) -> Self {
        let within = |ratio: f64| share_interval(count as f64 * ratio, of as f64 * ratio);
        Self { count, of, interval_naive: within(1.0), interval: within(ratio) }
    }

    /// The share itself; `None` of nothing.
    pub fn share(&self) -> Option<f64> {
        (self.of > 0).then(|| self.count as f64 / self.of as f64)
    }
}

/// How attempts and slots ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutcomeRates {
    /// Scheduled slots: attempts, skipped and interrupted ones.
    pub slots: u64,
    /// Slots in which an attempt was started and left to itself.
    pub attempts: u64,
    /// Attempts that succeeded within their deadline.
    pub ok: u64,
    /// Attempts that failed, of all attempts.
    pub error: Rate,
    /// Attempts that were ended at their deadline, of all attempts.
    pub timeout: Rate,
    /// Attempts that had not ended, of all attempts.
    pub hung: Rate,
    /// Attempts that succeeded after their deadline, of all attempts.
    pub late: Rate,
    /// Attempts that passed their deadline (timeout, hung and late together), of all attempts.
    pub past_deadline: Rate,
    /// Slots that were skipped because an earlier probe had not ended, of all slots.
    pub skipped: Rate,
    /// Attempts that the watch broke off when it was told to stop: they count in no rate.
    pub interrupted: u64,
}

/// How many samples ended in each way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct OutcomeCounts([u64; Outcome::ALL.len()]);

impl OutcomeCounts {
    pub(crate) fn of<'a>(outcomes: impl IntoIterator<Item = &'a Outcome>) -> Self {
        let mut counts = Self::default();
        outcomes.into_iter().for_each(|outcome| counts.add(*outcome));
        counts
    }

    pub(crate) const fn add(&mut self, outcome: Outcome) {
        self.0[outcome as usize] += 1;
    }

    const fn count(&self, outcome: Outcome) -> u64 {
        self.0[outcome as usize]
    }

    /// With the intervals that the clustering of the whole series allows.
    pub(crate) fn rates(&self, clustering: &Clustering) -> OutcomeRates {
        let slots: u64 = self.0.iter().sum();
        let interrupted = self.count(Outcome::Interrupted);
        let attempts = slots - self.count(Outcome::Skipped) - interrupted;
        let rate = |outcome: Outcome| Rate::new(self.count(outcome), attempts, clustering.ratio(outcome));
        let past_deadline: u64 = PAST_DEADLINE.iter().map(|outcome| self.count(*outcome)).sum();
        OutcomeRates {
            slots,
            attempts,
            ok: self.count(Outcome::Ok),
            error: rate(Outcome::Error),
            timeout: rate(Outcome::Timeout),
            hung: rate(Outcome::Hung),
            late: rate(Outcome::Late),
            past_deadline: Rate::new(past_deadline, attempts, clustering.past_deadline),
            skipped: Rate::new(self.count(Outcome::Skipped), slots, clustering.ratio(Outcome::Skipped)),
            interrupted,
        }
    }
}

pub(crate) const PAST_DEADLINE: [Outcome; 3] = [Outcome::Timeout, Outcome::Hung, Outcome::Late];

/// Effective by actual slots for each outcome: how much it comes in clusters.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Clustering {
    ratios: [f64; Outcome::ALL.len()],
    past_deadline: f64,
}

impl Clustering {
    /// Of outcomes in order of time.
    pub(crate) fn of(outcomes: &[Outcome]) -> Self {
        let ratio = |happened: &dyn Fn(Outcome) -> bool| {
            let sequence: Vec<bool> = outcomes.iter().map(|one| happened(*one)).collect();
            // What never happened, or always, says nothing of clusters.
            if !sequence.iter().any(|happened| *happened != sequence[0]) {
                return 1.0;
            }
            let scores: Vec<f64> = sequence.iter().map(|happened| f64::from(u8::from(*happened))).collect();
            let worth = worth_of_share(&stretches_of(&sequence), &Level::of(&scores));
            worth.effective / outcomes.len() as f64
        };
        Self {
            ratios: Outcome::ALL.map(|outcome| ratio(&|one| one == outcome)),
            past_deadline: ratio(&|one| PAST_DEADLINE.contains(&one)),
        }
    }

    const fn ratio(&self, outcome: Outcome) -> f64 {
        self.ratios[outcome as usize]
    }
}

/// Difference of two shares, second less first, with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ShareDifference {
    /// Second share less the first.
    pub difference: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// The difference of two shares with known intervals, by squaring and adding the distances to their ends
/// (Newcombe 1998, method 10; here with exact ends, which is wider).
pub fn share_difference(first: (f64, ShareInterval), second: (f64, ShareInterval)) -> ShareDifference {
    let (from, from_ends) = first;
    let (to, to_ends) = second;
    let difference = to - from;
    ShareDifference {
        difference,
        low: (difference - (to - to_ends.low).hypot(from_ends.high - from)).max(-1.0),
        high: (difference + (to_ends.high - to).hypot(from - from_ends.low)).min(1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slot_counts_once() {
        use Outcome::{Error, Hung, Interrupted, Late, Ok, Skipped, Timeout};
        let outcomes = [Ok, Ok, Ok, Error, Timeout, Hung, Skipped, Skipped, Late, Ok, Interrupted];
        let rates = OutcomeCounts::of(&outcomes).rates(&Clustering::of(&outcomes));
        assert_eq!((rates.slots, rates.attempts, rates.ok, rates.interrupted), (11, 8, 4, 1));
        assert_eq!((rates.skipped.count, rates.skipped.of), (2, 11));
        assert_eq!((rates.past_deadline.count, rates.past_deadline.of), (3, 8));
        assert_eq!(rates.timeout.share(), Some(0.125));
    }

    #[test]
    fn clustered_hangs_tell_less_than_scattered_ones() {
        let clustered: Vec<Outcome> =
            (0..500).map(|slot| if slot / 25 % 5 == 0 { Outcome::Timeout } else { Outcome::Ok }).collect();
        let scattered: Vec<Outcome> =
            (0..500).map(|slot| if slot % 5 == 0 { Outcome::Timeout } else { Outcome::Ok }).collect();
        let width = |outcomes: &[Outcome]| {
            let rate = OutcomeCounts::of(outcomes).rates(&Clustering::of(outcomes)).timeout;
            (rate.count, rate.interval.high - rate.interval.low, rate.interval_naive)
        };
        let (many, wide, naive) = width(&clustered);
        let (as_many, narrow, same_naive) = width(&scattered);
        assert_eq!((many, naive), (as_many, same_naive));
        assert!(wide > 2.0 * narrow, "{wide} {narrow}");
    }

    #[test]
    fn nothing_happened_to_nothing() {
        let rates = OutcomeCounts::of(&[]).rates(&Clustering::of(&[]));
        assert_eq!((rates.slots, rates.hung.share()), (0, None));
        assert_eq!((rates.hung.interval.low, rates.hung.interval.high), (0.0, 1.0));
    }

    #[test]
    fn a_difference_of_certain_shares_is_certain() {
        let certain = |share: f64| (share, ShareInterval { low: share, high: share });
        let difference = share_difference(certain(0.5), certain(0.2));
        assert!((difference.low + 0.3).abs() < 1e-12 && (difference.high + 0.3).abs() < 1e-12);
    }
}
