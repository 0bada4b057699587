//! Whether levels differ by more than chance: how far hosts are off, given to hosts at random.
//!
//! The statistic of names is the variance between levels, of which only the sum over levels of the squared sum of deviations by their number varies; that
//! of numbers is the squared covariance with the order of the levels. p is the share of permutations that reach what was seen, both counting the
//! seen one (Phipson and Smyth 2010), so it is never 0. Permutations within the levels of another attribute ask what is left when that is known.
//! Hosts of which an attribute is not known have no part in its test.

use std::ops::Range;

use iolag_model::Random;

use super::attributes::{Attribute, Scale};
use super::standardised::{HostAttempts, standardised};

/// Permutations of a test.
const PERMUTATIONS: u32 = 9_999;
/// Rounding is no difference.
const ROUNDING: f64 = 1e-9;

/// p of this attribute of hosts. `within` is one inside of whose levels hosts are exchanged; all are exchanged with all if it is `None`.
pub(crate) fn p_of(
    hosts: &[HostAttempts],
    attribute: &Attribute,
    within: Option<&Attribute>,
    seed: u64,
) -> f64 {
    let known = Known::of(hosts, attribute, within);
    let seen = known.statistic(&known.deviations);
    let mut random = Random::new(seed);
    let mut permuted = known.deviations.clone();
    let mut reached = 1_u32;
    for _ in 0..PERMUTATIONS {
        for stratum in &known.strata {
            random.shuffle(&mut permuted[stratum.clone()]);
        }
        reached += u32::from(known.statistic(&permuted) >= seen - ROUNDING);
    }
    f64::from(reached) / f64::from(PERMUTATIONS + 1)
}

/// The share of the variance of deviations that lies between the levels, or on a line through them, 0 to 1.
pub(crate) fn explained(hosts: &[HostAttempts], attribute: &Attribute) -> f64 {
    let known = Known::of(hosts, attribute, None);
    let all: f64 = known.deviations.iter().map(|deviation| deviation * deviation).sum();
    if all > 0.0 { known.statistic(&known.deviations) / all } else { 0.0 }
}

/// The hosts of which an attribute is known, by stratum.
struct Known {
    strata: Vec<Range<usize>>,
    level_of: Vec<usize>,
    deviations: Vec<f64>,
    /// Hosts of each level.
    counts: Vec<f64>,
    scale: Scale,
}

impl Known {
    fn of(hosts: &[HostAttempts], attribute: &Attribute, within: Option<&Attribute>) -> Self {
        let stratum = |host: usize| within.map_or(Some(0), |within| within.level_of[host]);
        let mut places: Vec<(usize, usize, HostAttempts)> = (0..hosts.len())
            .filter_map(|host| Some((stratum(host)?, attribute.level_of[host]?, hosts[host])))
            .collect();
        places.sort_by_key(|place| place.0);
        let (mut strata, mut deviations): (Vec<Range<usize>>, Vec<f64>) = (Vec::new(), Vec::new());
        for stratum in places.chunk_by(|one, other| one.0 == other.0) {
            strata.push(deviations.len()..deviations.len() + stratum.len());
            deviations.extend(standardised(&stratum.iter().map(|place| place.2).collect::<Vec<_>>()));
        }
        let mut counts = vec![0.0; attribute.levels.len()];
        places.iter().for_each(|place| counts[place.1] += 1.0);
        let level_of = places.iter().map(|place| place.1).collect();
        Self { strata, level_of, deviations, counts, scale: attribute.scale }
    }

    fn statistic(&self, deviations: &[f64]) -> f64 {
        let mut sums = vec![0.0; self.counts.len()];
        self.level_of.iter().zip(deviations).for_each(|(level, deviation)| sums[*level] += deviation);
        let levels = || self.counts.iter().zip(&sums).filter(|(count, _)| **count > 0.0);
        match self.scale {
            Scale::Names => levels().map(|(count, sum)| sum * sum / count).sum(),
            Scale::Numbers => {
                let hosts: f64 = self.counts.iter().sum();
                let places = || self.counts.iter().enumerate().map(|(place, count)| (place as f64, count));
                let middle = places().map(|(place, count)| place * count).sum::<f64>() / hosts;
                let spread: f64 = places().map(|(place, count)| (place - middle).powi(2) * count).sum();
                let together: f64 =
                    sums.iter().enumerate().map(|(place, sum)| (place as f64 - middle) * sum).sum();
                if spread > 0.0 { together * together / spread } else { 0.0 }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(level_of: &[usize]) -> Attribute {
        let levels = level_of.iter().max().map_or(0, |last| last + 1);
        Attribute {
            facts: vec!["fact".to_owned()],
            level_of: level_of.iter().copied().map(Some).collect(),
            levels: vec![vec!["value".to_owned()]; levels],
            scale: Scale::Names,
        }
    }

    fn hosts(past: impl IntoIterator<Item = u64>) -> Vec<HostAttempts> {
        past.into_iter().map(|past| HostAttempts { past, attempts: 1000 }).collect()
    }

    #[test]
    fn p_is_that_of_all_permutations() {
        // Of 8 hosts in two halves: the 70 divisions are equally likely, two of them as extreme as this one.
        let past = hosts([10, 20, 30, 40, 500, 510, 520, 530]);
        let (halves, pairs) = (names(&[0, 0, 0, 0, 1, 1, 1, 1]), names(&[0, 1, 0, 1, 0, 1, 0, 1]));
        let p = p_of(&past, &halves, None, 1);
        assert!((p - 2.0 / 70.0).abs() < 0.006, "{p}");
        assert!(p_of(&past, &pairs, None, 1) > 0.3);
        assert!(explained(&past, &halves) > 0.99);
        assert_eq!(explained(&hosts([500; 8]), &halves), 0.0);
        // Of numbers the order counts: four levels of two each, in their order.
        let mut quarters = names(&[0, 0, 1, 1, 2, 2, 3, 3]);
        quarters.scale = Scale::Numbers;
        assert!(p_of(&hosts([10, 20, 30, 40, 50, 60, 70, 80]), &quarters, None, 1) < 0.01);
    }

    #[test]
    fn what_another_attribute_says_already_is_no_news() {
        let mut noise = Random::new(3);
        let slots: Vec<usize> = (0..40).map(|host| host / 20).collect();
        // Half of the hosts with many slots are new, and no other.
        let age: Vec<usize> = (0..40).map(|host| usize::from(host >= 26)).collect();
        let past = hosts(slots.iter().map(|slots| 100 * *slots as u64 + noise.below(10)));
        let (slots, age) = (names(&slots), names(&age));
        assert!(p_of(&past, &age, None, 1) < 0.001);
        assert!(p_of(&past, &age, Some(&slots), 1) > 0.02);
        assert_eq!(p_of(&past, &slots, Some(&slots), 1), 1.0);
    }

    #[test]
    fn hosts_of_which_nothing_is_known_have_no_part() {
        let past = hosts([10, 10, 10, 10, 10, 10, 900, 900, 900, 900]);
        let mut told = names(&[0, 1, 0, 1, 0, 1, 0, 0, 0, 0]);
        told.level_of[6..].fill(None);
        assert_eq!(p_of(&past, &told, None, 1), 1.0);
    }
}
