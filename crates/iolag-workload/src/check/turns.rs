//! The time of a check: whose turn it is, and when a directory must begin to clean up.
//!
//! Turns are arithmetic on a common clock: nobody meets, so nobody waits for one that is slow. A directory begins a unit only in
//! its own turn, and only if it can be expected to end there; one that takes longer goes on, which costs the others nothing but the
//! processor, and the directory begins its next unit in its next turn. One whose every request is slow takes no turns: it
//! waits all the time.
//!
//! Limits: a unit that uses the processor beyond its turn (a compilation) competes with the directory whose turn it is then. What
//! removing costs is estimated from what making cost here; one operation that takes longer than all before can exceed the end.

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

/// What a client has made and not removed, and what making and removing cost: how much time removing the rest takes.
#[derive(Debug)]
pub(crate) struct Holdings {
    place_cost: Nanoseconds,
    directories: u64,
    files: u64,
    /// Files of the last create task; the next one removes them before it begins.
    created: u64,
    making_directories: Mean,
    making: Mean,
    removing: Mean,
}

/// How often, and how long in all.
#[derive(Debug, Default)]
struct Mean {
    count: u64,
    sum: Nanoseconds,
}

impl Mean {
    fn add(&mut self, count: u64, took: Nanoseconds) {
        (self.count, self.sum) = (self.count + count, Nanoseconds(self.sum.0 + took.0));
    }

    fn value(&self) -> Option<u64> {
        self.sum.0.checked_div(self.count)
    }
}

/// A request that takes longer is waited for: the processor has done its part in a fraction of that.
const WAITING: Nanoseconds = Nanoseconds::from_milliseconds(10);
/// Requests of making an empty working directory, in those of making a directory.
const PLACE_MAKINGS: u64 = 7;
/// Removing the working directory, in makings of a directory: open, look, list twice, remove. Measured on a file system that caches
/// nothing.
const PLACE_REMOVAL: u64 = 10;
/// The same for each directory in it.
const DIRECTORY_REMOVAL: u64 = 8;

impl Holdings {
    /// An empty working directory that took `place_cost` to make.
    pub(crate) fn new(place_cost: Nanoseconds) -> Self {
        Self {
            place_cost,
            directories: 0,
            files: 0,
            created: 0,
            making_directories: Mean::default(),
            making: Mean::default(),
            removing: Mean::default(),
        }
    }

    /// What a request takes, roughly: making a directory is two, if nothing is cached.
    pub(crate) fn request_cost(&self) -> Nanoseconds {
        Nanoseconds(self.directory_cost() / 2)
    }

    /// Whether a request takes so long that the client mostly waits. Then it disturbs nobody, and needs no turns.
    pub(crate) fn is_waiting(&self) -> bool {
        self.request_cost() >= WAITING
    }

    fn directory_cost(&self) -> u64 {
        self.making_directories.value().unwrap_or(self.place_cost.0 / PLACE_MAKINGS)
    }

    pub(crate) fn directory_made(&mut self, took: Nanoseconds) {
        self.directories += 1;
        self.making_directories.add(1, took);
    }

    pub(crate) const fn directory_removed(&mut self) {
        self.directories = self.directories.saturating_sub(1);
    }

    pub(crate) fn file_made(&mut self, took: Nanoseconds) {
        self.files += 1;
        self.making.add(1, took);
    }

    /// Made by somebody else, or in a way that says nothing of the cost.
    pub(crate) const fn something_made(&mut self, directories: u64, files: u64) {
        (self.directories, self.files) = (self.directories + directories, self.files + files);
    }

    pub(crate) fn file_removed(&mut self, took: Nanoseconds) {
        self.files = self.files.saturating_sub(1);
        self.removing.add(1, took);
    }

    /// The create task first took `preparing` to remove what it had made before, then made `files` in `took`.
    pub(crate) fn many_made(&mut self, preparing: Nanoseconds, files: u64, took: Nanoseconds) {
        if self.created > 0 {
            self.removing.add(self.created, preparing);
        }
        if files > 0 {
            self.making.add(files, took);
        }
        self.created = files;
    }

    /// Time that removing everything takes, by what was seen here, and a quarter more.
    pub(crate) fn removal(&self) -> Nanoseconds {
        // A file takes twice as many requests to make as to remove, at least: create, write and close.
        let made = self.making.value().unwrap_or(self.place_cost.0 / PLACE_MAKINGS) / 2;
        let file = self.removing.value().unwrap_or(made);
        let of_create = u64::from(self.created > 0);
        let directories = PLACE_REMOVAL + DIRECTORY_REMOVAL * (self.directories + of_create);
        let all = self
            .directory_cost()
            .saturating_mul(directories)
            .saturating_add(file * (self.files + self.created));
        Nanoseconds(all.saturating_add(all / 4))
    }
}

/// Time that removing an empty working directory takes that took `place_cost` to make.
pub fn place_removal(place_cost: Nanoseconds) -> Nanoseconds {
    Holdings::new(place_cost).removal()
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

    #[test]
    fn what_is_there_is_removed_at_the_pace_at_which_it_was_made() {
        let mut holdings = Holdings::new(Nanoseconds(0));
        assert_eq!(holdings.removal(), Nanoseconds(0));
        holdings.directory_made(Nanoseconds(400));
        holdings.many_made(Nanoseconds(0), 10, Nanoseconds(1_000));
        // The place, its dataset, the directory of the create task; ten files.
        assert_eq!(holdings.removal(), Nanoseconds((400 * (10 + 2 * 8) + 10 * 100 / 2) * 5 / 4));
        holdings.many_made(Nanoseconds(20_000), 4, Nanoseconds(400));
        assert_eq!(holdings.removal(), Nanoseconds((400 * 26 + 4 * 2_000) * 5 / 4), "removing is slower");
    }
}
