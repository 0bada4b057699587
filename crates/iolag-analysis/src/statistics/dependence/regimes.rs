//! What a sequence is worth for one share of it if its level changed at known places.
//!
//! A step makes all before resemble each other, and all after: taken as one, such a sequence looks like long memory and is worth next to
//! nothing. Between changes ([`Regimes`]) it is worth what each part is worth by itself, and the share of the whole is the mean of the
//! parts' shares, weighted by their length, with the sum of their variances (stratified sampling, Cochran 1977, 5.3).
//!
//! Limits: the share is that of the time that was looked at, with its regimes as long as they were.

use std::ops::Range;

use super::clusters::CutStorm;
use super::effective_size::{Level, stretches_of, worth_of_share};
use super::worth::{EffectiveSampleSize, Worth};
use crate::statistics::ranking::ascending;

/// The parts of a sequence between its changes: one if there are none.
#[derive(Debug, Clone, PartialEq)]
pub struct Regimes {
    parts: Vec<(Range<usize>, Level)>,
    sample_size: EffectiveSampleSize,
}

impl Regimes {
    /// Of values in time order that change their level at these places, which ascend.
    pub fn of(values: &[f64], changes: &[usize]) -> Self {
        Self::of_ascending(&ascending(values), values, changes)
    }

    /// The same, `order` being the places of the values from the smallest to the greatest.
    pub(crate) fn of_ascending(order: &[usize], values: &[f64], changes: &[usize]) -> Self {
        let mut parts = Vec::new();
        let mut first = 0;
        for end in changes.iter().copied().chain([values.len()]) {
            if first < end && end <= values.len() {
                let part = first..end;
                let level = match part.len() == values.len() {
                    true => Level::of_ascending(order, values),
                    // At a change the next level begins, and no storm was cut.
                    false => Level { cut_storm: CutStorm::NONE, ..Level::of(&values[part.clone()]) },
                };
                parts.push((part, level));
                first = end;
            }
        }
        let attempts = values.len() as f64;
        // The variance of the mean of parts, each worth what it is worth.
        let variance: f64 = parts
            .iter()
            .map(|(part, level)| (part.len() as f64).powi(2) / level.sample_size.effective.max(1.0))
            .sum();
        let effective =
            if variance > 0.0 { (attempts * attempts / variance).min(attempts) } else { attempts };
        let sample_size = match parts.as_slice() {
            [(_, level)] => level.sample_size,
            _ => EffectiveSampleSize { attempts: values.len() as u64, effective },
        };
        Self { parts, sample_size }
    }

    /// What the sequence is worth for its level.
    pub const fn sample_size(&self) -> EffectiveSampleSize {
        self.sample_size
    }

    /// What it is worth for the share of those that are over a limit, one flag for each value.
    pub fn worth_of(&self, is_over: &[bool]) -> Worth {
        let worth_of = |(part, level): &(Range<usize>, Level)| {
            worth_of_share(&stretches_of(&is_over[part.clone()]), level)
        };
        if let [part] = self.parts.as_slice() {
            return worth_of(part);
        }
        let count_of = |part: &[bool]| part.iter().filter(|over| **over).count() as f64;
        let (mut variance, mut most, mut few_stretches) = (0.0, 0.0, None);
        for one in &self.parts {
            let (flags, worth) = (&is_over[one.0.clone()], worth_of(one));
            // Half an attempt more on both sides, so that what was never seen is not certain.
            let share = (count_of(flags) + 0.5) / (flags.len() as f64 + 1.0);
            let own = (flags.len() as f64).powi(2) * share * (1.0 - share) / worth.effective.max(1.0);
            variance += own;
            if own > most {
                (most, few_stretches) = (own, worth.few_stretches);
            }
        }
        let attempts = is_over.len() as f64;
        let share = (count_of(is_over) + 0.5) / (attempts + 1.0);
        let effective = attempts * attempts * share * (1.0 - share) / variance;
        Worth { effective: if variance > 0.0 { effective.min(attempts) } else { attempts }, few_stretches }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_model::Random;

    fn stepped(count: usize) -> Vec<f64> {
        let mut noise = Random::new(9);
        (0..count).map(|place| noise.normal() + if place < count / 2 { 0.0 } else { 8.0 }).collect()
    }

    #[test]
    fn a_step_is_no_memory_between_its_sides() {
        let values = stepped(2000);
        let is_over: Vec<bool> = values.iter().map(|value| *value > 4.0).collect();
        let (whole, parted) = (Regimes::of(&values, &[]), Regimes::of(&values, &[1000]));
        assert!(whole.sample_size().effective < 30.0, "{whole:?}");
        assert!(parted.sample_size().effective > 1000.0, "{parted:?}");
        assert!(whole.worth_of(&is_over).effective < 30.0);
        assert!(parted.worth_of(&is_over).effective > 1000.0);
    }

    #[test]
    fn one_regime_is_the_sequence_itself() {
        let values = stepped(600);
        let is_over: Vec<bool> = values.iter().map(|value| *value > 1.0).collect();
        let expected = worth_of_share(&stretches_of(&is_over), &Level::of(&values));
        assert_eq!(Regimes::of(&values, &[]).worth_of(&is_over), expected);
    }

    #[test]
    fn nothing_and_changes_beyond_the_end_are_worth_something() {
        for (count, changes) in [(0, vec![]), (0, vec![3]), (1, vec![0]), (3, vec![1, 1, 2]), (3, vec![0, 7])]
        {
            let regimes = Regimes::of(&stepped(count), &changes);
            let worth = regimes.worth_of(&vec![true; count]);
            assert!((0.0..=count as f64).contains(&worth.effective), "{count} {changes:?}: {worth:?}");
        }
    }
}
