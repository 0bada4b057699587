//! How many independent attempts a sequence is worth.
//!
//! Attempts that follow each other closely meet the same caches, queues and neighbours; an interval that ignores this is too
//! narrow. What is asked of a sequence in time order is how much the sum of its deviations varies, against what independent
//! ones would: the *inflation*. The effective sample size is n by the greatest of
//!
//! - *the initial sequence*: 1 + 2 Σ ρ(lag), pairs of neighbouring lags as long as they are positive and do not grow (Geyer 1992), if ρ(1)
//!   exceeds what chance gives in one of twenty independent sequences (1.645/√n). Each ρ is too small by about 1/n of the sum, since the
//!   mean was taken away, so the sum is divided by 1 - window/n;
//! - *batch means* (Flegal and Jones 2010): the variance of sums over blocks of every length that leaves at least √n of them (12 to 32), where it
//!   exceeds that of independent ones by more than 3 of its standard errors;
//! - *long memory* (see [`super::long_memory`]): the sequence wanders on every scale, and a longer record would have wandered further.
//!
//! The inflation is an estimate itself: the number is multiplied by (1.96/t)², t having as many degrees of freedom as there are windows, two each, or
//! blocks. For shares in the tail there is one more bound, the number of stretches in which they lie, and one that was cut by an end of the record
//! may leave nothing to say (see [`super::clusters`]).
//!
//! How often intervals that rest on it cover the truth is in docs/calibration.md. Limits: what happens less than once in a record
//! is not known from it.

use super::worth::{EffectiveSampleSize, ROUNDING, Stretch, TAIL_SHARE, Worth};

use super::clusters::{CLUSTERS_LEAST, CutStorm, clustered};
use super::long_memory::LongMemory;
use crate::statistics::ranking::{ascending, normal_scores_in};
use crate::statistics::spectrum::fourier::autocorrelation;
use crate::statistics::student::CONFIDENCE;
use crate::statistics::student::{normal_density, normal_quantile, student_two_sided};

/// Sequences are cut into at most so many stretches before anything is asked of them.
pub const STRETCHES_MOST: usize = 4096;

/// Of longer sequences the stretches are at least so many.
const STRETCHES_LEAST: usize = 1024;

/// Fewer effective attempts on the smaller side of a limit do not tell how they depend on each other.
const FEW_OVER: f64 = 8.0;

/// Equal stretches of a sequence in time order: of one attempt each as long as there are no more than [`STRETCHES_MOST`].
pub fn stretches_of(is_over: &[bool]) -> Vec<Stretch> {
    let stretch = |part: &[bool]| Stretch {
        attempts: part.len() as u32,
        over: part.iter().filter(|over| **over).count() as u32,
    };
    is_over.chunks(stretch_length(is_over.len())).map(stretch).collect()
}

/// Which values lie beyond their quantile `q`. Of values that are equal to it, all do or none, whichever leaves a share nearer to 1 - q;
/// if nothing is greater, all do.
pub fn beyond_quantile(values: &[f64], quantile: f64, q: f64) -> Vec<bool> {
    let count = |is_over: &dyn Fn(&f64) -> bool| values.iter().filter(|value| is_over(value)).count() as f64;
    let wanted = (1.0 - q) * values.len() as f64;
    let (above, from) = (count(&|value| *value > quantile), count(&|value| *value >= quantile));
    let takes_equal = above == 0.0 || (from - wanted).abs() < (above - wanted).abs();
    values.iter().map(|value| *value > quantile || takes_equal && *value == quantile).collect()
}

fn stretch_length(values: usize) -> usize {
    if values <= STRETCHES_MOST { 1 } else { values / STRETCHES_LEAST }
}

/// What is known of a sequence as a whole when one share of it is asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level {
    /// What it is worth for its level, by normal scores.
    pub sample_size: EffectiveSampleSize,
    /// The part of it that no record is long enough for.
    pub memory: LongMemory,
    /// What its first or last values tell of the slowest.
    pub cut_storm: CutStorm,
}

impl Level {
    /// Of sums of normal scores over stretches of time, `attempts` in all.
    pub fn of_score_sums(sums: &[f64], attempts: u64) -> Self {
        let memory = LongMemory::of(sums, attempts);
        let inflation = Inflation::of(sums, attempts as f64).at_least(memory.inflation);
        let effective = attempts as f64 / inflation.factor();
        let sample_size = EffectiveSampleSize { attempts, effective };
        Self { sample_size, memory, cut_storm: CutStorm::of(sums) }
    }

    /// The same of a sequence whose first values are slow because nothing was in a cache yet.
    #[must_use]
    pub fn that_begins_cold(self) -> Self {
        Self { cut_storm: self.cut_storm.at_the_end(), ..self }
    }

    /// Of values in time order.
    pub fn of(values: &[f64]) -> Self {
        Self::of_ascending(&ascending(values), values)
    }

    /// The same, `order` being the places of the values from the smallest to the greatest.
    pub(crate) fn of_ascending(order: &[usize], values: &[f64]) -> Self {
        Self::of_score_sums(&score_sums_in(order, values), values.len() as u64)
    }
}

/// What the attempts in these stretches, in time order, are worth for the share over the limit.
pub fn worth_of_share(stretches: &[Stretch], level: &Level) -> Worth {
    let attempts: u64 = stretches.iter().map(|stretch| u64::from(stretch.attempts)).sum();
    let over: u64 = stretches.iter().map(|stretch| u64::from(stretch.over)).sum();
    let share = over as f64 / attempts.max(1) as f64;
    let own = if over == 0 || over == attempts {
        Worth::independent(attempts)
    } else {
        own_worth(stretches, (attempts, share), level.memory)
    };
    let may_be_filled = share <= TAIL_SHARE + ROUNDING && level.cut_storm.may_fill(share);
    // Whatever else lies beyond: this one stretch is why nothing is known of it, at each quantile alike.
    let own = Worth { few_stretches: may_be_filled.then_some(1).or(own.few_stretches), ..own };
    let on_fewer_side = share.min(1.0 - share) * own.effective;
    if on_fewer_side >= FEW_OVER {
        return own;
    }
    // So few say little of how they depend on each other: then the whole sequence speaks for them, as far as that reaches into the tail.
    let least = (1.0 - share).min(share).max(0.5 / attempts.max(1) as f64);
    let inflation = 1.0 + covariance_share(least) * (1.0 / level.sample_size.ratio() - 1.0);
    Worth { effective: own.effective.min(attempts as f64 / inflation), ..own }
}

fn own_worth(stretches: &[Stretch], (attempts, share): (u64, f64), memory: LongMemory) -> Worth {
    let deviation = |one: &Stretch| f64::from(one.over) - share * f64::from(one.attempts);
    let deviations: Vec<f64> = stretches.iter().map(deviation).collect();
    let independent = attempts as f64 * share * (1.0 - share);
    let inflation = Inflation::of(&deviations, independent).at_least(memory.inflation_at(share));
    let worth = Worth { effective: attempts as f64 / inflation.factor(), few_stretches: None };
    if share > TAIL_SHARE + ROUNDING {
        return worth;
    }
    match clustered(stretches) {
        Some(found) => Worth {
            effective: worth.effective.min(found.effective / share),
            few_stretches: (found.effective < CLUSTERS_LEAST).then_some(found.stretches),
        },
        None => worth,
    }
}

/// How much of the integrated correlation of a normal sequence that forgets exponentially is in the indicator of the upper `share` of it: Σ c²/m over the
/// terms of the indicator's Hermite expansion, whose correlations are the powers m of the sequence's.
fn covariance_share(share: f64) -> f64 {
    const TERMS: i32 = 12;
    let limit = normal_quantile(1.0 - share);
    let scale = normal_density(limit).powi(2) / (share * (1.0 - share));
    let (mut before, mut polynomial, mut factorial, mut sum) = (0.0, 1.0, 1.0, 0.0);
    for term in 1..=TERMS {
        let order = f64::from(term);
        factorial *= order;
        sum += scale * polynomial * polynomial / factorial / order;
        (before, polynomial) = (polynomial, limit * polynomial - (order - 1.0) * before);
    }
    sum
}

/// What this sequence of values in time order is worth, by its normal scores: one long stall does not decide. Infinite values are
/// ranked like any other.
pub fn effective_sample_size_of(values: &[f64]) -> EffectiveSampleSize {
    Level::of(values).sample_size
}

/// How many times as much the sum of this sequence's normal scores varies as that of independent ones, short correlation alone: for tests that
/// scale a statistic.
pub fn inflation_of(values: &[f64]) -> f64 {
    Inflation::of(&score_sums_of(values), values.len() as f64).value
}

/// Sums of the normal scores of values in time order over equal stretches: of one value each as long as there are no more than
/// [`STRETCHES_MOST`].
pub fn score_sums_of(values: &[f64]) -> Vec<f64> {
    score_sums_in(&ascending(values), values)
}

fn score_sums_in(order: &[usize], values: &[f64]) -> Vec<f64> {
    let scores = normal_scores_in(order, values);
    scores.chunks(stretch_length(values.len())).map(|part| part.iter().sum()).collect()
}

/// How many times as much a sum varies as one of independent deviations.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Inflation {
    value: f64,
    /// Degrees of freedom of the estimate; absent where chance explains all.
    freedom: Option<f64>,
}

impl Inflation {
    /// Of deviations from a mean, in time order; `independent` is what the variance of their sum would be.
    fn of(deviations: &[f64], independent: f64) -> Self {
        let mut inflation = Self { value: 1.0, freedom: None };
        if deviations.len() < 4 || independent <= 0.0 {
            return inflation;
        }
        if let Some(found) = Self::of_initial_sequence(deviations, independent) {
            inflation = inflation.greater(found);
        }
        let mut sums = deviations.to_vec();
        let least = ((sums.len() as f64).sqrt() as usize).clamp(12, 32);
        while sums.len() >= least {
            let freedom = sums.len() as f64 - 1.0;
            let squares: f64 = sums.iter().map(|sum| sum * sum).sum();
            let value = squares / independent * (freedom + 1.0) / freedom;
            if value > 1.0 + 3.0 * (2.0 / freedom).sqrt() {
                inflation = inflation.greater(Self { value, freedom: Some(freedom) });
            }
            sums = sums.chunks(2).map(|pair| pair.iter().sum()).collect();
        }
        inflation
    }

    fn of_initial_sequence(deviations: &[f64], independent: f64) -> Option<Self> {
        let n = deviations.len() as f64;
        let products = |lag: usize| -> f64 {
            deviations[lag..].iter().zip(deviations).map(|(late, early)| late * early).sum()
        };
        let own = products(0);
        if own <= 0.0 || products(1) / own <= 1.645 / n.sqrt() {
            return None;
        }
        let rho = autocorrelation(deviations);
        let (mut sum, mut lags, mut last) = (0.0, 0.0, f64::INFINITY);
        for pair in rho[..rho.len() / 2].chunks_exact(2).map(|pair| pair[0] + pair[1]) {
            if pair <= 0.0 {
                break;
            }
            last = pair.min(last);
            sum += last;
            lags += 2.0;
        }
        let window = 2.0 * lags - 1.0;
        let unbiased = (1.0 - window / n).max(0.05);
        let value = (2.0 * sum - 1.0).max(1.0) * own / independent / unbiased;
        (window >= 1.0).then(|| Self { value, freedom: Some((n / (2.0 * window)).max(1.0)) })
    }

    /// The greater of two estimates, with the fewer degrees of freedom.
    fn greater(self, other: Self) -> Self {
        if other.value <= self.value {
            return self;
        }
        let freedom = [self.freedom, other.freedom].into_iter().flatten().reduce(f64::min);
        Self { value: other.value, freedom }
    }

    fn at_least(self, value: f64) -> Self {
        Self { value: self.value.max(value), ..self }
    }

    /// By how much a number of attempts is to be divided.
    fn factor(self) -> f64 {
        let two_sided = |freedom: f64| {
            student_two_sided(freedom, CONFIDENCE) / student_two_sided(f64::INFINITY, CONFIDENCE)
        };
        self.value * self.freedom.map_or(1.0, |freedom| two_sided(freedom).powi(2))
    }
}

/// Sample variance (n - 1); 0 for fewer than two.
pub(crate) fn variance_of(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (values.len() as f64 - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::dependence::worth::{QuantileWorth, lower_end_of};
    use iolag_model::Random;

    fn storms(n: usize, noise: &mut Random) -> Vec<bool> {
        let mut left = 0_u32;
        let mut next = || {
            left = if left == 0 && noise.unit() < 1.0 / 970.0 { 30 } else { left };
            let is_storm = left > 0;
            left = left.saturating_sub(1);
            is_storm
        };
        (0..n).map(|_| next()).collect()
    }

    fn independent(attempts: u64) -> Level {
        Level {
            sample_size: EffectiveSampleSize::independent(attempts),
            memory: LongMemory::NONE,
            cut_storm: CutStorm::NONE,
        }
    }

    #[test]
    fn what_never_happened_is_worth_what_the_sequence_is_worth_in_the_tail() {
        let sample_size = EffectiveSampleSize { attempts: 1000, effective: 10.0 };
        let level = Level { sample_size, memory: LongMemory::NONE, cut_storm: CutStorm::NONE };
        let worth = worth_of_share(&stretches_of(&[false; 1000]), &level);
        assert!((20.0..100.0).contains(&worth.effective), "{worth:?}");
        // Of a normal sequence (simulated: 0.69, 0.50, 0.31 for long correlation times).
        for (share, expected) in [(0.5, 0.69), (0.1, 0.5), (0.01, 0.31)] {
            assert!(
                (covariance_share(share) - expected).abs() < 0.03,
                "{share}: {}",
                covariance_share(share)
            );
        }
    }

    #[test]
    fn a_share_in_storms_is_worth_their_number() {
        let mut noise = Random::new(30);
        let is_over = storms(10_000, &mut noise);
        let worth = worth_of_share(&stretches_of(&is_over), &independent(10_000));
        let happened = is_over.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
        let expected = happened / (is_over.iter().filter(|over| **over).count() as f64 / 10_000.0);
        assert!((0.4..1.5).contains(&(worth.effective / expected)), "{worth:?} {expected}");
        assert_eq!(worth.few_stretches, None);
        let one = worth_of_share(&stretches_of(&is_over[..1000]), &independent(1000));
        assert!(one.few_stretches.is_some_and(|few| few <= 4) || one.effective == 1000.0, "{one:?}");
    }

    #[test]
    fn parts_of_a_storm_are_no_storms_for_the_lower_end() {
        assert_eq!([0.5, 0.75].map(lower_end_of), [None; 2]);
        for (q, expected) in [(0.9, 0.8), (0.95, 0.9), (0.99, 0.98)] {
            assert!(lower_end_of(q).is_some_and(|lower| (lower - expected).abs() < 1e-12), "{q}");
        }
        // Six storms of 30 among 3000, as slow as one another: the slowest 1 % are any of their attempts.
        let mut noise = Random::new(1);
        let level = |place: usize| if place % 500 < 30 { 50.0 } else { 1.0 };
        let values: Vec<f64> = (0..3000).map(|place| level(place) * (0.6 * noise.normal()).exp()).collect();
        let mut sorted = values.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let known = Level::of(&values);
        let worth = |q: f64| {
            let quantile = sorted[(q * 3000.0 - 1e-9).ceil() as usize - 1];
            worth_of_share(&stretches_of(&beyond_quantile(&values, quantile, q)), &known)
        };
        let found = QuantileWorth::of(0.99, worth);
        assert_eq!(found.beyond, worth(0.99));
        assert_eq!(found.effective_of_lower_end, worth(0.98).effective);
        assert!(found.effective_of_lower_end < 0.75 * found.beyond.effective, "{found:?}");
        assert!((5.0..8.0).contains(&(found.effective_of_lower_end * 0.02)), "{found:?}");
    }

    #[test]
    fn equal_values_lie_beyond_their_quantile_together() {
        let values = [1.0, 1.0, 1.0, 9.0, 9.0, 9.0];
        let beyond =
            |quantile: f64, q: f64| beyond_quantile(&values, quantile, q).iter().filter(|is| **is).count();
        assert_eq!([beyond(1.0, 0.5), beyond(9.0, 0.6), beyond(9.0, 0.95)], [3, 3, 3]);
    }

    #[test]
    fn nothing_one_value_and_equal_values_are_worth_what_they_are() {
        for values in [vec![], vec![1.0], vec![2.0; 2], vec![f64::INFINITY; 100]] {
            let size = effective_sample_size_of(&values);
            assert_eq!(size, EffectiveSampleSize::independent(values.len() as u64));
            let worth = worth_of_share(&stretches_of(&vec![true; values.len()]), &Level::of(&values));
            assert_eq!(worth, Worth::independent(values.len() as u64));
        }
    }
}
