//! Where the time that passes while a command is traced goes.
//!
//! Each call is one kind of activity, and the time between the calls of a task another ([`Kind`]). A moment in which several tasks do something is divided among
//! them; who only waits gets what the others leave, and who waits for other tasks what is left then ([`Bins`](super::bins::Bins)).
//!
//! What the stops of tracing take, by calls that were traced just before, is taken from both: from calls, which seem longer by it, and from the time between them.
//! Limits: moments are told apart to a ten-thousandth of the whole; a call on a descriptor is what was opened by the name that was asked for, wherever a symbolic
//! link leads; of several descriptors that are waited for at the same time the one that was spoken through last is taken for the one.

use std::collections::HashMap;
use std::io;

use iolag_model::{Nanoseconds, TraceActivity, TraceElapsed, TraceMount, TracingCost};

use super::bins::Bins;
use super::kinds::{Kind, Mounts, Place, is_network, is_poll, is_sleep};
use crate::calls::{Effect, Shape, shape_of};
use crate::trace::{Call, Edge, EdgeKind, Peer, Sink, Tables, TaskId};

/// Divides the time of a trace as it comes.
#[derive(Debug)]
pub struct Divider {
    /// What a stop takes between two calls, and what it adds to one.
    between: u64,
    within: u64,
    mounts: Mounts,
    shapes: Vec<(Shape, ByName)>,
    tasks: Vec<OfTask>,
    /// Who is spoken with through which descriptor of which process.
    peers: HashMap<(TaskId, i32), Peer>,
    bins: Bins,
    /// By number of the kind.
    calls: Vec<u64>,
    begin: Option<u64>,
    end: u64,
    /// When the task ends of which the next call is the last.
    last_end: Option<u64>,
    /// Calls of which nobody has seen the end: since when.
    unfinished: Vec<(Kind, u64)>,
}

#[derive(Debug, Clone, Copy, Default)]
struct OfTask {
    /// When its last call ended, or, before its first, when it began.
    last: Option<u64>,
    /// When its last call began.
    began: u64,
    /// With whom it spoke by its last call.
    spoke: Option<Peer>,
}

/// What the name of a call says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ByName {
    Network,
    Poll,
    Sleep,
    /// It does not come back.
    Exit,
    Other,
}

impl ByName {
    fn of(name: &[u8]) -> Self {
        match name {
            b"exit" | b"exit_group" => Self::Exit,
            name if is_network(name) => Self::Network,
            name if is_poll(name) => Self::Poll,
            name if is_sleep(name) => Self::Sleep,
            _ => Self::Other,
        }
    }
}

impl Divider {
    /// Of a trace whose calls cost this, on a machine where this is mounted.
    pub fn new(cost: TracingCost, mounts: &[TraceMount]) -> Self {
        Self {
            between: cost.between_ns.median.0,
            within: cost.within_ns.median.0,
            mounts: Mounts::new(mounts),
            shapes: Vec::new(),
            tasks: Vec::new(),
            peers: HashMap::new(),
            bins: Bins::default(),
            calls: Vec::new(),
            begin: None,
            end: 0,
            last_end: None,
            unfinished: Vec::new(),
        }
    }

    /// What it comes to. All tasks used a processor for `processor`; the trace was watched until `until`, on its own clock, if that is known: what had not come back
    /// then lasted until then.
    pub fn finish(mut self, processor: Nanoseconds, until: Option<Nanoseconds>) -> TraceElapsed {
        if let Some(until) = until.filter(|_| !self.unfinished.is_empty()) {
            self.end = self.end.max(until.0);
        }
        for (kind, since) in std::mem::take(&mut self.unfinished) {
            self.bins.add(kind.0, since, self.end);
        }
        self.join_threads(processor);
        let between = self.bins.sum(Kind::PROCESSOR.0);
        let worked = if between == 0 { 1.0 } else { (processor.0 as f64 / between as f64).min(1.0) };
        self.bins.split(Kind::PROCESSOR.0, worked, Kind::UNKNOWN.0);
        let begin = self.begin.unwrap_or(0);
        let (mut parts, nobody) = self.bins.divide(begin, self.end, |kind| Kind(kind).rank());
        parts[Kind::UNKNOWN.0] += nobody;
        let part = |kind: usize| Nanoseconds(parts[kind].round() as u64);
        let told = (0..parts.len()).filter_map(|kind| {
            Some(TraceActivity {
                kind: Kind(kind).told(&self.mounts)?,
                elapsed_ns: part(kind),
                tasks_ns: Nanoseconds(self.bins.sum(kind)),
                calls: self.calls.get(kind).copied().unwrap_or(0),
            })
        });
        let mut activities: Vec<_> = told.filter(|told| told.elapsed_ns.0 > 0 || told.calls > 0).collect();
        activities.sort_by_key(|told| std::cmp::Reverse(told.elapsed_ns));
        TraceElapsed {
            span_ns: Nanoseconds(self.end.saturating_sub(begin)),
            tracing_ns: part(Kind::TRACING.0),
            activities,
        }
    }

    fn follow(&mut self, tables: &Tables) {
        for name in tables.names.iter().skip(self.shapes.len()) {
            self.shapes.push((shape_of(name), ByName::of(name)));
        }
        self.tasks.resize(tables.tasks.len(), OfTask::default());
    }

    /// Whose time a call takes, and with whom it speaks.
    fn kind(&mut self, call: &Call, tables: &Tables) -> (Kind, Option<Peer>) {
        let (shape, by_name) = self.shapes[usize::from(call.name.0)];
        let process = process_of(call.task, tables);
        let spoken = call.descriptor.and_then(|descriptor| self.peers.get(&(process, descriptor)).copied());
        let peer = match by_name {
            ByName::Poll => self.tasks[call.task.0 as usize].spoke,
            ByName::Network => spoken.or(Some(Peer::Other)),
            _ => spoken,
        };
        let kind = match (call.path.map(|path| self.mounts.of(path, &tables.paths)), shape.effect) {
            (_, Effect::Fork | Effect::Wait | Effect::WaitFor(_)) => Kind::PROCESSES,
            (Some(Place::Names), _) => Kind::NAME_SERVICE,
            (Some(Place::System), _) => Kind::OTHERS,
            (Some(_), _) if shape.waits_for_lock(call) => Kind::OTHERS,
            (Some(Place::Mounted(mount)), _) if is_absent(call, &shape) => Kind::look_ups(mount),
            (Some(Place::Mounted(mount)), _) => Kind::storage(mount),
            (None, _) if by_name == ByName::Sleep => Kind::TIME,
            (None, _) => match peer {
                Some(Peer::NameService) => Kind::NAME_SERVICE,
                Some(Peer::Other) => Kind::NETWORK,
                None => Kind::OTHERS,
            },
        };
        (kind, peer)
    }

    /// Counts a call and the time before it.
    fn count(&mut self, call: &Call, kind: Kind, tables: &Tables) {
        if self.calls.len() <= kind.0 {
            self.calls.resize(kind.0 + 1, 0);
        }
        self.calls[kind.0] += 1;
        let start = call.start.0;
        self.begin = Some(self.begin.map_or(start, |begin| begin.min(start)));
        if let Some(last) = self.tasks[call.task.0 as usize].last {
            let goes_on = last.saturating_add(self.between).min(start);
            self.bins.add(Kind::TRACING.0, last, goes_on);
            self.bins.add(Kind::PROCESSOR.0, goes_on, start);
        }
        let does_end = self.shapes[usize::from(call.name.0)].1 == ByName::Exit;
        let end = match (call.duration, self.last_end) {
            (Some(duration), _) => start.saturating_add(duration.0),
            (None, _) if does_end => start,
            (None, Some(end)) => end.max(start),
            (None, None) => {
                if call.result.is_none() {
                    self.unfinished.push((kind, start));
                }
                start
            }
        };
        let begun = start.saturating_add(self.within).min(end);
        self.bins.add(Kind::TRACING.0, start, begun);
        self.bins.add(kind.0, begun, end);
        let shape = self.shapes[usize::from(call.name.0)].0;
        self.end = self.end.max(end);
        let task = &mut self.tasks[call.task.0 as usize];
        (task.began, task.last) = (start, Some(end));
        if shape.effect == Effect::Close
            && let Some(descriptor) = call.descriptor
        {
            self.peers.remove(&(process_of(call.task, tables), descriptor));
        }
    }

    /// What was after the last call of a task. Of a process it is work; its other threads may as well wait for locks until it ends.
    fn worked_to_its_end(&mut self, task: TaskId, tables: &Tables) {
        let (Some(end), Some(last)) = (self.last_end.take(), self.tasks[task.0 as usize].last) else {
            return;
        };
        let kind = if process_of(task, tables) == task { Kind::PROCESSOR } else { Kind::TO_ITS_END };
        self.bins.add(kind.0, last, end);
    }

    /// Threads that make no calls worked until their end as far as the processor time that all used is not that of others.
    fn join_threads(&mut self, processor: Nanoseconds) {
        let more = processor.0.saturating_sub(self.bins.sum(Kind::PROCESSOR.0)) as f64;
        let worked = (more / (self.bins.sum(Kind::TO_ITS_END.0) as f64).max(1.0)).min(1.0);
        self.bins.split(Kind::TO_ITS_END.0, 1.0 - worked, Kind::PROCESSOR.0);
        self.bins.clear(Kind::TO_ITS_END.0);
    }
}

/// Whether it looked for a name and found none.
const fn is_absent(call: &Call, shape: &Shape) -> bool {
    call.found_nothing() && shape.looks_up(call.flags)
}

fn process_of(task: TaskId, tables: &Tables) -> TaskId {
    tables.tasks.get(task.0 as usize).map_or(task, |task| task.process)
}

impl Sink for Divider {
    fn call(&mut self, call: &Call, tables: &Tables) -> io::Result<()> {
        self.follow(tables);
        let (kind, peer) = self.kind(call, tables);
        self.tasks[call.task.0 as usize].spoke = peer;
        self.count(call, kind, tables);
        Ok(())
    }

    fn edge(&mut self, edge: &Edge, tables: &Tables) -> io::Result<()> {
        self.follow(tables);
        match edge.kind {
            EdgeKind::Over(moment) => {
                self.last_end = Some(moment.0);
                self.end = self.end.max(moment.0);
            }
            EdgeKind::Exit(_) => self.worked_to_its_end(edge.task, tables),
            EdgeKind::Fork(child) => {
                let OfTask { last, began, .. } = self.tasks[edge.task.0 as usize];
                let begin = tables.tasks[child.0 as usize].sharing.begins_at(began, last);
                self.tasks[child.0 as usize].last.get_or_insert(begin);
            }
            _ => {}
        }
        Ok(())
    }

    fn speaks(&mut self, task: TaskId, descriptor: i32, peer: Peer, tables: &Tables) {
        self.peers.insert((process_of(task, tables), descriptor), peer);
    }
}

#[cfg(test)]
mod tests;
