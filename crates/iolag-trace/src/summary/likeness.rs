//! What a synthetic set-up has to ask to be like the program of a trace.
//!
//! Limits: of calls it takes numbers, not their order; what a program maps into memory and never reads has no size here; calls on devices and on what the
//! kernel tells (/proc, /sys) are no questions to storage.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use iolag_model::SetUpCounts;

use super::places::{DirectoryId, Ground, NameId, Places};
use crate::calls::{Asks, Effect, Shape, shape_of};
use crate::trace::{Call, Edge, PathId, Sink, Tables};

/// Counts what a set-up is made of. Takes the memory of the paths.
#[derive(Debug, Default)]
pub struct Likeness {
    counts: SetUpCounts,
    shapes: Vec<Shape>,
    places: Places,
    /// Paths at which something was found, and the directories that these lie in.
    found: BTreeSet<PathId>,
    directories: BTreeSet<DirectoryId>,
    /// How often each was opened, and what was read.
    opened: BTreeMap<PathId, u64>,
    read: BTreeSet<PathId>,
    /// What was executed first.
    program: Option<NameId>,
}

impl Likeness {
    /// What it comes to.
    pub fn finish(self) -> SetUpCounts {
        let program = self.program.map(|name| self.places.name(name));
        SetUpCounts {
            program,
            files: self.found.len() as u64,
            directories: self.directories.len() as u64,
            opens_read: self
                .opened
                .iter()
                .filter(|(path, _)| self.read.contains(path))
                .map(|(_, times)| times)
                .sum(),
            ..self.counts
        }
    }

    /// A question to storage about a name.
    fn look_up(&mut self, call: &Call, path: PathId, directory: DirectoryId, shape: &Shape) {
        let is_absent = call.found_nothing();
        let (all, absent) = match shape.effect {
            Effect::Open => (&mut self.counts.opens, &mut self.counts.opens_absent),
            _ => (&mut self.counts.stats, &mut self.counts.stats_absent),
        };
        *all += 1;
        *absent += u64::from(is_absent);
        if !is_absent {
            self.found.insert(path);
            self.directories.insert(directory);
        }
        if shape.effect == Effect::Open && call.succeeded() {
            *self.opened.entry(path).or_default() += 1;
        }
    }
}

const READS: [&[u8]; 5] = [b"read", b"pread64", b"readv", b"preadv", b"preadv2"];

impl Sink for Likeness {
    fn call(&mut self, call: &Call, tables: &Tables) -> io::Result<()> {
        for name in tables.names.iter().skip(self.shapes.len()) {
            self.shapes.push(shape_of(name));
        }
        let shape = self.shapes[usize::from(call.name.0)];
        let Some(path) = call.path else { return Ok(()) };
        let (directory, name) = self.places.of(path, &tables.paths);
        if shape.effect == Effect::Execute && call.succeeded() && self.program.is_none() {
            self.program = Some(name);
        }
        if self.places.ground(directory) == Ground::System {
            return Ok(());
        }
        if shape.looks_up(call.flags) && shape.asks(call.flags) == Asks::Looks && call.came_back() {
            self.look_up(call, path, directory, &shape);
        } else if READS.contains(&tables.names.name(call.name)) {
            let bytes = call.result.and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(0);
            self.read.insert(path);
            self.counts.read_bytes = self.counts.read_bytes.saturating_add(bytes);
        }
        Ok(())
    }

    fn edge(&mut self, _: &Edge, _: &Tables) -> io::Result<()> {
        Ok(())
    }
}
