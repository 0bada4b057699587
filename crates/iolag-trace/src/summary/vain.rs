//! Directories that were asked and never had anything.
//!
//! Some programs look for a name in one directory after the other. Others (Python since 3.3) list each directory once, and then ask for each
//! name only whether a directory has changed: of them no look-up fails, and each directory is asked again and again.
//!
//! Limits: who lists a directory for its own sake, and never touches what is in it, does so once or twice.

use std::cmp::Reverse;
use std::collections::HashMap;

use iolag_model::{Nanoseconds, TraceCounts, TraceVain, VainDirectory};

use super::places::Places;
use crate::calls::{Effect, Shape};
use crate::trace::{Call, PathId, Tables, lexical, path_text};

/// Who asks less often whether a directory has changed does not search in it.
const ASKED_MIN: u32 = 3;

const FILE_TYPE: u32 = 0o170_000;
const DIRECTORY: u32 = 0o040_000;

/// Calls on one path.
#[derive(Debug, Clone, Copy, Default)]
struct OnPath {
    calls: u32,
    /// How often its attributes were those of a directory.
    asked: u32,
    is_directory: bool,
    time: u64,
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
                on.is_directory = true;
                on.asked += u32::from(shape.looks_up(call.flags));
            }
            Effect::List if call.succeeded() => on.is_directory = true,
            _ => {}
        }
    }

    /// A name that was asked for in each of these directories; one with a dot says more of what was looked for.
    fn look_for_names<'a>(&self, names: &mut HashMap<&[u8], Option<&'a [u8]>>, tables: &'a Tables) {
        for (path, own) in tables.paths.iter().zip(&self.paths) {
            let split = path.iter().rposition(|byte| *byte == b'/');
            let Some((directory, name)) = split.map(|at| (&path[..at], &path[at + 1..])) else { continue };
            if own.calls == 0 || name.is_empty() {
                continue;
            }
            if let Some(known) = names.get_mut(directory)
                && known.is_none_or(|known| !known.contains(&b'.') && name.contains(&b'.'))
            {
                *known = Some(name);
            }
        }
    }

    /// The directories with most calls.
    pub(super) fn finish(self, most: usize, places: &Places, tables: &Tables) -> TraceVain {
        let mut on: HashMap<Vec<u8>, OnPath> = HashMap::new();
        for (path, own) in tables.paths.iter().zip(&self.paths).filter(|(_, own)| own.is_directory) {
            let all = on.entry(lexical(path)).or_default();
            all.calls = all.calls.saturating_add(own.calls);
            all.asked = all.asked.saturating_add(own.asked);
            all.time = all.time.saturating_add(own.time);
        }
        let mut vain: Vec<(Vec<u8>, bool, u64, u64)> = Vec::new();
        for (directory, TraceCounts { calls, errors, time_ns: Nanoseconds(time) }) in places.iter() {
            let own = on.remove(directory);
            if errors < calls {
                continue;
            }
            let exists = own.is_some();
            let own = own.unwrap_or_default();
            if errors > 0 || own.asked >= ASKED_MIN {
                vain.push((directory.to_vec(), exists, calls + u64::from(own.calls), time + own.time));
            }
        }
        // What lies in these was never asked for.
        let again = on.into_iter().filter(|(_, own)| own.asked >= ASKED_MIN);
        vain.extend(again.map(|(directory, own)| (directory, true, own.calls.into(), own.time)));
        vain.sort_by(|one, other| (Reverse(one.2), &one.0).cmp(&(Reverse(other.2), &other.0)));
        let told = vain.iter().take(most);
        let mut names: HashMap<&[u8], Option<&[u8]>> =
            told.clone().map(|(path, ..)| (path.as_slice(), None)).collect();
        self.look_for_names(&mut names, tables);
        let told = told.map(|(path, exists, calls, time)| VainDirectory {
            path: path_text(path),
            exists: *exists,
            looked_for: names.get(path.as_slice()).copied().flatten().map(path_text),
            calls: *calls,
            time_ns: Nanoseconds(*time),
        });
        TraceVain {
            directories: vain.len() as u64,
            calls: vain.iter().map(|(_, _, calls, _)| calls).sum(),
            time_ns: Nanoseconds(vain.iter().map(|(_, _, _, time)| time).sum()),
            most: told.collect(),
        }
    }
}
