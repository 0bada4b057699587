//! Names that were looked for in one directory after the other.
//!
//! A search is a task's look-ups of one name in different directories, up to where it is found or another name is asked for. Searches that went
//! through the same directories are one search path, however far each had to go.

use iolag_model::{Nanoseconds, SearchPath, SearchedDirectory, TraceLookups};

use super::places::{DirectoryId, NameId, Places};
use crate::trace::{Map, TaskId};

/// Names that are shown of a search path.
const EXAMPLES: usize = 3;
/// More directories than that nobody searches; more different paths than that are not told apart.
const DIRECTORIES_MAX: usize = 1000;
const PATHS_MAX: usize = 100_000;

/// A look-up.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lookup {
    pub task: TaskId,
    pub directory: DirectoryId,
    pub name: NameId,
    pub found: Found,
    pub time: u64,
}

/// What became of a look-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// There is something of that name.
    Something,
    /// There is nothing of that name.
    Nothing,
}

/// A search that goes on.
#[derive(Debug)]
struct Search {
    name: NameId,
    directories: Vec<DirectoryId>,
    time: u64,
}

/// Searches through the same directories.
#[derive(Debug, Default)]
struct Searched {
    /// How many came as far as each directory, and ended there.
    asked: Vec<u64>,
    found: Vec<u64>,
    names: u64,
    examples: Vec<NameId>,
    time: u64,
}

/// All look-ups of a trace.
#[derive(Debug, Default)]
pub(super) struct Lookups {
    counts: TraceLookups,
    searches: Map<TaskId, Search>,
    searched: Map<Vec<DirectoryId>, Searched>,
}

impl Lookups {
    pub(super) fn observe(&mut self, lookup: &Lookup) {
        self.counts.calls += 1;
        let absent = lookup.found == Found::Nothing;
        if absent {
            self.counts.absent += 1;
            self.counts.absent_ns.0 = self.counts.absent_ns.0.saturating_add(lookup.time);
        }
        if let Some(mut search) = self.searches.remove(&lookup.task) {
            let goes_on = search.name == lookup.name
                && !search.directories.contains(&lookup.directory)
                && search.directories.len() < DIRECTORIES_MAX;
            if goes_on {
                search.directories.push(lookup.directory);
                match lookup.found {
                    Found::Something => self.end(search, Found::Something),
                    Found::Nothing => {
                        search.time = search.time.saturating_add(lookup.time);
                        self.searches.insert(lookup.task, search);
                    }
                }
                return;
            }
            self.end(search, Found::Nothing);
        }
        if absent {
            let Lookup { task, directory, name, time, .. } = *lookup;
            self.searches.insert(task, Search { name, directories: vec![directory], time });
        }
    }

    /// A look-up in one place is no search.
    fn end(&mut self, search: Search, found: Found) {
        let Search { name, directories, time } = search;
        let is_new = !self.searched.contains_key(&directories);
        if directories.len() < 2 || is_new && self.searched.len() >= PATHS_MAX {
            return;
        }
        let last = directories.len() - 1;
        let searched = self.searched.entry(directories).or_default();
        searched.asked.resize(last + 1, 0);
        searched.found.resize(last + 1, 0);
        searched.asked.iter_mut().for_each(|asked| *asked += 1);
        searched.found[last] += u64::from(found == Found::Something);
        searched.names += 1;
        if searched.examples.len() < EXAMPLES && !searched.examples.contains(&name) {
            searched.examples.push(name);
        }
        searched.time = searched.time.saturating_add(time);
    }

    /// The counts, and the search paths with most failed look-ups.
    pub(super) fn finish(mut self, most: usize, places: &Places) -> (TraceLookups, Vec<SearchPath>) {
        let mut unfinished: Vec<(TaskId, Search)> = self.searches.drain().collect();
        unfinished.sort_by_key(|(task, _)| *task);
        for (_, search) in unfinished {
            self.end(search, Found::Nothing);
        }
        let mut paths: Vec<(Vec<DirectoryId>, Searched)> = joined(self.searched);
        let absent =
            |searched: &Searched| searched.asked.iter().sum::<u64>() - searched.found.iter().sum::<u64>();
        paths.sort_by(|one, other| (absent(&other.1), &one.0).cmp(&(absent(&one.1), &other.0)));
        let told =
            paths.iter().take(most).map(|(directories, searched)| {
                let counts = searched.asked.iter().zip(&searched.found);
                let told = directories.iter().zip(counts).map(|(directory, (asked, found))| {
                    SearchedDirectory { path: places.directory(*directory), asked: *asked, found: *found }
                });
                SearchPath {
                    directories: told.collect(),
                    names: searched.names,
                    examples: searched.examples.iter().map(|name| places.name(*name)).collect(),
                    absent: absent(searched),
                    absent_ns: Nanoseconds(searched.time),
                }
            });
        (self.counts, told.collect())
    }
}

/// Search paths of which each is the whole: what ended early belongs to what went on.
fn joined(searched: Map<Vec<DirectoryId>, Searched>) -> Vec<(Vec<DirectoryId>, Searched)> {
    let mut order: Vec<(Vec<DirectoryId>, Searched)> = searched.into_iter().collect();
    // What goes on stands right behind what ended early.
    order.sort_by(|one, other| one.0.cmp(&other.0));
    let mut joined: Vec<(Vec<DirectoryId>, Searched)> = Vec::new();
    for (directories, searched) in order.into_iter().rev() {
        match joined.last_mut().filter(|(longer, _)| longer.starts_with(&directories)) {
            Some((_, longer)) => {
                let add = |to: &mut Vec<u64>, more: &[u64]| {
                    to.iter_mut().zip(more).for_each(|(to, more)| *to += more)
                };
                add(&mut longer.asked, &searched.asked);
                add(&mut longer.found, &searched.found);
                longer.names += searched.names;
                longer.time = longer.time.saturating_add(searched.time);
                let room = EXAMPLES.saturating_sub(longer.examples.len());
                longer.examples.extend(searched.examples.into_iter().take(room));
            }
            None => joined.push((directories, searched)),
        }
    }
    joined
}
