//! What somebody would find who knows the noise: how much of what is asked of a search for steps can be done at all.
//!
//! The oracle knows the coefficient and the deviation of autoregressive noise, fits a step at each place by least squares of what the noise's
//! innovations are then, and tells the best one. Like the search that is measured it must not err: it tells a step of noise alone, or of noise
//! on a straight line of whatever slope, in [`ERRORS`] of series each, which is 5 % of campaigns of six. Both thresholds are found by drawing.

use iolag_model::Random;

/// Share of series without a step that are said to have one.
const ERRORS: f64 = 0.0085;
/// Records drawn for each threshold.
const DRAWS: usize = 2000;
/// By how many standard deviations of the noise a straight line rises over the record: from lines that are hardly seen to such as are no step.
const RISES: [f64; 4] = [0.25, 0.5, 1.0, 2.0];

/// One that knows the noise of records of one length.
#[derive(Debug, Clone)]
pub struct StepOracle {
    coefficient: f64,
    /// A constant and a line, as innovations; of the line what is left by the constant.
    constant: Vec<f64>,
    line: Vec<f64>,
    /// Sum of squares of a step at each place, as innovations, as far as no constant explains it.
    worth: Vec<f64>,
    /// What a step must explain, and how much more than a line, in twice the logarithm of the likelihood.
    ratio_least: f64,
    margin: f64,
}

/// What explains a record.
struct Found {
    place: usize,
    ratio: f64,
    beyond_line: f64,
}

impl StepOracle {
    /// For records of `size` values, at least four, of noise with this coefficient.
    pub fn of(size: usize, coefficient: f64, noise: &mut Random) -> Self {
        let constant = innovations(&vec![1.0; size], coefficient);
        let rising: Vec<f64> = (0..size).map(|at| at as f64 / size as f64).collect();
        let line = without(&innovations(&rising, coefficient), &constant);
        let fresh = 1.0 - coefficient;
        let of_constant = product(&constant, &constant);
        let worth = (0..size).map(|place| {
            let after = (size - 1 - place) as f64 * fresh * fresh;
            1.0 + after - (fresh + after).powi(2) / of_constant
        });
        let mut oracle =
            Self { coefficient, constant, line, worth: worth.collect(), ratio_least: 0.0, margin: f64::MIN };
        let mut draw = |rise: f64| -> Vec<Found> {
            let drawn = (0..DRAWS).map(|_| {
                let noise = autoregressive(size, coefficient, noise);
                oracle.search(
                    &noise.iter().zip(&rising).map(|(noise, at)| noise + rise * at).collect::<Vec<f64>>(),
                )
            });
            drawn.collect()
        };
        let alone = exceeded(draw(0.0).iter().map(|found| found.ratio));
        let beyond = RISES.map(|rise| {
            let seen = |found: &Found| if found.ratio > alone { found.beyond_line } else { f64::MIN };
            exceeded(draw(rise).iter().map(seen))
        });
        oracle.ratio_least = alone;
        oracle.margin = beyond.into_iter().fold(f64::MIN, f64::max);
        oracle
    }

    /// The place of the step in these values, in standard deviations of the noise; `None` if there is none.
    pub fn find(&self, values: &[f64]) -> Option<usize> {
        let found = self.search(values);
        (found.ratio > self.ratio_least && found.beyond_line > self.margin).then_some(found.place)
    }

    fn search(&self, values: &[f64]) -> Found {
        let rest = without(&innovations(values, self.coefficient), &self.constant);
        let scale = 1.0 - self.coefficient * self.coefficient;
        let mut best = (0.0, 0);
        let mut after = 0.0;
        for place in (2..rest.len()).rev() {
            let sum = rest[place] + (1.0 - self.coefficient) * after;
            after += rest[place];
            if place + 1 < rest.len() && sum * sum / self.worth[place] > best.0 {
                best = (sum * sum / self.worth[place], place);
            }
        }
        let by_line = product(&rest, &self.line).powi(2) / product(&self.line, &self.line);
        Found { place: best.1, ratio: best.0 / scale, beyond_line: (best.0 - by_line) / scale }
    }
}

/// What the share [`ERRORS`] of these exceed.
fn exceeded(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(|one, other| other.total_cmp(one));
    values[(ERRORS * values.len() as f64) as usize]
}

/// What is new in each value, in the scale of the innovations.
fn innovations(values: &[f64], coefficient: f64) -> Vec<f64> {
    let first = values.first().map(|first| first * (1.0 - coefficient * coefficient).sqrt());
    first.into_iter().chain(values.windows(2).map(|pair| pair[1] - coefficient * pair[0])).collect()
}

fn without(values: &[f64], other: &[f64]) -> Vec<f64> {
    let share = product(values, other) / product(other, other);
    values.iter().zip(other).map(|(value, other)| value - share * other).collect()
}

fn product(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(left, right)| left * right).sum()
}

fn autoregressive(size: usize, coefficient: f64, noise: &mut Random) -> Vec<f64> {
    let fresh = (1.0 - coefficient * coefficient).sqrt();
    let mut state = noise.normal();
    let next = |state: &mut f64, new: f64| std::mem::replace(state, coefficient * *state + fresh * new);
    (0..size).map(|_| next(&mut state, noise.normal())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share_found(coefficient: f64, signal: impl Fn(usize) -> f64) -> f64 {
        let mut noise = Random::new(7);
        let oracle = StepOracle::of(400, coefficient, &mut noise);
        let found = (0..400).filter(|_| {
            let values = autoregressive(400, coefficient, &mut noise);
            let values: Vec<f64> = values.iter().enumerate().map(|(at, value)| value + signal(at)).collect();
            oracle.find(&values).is_some()
        });
        found.count() as f64 / 400.0
    }

    #[test]
    fn it_errs_as_seldom_as_is_asked_and_finds_what_is_plain() {
        for coefficient in [0.0, 0.8] {
            assert!(share_found(coefficient, |_| 0.0) < 0.025);
            assert!(share_found(coefficient, |at| at as f64 / 400.0) < 0.025);
            assert!(share_found(coefficient, |at| if at < 200 { 0.0 } else { 6.0 }) > 0.97);
        }
    }
}
