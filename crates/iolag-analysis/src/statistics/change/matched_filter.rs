//! Where a change explains most of a sequence under noise of a known spectrum: a matched filter over all places and lengths at once.
//!
//! A step at `p` has the product `S(p)` with what is left, weighted by the noise, and `T(p - q) - T(p + q)` with a step at `q`, where `T` are sums of cosines. A
//! stretch is the difference of two steps, a ramp the mean of as many as it has values; sums of sums of `T` make the worth of each of them in a few operations.

use crate::statistics::spectrum::coloured_noise::Spectrum;
use crate::statistics::spectrum::cosine::Cosines;

/// What may explain a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Term {
    /// Another level from this place on.
    Step(usize),
    /// Another level from the first place up to, not including, the second.
    Stretch(usize, usize),
    /// From one level to another, in equal parts at every place from the first up to, not including, the second.
    Ramp(usize, usize),
    /// The smooth explanation of this index.
    Smooth(usize),
}

/// Values of the shortest stretch and ramp.
const LENGTH_LEAST: usize = 8;
/// By how much each length is greater than the one before.
const LENGTH_FACTOR: f64 = 1.3;
/// Least worth of a term that is one: the rounding of sums.
const WORTH_LEAST: f64 = 1e-12;
/// More than products and quotients are rounded by.
const ROUNDING: f64 = 1e-12;

/// Lengths of stretches and ramps that are looked for.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    lengths: Vec<usize>,
}

impl Places {
    /// In sequences of `count` values.
    pub(crate) fn of(count: usize) -> Self {
        let mut lengths = vec![LENGTH_LEAST];
        while let Some(&last) = lengths.last().filter(|last| **last < count / 2) {
            lengths.push((last as f64 * LENGTH_FACTOR).ceil() as usize);
        }
        Self { lengths }
    }

    /// The step, the stretch and the ramp that explain most of what is left under this noise; `rest` are cosine coefficients.
    pub(crate) fn of_most(
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
        let found = [step(&sums, &table), self.stretch(&sums, &table), self.ramp(&sums, &table)];
        found.into_iter().flatten()
    }

    fn stretch(&self, sums: &[f64], table: &[f64]) -> Option<Term> {
        let n = sums.len() - 1;
        let halves = Halves::of(table);
        greatest_of(self.lengths.iter().map(|&length| {
            let own = 2.0 * (table[0] - table[length]);
            let last = n.saturating_sub(length + 1).max(2);
            let sums = sums[2..last].iter().zip(&sums[2 + length..]);
            let ends = halves.from(2, 0).iter().zip(halves.from(2, 2 * length));
            let both = sums.zip(ends).zip(halves.from(2, length));
            let terms = both.map(|(((first, end), (at_first, at_end)), between)| {
                (first - end, own + 2.0 * between - at_first - at_end)
            });
            greatest(terms)
                .map(|(explained, place)| (explained, Term::Stretch(place + 2, place + 2 + length)))
        }))
    }

    fn ramp(&self, sums: &[f64], table: &[f64]) -> Option<Term> {
        let n = sums.len() - 1;
        let (sums, once) = (summed(sums), summed(table));
        let twice = summed(&once);
        let halves = Halves::of(&twice);
        greatest_of(self.lengths.iter().filter(|length| **length <= n).map(|&length| {
            // Of all pairs of its steps: by how far they are apart, and by where they are.
            let apart = 2.0 * twice[length + 1] - length as f64 * table[0];
            let sums = sums[..=n - length].iter().zip(&sums[length..]);
            let ends = halves.from(0, 0).iter().zip(halves.from(0, 2 * length));
            let both = sums.zip(ends).zip(halves.from(0, length));
            let terms = both.map(|(((first, end), (at_first, at_end)), between)| {
                (end - first, apart - (at_end - 2.0 * between + at_first))
            });
            greatest(terms).map(|(explained, first)| (explained, Term::Ramp(first, first + length)))
        }))
    }
}

fn step(sums: &[f64], table: &[f64]) -> Option<Term> {
    let n = sums.len() - 1;
    let terms = (2..n - 1).map(|at| (sums[at], table[0] - table[2 * at]));
    greatest(terms).map(|(_, place)| Term::Step(place + 2))
}

/// Which of these terms explains most, and how much, if any explains anything. Of each: what the noise's weights leave of its product with the rest, and of
/// that with itself. Few are worth a division.
fn greatest(terms: impl Iterator<Item = (f64, f64)>) -> Option<(f64, usize)> {
    let (mut most, mut place) = (0.0, None);
    for (at, (sum, worth)) in terms.enumerate() {
        if worth > WORTH_LEAST && sum * sum > most * worth * (1.0 - ROUNDING) {
            let explained = sum * sum / worth;
            if explained > most {
                (most, place) = (explained, Some(at));
            }
        }
    }
    place.map(|place| (most, place))
}

fn greatest_of(terms: impl Iterator<Item = Option<(f64, Term)>>) -> Option<Term> {
    terms.flatten().max_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, term)| term)
}

/// A table at its even and at its odd places: those of neighbouring places lie side by side.
struct Halves {
    even: Vec<f64>,
    odd: Vec<f64>,
}

impl Halves {
    fn of(table: &[f64]) -> Self {
        let from = |first: usize| table.iter().skip(first).step_by(2).copied().collect();
        Self { even: from(0), odd: from(1) }
    }

    /// At twice the place and `more`, for the places from this one on.
    fn from(&self, place: usize, more: usize) -> &[f64] {
        let half = if more.is_multiple_of(2) { &self.even } else { &self.odd };
        &half[place + more / 2..]
    }
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
    use super::*;
    use crate::statistics::spectrum::coloured_noise::Bands;
    use iolag_model::Random;

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
        let (n, mut source) = (60, Random::new(5));
        let cosines = Cosines::of(n);
        let risen = cosines.values(&cosines.of_ramp(20, 37));
        let values: Vec<f64> = risen.iter().map(|level| 3.0 * level + source.normal()).collect();
        let rest = cosines.coefficients(&values);
        let bands = Bands::of(n, |_| false);
        let noise = bands.fit_quick(&bands.products(&rest, &rest), 0);
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
