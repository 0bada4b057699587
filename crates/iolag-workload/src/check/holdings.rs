//! When a directory must begin to clean up: what it holds, and what removing that will take.
//!
//! Limits: what removing costs is estimated from what making cost here; one operation that takes longer than all before can exceed
//! the end.

use iolag_model::{Datasets, Nanoseconds};

/// What a client has made and not removed, and what making and removing cost: how much time removing the rest takes.
#[derive(Debug)]
pub(crate) struct Holdings {
    place_cost: Nanoseconds,
    datasets: Datasets,
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
    /// An empty working directory that took `place_cost` to make, in which directories are made, or only objects.
    pub(crate) fn new(place_cost: Nanoseconds, datasets: Datasets) -> Self {
        Self {
            place_cost,
            datasets,
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
        let seen = match self.datasets {
            Datasets::Made => self.making_directories.value(),
            // An object is one request.
            Datasets::Implied => self.making.value().map(|object| object * 2),
        };
        seen.unwrap_or(self.place_cost.0 / PLACE_MAKINGS)
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
    Holdings::new(place_cost, Datasets::Made).removal()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_removed_at_the_pace_at_which_it_was_made() {
        let mut holdings = Holdings::new(Nanoseconds(0), Datasets::Made);
        assert_eq!(holdings.removal(), Nanoseconds(0));
        holdings.directory_made(Nanoseconds(400));
        holdings.many_made(Nanoseconds(0), 10, Nanoseconds(1_000));
        // The place, its dataset, the directory of the create task; ten files.
        assert_eq!(holdings.removal(), Nanoseconds((400 * (10 + 2 * 8) + 10 * 100 / 2) * 5 / 4));
        holdings.many_made(Nanoseconds(20_000), 4, Nanoseconds(400));
        assert_eq!(holdings.removal(), Nanoseconds((400 * 26 + 4 * 2_000) * 5 / 4), "removing is slower");
    }

    #[test]
    fn where_only_objects_are_made_they_say_what_a_request_takes() {
        let mut holdings = Holdings::new(Nanoseconds::from_milliseconds(700), Datasets::Implied);
        assert!(holdings.is_waiting(), "coming there took long");
        holdings.file_made(Nanoseconds(4_000));
        assert_eq!((holdings.request_cost(), holdings.is_waiting()), (Nanoseconds(4_000), false));
    }
}
