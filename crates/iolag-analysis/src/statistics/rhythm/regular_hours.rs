//! Hours of the day in which two things happen regularly, each by itself, and what happens at other hours.
//!
//! Where two places have a nightly job each, all nights together have hours in common, and an incident of both would have to last as long to be seen beside them. So
//! these hours are cut out, of every day, and the question is asked of the others.
//!
//! Limits: an incident within such hours is not seen; what happens once a week is not regular.

use super::profile::DAY_SECONDS;

const HOUR_SECONDS: f64 = 3600.0;
const HOURS: usize = 24;
/// A record of fewer days shows no rhythm beside an incident.
const DAYS_LEAST: f64 = 7.0;
/// On which part of all days something happens in an hour in which it is regular.
const PART_OF_DAYS: f64 = 3.0;
/// Of what is bad at nearly all hours, nothing would be left.
const HOURS_MOST: usize = 8;

/// Hours of the day, from the begin of a record on, that are cut out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RegularHours {
    is_cut: [bool; HOURS],
}

impl RegularHours {
    /// The hours in which both are on a third of the days; `None` if there are none, or too many for a rhythm, or too few days.
    pub(crate) fn of_both(left: &[(f64, f64)], right: &[(f64, f64)], covered: f64) -> Option<Self> {
        let days = covered / DAY_SECONDS;
        if days < DAYS_LEAST {
            return None;
        }
        let least = (days / PART_OF_DAYS).ceil() as usize;
        let (left, right) = (days_by_hour(left, covered), days_by_hour(right, covered));
        let mut is_cut = [false; HOURS];
        for (is_cut, days) in is_cut.iter_mut().zip(left.iter().zip(right)) {
            *is_cut = *days.0 >= least && days.1 >= least;
        }
        let cut = is_cut.iter().filter(|one| **one).count();
        (1..=HOURS_MOST).contains(&cut).then_some(Self { is_cut })
    }

    /// The pieces of a set of stretches that lie at other hours, at their moments.
    pub(crate) fn without(&self, set: &[(f64, f64)]) -> Vec<(f64, f64)> {
        let pieces = set.iter().flat_map(|&(begin, end)| {
            hours_of(begin, end).filter(|hour| !self.is_cut[hour % HOURS]).map(move |hour| {
                let first = hour as f64 * HOUR_SECONDS;
                (begin.max(first), end.min(first + HOUR_SECONDS))
            })
        });
        pieces.filter(|(begin, end)| begin < end).collect()
    }

    /// The same stretches as if there were no time at these hours.
    pub(crate) fn closed(&self, set: &[(f64, f64)]) -> Vec<(f64, f64)> {
        let closed = set.iter().map(|(begin, end)| (self.seconds_until(*begin), self.seconds_until(*end)));
        closed.filter(|(begin, end)| begin < end).collect()
    }

    /// Seconds of other hours from the begin of the record to this moment.
    pub(crate) fn seconds_until(&self, moment: f64) -> f64 {
        let (days, within) = ((moment / DAY_SECONDS).floor(), moment.rem_euclid(DAY_SECONDS));
        let until = |within: f64| -> f64 {
            let kept = (0..HOURS).filter(|hour| !self.is_cut[*hour]);
            kept.map(|hour| (within - hour as f64 * HOUR_SECONDS).clamp(0.0, HOUR_SECONDS)).sum()
        };
        days * until(DAY_SECONDS) + until(within)
    }
}

/// On how many days there is something, by hours.
fn days_by_hour(set: &[(f64, f64)], covered: f64) -> [usize; HOURS] {
    let mut is_there = vec![false; (covered / HOUR_SECONDS).ceil() as usize + 1];
    for hour in set.iter().flat_map(|(begin, end)| hours_of(*begin, *end)) {
        if let Some(is_there) = is_there.get_mut(hour) {
            *is_there = true;
        }
    }
    let mut days = [0; HOURS];
    is_there
        .iter()
        .enumerate()
        .filter(|(_, is_there)| **is_there)
        .for_each(|(hour, _)| days[hour % HOURS] += 1);
    days
}

/// Hours of the record that a stretch is in.
fn hours_of(begin: f64, end: f64) -> std::ops::Range<usize> {
    (begin / HOUR_SECONDS) as usize..(end / HOUR_SECONDS).ceil() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    const MONTH: f64 = 30.0 * DAY_SECONDS;

    /// From two o'clock on, for so many hours, on every day of a month but each `every`th.
    fn nights(hours: f64, every: usize) -> Vec<(f64, f64)> {
        let begins = (0..30).filter(|day| day % every != 0).map(|day| (24 * day + 2) as f64 * HOUR_SECONDS);
        begins.map(|begin| (begin, begin + hours * HOUR_SECONDS)).collect()
    }

    #[test]
    fn hours_in_which_both_are_regular_are_cut_and_no_others() {
        let hours = RegularHours::of_both(&nights(1.5, 3), &nights(3.0, 7), MONTH).unwrap();
        let is_cut = |hour: usize| hours.is_cut[hour];
        assert!((0..HOURS).all(|hour| is_cut(hour) == (2..4).contains(&hour)), "{hours:?}");
        assert_eq!(RegularHours::of_both(&nights(1.5, 3), &nights(1.0, 31)[..9], MONTH), None, "seldom");
        assert_eq!(RegularHours::of_both(&nights(9.0, 31), &nights(9.0, 31), MONTH), None, "nearly always");
        assert_eq!(RegularHours::of_both(&[], &nights(1.0, 31), MONTH), None);
        assert_eq!(RegularHours::of_both(&nights(1.0, 31), &nights(1.0, 31), 6.5 * DAY_SECONDS), None);
    }

    #[test]
    fn what_is_cut_out_leaves_the_time_beside_it() {
        let hours = RegularHours::of_both(&nights(2.0, 31), &nights(2.0, 31), MONTH).unwrap();
        let hour = |count: f64| count * HOUR_SECONDS;
        let set = [(hour(1.0), hour(5.5)), (hour(26.0), hour(27.0)), (hour(50.0), hour(54.0))];
        assert_eq!(hours.closed(&set), [(hour(1.0), hour(3.5)), (hour(46.0), hour(48.0))]);
        let pieces = hours.without(&set);
        let kept: f64 = pieces.iter().map(|(begin, end)| end - begin).sum();
        assert_eq!(kept, hour(1.0 + 1.5 + 2.0));
        assert!(pieces.iter().all(|(begin, _)| !hours.is_cut[(begin / HOUR_SECONDS) as usize % HOURS]));
        assert_eq!(hours.seconds_until(MONTH), 30.0 * hour(22.0));
        assert_eq!(hours.seconds_until(hour(24.0 + 3.0)), hour(22.0 + 2.0));
    }
}
