//! Peaks of a periodogram, and how likely noise of any colour has them.
//!
//! What the moments of the values cannot tell apart is not searched: where they come in bursts every hour, or only at night, a wave looks like others that differ from it by a
//! cycle an hour, or a day (the spectral window); only periods of two hours, or two days, and more are plain. Nor are periods of fewer than three slots.

use super::continuum::Continuum;
use super::periodogram::{PeriodogramPoint, powers_on_grid, seen_power_at};

/// Frequencies looked at within the width of a peak.
const STEPS_PER_PEAK: f64 = 3.0;

/// Peaks that stand out most and are looked at closely.
const CANDIDATES_MOST: usize = 16;
/// How far from a frequency its neighbourhood reaches, as a factor.
const NEIGHBOURHOOD: f64 = 3.0;
/// Powers, or means of powers, by which the noise at a line is told.
const LINE_NEIGHBOURS: usize = 999;
/// How far from a frequency its own peak reaches, in cycles over the time covered.
const PEAK_REACH: f64 = 1.5;

/// Frequencies that are asked for by themselves, since people and cron keep to them: one and two cycles a day, and one a week.
const CLOCK: [f64; 3] = [1.0 / DAY_SECONDS, 2.0 / DAY_SECONDS, 1.0 / (7.0 * DAY_SECONDS)];
/// Their share of the chance of an error: less than half, since a spectrum that bends there is above its straight line.
const CLOCK_SHARE: f64 = 1.0 / 3.0;

/// Cycles of which at least a period is one.
const CYCLES_LEAST: f64 = 4.0;
/// Slots of which at least a period is made; a little less, since slots jitter.
const SLOTS_LEAST: f64 = 2.97;

/// What a wave at a frequency of the moments themselves has of its power, from which on they take another wave for it.
const SAMPLING_MOST: f64 = 0.25;

const DAY_SECONDS: f64 = 86_400.0;

/// The powers among which a period is searched.
pub(crate) struct Searched<'a> {
    seconds: &'a [f64],
    ranks: &'a [f64],
    points: Vec<PeriodogramPoint>,
    /// The greatest frequency that is searched.
    frequency_most: f64,
    pub(crate) covered: f64,
}

/// A power and what noise has there.
pub(crate) struct Line {
    pub(crate) power: f64,
    pub(crate) noise: Continuum,
}

impl Line {
    pub(crate) fn ratio(&self) -> f64 {
        self.power / self.noise.power
    }

    /// Probability that noise has such a power there, as a logarithm: the law of F with 2 and 2m degrees of freedom.
    fn p_ln(&self) -> f64 {
        -self.noise.independent * (self.ratio() / self.noise.independent).ln_1p()
    }
}

impl<'a> Searched<'a> {
    /// Ranks at these moments, which ascend and cover this time, with so much between two of them as a rule.
    pub(crate) fn of(seconds: &'a [f64], ranks: &'a [f64], covered: f64, slot: f64) -> Self {
        let step = 1.0 / (STEPS_PER_PEAK * covered);
        // Wherever the clock jumped, the span may be absurd against the number of values.
        let count = ((0.5 / slot / step).floor() as usize).min(16 * seconds.len());
        let is_of_moments = |point: &PeriodogramPoint| {
            point.frequency * covered >= CYCLES_LEAST && point.power >= SAMPLING_MOST
        };
        let [points, of_moments] = powers_on_grid(seconds, ranks, step, count);
        let slowest = of_moments.into_iter().find(is_of_moments);
        let frequency_most = slowest.map_or(f64::INFINITY, |point| point.frequency / 2.0);
        Self {
            seconds,
            ranks,
            points,
            frequency_most: frequency_most.min(1.0 / (SLOTS_LEAST * slot)),
            covered,
        }
    }

    /// The peak that is least likely by chance, and how likely that is.
    pub(crate) fn least_likely(&self) -> Option<(f64, PeriodogramPoint)> {
        let excess = Background::of(&self.points, self.seconds.len());
        self.best_candidate(&excess)
            .map(|best| self.refined(best.frequency))
            .into_iter()
            .chain(self.clock_frequencies().map(|frequency| self.point_at(frequency)))
            .filter(|peak| peak.power > 0.0)
            .map(|peak| (self.false_alarm(peak), peak))
            .min_by(|one, other| one.0.total_cmp(&other.0))
    }

    /// What there is at a frequency, as near as powers are known; nothing beyond the shortest period that values can have.
    pub(crate) fn line_at(&self, frequency: f64) -> Option<Line> {
        let place = (frequency * STEPS_PER_PEAK * self.covered).round() as usize;
        let power = self.points.get(place.checked_sub(1)?)?.power;
        Some(Line { power, noise: self.noise_at(frequency, LINE_NEIGHBOURS) })
    }

    /// The exact greatest power around a frequency of the grid.
    fn refined(&self, frequency: f64) -> PeriodogramPoint {
        let step = 1.0 / (STEPS_PER_PEAK * self.covered);
        (-10..=10)
            .map(|part| self.point_at(frequency + step * f64::from(part) / 10.0))
            .max_by(|one, other| one.power.total_cmp(&other.power))
            .unwrap_or(PeriodogramPoint { frequency, power: 0.0 })
    }

    fn point_at(&self, frequency: f64) -> PeriodogramPoint {
        PeriodogramPoint { frequency, power: seen_power_at(self.seconds, self.ranks, frequency) }
    }

    /// Those of the clock that are among the searched.
    fn clock_frequencies(&self) -> impl Iterator<Item = f64> {
        let last = self.points.last().map_or(0.0, |point| point.frequency);
        let covered = self.covered;
        CLOCK.into_iter().filter(move |frequency| frequency * covered >= CYCLES_LEAST && *frequency <= last)
    }

    /// The peak that is least likely by chance and not beside a frequency of the clock.
    fn best_candidate(&self, excess: &Background) -> Option<PeriodogramPoint> {
        let is_beside_clock = |peak: &PeriodogramPoint| {
            self.clock_frequencies().any(|clock| (peak.frequency - clock).abs() * self.covered <= PEAK_REACH)
        };
        let others = self.candidates(excess).into_iter().filter(|peak| !is_beside_clock(peak));
        others.min_by(|one, other| self.false_alarm(*one).total_cmp(&self.false_alarm(*other)))
    }

    /// The greatest powers of their neighbourhoods, by how much they stand out roughly.
    fn candidates(&self, excess: &Background) -> Vec<PeriodogramPoint> {
        let is_peak = |at: &usize| {
            let around = at.saturating_sub(1)..(at + 2).min(self.points.len());
            self.points[around].iter().all(|other| other.power <= self.points[*at].power)
        };
        let allowed = |at: &usize| {
            let frequency = self.points[*at].frequency;
            frequency * self.covered >= CYCLES_LEAST && frequency <= self.frequency_most
        };
        let mut peaks: Vec<PeriodogramPoint> =
            (0..self.points.len()).filter(allowed).filter(is_peak).map(|at| self.points[at]).collect();
        let weighed = |point: &PeriodogramPoint| point.power / excess.at(point.frequency);
        peaks.sort_by(|one, other| weighed(other).total_cmp(&weighed(one)));
        peaks.truncate(CANDIDATES_MOST);
        peaks.retain(|peak| peak.power > 0.0);
        peaks
    }

    /// Probability that noise of any colour has such a peak somewhere.
    fn false_alarm(&self, peak: PeriodogramPoint) -> f64 {
        let alone_ln = Line { power: peak.power, noise: self.noise_at(peak.frequency, usize::MAX) }.p_ln();
        if !alone_ln.is_finite() {
            return 1.0;
        }
        let (looked_at, share) = if CLOCK.contains(&peak.frequency) {
            (self.clock_frequencies().count() as f64, CLOCK_SHARE)
        } else {
            let frequencies = self.points.len() as f64 / STEPS_PER_PEAK;
            (frequencies * (-alone_ln).max(1.0).sqrt(), 1.0 - CLOCK_SHARE)
        };
        (looked_at * alone_ln.exp() / share).min(1.0)
    }

    /// What noise of any colour has at a frequency, by the powers around it, or by means of as many neighbours that there are no more than `most`; not by those
    /// beyond the searched, which are images of others.
    fn noise_at(&self, frequency: f64, most: usize) -> Continuum {
        let first = self.points.partition_point(|point| point.frequency < frequency / NEIGHBOURHOOD);
        let end = self.points.partition_point(|point| point.frequency <= frequency * NEIGHBOURHOOD);
        let around: Vec<PeriodogramPoint> = self.points[first..end]
            .iter()
            .filter(|point| (point.frequency - frequency).abs() * self.covered >= PEAK_REACH)
            .filter(|point| frequency > self.frequency_most || point.frequency <= self.frequency_most)
            .copied()
            .collect();
        let together = around.len().div_ceil(most).max(1);
        let mean = |points: &[PeriodogramPoint], of: fn(&PeriodogramPoint) -> f64| {
            points.iter().map(of).sum::<f64>() / points.len() as f64
        };
        let place_and_power = |points: &[PeriodogramPoint]| {
            let place = (mean(points, |point| point.frequency) / frequency).ln();
            (place, mean(points, |point| point.power).max(f64::MIN_POSITIVE))
        };
        let around: Vec<(f64, f64)> = around.chunks(together).map(place_and_power).collect();
        Continuum::of(&around, STEPS_PER_PEAK / together as f64)
    }
}

/// How much more power there is around a frequency than independent values have.
struct Background {
    /// Logarithms of frequencies, ascending and equally far apart, and the excess there, never below 1.
    first_ln: f64,
    step_ln: f64,
    excess: Vec<f64>,
}

impl Background {
    const CENTRES_PER_FACTOR_TWO: f64 = 4.0;

    fn of(points: &[PeriodogramPoint], values: usize) -> Self {
        let step_ln = 2.0_f64.ln() / Self::CENTRES_PER_FACTOR_TWO;
        let first_ln = points.first().map_or(0.0, |point| point.frequency.ln());
        let last_ln = points.last().map_or(0.0, |point| point.frequency.ln());
        let centres = ((last_ln - first_ln) / step_ln).ceil() as usize + 1;
        // The median of an exponential distribution is ln 2 of its mean, which is 2/(n - 1) for independent values.
        let independent = 2.0 / (values as f64 - 1.0) * 2.0_f64.ln();
        let excess = (0..centres).map(|centre| {
            let frequency = (first_ln + step_ln * centre as f64).exp();
            let first = points.partition_point(|point| point.frequency < frequency / 2.0);
            let end = points.partition_point(|point| point.frequency <= frequency * 2.0);
            let mut powers: Vec<f64> = points[first..end].iter().map(|point| point.power).collect();
            if powers.is_empty() {
                return 1.0;
            }
            let middle = powers.len() / 2;
            let median = *powers.select_nth_unstable_by(middle, f64::total_cmp).1;
            (median / independent).max(1.0)
        });
        Self { first_ln, step_ln, excess: excess.collect() }
    }

    fn at(&self, frequency: f64) -> f64 {
        let place = ((frequency.ln() - self.first_ln) / self.step_ln).max(0.0);
        let (below, share) = (place.floor() as usize, place.fract());
        let at = |index: usize| self.excess.get(index).or(self.excess.last()).copied().unwrap_or(1.0);
        at(below) * (1.0 - share) + at(below + 1) * share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_and_nights_leave_only_what_their_moments_can_tell_apart() {
        let hours = |seconds: Vec<f64>| {
            let covered = seconds[seconds.len() - 1];
            let slot = seconds[1] - seconds[0];
            let searched = Searched::of(&seconds, &seconds, covered, slot);
            1.0 / searched.frequency_most / 3600.0
        };
        let bursts = (0..14 * 24 * 6).map(|index| f64::from(index / 6 * 3600 + index % 6 * 20)).collect();
        let nights = (0..14 * 24).map(|index| f64::from(index / 24 * 86_400 + index % 24 * 900)).collect();
        let regular = (0..14 * 96).map(|index| f64::from(index * 900)).collect();
        let [bursts, nights, regular] = [bursts, nights, regular].map(hours);
        assert!((2.0..2.1).contains(&bursts) && (48.0..52.0).contains(&nights), "{bursts} {nights}");
        assert!((0.7..0.75).contains(&regular), "{regular}");
    }
}
