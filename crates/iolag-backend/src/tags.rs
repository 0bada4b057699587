//! What the tags of samples stand for.

use std::sync::{Mutex, PoisonError};

use iolag_model::{TagKind, TagRecord};

/// Names behind tags, in the order of their first mention, shared by the sessions of a process. A session asks for its tag when it
/// connects, never while the clock runs.
#[derive(Debug)]
pub struct TagTable {
    first: u16,
    names: Mutex<Vec<(TagKind, String)>>,
}

impl Default for TagTable {
    fn default() -> Self {
        Self::beginning_at(1)
    }
}

impl TagTable {
    /// A table whose tags begin at this number, at least 1: those of several processes of a run must not meet.
    pub fn beginning_at(first: u16) -> Self {
        Self { first: first.max(1), names: Mutex::default() }
    }

    /// The tag of this name, a new one if it is mentioned first. With all numbers used up 0, which tells nothing apart.
    pub fn tag(&self, kind: TagKind, name: &str) -> u16 {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let known = names.iter().position(|(known, named)| *known == kind && named == name);
        let place = known.unwrap_or(names.len());
        let Some(tag) = u16::try_from(place).ok().and_then(|place| self.first.checked_add(place)) else {
            return 0;
        };
        if known.is_none() {
            names.push((kind, name.to_owned()));
        }
        tag
    }

    /// All that were mentioned, for run.json.
    pub fn records(&self) -> Vec<TagRecord> {
        let names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let record = |(tag, (kind, name)): (u16, &(TagKind, String))| TagRecord {
            tag,
            kind: *kind,
            name: name.clone(),
            target: None,
        };
        (self.first..=u16::MAX).zip(names.iter()).map(record).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_tag_and_run_json_gets_what_was_mentioned() {
        let table = TagTable::default();
        let (one, other) = (table.tag(TagKind::Server, "a:80"), table.tag(TagKind::PathKind, "a:80"));
        assert_eq!((one, other, table.tag(TagKind::Server, "a:80")), (1, 2, 1));
        let told: Vec<_> =
            table.records().into_iter().map(|record| (record.tag, record.kind, record.name)).collect();
        assert_eq!(
            told,
            [(1, TagKind::Server, "a:80".to_owned()), (2, TagKind::PathKind, "a:80".to_owned())]
        );
    }

    #[test]
    fn a_table_that_is_full_tells_nothing_apart_any_more() {
        let table = TagTable::beginning_at(u16::MAX);
        assert_eq!(table.tag(TagKind::Server, "last"), u16::MAX);
        assert_eq!(table.tag(TagKind::Server, "one more"), 0);
        assert_eq!((table.tag(TagKind::Server, "last"), table.records().len()), (u16::MAX, 1));
        assert_eq!(TagTable::beginning_at(0).tag(TagKind::Server, "first"), 1);
    }
}
