//! Few attempts, in order of time.

use iolag_model::Nanoseconds;

use super::worth::GroupWorth;
use crate::statistics::dependence::effective_size::{Level, beyond_quantile, stretches_of, worth_of_share};
use crate::statistics::dependence::worth::{QuantileWorth, Worth};
use crate::statistics::quantile::censored::QUANTILES;

/// Parts whose means tell how it went on.
pub(crate) const PARTS: usize = 32;

pub(crate) fn worth_of_list(mut list: Vec<(i64, u64, bool)>, thresholds: &[Nanoseconds]) -> GroupWorth {
    list.sort_unstable();
    let length = list.len().div_ceil(PARTS).max(1);
    let mean =
        |part: &[(i64, u64, bool)]| part.iter().map(|one| one.1 as f64).sum::<f64>() / part.len() as f64;
    // A last shorter part says less than the others.
    let parts = list.chunks(length).filter(|part| part.len() == length).map(mean).collect();
    let durations: Vec<u64> = list
        .into_iter()
        .map(|(_, duration, has_ended)| if has_ended { duration } else { u64::MAX })
        .collect();
    let amounts: Vec<f64> = durations.iter().map(|duration| *duration as f64).collect();
    let level = Level::of(&amounts).that_begins_cold();
    let worth = |is_over: &[bool]| worth_of_share(&stretches_of(is_over), &level);
    let over = |limit: &Nanoseconds| {
        worth(&durations.iter().map(|duration| *duration > limit.0).collect::<Vec<bool>>())
    };
    let mut sorted = amounts.clone();
    sorted.sort_unstable_by(f64::total_cmp);
    let quantile = |q: f64| {
        let rank = (q * sorted.len() as f64 - 1e-9).ceil().max(1.0) as usize;
        let beyond = |quantile: &f64| worth(&beyond_quantile(&amounts, *quantile, q));
        sorted.get(rank - 1).map_or(Worth::independent(0), beyond)
    };
    GroupWorth {
        sample_size: level.sample_size,
        quantiles: QUANTILES.map(|q| QuantileWorth::of(q, quantile)),
        thresholds: thresholds.iter().map(over).collect(),
        part_means_ns: Some(parts),
    }
}
