//! Look-ups in lists of directories that found nothing.
//!
//! Limits: the lists are those that the program was started with; of what it changes in its environment for others nothing is known.

use std::collections::HashMap;
use std::io;

use iolag_model::{Nanoseconds, TraceList};

use crate::calls::{Shape, shape_of};
use crate::trace::{Call, Edge, PathId, Paths, Sink, Tables, lexical};

/// A list of directories by the name of its variable.
pub type NamedList = (String, Vec<Vec<u8>>);

/// A directory of a list.
#[derive(Debug, Clone, Copy, Default)]
struct Listed {
    list: usize,
    absent: u64,
    time: u64,
    is_found: bool,
}

/// Counts what is asked of directories that are in lists.
#[derive(Debug, Default)]
pub struct Lists {
    /// How much longer tracing makes a call seem.
    within: u64,
    shapes: Vec<Shape>,
    names: Vec<(String, u64)>,
    directories: Vec<Listed>,
    /// Where each directory is among them. One of several lists is of the first.
    places: HashMap<Vec<u8>, usize>,
    /// In which of them a path is, by its number, as far as that was asked for.
    known: Vec<Option<Option<usize>>>,
}

impl Lists {
    /// Of the lists that a program has; its calls seem longer by so much.
    pub fn new(lists: &[NamedList], within: Nanoseconds) -> Self {
        let mut all = Self { within: within.0, ..Self::default() };
        for (list, (name, directories)) in lists.iter().enumerate() {
            all.names.push((name.clone(), directories.len() as u64));
            let lexical = directories.iter().map(|directory| lexical(directory));
            // Everything is in the root.
            for directory in lexical.filter(|directory| !matches!(&directory[..], b"" | b"/")) {
                let next = all.directories.len();
                if *all.places.entry(directory).or_insert(next) == next {
                    all.directories.push(Listed { list, ..Listed::default() });
                }
            }
        }
        all
    }

    /// A look-up found something there, or took so long and found nothing.
    fn observe(&mut self, path: PathId, paths: &Paths, absent: Option<u64>) {
        let at = path.0 as usize;
        if self.known.len() <= at {
            self.known.resize(at + 1, None);
        }
        let place = match self.known[at] {
            Some(known) => known,
            None => self.look(&lexical(paths.path(path))),
        };
        self.known[at] = Some(place);
        let Some(listed) = place.map(|place| &mut self.directories[place]) else { return };
        match absent {
            Some(time) => {
                listed.absent += 1;
                listed.time = listed.time.saturating_add(time);
            }
            None => listed.is_found = true,
        }
    }

    /// The directory itself, or the next above it.
    fn look(&self, path: &[u8]) -> Option<usize> {
        let mut above = path;
        loop {
            if let Some(place) = self.places.get(above) {
                return Some(*place);
            }
            above = &above[..above.iter().rposition(|byte| *byte == b'/')?];
        }
    }

    /// All lists; those whose failed look-ups took longest first.
    pub fn finish(self) -> Vec<TraceList> {
        let named = |(variable, directories): &(String, u64)| TraceList {
            variable: variable.clone(),
            directories: *directories,
            ..TraceList::default()
        };
        let mut told: Vec<TraceList> = self.names.iter().map(named).collect();
        for listed in self.directories.iter().filter(|listed| listed.absent > 0) {
            let list = &mut told[listed.list];
            list.in_vain += u64::from(!listed.is_found);
            list.absent += listed.absent;
            list.tasks_ns = Nanoseconds(list.tasks_ns.0.saturating_add(listed.time));
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
            let time = call.duration.unwrap_or_default().0.saturating_sub(self.within);
            self.observe(path, &tables.paths, call.found_nothing().then_some(time));
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
    fn look_ups_are_of_the_list_whose_directory_they_are_in() {
        let list = |name: &str, directories: &[&str]| {
            (name.to_owned(), directories.iter().map(|directory| directory.as_bytes().to_vec()).collect())
        };
        let mut lists = Lists::new(
            &[
                list("PATH", &["/bin", "/opt/bin/", ""]),
                list("PYTHONPATH", &["/opt/a", "/opt/b", "/opt/a", "/bin"]),
                list("MANPATH", &["/man"]),
            ],
            Nanoseconds::ZERO,
        );
        let mut paths = Paths::default();
        for (path, absent) in [
            ("/opt/a", Some(5)),
            ("/opt/a/../a/x.py", Some(7)),
            ("/opt/b/y/z.py", Some(100)),
            ("/opt/b/y/z.py", None),
            ("/bin/x", Some(1)),
            ("/opt/bin/x", None),
            ("/opt/c", Some(1000)),
        ] {
            let path = paths.number(path.as_bytes());
            lists.observe(path, &paths, absent);
        }
        let told = |variable: &str, directories, in_vain, absent, tasks_ns| TraceList {
            variable: variable.into(),
            directories,
            in_vain,
            absent,
            tasks_ns: Nanoseconds(tasks_ns),
        };
        assert_eq!(
            lists.finish(),
            [told("PYTHONPATH", 4, 1, 3, 112), told("PATH", 3, 1, 1, 1), told("MANPATH", 1, 0, 0, 0)]
        );
    }
}
