//! Do two sets of stretches of time overlap for longer than by chance?
//!
//! The time that both have in common is compared with what it is after one of them was moved around the time covered, closed to a
//! circle, by whole slots: the pattern of each stays as it is, so that an hour's storm counts once. Bad times begin and end when somebody
//! looks, so two of one slot overlap wholly or not at all; moved by parts of slots they would overlap by parts, never so long. For the same reason
//! times that differ by less than half a slot are the same: rounds that begin a little late are late for all places.
//!
//! What both have at the same hour of other days is the clocks' (see `rhythm/other_days.rs`), and so is no overlap. Hours in which both are regular are cut out before
//! chance is asked (see `rhythm/regular_hours.rs`).
//!
//! Invariants: stretches of a set are disjoint and ascend; seconds from the begin of the time covered. No randomness.
//! Limits: those of `rhythm/other_days.rs`.

use super::rhythm::other_days::{OtherDays, due_to_clocks, expected};
use super::rhythm::regular_hours::RegularHours;

/// Places to which one set is moved, at most.
const SHIFTS: usize = 999;

/// Stretches of time, each from a begin to an end.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Stretches {
    /// As time passes.
    pub(crate) passed: Vec<(f64, f64)>,
    /// The same as local clocks show them, from what they showed when the time covered began.
    pub(crate) local: Vec<(f64, f64)>,
}

/// How two sets of stretches overlap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Overlap {
    /// Seconds in both.
    pub(crate) seconds: f64,
    /// Those of them that are at no hour in which both are regular.
    pub(crate) other_seconds: f64,
    /// Of these, those that would be in both by chance, on average: at any hour, or at their hours of other days if that is more.
    pub(crate) expected_seconds: f64,
    /// Probability of so many of these by chance.
    pub(crate) p: f64,
}

/// Compares two sets within `covered` seconds that were looked at every `slot` seconds (0: at any time).
pub(crate) fn overlap_of(left: &Stretches, right: &Stretches, covered: f64, slot: f64) -> Overlap {
    let seconds = common(&left.passed, &right.passed);
    if covered <= 0.0 {
        return Overlap { seconds: 0.0, other_seconds: 0.0, expected_seconds: 0.0, p: 1.0 };
    }
    // What lasts for longer than a day is the same thing on the next.
    let days = OtherDays::of(covered, left.longest().max(right.longest()));
    let of = |left: &Stretches, right: &Stretches, covered: f64| {
        let on_other_days = on_other_days(left, right, &days);
        Overlap {
            seconds,
            other_seconds: common(&left.passed, &right.passed),
            expected_seconds: expected(left.seconds() * right.seconds() / covered, &on_other_days),
            p: p_of([&left.passed, &right.passed], &on_other_days, covered, slot),
        }
    };
    match RegularHours::of_both(&left.local, &right.local, covered) {
        None => of(left, right, covered),
        Some(hours) => {
            let rest = |set: &Stretches| Stretches {
                passed: hours.closed(&set.local),
                local: hours.without(&set.local),
            };
            of(&rest(left), &rest(right), hours.seconds_until(covered))
        }
    }
}

/// Probability of so many seconds in both sets by chance.
fn p_of(sets: [&[(f64, f64)]; 2], on_other_days: &[f64], covered: f64, slot: f64) -> f64 {
    let [left, right] = sets;
    let seconds = common(left, right);
    if seconds <= 0.0 {
        return 1.0;
    }
    let slot = if slot > 0.0 { slot } else { covered / (SHIFTS + 1) as f64 };
    let slots = (covered / slot).ceil().max(1.0);
    let stride = (slots / (SHIFTS + 1) as f64).ceil();
    let shifts = ((slots / stride).ceil() as usize).saturating_sub(1);
    let moved_by = |step: usize| moved(right, slot * stride * step as f64, slot * slots);
    let anywhere: Vec<f64> = (1..=shifts).map(|step| common(left, &moved_by(step))).collect();
    let judged = seconds - due_to_clocks(&anywhere, on_other_days);
    let reaching = anywhere.iter().filter(|found| **found >= judged - slot / 2.0).count();
    (reaching + 1) as f64 / (shifts + 1) as f64
}

impl Stretches {
    /// How long they are together.
    pub(crate) fn seconds(&self) -> f64 {
        self.passed.iter().map(|(begin, end)| end - begin).sum()
    }

    fn longest(&self) -> f64 {
        self.local.iter().map(|(begin, end)| end - begin).fold(0.0, f64::max)
    }
}

/// Seconds in both after each move by whole days.
fn on_other_days(left: &Stretches, right: &Stretches, days: &OtherDays) -> Vec<f64> {
    days.found(|shift| common(&left.local, &moved(&right.local, shift, days.circle)))
}

/// Seconds in both.
fn common(left: &[(f64, f64)], right: &[(f64, f64)]) -> f64 {
    let (mut one, mut other, mut seconds) = (0, 0, 0.0);
    while let (Some(here), Some(there)) = (left.get(one), right.get(other)) {
        seconds += (here.1.min(there.1) - here.0.max(there.0)).max(0.0);
        if here.1 <= there.1 { one += 1 } else { other += 1 }
    }
    seconds
}

/// Later by `shift`; what leaves the time covered at its end comes back at its begin.
fn moved(set: &[(f64, f64)], shift: f64, covered: f64) -> Vec<(f64, f64)> {
    let mut moved: Vec<(f64, f64)> = Vec::with_capacity(set.len() + 1);
    for (begin, end) in set.iter().map(|(begin, end)| (begin + shift, end + shift)) {
        if end <= covered {
            moved.push((begin, end));
        } else if begin >= covered {
            moved.push((begin - covered, end - covered));
        } else {
            moved.push((begin, covered));
            moved.push((0.0, end - covered));
        }
    }
    moved.sort_by(|one, other| one.0.total_cmp(&other.0));
    moved
}

#[cfg(test)]
mod tests {
    use super::super::rhythm::profile::DAY_SECONDS;
    use super::*;
    use iolag_model::Random;

    const WEEK: f64 = 7.0 * DAY_SECONDS;
    const MONTH: f64 = 30.0 * DAY_SECONDS;

    /// Where clocks are never changed.
    fn stretches(passed: Vec<(f64, f64)>) -> Stretches {
        Stretches { local: passed.clone(), passed }
    }

    /// Each of 2 to 6 hours, after two quiet days on average.
    fn storms(covered: f64, noise: &mut Random) -> Stretches {
        let mut at = 0.0;
        let mut set = Vec::new();
        loop {
            at -= 2.0 * DAY_SECONDS * (1.0 - noise.unit()).ln();
            let end = at + 7200.0 + 14_400.0 * noise.unit();
            if end > covered {
                return stretches(set);
            }
            set.push((at, end));
            at = end;
        }
    }

    /// Jobs at two in the morning of every so many days.
    fn nightly(every: usize, days: usize, noise: &mut Random) -> Vec<(f64, f64)> {
        let begins = (0..days).step_by(every).map(|day| (day as f64 + 2.0 / 24.0) * DAY_SECONDS);
        begins.map(|begin| (begin, begin + 3600.0 * (0.5 * noise.normal()).exp())).collect()
    }

    #[test]
    fn one_long_time_in_both_is_no_chance_and_times_apart_are_none() {
        let hung = stretches(vec![(1e6, 1e6 + 21_600.0)]);
        let slow = stretches(vec![(1e6 + 600.0, 1e6 + 20_000.0)]);
        let never = Stretches::default();
        let found = overlap_of(&hung, &slow, MONTH, 900.0);
        assert!(found.seconds == 19_400.0 && found.p < 0.02 && found.expected_seconds < 200.0, "{found:?}");
        assert_eq!(overlap_of(&hung, &stretches(vec![(2e6, 2.1e6)]), MONTH, 900.0).p, 1.0);
        assert_eq!(overlap_of(&hung, &never, MONTH, 900.0).seconds, 0.0);
        assert_eq!(overlap_of(&never, &never, 0.0, 900.0).p, 1.0);
    }

    #[test]
    fn storms_that_know_nothing_of_each_other_overlap_as_rarely_as_they_should() {
        let mut noise = Random::new(61);
        let wrong = (0..200).filter(|_| {
            let [left, right] = [(), ()].map(|()| storms(MONTH, &mut noise));
            overlap_of(&left, &right, MONTH, 0.0).p <= 0.05
        });
        let wrong = wrong.count();
        assert!(wrong <= 18, "{wrong} of 200");
    }

    #[test]
    fn storms_of_both_are_told_in_a_week_as_often_as_there_are_any() {
        let mut noise = Random::new(63);
        let (mut told, mut of) = (0, 0);
        while of < 200 {
            let both = storms(WEEK, &mut noise);
            of += usize::from(!both.passed.is_empty());
            told += usize::from(overlap_of(&both, &both, WEEK, 900.0).p <= 0.05);
        }
        assert!(told >= 180, "{told} of {of}");
    }

    #[test]
    fn what_both_do_at_the_same_hour_by_themselves_is_not_told() {
        for (every, days) in [(1, 3), (1, 5), (1, 7), (1, 28), (1, 70), (7, 28), (7, 70), (7, 365)] {
            let mut noise = Random::new(64);
            let jobs = |noise: &mut Random| stretches(nightly(every, days, noise));
            let covered = days as f64 * DAY_SECONDS;
            let mut wrong = 0;
            for _ in 0..200 {
                let (left, right) = (jobs(&mut noise), jobs(&mut noise));
                let found = overlap_of(&left, &right, covered, 900.0);
                wrong += usize::from(found.p <= 0.05);
                let unexplained = found.other_seconds - found.expected_seconds;
                assert!(every > 1 || unexplained < 0.6 * found.seconds, "{found:?}");
            }
            assert!(wrong <= 6, "every {every} of {days} days: {wrong} of 200");
        }
    }

    #[test]
    fn an_incident_of_both_is_told_beside_what_both_do_every_night() {
        for days in [7, 14, 28, 70] {
            let mut noise = Random::new(65);
            let mut told = 0;
            for _ in 0..100 {
                let at = ((days - 1) as f64 * noise.unit()).floor() + 8.0 / 24.0;
                let mut place = || {
                    let mut set = nightly(1, days, &mut noise);
                    set.push((at * DAY_SECONDS, at * DAY_SECONDS + 21_600.0));
                    set.sort_by(|one, other| one.0.total_cmp(&other.0));
                    stretches(set)
                };
                let (left, right) = (place(), place());
                let found = overlap_of(&left, &right, days as f64 * DAY_SECONDS, 900.0);
                told += usize::from(found.p <= 0.05);
                assert!((21_600.0..found.seconds).contains(&found.other_seconds), "{found:?}");
                assert!(found.expected_seconds < found.other_seconds / 2.0, "{found:?}");
            }
            assert!(told >= 95, "{days} days: {told} of 100");
        }
    }

    #[test]
    fn what_lasts_for_days_is_no_rhythm() {
        let outage = stretches(vec![(1e6, 1e6 + 2.5 * DAY_SECONDS)]);
        assert!(overlap_of(&outage, &outage, MONTH, 900.0).p < 0.01);
    }

    #[test]
    fn single_slots_that_know_nothing_of_each_other_overlap_as_rarely_as_they_should() {
        let mut noise = Random::new(62);
        let mut wrong = 0;
        for _ in 0..200 {
            let late: Vec<f64> = (0..672).map(|slot| f64::from(slot) * 900.0 + 20.0 * noise.unit()).collect();
            let mut bad = || {
                let chosen = late.iter().filter(|_| noise.unit() < 0.05);
                stretches(chosen.map(|begin| (*begin, begin + 880.0)).collect())
            };
            wrong += usize::from(overlap_of(&bad(), &bad(), WEEK, 900.0).p <= 0.05);
        }
        assert!(wrong <= 18, "{wrong} of 200");
    }

    #[test]
    fn moving_keeps_what_there_is() {
        let set = [(10.0, 20.0), (50.0, 95.0)];
        let again = moved(&set, 30.0, 100.0);
        assert_eq!(again, [(0.0, 25.0), (40.0, 50.0), (80.0, 100.0)]);
        assert_eq!(common(&again, &[(0.0, 100.0)]), 55.0);
    }
}
