//! What the tags of samples stand for.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use iolag_model::{TagKind, one_line};

use crate::redact;

/// Names are told apart, and kept, by so many bytes: that of a host is no longer.
const NAME_BYTES_MAX: usize = 255;

/// Gives a name that was not mentioned before its number and tells whoever keeps both; `None` if there are none left.
type Announce = Box<dyn FnMut(TagKind, &str) -> Option<u16> + Send>;

/// Names behind tags, shared by the sessions of a process. A session asks for its tag when it connects, never while the clock runs.
pub struct TagTable(Mutex<Names>);

struct Names {
    known: Vec<(TagKind, String, u16)>,
    announce: Announce,
}

impl TagTable {
    /// A table of which each name is announced when it is mentioned first, before any sample can have its number. It has no secrets,
    /// and is one short line.
    pub fn new(announce: impl FnMut(TagKind, &str) -> Option<u16> + Send + 'static) -> Self {
        Self(Mutex::new(Names { known: Vec::new(), announce: Box::new(announce) }))
    }

    /// The tag of this name. With all numbers used up 0, which tells nothing apart.
    pub fn tag(&self, kind: TagKind, name: &str) -> u16 {
        // What stands before a server is who asks it.
        let name = if kind == TagKind::Server {
            name.rsplit_once('@').map_or(name, |(_, server)| server)
        } else {
            name
        };
        let mut name = one_line(&redact(name));
        name.truncate(name.floor_char_boundary(NAME_BYTES_MAX));
        let mut names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |(known, named, _): &&(TagKind, String, u16)| *known == kind && *named == name;
        if let Some((_, _, tag)) = names.known.iter().find(is_same) {
            return *tag;
        }
        let Some(tag) = (names.announce)(kind, &name) else { return 0 };
        names.known.push((kind, name, tag));
        tag
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
    use std::sync::Arc;

    type Announced = Arc<Mutex<Vec<(TagKind, String)>>>;

    /// A table with so many numbers, and what it has announced.
    fn table(numbers: u16) -> (TagTable, Announced) {
        let announced = Announced::default();
        let heard = Arc::clone(&announced);
        let announce = move |kind, name: &str| {
            let mut heard = heard.lock().unwrap();
            heard.push((kind, name.to_owned()));
            u16::try_from(heard.len()).ok().filter(|number| *number <= numbers)
        };
        (TagTable::new(announce), announced)
    }

    #[test]
    fn a_name_has_one_tag_and_is_announced_once() {
        let (table, announced) = table(9);
        let (one, other) = (table.tag(TagKind::Server, "a:80"), table.tag(TagKind::PathKind, "a:80"));
        assert_eq!((one, other, table.tag(TagKind::Server, "a:80")), (1, 2, 1));
        let told = [(TagKind::Server, "a:80".to_owned()), (TagKind::PathKind, "a:80".to_owned())];
        assert_eq!(*announced.lock().unwrap(), told);
    }

    #[test]
    fn a_table_that_is_full_tells_nothing_apart_any_more() {
        let (table, _) = table(1);
        let tags = ["first", "one more", "first"].map(|name| table.tag(TagKind::Server, name));
        assert_eq!(tags, [1, 0, 1]);
    }

    #[test]
    fn a_name_is_one_short_line_without_secrets() {
        let (table, announced) = table(9);
        let long = "ä".repeat(NAME_BYTES_MAX);
        let names = ["s3://key:geheim@a:9000/b", "a\nb", &long];
        assert_eq!(names.map(|name| table.tag(TagKind::PathKind, name)), [1, 2, 3]);
        assert_eq!(table.tag(TagKind::Server, "key:geheim@a:9000"), 4);
        let told: Vec<_> = announced.lock().unwrap().iter().map(|(_, name)| name.clone()).collect();
        assert_eq!(told, ["s3://key:***@a:9000/b", "a\u{fffd}b", &"ä".repeat(127), "a:9000"]);
    }
}
