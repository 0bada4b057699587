//! When did a sequence change its level, in noise whose memory is not known?
//!
//! *Likelihood ratio.* The sequence is explained by coloured noise alone ([`crate::statistics::spectrum::coloured_noise`]) and by noise and a change; the noise is fitted
//! anew each time, so that a great step is not taken for memory nor long memory for a step. Changes are steps, ramps from one level to another and stretches that come back,
//! found by generalised least squares over all places at once (matched filter in cosine coefficients). What the clock, the week or a straight line
//! explains as well ([`Smooth`]) is no change.
//!
//! *Chance.* The same search in noise drawn with the fitted spectrum (parametric bootstrap); the tail of its maxima is Gumbel's (1935), so
//! that few draws tell a small p. The greatest change is taken, then the next, given those before (forward selection). Changes that hide each other, of
//! which each alone is lost in what the others make of the noise, are judged together: a few that last long, with less chance.
//!
//! Limits: changes nearer to each other than two values are one; p is of each change given the others, not of all together.

use statrs::function::erf::erfc;

use super::matched_filter::{Places, Term};
use crate::statistics::spectrum::coloured_noise::{Bands, QUICK_BAND, Spectrum};
use crate::statistics::spectrum::cosine::Cosines;
use crate::statistics::spectrum::regression::{Fit, Regression};
use iolag_model::Random;

/// Greatest number of explanations of one sequence.
const TERMS_MOST: usize = 48;
/// Fewest values in which something is looked for.
const VALUES_LEAST: usize = 16;
/// Twice the logarithm of a likelihood ratio below which no best place among many is beyond chance.
const RATIO_LEAST: f64 = 9.0;
/// The same for a straight line, which has no place.
const LINE_RATIO_LEAST: f64 = 6.0;
/// What the second end of a stretch costs, as it may lie anywhere.
const STRETCH_COST: f64 = 8.0;
/// What that of a ramp costs: slow noise is more like ramps than like steps.
const RAMP_COST: f64 = 14.0;
/// Independent values that the record must be worth without a change for the noise to be taken for what is left by it.
const WORTH_LEAST: f64 = 60.0;
/// By how much p is multiplied where it is worth less.
const DOUBT_FACTOR: f64 = 5.0;
/// What each further column of what is smooth costs.
const COLUMN_COST: f64 = 2.0;
/// Greatest number of changes that are judged together.
const TOGETHER_MOST: usize = 4;
/// Of what part of the record each level must be then.
const TOGETHER_PART: usize = 10;
/// By how much less chance they must have.
const TOGETHER_DOUBT: f64 = 10.0;
/// Draws after which chance is judged.
const DRAWS: [usize; 4] = [10, 20, 40, 99];

/// An explanation without any place in it: a straight line, the time of the day.
#[derive(Debug, Clone)]
pub(crate) struct Smooth {
    /// Its sequences.
    pub(crate) columns: Vec<Vec<f64>>,
    /// By how much more, in twice the logarithm of the likelihood, a change must explain: its place is chosen among many.
    pub(crate) margin: f64,
}

/// A term that stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Explained {
    pub(crate) term: Term,
    /// Probability of so great a likelihood ratio without it; 1 for what is smooth.
    pub(crate) p: f64,
}

/// How a sequence is explained.
#[derive(Debug, Clone)]
pub(crate) struct Explanation {
    /// In the order in which they were found.
    pub(crate) terms: Vec<Explained>,
    /// Whether there was a change that smooth explanations of these indices explain as well.
    pub(crate) refused_for: Vec<usize>,
    /// Whether a change was left that the memory of the noise explains as well.
    pub(crate) is_left_to_noise: bool,
    /// Probability that the first smooth explanation explains so much by chance; 1 if another explains it as well.
    pub(crate) p_of_first_smooth: f64,
}

/// How chance is judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Judging {
    /// Greatest p.
    pub(crate) significance: f64,
    /// Greatest p in all noise, change and all, which is asked besides if the change leaves noise that is short of memory; 1 if that is enough.
    pub(crate) significance_in_all: f64,
    /// Draws that may be as great where Gumbel's tail is below the significance.
    pub(crate) as_great_most: usize,
    /// Seed of the draws.
    pub(crate) seed: u64,
}

/// Explains a sequence of standardised values; `left_out` are cosine coefficients that are not looked at. `None` if there are too few values or all
/// are equal.
pub(crate) fn explain(
    values: &[f64],
    smooth: &[Smooth],
    left_out: impl Fn(usize) -> bool,
    judging: &Judging,
) -> Option<Explanation> {
    let first = *values.first()?;
    if values.len() < VALUES_LEAST || values.iter().all(|value| (value - first).abs() < 1e-9) {
        return None;
    }
    Some(Search::of(values, smooth, left_out, *judging).explain())
}

struct Search {
    cosines: Cosines,
    bands: Bands,
    /// By their cosine coefficients.
    smooth: Vec<Smooth>,
    coefficients: Vec<f64>,
    places: Places,
    judging: Judging,
}

#[derive(Debug, Clone)]
struct Candidate {
    term: Term,
    ratio: f64,
}

impl Search {
    fn of(values: &[f64], smooth: &[Smooth], left_out: impl Fn(usize) -> bool, judging: Judging) -> Self {
        let cosines = Cosines::of(values.len());
        let bands = Bands::of(values.len(), left_out);
        let transformed = |one: &Smooth| Smooth {
            columns: one
                .columns
                .iter()
                .map(|column| bands.without_left_out(cosines.coefficients(column)))
                .collect(),
            ..*one
        };
        let smooth = smooth.iter().map(transformed).collect();
        let coefficients = bands.without_left_out(cosines.coefficients(values));
        let places = Places::of(values.len());
        Self { cosines, bands, smooth, coefficients, places, judging }
    }

    fn explain(&self) -> Explanation {
        let mut terms: Vec<Explained> = Vec::new();
        let mut refused_for = Vec::new();
        let mut is_left_to_noise = false;
        let mut base = self.fit(&self.coefficients, &[], None);
        while terms.len() < TERMS_MOST {
            let chosen: Vec<Term> = terms.iter().map(|one| one.term).collect();
            let Some(best) = self.best(&self.coefficients, &chosen, &base) else { break };
            if best.ratio < RATIO_LEAST {
                break;
            }
            if let Some(index) = self.smooth_instead(&chosen, &base, &best) {
                if self.p_of_change(&chosen, &best, &base) <= self.judging.significance {
                    refused_for.push(index);
                }
                terms.push(Explained { term: Term::Smooth(index), p: 1.0 });
            } else {
                let p = self.p_of_change(&chosen, &best, &base);
                if p <= self.judging.significance {
                    terms.push(Explained { term: best.term, p });
                } else if let Some(together) = self.together(&chosen, &base, &best) {
                    terms.extend(together);
                } else {
                    is_left_to_noise = base.noise.effective_count() < WORTH_LEAST;
                    break;
                }
            }
            let chosen: Vec<Term> = terms.iter().map(|one| one.term).collect();
            base = self.fit(&self.coefficients, &chosen, None);
        }
        let p_of_first_smooth = self.p_of_first_smooth(&terms);
        Explanation { terms, refused_for, is_left_to_noise, p_of_first_smooth }
    }

    /// Several changes at once, of which each alone is lost in what the others make of the noise: those that together leave noise short of memory,
    /// if so many explain as much in noise with all of them in it by chance only.
    fn together(&self, chosen: &[Term], base: &Fit, first: &Candidate) -> Option<Vec<Explained>> {
        let mut terms = chosen.to_vec();
        let (mut ratio, mut best) = (0.0, first.clone());
        for count in 1..=TOGETHER_MOST {
            if best.ratio < RATIO_LEAST {
                return None;
            }
            terms.push(best.term);
            if !self.is_apart(&terms) {
                return None;
            }
            ratio += best.ratio;
            let fit = self.fit(&self.coefficients, &terms, None);
            if count > 1 && fit.noise.effective_count() >= WORTH_LEAST {
                let drawn = |source: &mut Random| self.greedy_ratio(&base.noise.draw(source), count);
                let p = DOUBT_FACTOR * self.p_by_drawing(ratio, self.judging.significance, drawn);
                let explained = terms[chosen.len()..].iter().map(|term| Explained { term: *term, p });
                return (p <= self.judging.significance / TOGETHER_DOUBT).then(|| explained.collect());
            }
            best = self.best(&self.coefficients, &terms, &fit)?;
        }
        None
    }

    /// Whether levels last long enough for several of them not to be storms, of which noise may be made.
    fn is_apart(&self, terms: &[Term]) -> bool {
        let count = self.coefficients.len();
        let places = terms.iter().flat_map(|term| match *term {
            Term::Step(at) => vec![at],
            Term::Stretch(first, end) => vec![first, end],
            Term::Ramp(first, end) => vec![first.midpoint(end)],
            Term::Smooth(_) => Vec::new(),
        });
        let mut ends: Vec<usize> = places.chain([0, count]).collect();
        ends.sort_unstable();
        ends.windows(2).all(|pair| pair[1] - pair[0] >= count / TOGETHER_PART)
    }

    /// What so many changes explain, the greatest first.
    fn greedy_ratio(&self, coefficients: &[f64], count: usize) -> f64 {
        let (mut terms, mut ratio) = (Vec::new(), 0.0);
        for _ in 0..count {
            let fit = self.fit(coefficients, &terms, None);
            let Some(best) = self.best(coefficients, &terms, &fit) else { break };
            ratio += best.ratio.max(0.0);
            terms.push(best.term);
        }
        ratio
    }

    /// In noise as the change leaves it if that is clearly short of memory. Else in all noise, change and all, since a change that is taken away takes
    /// the slowest part of the noise with it; and p is multiplied, as such noise is seldom as regular as its spectrum. In a short record, a slow part may
    /// leave nothing but what is short of memory, so there both are asked.
    fn p_of_change(&self, chosen: &[Term], change: &Candidate, base: &Fit) -> f64 {
        // What is smooth takes slow noise with it as well, so the noise is looked at without it.
        let (smooth, changes): (Vec<Term>, Vec<Term>) =
            chosen.iter().partition(|term| matches!(term, Term::Smooth(_)));
        let more: Vec<Term> = changes.iter().copied().chain([change.term]).collect();
        let left = self.fit(&self.coefficients, &more, None).noise;
        let Judging { significance, significance_in_all, .. } = self.judging;
        let is_short_of_memory = left.effective_count() >= WORTH_LEAST;
        let p_left =
            if is_short_of_memory { self.p_of(change.ratio, &left, &smooth, significance) } else { 0.0 };
        if p_left > significance || is_short_of_memory && significance_in_all >= 1.0 {
            return p_left;
        }
        let all = if smooth.is_empty() {
            base.noise.clone()
        } else {
            self.fit(&self.coefficients, &changes, None).noise
        };
        let (limit, factor) = if is_short_of_memory {
            (significance_in_all, significance / significance_in_all)
        } else {
            (significance, DOUBT_FACTOR)
        };
        p_left.max(factor * self.p_of(change.ratio, &all, &smooth, limit)).min(1.0)
    }

    /// The smooth explanation, not yet among the terms, that explains nearly as much as this change.
    fn smooth_instead(&self, chosen: &[Term], base: &Fit, change: &Candidate) -> Option<usize> {
        let open = (0..self.smooth.len()).filter(|index| !chosen.contains(&Term::Smooth(*index)));
        let tried = open.map(|index| {
            let more: Vec<Term> = chosen.iter().copied().chain([Term::Smooth(index)]).collect();
            let fit = self.fit(&self.coefficients, &more, None);
            let smooth = &self.smooth[index];
            let cost = COLUMN_COST * (smooth.columns.len() as f64 - 1.0);
            (fit.noise.likelihood - base.noise.likelihood - cost + smooth.margin, index)
        });
        let best = tried.max_by(|one, other| one.0.total_cmp(&other.0))?;
        (best.0 >= change.ratio).then_some(best.1)
    }

    /// Given the other terms: the ratio of one column is chi-squared with one degree of freedom times what noise of this spectrum makes of it.
    fn p_of_first_smooth(&self, terms: &[Explained]) -> f64 {
        let line = Term::Smooth(0);
        if self.smooth.is_empty() {
            return 1.0;
        }
        let others: Vec<Term> = terms.iter().map(|one| one.term).filter(|term| *term != line).collect();
        let without = self.fit(&self.coefficients, &others, None);
        let ratio_of = |term: Term| {
            let more: Vec<Term> = others.iter().copied().chain([term]).collect();
            self.fit(&self.coefficients, &more, None).noise.likelihood - without.noise.likelihood
        };
        let ratio = ratio_of(line);
        let is_explained =
            |index: usize| !others.contains(&Term::Smooth(index)) && ratio_of(Term::Smooth(index)) >= ratio;
        if ratio < LINE_RATIO_LEAST || (1..self.smooth.len()).any(is_explained) {
            return 1.0;
        }
        let with: Vec<Term> = others.iter().copied().chain([line]).collect();
        let left = self.fit(&self.coefficients, &with, None).noise;
        let noise = if left.effective_count() >= WORTH_LEAST { &left } else { &without.noise };
        let mut source = Random::new(self.judging.seed ^ 1 << 48);
        let draws = DRAWS[DRAWS.len() - 1];
        let drawn = (0..draws).map(|_| {
            let coefficients = noise.draw(&mut source);
            let base = self.fit(&coefficients, &[], None).noise.likelihood;
            (self.fit(&coefficients, &[line], None).noise.likelihood - base).max(0.0)
        });
        let excess = (drawn.sum::<f64>() / draws as f64).max(1.0);
        erfc((ratio / excess / 2.0).sqrt())
    }

    fn fit(&self, coefficients: &[f64], terms: &[Term], start: Option<&Spectrum>) -> Fit {
        let alone = |column: Vec<f64>| vec![self.bands.without_left_out(column)];
        let columns = terms.iter().flat_map(|term| match term {
            Term::Step(at) => alone(self.cosines.of_step(*at)),
            Term::Stretch(first, end) => {
                let (from, until) = (self.cosines.of_step(*first), self.cosines.of_step(*end));
                alone(from.iter().zip(until).map(|(from, until)| from - until).collect())
            }
            Term::Ramp(first, end) => alone(self.cosines.of_ramp(*first, *end)),
            Term::Smooth(index) => self.smooth[*index].columns.clone(),
        });
        Regression { bands: &self.bands, columns: columns.collect() }.fit(coefficients, start)
    }

    /// The change that explains most of what is left by `base`, with twice the logarithm of its likelihood ratio.
    fn best(&self, coefficients: &[f64], chosen: &[Term], base: &Fit) -> Option<Candidate> {
        let quick = self.bands.fit_quick(&self.bands.products(&base.rest, &base.rest), QUICK_BAND);
        let mut best: Option<(Candidate, Spectrum)> = None;
        let mut tried: Vec<Term> = Vec::new();
        for round in 0..3 {
            let noise = match (round, &best) {
                (0, _) => &base.noise,
                (1, _) => &quick,
                (_, Some((_, noise))) => noise,
                _ => break,
            }
            .clone();
            for term in self.places.of_most(&self.cosines, &base.rest, &noise) {
                if tried.contains(&term) || chosen.contains(&term) {
                    continue;
                }
                tried.push(term);
                let more: Vec<Term> = chosen.iter().copied().chain([term]).collect();
                let fit = self.fit(coefficients, &more, Some(&noise));
                let cost = match term {
                    Term::Stretch(..) => STRETCH_COST,
                    Term::Ramp(..) => RAMP_COST,
                    Term::Step(_) | Term::Smooth(_) => 0.0,
                };
                let ratio = fit.noise.likelihood - base.noise.likelihood - cost;
                if best.as_ref().is_none_or(|(best, _)| ratio > best.ratio) {
                    best = Some((Candidate { term, ratio }, fit.noise));
                }
            }
        }
        best.map(|(candidate, _)| candidate)
    }

    /// Probability of a ratio as great in noise of this spectrum, given what is smooth, as exactly as it takes to hold it against `limit`.
    fn p_of(&self, ratio: f64, noise: &Spectrum, smooth: &[Term], limit: f64) -> f64 {
        self.p_by_drawing(ratio, limit, |source| {
            let coefficients = noise.draw(source);
            let base = self.fit(&coefficients, smooth, None);
            self.best(&coefficients, smooth, &base).map_or(0.0, |best| best.ratio)
        })
    }

    /// Probability that `draw` gives as much as `found`, as exactly as it takes to hold it against `limit`.
    fn p_by_drawing(&self, found: f64, limit: f64, mut draw: impl FnMut(&mut Random) -> f64) -> f64 {
        let mut source = Random::new(self.judging.seed);
        let mut drawn: Vec<f64> = Vec::new();
        let mut p = 1.0;
        for draws in DRAWS {
            while drawn.len() < draws {
                drawn.push(draw(&mut source));
            }
            p = gumbel_p(&drawn, found, self.judging.as_great_most);
            let tail = gumbel_tail(&drawn, found);
            let is_clear = if draws == DRAWS[0] {
                tail > 0.2 || tail < limit / 1000.0
            } else {
                tail > 5.0 * limit || DOUBT_FACTOR * tail < limit / 20.0
            };
            if is_clear {
                break;
            }
        }
        p
    }
}

/// Probability of a maximum as great as this, by Gumbel's distribution with the mean and the deviation of `drawn`; at least the share that is as
/// great, where that is of too many for this tail.
fn gumbel_p(drawn: &[f64], ratio: f64, as_great_most: usize) -> f64 {
    let exceeding = drawn.iter().filter(|one| **one >= ratio).count();
    let share = if exceeding > as_great_most { exceeding as f64 / (drawn.len() as f64 + 1.0) } else { 0.0 };
    gumbel_tail(drawn, ratio).max(share)
}

fn gumbel_tail(drawn: &[f64], ratio: f64) -> f64 {
    let n = drawn.len() as f64;
    let mean = drawn.iter().sum::<f64>() / n;
    let deviation = crate::statistics::dependence::effective_size::variance_of(drawn).sqrt();
    // Tails of likelihood ratios fall by e every 2.
    let scale = (deviation * 6.0_f64.sqrt() / std::f64::consts::PI).max(1.0);
    let location = mean - 0.577_215_664_9 * scale;
    -(-(-(ratio - location) / scale).exp()).exp_m1()
}

#[cfg(test)]
mod tests {
    use super::*;

    const JUDGING: Judging =
        Judging { significance: 0.007, significance_in_all: 1.0, as_great_most: 1, seed: 1 };

    fn noise(count: usize, seed: u64) -> Vec<f64> {
        let mut noise = Random::new(seed);
        (0..count).map(|_| noise.normal()).collect()
    }

    fn line(count: usize) -> Smooth {
        Smooth { columns: vec![(0..count).map(|place| place as f64 / count as f64).collect()], margin: 9.0 }
    }

    #[test]
    fn a_step_is_a_step_and_a_line_a_line() {
        let mut step = noise(600, 1);
        step[250..].iter_mut().for_each(|value| *value += 1.5);
        let found = explain(&step, &[line(600)], |_| false, &JUDGING).unwrap();
        assert!(matches!(found.terms[0].term, Term::Step(at) if at.abs_diff(250) < 6), "{found:?}");
        let mut drift = noise(600, 2);
        drift.iter_mut().enumerate().for_each(|(place, value)| *value += 2.0 * place as f64 / 600.0);
        let found = explain(&drift, &[line(600)], |_| false, &JUDGING).unwrap();
        assert!(found.terms.iter().all(|one| matches!(one.term, Term::Smooth(0))), "{found:?}");
        assert!(found.p_of_first_smooth < 1e-3, "{found:?}");
    }

    #[test]
    fn two_draws_as_great_leave_the_tail_what_it_says_and_three_do_not() {
        let p = |as_great: usize| {
            let drawn: Vec<f64> = noise(99 - as_great, 4).into_iter().chain(vec![9.0; as_great]).collect();
            gumbel_p(&drawn, 9.0, 2)
        };
        assert!(p(2) < 0.008 && p(3) > 0.02, "{} {}", p(2), p(3));
    }

    #[test]
    fn nothing_is_made_of_nothing() {
        for values in [vec![], vec![1.0], vec![1.0, 2.0], vec![3.0; 200]] {
            assert!(explain(&values, &[], |_| false, &JUDGING).is_none());
        }
        let found = explain(&noise(500, 3), &[], |_| false, &JUDGING).unwrap();
        assert!(found.terms.is_empty(), "{found:?}");
    }
}
