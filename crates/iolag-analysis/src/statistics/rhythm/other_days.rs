//! What do the clocks alone do to two things that happen, each by itself, at the same hour?
//!
//! Two nightly jobs meet every night; moved by any length of time they hardly ever do, and so chance seems to do nothing. Moved by whole days
//! ([`OtherDays`]) each keeps its hours, and weekly jobs keep their day at every seventh move. Whole days alone can answer nothing in short records,
//! though: a week has seven of them, and p cannot be below a seventh. So p comes from moves by any length, of which there are many, and which keep
//! the memory that load has over days; but before, what the clocks add is taken off what was seen: as much as the 95th percentile after moves by whole days is above that
//! after moves by any length, and this twice ([`due_to_clocks`]).
//!
//! Why twice: of a nightly job each day is an independent sum of nights, which is above all others in every seventh record of a week, and of a
//! weekly job in every fourth of a month; twice the excess is hardly ever reached. What happened once adds nothing and loses nothing, since on other
//! days there is nothing at its hour. p is never less than that of moves by any length.
//!
//! Limits: what happened on one day only is no rhythm: a weekly job in a record of a week is not told from a common incident, and in under
//! two days neither is a nightly one. What is common beyond a rhythm that both have must be about as long as that of all days together to be told.

use super::profile::DAY_SECONDS;

/// Moves by whole days, at most.
const MOVES: usize = 199;

/// Of how many values one is beyond the percentile that is compared.
const ONE_IN: usize = 20;

/// How many times the excess is taken off.
const EXCESS_FACTOR: f64 = 2.0;

/// Moves by whole days around a circle of whole days.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OtherDays {
    /// Length of the circle in seconds.
    pub(crate) circle: f64,
    /// The moves, in seconds.
    pub(crate) moves: Vec<f64>,
    /// What is found after a move counts so many times, since the circle is not covered all around.
    weight: f64,
}

impl OtherDays {
    /// Of a record of so many seconds; none in under two days. What lasts for `longest` seconds is the same thing on the days that it lasts: moves
    /// that are no longer would only find it again.
    pub(crate) fn of(covered: f64, longest: f64) -> Self {
        let days = (covered / DAY_SECONDS).ceil();
        let circle = days * DAY_SECONDS;
        if covered.is_nan() || covered < 2.0 * DAY_SECONDS {
            return Self { circle, moves: Vec::new(), weight: 1.0 };
        }
        let stride = ((days - 1.0) / MOVES as f64).ceil() as usize;
        let moves = (1..days as usize).step_by(stride).map(|day| day as f64 * DAY_SECONDS);
        let is_another = |moved: &f64| moved.min(circle - moved) > longest;
        Self { circle, moves: moves.filter(is_another).collect(), weight: covered / (2.0 * covered - circle) }
    }

    /// What is found after each move.
    pub(crate) fn found(&self, after: impl Fn(f64) -> f64) -> Vec<f64> {
        self.moves.iter().map(|moved| self.weight * after(*moved)).collect()
    }
}

/// How much of what was seen the clocks may have added: by what was found after moves by any length, and after moves by whole days.
pub(crate) fn due_to_clocks(anywhere: &[f64], other_days: &[f64]) -> f64 {
    EXCESS_FACTOR * (upper(other_days) - upper(anywhere)).max(0.0)
}

/// What chance does on average: by moves that keep the hour where these find more.
pub(crate) fn expected(anywhere: f64, other_days: &[f64]) -> f64 {
    anywhere.max(other_days.iter().sum::<f64>() / other_days.len().max(1) as f64)
}

/// The 95th percentile; of fewer than twenty values the greatest, of none 0.
fn upper(values: &[f64]) -> f64 {
    let mut descending = values.to_vec();
    descending.sort_unstable_by(|one, other| other.total_cmp(one));
    descending.get(descending.len() / ONE_IN).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_are_whole_days_and_longer_than_what_is_moved() {
        let days =
            |seconds: &OtherDays| seconds.moves.iter().map(|one| one / DAY_SECONDS).collect::<Vec<_>>();
        let week = OtherDays::of(6.5 * DAY_SECONDS, 3600.0);
        assert_eq!((week.circle, days(&week)), (7.0 * DAY_SECONDS, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
        assert_eq!(days(&OtherDays::of(6.5 * DAY_SECONDS, 2.0 * DAY_SECONDS)), [3.0, 4.0]);
        assert!(OtherDays::of(1.9 * DAY_SECONDS, 0.0).moves.is_empty());
        assert!(OtherDays::of(0.0, 0.0).moves.is_empty());
        let decade = OtherDays::of(3652.0 * DAY_SECONDS, 0.0).moves.len();
        assert!((150..=MOVES).contains(&decade), "{decade}");
    }

    #[test]
    fn a_circle_that_is_not_covered_all_around_finds_as_much_as_days_would() {
        // Of seven nights in 6.5 days, six meet another night after any move.
        let nights = OtherDays::of(6.5 * DAY_SECONDS, 0.0);
        let found = nights.found(|_| 6.0);
        assert!(found.iter().all(|found| (*found - 6.5).abs() < 1e-9), "{found:?}");
    }

    #[test]
    fn the_clocks_add_only_what_other_days_have_more() {
        assert_eq!(due_to_clocks(&[1.0, 2.0, 0.0], &[5.0, 4.0]), 6.0);
        assert_eq!(due_to_clocks(&[1.0, 2.0], &[1.5]), 0.0);
        assert_eq!(due_to_clocks(&[], &[]), 0.0);
        assert_eq!((expected(1.0, &[3.0, 5.0]), expected(1.0, &[])), (4.0, 1.0));
    }
}
