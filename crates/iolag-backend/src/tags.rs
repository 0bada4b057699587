//! What the tags of samples stand for.

use std::fmt;

use iolag_model::{TagKind, one_line};

use crate::redact;

/// Gives a name its number, the same each time, and keeps both; `None` if there are none left.
type Give = Box<dyn Fn(TagKind, &str) -> Option<u16> + Send + Sync>;

/// Tags for the sessions of a process. A session asks for the one of a name when it opens, never while a request is under way.
pub struct TagTable(Give);

impl TagTable {
    /// Tags that are given so. The names have no secrets, and are one line each.
    pub fn new(give: impl Fn(TagKind, &str) -> Option<u16> + Send + Sync + 'static) -> Self {
        Self(Box::new(give))
    }

    /// The tag of this name. With all numbers used up 0, which tells nothing apart.
    pub fn tag(&self, kind: TagKind, name: &str) -> u16 {
        // What stands before a server is who asks it.
        let name = if kind == TagKind::Server {
            name.rsplit_once('@').map_or(name, |(_, server)| server)
        } else {
            name
        };
        (self.0)(kind, &one_line(&redact(name))).unwrap_or(0)
    }
}

impl fmt::Debug for TagTable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("TagTable")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    #[test]
    fn names_have_no_secrets_and_are_one_line_and_without_a_number_left_there_is_none() {
        let given = Arc::new(Mutex::new(Vec::new()));
        let keeps = Arc::clone(&given);
        let table = TagTable::new(move |kind, name| {
            let mut kept = keeps.lock().unwrap();
            kept.push((kind, name.to_owned()));
            u16::try_from(kept.len()).ok().filter(|number| *number <= 2)
        });
        let names = ["s3://key:geheim@a:9000/b", "a\nb"];
        assert_eq!(names.map(|name| table.tag(TagKind::PathKind, name)), [1, 2]);
        assert_eq!(table.tag(TagKind::Server, "key:geheim@a:9000"), 0);
        let told = ["s3://key:***@a:9000/b", "a\u{fffd}b", "a:9000"].map(str::to_owned);
        let kinds = [TagKind::PathKind, TagKind::PathKind, TagKind::Server];
        assert_eq!(*given.lock().unwrap(), Vec::from_iter(kinds.into_iter().zip(told)));
    }
}
