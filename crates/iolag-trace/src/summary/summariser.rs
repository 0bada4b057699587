//! One pass over a trace.

use std::io;

use iolag_model::{Nanoseconds, TraceKind, TraceProgram, TraceSummary, TraceTime};

use super::lookups::{Found, Lookup, Lookups};
use super::never_back::NeverBack;
use super::places::{Ground, Places};
use super::repeats::Repeats;
use super::slowest::Slowest;
use super::time_line::TimeLine;
use super::tree::tree;
use super::vain::Vain;
use crate::calls::{Asks, Effect, Shape, shape_of};
use crate::trace::{Call, Edge, EdgeKind, PathId, Sink, Tables, TaskId, path_text};

const SEARCH_PATHS: usize = 10;
const REPEATED: usize = 20;
const VAIN: usize = 20;
const DIRECTORIES: usize = 1000;
const PROGRAMS: usize = 1000;

/// Counts what is in a trace as it comes.
#[derive(Debug, Default)]
pub struct Summariser {
    /// What tracing costs for each call, which is not the program's.
    overhead: u64,
    calls: u64,
    errors: u64,
    begin: Option<u64>,
    end: u64,
    /// When the task was over of which the next call, or the next end, is.
    last_end: Option<u64>,
    time: TraceTime,
    time_line: TimeLine,
    shapes: Vec<Shape>,
    kinds: Vec<TraceKind>,
    tasks: Vec<OfTask>,
    places: Places,
    lookups: Lookups,
    repeats: Repeats,
    vain: Vain,
    never_back: NeverBack,
    slowest: Slowest,
}

/// What is known of a task.
#[derive(Debug, Clone, Copy, Default)]
struct OfTask {
    /// When its last call ended, or, before its first, when it began.
    last: Option<u64>,
    /// When its last call began.
    began: u64,
    program: Option<PathId>,
    calls: u64,
    errors: u64,
    storage: u64,
}

impl Summariser {
    /// Of a trace in which each call cost this much more than without tracing. It is taken from the time between calls, never from what
    /// calls took.
    pub fn new(overhead: Nanoseconds) -> Self {
        Self { overhead: overhead.0, ..Self::default() }
    }

    /// What it comes to.
    pub fn finish(self, tables: &Tables) -> TraceSummary {
        let (lookups, search_paths) = self.lookups.finish(SEARCH_PATHS, &self.places);
        let mut kinds: Vec<TraceKind> = self.kinds.into_iter().filter(|kind| kind.calls > 0).collect();
        kinds.sort_by(|one, other| {
            (other.time_ns, other.calls, &one.name).cmp(&(one.time_ns, one.calls, &other.name))
        });
        let programs = programs(&self.tasks, tables);
        TraceSummary {
            calls: self.calls,
            errors: self.errors,
            tasks: tables.tasks.len() as u64,
            processes: programs.len() as u64,
            span_ns: Nanoseconds(self.end.saturating_sub(self.begin.unwrap_or(0))),
            time: self.time,
            time_line: self.time_line.finish(self.end),
            kinds,
            lookups,
            search_paths,
            in_vain: self.vain.finish(VAIN, &self.places, tables),
            repeats: self.repeats.finish(REPEATED, tables),
            directories: self.places.directories(DIRECTORIES),
            tree: tree(self.places.iter()),
            slowest: self.slowest.finish(tables),
            never_back: self.never_back.finish(tables),
            programs: programs.into_iter().take(PROGRAMS).collect(),
        }
    }

    fn follow(&mut self, tables: &Tables) {
        for name in tables.names.iter().skip(self.shapes.len()) {
            self.shapes.push(shape_of(name));
            self.kinds.push(TraceKind { name: path_text(name), ..TraceKind::default() });
        }
        self.tasks.resize(tables.tasks.len(), OfTask::default());
    }

    /// Time between a task's calls is its own, but for what tracing costs.
    fn between(&mut self, call: &Call, time: u64) {
        let task = &mut self.tasks[call.task.0 as usize];
        if let Some(last) = task.last {
            let own = call.start.0.saturating_sub(last).saturating_sub(self.overhead);
            self.time.processor_ns.0 = self.time.processor_ns.0.saturating_add(own);
            self.time_line.processor(last, call.start.0, own);
        }
        task.last = Some(call.start.0.saturating_add(time));
        task.began = call.start.0;
    }

    /// What was after the last call of a process. Its other threads wait for locks when it ends, or work: nobody sees that.
    fn worked_to_its_end(&mut self, task: TaskId, tables: &Tables) {
        let Some(end) = self.last_end.take().filter(|_| tables.tasks[task.0 as usize].process == task) else {
            return;
        };
        self.end = self.end.max(end);
        if let Some(last) = self.tasks[task.0 as usize].last.filter(|last| *last < end) {
            let own = (end - last).saturating_sub(self.overhead);
            self.time.processor_ns.0 = self.time.processor_ns.0.saturating_add(own);
            self.time_line.processor(last, end, own);
        }
    }

    fn question(&mut self, call: &Call, path: PathId, shape: &Shape, time: u64, tables: &Tables) {
        let (directory, name) = self.places.of(path, &tables.paths);
        self.places.count(directory, call.errno != 0 && call.came_back(), time);
        self.vain.observe(call, path, shape, time);
        let asks = shape.asks(call.flags);
        if asks == Asks::Changes && call.succeeded() {
            self.repeats.change(path);
            call.second.into_iter().for_each(|second| self.repeats.change(second));
        }
        if !shape.looks_up(call.flags) || !call.came_back() {
            return;
        }
        let found = if call.found_nothing() { Found::Nothing } else { Found::Something };
        self.lookups.observe(&Lookup { task: call.task, directory, name, found, time });
        if asks == Asks::Looks {
            let process = tables.tasks.get(call.task.0 as usize).map_or(call.task, |task| task.process);
            self.repeats.ask(call.name, path, process, time);
        }
    }
}

impl Sink for Summariser {
    fn call(&mut self, call: &Call, tables: &Tables) -> io::Result<()> {
        self.follow(tables);
        let shape = self.shapes[usize::from(call.name.0)];
        let time = call.duration.map_or(0, |duration| duration.0);
        let failed = u64::from(call.errno != 0);
        self.calls += 1;
        self.errors += failed;
        self.begin = Some(self.begin.map_or(call.start.0, |begin| begin.min(call.start.0)));
        self.end = self.end.max(call.start.0.saturating_add(time));
        self.time.untimed += u64::from(call.duration.is_none());
        let kind = &mut self.kinds[usize::from(call.name.0)];
        kind.calls += 1;
        kind.errors += failed;
        kind.time_ns.0 = kind.time_ns.0.saturating_add(time);
        kind.longest_ns = kind.longest_ns.max(Nanoseconds(time));
        self.between(call, time);
        let task = &mut self.tasks[call.task.0 as usize];
        task.calls += 1;
        task.errors += failed;
        let ground = call.path.filter(|_| !shape.waits_for_lock(call)).map(|path| {
            let (directory, _) = self.places.of(path, &tables.paths);
            self.places.ground(directory)
        });
        self.time_line.call(call.start.0, time, call.errno != 0, ground);
        if ground == Some(Ground::Storage) {
            task.storage = task.storage.saturating_add(time);
            self.time.storage_ns.0 = self.time.storage_ns.0.saturating_add(time);
        } else {
            self.time.elsewhere_ns.0 = self.time.elsewhere_ns.0.saturating_add(time);
        }
        self.never_back.observe(call, self.calls - 1, (&shape, ground));
        if shape.effect == Effect::Execute && call.succeeded() {
            task.program = call.path;
        }
        if let Some(path) = call.path {
            self.question(call, path, &shape, time, tables);
        }
        self.slowest.observe(call, self.calls - 1);
        Ok(())
    }

    fn edge(&mut self, edge: &Edge, tables: &Tables) -> io::Result<()> {
        self.follow(tables);
        match edge.kind {
            EdgeKind::Over(moment) => self.last_end = Some(moment.0),
            EdgeKind::Exit(ended) => {
                self.never_back.ended(edge.task, ended);
                self.worked_to_its_end(edge.task, tables);
            }
            EdgeKind::Fork(child) => {
                let OfTask { last, began, .. } = self.tasks[edge.task.0 as usize];
                let begin = tables.tasks[child.0 as usize].sharing.begins_at(began, last);
                self.tasks[child.0 as usize].last.get_or_insert(begin);
            }
            _ => {}
        }
        Ok(())
    }
}

/// The processes, each with what its threads did.
fn programs(of_tasks: &[OfTask], tables: &Tables) -> Vec<TraceProgram> {
    let mut places = vec![None; tables.tasks.len()];
    let mut programs: Vec<TraceProgram> = Vec::new();
    for (place, task) in tables.tasks.iter().enumerate() {
        let of_task = of_tasks.get(place).copied().unwrap_or_default();
        let TaskId(process) = task.process;
        let at = *places[process as usize].get_or_insert_with(|| {
            programs.push(TraceProgram {
                process: tables.tasks[process as usize].number,
                ..TraceProgram::default()
            });
            programs.len() - 1
        });
        let program = &mut programs[at];
        if let Some(path) = of_task.program {
            program.program = Some(path_text(tables.paths.path(path)));
        }
        program.calls += of_task.calls;
        program.errors += of_task.errors;
        program.storage_ns.0 = program.storage_ns.0.saturating_add(of_task.storage);
    }
    programs
}
