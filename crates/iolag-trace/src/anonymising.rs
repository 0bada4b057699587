//! Traces whose names nobody knows any more, and from which the same can be learned.
//!
//! Each name between slashes is replaced by another of the same length: the same everywhere, and different ones by different ones, so that
//! depth, siblings, lengths and look-ups of one name in many directories stay as they are. It follows from a key that is drawn for the trace
//! and thrown away: whoever guesses a name cannot find out whether it is in there.
//!
//! Limits: lengths and how often a name occurs remain. `.`, `..` and the first names of /proc, /sys and /dev are the system's, and stay.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::io;

use iolag_model::USUAL_LISTS;

use crate::file::{About, Anonymity, Ending};
use crate::trace::{Call, Edge, Sink, Tables};

/// First names of paths that are not storage: who repeats a trace has to know them.
const SYSTEM: [&[u8]; 3] = [b"proc", b"sys", b"dev"];

/// Replaces names.
#[derive(Debug)]
struct Names<K> {
    key: K,
    known: HashMap<Vec<u8>, Vec<u8>>,
    used: HashSet<Vec<u8>>,
}

impl<K: BuildHasher> Names<K> {
    fn new(key: K) -> Self {
        let used = SYSTEM.iter().map(|name| name.to_vec()).collect();
        Self { key, known: HashMap::new(), used }
    }

    fn path(&mut self, path: &[u8]) -> Vec<u8> {
        let mut anonymous = Vec::with_capacity(path.len());
        for (place, name) in path.split(|byte| *byte == b'/').enumerate() {
            if place > 0 {
                anonymous.push(b'/');
            }
            let is_system = place == 1 && path.starts_with(b"/") && SYSTEM.contains(&name);
            if matches!(name, b"" | b"." | b"..") || is_system {
                anonymous.extend_from_slice(name);
            } else {
                anonymous.extend_from_slice(self.name(name));
            }
        }
        anonymous
    }

    fn name(&mut self, name: &[u8]) -> &[u8] {
        if !self.known.contains_key(name) {
            let other = self.free(name);
            self.used.insert(other.clone());
            self.known.insert(name.to_vec(), other);
        }
        self.known.get(name).map_or(&[], Vec::as_slice)
    }

    /// A name of the same length that stands for none yet: of letters, else (there are more short names than short words) of anything.
    fn free(&self, name: &[u8]) -> Vec<u8> {
        let letters: Vec<u8> = (b'a'..=b'z').chain(b'0'..=b'9').collect();
        let all: Vec<u8> = (1..=u8::MAX).filter(|byte| !matches!(byte, b'/' | b'.')).collect();
        for alphabet in [letters, all] {
            let mut digits = self.digits(name, alphabet.len());
            let count = u32::try_from(name.len()).ok().and_then(|length| alphabet.len().checked_pow(length));
            for _ in 0..count.unwrap_or(usize::MAX) {
                let other: Vec<u8> = digits.iter().map(|digit| alphabet[*digit]).collect();
                if other != name && !self.used.contains(&other) {
                    return other;
                }
                increment(&mut digits, alphabet.len());
            }
        }
        // All of its length are taken but itself, or those with dots.
        name.to_vec()
    }

    fn digits(&self, name: &[u8], base: usize) -> Vec<usize> {
        let hash = |block: usize| self.key.hash_one((name, block)).to_le_bytes();
        (0..name.len().div_ceil(8))
            .flat_map(hash)
            .take(name.len())
            .map(|byte| usize::from(byte) % base)
            .collect()
    }
}

/// The next number, of digits to this base; after the last comes the first.
fn increment(digits: &mut [usize], base: usize) {
    for digit in digits {
        *digit = (*digit + 1) % base;
        if *digit != 0 {
            return;
        }
    }
}

/// What a trace says of itself once its names are gone.
#[must_use]
pub fn anonymous(about: &About) -> About {
    About {
        program: None,
        host: None,
        // Where something is mounted and what is would give names away.
        mounts: Vec::new(),
        lists: about.lists.iter().filter(|name| is_usual(name)).cloned().collect(),
        anonymity: Anonymity::Anonymised,
        ..about.clone()
    }
}

/// What a trace without names says at its end: a site's own variables would give it away.
pub fn anonymous_ending(ending: &Ending) -> Ending {
    let lists = ending.lists.iter().filter(|list| is_usual(&list.variable)).cloned().collect();
    Ending { lists, ..ending.clone() }
}

fn is_usual(variable: &str) -> bool {
    USUAL_LISTS.contains(&variable)
}

/// Hands a trace on without its names.
#[derive(Debug)]
pub struct Anonymiser<S> {
    sink: S,
    names: Names<RandomState>,
    tables: Tables,
}

impl<S: Sink> Anonymiser<S> {
    /// One with a key of its own.
    pub fn new(sink: S) -> Self {
        Self { sink, names: Names::new(RandomState::new()), tables: Tables::default() }
    }

    /// The sink, and the tables that what it was handed refers to.
    pub fn finish(self) -> (S, Tables) {
        (self.sink, self.tables)
    }

    /// Numbers stay what they are: different paths stay different.
    fn follow(&mut self, tables: &Tables) {
        for name in tables.names.iter().skip(self.tables.names.len()) {
            self.tables.names.number(name);
        }
        for path in tables.paths.iter().skip(self.tables.paths.len()) {
            let anonymous = self.names.path(path);
            self.tables.paths.number(&anonymous);
        }
        self.tables.tasks.extend(&tables.tasks[self.tables.tasks.len()..]);
    }
}

impl<S: Sink> Sink for Anonymiser<S> {
    fn call(&mut self, call: &Call, tables: &Tables) -> io::Result<()> {
        self.follow(tables);
        self.sink.call(call, &self.tables)
    }

    fn edge(&mut self, edge: &Edge, tables: &Tables) -> io::Result<()> {
        self.follow(tables);
        self.sink.edge(edge, &self.tables)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_model::TraceList;
    use proptest::prelude::*;
    use std::hash::{BuildHasherDefault, DefaultHasher};

    fn names() -> Names<BuildHasherDefault<DefaultHasher>> {
        Names::new(BuildHasherDefault::default())
    }

    #[test]
    fn one_name_is_the_same_everywhere_and_what_is_the_systems_stays() {
        let mut names = names();
        let mut path = |path: &[u8]| String::from_utf8(names.path(path)).unwrap();
        let (one, other) = (path(b"/home/me/module.py"), path(b"/opt/../me/./module.py"));
        let last = |path: &str| path.rsplit('/').next().unwrap().to_owned();
        assert_eq!(last(&one), last(&other));
        assert_eq!(other.split('/').nth(3), one.split('/').nth(2));
        assert!(other.contains("/../") && other.contains("/./"));
        assert!(path(b"/proc/home").starts_with("/proc/") && !path(b"/home/proc").ends_with("proc"));
        assert_eq!(path(b"/proc/self").len(), "/proc/self".len());
        assert_eq!(
            (path(b"/"), path(b""), path(b"a//b").matches("//").count()),
            ("/".into(), String::new(), 1)
        );
    }

    #[test]
    fn variables_that_not_everybody_has_go() {
        let list = |variable: &str| TraceList { variable: variable.to_owned(), ..TraceList::default() };
        let ending = Ending { lists: vec![list("PATH"), list("SITE_PATH")], calls: 7, ..Ending::default() };
        let ending = anonymous_ending(&ending);
        assert_eq!((ending.calls, &ending.lists[..]), (7, &[list("PATH")][..]));
        let about =
            About { lists: vec!["SITE_PATH".to_owned(), "PYTHONPATH".to_owned()], ..About::default() };
        assert_eq!(anonymous(&about).lists, ["PYTHONPATH"]);
    }

    #[test]
    fn there_are_enough_names_of_every_length() {
        let mut names = names();
        let all: Vec<u8> = (1..=u8::MAX).filter(|byte| !matches!(byte, b'/' | b'.')).collect();
        let short: HashSet<Vec<u8>> = all.iter().map(|byte| names.name(&[*byte]).to_vec()).collect();
        assert_eq!(short.len(), all.len());
        let pairs = (0..2000_u16).map(|number| number.to_le_bytes().map(|byte| byte | 0x80).to_vec());
        let pairs: HashSet<Vec<u8>> = pairs.collect();
        let other: HashSet<Vec<u8>> = pairs.iter().map(|pair| names.name(pair).to_vec()).collect();
        assert_eq!(other.len(), pairs.len());
    }

    proptest! {
        #[test]
        fn depth_lengths_and_differences_stay_and_no_name_does(
            paths in proptest::collection::vec("(/[a-c]{1,3}|/\\.\\.|/[^/\0]{4,9}){1,5}", 1..40),
        ) {
            let mut names = names();
            let anonymous: Vec<Vec<u8>> = paths.iter().map(|path| names.path(path.as_bytes())).collect();
            for (path, other) in paths.iter().zip(&anonymous) {
                let (path, other): (Vec<_>, Vec<_>) =
                    (path.as_bytes().split(|byte| *byte == b'/').collect(), other.split(|byte| *byte == b'/').collect());
                prop_assert_eq!(path.len(), other.len());
                for (name, other) in path.iter().zip(&other) {
                    prop_assert_eq!(name.len(), other.len());
                    prop_assert_eq!(name == other, matches!(*name, b"" | b"." | b".."), "{:?}", name);
                }
            }
            for (one, its) in paths.iter().zip(&anonymous) {
                for (other, others) in paths.iter().zip(&anonymous) {
                    prop_assert_eq!(one == other, its == others);
                }
            }
        }
    }
}
