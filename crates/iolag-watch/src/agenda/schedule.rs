//! The grid of rounds: when each begins and in which order its slots come.
//!
//! Round *n* has its place at `origin + n × period` and begins at a random moment within `jitter` after it; round 0 begins at its
//! place. Times are monotonic, so a stepped wall clock moves nothing and a suspended machine's grid waits with it.
//!
//! A watch that comes late begins the latest round that is due and records its lag. Rounds before that one are not made up
//! for: nobody watched then, which the session's times and the lag say, and no samples are invented for them.

use iolag_model::{GOLDEN, MonotonicTime, Nanoseconds, Random};

/// The shortest period: a grid must move.
const PERIOD_MIN: Nanoseconds = Nanoseconds::from_milliseconds(1);

/// The grid.
#[derive(Debug, Clone)]
pub struct Schedule {
    origin: MonotonicTime,
    period: Nanoseconds,
    jitter: Nanoseconds,
    seed: u64,
}

/// A round and when it is to begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Round {
    /// Its number in the grid.
    pub number: u64,
    /// When it is to begin.
    pub begin: MonotonicTime,
}

impl Schedule {
    /// A grid whose first round begins at `origin`. A jitter as long as the period or longer is cut, so that rounds keep their order.
    pub fn new(origin: MonotonicTime, period: Nanoseconds, jitter: Nanoseconds, seed: u64) -> Self {
        let period = period.max(PERIOD_MIN);
        Self { origin, period, jitter: jitter.min(Nanoseconds(period.0 - 1)), seed }
    }

    /// The same grid with its first round at `origin`.
    pub const fn moved_to(&self, origin: MonotonicTime) -> Self {
        Self { origin, period: self.period, jitter: self.jitter, seed: self.seed }
    }

    /// The round with this number.
    pub fn round(&self, number: u64) -> Round {
        let place = self.origin.after(Nanoseconds(self.period.0.saturating_mul(number)));
        let late = match number {
            0 => 0,
            _ => random(self.seed ^ number.wrapping_mul(GOLDEN)).below(self.jitter.0 + 1),
        };
        Round { number, begin: place.after(Nanoseconds(late)) }
    }

    /// The round that comes after round `last` for who looks at `now`: the latest whose begin has come, or else the next one.
    pub fn after(&self, last: u64, now: MonotonicTime) -> Round {
        let passed = now.since(self.origin).0 / self.period.0;
        // A round whose place has passed may still wait for its random moment; then the one before it has begun.
        let latest = if self.round(passed).begin <= now { passed } else { passed.saturating_sub(1) };
        self.round(latest.max(last.saturating_add(1)))
    }

    /// `items` in the random order of this round.
    pub fn shuffle<T>(&self, round: u64, items: &mut [T]) {
        let mut random = random(self.seed.rotate_left(32) ^ round);
        for remaining in (1..items.len()).rev() {
            items.swap(remaining, random.below(remaining as u64 + 1) as usize);
        }
    }
}

/// Seeds here differ in few bits.
const fn random(seed: u64) -> Random {
    let mut random = Random::new(seed);
    random.bits();
    random
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SECOND: Nanoseconds = Nanoseconds::from_seconds(1);

    proptest! {
        #[test]
        fn rounds_keep_their_order_and_stay_near_their_place(
            seed: u64, number in 0_u64..1_000_000, jitter in 0_u64..5_000_000_000,
        ) {
            let schedule = Schedule::new(MonotonicTime(77), SECOND, Nanoseconds(jitter), seed);
            let (round, next) = (schedule.round(number), schedule.round(number + 1));
            prop_assert!(round.begin < next.begin);
            let late = round.begin.since(MonotonicTime(77)).0 - number * SECOND.0;
            prop_assert!(late <= jitter.min(SECOND.0 - 1));
            prop_assert_eq!(schedule.round(number), round);
        }

        #[test]
        fn who_comes_late_begins_the_latest_round_that_is_due(seed: u64, last in 0_u64..100, now in 0_u64..200_000_000_000) {
            let schedule = Schedule::new(MonotonicTime(0), SECOND, Nanoseconds(SECOND.0 / 2), seed);
            let next = schedule.after(last, MonotonicTime(now));
            prop_assert!(next.number > last);
            prop_assert!(next.begin <= MonotonicTime(now) || next.number == last + 1);
            prop_assert!(schedule.round(next.number + 1).begin > MonotonicTime(now));
        }

        #[test]
        fn an_order_is_a_permutation(seed: u64, round: u64, count in 0_usize..50) {
            let schedule = Schedule::new(MonotonicTime(1), SECOND, SECOND, seed);
            let mut items: Vec<_> = (0..count).collect();
            schedule.shuffle(round, &mut items);
            items.sort_unstable();
            prop_assert_eq!(items, (0..count).collect::<Vec<_>>());
        }
    }

    #[test]
    fn every_place_in_the_order_is_as_likely_as_any_other() {
        let schedule = Schedule::new(MonotonicTime(1), SECOND, SECOND, 5);
        let mut first = [0_u32; 5];
        for round in 0..5000 {
            let mut items = [0, 1, 2, 3, 4];
            schedule.shuffle(round, &mut items);
            first[items[0]] += 1;
        }
        // Five standard deviations around 1000.
        assert!(first.iter().all(|count| (859..=1141).contains(count)), "{first:?}");
    }
}
