//! A trace becomes a repetition as it comes.

mod applying;

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use iolag_model::{LeftOut, Nanoseconds, ReplayCoverage, TracingCost, WhyLeftOut};

use super::bones::leads_down;
use super::descriptors::{Known, Tables as Descriptors};
use super::mapping::{Mapped, Scope};
use super::ordering::Order;
use super::own::Own;
use super::place::{At, Place, PlaceId};
use super::repetition::{After, Ask, Item, Repetition, TaskItems};
use super::translating::Asked;
use super::whereabouts::Whereabouts;
use crate::calls::{Effect, Shape, shape_of};
use crate::state::SharedId;
use crate::trace::{Call, Edge, EdgeKind, Map, PathId, Sharing, Sink, Tables, TaskId, lexical, path_text};

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
    /// Calls on files, by path of the trace.
    calls: Map<PathId, u64>,
    /// Paths that the program has changed, and the repetition does not.
    changed: BTreeSet<Vec<u8>>,
    /// What it changes that is the copy's own.
    own: Own,
    order: Order,
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
    /// How many items of each other task its items come after.
    followed: BTreeMap<u32, u32>,
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
            calls: Map::default(),
            changed: BTreeSet::new(),
            own: Own::default(),
            order: Order::default(),
            traced: 0,
            repeated: 0,
            left_out: BTreeMap::new(),
            others: Vec::new(),
            begin: None,
        }
    }

    /// Changes again what the program changes, in files of the copy's own.
    #[must_use]
    pub fn with_own(self, own: Own) -> Self {
        Self { own, ..self }
    }

    /// Where the calls of the trace lie, whatever of them is asked again.
    pub fn whereabouts(&self, tables: &Tables) -> Whereabouts {
        Whereabouts::of(&self.calls, &self.scope, tables)
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
            own: None,
            roots: Vec::new(),
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

    /// The task has begun by now; its first call may stand before the one that began it, and so may those above it.
    fn begin_task(&mut self, task: TaskId, at: u64, tables: &Tables) -> SharedId {
        let mut chain = vec![task];
        while let Some(parent) = chain.last().and_then(|task| parent_of(*task, tables)) {
            if self.tasks.get(parent.0 as usize).is_some_and(|task| task.table.is_some()) {
                break;
            }
            chain.push(parent);
        }
        let begun = chain.into_iter().rev().map(|task| self.begin_one(task, at, tables));
        begun.last().unwrap_or_else(|| self.descriptors.empty())
    }

    /// The same of a task whose parent has begun.
    fn begin_one(&mut self, task: TaskId, at: u64, tables: &Tables) -> SharedId {
        let number = task.0 as usize;
        if self.tasks.len() <= number {
            self.tasks.resize_with(number + 1, OfTask::default);
        }
        if let Some(table) = self.tasks[number].table {
            return table;
        }
        let sharing = tables.tasks.get(number).map_or(Sharing::NOTHING, |told| told.sharing);
        let parent = parent_of(task, tables);
        let of_parent = parent.and_then(|parent| Some((parent, self.tasks.get(parent.0 as usize)?.table?)));
        let table = match of_parent {
            None => {
                if task.0 > 0 {
                    self.others.push(task.0);
                }
                self.descriptors.empty()
            }
            Some((parent, of_parent)) => {
                self.push(parent, Ask::Fork(task.0), at, 0);
                if sharing.parent_waits() {
                    self.tasks[number].holds_parent = Some(parent);
                }
                let (items, is_elsewhere) =
                    (self.items_of(parent), self.tasks[parent.0 as usize].is_elsewhere);
                self.tasks[number].is_elsewhere = is_elsewhere;
                self.tasks[number].followed.insert(parent.0, items);
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

    /// The next item of a task comes after all of these, unless an earlier one does already.
    fn follow_all(&mut self, task: TaskId, others: Vec<After>) {
        let of_task = &mut self.tasks[task.0 as usize];
        for other in others.into_iter().filter(|other| other.task != task.0) {
            let followed = of_task.followed.entry(other.task).or_default();
            if *followed < other.items {
                *followed = other.items;
                of_task.after.push(other);
            }
        }
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
        let (scope, own) = (&self.scope, &self.own);
        let map = || {
            let path = tables.paths.path(path);
            match scope.map(path) {
                // By its name alone: nothing leads up in what is the copy's own.
                Mapped::To { map: 0, path: below } if !own.is_empty() && own.has(&lexical(path)) => {
                    Mapped::To { map: scope.own(), path: lexical(&below) }
                }
                mapped => mapped,
            }
        };
        self.mapped.entry(path).or_insert_with(map).clone()
    }

    fn is_own(&self, place: PlaceId) -> bool {
        self.places[place.0 as usize].map == self.scope.own()
    }

    /// The second path of a call, or what a link is to say.
    fn second(&mut self, call: &Call, shape: &Shape, tables: &Tables) -> Option<PlaceId> {
        let path = call.second?;
        let mapped = match shape.effect {
            Effect::MakeLink => {
                let text = tables.paths.path(path);
                Mapped::To { map: self.scope.own(), path: leads_down(text).then(|| text.to_vec())? }
            }
            _ => self.mapped(path, tables),
        };
        self.place(&mapped).filter(|place| self.is_own(*place))
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
        let second = if self.own.is_empty() { None } else { self.second(call, shape, tables) };
        let is_own = !self.own.is_empty() && place.is_some_and(|place| self.is_own(place));
        let asked = Asked { call, name, shape, place, known, at, second, is_own };
        let changes = asked.changes();
        let was_changed = self.was_changed(path);
        let ask = self.asked(&asked, (path, &mapped), was_changed);
        if changes && call.succeeded() && ask.is_err() && asked.changes_what_is_found() {
            self.note_changed(call, tables);
        }
        ask
    }

    fn asked(
        &self,
        asked: &Asked<'_>,
        (path, mapped): (&[u8], &Mapped),
        was_changed: bool,
    ) -> Result<Ask, WhyLeftOut> {
        let (call, shape, known) = (asked.call, asked.shape, asked.known);
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
        if is_by_name && *mapped == Mapped::No {
            return Err(WhyLeftOut::NotMapped);
        }
        let is_of_left_out = known.is_some_and(|known| known.origin.is_err());
        let looks = !asked.changes() || asked.is_own;
        if was_changed && looks && (is_by_name || !is_of_left_out) {
            return Err(WhyLeftOut::Changed);
        }
        asked.ask(self.descriptors.len())
    }

    fn leave_out(&mut self, why: WhyLeftOut, call: &Call, tables: &Tables) {
        let name = tables.names.name(call.name).to_vec();
        let path = call.path.map_or_else(String::new, |path| path_text(tables.paths.path(path)));
        self.left_out.entry((why, name)).or_insert((0, path)).0 += 1;
    }
}

/// Who began it, if that was seen before.
fn parent_of(task: TaskId, tables: &Tables) -> Option<TaskId> {
    let told = tables.tasks.get(task.0 as usize)?;
    told.parent.filter(|parent| *parent < task)
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
            call.path.into_iter().for_each(|path| *self.calls.entry(path).or_default() += 1);
            let mut asked = self.judge(call, &shape, table, tables);
            let mut uses = Vec::new();
            if let Ok(ask) = &asked {
                self.wait_for_descriptors(call.task, ask, table);
                if !self.own.is_empty() {
                    let place = call.path.and_then(|path| {
                        let mapped = self.mapped(path, tables);
                        self.place(&mapped)
                    });
                    uses = self.uses(ask, place);
                    self.wait_in_order(call.task, &uses);
                }
            }
            self.apply(call, &shape, &mut asked, tables);
            self.traced += u64::from(counts);
            match asked {
                Ok(ask) if counts => {
                    self.push(call.task, ask.clone(), start, call.errno);
                    self.note_uses(call.task, &ask);
                    self.note_order(call.task, &uses);
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
