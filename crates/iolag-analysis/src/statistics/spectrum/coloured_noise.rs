//! The spectrum of noise that remembers, fitted to the cosine coefficients of a sequence.
//!
//! Whittle's likelihood (1953) over shapes of the spectrum: autoregressive noise (φ up to 0.99), the same times a fractional power of the
//! frequency (Granger and Joyeux 1980; d = ½ is 1/f noise), and slow autoregressive load under independent noise, each of the two at a cost as they can imitate a step. The greatest likelihood is found by trying all shapes on means of the power over bands of frequencies.
//!
//! Limits: shapes between those of the table are taken for their neighbours; what repeats at one frequency is to be left out
//! ([`Bands::of`]) or removed before.

use std::f64::consts::PI;

/// Frequencies that are bands of their own, and how much wider each next band is.
const SINGLE_BANDS: usize = 24;
const BAND_GROWTH: f64 = 1.06;

/// What a mixture and what long memory cost, in twice the logarithm of the likelihood: both can imitate a step.
const MIXTURE_COST: f64 = 12.0;
const MEMORY_COST: f64 = 6.0;
/// What a mixture costs whose memory, 1/(1 − φ), is in the sequence so often: that is too brief to imitate a step.
const BRIEF_MIXTURE_COST: f64 = 4.0;
const BRIEF_MEMORIES: f64 = 100.0;
/// By how much more long memory costs when a sequence is longer than this by a factor of e: the longer it is, the more plainly its memory would show.
const MEMORY_COST_GROWTH: f64 = 9.0;
const MEMORY_COST_GROWS_FROM: f64 = 672.0;

/// Least variance, relative to that of normal scores.
const POWER_LEAST: f64 = 1e-6;

/// Band from which on frequencies are too quick for steps to show.
pub(crate) const QUICK_BAND: usize = 12;

/// A shape of spectrum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Shape {
    /// Coefficient of the autoregression.
    pub(crate) coefficient: f64,
    /// Exponent of the memory, 0 for none.
    pub(crate) memory: f64,
    /// Share of independent noise beside it.
    pub(crate) independent: f64,
}

impl Shape {
    /// Power at an angular frequency from 0 to π.
    fn power(&self, frequency: f64) -> f64 {
        let phi = self.coefficient;
        let coloured = (1.0 - phi * phi) / (1.0 + phi * phi - 2.0 * phi * frequency.cos());
        let remembered = (2.0 * (frequency / 2.0).sin()).powf(-2.0 * self.memory);
        self.independent + (1.0 - self.independent) * coloured * remembered
    }

    fn cost(&self, count: usize) -> f64 {
        if self.independent > 0.0 {
            let memories = count as f64 * (1.0 - self.coefficient);
            if memories >= BRIEF_MEMORIES { BRIEF_MIXTURE_COST } else { MIXTURE_COST }
        } else if self.memory > 0.0 {
            MEMORY_COST + MEMORY_COST_GROWTH * (count as f64 / MEMORY_COST_GROWS_FROM).ln().max(0.0)
        } else {
            0.0
        }
    }

    fn all() -> Vec<Self> {
        let short =
            [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.93, 0.95, 0.97, 0.98, 0.99];
        let mut all: Vec<Self> = short.iter().map(|phi| Self::new(*phi, 0.0, 0.0)).collect();
        for memory in [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.85, 1.0] {
            all.extend([-0.4, -0.2, 0.0, 0.2, 0.4, 0.6, 0.8, 0.9].map(|phi| Self::new(phi, memory, 0.0)));
        }
        for phi in [0.8, 0.85, 0.9, 0.95, 0.98, 0.99, 0.998] {
            all.extend([0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95].map(|share| Self::new(phi, 0.0, share)));
        }
        all
    }

    const fn new(coefficient: f64, memory: f64, independent: f64) -> Self {
        Self { coefficient, memory, independent }
    }
}

/// The table of shapes for sequences of one length.
#[derive(Debug, Clone)]
pub(crate) struct Bands {
    /// First coefficient of each band, and the end of the last.
    bounds: Vec<usize>,
    /// Coefficients of each band that are looked at.
    counts: Vec<f64>,
    left_out: Vec<usize>,
    /// Coefficients of a sequence.
    length: usize,
    shapes: Vec<Shape>,
    costs: Vec<f64>,
    /// By band and shape, so that all shapes are summed at once: one by the power, and the sum of the logarithms of powers.
    inverse: Vec<Vec<f64>>,
    logarithms_by_band: Vec<Vec<f64>>,
    /// By shape: the sum of logarithms over all coefficients.
    logarithms: Vec<f64>,
}

/// Noise as it was fitted.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Spectrum {
    pub(crate) shape: Shape,
    /// Twice the logarithm of the likelihood, less the cost of the shape, up to a constant of the length.
    pub(crate) likelihood: f64,
    /// One by the power of each coefficient; 0 for those that are not looked at.
    pub(crate) weights: Vec<f64>,
    /// The same by band.
    pub(crate) weights_by_band: Vec<f64>,
}

/// A shape of the table that fits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct FittedShape {
    index: usize,
    scale: f64,
    /// As that of [`Spectrum`].
    pub(crate) likelihood: f64,
}

impl Bands {
    /// For `count` coefficients, of which those with `left_out` true are not looked at.
    pub(crate) fn of(count: usize, left_out: impl Fn(usize) -> bool) -> Self {
        let mut bounds = vec![1.min(count)];
        while let Some(&first) = bounds.last().filter(|first| **first < count) {
            let end =
                if first < SINGLE_BANDS { first + 1 } else { (first as f64 * BAND_GROWTH).ceil() as usize };
            bounds.push(end.min(count));
        }
        let looked_at: Vec<bool> = (0..count).map(|j| j > 0 && !left_out(j)).collect();
        let count_in = |band: &[usize]| looked_at[band[0]..band[1]].iter().filter(|one| **one).count() as f64;
        let counts: Vec<f64> = bounds.windows(2).map(count_in).collect();
        let middle = |band: &[usize]| PI * (band[0] + band[1] - 1) as f64 / (2 * count) as f64;
        let shapes = Shape::all();
        let powers =
            |band: &[usize]| -> Vec<f64> { shapes.iter().map(|shape| shape.power(middle(band))).collect() };
        let powers: Vec<Vec<f64>> = bounds.windows(2).map(powers).collect();
        let logarithms_by_band: Vec<Vec<f64>> = powers
            .iter()
            .zip(&counts)
            .map(|(of, count)| of.iter().map(|power| count * power.ln()).collect())
            .collect();
        let logarithms = sums_by_shape(&logarithms_by_band, &vec![1.0; counts.len()]);
        let inverse = powers.iter().map(|of| of.iter().map(|power| 1.0 / power).collect()).collect();
        let costs = shapes.iter().map(|shape| shape.cost(count)).collect();
        let left_out = (1..count).filter(|j| !looked_at[*j]).collect();
        Self {
            costs,
            bounds,
            counts,
            left_out,
            length: count,
            shapes,
            inverse,
            logarithms,
            logarithms_by_band,
        }
    }

    /// These coefficients, with 0 for those that are not looked at.
    pub(crate) fn without_left_out(&self, mut coefficients: Vec<f64>) -> Vec<f64> {
        self.left_out.iter().for_each(|j| coefficients[*j] = 0.0);
        coefficients
    }

    /// By band, the sum of products of the coefficients of two sequences, of which one is [`Self::without_left_out`].
    pub(crate) fn products(&self, one: &[f64], other: &[f64]) -> Vec<f64> {
        self.bounds.windows(2).map(|band| product(&one[band[0]..band[1]], &other[band[0]..band[1]])).collect()
    }

    /// The likeliest shape for coefficients with these sums of squares by band.
    pub(crate) fn likeliest(&self, sums: &[f64]) -> FittedShape {
        greatest(
            self.likelihoods(sums, 0, &self.logarithms)
                .map(|one| FittedShape { likelihood: one.likelihood - self.costs[one.index], ..one }),
        )
    }

    /// The likeliest spectrum without long memory, by frequencies from the band `first` on: what it would be without steps.
    pub(crate) fn fit_quick(&self, sums: &[f64], first: usize) -> Spectrum {
        let first = first.min(sums.len() / 2);
        let is_short = |index: usize| {
            let shape = self.shapes[index];
            shape.memory == 0.0 && shape.independent == 0.0 && shape.coefficient <= 0.9
        };
        let rest = &self.logarithms_by_band[first..];
        let logarithms = sums_by_shape(rest, &vec![1.0; rest.len()]);
        let likelihoods = self.likelihoods(sums, first, &logarithms);
        self.spectrum(&greatest(likelihoods.filter(|one| is_short(one.index))))
    }

    /// By shape, without its cost: by bands from `first` on, over which the logarithms are summed.
    fn likelihoods<'a>(
        &self,
        sums: &[f64],
        first: usize,
        logarithms: &'a [f64],
    ) -> impl Iterator<Item = FittedShape> + use<'a> {
        let count: f64 = self.counts[first..].iter().sum();
        let of = sums_by_shape(&self.inverse[first..], &sums[first..]);
        of.into_iter().zip(logarithms).enumerate().map(move |(index, (of, logarithm))| {
            let scale = (of / count.max(1.0)).max(POWER_LEAST);
            FittedShape { index, scale, likelihood: -count * scale.ln() - logarithm }
        })
    }

    /// One by its power, by band.
    pub(crate) fn weights_by_band(&self, one: &FittedShape) -> Vec<f64> {
        self.inverse.iter().map(|inverse| inverse[one.index] / one.scale).collect()
    }

    pub(crate) fn spectrum(&self, one: &FittedShape) -> Spectrum {
        let mut weights = vec![0.0; self.length];
        let weights_by_band = self.weights_by_band(one);
        for (band, weight) in self.bounds.windows(2).zip(&weights_by_band) {
            weights[band[0]..band[1]].fill(*weight);
        }
        let weights = self.without_left_out(weights);
        Spectrum { shape: self.shapes[one.index], likelihood: one.likelihood, weights, weights_by_band }
    }
}

fn greatest(likelihoods: impl Iterator<Item = FittedShape>) -> FittedShape {
    let none = FittedShape { index: 0, scale: 1.0, likelihood: 0.0 };
    likelihoods.max_by(|one, other| one.likelihood.total_cmp(&other.likelihood)).unwrap_or(none)
}

/// The scalar product, in as many sums as a processor adds side by side.
fn product(one: &[f64], other: &[f64]) -> f64 {
    const LANES: usize = 8;
    let (ones, others) = (one.chunks_exact(LANES), other.chunks_exact(LANES));
    let last: f64 = ones.remainder().iter().zip(others.remainder()).map(|(one, other)| one * other).sum();
    let mut sums = [0.0; LANES];
    for (one, other) in ones.zip(others) {
        for lane in 0..LANES {
            sums[lane] += one[lane] * other[lane];
        }
    }
    last + sums.iter().sum::<f64>()
}

/// Sums over bands, each times its factor.
fn sums_by_shape(of: &[Vec<f64>], factors: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0; of.first().map_or(0, Vec::len)];
    for (of, factor) in of.iter().zip(factors) {
        sums.iter_mut().zip(of).for_each(|(sum, value)| *sum += value * factor);
    }
    sums
}

impl Spectrum {
    /// Coefficients of other noise with this spectrum.
    pub(crate) fn draw(&self, noise: &mut iolag_model::Random) -> Vec<f64> {
        let one = |weight: &f64| if *weight > 0.0 { noise.normal() / weight.sqrt() } else { 0.0 };
        self.weights.iter().map(one).collect()
    }

    /// How many independent values as many of this noise are worth: all, less by how much the slowest frequency exceeds the mean.
    pub(crate) fn effective_count(&self) -> f64 {
        let looked_at = || self.weights.iter().filter(|weight| **weight > 0.0);
        let count = looked_at().count() as f64;
        let mean = looked_at().map(|weight| 1.0 / weight).sum::<f64>() / count.max(1.0);
        looked_at().next().map_or(0.0, |slowest| count * mean * slowest).min(count)
    }
}

#[cfg(test)]
mod tests {
    use super::super::cosine::Cosines;
    use super::*;
    use iolag_model::Random;

    fn fitted(phi: f64) -> Spectrum {
        let mut noise = Random::new(11);
        let mut state = 0.0;
        let values: Vec<f64> = (0..2000)
            .map(|_| {
                state = phi * state + noise.normal();
                state
            })
            .collect();
        let bands = Bands::of(2000, |_| false);
        let coefficients = Cosines::of(2000).coefficients(&values);
        bands.spectrum(&bands.likeliest(&bands.products(&coefficients, &coefficients)))
    }

    #[test]
    fn the_memory_of_an_autoregression_is_found() {
        for phi in [0.0, 0.5, 0.8, 0.95] {
            let found = fitted(phi);
            assert!(
                (found.shape.coefficient - phi).abs() <= 0.11 && found.shape.memory == 0.0,
                "{phi}: {found:?}"
            );
            let expected = 2000.0 * (1.0 - phi) / (1.0 + phi);
            let worth = found.effective_count() / expected;
            assert!((0.6..1.7).contains(&worth), "{phi}: {worth}");
        }
    }

    #[test]
    fn no_coefficients_and_equal_values_have_a_spectrum_too() {
        for count in [0, 1, 2, 5] {
            let bands = Bands::of(count, |_| false);
            let none = vec![0.0; count];
            let found = bands.spectrum(&bands.likeliest(&bands.products(&none, &none)));
            assert!(found.weights.iter().all(|weight| weight.is_finite()) && found.likelihood.is_finite());
        }
    }
}
