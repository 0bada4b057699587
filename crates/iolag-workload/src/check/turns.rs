//! The turns of a check: when which directory may begin something.
//!
//! Turns are arithmetic on a common clock: nobody meets, so nobody waits for one that is slow. A directory begins a unit only in
//! its own turn, and only if it can be expected to end there; one that takes longer goes on, which costs the others nothing but the
//! processor, and the directory begins its next unit in its next turn. One whose every request is slow takes no turns: it
//! waits all the time.
//!
//! Limits: a unit that uses the processor beyond its turn (a compilation) competes with the directory whose turn it is then.

use iolag_model::{MonotonicTime, Nanoseconds};

/// The shortest and the longest turn.
const TURN_MIN: Nanoseconds = Nanoseconds::from_milliseconds(50);
const TURN_MAX: Nanoseconds = Nanoseconds::from_seconds(1);
/// Turns that each directory gets at least, if their length allows.
const TURNS_WANTED: u64 = 12;
/// The control's turn is this part of a directory's.
const CONTROL_PART: u64 = 4;

/// When one directory may begin something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckTurns {
    begin: MonotonicTime,
    offset: Nanoseconds,
    length: Nanoseconds,
    cycle: Nanoseconds,
}

/// What time it is for a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Its own turn with this number, which ends then.
    Own { number: u64, end: MonotonicTime },
    /// Another's; its own begins then.
    Later(MonotonicTime),
}

impl CheckTurns {
    /// The turns of `directories` directories, and last those of a control beside them, over a check of `budget` that begins at
    /// `begin`.
    pub fn of_all(begin: MonotonicTime, budget: Nanoseconds, directories: u32) -> Vec<Self> {
        let count = u64::from(directories.max(1));
        let length = Nanoseconds(budget.0 / (TURNS_WANTED * count)).clamp(TURN_MIN, TURN_MAX);
        let control = Nanoseconds(length.0 / CONTROL_PART);
        let cycle = Nanoseconds(length.0 * count + control.0);
        let turns = |(index, length): (u64, Nanoseconds)| {
            let offset = Nanoseconds(index * (cycle.0 - control.0) / count);
            Self { begin, offset, length, cycle }
        };
        (0..count).map(|index| (index, length)).chain([(count, control)]).map(turns).collect()
    }

    pub(crate) fn at(&self, now: MonotonicTime) -> Turn {
        let first = self.begin.after(self.offset);
        if now < first {
            return Turn::Later(first);
        }
        let number = now.since(first).0 / self.cycle.0;
        let start = first.after(Nanoseconds(number * self.cycle.0));
        let end = start.after(self.length);
        if now < end { Turn::Own { number, end } } else { Turn::Later(start.after(self.cycle)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn turn_at(turns: &CheckTurns, ms: u64) -> Turn {
        turns.at(MonotonicTime(ms * MS))
    }

    #[test]
    fn turns_follow_each_other_without_gap_or_overlap() {
        let begin = MonotonicTime(1_000 * MS);
        let all = CheckTurns::of_all(begin, Nanoseconds::from_seconds(45), 3);
        assert_eq!(all.len(), 4, "three directories and the control");
        assert_eq!(turn_at(&all[1], 1_000), Turn::Later(MonotonicTime(2_000 * MS)));
        for ms in 1_000..9_000 {
            let own: Vec<_> =
                all.iter().filter(|turns| matches!(turn_at(turns, ms), Turn::Own { .. })).collect();
            assert_eq!(own.len(), 1, "{ms}");
        }
        assert_eq!(turn_at(&all[0], 4_300), Turn::Own { number: 1, end: MonotonicTime(5_250 * MS) });
        assert_eq!(turn_at(&all[3], 4_300), Turn::Later(MonotonicTime(7_250 * MS)));
    }

    #[test]
    fn turns_are_neither_too_short_nor_too_long() {
        let length = |budget_ms, directories| {
            CheckTurns::of_all(MonotonicTime(1), Nanoseconds::from_milliseconds(budget_ms), directories)[0]
                .length
        };
        assert_eq!(length(1_000, 6), TURN_MIN);
        assert_eq!(length(60_000, 1), TURN_MAX);
        assert_eq!(length(12_000, 2), Nanoseconds::from_milliseconds(500));
    }
}
