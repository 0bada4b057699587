//! Directories that were asked and never had anything.
//!
//! Some programs look for a name in one directory after the other. Others (Python since 3.3) list each directory once, and then ask for each
//! name only whether a directory has changed: of them no look-up fails, and each directory is asked again and again.
//!
//! Limits: who lists a directory for its own sake, and never touches what is in it, does so once or twice.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use iolag_model::{AbsentName, Nanoseconds, TraceCounts, TraceVain, VainDirectory, loader_asks_below};

use super::places::Places;
use crate::calls::{Effect, Shape};
use crate::trace::{Call, PathId, Tables, lexical, path_text};

/// Who asks less often whether a directory has changed does not search in it.
const ASKED_MIN: u32 = 3;

/// Names of a directory that are told with how often each was asked for.
const ASKED_MOST: usize = 3;

const FILE_TYPE: u32 = 0o170_000;
const DIRECTORY: u32 = 0o040_000;

/// What is known of what is at a path.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Seen {
    /// Nobody asked.
    #[default]
    Never,
    /// It is not there.
    Absent,
    /// It is a directory.
    Directory,
}

impl Seen {
    const fn there(self) -> Option<bool> {
        match self {
            Self::Never => None,
            Self::Absent => Some(false),
            Self::Directory => Some(true),
        }
    }
}

/// Calls on one path.
#[derive(Debug, Clone, Copy, Default)]
struct OnPath {
    calls: u32,
    /// How often its attributes were those of a directory.
    asked: u32,
    is: Seen,
    /// Whether its names were listed.
    is_listed: bool,
    time: u64,
}

impl OnPath {
    /// Whether it was listed, and then asked for whether that still holds.
    const fn is_asked_for_changes(&self) -> bool {
        self.is_listed && self.asked >= ASKED_MIN
    }
}

/// What was looked for in a directory.
#[derive(Debug, Clone, Default)]
struct Names<'a> {
    count: u64,
    /// One of them; one with a dot says more of what was looked for.
    example: Option<&'a [u8]>,
    /// Those that were asked for most often.
    most: Vec<(u32, &'a [u8])>,
}

impl<'a> Names<'a> {
    fn add(&mut self, name: &'a [u8], calls: u32) {
        self.count += 1;
        if self.example.is_none_or(|known| !known.contains(&b'.') && name.contains(&b'.')) {
            self.example = Some(name);
        }
        // Of equals the first.
        let place = self.most.partition_point(|(more, _)| *more >= calls);
        self.most.insert(place, (calls, name));
        self.most.truncate(ASKED_MOST);
    }

    fn most(&self) -> Vec<AbsentName> {
        let told = self.most.iter();
        told.map(|(calls, name)| AbsentName { name: path_text(name), calls: u64::from(*calls) }).collect()
    }
}

/// What is known of each path.
#[derive(Debug, Default)]
pub(super) struct Vain {
    paths: Vec<OnPath>,
}

impl Vain {
    pub(super) fn observe(&mut self, call: &Call, path: PathId, shape: &Shape, time: u64) {
        let place = path.0 as usize;
        if self.paths.len() <= place {
            self.paths.resize(place + 1, OnPath::default());
        }
        let on = &mut self.paths[place];
        on.calls = on.calls.saturating_add(1);
        on.time = on.time.saturating_add(time);
        match shape.effect {
            Effect::Attributes(_) if call.argument & FILE_TYPE == DIRECTORY => {
                on.is = Seen::Directory;
                on.asked += u32::from(shape.looks_up(call.flags));
            }
            Effect::List if call.succeeded() => (on.is, on.is_listed) = (Seen::Directory, true),
            _ if on.is == Seen::Never && call.found_nothing() && shape.looks_up(call.flags) => {
                on.is = Seen::Absent;
            }
            _ => {}
        }
    }

    /// What was looked for in each of these directories.
    fn look_for_names<'a>(&self, names: &mut HashMap<&[u8], Names<'a>>, tables: &'a Tables) {
        for (path, own) in tables.paths.iter().zip(&self.paths) {
            let split = path.iter().rposition(|byte| *byte == b'/');
            let Some((directory, name)) = split.map(|at| (&path[..at], &path[at + 1..])) else { continue };
            if own.calls > 0
                && !name.is_empty()
                && let Some(known) = names.get_mut(directory)
            {
                known.add(name, own.calls);
            }
        }
    }

    /// What was asked of directories themselves; of what is not there it is only known that it is not.
    fn directories(&self, tables: &Tables) -> HashMap<Vec<u8>, OnPath> {
        let mut on: HashMap<Vec<u8>, OnPath> = HashMap::new();
        for (path, own) in tables.paths.iter().zip(&self.paths).filter(|(_, own)| own.is != Seen::Never) {
            let all = on.entry(lexical(path)).or_default();
            all.is = all.is.max(own.is);
            if own.is == Seen::Directory {
                all.calls = all.calls.saturating_add(own.calls);
                all.asked = all.asked.saturating_add(own.asked);
                all.is_listed |= own.is_listed;
                all.time = all.time.saturating_add(own.time);
            }
        }
        on
    }

    /// The directories with most calls.
    pub(super) fn finish(self, most: usize, places: &Places, tables: &Tables) -> TraceVain {
        let mut on = self.directories(tables);
        let mut vain: Vec<(Vec<u8>, Option<bool>, u64, u64)> = Vec::new();
        for (directory, TraceCounts { calls, errors, time_ns: Nanoseconds(time) }) in places.iter() {
            let own = on.remove(directory);
            if errors < calls {
                continue;
            }
            let own = own.unwrap_or_default();
            if errors > 0 || own.is_asked_for_changes() {
                let calls = calls + u64::from(own.calls);
                vain.push((directory.to_vec(), own.is.there(), calls, time + own.time));
            }
        }
        // What lies in these was never asked for.
        let again = on.into_iter().filter(|(_, own)| own.is_asked_for_changes());
        vain.extend(again.map(|(directory, own)| (directory, own.is.there(), own.calls.into(), own.time)));
        vain.sort_by(|one, other| (Reverse(one.2), &one.0).cmp(&(Reverse(other.2), &other.0)));
        let told = vain.iter().take(most);
        let mut names: HashMap<&[u8], Names<'_>> =
            told.clone().map(|(path, ..)| (path.as_slice(), Names::default())).collect();
        self.look_for_names(&mut names, tables);
        let told = told.map(|(path, exists, calls, time)| {
            let names = names.remove(path.as_slice()).unwrap_or_default();
            VainDirectory {
                path: path_text(path),
                exists: *exists,
                looked_for: names.example.map(path_text),
                names: names.count,
                asked_most: names.most(),
                calls: *calls,
                time_ns: Nanoseconds(*time),
            }
        });
        let told: Vec<VainDirectory> = told.collect();
        let all: HashSet<&[u8]> = vain.iter().map(|(path, ..)| path.as_slice()).collect();
        let is_of_loader = |path: &&&[u8]| loader_asks_below(path).is_some_and(|above| all.contains(above));
        TraceVain {
            directories: vain.len() as u64,
            of_loader: all.iter().filter(is_of_loader).count() as u64,
            calls: vain.iter().map(|(_, _, calls, _)| calls).sum(),
            time_ns: Nanoseconds(vain.iter().map(|(_, _, _, time)| time).sum()),
            most: told,
        }
    }
}
