//! Which descriptor of the repetition a descriptor of the program is.

use std::collections::BTreeMap;

use iolag_model::WhyLeftOut;

use super::place::PlaceId;
use super::repetition::After;
use crate::state::{Shared, SharedId};

/// What is known of a descriptor of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Known {
    /// Its number in the repetition, or why it has none.
    pub origin: Result<u32, WhyLeftOut>,
    /// What was opened, if that is mapped.
    pub place: Option<PlaceId>,
    pub closes_at_execute: bool,
}

/// The tables of all tasks, and who has used which descriptor of the repetition.
#[derive(Debug, Default)]
pub(super) struct Tables {
    tables: Shared<BTreeMap<i32, Known>>,
    /// By number: each task that opened or used it, with what it had done then, and its table.
    uses: Vec<Vec<(After, SharedId)>>,
    /// By number: which opening of a file it is of; copies are of the same.
    openings: Vec<u32>,
    /// By opening: who moved its position last.
    moved: Vec<Option<After>>,
}

impl Tables {
    /// An empty one, with one user.
    pub(super) fn empty(&mut self) -> SharedId {
        self.tables.add(BTreeMap::new())
    }

    /// One user more.
    pub(super) fn share(&mut self, table: SharedId) -> SharedId {
        self.tables.share(table)
    }

    /// A copy, with one user.
    pub(super) fn copy(&mut self, table: SharedId) -> SharedId {
        let copy = self.tables.get(table).cloned().unwrap_or_default();
        self.tables.add(copy)
    }

    /// One user less.
    pub(super) fn release(&mut self, table: SharedId) {
        self.tables.release(table);
    }

    /// A table of its own for one of its users.
    pub(super) fn unshare(&mut self, table: SharedId) -> SharedId {
        if !self.tables.is_shared(table) {
            return table;
        }
        let copy = self.copy(table);
        self.release(table);
        copy
    }

    pub(super) fn get(&self, table: SharedId, number: i32) -> Option<Known> {
        self.tables.get(table)?.get(&number).copied()
    }

    /// Sets what a number means, and says what it meant before.
    pub(super) fn put(&mut self, table: SharedId, number: i32, known: Known) -> Option<Known> {
        self.tables.get_mut(table)?.insert(number, known)
    }

    pub(super) fn remove(&mut self, table: SharedId, number: i32) -> Option<Known> {
        self.tables.get_mut(table)?.remove(&number)
    }

    pub(super) fn set_closes_at_execute(&mut self, table: SharedId, number: i32, closes: bool) {
        if let Some(known) = self.tables.get_mut(table).and_then(|table| table.get_mut(&number)) {
            known.closes_at_execute = closes;
        }
    }

    /// The numbers within `first..=last` that mean something.
    pub(super) fn numbers(&self, table: SharedId, first: i32, last: i32) -> Vec<i32> {
        let Some(table) = self.tables.get(table).filter(|_| first <= last) else { return Vec::new() };
        table.range(first..=last).map(|(number, _)| *number).collect()
    }

    /// Closes what is closed when a program is executed: its numbers in the repetition.
    pub(super) fn execute(&mut self, table: SharedId) -> Vec<u32> {
        let Some(table) = self.tables.get_mut(table) else { return Vec::new() };
        let closed = table.extract_if(.., |_, known| known.closes_at_execute);
        closed.filter_map(|(_, known)| known.origin.ok()).collect()
    }

    /// A new descriptor of the repetition; of what was opened by `of`, if it is a copy.
    pub(super) fn number(&mut self, of: Option<u32>) -> u32 {
        let opening = of.and_then(|of| self.openings.get(of as usize).copied());
        let opening = opening.unwrap_or_else(|| {
            self.moved.push(None);
            (self.moved.len() - 1) as u32
        });
        self.openings.push(opening);
        self.uses.push(Vec::new());
        (self.uses.len() - 1) as u32
    }

    /// Who moved the position in what this descriptor is of.
    pub(super) fn moved(&mut self, descriptor: u32) -> Option<&mut Option<After>> {
        let opening = self.openings.get(descriptor as usize)?;
        self.moved.get_mut(*opening as usize)
    }

    /// How many there are.
    pub(super) fn len(&self) -> u32 {
        self.uses.len() as u32
    }

    /// Notes that a task with this table uses a descriptor by the last of so many items.
    pub(super) fn use_by(&mut self, descriptor: u32, by: After, table: SharedId) {
        let Some(uses) = self.uses.get_mut(descriptor as usize) else { return };
        match uses.iter_mut().find(|(user, of)| user.task == by.task && *of == table) {
            Some((user, _)) => user.items = by.items,
            None => uses.push((by, table)),
        }
    }

    /// Who opened it in this table.
    pub(super) fn opener(&self, descriptor: u32, table: SharedId) -> Option<After> {
        let (opener, of) = self.uses.get(descriptor as usize)?.first()?;
        (*of == table).then_some(*opener)
    }

    /// Everybody who has used it in this table, those who have ended too: that they were waited for is not in a trace.
    pub(super) fn users(&self, descriptor: u32, table: SharedId) -> Vec<After> {
        let uses = self.uses.get(descriptor as usize).map_or(&[][..], Vec::as_slice);
        uses.iter().filter(|(_, of)| *of == table).map(|(user, _)| *user).collect()
    }
}
