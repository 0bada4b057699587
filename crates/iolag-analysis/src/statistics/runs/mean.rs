//! A difference of means, and how far it may be off.

use super::likeness::{Likeness, SeenLikeness, least_level};
use crate::statistics::dependence::effective_size::variance_of;
use crate::statistics::student::{student_p, student_two_sided};

/// How much a difference of so many values of either side tells, were all as far apart.
pub(super) fn telling(base: f64, other: f64) -> f64 {
    base * other / (base + other)
}

/// A mean, and how far it may be off: what is the wider of these counts.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Student {
    pub mean: f64,
    /// How far differences are apart from one to the next.
    spread: f64,
    errors: Vec<StandardError>,
}

/// A standard error, and the degrees of freedom with which it is known; of one run it is infinite.
#[derive(Debug, Clone, Copy, PartialEq)]
struct StandardError {
    error: f64,
    freedom: f64,
}

impl Student {
    pub(super) fn paired(moments: Moments) -> Self {
        let error = StandardError { error: moments.square_error().sqrt(), freedom: moments.freedom.max(1.0) };
        Self { mean: moments.mean, spread: moments.spread_square().sqrt(), errors: vec![error] }
    }

    /// Of each stratum the base and the other side. Each weighs as much as its runs tell.
    pub(super) fn apart(strata: &[[Moments; 2]]) -> Self {
        let telling = |[base, other]: &[Moments; 2]| telling(base.count, other.count);
        let all: f64 = strata.iter().map(telling).sum();
        let weighted = || strata.iter().map(|sides| (telling(sides) / all, sides));
        let parts =
            || weighted().flat_map(|(weight, sides)| sides.iter().map(move |side| (weight.powi(2), side)));
        let square: f64 = parts().map(|(weight, side)| weight * side.square_error()).sum();
        let squares: f64 =
            parts().map(|(weight, side)| (weight * side.square_error()).powi(2) / side.freedom).sum();
        // No number of degrees if nothing varies, and of one run: the error tells then.
        let welch = StandardError { error: square.sqrt(), freedom: square.powi(2) / squares };
        let freedom: f64 = parts().map(|(_, side)| side.freedom).sum();
        let pooled = parts().map(|(_, side)| side.freedom * side.variance).sum::<f64>() / freedom;
        let of_equal_spread: f64 = parts().map(|(weight, side)| weight * side.inflation / side.count).sum();
        let of_equal_spread = StandardError { error: (pooled * of_equal_spread).sqrt(), freedom };
        let errors = [welch, of_equal_spread].into_iter().filter(|one| !one.error.is_nan());
        let spread = |[base, other]: &[Moments; 2]| base.spread_square() + other.spread_square();
        Self {
            mean: weighted().map(|(weight, [base, other])| weight * (other.mean - base.mean)).sum(),
            spread: weighted().map(|(weight, sides)| weight * spread(sides)).sum::<f64>().sqrt(),
            errors: errors.collect(),
        }
    }

    /// The same of so many runs a side, as far apart as these.
    pub(super) fn reach_of(&self, runs: usize, level: f64) -> f64 {
        let count = runs as f64;
        student_two_sided(count - 1.0, 1.0 - level) * self.spread / count.sqrt()
    }

    /// Half of the interval at this level.
    pub(super) fn reach(&self, level: f64) -> f64 {
        let of = |one: &StandardError| student_two_sided(one.freedom, 1.0 - level) * one.error;
        self.errors.iter().map(of).fold(0.0, f64::max)
    }

    pub(super) fn p(&self, margin: f64) -> f64 {
        let beyond = self.mean.abs() - margin;
        if beyond <= 0.0 {
            return 1.0;
        }
        let of = |one: &StandardError| student_p(one.freedom, beyond / one.error);
        self.errors.iter().map(of).fold(0.0, f64::max)
    }
}

/// Means of days: what they are worth depends on how sure one wants to be.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct DayMeans {
    /// Of each side; of pairs of one.
    sides: Vec<Moments>,
    likeness: SeenLikeness,
}

impl DayMeans {
    /// Of pairs the differences, of days apart those of either side.
    pub(super) fn of(sides: &[Vec<f64>], likeness: SeenLikeness) -> Self {
        Self { sides: sides.iter().map(|side| Moments::of(side, Likeness::None)).collect(), likeness }
    }

    pub(super) fn mean(&self) -> f64 {
        match self.sides.as_slice() {
            [base, other] => other.mean - base.mean,
            sides => sides.iter().map(|side| side.mean).sum(),
        }
    }

    /// For an interval at this level.
    fn at(&self, level: f64) -> Student {
        let counts: Vec<usize> = self.sides.iter().map(|side| side.count as usize).collect();
        let likeness = self.likeness.at(&counts, level);
        match self.sides.as_slice() {
            [base, other] => Student::apart(&[[base, other].map(|side| side.under(likeness))]),
            sides => Student::paired(sides[0].under(likeness)),
        }
    }

    pub(super) fn reach(&self, level: f64) -> f64 {
        self.at(level).reach(level)
    }

    /// The same of so many days a side, which are as far apart and as alike as these.
    pub(super) fn reach_of(&self, days: usize, level: f64) -> f64 {
        let sides = self.sides.iter().map(|side| Moments { count: days as f64, ..*side });
        Self { sides: sides.collect(), ..*self }.reach(level)
    }

    pub(super) fn p(&self, margin: f64) -> f64 {
        let beyond = self.mean().abs() - margin;
        if beyond <= 0.0 { 1.0 } else { least_level(|level| self.reach(level) < beyond) }
    }
}

/// What is known of some values; nobody knows the variance of one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Moments {
    count: f64,
    mean: f64,
    variance: f64,
    /// How well that is known.
    freedom: f64,
    /// By how much the square error of the mean is greater than it would be of independent values.
    inflation: f64,
}

impl Moments {
    pub(super) fn of(values: &[f64], likeness: Likeness) -> Self {
        let moments = Self {
            count: values.len() as f64,
            mean: values.iter().sum::<f64>() / values.len() as f64,
            variance: if values.len() < 2 { f64::INFINITY } else { variance_of(values) },
            freedom: 0.0,
            inflation: 1.0,
        };
        moments.under(likeness)
    }

    /// If they are so much alike.
    fn under(&self, likeness: Likeness) -> Self {
        let count = self.count as usize;
        Self { freedom: likeness.freedom(count), inflation: likeness.inflation(count), ..*self }
    }

    fn spread_square(&self) -> f64 {
        self.variance * self.inflation
    }

    fn square_error(&self) -> f64 {
        self.spread_square() / self.count
    }
}
