//! Sorting of more than fits into memory: sorted runs are put aside and merged while they are read.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::Path;
use std::sync::Arc;

use super::bytes::{Aside, AsideError, AsideReader, put_number};

/// How much is sorted at once.
const RUN_BYTES_MAX: usize = 4 << 20;

/// What can be sorted. No two are equal unless it does not matter which is first.
pub(crate) trait Sortable: Copy + Ord {
    /// Appends it.
    fn put(&self, bytes: &mut Vec<u8>);

    /// Reads what [`Sortable::put`] appended.
    ///
    /// # Errors
    /// If it cannot be read.
    fn read(reader: &mut AsideReader<'_>) -> Result<Self, AsideError>;
}

impl Sortable for u64 {
    fn put(&self, bytes: &mut Vec<u8>) {
        put_number(bytes, *self);
    }

    fn read(reader: &mut AsideReader<'_>) -> Result<Self, AsideError> {
        reader.number()
    }
}

/// Takes items in any order.
pub(crate) struct Sorter<T> {
    directory: Arc<Path>,
    items: Vec<T>,
    count: u64,
    runs: Aside,
    /// Where each run begins in `runs`.
    begins: Vec<u64>,
}

impl<T: Sortable> Sorter<T> {
    const RUN_MAX: usize = RUN_BYTES_MAX / size_of::<T>();

    /// Nothing yet.
    pub fn new(directory: &Arc<Path>) -> Self {
        Self {
            directory: Arc::clone(directory),
            items: Vec::new(),
            count: 0,
            runs: Aside::new(directory),
            begins: Vec::new(),
        }
    }

    /// How many there are.
    pub const fn len(&self) -> u64 {
        self.count
    }

    /// Takes an item.
    pub fn push(&mut self, item: T) -> Result<(), AsideError> {
        if self.items.len() == Self::RUN_MAX {
            self.items.sort_unstable();
            self.begins.push(self.runs.len());
            for item in self.items.drain(..) {
                self.runs.write_with(|bytes| item.put(bytes))?;
            }
        }
        self.items.push(item);
        self.count += 1;
        Ok(())
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.items.clear();
        self.count = 0;
        if !self.begins.is_empty() {
            self.begins.clear();
            self.runs = Aside::new(&self.directory);
        }
    }

    /// The items in their order. More may be taken afterwards.
    pub fn sorted(&mut self) -> Result<Sorted<'_, T>, AsideError> {
        self.items.sort_unstable();
        Sorted::of(self)
    }
}

/// Items in their order, to be read once.
pub(crate) struct Sorted<'a, T> {
    sorter: &'a Sorter<T>,
    /// How many of those in memory have been given.
    given: usize,
    /// The next item of each run with the number of the run.
    heads: BinaryHeap<Reverse<(T, usize)>>,
    runs: Vec<(AsideReader<'a>, u64)>,
    next: Option<T>,
}

impl<'a, T: Sortable> Sorted<'a, T> {
    fn of(sorter: &'a Sorter<T>) -> Result<Self, AsideError> {
        let ends = sorter.begins.iter().skip(1).copied().chain([sorter.runs.len()]);
        let runs = sorter.begins.iter().zip(ends).map(|(begin, end)| (sorter.runs.read_from(*begin), end));
        let mut sorted =
            Self { sorter, given: 0, heads: BinaryHeap::new(), runs: runs.collect(), next: None };
        for run in 0..sorted.runs.len() {
            sorted.refill(run)?;
        }
        sorted.next = sorted.pull()?;
        Ok(sorted)
    }

    /// The same items from the first one on, for who has to look ahead.
    pub fn again(&self) -> Result<Self, AsideError> {
        Self::of(self.sorter)
    }

    /// The next one, which stays the next one.
    pub const fn peek(&self) -> Option<&T> {
        self.next.as_ref()
    }

    /// The next one.
    pub fn next(&mut self) -> Result<Option<T>, AsideError> {
        let pulled = self.pull()?;
        Ok(std::mem::replace(&mut self.next, pulled))
    }

    fn pull(&mut self) -> Result<Option<T>, AsideError> {
        let in_memory = self.sorter.items.get(self.given);
        match self.heads.peek() {
            Some(Reverse((head, run))) if in_memory.is_none_or(|item| head <= item) => {
                let (head, run) = (*head, *run);
                self.heads.pop();
                self.refill(run)?;
                Ok(Some(head))
            }
            _ => {
                self.given += 1;
                Ok(in_memory.copied())
            }
        }
    }

    fn refill(&mut self, run: usize) -> Result<(), AsideError> {
        let (reader, end) = &mut self.runs[run];
        if reader.position() < *end {
            self.heads.push(Reverse((T::read(reader)?, run)));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_into_memory_comes_in_order_too() {
        for count in [0, 1, 1_000, 1_500_000_u64] {
            let mut sorter = Sorter::<u64>::new(&Arc::from(std::env::temp_dir()));
            let mixed = |index: u64| index.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
            (0..count).for_each(|index| sorter.push(mixed(index)).unwrap());
            let mut expected: Vec<u64> = (0..count).map(mixed).collect();
            expected.sort_unstable();
            let mut sorted = sorter.sorted().unwrap();
            let mut again = sorted.again().unwrap();
            for item in expected {
                assert_eq!(sorted.peek(), Some(&item));
                assert_eq!((sorted.next().unwrap(), again.next().unwrap()), (Some(item), Some(item)));
            }
            assert_eq!((sorted.next().unwrap(), again.next().unwrap()), (None, None));
        }
    }
}
