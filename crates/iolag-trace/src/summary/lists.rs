//! Look-ups in lists of directories that found nothing.
//!
//! Limits: the lists are those that the program was started with; of what it changes in its environment for others nothing is known.

use std::collections::HashMap;
use std::io;

use iolag_model::{Nanoseconds, TraceList};

use super::lookups::Found;
use crate::calls::{Shape, shape_of};
use crate::trace::{Call, Edge, PathId, Paths, Sink, Tables, lexical};

/// A list of directories by the name of its variable.
pub type NamedList = (String, Vec<Vec<u8>>);

/// What of a directory was looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Where {
    Itself,
    In,
}

/// A directory that is in lists.
#[derive(Debug, Clone, Default)]
struct Listed {
    lists: Vec<usize>,
    /// Look-ups of it and in it.
    calls: u64,
    time: u64,
    /// Whether something was found in it.
    is_found: bool,
}

/// Counts what is asked of directories that are in lists.
#[derive(Debug, Default)]
pub struct Lists {
    shapes: Vec<Shape>,
    names: Vec<String>,
    directories: Vec<Listed>,
    /// Where each directory is among them.
    places: HashMap<Vec<u8>, usize>,
    /// In which of them a path is, by its number, as far as that was asked for.
    known: Vec<Option<Option<(usize, Where)>>>,
}

impl Lists {
    /// Of the lists that a program has.
    pub fn new(lists: &[NamedList]) -> Self {
        let mut all = Self::default();
        for (list, (name, directories)) in lists.iter().enumerate() {
            all.names.push(name.clone());
            let lexical = directories.iter().map(|directory| lexical(directory));
            // Everything is in the root.
            for directory in lexical.filter(|directory| !matches!(&directory[..], b"" | b"/")) {
                let place = *all.places.entry(directory).or_insert(all.directories.len());
                if place == all.directories.len() {
                    all.directories.push(Listed::default());
                }
                let lists = &mut all.directories[place].lists;
                if lists.last() != Some(&list) {
                    lists.push(list);
                }
            }
        }
        all
    }

    /// A look-up there took so long.
    fn observe(&mut self, path: PathId, paths: &Paths, found: Found, time: u64) {
        let at = path.0 as usize;
        if self.known.len() <= at {
            self.known.resize(at + 1, None);
        }
        let place = match self.known[at] {
            Some(known) => known,
            None => self.look(&lexical(paths.path(path))),
        };
        self.known[at] = Some(place);
        let Some((place, at)) = place else { return };
        let listed = &mut self.directories[place];
        listed.calls += 1;
        listed.time = listed.time.saturating_add(time);
        listed.is_found |= (found, at) == (Found::Something, Where::In);
    }

    /// The directory itself, or the next above it.
    fn look(&self, path: &[u8]) -> Option<(usize, Where)> {
        let mut above = path;
        loop {
            if let Some(place) = self.places.get(above) {
                return Some((*place, if above.len() == path.len() { Where::Itself } else { Where::In }));
            }
            above = &above[..above.iter().rposition(|byte| *byte == b'/')?];
        }
    }

    /// All lists; those in whose directories most time was spent in vain first.
    pub fn finish(self) -> Vec<TraceList> {
        let named = |variable: &String| TraceList { variable: variable.clone(), ..TraceList::default() };
        let mut told: Vec<TraceList> = self.names.iter().map(named).collect();
        for Listed { lists, calls, time, is_found } in &self.directories {
            for list in lists {
                let list = &mut told[*list];
                list.directories += 1;
                if *calls > 0 && !is_found {
                    list.in_vain += 1;
                    list.calls += calls;
                    list.tasks_ns = Nanoseconds(list.tasks_ns.0.saturating_add(*time));
                }
            }
        }
        told.sort_by_key(|list| std::cmp::Reverse(list.tasks_ns));
        told
    }
}

impl Sink for Lists {
    fn call(&mut self, call: &Call, tables: &Tables) -> io::Result<()> {
        for name in tables.names.iter().skip(self.shapes.len()) {
            self.shapes.push(shape_of(name));
        }
        let does_look = self.shapes[usize::from(call.name.0)].looks_up(call.flags) && call.came_back();
        if let Some(path) = call.path.filter(|_| does_look && !self.places.is_empty()) {
            let time = call.duration.unwrap_or_default().0;
            let found = if call.found_nothing() { Found::Nothing } else { Found::Something };
            self.observe(path, &tables.paths, found, time);
        }
        Ok(())
    }

    fn edge(&mut self, _edge: &Edge, _tables: &Tables) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn look_ups_are_of_each_list_whose_directory_they_are_in() {
        let list = |name: &str, directories: &[&str]| {
            (name.to_owned(), directories.iter().map(|directory| directory.as_bytes().to_vec()).collect())
        };
        let mut lists = Lists::new(&[
            list("PATH", &["/bin", "/opt/bin/", ""]),
            list("PYTHONPATH", &["/opt/a", "/opt/b", "/opt/a/", "/bin", "/opt/c"]),
            list("MANPATH", &["/man"]),
        ]);
        let mut paths = Paths::default();
        use Found::{Nothing, Something};
        for (path, found, time) in [
            ("/opt/a", Nothing, 5),
            ("/opt/a/../a/x.py", Nothing, 7),
            // It is there, and has nothing.
            ("/opt/c", Something, 20),
            ("/opt/b/y/z.py", Nothing, 100),
            ("/opt/b/y/z.py", Something, 1),
            ("/bin/x", Nothing, 1),
            ("/opt/bin/x", Something, 1),
            ("/opt/d", Nothing, 1000),
        ] {
            let path = paths.number(path.as_bytes());
            lists.observe(path, &paths, found, time);
        }
        let told = |variable: &str, directories, in_vain, calls, tasks_ns| TraceList {
            variable: variable.into(),
            directories,
            in_vain,
            calls,
            tasks_ns: Nanoseconds(tasks_ns),
        };
        let expected = [
            told("PYTHONPATH", 4, 3, 4, 33),
            told("PATH", 2, 1, 1, 1),
            // Nobody asked there.
            told("MANPATH", 1, 0, 0, 0),
        ];
        assert_eq!(lists.finish(), expected);
    }
}
