//! A trace becomes a repetition as it comes.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use iolag_model::{LeftOut, Nanoseconds, ReplayCoverage, TracingCost, WhyLeftOut};

use super::descriptors::{Known, Tables as Descriptors};
use super::mapping::{Mapped, Scope};
use super::repetition::{After, Ask, At, Item, Place, PlaceId, Repetition, TaskItems};
use super::translating::Asked;
use crate::calls::{Effect, Shape, bits, shape_of};
use crate::state::SharedId;
use crate::trace::{
    Call, Edge, EdgeKind, Map, PathId, Sharing, Sink, Tables, TaskId, clone_flags, lexical, path_text,
};

/// Makes a repetition of a trace.
#[derive(Debug)]
pub struct Repeater {
    scope: Scope,
    /// What tracing takes between two calls of a task.
    between: u64,
    shapes: Vec<Shape>,
    tasks: Vec<OfTask>,
    descriptors: Descriptors,
    places: Vec<Place>,
    known_places: Map<Place, PlaceId>,
    /// By path of the trace.
    mapped: Map<PathId, Mapped>,
    /// Paths that the program has changed.
    changed: BTreeSet<Vec<u8>>,
    traced: u64,
    repeated: u64,
    left_out: BTreeMap<(WhyLeftOut, Vec<u8>), (u64, String)>,
    /// Tasks that nobody was seen to begin, besides the first.
    others: Vec<u32>,
    begin: Option<u64>,
}

#[derive(Debug, Default)]
struct OfTask {
    sharing: Sharing,
    table: Option<SharedId>,
    items: Vec<Item>,
    /// When its last call ended, or it began.
    last: Option<u64>,
    /// What it thought since its last item.
    thought: u64,
    /// What its next item has to wait for.
    after: Vec<After>,
    /// Whether its paths are those of another root.
    is_elsewhere: bool,
    /// Whether its parent waits for it, and goes on with its next item when it executes a program or ends.
    holds_parent: Option<TaskId>,
}

impl Repeater {
    /// Of a trace whose calls cost this.
    pub fn new(scope: Scope, cost: Option<TracingCost>) -> Self {
        Self {
            scope,
            between: cost.map_or(0, |cost| cost.between_ns.median.0),
            shapes: Vec::new(),
            tasks: Vec::new(),
            descriptors: Descriptors::default(),
            places: Vec::new(),
            known_places: Map::default(),
            mapped: Map::default(),
            changed: BTreeSet::new(),
            traced: 0,
            repeated: 0,
            left_out: BTreeMap::new(),
            others: Vec::new(),
            begin: None,
        }
    }

    /// What it comes to; `traced` is how long the program took.
    pub fn finish(mut self, traced: Nanoseconds) -> Repetition {
        self.begin_others();
        let left_out = self.left_out.into_iter().map(|((why, call), (calls, example))| LeftOut {
            why,
            call: path_text(&call),
            calls,
            example,
        });
        let mut left_out: Vec<LeftOut> = left_out.collect();
        left_out.sort_by_key(|left| std::cmp::Reverse(left.calls));
        Repetition {
            places: self.places,
            tasks: self
                .tasks
                .into_iter()
                .map(|task| TaskItems { sharing: task.sharing, items: task.items })
                .collect(),
            descriptors: self.descriptors.len(),
            coverage: ReplayCoverage { traced: self.traced, repeated: self.repeated, left_out },
            traced,
        }
    }

    /// The first task begins, before anything else, those of which nobody saw who did.
    fn begin_others(&mut self) {
        let more = self.others.len() as u32;
        let Some(first) = self.tasks.first_mut().filter(|_| more > 0) else { return };
        let start = Nanoseconds::ZERO;
        let fork =
            |task: &u32| Item { ask: Ask::Fork(*task), after: Vec::new(), start, gap: start, errno: 0 };
        first.items.splice(0..0, self.others.iter().map(fork));
        let of_first =
            self.tasks.iter_mut().flat_map(|task| &mut task.items).flat_map(|item| &mut item.after);
        of_first.filter(|after| after.task == 0).for_each(|after| after.items += more);
    }

    fn follow(&mut self, tables: &Tables) {
        for name in tables.names.iter().skip(self.shapes.len()) {
            self.shapes.push(shape_of(name));
        }
    }

    /// The task has begun by now; its first call may stand before the one that began it.
    fn begin_task(&mut self, task: TaskId, at: u64, tables: &Tables) -> SharedId {
        let number = task.0 as usize;
        if self.tasks.len() <= number {
            self.tasks.resize_with(number + 1, OfTask::default);
        }
        if let Some(table) = self.tasks[number].table {
            return table;
        }
        let told = tables.tasks.get(number);
        let (parent, sharing) = told.map_or((None, Sharing::NOTHING), |told| (told.parent, told.sharing));
        let table = match parent.filter(|parent| *parent < task) {
            None => {
                if task.0 > 0 {
                    self.others.push(task.0);
                }
                self.descriptors.empty()
            }
            Some(parent) => {
                let of_parent = self.begin_task(parent, at, tables);
                self.push(parent, Ask::Fork(task.0), at, 0);
                if sharing.parent_waits() {
                    self.tasks[number].holds_parent = Some(parent);
                }
                self.tasks[number].is_elsewhere = self.tasks[parent.0 as usize].is_elsewhere;
                match sharing.descriptors() {
                    true => self.descriptors.share(of_parent),
                    false => self.descriptors.copy(of_parent),
                }
            }
        };
        let of_task = &mut self.tasks[number];
        (of_task.sharing, of_task.table, of_task.last) = (sharing, Some(table), Some(at));
        table
    }

    fn push(&mut self, task: TaskId, ask: Ask, start: u64, errno: u16) {
        let begin = *self.begin.get_or_insert(start);
        let of_task = &mut self.tasks[task.0 as usize];
        let (gap, after) = (std::mem::take(&mut of_task.thought), std::mem::take(&mut of_task.after));
        let start = Nanoseconds(start.saturating_sub(begin));
        of_task.items.push(Item { ask, after, start, gap: Nanoseconds(gap), errno });
    }

    fn items_of(&self, task: TaskId) -> u32 {
        self.tasks.get(task.0 as usize).map_or(0, |task| task.items.len() as u32)
    }

    /// The parent goes on.
    fn let_parent_go(&mut self, task: TaskId) {
        let items = self.items_of(task);
        if let Some(parent) = self.tasks.get_mut(task.0 as usize).and_then(|task| task.holds_parent.take()) {
            self.tasks[parent.0 as usize].after.push(After { task: task.0, items });
        }
    }

    fn mapped(&mut self, path: PathId, tables: &Tables) -> Mapped {
        let scope = &self.scope;
        self.mapped.entry(path).or_insert_with(|| scope.map(tables.paths.path(path))).clone()
    }

    fn place(&mut self, mapped: &Mapped) -> Option<PlaceId> {
        let Mapped::To { map, path } = mapped else { return None };
        let place = Place { map: *map, path: path.clone() };
        if let Some(known) = self.known_places.get(&place) {
            return Some(*known);
        }
        let number = PlaceId(self.places.len() as u32);
        self.places.push(place.clone());
        self.known_places.insert(place, number);
        Some(number)
    }

    /// Where a path is looked up: from the descriptor that the program named, if that leads there.
    fn at(&self, place: Option<PlaceId>, known: Option<Known>) -> At {
        let at = || {
            let place = &self.places[place?.0 as usize];
            let known = known?;
            let directory = &self.places[known.place?.0 as usize];
            let left = match directory.path.as_slice() {
                b"." => 0,
                path if place.path.starts_with(path) && place.path.get(path.len()) == Some(&b'/') => {
                    path.len() + 1
                }
                _ => return None,
            };
            let is_below = directory.map == place.map && left < place.path.len() && place.path[left] != b'/';
            is_below.then_some(At::Descriptor(known.origin.ok()?, left as u32))
        };
        at().unwrap_or(At::Map)
    }

    /// Whether the program had changed it, or a directory above it, before.
    fn was_changed(&self, path: &[u8]) -> bool {
        if self.changed.is_empty() {
            return false;
        }
        let plain = lexical(path);
        let mut ends = plain.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        self.changed.contains(&plain) || ends.any(|end| self.changed.contains(&plain[..end]))
    }

    fn note_changed(&mut self, call: &Call, tables: &Tables) {
        for path in [call.path, call.second].into_iter().flatten() {
            self.changed.insert(lexical(tables.paths.path(path)));
        }
    }

    /// What is asked again of a call on storage.
    fn judge(
        &mut self,
        call: &Call,
        shape: &Shape,
        table: SharedId,
        tables: &Tables,
    ) -> Result<Ask, WhyLeftOut> {
        let name = tables.names.name(call.name);
        let path = call.path.map_or(&b""[..], |path| tables.paths.path(path));
        let known = call.descriptor.and_then(|number| self.descriptors.get(table, number));
        let mapped = call.path.map_or(Mapped::Ignored, |path| self.mapped(path, tables));
        let place = self.place(&mapped);
        let at = self.at(place, known.filter(|_| shape.at.is_some()));
        let asked = Asked { call, name, shape, place, known, at };
        let changes = asked.changes();
        let was_changed = self.was_changed(path);
        if changes && call.succeeded() {
            self.note_changed(call, tables);
        }
        if self.tasks[call.task.0 as usize].is_elsewhere {
            return Err(WhyLeftOut::OtherView);
        }
        if !call.came_back() {
            return Err(WhyLeftOut::NeverBack);
        }
        let is_by_name = shape.looks_up(call.flags);
        if is_by_name && !path.starts_with(b"/") {
            return Err(WhyLeftOut::UnknownDirectory);
        }
        if is_by_name && mapped == Mapped::No {
            return Err(WhyLeftOut::NotMapped);
        }
        let is_of_left_out = known.is_some_and(|known| known.origin.is_err());
        if was_changed && !changes && (is_by_name || !is_of_left_out) {
            return Err(WhyLeftOut::Changed);
        }
        asked.ask(self.descriptors.len())
    }

    /// What the descriptors of the task are after a call; what it is that it asks is made whole by that.
    fn apply(&mut self, call: &Call, shape: &Shape, ask: &mut Result<Ask, WhyLeftOut>, tables: &Tables) {
        let Some(table) = self.tasks[call.task.0 as usize].table else { return };
        let descriptor = call.descriptor.unwrap_or(-1);
        if shape.effect == Effect::Close {
            self.descriptors.remove(table, descriptor);
        }
        let Some(new) = call.result.filter(|_| call.succeeded()).and_then(|new| i32::try_from(new).ok())
        else {
            return;
        };
        let is_copy = matches!(shape.effect, Effect::Duplicate)
            || shape.effect == Effect::Control
                && matches!(call.argument, bits::F_DUPFD | bits::F_DUPFD_CLOEXEC);
        match shape.effect {
            Effect::Open | Effect::Duplicate | Effect::Control if shape.effect == Effect::Open || is_copy => {
                if is_copy && new == descriptor {
                    if let Ok(Ask::Duplicate(on, ..)) = ask {
                        *ask = Ok(Ask::Flags(*on));
                    }
                    return;
                }
                let closes_at_execute = match shape.effect {
                    Effect::Control => call.argument == bits::F_DUPFD_CLOEXEC,
                    _ => call.flags & bits::O_CLOEXEC != 0,
                };
                let place = match is_copy {
                    true => self.descriptors.get(table, descriptor).and_then(|known| known.place),
                    false => {
                        let mapped = call.path.map_or(Mapped::Ignored, |path| self.mapped(path, tables));
                        self.place(&mapped)
                    }
                };
                let origin = match ask {
                    Ok(Ask::Open(..) | Ask::Duplicate(..)) => Ok(self.descriptors.number()),
                    Ok(_) => Err(WhyLeftOut::UnknownDescriptor),
                    Err(why) => Err(*why),
                };
                let before = self.descriptors.put(table, new, Known { origin, place, closes_at_execute });
                if let (Ok(Ask::Duplicate(_, _, over)), Some(Ok(before))) =
                    (ask, before.map(|before| before.origin))
                {
                    *over = Some(before);
                }
            }
            Effect::Control if call.argument == bits::F_SETFD => {
                let closes = call.flags & bits::FD_CLOEXEC != 0;
                self.descriptors.set_closes_at_execute(table, descriptor, closes);
            }
            // The number is of something else now.
            Effect::OpenOther => {
                self.descriptors.remove(table, new);
            }
            Effect::Unshare if call.flags & clone_flags::CLONE_FILES != 0 => self.unshare(call.task),
            Effect::CloseRange => self.close_range(call),
            _ => {}
        }
    }

    fn unshare(&mut self, task: TaskId) {
        if let Some(table) = self.tasks[task.0 as usize].table {
            self.tasks[task.0 as usize].table = Some(self.descriptors.unshare(table));
        }
    }

    fn close_range(&mut self, call: &Call) {
        if call.flags & bits::CLOSE_RANGE_UNSHARE != 0 {
            self.unshare(call.task);
        }
        let Some(table) = self.tasks[call.task.0 as usize].table else { return };
        // The last may be ~0U, however that is written.
        let first = call.offset.and_then(|first| i32::try_from(first).ok()).unwrap_or(i32::MAX);
        let last = i32::try_from(call.length).unwrap_or(i32::MAX);
        let mut closed = Vec::new();
        for number in self.descriptors.numbers(table, first, last) {
            if call.flags & bits::CLOSE_RANGE_CLOEXEC != 0 {
                self.descriptors.set_closes_at_execute(table, number, true);
            } else if let Some(Ok(origin)) = self.descriptors.remove(table, number).map(|known| known.origin)
            {
                closed.push(origin);
            }
        }
        if !closed.is_empty() {
            self.push(call.task, Ask::Execute(closed), call.start.0, 0);
        }
    }

    /// What others do with the descriptors of an item has to be done before: they are opened, and not used any more when they are closed.
    fn wait_for_descriptors(&mut self, task: TaskId, ask: &Ask, table: SharedId) {
        if !self.descriptors.is_shared(table) {
            return;
        }
        let closes = matches!(ask, Ask::Close(_));
        for descriptor in ask.descriptors() {
            let others: Vec<After> = match closes {
                true => self.descriptors.users(*descriptor).to_vec(),
                false => self.descriptors.opener(*descriptor).into_iter().collect(),
            };
            let others = others.into_iter().filter(|after| after.task != task.0);
            self.tasks[task.0 as usize].after.extend(others);
        }
    }

    fn note_uses(&mut self, task: TaskId, ask: &Ask) {
        let items = self.items_of(task);
        let opened = match ask {
            Ask::Open(_, _, new) => *new,
            Ask::Duplicate(_, new, _) => Some(*new),
            _ => None,
        };
        for descriptor in opened.iter().chain(ask.descriptors()) {
            self.descriptors.use_by(*descriptor, task.0, items);
        }
    }

    fn leave_out(&mut self, why: WhyLeftOut, call: &Call, tables: &Tables) {
        let name = tables.names.name(call.name).to_vec();
        let path = call.path.map_or_else(String::new, |path| path_text(tables.paths.path(path)));
        self.left_out.entry((why, name)).or_insert((0, path)).0 += 1;
    }
}

/// Whether it is a question to the file system about something that has a path.
fn is_on_storage(call: &Call, shape: &Shape) -> bool {
    let is_of_processes =
        matches!(shape.effect, Effect::Fork | Effect::Wait | Effect::WaitFor(_) | Effect::ChangeView);
    call.path.is_some() && !is_of_processes
}

impl Sink for Repeater {
    fn call(&mut self, call: &Call, tables: &Tables) -> io::Result<()> {
        self.follow(tables);
        let shape = self.shapes[usize::from(call.name.0)];
        let start = call.start.0;
        self.begin.get_or_insert(start);
        let table = self.begin_task(call.task, start, tables);
        let took = call.duration.map_or(0, |duration| duration.0);
        let of_task = &mut self.tasks[call.task.0 as usize];
        let since = of_task.last.replace(start.saturating_add(took)).unwrap_or(start);
        of_task.thought += start.saturating_sub(since.saturating_add(self.between));
        let counts = is_on_storage(call, &shape)
            && call.path.is_some_and(|path| self.mapped(path, tables) != Mapped::Ignored);
        if is_on_storage(call, &shape) {
            let mut asked = self.judge(call, &shape, table, tables);
            if let Ok(ask) = &asked {
                self.wait_for_descriptors(call.task, ask, table);
            }
            self.apply(call, &shape, &mut asked, tables);
            self.traced += u64::from(counts);
            match asked {
                Ok(ask) if counts => {
                    self.push(call.task, ask.clone(), start, call.errno);
                    self.note_uses(call.task, &ask);
                    self.repeated += 1;
                }
                Err(why) if counts => self.leave_out(why, call, tables),
                Ok(_) | Err(_) => {}
            }
            return Ok(());
        }
        self.apply(call, &shape, &mut Err(WhyLeftOut::UnknownDescriptor), tables);
        // Waiting for other tasks is done again, all else takes as long as it took.
        if !matches!(shape.effect, Effect::Fork | Effect::Wait | Effect::WaitFor(_)) {
            self.tasks[call.task.0 as usize].thought += took;
        }
        Ok(())
    }

    fn edge(&mut self, edge: &Edge, tables: &Tables) -> io::Result<()> {
        self.follow(tables);
        let at = self.tasks.get(edge.task.0 as usize).and_then(|task| task.last).unwrap_or(0);
        let table = self.begin_task(edge.task, at, tables);
        match edge.kind {
            EdgeKind::Fork(child) => {
                self.begin_task(child, at, tables);
            }
            EdgeKind::Execute => {
                self.unshare(edge.task);
                let table = self.tasks[edge.task.0 as usize].table.unwrap_or(table);
                let closed = self.descriptors.execute(table);
                self.push(edge.task, Ask::Execute(closed), at, 0);
                self.let_parent_go(edge.task);
            }
            EdgeKind::Over(moment) => {
                let of_task = &mut self.tasks[edge.task.0 as usize];
                let since = of_task.last.replace(moment.0).unwrap_or(moment.0);
                of_task.thought += moment.0.saturating_sub(since.saturating_add(self.between));
            }
            EdgeKind::Exit(_) => {
                self.push(edge.task, Ask::Wait, at, 0);
                self.let_parent_go(edge.task);
                self.descriptors.release(table);
            }
            EdgeKind::Wait(child) => {
                let items = self.items_of(child);
                self.tasks[edge.task.0 as usize].after.push(After { task: child.0, items });
                self.push(edge.task, Ask::Wait, at, 0);
            }
            EdgeKind::ChangeView => self.tasks[edge.task.0 as usize].is_elsewhere = true,
        }
        Ok(())
    }
}
