//! What is done with one object, as a table: the operations in order, and where to go on when one fails.
//!
//! The table is made once per stage; per operation the client only looks up its next line. Nothing here allocates after
//! that, and nothing divides.

use std::sync::Arc;

use iolag_backend::{ObjectKey, Request};
use iolag_model::{Access, Durability, Granularity, MetadataSpec, Operation};

/// Which of the two objects of a turn an operation is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Object {
    /// The one that is read and removed.
    Old,
    /// The one that is made.
    New,
}

/// What an operation does to the number of objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Nothing.
    None,
    /// One more, in the dataset of the new object.
    Creates,
    /// One less, in the dataset of the old object.
    Removes,
}

/// One line of the table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScriptLine {
    operation: Operation,
    object: Object,
    pub(crate) effect: Effect,
    after_failure: u8,
    bytes: u64,
}

/// Goes on behind the last line: nothing else is done with this object.
const LEAVE: u8 = u8::MAX;

/// The tables of one workload.
#[derive(Debug, Clone)]
pub(crate) struct Scripts {
    pub(crate) create: Arc<[ScriptLine]>,
    pub(crate) stat: Arc<[ScriptLine]>,
    pub(crate) read: Arc<[ScriptLine]>,
    pub(crate) remove: Arc<[ScriptLine]>,
    /// stat, read and, unless read-only, remove and create: one turn of the benchmark phase.
    pub(crate) replace: Arc<[ScriptLine]>,
    /// None where datasets are not made.
    pub(crate) make_directory: Option<Operation>,
    pub(crate) remove_directory: Option<Operation>,
}

impl Scripts {
    pub(crate) fn new(spec: &MetadataSpec) -> Self {
        let table = |parts: &[Part]| {
            let mut table = Table { spec, lines: Vec::with_capacity(9) };
            parts.iter().for_each(|part| table.add(*part));
            Arc::from(table.lines)
        };
        let replace = match spec.access {
            Access::Replace => table(&[Part::Stat, Part::Read, Part::Remove, Part::Create]),
            Access::ReadOnly => table(&[Part::Stat, Part::Read]),
        };
        let (make_directory, remove_directory) = match spec.granularity {
            Granularity::Operations => (Operation::MakeDirectory, Operation::RemoveDirectory),
            Granularity::Calls => (Operation::CallMkdir, Operation::CallRmdir),
        };
        Self {
            create: table(&[Part::Create]),
            stat: table(&[Part::Stat]),
            read: table(&[Part::Read]),
            remove: table(&[Part::Remove]),
            replace,
            make_directory: spec.dataset_kind.are_made().then_some(make_directory),
            remove_directory: spec.dataset_kind.are_made().then_some(remove_directory),
        }
    }

    /// The operations in a table.
    pub(crate) fn operations(lines: &[ScriptLine]) -> impl Iterator<Item = Operation> {
        lines.iter().map(|line| line.operation)
    }
}

/// What can be done with an object.
#[derive(Debug, Clone, Copy)]
enum Part {
    Stat,
    Read,
    Remove,
    Create,
}

struct Table<'a> {
    spec: &'a MetadataSpec,
    lines: Vec<ScriptLine>,
}

impl Table<'_> {
    fn add(&mut self, part: Part) {
        match part {
            Part::Stat => self.stat(),
            Part::Read => self.read(),
            Part::Remove => self.remove(),
            Part::Create => self.create(),
        }
    }

    /// Adds a line that goes on with the next one, whatever happens.
    fn line(&mut self, operation: Operation, object: Object, bytes: u64) -> &mut ScriptLine {
        let after_failure = self.lines.len() as u8 + 1;
        self.lines.push(ScriptLine { operation, object, effect: Effect::None, after_failure, bytes });
        self.lines.last_mut().expect("a line was just added")
    }

    fn operations_or_calls(&self, operation: Operation, call: Operation) -> Operation {
        match self.spec.granularity {
            Granularity::Operations => operation,
            Granularity::Calls => call,
        }
    }

    /// After a failed stat nothing else is asked of the object, as in md-workbench.
    fn stat(&mut self) {
        let operation = self.operations_or_calls(Operation::Stat, Operation::CallStat);
        self.line(operation, Object::Old, self.spec.object_bytes).after_failure = LEAVE;
    }

    fn read(&mut self) {
        let bytes = self.spec.object_bytes;
        match self.spec.granularity {
            Granularity::Operations => {
                self.line(Operation::Read, Object::Old, bytes);
            }
            Granularity::Calls => {
                let behind = self.lines.len() as u8 + 3;
                self.line(Operation::CallOpen, Object::Old, 0).after_failure = behind;
                self.line(Operation::CallRead, Object::Old, bytes);
                self.line(Operation::CallClose, Object::Old, 0);
            }
        }
    }

    fn remove(&mut self) {
        let operation = self.operations_or_calls(Operation::Delete, Operation::CallUnlink);
        self.line(operation, Object::Old, 0).effect = Effect::Removes;
    }

    /// What was opened is closed, also after a failed write.
    fn create(&mut self) {
        let bytes = self.spec.object_bytes;
        let operation = self.operations_or_calls(Operation::Create, Operation::CallCreate);
        let line = self.line(operation, Object::New, bytes);
        line.effect = Effect::Creates;
        line.after_failure = LEAVE;
        if self.spec.granularity == Granularity::Calls {
            let is_durable = self.spec.durability == Durability::Fsync;
            let close = self.lines.len() as u8 + 1 + u8::from(is_durable);
            self.line(Operation::CallWrite, Object::New, bytes).after_failure = close;
            if is_durable {
                self.line(Operation::CallFsync, Object::New, 0);
            }
            self.line(Operation::CallCloseWritten, Object::New, 0);
        }
    }
}

/// Goes through a table for one object after the other.
#[derive(Debug)]
pub(crate) struct Turn {
    lines: Arc<[ScriptLine]>,
    at: usize,
    old: ObjectKey,
    new: ObjectKey,
}

impl Turn {
    /// A turn through `lines` that has not begun: it has nothing to request.
    pub(crate) fn over(lines: &Arc<[ScriptLine]>) -> Self {
        Self {
            lines: Arc::clone(lines),
            at: lines.len(),
            old: ObjectKey::default(),
            new: ObjectKey::default(),
        }
    }

    /// Begins with the next pair of objects.
    #[inline]
    pub(crate) fn begin(&mut self, old: ObjectKey, new: ObjectKey) {
        (self.at, self.old, self.new) = (0, old, new);
    }

    /// What comes next, and its effect; `None` if all was done with these objects.
    #[inline]
    pub(crate) fn next(&self) -> Option<(Request, Effect)> {
        let line = self.lines.get(self.at)?;
        let key = match line.object {
            Object::Old => self.old,
            Object::New => self.new,
        };
        Some((Request::new(line.operation, key, line.bytes), line.effect))
    }

    /// The request of `next` ended: goes on, and says what it did if it succeeded.
    #[inline]
    pub(crate) fn completed(&mut self, is_ok: bool) -> Effect {
        let Some(line) = self.lines.get(self.at) else { return Effect::None };
        if is_ok {
            self.at += 1;
            line.effect
        } else {
            self.at = usize::from(line.after_failure);
            Effect::None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_model::{Pattern, Phase, Think, Verification};

    fn scripts(granularity: Granularity, access: Access, durability: Durability) -> Scripts {
        Scripts::new(&MetadataSpec {
            pattern: Pattern::Code,
            granularity,
            phases: vec![Phase::Benchmark],
            datasets: 1,
            precreated_objects: 1,
            objects: 1,
            iterations: 1,
            object_bytes: 7,
            offset: 1,
            think: Think::None,
            access,
            time_limit: None,
            durability,
            verification: Verification::Length,
            dataset_kind: iolag_model::Datasets::Made,
            connections: iolag_model::Connections::Reused,
        })
    }

    /// The operations asked of one object when `failing` fails.
    fn asked(lines: &Arc<[ScriptLine]>, failing: Option<Operation>) -> Vec<Operation> {
        let mut turn = Turn::over(lines);
        assert_eq!(turn.next(), None);
        turn.begin(ObjectKey::default(), ObjectKey { index: 9, ..ObjectKey::default() });
        let mut asked = vec![];
        while let Some((request, _)) = turn.next() {
            asked.push(request.operation);
            turn.completed(Some(request.operation) != failing);
        }
        asked
    }

    #[test]
    fn operations_are_those_of_md_workbench_and_a_failed_stat_skips_the_other_three() {
        use Operation::{Create, Delete, Read, Stat};
        let replace = scripts(Granularity::Operations, Access::Replace, Durability::Fsync).replace;
        assert_eq!(asked(&replace, None), [Stat, Read, Delete, Create]);
        assert_eq!(asked(&replace, Some(Stat)), [Stat]);
        for failing in [Read, Delete, Create] {
            assert_eq!(asked(&replace, Some(failing)), [Stat, Read, Delete, Create]);
        }
        let read_only = scripts(Granularity::Operations, Access::ReadOnly, Durability::Default).replace;
        assert_eq!(asked(&read_only, None), [Stat, Read]);
    }

    #[test]
    fn calls_close_what_was_opened_and_only_that() {
        use Operation::{
            CallClose, CallCloseWritten, CallCreate, CallFsync, CallOpen, CallRead, CallStat, CallUnlink,
            CallWrite,
        };
        let replace = scripts(Granularity::Calls, Access::Replace, Durability::Fsync).replace;
        let all = [
            CallStat,
            CallOpen,
            CallRead,
            CallClose,
            CallUnlink,
            CallCreate,
            CallWrite,
            CallFsync,
            CallCloseWritten,
        ];
        assert_eq!(asked(&replace, None), all);
        assert_eq!(asked(&replace, Some(CallStat)), [CallStat]);
        assert_eq!(
            asked(&replace, Some(CallOpen)),
            [CallStat, CallOpen, CallUnlink, CallCreate, CallWrite, CallFsync, CallCloseWritten]
        );
        assert_eq!(asked(&replace, Some(CallCreate)), all[..6]);
        assert_eq!(
            asked(&replace, Some(CallWrite)),
            [all[..7].to_vec(), vec![CallCloseWritten]].concat(),
            "no fsync of what could not be written"
        );
        for failing in [CallRead, CallClose, CallUnlink, CallFsync, CallCloseWritten] {
            assert_eq!(asked(&replace, Some(failing)), all);
        }
        let lazy = scripts(Granularity::Calls, Access::Replace, Durability::Default).create;
        assert_eq!(asked(&lazy, None), [CallCreate, CallWrite, CallCloseWritten]);
        assert_eq!(asked(&lazy, Some(CallWrite)), [CallCreate, CallWrite, CallCloseWritten]);
    }
}
