//! Joining two series that were measured at different moments.
//!
//! Two values belong together if each is the nearest of the other and they are no further apart than the tolerance: one-to-one,
//! symmetric, linear in time. By default the tolerance is half the period of the series with the longer one, so that series which
//! a schedule offsets by minutes (study 000: 5 of 15) find their partners.
//!
//! Limits: of several values at the same moment only the first finds a partner; of two at the same distance the earlier is nearer.

use iolag_model::{Nanoseconds, WallTime};

use crate::history::series::timed_values::TimedValues;

/// Places in the two series that belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    /// Place in the left series.
    pub left: usize,
    /// Place in the right series.
    pub right: usize,
}

/// Half the longer of the two usual spacings; zero if neither has one.
pub fn default_tolerance(left: &TimedValues, right: &TimedValues) -> Nanoseconds {
    let longer = left.usual_spacing().max(right.usual_spacing());
    Nanoseconds(longer.unwrap_or(Nanoseconds::ZERO).0 / 2)
}

/// Pairs in the order of time of values that are nearest to each other, `right` being moved by `shift_ns` (negative: earlier), and
/// at most `tolerance` apart. Both slices ascend.
pub fn join_nearest(
    left: &[WallTime],
    right: &[WallTime],
    shift_ns: i64,
    tolerance: Nanoseconds,
) -> Vec<Pair> {
    let moved = |place: usize| right[place].0.saturating_add(shift_ns);
    let mut pairs = Vec::with_capacity(left.len().min(right.len()));
    let mut partner = 0;
    for (place, moment) in left.iter().enumerate() {
        partner = nearest_from(partner, right.len(), moment.0, moved);
        let Some(apart) = (partner < right.len()).then(|| moment.0.abs_diff(moved(partner))) else { break };
        if apart <= tolerance.0 && is_nearest(left, place, moved(partner)) {
            pairs.push(Pair { left: place, right: partner });
        }
    }
    pairs
}

/// Whether nothing in `all`, which ascends, is nearer to `moment` than what stands at `place`, nor as near and earlier.
fn is_nearest(all: &[WallTime], place: usize, moment: i64) -> bool {
    let apart = |other: &WallTime| other.0.abs_diff(moment);
    let own = apart(&all[place]);
    if place.checked_sub(1).is_some_and(|before| apart(&all[before]) <= own) {
        return false;
    }
    let after = all[place + 1..].iter().find(|other| **other != all[place]);
    after.is_none_or(|after| apart(after) >= own)
}

/// The place of the nearest to `moment` among `count` moments that ascend, of which none before `candidate` is.
fn nearest_from(candidate: usize, count: usize, moment: i64, at: impl Fn(usize) -> i64) -> usize {
    let (mut nearest, mut ahead) = (candidate, candidate);
    let apart = |place: usize| at(place).abs_diff(moment);
    // Equal moments are stepped over where something closer may follow.
    while ahead + 1 < count && (apart(ahead + 1) < apart(ahead) || at(ahead + 1) == at(ahead)) {
        ahead += 1;
        if apart(ahead) < apart(nearest) {
            nearest = ahead;
        }
    }
    nearest
}

/// For each of `from` the place of the nearest in `to`; both ascend.
pub(crate) fn nearest(from: &[i64], to: &[i64]) -> Vec<Option<usize>> {
    let mut candidate = 0;
    from.iter()
        .map(|moment| {
            candidate = nearest_from(candidate, to.len(), *moment, |place| to[place]);
            (!to.is_empty()).then_some(candidate)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn seconds(values: &[i64]) -> Vec<WallTime> {
        values.iter().map(|second| WallTime::from_seconds(*second)).collect()
    }

    fn joined(left: &[i64], right: &[i64], shift: i64, tolerance: u64) -> Vec<(usize, usize)> {
        let shift_ns = shift * 1_000_000_000;
        let pairs =
            join_nearest(&seconds(left), &seconds(right), shift_ns, Nanoseconds::from_seconds(tolerance));
        pairs.iter().map(|pair| (pair.left, pair.right)).collect()
    }

    #[test]
    fn series_offset_by_five_of_fifteen_minutes_are_paired() {
        let home: Vec<i64> = (0..100).map(|slot| slot * 900).collect();
        let scratch: Vec<i64> = (0..100).map(|slot| slot * 900 + 300).collect();
        let expected: Vec<_> = (0..100).map(|slot| (slot, slot)).collect();
        assert_eq!(joined(&home, &scratch, 0, 450), expected);
        assert_eq!(joined(&home, &scratch, 0, 299), []);
        let later: Vec<_> = (0..99).map(|slot| (slot, slot + 1)).collect();
        assert_eq!(joined(&home, &scratch, -900, 450), later);
    }

    #[test]
    fn a_gap_leaves_the_other_side_alone() {
        assert_eq!(joined(&[0, 900, 1800, 2700], &[10, 1810], 0, 450), [(0, 0), (2, 1)]);
        assert_eq!(joined(&[], &[10], 0, 450), []);
        assert_eq!(joined(&[5], &[], 0, 450), []);
    }

    #[test]
    fn of_equal_moments_the_first_is_taken() {
        assert_eq!(joined(&[0, 0, 900], &[0, 900, 900], 0, 100), [(0, 0), (2, 1)]);
        assert_eq!(joined(&[500], &[0, 0, 500], 0, 100), [(0, 2)]);
    }

    #[test]
    fn the_tolerance_is_half_the_longer_period() {
        let every = |step: i64| {
            let moments: Vec<i64> = (0..20).map(|slot| slot * step).collect();
            TimedValues::known(&seconds(&moments), &[1.0; 20])
        };
        assert_eq!(default_tolerance(&every(900), &every(60)), Nanoseconds::from_seconds(450));
        assert_eq!(default_tolerance(&TimedValues::default(), &TimedValues::default()), Nanoseconds::ZERO);
    }

    proptest! {
        #[test]
        fn pairs_are_those_that_are_nearest_either_way(
            mut left in prop::collection::vec(0_i64..90, 0..60),
            mut right in prop::collection::vec(0_i64..90, 0..60),
            shift in -9_i64..9,
            tolerance in 0_u64..20,
        ) {
            left.sort_unstable();
            right.sort_unstable();
            let moved: Vec<i64> = right.iter().map(|moment| moment + shift).collect();
            let (there, back) = (nearest(&left, &moved), nearest(&moved, &left));
            let mutual = there.iter().enumerate().filter_map(|(index, partner)| {
                let partner = (*partner)?;
                let is_near = left[index].abs_diff(moved[partner]) <= tolerance;
                (is_near && back[partner] == Some(index)).then_some((index, partner))
            });
            prop_assert_eq!(joined(&left, &right, shift, tolerance), mutual.collect::<Vec<_>>());
        }

        #[test]
        fn pairs_are_one_to_one_near_and_symmetric(
            mut left in prop::collection::vec(0_i64..500, 0..60),
            mut right in prop::collection::vec(0_i64..500, 0..60),
            tolerance in 0_u64..20,
        ) {
            left.sort_unstable();
            right.sort_unstable();
            let pairs = joined(&left, &right, 0, tolerance);
            for pair in pairs.windows(2) {
                prop_assert!(pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1);
            }
            for &(from, to) in &pairs {
                prop_assert!(left[from].abs_diff(right[to]) <= tolerance);
                let best = right.iter().map(|moment| moment.abs_diff(left[from])).min().unwrap();
                prop_assert_eq!(left[from].abs_diff(right[to]), best);
            }
            left.dedup();
            right.dedup();
            let (there, mut back) = (joined(&left, &right, 0, tolerance), joined(&right, &left, 0, tolerance));
            back.iter_mut().for_each(|pair| *pair = (pair.1, pair.0));
            // Ties are broken towards the earlier on both sides, so without ties the join is symmetric.
            let tied = left.iter().any(|moment| {
                let mut apart: Vec<u64> = right.iter().map(|other| other.abs_diff(*moment)).collect();
                apart.sort_unstable();
                apart.len() > 1 && apart[0] == apart[1]
            }) || right.iter().any(|moment| {
                let mut apart: Vec<u64> = left.iter().map(|other| other.abs_diff(*moment)).collect();
                apart.sort_unstable();
                apart.len() > 1 && apart[0] == apart[1]
            });
            prop_assert!(tied || there == back);
        }
    }
}
