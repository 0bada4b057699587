//! Many tests at once: p values in, q values out.
//!
//! - *Lists* are read for what stands out, and may be wrong in one of twenty of what they call significant: the false discovery rate of Benjamini
//!   and Hochberg 1995.
//! - *Verdicts* are words that stand by themselves; all of a result together may be wrong with one chance in twenty: the step-down procedure
//!   of Holm 1979.
//!
//! Invariants: q keep the order of p, are at least p and at most 1, and stand in the order given. A p that is no number counts as 1.

/// What p has to be below, after all tests of its kind were counted.
pub const SIGNIFICANCE: f64 = 0.05;

/// q of a list: calling everything with a q of at most 0.05 significant is wrong about one in twenty of what is called so.
pub fn benjamini_hochberg(p: &[f64]) -> Vec<f64> {
    let mut adjusted = vec![1.0; p.len()];
    let mut least: f64 = 1.0;
    for (above, index) in ascending(p).into_iter().rev().enumerate() {
        let rank = p.len() - above;
        least = least.min(number(p[index]) * (p.len() as f64 / rank as f64));
        adjusted[index] = least;
    }
    adjusted
}

/// q of verdicts: with those of at most 0.05, all of them are right with a probability of 0.95.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut adjusted = vec![1.0; p.len()];
    let mut greatest: f64 = 0.0;
    for (below, index) in ascending(p).into_iter().enumerate() {
        greatest = greatest.max(number(p[index]) * (p.len() - below) as f64).min(1.0);
        adjusted[index] = greatest;
    }
    adjusted
}

fn ascending(p: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|left, right| number(p[*left]).total_cmp(&number(p[*right])));
    order
}

const fn number(p: f64) -> f64 {
    if p.is_nan() { 1.0 } else { p }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn q_are_those_of_the_papers() {
        let close = |found: &[f64], expected: &[f64]| {
            found.len() == expected.len()
                && found.iter().zip(expected).all(|(one, other)| (one - other).abs() < 1e-12)
        };
        let p = [0.01, 0.04, 0.03, 0.005];
        assert!(close(&holm(&p), &[0.03, 0.06, 0.06, 0.02]));
        assert!(close(&benjamini_hochberg(&p), &[0.02, 0.04, 0.04, 0.02]));
        assert!(holm(&[]).is_empty() && benjamini_hochberg(&[]).is_empty());
        assert_eq!((holm(&[f64::NAN]), benjamini_hochberg(&[f64::NAN])), (vec![1.0], vec![1.0]));
    }

    proptest! {
        #[test]
        fn q_keep_the_order_of_p(p in prop::collection::vec(0.0_f64..1.0, 0..40)) {
            for adjusted in [benjamini_hochberg(&p), holm(&p)] {
                for (raw, found) in p.iter().zip(&adjusted) {
                    prop_assert!(*found >= *raw && *found <= 1.0);
                }
                for left in 0..p.len() {
                    for right in 0..p.len() {
                        prop_assert!(p[left] > p[right] || adjusted[left] <= adjusted[right]);
                    }
                }
            }
        }
    }
}
