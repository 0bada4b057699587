//! The units of a check: what is done at a stretch.
//!
//! A unit removes what it made, so that it can be the last one. Where something could not be made or removed, its place is
//! not removed either, and the next round works in a fresh one: a failure is counted once, not at every operation after it.

use iolag_backend::{ObjectKey, Request};
use iolag_model::{MonotonicTime, Operation};

use super::group::{CheckAbilities, Group};
use super::stream::Stream;
use crate::Done;

/// Distance between an object's two names.
const SECOND_NAME: u64 = 1_000_000;

/// What a check asks of its target, tasks aside.
pub(crate) fn operations() -> impl Iterator<Item = Operation> {
    [OBJECT_LIFE.as_slice(), CALLS_LIFE.as_slice(), &OTHERS].into_iter().flatten().copied()
}

const OBJECT_LIFE: [Operation; 8] = [
    Operation::Create,
    Operation::Stat,
    Operation::Read,
    Operation::Write,
    Operation::WriteDurably,
    Operation::Rename,
    Operation::List,
    Operation::Delete,
];

const CALLS_LIFE: [Operation; 11] = [
    Operation::CallCreate,
    Operation::CallWrite,
    Operation::CallFsync,
    Operation::CallCloseWritten,
    Operation::CallStat,
    Operation::CallOpen,
    Operation::CallRead,
    Operation::CallClose,
    Operation::CallRename,
    Operation::CallReaddir,
    Operation::CallUnlink,
];

const OTHERS: [Operation; 7] = [
    Operation::MakeDirectory,
    Operation::RemoveDirectory,
    Operation::CallMkdir,
    Operation::CallRmdir,
    Operation::StreamWrite,
    Operation::StreamFsync,
    Operation::StreamRead,
];

/// A unit under way: its operations in order, and where to go on when one fails.
#[derive(Debug, Default)]
pub(crate) struct Unit {
    lines: Vec<Line>,
    at: usize,
    stream: Option<Stream>,
    name: Name,
    condition: Condition,
}

#[derive(Debug, Clone, Copy)]
struct Line {
    request: Request,
    after_failure: usize,
}

/// Which of its two names an object has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Name {
    #[default]
    First,
    Second,
}

/// What the units of a group have left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Condition {
    /// Every object that was made was removed.
    #[default]
    Clean,
    /// There may be an object.
    Littered,
    /// The place for objects could not be made.
    Broken,
}

/// Goes on behind the last line.
const LEAVE: usize = usize::MAX;

impl Unit {
    /// Ends it, however far it is; whether there was one.
    pub(crate) fn end(&mut self) -> bool {
        let was_begun = !self.lines.is_empty();
        self.restart();
        was_begun
    }

    /// Ends it where it is, unless it is over.
    pub(crate) fn leave(&mut self) {
        if self.lines.get(self.at).is_some() {
            (self.at, self.condition) = (LEAVE, Condition::Littered);
        }
    }

    /// Whether repeating it makes no sense.
    pub(crate) fn is_broken(&self) -> bool {
        self.condition == Condition::Broken
    }

    pub(crate) fn is_place_empty(&self) -> bool {
        self.condition == Condition::Clean
    }

    /// `ls -l` and `ls -n`, each first every other time: the second finds what the first has brought into the cache.
    pub(crate) fn list(&mut self, repetition: u32, until: MonotonicTime) {
        let mut both = [Operation::TaskList, Operation::TaskListNumeric];
        if repetition % 2 == 1 {
            both.reverse();
        }
        self.restart();
        both.into_iter().for_each(|operation| self.push_task(operation, ObjectKey::default(), until));
    }

    /// A file of the directory that is listed; the first one begins with the directory.
    pub(crate) fn list_place(&mut self, key: ObjectKey, bytes: u64) {
        self.restart();
        if key.index == 0 {
            self.push(Operation::MakeDirectory, key, 0);
        }
        self.push(Operation::Create, key, bytes);
    }

    pub(crate) fn create_files(&mut self, number: u64, until: MonotonicTime) {
        self.restart();
        self.push_task(Operation::TaskCreate, ObjectKey { rank: 0, dataset: 0, index: number }, until);
    }

    pub(crate) fn compile(&mut self, until: MonotonicTime) {
        self.restart();
        self.push_task(Operation::TaskCompile, ObjectKey::default(), until);
    }

    /// An object's life, as far as its target can be asked for that; the first one begins with its dataset.
    pub(crate) fn object(&mut self, key: ObjectKey, bytes: u64, abilities: &CheckAbilities) {
        let life = OBJECT_LIFE.into_iter().filter(|operation| abilities.can(*operation));
        let make_place = abilities.can(Operation::MakeDirectory).then_some(Operation::MakeDirectory);
        self.live(key, bytes, make_place, &Vec::from_iter(life));
    }

    /// The same in single calls.
    pub(crate) fn calls(&mut self, key: ObjectKey, bytes: u64) {
        self.live(key, bytes, Some(Operation::CallMkdir), &CALLS_LIFE);
    }

    fn live(&mut self, key: ObjectKey, bytes: u64, make_place: Option<Operation>, life: &[Operation]) {
        self.restart();
        if let Some(make_place) = make_place.filter(|_| key.index == 0) {
            self.push(make_place, key, 0);
            self.lines[0].after_failure = LEAVE;
        }
        let first = self.lines.len();
        for operation in life {
            self.push(*operation, key, bytes);
            let line = self.lines.last_mut().expect("a line was just added");
            line.request.other = ObjectKey { index: key.index + SECOND_NAME, ..key };
            let goes_on_at = match operation {
                Operation::Create | Operation::CallCreate => None,
                Operation::CallWrite => Some(Operation::CallCloseWritten),
                Operation::CallOpen => Some(Operation::CallRename),
                _ => continue,
            };
            line.after_failure = goes_on_at
                .and_then(|goal| life.iter().position(|operation| *operation == goal))
                .map_or(LEAVE, |position| first + position);
        }
    }

    pub(crate) fn stream(&mut self, stream: Stream, makes_place: bool) {
        self.restart();
        if makes_place {
            self.push(Operation::MakeDirectory, stream.key, 0);
        }
        // The line stands for all blocks; the stream itself says which comes next.
        self.push(Operation::StreamWrite, stream.key, 0);
        self.stream = Some(stream);
    }

    /// The last thing in a dataset.
    pub(crate) fn remove_place(&mut self, group: Group, key: ObjectKey) {
        self.restart();
        let operation = if group == Group::Calls { Operation::CallRmdir } else { Operation::RemoveDirectory };
        self.push(operation, key, 0);
    }

    /// What comes next; `None` if the unit is over.
    pub(crate) fn next(&mut self, now: MonotonicTime) -> Option<Request> {
        let line = self.lines.get(self.at)?;
        if line.request.operation == Operation::StreamWrite {
            return self.stream.as_mut().and_then(|stream| stream.next(now));
        }
        let mut request = line.request;
        if matches!(request.operation, Operation::Delete | Operation::CallUnlink) && self.name == Name::Second
        {
            request.key = request.other;
        }
        Some(request)
    }

    pub(crate) fn completed(&mut self, request: &Request, is_ok: bool, done: &Done) {
        let Some(line) = self.lines.get(self.at) else { return };
        if line.request.operation == Operation::StreamWrite {
            if let Some(stream) = &mut self.stream {
                stream.completed(is_ok, done);
            }
            return;
        }
        self.at = if is_ok { self.at + 1 } else { line.after_failure };
        match request.operation {
            Operation::MakeDirectory | Operation::CallMkdir if !is_ok => {
                self.condition = Condition::Broken;
                self.at = LEAVE;
            }
            Operation::Create | Operation::CallCreate | Operation::Delete | Operation::CallUnlink
                if !is_ok =>
            {
                self.condition = Condition::Littered;
            }
            Operation::Rename | Operation::CallRename if is_ok => self.name = Name::Second,
            _ => {}
        }
    }

    fn restart(&mut self) {
        self.lines.clear();
        (self.at, self.stream, self.name) = (0, None, Name::First);
    }

    fn push(&mut self, operation: Operation, key: ObjectKey, bytes: u64) {
        self.push_request(Request::new(operation, key, bytes));
    }

    fn push_task(&mut self, operation: Operation, key: ObjectKey, until: MonotonicTime) {
        self.push_request(Request::task(operation, key, until));
    }

    /// Adds a line that goes on with the next one, whatever happens.
    fn push_request(&mut self, request: Request) {
        let after_failure = self.lines.len() + 1;
        self.lines.push(Line { request, after_failure });
    }
}
