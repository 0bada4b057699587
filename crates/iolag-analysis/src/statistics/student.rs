//! The confidence of every interval, and points of Student's and of the normal distribution.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// Coverage of every interval.
pub const CONFIDENCE: f64 = 0.95;

/// The 97.5 % point of the standard normal distribution.
pub(crate) const NORMAL_TWO_SIDED: f64 = 1.959_963_984_540_054;

/// The point that Student's distribution with these degrees of freedom passes on either side together with probability 1 - `confidence`; that of the normal
/// distribution where it is the same in print, and where the degrees are not a number.
pub(crate) fn student_two_sided(freedom: f64, confidence: f64) -> f64 {
    let tail = (1.0 - confidence) / 2.0;
    let student = if freedom > 1e5 { None } else { StudentsT::new(0.0, 1.0, freedom).ok() };
    student.map_or_else(|| -normal_quantile(tail), |law| law.inverse_cdf(1.0 - tail))
}

/// The probability that Student's distribution with these degrees of freedom is as far from 0 as `statistic`, on either side; that of the normal distribution
/// as above.
pub(crate) fn student_p(freedom: f64, statistic: f64) -> f64 {
    if statistic.is_nan() {
        return 1.0;
    }
    let student = if freedom > 1e5 { None } else { StudentsT::new(0.0, 1.0, freedom).ok() };
    let tail = student.map_or_else(|| Normal::standard().sf(statistic.abs()), |law| law.sf(statistic.abs()));
    (2.0 * tail).min(1.0)
}

/// The quantile of the standard normal distribution; infinite at 0 and 1.
pub(crate) fn normal_quantile(share: f64) -> f64 {
    Normal::standard().inverse_cdf(share)
}

/// The share of it that lies below.
pub(crate) fn normal_below(at: f64) -> f64 {
    Normal::standard().cdf(at)
}

/// Its density.
pub(crate) fn normal_density(at: f64) -> f64 {
    (-at * at / 2.0).exp() / std::f64::consts::TAU.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_those_of_the_tables() {
        for (freedom, point) in [
            (1.0, 12.706_204_736),
            (5.5, 2.501_858_617_6),
            (20.0, 2.085_963_447),
            (200.0, 1.971_896_224),
            (5e4, 1.960_011_431),
            (f64::NAN, NORMAL_TWO_SIDED),
        ] {
            let found = student_two_sided(freedom, 0.95);
            assert!((found / point - 1.0).abs() < 1e-6, "{freedom}: {found}");
            let p = [student_p(freedom, point), student_p(freedom, -point)];
            assert!(p.iter().all(|p| (p / 0.05 - 1.0).abs() < 1e-6), "{freedom}: {p:?}");
            assert_eq!([0.0, f64::NAN, f64::INFINITY].map(|at| student_p(freedom, at)), [1.0, 1.0, 0.0]);
        }
        assert!((normal_quantile(0.975) - NORMAL_TWO_SIDED).abs() < 1e-9);
        assert!((normal_density(0.0) - 0.398_942_280_4).abs() < 1e-9);
    }
}
