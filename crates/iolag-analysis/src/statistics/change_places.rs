//! Where a change explains most of a sequence under noise of a known spectrum: a matched filter over all places and lengths at once.
//!
//! A step at `p` has the product `S(p)` with what is left, weighted by the noise, and `T(p - q) - T(p + q)` with a step at `q`, where `T` are sums of cosines. A
//! stretch is the difference of two steps, a ramp the mean of as many as it has values; sums of sums of `T` make the worth of each of them in a few operations.

use super::change::Term;
use super::coloured::Spectrum;
use super::cosine::Cosines;

/// Values of the shortest stretch and ramp.
const LENGTH_LEAST: usize = 8;
/// By how much each length is greater than the one before.
const LENGTH_FACTOR: f64 = 1.3;

/// Lengths of stretches and ramps that are looked for.
#[derive(Debug, Clone)]
pub(super) struct Places {
    lengths: Vec<usize>,
}

/// What explains most of all that it was held against.
#[derive(Debug, Default)]
struct Greatest {
    explained: f64,
    term: Option<Term>,
}

impl Greatest {
    /// `sum` is what the noise's weights leave of the product with a term, `worth` that of the term with itself.
    fn hold_against(&mut self, sum: f64, worth: f64, term: Term) {
        if sum * sum > self.explained * worth && worth > 1e-12 {
            (self.explained, self.term) = (sum * sum / worth, Some(term));
        }
    }
}

impl Places {
    /// In sequences of `count` values.
    pub(super) fn of(count: usize) -> Self {
        let mut lengths = vec![LENGTH_LEAST];
        while let Some(&last) = lengths.last().filter(|last| **last < count / 2) {
            lengths.push((last as f64 * LENGTH_FACTOR).ceil() as usize);
        }
        Self { lengths }
    }

    /// The step, the stretch and the ramp that explain most of what is left under this noise; `rest` are cosine coefficients.
    pub(super) fn of_most(
        &self,
        cosines: &Cosines,
        rest: &[f64],
        noise: &Spectrum,
    ) -> impl Iterator<Item = Term> + use<> {
        let n = rest.len();
        let whitened: Vec<f64> =
            rest.iter().zip(&noise.weights).map(|(rest, weight)| rest * weight).collect();
        let mut sums = cosines.values(&whitened);
        for place in (1..n).rev() {
            sums[place - 1] += sums[place];
        }
        sums.push(0.0);
        let weights = noise.weights.iter().enumerate().map(|(j, weight)| {
            let sine = 2.0 * cosines.sine(j);
            if j == 0 { 0.0 } else { weight / (sine * sine * n as f64) }
        });
        let table = cosines.cosine_sums(&weights.collect::<Vec<f64>>());
        let table: Vec<f64> = (0..=2 * n).map(|q| table[q.min(2 * n - q)]).collect();
        let step = greatest((2..n - 1).map(|at| (sums[at], table[0] - table[2 * at], Term::Step(at))));
        let found = [step, self.stretch(&sums, &table), self.ramp(&sums, &table)];
        found.into_iter().flatten()
    }

    fn stretch(&self, sums: &[f64], table: &[f64]) -> Option<Term> {
        let n = sums.len() - 1;
        greatest(self.lengths.iter().flat_map(|&length| {
            (2..n.saturating_sub(length + 1)).map(move |first| {
                let end = first + length;
                let worth =
                    2.0 * (table[0] - table[length] + table[first + end]) - table[2 * first] - table[2 * end];
                (sums[first] - sums[end], worth, Term::Stretch(first, end))
            })
        }))
    }

    fn ramp(&self, sums: &[f64], table: &[f64]) -> Option<Term> {
        let n = sums.len() - 1;
        let (sums, once) = (summed(sums), summed(table));
        let twice = summed(&once);
        greatest(self.lengths.iter().flat_map(|&length| {
            let (sums, twice) = (&sums, &twice);
            // Of all pairs of its steps: by how far they are apart, and by where they are.
            let apart = 2.0 * twice[length + 1] - length as f64 * table[0];
            let square = (length * length) as f64;
            (0..=n.saturating_sub(length)).map(move |first| {
                let end = first + length;
                let beside = twice[2 * end] - 2.0 * twice[first + end] + twice[2 * first];
                let sum = (sums[end] - sums[first]) / length as f64;
                (sum, (apart - beside) / square, Term::Ramp(first, end))
            })
        }))
    }
}

fn greatest(candidates: impl Iterator<Item = (f64, f64, Term)>) -> Option<Term> {
    let mut greatest = Greatest::default();
    candidates.for_each(|(sum, worth, term)| greatest.hold_against(sum, worth, term));
    greatest.term
}

/// Sums of the first 0, 1, 2, … values.
fn summed(values: &[f64]) -> Vec<f64> {
    let mut sum = 0.0;
    std::iter::once(0.0)
        .chain(values.iter().map(|value| {
            sum += value;
            sum
        }))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::coloured::Bands;
    use super::*;
    use crate::synthetic::Noise;

    /// What a column explains under this noise: the square of its product with the rest by its own.
    fn explained(rest: &[f64], column: &[f64], noise: &Spectrum) -> f64 {
        let product = |one: &[f64], other: &[f64]| -> f64 {
            let weighted = one.iter().zip(other).zip(&noise.weights).skip(1);
            weighted.map(|((one, other), weight)| one * other * weight).sum()
        };
        product(rest, column).powi(2) / product(column, column)
    }

    #[test]
    fn the_best_ramp_is_the_one_that_trying_all_finds() {
        let (n, mut source) = (60, Noise::new(5));
        let cosines = Cosines::of(n);
        let risen = cosines.values(&cosines.of_ramp(20, 37));
        let values: Vec<f64> = risen.iter().map(|level| 3.0 * level + source.normal()).collect();
        let rest = cosines.coefficients(&values);
        let noise = Bands::of(n, |_| false).fit_quick(&rest, 0);
        let places = Places::of(n);
        let all = places
            .lengths
            .iter()
            .flat_map(|length| (0..=n - length).map(move |first| (first, first + length)));
        let worth = |first: usize, end: usize| explained(&rest, &cosines.of_ramp(first, end), &noise);
        let best = all.max_by(|one, other| worth(one.0, one.1).total_cmp(&worth(other.0, other.1))).unwrap();
        let found = places.of_most(&cosines, &rest, &noise).find(|term| matches!(term, Term::Ramp(..)));
        assert_eq!(found, Some(Term::Ramp(best.0, best.1)));
        assert!(best.0.abs_diff(20) < 8 && best.1.abs_diff(37) < 8, "{best:?}");
    }
}
