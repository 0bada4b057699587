//! Has a short sequence changed its level once, or does it drift, in noise that may remember the value before?
//!
//! *Likelihood ratio.* A constant in noise of first order (each value resembles the one before by some coefficient, fitted) is held against a step with at
//! least [`SIDE_LEAST`] values on either side, or a straight line, in noise whose coefficient is fitted anew: a great step is not taken for memory, nor
//! memory for a step. What lies more than three robust deviations from the median counts as that far away, so that a few bad values decide nothing.
//!
//! *Chance.* The ratio is held against those of noise with a coefficient of [`MEMORY`]: noise that remembers less gives as great ones less often. Noise that
//! remembers more gives them more often, and ten values do not tell which it is: that is the limit of what is said of so few (docs/calibration.md has the
//! rates).

/// Values that either level must have.
pub(crate) const SIDE_LEAST: usize = 3;

/// How much values of the noise that chance is judged by resemble the one before.
pub(crate) const MEMORY: f64 = 0.5;

/// Coefficients that are tried.
const MEMORIES: [f64; 14] = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.98];

/// How far from the median a value counts, in deviations.
const DEVIATIONS_MOST: f64 = 3.0;
/// The quartiles of a normal distribution are so many deviations apart.
const QUARTILES_APART: f64 = 1.349;

/// What has this probability at most is interpolated, and beyond that extrapolated.
const CHANCES: [f64; 9] = [0.3, 0.1, 0.05, 0.03, 0.01, 0.003, 0.001, 0.0003, 0.0001];

/// Ratios that noise exceeds with these probabilities, by the number of values: 100,000 to 1,000,000 simulated sequences each.
const RATIOS: [(f64, [f64; 9]); 12] = [
    (6.0, [4.45, 8.23, 10.29, 11.71, 14.73, 18.12, 21.30, 24.90, 28.23]),
    (7.0, [5.12, 8.73, 10.64, 11.94, 14.71, 17.91, 20.86, 24.13, 27.30]),
    (8.0, [5.65, 9.11, 10.89, 12.13, 14.74, 17.68, 20.58, 23.70, 26.97]),
    (10.0, [6.00, 9.36, 11.05, 12.20, 14.69, 17.43, 19.92, 22.91, 25.55]),
    (12.0, [6.31, 9.65, 11.30, 12.42, 14.70, 17.18, 19.46, 21.95, 24.19]),
    (15.0, [6.48, 9.77, 11.47, 12.62, 14.90, 17.27, 19.36, 21.57, 23.71]),
    (20.0, [6.61, 9.87, 11.63, 12.81, 15.14, 17.45, 19.39, 21.53, 23.58]),
    (30.0, [6.66, 9.79, 11.57, 12.81, 15.36, 17.94, 20.07, 22.37, 24.15]),
    (50.0, [6.66, 9.60, 11.32, 12.55, 15.15, 17.87, 20.15, 22.51, 24.55]),
    (100.0, [6.75, 9.54, 11.18, 12.36, 14.84, 17.44, 19.72, 22.05, 24.16]),
    (200.0, [6.87, 9.61, 11.23, 12.37, 14.75, 17.36, 19.65, 22.30, 24.15]),
    (400.0, [7.01, 9.72, 11.33, 12.48, 14.90, 17.45, 19.67, 21.77, 24.86]),
];

/// What explains a sequence best, besides a constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FewTerm {
    /// Another level from this place on.
    Step(usize),
    /// A straight line.
    Line,
}

/// An explanation of a sequence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct FewExplained {
    /// What it is.
    pub(crate) term: FewTerm,
    /// Probability that noise is explained as well.
    pub(crate) p: f64,
    /// How much values of what is left resemble the one before.
    memory: f64,
}

/// How far two levels are apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Apart {
    /// The level after less that before.
    pub(crate) size: f64,
    /// Its standard error, in noise that remembers by [`MEMORY`] at least.
    pub(crate) error: f64,
}

/// The best explanation of these values; `None` if they are too few for two levels, or all equal.
pub(crate) fn explain_few(values: &[f64]) -> Option<FewExplained> {
    if values.len() < 2 * SIDE_LEAST {
        return None;
    }
    let (ratio, term, memory) = likelihood_ratio(&clipped(values))?;
    Some(FewExplained { term, memory, p: chance(ratio, values.len()) })
}

impl FewExplained {
    /// How far the levels before and after a place are apart, whatever lies far from the median; of what is left by this explanation.
    pub(crate) fn apart(&self, values: &[f64], place: usize) -> Apart {
        let white = Whitened::of(values, self.memory.max(MEMORY));
        let step = white.step(place, white.values[place + 1..].iter().sum());
        let variance = (white.rest() - step.explains).max(0.0) / (values.len() as f64 - 2.0);
        Apart { size: step.size, error: (variance / step.weight).sqrt() }
    }
}

fn clipped(values: &[f64]) -> Vec<f64> {
    let mut ordered = values.to_vec();
    ordered.sort_unstable_by(f64::total_cmp);
    let last = ordered.len() - 1;
    let quarter = (0.25 * last as f64).round() as usize;
    let reach = DEVIATIONS_MOST * (ordered[last - quarter] - ordered[quarter]) / QUARTILES_APART;
    if reach <= 0.0 {
        // Most are equal: there is nothing to measure by.
        return values.to_vec();
    }
    let middle = (ordered[last / 2] + ordered[last.div_ceil(2)]) / 2.0;
    values.iter().map(|value| value.clamp(middle - reach, middle + reach)).collect()
}

/// Twice the logarithm of the greatest likelihood with a step or a line by that without, what it is, and the memory of what is left.
fn likelihood_ratio(values: &[f64]) -> Option<(f64, FewTerm, f64)> {
    let count = values.len() as f64;
    let mut constant = f64::NEG_INFINITY;
    let mut best: Option<(f64, FewTerm, f64)> = None;
    for memory in MEMORIES {
        let white = Whitened::of(values, memory);
        let rest = white.rest();
        // What is left by numbers that cannot be told from none is none.
        let least = 1e-12 * white.squares.max(f64::MIN_POSITIVE);
        if rest <= least {
            return None;
        }
        let likelihood = |rest: f64| 0.5 * (1.0 - memory * memory).ln() - 0.5 * count * rest.max(least).ln();
        constant = constant.max(likelihood(rest));
        let (explains, term) = white.best();
        let found = likelihood(rest - explains);
        if best.is_none_or(|(known, ..)| found > known) {
            best = Some((found, term, memory));
        }
    }
    best.map(|(found, term, memory)| (2.0 * (found - constant), term, memory))
}

/// Values less that part of the one before which noise of this memory has in common with it: what is left is independent.
struct Whitened {
    memory: f64,
    values: Vec<f64>,
    squares: f64,
    /// The constant 1, whitened: its first value, and all others.
    first: f64,
    others: f64,
    /// Products of the constant with itself and with the values.
    constant: f64,
    level: f64,
}

/// What a column explains beside the constant.
#[derive(Clone, Copy)]
struct Column {
    size: f64,
    explains: f64,
    /// The inverse variance of the size, for noise of variance 1.
    weight: f64,
}

impl Whitened {
    fn of(values: &[f64], memory: f64) -> Self {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let (first, others) = ((1.0 - memory * memory).sqrt(), 1.0 - memory);
        let begin = values.iter().take(1).map(|value| first * (value - mean));
        let next = values.windows(2).map(|pair| pair[1] - mean - memory * (pair[0] - mean));
        let values: Vec<f64> = begin.chain(next).collect();
        let squares = values.iter().map(|value| value * value).sum();
        let level = first * values[0] + others * values[1..].iter().sum::<f64>();
        let constant = first * first + (count - 1.0) * others * others;
        Self { memory, values, squares, first, others, constant, level }
    }

    /// Squares that the constant leaves.
    fn rest(&self) -> f64 {
        self.squares - self.level * self.level / self.constant
    }

    /// A column by its products with the values, with itself and with the constant.
    fn column(&self, with_values: f64, with_itself: f64, with_constant: f64) -> Column {
        let weight = with_itself - with_constant * with_constant / self.constant;
        let product = with_values - with_constant * self.level / self.constant;
        Column { size: product / weight, explains: product * product / weight, weight }
    }

    /// 1 from this place on; `after` is the sum of all whitened values after it.
    fn step(&self, place: usize, after: f64) -> Column {
        let further = (self.values.len() - place - 1) as f64;
        let with_values = self.values[place] + self.others * after;
        let with_itself = 1.0 + further * self.others * self.others;
        self.column(with_values, with_itself, self.others * (1.0 + further * self.others))
    }

    fn line(&self) -> Column {
        let middle = (self.values.len() as f64 - 1.0) / 2.0;
        let at = |place: usize| match place {
            0 => -self.first * middle,
            place => self.others * (place as f64 - middle) + self.memory,
        };
        let (mut with_values, mut with_itself, mut with_constant) = (0.0, 0.0, 0.0);
        for (place, value) in self.values.iter().enumerate() {
            let constant = if place == 0 { self.first } else { self.others };
            with_values += at(place) * value;
            with_itself += at(place) * at(place);
            with_constant += at(place) * constant;
        }
        self.column(with_values, with_itself, with_constant)
    }

    /// What explains most, and how much.
    fn best(&self) -> (f64, FewTerm) {
        let mut best = (self.line().explains, FewTerm::Line);
        let mut after = 0.0;
        for place in (SIDE_LEAST..self.values.len()).rev() {
            if self.values.len() - place >= SIDE_LEAST {
                let explains = self.step(place, after).explains;
                if explains > best.0 {
                    best = (explains, FewTerm::Step(place));
                }
            }
            after += self.values[place];
        }
        best
    }
}

/// Probability of a ratio as great in noise.
fn chance(ratio: f64, count: usize) -> f64 {
    let count = (count as f64).clamp(RATIOS[0].0, RATIOS[RATIOS.len() - 1].0);
    let above = RATIOS.partition_point(|row| row.0 < count);
    let (low, high) = (RATIOS[above.max(1) - 1], RATIOS[above.min(RATIOS.len() - 1)]);
    let part = if low.0 < high.0 { (1.0 / low.0 - 1.0 / count) / (1.0 / low.0 - 1.0 / high.0) } else { 0.0 };
    let at = |index: usize| low.1[index] + part * (high.1[index] - low.1[index]);
    if ratio < at(0) {
        return 1.0;
    }
    // Beyond the least chance the tail goes on as it was before.
    let upper = (1..CHANCES.len() - 1).find(|index| ratio < at(*index)).unwrap_or(CHANCES.len() - 1);
    let beyond = (ratio - at(upper - 1)) / (at(upper) - at(upper - 1));
    let (from, to) = (CHANCES[upper - 1].ln(), CHANCES[upper].ln());
    (from + beyond * (to - from)).exp()
}

#[cfg(test)]
mod tests {
    use iolag_model::Random;
    use proptest::prelude::*;

    use super::*;

    fn noise(count: usize, memory: f64, source: &mut Random) -> Vec<f64> {
        let mut state = source.normal();
        let rest = (1.0 - memory * memory).sqrt();
        let mut values = vec![state];
        values.resize_with(count, || {
            state = memory * state + rest * source.normal();
            state
        });
        values
    }

    /// The table is of these functions: what it says of noise is so.
    #[test]
    fn noise_exceeds_the_ratios_as_often_as_the_table_says() {
        for count in [6, 9, 10, 25, 70] {
            let mut source = Random::new(count as u64);
            let chances: Vec<f64> =
                (0..4000).map(|_| explain_few(&noise(count, MEMORY, &mut source)).unwrap().p).collect();
            for most in [0.1, 0.05, 0.01] {
                let share = chances.iter().filter(|p| **p <= most).count() as f64 / 4000.0;
                let by_chance = 4.0 * (most * (1.0 - most) / 4000.0_f64).sqrt();
                assert!((share - most).abs() < by_chance, "{count} values, {most}: {share}");
            }
        }
    }

    #[test]
    fn less_memory_makes_less_of_it_and_more_makes_more() {
        let share = |memory: f64| {
            let mut source = Random::new(1);
            let is_found = |_: &i32| explain_few(&noise(30, memory, &mut source)).unwrap().p <= 0.05;
            (0..1000).filter(is_found).count()
        };
        assert!(share(0.0) < 20 && share(0.3) < 50 && share(0.9) > 60, "{:?}", [0.0, 0.3, 0.9].map(share));
    }

    #[test]
    fn a_step_a_line_and_neither_are_told_apart() {
        let scatter = [0.3, -0.2, 0.1, 0.4, -0.5, 0.2, -0.3, 0.0, -0.1, 0.1, 0.2, -0.4];
        let with = |course: fn(usize) -> f64| -> Vec<f64> {
            scatter.iter().enumerate().map(|(place, value)| value + course(place)).collect()
        };
        let step = with(|place| if place < 7 { 0.0 } else { 3.0 });
        let found = explain_few(&step).unwrap();
        assert!(found.term == FewTerm::Step(7) && found.p < 0.001, "{found:?}");
        let apart = found.apart(&step, 7);
        assert!((apart.size - 3.0).abs() < 2.0 * apart.error && apart.error < 0.5, "{apart:?}");
        let line = explain_few(&with(|place| place as f64)).unwrap();
        assert!(line.term == FewTerm::Line && line.p < 0.001, "{line:?}");
        assert!(explain_few(&with(|_| 0.0)).unwrap().p > 0.1);
    }

    #[test]
    fn one_far_away_is_no_level_and_equal_values_are_none_either() {
        let mut one = vec![0.3, -0.2, 0.1, 0.4, -0.5, 0.2, -0.3, 0.0, -0.1, 0.1];
        one[8] = -40.0;
        assert!(explain_few(&one).unwrap().p > 0.05);
        assert_eq!((explain_few(&[1.0; 5]), explain_few(&[1.0; 50])), (None, None));
        let exact = [[1.0; 5], [2.0; 5]].concat();
        assert_eq!(explain_few(&exact).unwrap().term, FewTerm::Step(5));
    }

    proptest! {
        #[test]
        fn neither_unit_nor_sign_nor_direction_of_time_matters(
            values in proptest::collection::vec(-5.0..5.0_f64, 6..40),
            by in 0.1..10.0_f64,
            to in -50.0..50.0_f64,
        ) {
            let p = |values: Vec<f64>| explain_few(&values).map_or(1.0, |found| found.p);
            let is_same = |one: f64, other: f64| (one - other).abs() <= 1e-6 + 1e-3 * one;
            let own = p(values.clone());
            prop_assert!(is_same(own, p(values.iter().map(|value| value * by + to).collect())));
            prop_assert!(is_same(own, p(values.iter().map(|value| -value).collect())));
            prop_assert!(is_same(own, p(values.iter().rev().copied().collect())));
        }
    }
}
