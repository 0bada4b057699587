//! Whether levels differ by more than chance: ranks of hosts, given to hosts at random.
//!
//! The statistic is that of Kruskal and Wallis (1952), of which only the sum over levels of the squared sum of ranks by their number varies. p is the
//! share of permutations that reach what was seen, both counting the seen one (Phipson and Smyth 2010), so it is never 0.
//! Permutations within the levels of another attribute ask what is left when that is known.

use iolag_model::Random;

use crate::statistics::ranking::mid_ranks;

/// Permutations of a test.
const PERMUTATIONS: u32 = 9_999;
/// Rounding is no difference.
const ROUNDING: f64 = 1e-9;

/// p of each of these divisions of hosts into levels, which see the same permutations. `within` are levels inside of which hosts are
/// exchanged; all are exchanged with all if it is `None`.
pub(crate) fn p_of(shares: &[f64], divisions: &[&[usize]], within: Option<&[usize]>, seed: u64) -> Vec<f64> {
    let one = vec![0; shares.len()];
    let strata = members(within.unwrap_or(&one));
    let mut ranks = mid_ranks(shares);
    for stratum in &strata {
        let mean = stratum.iter().map(|host| ranks[*host]).sum::<f64>() / stratum.len().max(1) as f64;
        stratum.iter().for_each(|host| ranks[*host] -= mean);
    }
    let levels: Vec<Vec<Vec<usize>>> = divisions.iter().map(|division| members(division)).collect();
    let seen: Vec<f64> = levels.iter().map(|levels| between(&ranks, levels)).collect();
    let mut reached = vec![1_u32; divisions.len()];
    let mut random = Random::new(seed);
    let mut permuted = ranks.clone();
    for _ in 0..PERMUTATIONS {
        for stratum in &strata {
            let mut order = stratum.clone();
            random.shuffle(&mut order);
            stratum.iter().zip(order).for_each(|(host, from)| permuted[*host] = ranks[from]);
        }
        for ((levels, seen), reached) in levels.iter().zip(&seen).zip(&mut reached) {
            *reached += u32::from(between(&permuted, levels) >= seen - ROUNDING);
        }
    }
    reached.into_iter().map(|reached| f64::from(reached) / f64::from(PERMUTATIONS + 1)).collect()
}

/// The share of the variance of ranks that lies between the levels, 0 to 1.
pub(crate) fn explained(shares: &[f64], division: &[usize]) -> f64 {
    let ranks = mid_ranks(shares);
    let mean = (shares.len() as f64 + 1.0) / 2.0;
    let centred: Vec<f64> = ranks.iter().map(|rank| rank - mean).collect();
    let all: f64 = centred.iter().map(|rank| rank * rank).sum();
    if all > 0.0 { between(&centred, &members(division)) / all } else { 0.0 }
}

fn between(ranks: &[f64], levels: &[Vec<usize>]) -> f64 {
    let part = |level: &Vec<usize>| {
        let sum: f64 = level.iter().map(|host| ranks[*host]).sum();
        sum * sum / level.len().max(1) as f64
    };
    levels.iter().map(part).sum()
}

/// The hosts of each level.
fn members(division: &[usize]) -> Vec<Vec<usize>> {
    let mut levels = vec![Vec::new(); division.iter().max().map_or(0, |last| last + 1)];
    division.iter().enumerate().for_each(|(host, level)| levels[*level].push(host));
    levels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p_is_that_of_all_permutations() {
        // Of 8 hosts in two halves: the 70 divisions are equally likely, two of them as extreme as this one.
        let shares = [0.01, 0.02, 0.03, 0.04, 0.5, 0.6, 0.7, 0.8];
        let halves: [usize; 8] = [0, 0, 0, 0, 1, 1, 1, 1];
        let pairs: [usize; 8] = [0, 1, 0, 1, 0, 1, 0, 1];
        let [p, of_pairs] = p_of(&shares, &[&halves, &pairs], None, 1)[..] else { panic!("two were asked") };
        assert!((p - 2.0 / 70.0).abs() < 0.006, "{p}");
        assert!(of_pairs > 0.3, "{of_pairs}");
        assert!((explained(&shares, &halves) - 16.0 * 2.0 / 42.0).abs() < 1e-9);
        assert_eq!(explained(&[0.5; 8], &halves), 0.0);
    }

    #[test]
    fn what_another_attribute_says_already_is_no_news() {
        let mut noise = Random::new(3);
        let slots: Vec<usize> = (0..40).map(|host| host / 20).collect();
        // Half of the hosts with many slots are new, and no other.
        let age: Vec<usize> = (0..40).map(|host| usize::from(host >= 26)).collect();
        let shares: Vec<f64> = slots.iter().map(|slots| 0.1 * *slots as f64 + 0.01 * noise.unit()).collect();
        assert!(p_of(&shares, &[&age], None, 1)[0] < 0.001);
        assert!(p_of(&shares, &[&age], Some(&slots), 1)[0] > 0.02);
        assert_eq!(p_of(&shares, &[&slots], Some(&slots), 1)[0], 1.0);
    }
}
