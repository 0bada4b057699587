//! Do two sets of stretches of time overlap for longer than by chance?
//!
//! The time that both have in common is compared with what it is after one of them was moved around the time covered, closed to a
//! circle, by whole slots: the pattern of each stays as it is, so that an hour's storm counts once. Bad times begin and end when somebody
//! looks, so two of one slot overlap wholly or not at all; moved by parts of slots they would overlap by parts, never so long. For the same reason
//! times that differ by less than half a slot are the same: rounds that begin a little late are late for all places.
//!
//! Invariants: stretches of a set are disjoint and ascend; seconds from the begin of the time covered. No randomness.
//! Limits: two sets that both follow the clock overlap as long as the clock says.

/// Places to which one set is moved, at most.
const SHIFTS: usize = 999;

/// How two sets of stretches overlap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Overlap {
    /// Seconds in both.
    pub(crate) seconds: f64,
    /// Seconds that would be in both by chance, on average.
    pub(crate) expected_seconds: f64,
    /// Probability of so many by chance.
    pub(crate) p: f64,
}

/// Compares two sets of stretches, each from a begin to an end, within `covered` seconds that were looked at every `slot` seconds (0: at any time).
pub(crate) fn overlap_of(left: &[(f64, f64)], right: &[(f64, f64)], covered: f64, slot: f64) -> Overlap {
    let seconds = common(left, right);
    let lengths = |set: &[(f64, f64)]| set.iter().map(|(begin, end)| end - begin).sum::<f64>();
    if covered <= 0.0 || seconds <= 0.0 {
        let expected_seconds = if covered > 0.0 { lengths(left) * lengths(right) / covered } else { 0.0 };
        return Overlap { seconds: 0.0, expected_seconds, p: 1.0 };
    }
    let slot = if slot > 0.0 { slot } else { covered / (SHIFTS + 1) as f64 };
    let slots = (covered / slot).ceil().max(1.0);
    let stride = (slots / (SHIFTS + 1) as f64).ceil();
    let shifts = ((slots / stride).ceil() as usize).saturating_sub(1);
    let reaching = (1..=shifts).filter(|step| {
        let shift = slot * stride * *step as f64;
        common(left, &moved(right, shift, slot * slots)) >= seconds - slot / 2.0
    });
    Overlap {
        seconds,
        expected_seconds: lengths(left) * lengths(right) / covered,
        p: (reaching.count() + 1) as f64 / (shifts + 1) as f64,
    }
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
    use super::*;
    use crate::synthetic::Noise;

    const MONTH: f64 = 30.0 * 86_400.0;

    #[test]
    fn one_long_time_in_both_is_no_chance_and_times_apart_are_none() {
        let hung = [(1e6, 1e6 + 21_600.0)];
        let slow = [(1e6 + 600.0, 1e6 + 20_000.0)];
        let found = overlap_of(&hung, &slow, MONTH, 900.0);
        assert!(found.seconds == 19_400.0 && found.p < 0.02 && found.expected_seconds < 200.0, "{found:?}");
        assert_eq!(overlap_of(&hung, &[(2e6, 2.1e6)], MONTH, 900.0).p, 1.0);
        assert_eq!(overlap_of(&hung, &[], MONTH, 900.0).seconds, 0.0);
        assert_eq!(overlap_of(&[], &[], 0.0, 900.0).p, 1.0);
    }

    #[test]
    fn storms_that_know_nothing_of_each_other_overlap_as_rarely_as_they_should() {
        let mut noise = Noise::new(61);
        let mut storms = || {
            let mut at = 0.0;
            let mut set = Vec::new();
            loop {
                at -= 2.0 * 86_400.0 * (1.0 - noise.uniform()).ln();
                let end = at + 7200.0 + 14_400.0 * noise.uniform();
                if end > MONTH {
                    return set;
                }
                set.push((at, end));
                at = end;
            }
        };
        let wrong = (0..200).filter(|_| overlap_of(&storms(), &storms(), MONTH, 0.0).p <= 0.05).count();
        assert!(wrong <= 18, "{wrong} of 200");
    }

    #[test]
    fn single_slots_that_know_nothing_of_each_other_overlap_as_rarely_as_they_should() {
        let mut noise = Noise::new(62);
        let mut wrong = 0;
        for _ in 0..200 {
            let late: Vec<f64> =
                (0..672).map(|slot| f64::from(slot) * 900.0 + 20.0 * noise.uniform()).collect();
            let mut bad = || -> Vec<(f64, f64)> {
                let chosen = late.iter().filter(|_| noise.uniform() < 0.05);
                chosen.map(|begin| (*begin, begin + 880.0)).collect()
            };
            wrong += usize::from(overlap_of(&bad(), &bad(), 672.0 * 900.0, 900.0).p <= 0.05);
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
