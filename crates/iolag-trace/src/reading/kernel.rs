//! The tasks of a text: who lives, who began whom, what they share, and calls that have not ended.

use iolag_model::Nanoseconds;

use crate::state::{Descriptors, Files, Opened, Shared, SharedId};
use crate::trace::{CallName, Map, PathId, Sharing, Tables, Task, TaskId};

/// What the calls of a task have to do with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Standing {
    pub task: TaskId,
    pub files: SharedId,
    pub place: SharedId,
}

/// A task that lives.
#[derive(Debug)]
struct Living {
    standing: Standing,
    process: TaskId,
    begun: Option<Begun>,
}

/// A call that has begun.
#[derive(Debug)]
pub(super) struct Begun {
    pub name: CallName,
    /// Its arguments so far.
    pub text: Vec<u8>,
    pub start: Nanoseconds,
    pub entry: Entry,
    /// If it begins a task: what that shares, and its number if it was seen before the call came back.
    pub fork: Option<(Sharing, Option<u32>)>,
}

/// What things were when a call began: other tasks go on until it ends.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Entry {
    /// The file of its descriptor.
    pub path: Option<PathId>,
    /// The directory of the task.
    pub directory: Option<PathId>,
}

/// Whose a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    /// Of the living task with this number.
    Known(u32),
    /// Of a new task; which fork began it is not known yet.
    Undecided,
}

/// The tasks, and what they have.
#[derive(Debug, Default)]
pub(super) struct Kernel {
    pub files: Files,
    pub places: Shared<Option<PathId>>,
    living: Map<u32, Living>,
    /// The last task of each number.
    latest: Map<u32, TaskId>,
    /// The number of the first task that lives, unless that has to be looked for.
    oldest: Option<u32>,
    /// Numbers of tasks with a fork that has not come back.
    forking: Vec<u32>,
    /// A buffer of a call that has ended, to be used again.
    spare: Vec<u8>,
}

/// The number of a task whose number is not known.
pub(super) const UNNUMBERED: u32 = 0;

impl Kernel {
    pub(super) fn standing(&self, number: u32) -> Option<Standing> {
        self.living.get(&number).map(|living| living.standing)
    }

    /// The directory that relative paths of a task are meant in.
    pub(super) fn directory(&self, standing: Standing) -> Option<PathId> {
        self.places.get(standing.place).copied().flatten()
    }

    pub(super) fn set_directory(&mut self, standing: Standing, directory: Option<PathId>) {
        if let Some(place) = self.places.get_mut(standing.place) {
            *place = directory;
        }
    }

    pub(super) fn opened(&self, standing: Standing, descriptor: i32) -> Option<&Opened> {
        self.files.get(standing.files, descriptor)
    }

    /// A task that nobody was seen to begin.
    pub(super) fn root(&mut self, number: u32, directory: Option<PathId>, tables: &mut Tables) {
        let task = TaskId(tables.tasks.len() as u32);
        tables.tasks.push(Task { number, parent: None, process: task, sharing: Sharing::default() });
        let files = self.files.tables.add(Descriptors::default());
        let place = self.places.add(directory);
        self.insert(number, Living { standing: Standing { task, files, place }, process: task, begun: None });
    }

    /// A task that `parent` began. Of a parent that is gone it has nothing.
    pub(super) fn fork(&mut self, parent: u32, number: u32, sharing: Sharing, tables: &mut Tables) {
        let Some(living) = self.living.get(&parent) else { return self.root(number, None, tables) };
        let (from, process) = (living.standing, living.process);
        let task = TaskId(tables.tasks.len() as u32);
        let process = if sharing.process() { process } else { task };
        tables.tasks.push(Task { number, parent: Some(from.task), process, sharing });
        let files = if sharing.descriptors() {
            self.files.tables.share(from.files)
        } else {
            self.files.copy(from.files)
        };
        let place = match sharing.directory() {
            true => self.places.share(from.place),
            false => self.places.add(self.directory(from)),
        };
        self.insert(number, Living { standing: Standing { task, files, place }, process, begun: None });
    }

    fn insert(&mut self, number: u32, living: Living) {
        self.latest.insert(number, living.standing.task);
        // The number is used again, and its last end was not in the text.
        if let Some(before) = self.living.insert(number, living) {
            self.release(before.standing);
        }
    }

    fn release(&mut self, standing: Standing) {
        self.files.release(standing.files);
        self.places.release(standing.place);
    }

    /// Ends a task: who it was.
    pub(super) fn end(&mut self, number: u32) -> Option<TaskId> {
        let living = self.living.remove(&number)?;
        self.oldest = self.oldest.filter(|oldest| *oldest != number);
        self.forking.retain(|forking| *forking != number);
        self.release(living.standing);
        Some(living.standing.task)
    }

    /// The task of `from` goes on under another number.
    pub(super) fn renumber(&mut self, from: u32, to: u32) {
        if let Some(living) = self.living.remove(&from) {
            self.oldest = None;
            self.insert(to, living);
            self.forking.iter_mut().filter(|forking| **forking == from).for_each(|forking| *forking = to);
        }
    }

    pub(super) fn begin(&mut self, number: u32, begun: Begun) {
        if let Some(living) = self.living.get_mut(&number) {
            if begun.fork.is_some() {
                self.forking.push(number);
            }
            living.begun = Some(begun);
        }
    }

    pub(super) fn take_begun(&mut self, number: u32) -> Option<Begun> {
        let begun = self.living.get_mut(&number)?.begun.take()?;
        if begun.fork.is_some() {
            self.forking.retain(|forking| *forking != number);
        }
        Some(begun)
    }

    /// An empty buffer.
    pub(super) fn buffer(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.spare)
    }

    /// A buffer that is not needed any more.
    pub(super) fn give_back(&mut self, mut buffer: Vec<u8>) {
        buffer.clear();
        self.spare = buffer;
    }

    /// Whose a line with this number is; a task that appears is begun by the one fork that may have.
    pub(super) fn whose(
        &mut self,
        number: u32,
        is_resumed: bool,
        directory: Option<PathId>,
        tables: &mut Tables,
    ) -> Whose {
        if self.living.contains_key(&number) {
            return Whose::Known(number);
        }
        let waiting: Vec<u32> =
            self.forking.iter().copied().filter(|parent| self.awaits_child(*parent)).collect();
        // A new task begins no call in the middle; the first task of a text has no number before there is another.
        if self.living.contains_key(&UNNUMBERED) && (is_resumed || waiting.is_empty()) {
            self.renumber(UNNUMBERED, number);
            return Whose::Known(number);
        }
        match waiting[..] {
            [] => self.root(number, directory, tables),
            [parent] => self.adopt(parent, number, tables),
            _ => return Whose::Undecided,
        }
        Whose::Known(number)
    }

    fn awaits_child(&self, parent: u32) -> bool {
        let begun = self.living.get(&parent).and_then(|living| living.begun.as_ref());
        begun.is_some_and(|begun| matches!(begun.fork, Some((_, None))))
    }

    /// The last of the forks that may have begun a task is taken for the one that did.
    pub(super) fn guess(&mut self, number: u32, directory: Option<PathId>, tables: &mut Tables) {
        let parent = self.forking.iter().rev().copied().find(|parent| self.awaits_child(*parent));
        match parent {
            Some(parent) => self.adopt(parent, number, tables),
            None => self.root(number, directory, tables),
        }
    }

    fn adopt(&mut self, parent: u32, number: u32, tables: &mut Tables) {
        let fork = self.living.get_mut(&parent).and_then(|living| living.begun.as_mut()?.fork.as_mut());
        let Some((sharing, child)) = fork else { return };
        *child = Some(number);
        let sharing = *sharing;
        self.fork(parent, number, sharing, tables);
    }

    /// The number of a line that has none: of the only task, else of the first.
    pub(super) fn only(&mut self) -> u32 {
        if self.oldest.is_none() {
            let oldest = self.living.iter().min_by_key(|(_, living)| living.standing.task);
            self.oldest = oldest.map(|(number, _)| *number);
        }
        self.oldest.unwrap_or(UNNUMBERED)
    }

    /// The last task that had this number.
    pub(super) fn latest(&self, number: u32) -> Option<TaskId> {
        self.latest.get(&number).copied()
    }

    /// The numbers of the tasks that live, in the order in which they began.
    pub(super) fn numbers(&self) -> Vec<u32> {
        let mut living: Vec<_> =
            self.living.iter().map(|(number, living)| (living.standing.task, *number)).collect();
        living.sort_unstable();
        living.into_iter().map(|(_, number)| number).collect()
    }

    /// The task gets descriptors of its own.
    pub(super) fn unshare_files(&mut self, number: u32) {
        let Some(living) = self.living.get_mut(&number) else { return };
        if self.files.tables.is_shared(living.standing.files) {
            let copy = self.files.copy(living.standing.files);
            self.files.release(living.standing.files);
            living.standing.files = copy;
        }
    }

    /// The task gets a directory of its own.
    pub(super) fn unshare_place(&mut self, number: u32) {
        let Some(standing) = self.standing(number).filter(|standing| self.places.is_shared(standing.place))
        else {
            return;
        };
        let copy = self.places.add(self.directory(standing));
        self.places.release(standing.place);
        if let Some(living) = self.living.get_mut(&number) {
            living.standing.place = copy;
        }
    }
}
