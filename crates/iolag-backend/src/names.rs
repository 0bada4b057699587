//! Objects that have names of their own, instead of numbers: keys that exist already, paths of a web server.

use crate::ObjectKey;

/// Names of objects, told apart by number. All of them lie in one place: ten million are two allocations, and clients share them.
#[derive(Debug, Default)]
pub struct NameTable {
    bytes: String,
    /// Where each name ends; the next begins there.
    ends: Vec<usize>,
}

impl NameTable {
    /// Adds a name, and returns its number. A name that is added twice has two.
    pub fn push(&mut self, name: &str) -> u64 {
        self.bytes.push_str(name);
        self.ends.push(self.bytes.len());
        self.count() - 1
    }

    /// The name with this number.
    pub fn get(&self, index: u64) -> Option<&str> {
        let index = usize::try_from(index).ok()?;
        let end = *self.ends.get(index)?;
        let begin = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some(&self.bytes[begin..end])
    }

    /// The name of this object, if it is one of the table's.
    pub fn name_of(&self, key: ObjectKey) -> Option<&str> {
        self.get(key.name_index()?)
    }

    /// How many names there are.
    pub const fn count(&self) -> u64 {
        self.ends.len() as u64
    }
}

/// The rank and the dataset of what has a name instead: no client is of this rank.
const NAMED: u32 = u32::MAX;

impl ObjectKey {
    /// Object `index` of the table of names.
    pub const fn named(index: u64) -> Self {
        Self { rank: NAMED, dataset: NAMED, index }
    }

    /// Its number in the table of names, if it is an object of that.
    pub const fn name_index(self) -> Option<u64> {
        match (self.rank, self.dataset) {
            (NAMED, NAMED) => Some(self.index),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_object_has_a_number_or_a_name() {
        assert_eq!(ObjectKey::named(7).name_index(), Some(7));
        assert_eq!(ObjectKey { rank: u32::MAX, dataset: 0, index: 7 }.name_index(), None);
        assert_eq!(ObjectKey::default().name_index(), None);
    }

    proptest! {
        #[test]
        fn every_name_is_found_by_its_number_and_nothing_by_another(names in proptest::collection::vec(".*", 0..20)) {
            let mut table = NameTable::default();
            let numbers: Vec<u64> = names.iter().map(|name| table.push(name)).collect();
            prop_assert_eq!(table.count(), names.len() as u64);
            for (number, name) in numbers.into_iter().zip(&names) {
                prop_assert_eq!(table.get(number), Some(&name[..]));
                prop_assert_eq!(table.name_of(ObjectKey::named(number)), Some(&name[..]));
            }
            prop_assert_eq!(table.get(table.count()), None);
            prop_assert_eq!(table.get(u64::MAX), None);
            prop_assert_eq!(table.name_of(ObjectKey::default()), None);
        }
    }
}
