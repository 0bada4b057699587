//! What a program changes: found before anything of it is asked again, so that all that is asked of that is asked of files of the copy's own.
//!
//! A path that is changed is the copy's own from the beginning: a look-up before it is made finds nothing there, whatever lies in the target. Below a directory that is made,
//! removed or renamed everything is. What was there before is made for the copy as [`Skeleton`] makes it.
//!
//! Limits: paths are told apart by their names; a file that is changed by one name and read by another, through a link, is two.

use std::collections::BTreeSet;
use std::io;

use super::bones::Bone;
use super::change::{can_be_changed, fails_by_what_is_there};
use super::mapping::{Mapped, Scope};
use super::skeleton::Skeleton;
use crate::calls::{Effect, Shape, shape_of};
use crate::trace::{Call, Edge, EdgeKind, Sink, Tables, lexical};

/// Clean-up goes no deeper than 32 directories, of which the working directory and that of the copy are two.
const DEPTH_MAX: usize = 28;

/// The paths that a program changes, as it named them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Own {
    /// Without what lies below them.
    single: BTreeSet<Vec<u8>>,
    /// With all that lies below them.
    whole: BTreeSet<Vec<u8>>,
}

impl Own {
    /// Whether nothing is changed.
    pub fn is_empty(&self) -> bool {
        self.single.is_empty() && self.whole.is_empty()
    }

    /// Whether a path is changed, or lies in a directory that is.
    pub(super) fn has(&self, plain: &[u8]) -> bool {
        if self.single.contains(plain) || self.whole.contains(plain) {
            return true;
        }
        let mut ends = plain.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        !self.whole.is_empty() && ends.any(|end| self.whole.contains(&plain[..end]))
    }
}

/// Finds what a program changes, as a trace comes.
#[derive(Debug)]
pub struct Changes {
    scope: Scope,
    own: Own,
    skeleton: Skeleton,
    shapes: Vec<Shape>,
    elsewhere: BTreeSet<u32>,
}

impl Changes {
    /// Of a program whose paths are asked again so.
    pub fn new(scope: Scope) -> Self {
        let (own, skeleton) = (Own::default(), Skeleton::default());
        Self { scope, own, skeleton, shapes: Vec::new(), elsewhere: BTreeSet::new() }
    }

    /// What is changed, and what of it has to be there before, below the directory of a copy.
    pub fn finish(self) -> (Own, Vec<Bone>) {
        let (own, scope) = (self.own, self.scope);
        let within = |path: &[u8]| match scope.map(path) {
            Mapped::To { map: 0, path } => Some(path),
            _ => None,
        };
        let changed: Vec<Vec<u8>> = own.single.union(&own.whole).cloned().collect();
        let bones = self.skeleton.finish_within(&changed, |path| own.has(path));
        let moved = bones.into_iter().filter_map(|bone| {
            let path = within(&[b"/", bone.path.as_slice()].concat())?;
            (path != b".").then_some(Bone { path, ..bone })
        });
        let bones = moved.collect();
        (own, bones)
    }

    /// Whether it can be asked of files of a copy's own.
    fn is_for_copy(&self, path: &[u8]) -> bool {
        match self.scope.map(path) {
            Mapped::To { map: 0, path } => path.split(|byte| *byte == b'/').count() <= DEPTH_MAX,
            _ => false,
        }
    }

    fn note(&mut self, call: &Call, shape: &Shape, name: &[u8], tables: &Tables) {
        let both = [call.path, call.second.filter(|_| shape.effect != Effect::MakeLink)];
        let paths: Vec<Vec<u8>> =
            both.into_iter().flatten().map(|path| lexical(tables.paths.path(path))).collect();
        if !paths.iter().all(|path| path.starts_with(b"/") && self.is_for_copy(path)) {
            return;
        }
        match call.succeeded() && moves_what_is_below(name) {
            true => self.own.whole.extend(paths),
            false => self.own.single.extend(paths),
        }
    }
}

/// Whether it makes, removes or renames what may be a directory.
fn moves_what_is_below(name: &[u8]) -> bool {
    const NAMES: [&[u8]; 9] = [
        b"mkdir",
        b"mkdirat",
        b"rename",
        b"renameat",
        b"renameat2",
        b"rmdir",
        b"symlink",
        b"symlinkat",
        b"unlinkat",
    ];
    NAMES.contains(&name)
}

impl Sink for Changes {
    fn call(&mut self, call: &Call, tables: &Tables) -> io::Result<()> {
        for name in tables.names.iter().skip(self.shapes.len()) {
            self.shapes.push(shape_of(name));
        }
        let shape = self.shapes[usize::from(call.name.0)];
        let name = tables.names.name(call.name);
        let is_here = call.came_back() && !self.elsewhere.contains(&call.task.0);
        if is_here && fails_by_what_is_there(call.errno) && can_be_changed(call, &shape, name) {
            self.note(call, &shape, name, tables);
        }
        self.skeleton.call(call, tables)
    }

    fn edge(&mut self, edge: &Edge, tables: &Tables) -> io::Result<()> {
        match edge.kind {
            EdgeKind::ChangeView => {
                self.elsewhere.insert(edge.task.0);
            }
            EdgeKind::Fork(child) if self.elsewhere.contains(&edge.task.0) => {
                self.elsewhere.insert(child.0);
            }
            _ => {}
        }
        self.skeleton.edge(edge, tables)
    }
}
