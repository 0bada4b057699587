//! Does one series follow another? Correlation at lags of whole slots to both sides.
//!
//! At each lag the right series is moved in time and joined again by nearest time; where both have a profile by hour, what is left beyond it is
//! correlated. The greatest coefficient is tested at its lag, and its p multiplied by the number of lags that were looked at (Bonferroni), since the best of many is good by chance.

use iolag_model::Nanoseconds;
use serde::{Deserialize, Serialize};

use super::coefficient::{
    Correlation, CorrelationMethod, Scored, coefficient_of_pairs, correlate_pairs, correlate_rests,
};
use super::join::join_nearest;
use crate::history::series::timed_values::TimedValues;

/// A coefficient at one lag.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LagCoefficient {
    /// How many slots the right series follows the left one; negative if it precedes it.
    pub slots: i64,
    /// Values that met at this lag.
    pub pairs: u64,
    /// Their coefficient.
    pub coefficient: f64,
}

/// Coefficients at all lags.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LagScan {
    /// Length of a slot.
    pub slot_ns: Nanoseconds,
    /// In the order of lags; those with too few pairs are left out.
    pub coefficients: Vec<LagCoefficient>,
    /// The lag whose coefficient is furthest from zero; of equal ones that nearest to no lag.
    pub best_slots: i64,
    /// The correlation there, its p corrected for the number of lags.
    pub best: Correlation,
    /// That p after all pairs and lags of the matrix were counted.
    pub p_adjusted: f64,
}

/// Scans from `-slots_max` to `slots_max` slots; a slot is the longer of the two usual spacings. `None` if there are too few pairs at
/// every lag.
pub fn scan_lags(
    left: &TimedValues,
    right: &TimedValues,
    slots_max: u32,
    method: CorrelationMethod,
) -> Option<LagScan> {
    scan_scored(&Scored::of(left, method)?, &Scored::of(right, method)?, slots_max)
}

/// The same of series that were prepared before.
pub(crate) fn scan_scored(left: &Scored, right: &Scored, slots_max: u32) -> Option<LagScan> {
    let slot = left.slot(right);
    if slot == Nanoseconds::ZERO {
        return None;
    }
    let tolerance = left.tolerance(right);
    let slots_max = i64::from(slots_max);
    let joined = |slots: i64| {
        let shift_ns = i64::try_from(slot.0).unwrap_or(i64::MAX).saturating_mul(-slots);
        join_nearest(left.moments(), right.moments(), shift_ns, tolerance)
    };
    let coefficients: Vec<LagCoefficient> = (-slots_max..=slots_max)
        .filter_map(|slots| {
            let pairs = joined(slots);
            let coefficient = coefficient_of_pairs(left, right, &pairs)?;
            Some(LagCoefficient { slots, pairs: pairs.len() as u64, coefficient })
        })
        .collect();
    let further = |one: &&LagCoefficient, other: &&LagCoefficient| {
        let by_size = one.coefficient.abs().total_cmp(&other.coefficient.abs());
        by_size.then(other.slots.abs().cmp(&one.slots.abs()))
    };
    let best_slots = coefficients.iter().max_by(further)?.slots;
    let pairs = joined(best_slots);
    let mut best = correlate_rests(left, right, &pairs).or_else(|| correlate_pairs(left, right, &pairs))?;
    best.p = (best.p * coefficients.len() as f64).min(1.0);
    Some(LagScan { slot_ns: slot, coefficients, best_slots, p_adjusted: best.p, best })
}

#[cfg(test)]
mod tests {
    use iolag_model::WallTime;

    use super::*;
    use iolag_model::Random;

    fn series(values: &[f64], offset: i64, noise: &mut Random) -> TimedValues {
        let moments: Vec<WallTime> = (0..values.len())
            .map(|slot| {
                let jitter = (noise.unit() * 60.0) as i64;
                WallTime::from_seconds(slot as i64 * 900 + offset + jitter)
            })
            .collect();
        TimedValues::known(&moments, values)
    }

    #[test]
    fn a_lag_of_three_slots_is_recovered() {
        let mut noise = Random::new(11);
        let cause: Vec<f64> = (0..700).map(|_| noise.normal()).collect();
        let effect: Vec<f64> = (0..700)
            .map(|slot| if slot < 3 { 0.0 } else { cause[slot - 3] } + 0.8 * noise.normal())
            .collect();
        let (left, right) = (series(&cause, 0, &mut noise), series(&effect, 300, &mut noise));
        let scan = scan_lags(&left, &right, 8, CorrelationMethod::Spearman).unwrap();
        assert_eq!((scan.best_slots, scan.coefficients.len()), (3, 17));
        assert!(scan.best.coefficient > 0.6 && scan.best.p < 0.01, "{:?}", scan.best);
        let back = scan_lags(&right, &left, 8, CorrelationMethod::Spearman).unwrap();
        assert_eq!(back.best_slots, -3);
    }

    #[test]
    fn the_best_of_many_lags_of_noise_is_not_significant() {
        let mut noise = Random::new(12);
        let significant = (0..60).filter(|_| {
            let values: Vec<f64> = (0..200).map(|_| noise.normal()).collect();
            let others: Vec<f64> = (0..200).map(|_| noise.normal()).collect();
            let (left, right) = (series(&values, 0, &mut noise), series(&others, 300, &mut noise));
            let scan = scan_lags(&left, &right, 8, CorrelationMethod::Spearman).unwrap();
            scan.best.p < 0.05
        });
        assert!(significant.count() <= 7);
    }
}
