//! Tables of descriptors. Several descriptors may be of one open file, in one table or in several: they have one position.

use std::collections::BTreeMap;

use super::shared::{Shared, SharedId};
use crate::trace::PathId;

/// A file as it was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Opened {
    /// Its path; nothing if it is no file, or nobody knows which.
    pub path: Option<PathId>,
    /// Where the next read or write is; nothing if nobody knows.
    pub position: Option<u64>,
}

impl Opened {
    /// Of which nothing is known.
    pub(crate) const UNKNOWN: Self = Self { path: None, position: None };
}

/// A descriptor.
#[derive(Debug, Clone, Copy)]
struct Slot {
    opened: SharedId,
    closes_at_execute: bool,
}

/// The table of one task, or of several. Numbers may be far apart, and tables are copied often.
#[derive(Debug, Clone, Default)]
pub(crate) struct Descriptors {
    slots: BTreeMap<i32, Slot>,
}

/// Every table, and every open file.
#[derive(Debug, Default)]
pub(crate) struct Files {
    pub tables: Shared<Descriptors>,
    opened: Shared<Opened>,
}

impl Files {
    /// What a descriptor is of.
    pub(crate) fn get(&self, table: SharedId, number: i32) -> Option<&Opened> {
        self.opened.get(self.slot(table, number)?.opened)
    }

    pub(crate) fn get_mut(&mut self, table: SharedId, number: i32) -> Option<&mut Opened> {
        self.opened.get_mut(self.slot(table, number)?.opened)
    }

    /// A new descriptor; what the number meant before is closed.
    pub(crate) fn open(&mut self, table: SharedId, number: i32, opened: Opened, closes_at_execute: bool) {
        let opened = self.opened.add(opened);
        self.put(table, number, Slot { opened, closes_at_execute });
    }

    /// Another descriptor of what `from` is of.
    pub(crate) fn duplicate(&mut self, table: SharedId, from: i32, to: i32, closes_at_execute: bool) {
        if from == to {
            return;
        }
        let opened = match self.slot(table, from) {
            Some(slot) => self.opened.share(slot.opened),
            None => self.opened.add(Opened::UNKNOWN),
        };
        self.put(table, to, Slot { opened, closes_at_execute });
    }

    /// It means nothing any more.
    pub(crate) fn close(&mut self, table: SharedId, number: i32) {
        let slot = self.tables.get_mut(table).and_then(|descriptors| descriptors.slots.remove(&number));
        if let Some(slot) = slot {
            self.opened.release(slot.opened);
        }
    }

    /// Sets whether it is closed when a program is executed.
    pub(crate) fn set_closes_at_execute(&mut self, table: SharedId, number: i32, closes: bool) {
        let slot = self.tables.get_mut(table).and_then(|descriptors| descriptors.slots.get_mut(&number));
        if let Some(slot) = slot {
            slot.closes_at_execute = closes;
        }
    }

    /// The numbers within `first..=last` that mean something.
    pub(crate) fn numbers(&self, table: SharedId, first: i32, last: i32) -> Vec<i32> {
        let Some(descriptors) = self.tables.get(table).filter(|_| first <= last) else { return Vec::new() };
        descriptors.slots.range(first..=last).map(|(number, _)| *number).collect()
    }

    /// A copy of a table, with one user.
    pub(crate) fn copy(&mut self, table: SharedId) -> SharedId {
        let copy = self.tables.get(table).cloned().unwrap_or_default();
        for slot in copy.slots.values() {
            self.opened.share(slot.opened);
        }
        self.tables.add(copy)
    }

    /// A table with one user less; if that was the last, all of it is closed.
    pub(crate) fn release(&mut self, table: SharedId) {
        for slot in self.tables.release(table).unwrap_or_default().slots.into_values() {
            self.opened.release(slot.opened);
        }
    }

    /// Closes what is to be closed when a program is executed.
    pub(crate) fn execute(&mut self, table: SharedId) {
        let Some(descriptors) = self.tables.get_mut(table) else { return };
        for (_, closed) in descriptors.slots.extract_if(.., |_, slot| slot.closes_at_execute) {
            self.opened.release(closed.opened);
        }
    }

    /// Every open file.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Opened> {
        self.opened.iter_mut()
    }

    fn put(&mut self, table: SharedId, number: i32, slot: Slot) {
        self.close(table, number);
        match self.tables.get_mut(table).filter(|_| number >= 0) {
            Some(descriptors) => {
                descriptors.slots.insert(number, slot);
            }
            None => {
                self.opened.release(slot.opened);
            }
        }
    }

    fn slot(&self, table: SharedId, number: i32) -> Option<Slot> {
        self.tables.get(table)?.slots.get(&number).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: Opened = Opened { path: Some(PathId(7)), position: Some(0) };

    fn files() -> (Files, SharedId) {
        let mut files = Files::default();
        let table = files.tables.add(Descriptors::default());
        (files, table)
    }

    #[test]
    fn duplicates_have_one_position_and_live_on() {
        let (mut files, table) = files();
        files.open(table, 3, FILE, false);
        files.duplicate(table, 3, 9, false);
        files.get_mut(table, 3).unwrap().position = Some(5);
        files.close(table, 3);
        assert_eq!(files.get(table, 3), None);
        assert_eq!(files.get(table, 9), Some(&Opened { position: Some(5), ..FILE }));
        files.close(table, 9);
        assert_eq!(files.opened.len(), 0);
    }

    #[test]
    fn a_copy_has_descriptors_of_its_own_of_the_same_files() {
        let (mut files, table) = files();
        files.open(table, 3, FILE, true);
        files.open(table, 4, FILE, false);
        let copy = files.copy(table);
        files.execute(copy);
        assert_eq!((files.get(copy, 3), files.get(table, 3)), (None, Some(&FILE)));
        files.get_mut(copy, 4).unwrap().position = Some(8);
        assert_eq!(files.get(table, 4).unwrap().position, Some(8));
        files.release(table);
        assert_eq!(files.numbers(copy, 0, i32::MAX), [4]);
        files.release(copy);
        assert_eq!((files.opened.len(), files.tables.len()), (0, 0));
    }

    #[test]
    fn a_number_that_is_used_again_closes_what_it_was() {
        let (mut files, table) = files();
        files.open(table, 3, FILE, false);
        files.open(table, 3, Opened::UNKNOWN, false);
        files.duplicate(table, 77, 3, false);
        assert_eq!((files.get(table, 3), files.opened.len()), (Some(&Opened::UNKNOWN), 1));
    }

    #[test]
    fn numbers_of_no_table_are_of_nothing() {
        let (mut files, table) = files();
        for number in [-1, -100, i32::MIN] {
            files.open(table, number, FILE, false);
            files.close(table, number);
            assert_eq!(files.get(table, number), None);
        }
        assert_eq!(files.opened.len(), 0);
    }
}
