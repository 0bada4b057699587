//! Where a function that does not fall passes zero, in few looks at it: each may be a walk along a year of samples.

/// To what part of the range that is given it is found.
const NEAR_SHARE: f64 = 1e-6;

/// Where `excess`, which does not fall, is still below zero, within a millionth of the range, or the next number, before it is not; `None` if it does not
/// cross zero in it. It is nearly a straight line: regula falsi (Illinois: Dowell and Jarratt 1971) finds its zero in a third of the steps of halving.
/// Each fourth step halves, whatever it looks like, and so does one that would not move.
pub(crate) fn last_below_zero(mut low: f64, mut high: f64, excess: &dyn Fn(f64) -> f64) -> Option<f64> {
    let (mut at_low, mut at_high) = (excess(low), excess(high));
    if at_low >= 0.0 || at_high < 0.0 {
        return None;
    }
    let wanted = NEAR_SHARE * (high - low);
    let (mut step, mut was_below) = (0, None);
    while high - low > wanted {
        step += 1;
        let straight = low - at_low * (high - low) / (at_high - at_low);
        // A hair to the far side of the zero, so that the two ends close in on it.
        let hair = if straight - low < high - straight { 0.3 * wanted } else { -0.3 * wanted };
        let guess = (straight + hair).clamp(low + 0.1 * wanted, high - 0.1 * wanted);
        let halves = step % 4 == 0 || guess <= low || guess >= high;
        let middle = if halves { low + (high - low) / 2.0 } else { guess };
        if middle <= low || middle >= high {
            // No number lies between the two.
            break;
        }
        let at_middle = excess(middle);
        let is_below = at_middle < 0.0;
        let again = if was_below == Some(is_below) { 0.5 } else { 1.0 };
        if is_below {
            (low, at_low, at_high) = (middle, at_middle, again * at_high);
        } else {
            (high, at_high, at_low) = (middle, at_middle, again * at_low);
        }
        was_below = Some(is_below);
    }
    Some(low)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    fn assert_found(function: impl Fn(f64) -> f64, zero: f64, looks_most: u32) {
        let looks = Cell::new(0);
        let counted = |x: f64| {
            looks.set(looks.get() + 1);
            function(x)
        };
        let found = last_below_zero(0.0, 1.0, &counted).unwrap();
        assert!(function(found) < 0.0 && function(found + 2.0 * NEAR_SHARE) >= 0.0, "{found}");
        assert!((found - zero).abs() < 1e-3 && looks.get() <= looks_most, "{found}: {} looks", looks.get());
    }

    #[test]
    fn a_zero_is_found_in_few_looks_if_the_function_is_smooth() {
        assert_found(|x| x * x * x + x - 0.3, 0.2784, 12);
        assert_found(|x| x - 0.999, 0.999, 12);
    }

    #[test]
    fn a_zero_is_found_whatever_the_function() {
        // Twenty halvings, each after three other looks, and both ends.
        assert_found(|x| (x * 1000.0).floor() - 412.5, 0.413, 82);
        assert_found(|x| if x < 0.77 { -1e9 } else { 1e-9 }, 0.77, 82);
    }

    /// Differences of logarithms of a coarse clock's few values differ by rounding alone.
    #[test]
    fn ends_that_are_neighbours_end_the_search() {
        for (low, apart) in [(0.7_f64, 1), (0.7, 3), (1e9, 5), (-12.5, 40)] {
            let ends: Vec<f64> =
                std::iter::successors(Some(low), |one| Some(one.next_up())).take(apart + 1).collect();
            for zero in &ends[1..] {
                let found =
                    last_below_zero(low, ends[apart], &|x| if x < *zero { -1.0 } else { 1.0 }).unwrap();
                assert!(found < *zero && found.next_up() == *zero, "{low} {apart}: {found} {zero}");
            }
        }
    }

    #[test]
    fn without_a_zero_between_the_ends_none_is_found() {
        assert_eq!(last_below_zero(0.0, 1.0, &|x| x + 1.0), None);
        assert_eq!(last_below_zero(0.0, 1.0, &|x| x - 2.0), None);
    }
}
