//! Intervals of one distribution that may not contradict each other.
//!
//! What lasts over 10 s lasts over 1 s, so no share over 10 s may be greater than the greatest that is possible over 1 s; and 95 % do not last longer than
//! 99 %. Each interval comes of its own estimate of how attempts depend on each other at its place, and where few lie beyond a place, that of the whole
//! sequence stands in for it: so ends may cross. An end that bounds one number also bounds every number that cannot lie beyond it: it is
//! taken over. No interval becomes wider, and none loses its own number, since numbers are in order.

use super::estimate::{Amount, Estimate, Interval, Quantile};
use super::ranks_and_shares::ShareInterval;

/// Makes the intervals of the shares over ascending limits descend.
pub(crate) fn of_shares(mut intervals: Vec<&mut ShareInterval>) {
    let mut high = f64::INFINITY;
    for interval in &mut intervals {
        high = high.min(interval.high);
        interval.high = high;
    }
    let mut low = f64::NEG_INFINITY;
    for interval in intervals.iter_mut().rev() {
        low = low.max(interval.low);
        interval.low = low;
    }
}

/// Makes the intervals of ascending quantiles ascend. Above the median, what lies beyond a quantile that has too few attempts for an interval has too
/// few as well.
pub(crate) fn of_quantiles<A: Amount>(quantiles: &mut [Quantile<A>]) {
    let mut intervals: Vec<Interval<A>> = quantiles.iter().map(|one| one.interval).collect();
    let mut lacking = None;
    for (quantile, interval) in quantiles.iter().zip(&mut intervals).filter(|(one, _)| one.q > 0.5) {
        match (&*interval, lacking) {
            (Interval::Between { .. }, Some(Interval::TooFew { have, .. })) => {
                *interval = Interval::too_few(quantile.q, have as f64);
            }
            (Interval::Between { .. }, Some(few)) => *interval = few,
            (Interval::Between { .. }, None) => {}
            (few, _) => lacking = Some(*few),
        }
    }
    let mut before: Option<Estimate<A>> = None;
    for interval in &mut intervals {
        let Interval::Between { low, .. } = interval else { continue };
        *low = before.filter(|other| other.lower_bound() > low.lower_bound()).unwrap_or(*low);
        before = Some(*low);
    }
    let mut after: Option<Estimate<A>> = None;
    for interval in intervals.iter_mut().rev() {
        let Interval::Between { high, .. } = interval else { continue };
        *high = after.filter(|other| is_below(end_of(*other), end_of(*high))).unwrap_or(*high);
        after = Some(*high);
    }
    for (quantile, interval) in quantiles.iter_mut().zip(intervals) {
        let intervals = [quantile.interval_naive, interval];
        *quantile = Quantile::new(quantile.q, quantile.order_statistic, intervals);
    }
}

/// An upper end, `None` if it is open.
const fn end_of<A: Amount>(high: Estimate<A>) -> Option<A> {
    match high {
        Estimate::Exactly(amount) | Estimate::Below(amount) => Some(amount),
        Estimate::AtLeast(_) | Estimate::TooFew { .. } | Estimate::FewStretches { .. } => None,
    }
}

/// Whether a bound is known and below the other.
fn is_below<A: Amount>(end: Option<A>, other: Option<A>) -> bool {
    end.is_some_and(|end| other.is_none_or(|other| end < other))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quantile(q: f64, interval: Interval<f64>) -> Quantile<f64> {
        let naive = Interval::Between { low: Estimate::Exactly(0.0), high: Estimate::Exactly(9.0) };
        Quantile::new(q, Estimate::Exactly(q), [naive, interval])
    }

    fn between(low: f64, high: f64) -> Interval<f64> {
        Interval::Between { low: Estimate::Exactly(low), high: Estimate::Exactly(high) }
    }

    #[test]
    fn what_lasts_longer_than_more_is_no_greater_share() {
        let mut shares =
            [(0.2, 0.4), (0.25, 0.35), (0.0, 0.46)].map(|(low, high)| ShareInterval { low, high });
        of_shares(shares.iter_mut().collect());
        let expected =
            [(0.25, 0.4), (0.25, 0.35), (0.0, 0.35)].map(|(low, high)| ShareInterval { low, high });
        assert_eq!(shares, expected);
        of_shares(shares.iter_mut().collect());
        assert_eq!(shares, expected);
        of_shares(Vec::new());
    }

    #[test]
    fn a_later_quantile_is_no_earlier_one() {
        let mut quantiles = [(0.5, 0.4, 3.0), (0.75, 0.3, 2.5), (0.9, 0.8, 2.8)]
            .map(|(q, low, high)| quantile(q, between(low, high)));
        of_quantiles(&mut quantiles);
        assert_eq!(
            quantiles.map(|one| one.interval),
            [(0.4, 2.5), (0.4, 2.5), (0.8, 2.8)].map(|(low, high)| between(low, high))
        );
    }

    #[test]
    fn an_open_end_takes_over_a_known_one_and_bounds_nothing() {
        let open = |low: f64| Interval::Between { low: Estimate::Exactly(low), high: Estimate::AtLeast(1.0) };
        let mut quantiles =
            [quantile(0.5, open(0.2)), quantile(0.75, between(0.3, 2.0)), quantile(0.9, open(0.4))];
        of_quantiles(&mut quantiles);
        assert_eq!(quantiles.map(|one| one.interval), [between(0.2, 2.0), between(0.3, 2.0), open(0.4)]);
        let fine = Interval::Between { low: Estimate::Below(0.1), high: Estimate::Exactly(1.0) };
        let mut quantiles = [quantile(0.5, between(0.2, 0.9)), quantile(0.75, fine)];
        of_quantiles(&mut quantiles);
        assert_eq!(quantiles[1].interval, between(0.2, 1.0));
    }

    #[test]
    fn beyond_what_has_too_few_attempts_there_are_too_few() {
        let few = Interval::FewStretches { stretches: 2 };
        let mut quantiles = [
            quantile(0.5, few),
            quantile(0.75, between(0.2, 0.9)),
            quantile(0.9, few),
            quantile(0.99, between(0.3, 2.0)),
        ];
        of_quantiles(&mut quantiles);
        assert_eq!(quantiles.map(|one| one.interval), [few, between(0.2, 0.9), few, few]);
        assert_eq!(quantiles[3].value, Estimate::FewStretches { stretches: 2 });

        let mut quantiles =
            [quantile(0.95, Interval::too_few(0.95, 60.0)), quantile(0.99, between(0.3, 2.0))];
        of_quantiles(&mut quantiles);
        assert_eq!(quantiles[1].interval, Interval::TooFew { needed: 368, have: 60 });
        assert_eq!(quantiles[1].interval_naive, quantiles[0].interval_naive);
    }
}
