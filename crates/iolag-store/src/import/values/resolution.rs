//! What a clock could tell from zero, concluded from the durations that it gave.

use std::collections::BTreeSet;

use iolag_model::Nanoseconds;

use crate::import::certainty::Certainty;

/// A clock resolution and where it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GuessedResolution {
    /// The smallest difference of two durations.
    pub resolution_ns: Nanoseconds,
    /// Whether the caller said so.
    pub certainty: Certainty,
    /// Durations of zero: they took less than this, not nothing.
    pub zeros: u64,
}

/// Gathers durations to conclude from.
#[derive(Debug, Default)]
pub(crate) struct ResolutionEvidence {
    /// The greatest number of which all durations are multiples.
    divisor_ns: u64,
    /// The place of the last digit that was printed.
    printed_ns: Option<u64>,
    distinct: BTreeSet<u64>,
    zeros: u64,
}

/// So many different durations are not all multiples of a number by chance.
const DISTINCT_NEEDED: usize = 20;

impl ResolutionEvidence {
    /// Takes a duration into account, with the place of its last printed digit.
    pub fn look_at(&mut self, duration_ns: u64, printed_ns: u64) {
        self.divisor_ns = greatest_common_divisor(self.divisor_ns, duration_ns);
        self.printed_ns = Some(self.printed_ns.map_or(printed_ns, |least| least.min(printed_ns)));
        self.zeros += u64::from(duration_ns == 0);
        if duration_ns > 0 && self.distinct.len() < DISTINCT_NEEDED {
            self.distinct.insert(duration_ns);
        }
    }

    /// What the clock could tell from zero: of few durations the last printed digit, of many the number of which all are multiples, which
    /// is more if a program printed more digits than its clock had.
    pub fn conclude(&self, declared: Option<Nanoseconds>) -> GuessedResolution {
        let guessed =
            if self.distinct.len() >= DISTINCT_NEEDED { Some(self.divisor_ns) } else { self.printed_ns };
        match declared {
            Some(resolution_ns) => {
                GuessedResolution { resolution_ns, certainty: Certainty::Declared, zeros: self.zeros }
            }
            None => GuessedResolution {
                resolution_ns: Nanoseconds(guessed.unwrap_or(0)),
                certainty: Certainty::Guessed,
                zeros: self.zeros,
            },
        }
    }
}

const fn greatest_common_divisor(mut left: u64, mut right: u64) -> u64 {
    while right != 0 {
        (left, right) = (right, left % right);
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    fn concluded(durations: impl IntoIterator<Item = (u64, u64)>) -> u64 {
        let mut evidence = ResolutionEvidence::default();
        durations.into_iter().for_each(|(duration, printed)| evidence.look_at(duration, printed));
        evidence.conclude(None).resolution_ns.0
    }

    #[test]
    fn two_digits_are_ten_milliseconds() {
        assert_eq!(concluded([(0, 10_000_000), (10_000_000, 10_000_000)]), 10_000_000);
        assert_eq!(concluded([(0, 10_000_000)]), 10_000_000);
        assert_eq!(concluded((0..100).map(|index| (index * 10_000_000, 10_000_000))), 10_000_000);
    }

    #[test]
    fn digits_that_are_always_zero_are_no_resolution() {
        assert_eq!(concluded((1..100).map(|index| (index * 4_000_000, 1_000))), 4_000_000);
        assert_eq!(
            concluded((1..5).map(|index| (index * 4_000_000, 1_000))),
            1_000,
            "so few may be so by chance"
        );
    }

    #[test]
    fn what_is_declared_counts() {
        let mut evidence = ResolutionEvidence::default();
        evidence.look_at(0, 1);
        let declared = evidence.conclude(Some(Nanoseconds(7)));
        assert_eq!(
            (declared.resolution_ns, declared.certainty, declared.zeros),
            (Nanoseconds(7), Certainty::Declared, 1)
        );
    }
}
