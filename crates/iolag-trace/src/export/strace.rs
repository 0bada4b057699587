//! A trace as strace would have written it, with `-f -y` and times in nanoseconds.
//!
//! What a trace does not keep (buffers, arguments of programs) is `...`. Where the trace does not say when it was, it begins in 2001.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};

use crate::calls::{Effect, Group, Shape, bits, shape_of};
use crate::text::errno::errno_name;
use crate::text::quoted::{Brackets, escape_into};
use crate::text::signals::signal_name;
use crate::trace::{
    Call, CallName, DIRECTORY_OF_TASK, Edge, EdgeKind, Ended, PathId, Tables, Task, TaskId, Trace,
};

const SECOND: u64 = 1_000_000_000;
/// Later than any number of a process, earlier than any trace.
const SOME_BEGINNING: u64 = 1_000_000_000 * SECOND;

/// Writes all of a trace that began at this time, in ns since 1970.
///
/// # Errors
/// Those of the output.
pub fn write_strace(trace: &Trace, began: Option<u64>, output: &mut impl Write) -> io::Result<()> {
    let events = events(trace);
    let mut lines = Lines {
        trace,
        began: began.unwrap_or(SOME_BEGINNING),
        waited: waited(trace),
        shapes: trace.tables.names.iter().map(shape_of).collect(),
        text: Vec::new(),
    };
    for (place, event) in events.iter().enumerate() {
        let is = |other: Option<&Event>, call, phase| {
            other.is_some_and(|other| other.phase == phase && other.number == call)
        };
        match event.phase {
            // Nothing came between.
            Phase::Begin if is(events.get(place + 1), event.number, Phase::End) => {}
            Phase::Begin => lines.begin(event),
            Phase::End
                if is(
                    place.checked_sub(1).and_then(|before| events.get(before)),
                    event.number,
                    Phase::Begin,
                ) =>
            {
                lines.whole(event);
            }
            Phase::End => lines.resumed(event),
            Phase::Exit => lines.exit(event),
        }
        output.write_all(&lines.text)?;
        lines.text.clear();
    }
    Ok(())
}

/// Something that has a line, or is part of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    time: u64,
    /// The number of the call; of an end of a task, of the last call before it.
    number: usize,
    phase: Phase,
    /// Of an end of a task, its edge.
    edge: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    Begin,
    End,
    Exit,
}

/// Everything that happened, in the order of time.
fn events(trace: &Trace) -> Vec<Event> {
    let mut ends: Vec<u64> = Vec::with_capacity(trace.calls.len());
    let mut last_of: HashMap<TaskId, usize> = HashMap::new();
    for (number, call) in trace.calls.iter().enumerate() {
        // A task does one thing after the other, whatever rounding says.
        if let Some(before) = last_of.insert(call.task, number) {
            ends[before] = ends[before].min(call.start.0).max(trace.calls[before].start.0);
        }
        ends.push(call.start.0.saturating_add(call.duration.map_or(0, |duration| duration.0)));
    }
    let exits = trace.edges.iter().filter(|edge| matches!(edge.kind, EdgeKind::Exit(_)));
    let exited: HashSet<TaskId> = exits.map(|edge| edge.task).collect();
    let mut events = Vec::with_capacity(2 * trace.calls.len() + trace.edges.len());
    for (number, call) in trace.calls.iter().enumerate() {
        events.push(Event { time: call.start.0, number, phase: Phase::Begin, edge: 0 });
        // What a task ended by did not come back, and has a line of its own all the same.
        let is_last = last_of.get(&call.task) == Some(&number) && exited.contains(&call.task);
        if has_ended(call) || is_last {
            events.push(Event { time: ends[number], number, phase: Phase::End, edge: 0 });
        }
    }
    let mut over: HashMap<TaskId, u64> = HashMap::new();
    for (edge, Edge { kind, task, call }) in trace.edges.iter().enumerate() {
        match kind {
            EdgeKind::Over(moment) => _ = over.insert(*task, moment.0),
            EdgeKind::Exit(_) => {
                let before =
                    usize::try_from(*call).unwrap_or(usize::MAX).min(trace.calls.len()).saturating_sub(1);
                let own = last_of.get(task).copied().unwrap_or(before);
                let number = before.max(own);
                let time = |number: usize| ends.get(number).copied().unwrap_or(0);
                // Of what strace's text did not say when: the moment of the last call before.
                let known = over.remove(task).unwrap_or_else(|| time(before));
                events.push(Event { time: known.max(time(own)), number, phase: Phase::Exit, edge });
            }
            _ => {}
        }
    }
    events.sort_unstable();
    events
}

const fn has_ended(call: &Call) -> bool {
    call.result.is_some() || call.errno != 0 || call.duration.is_some()
}

/// The numbers of the tasks that calls waited for.
fn waited(trace: &Trace) -> HashMap<u64, u32> {
    let waits = trace.edges.iter().filter_map(|edge| match edge.kind {
        EdgeKind::Wait(child) => Some((edge.call, number_of(&trace.tables, child))),
        _ => None,
    });
    waits.collect()
}

fn number_of(tables: &Tables, task: TaskId) -> u32 {
    tables.tasks.get(task.0 as usize).map_or(0, |Task { number, .. }| *number)
}

struct Lines<'a> {
    trace: &'a Trace,
    began: u64,
    waited: HashMap<u64, u32>,
    shapes: Vec<Shape>,
    text: Vec<u8>,
}

impl<'a> Lines<'a> {
    fn begin(&mut self, event: &Event) {
        let call = self.call(event);
        self.columns(call.task, event.time);
        self.name(call.name);
        self.put("(");
        let first = self.text.len();
        self.arguments(call, event.number);
        // What only the end tells is told there: the beginning has the first argument, or what a new task shares. Of what does not end it is all.
        let known = match self.shape(call.name).effect {
            Effect::Fork => self.text.len(),
            _ if !has_ended(call) => self.text.len(),
            _ => first + first_argument(&self.text[first..]),
        };
        self.text.truncate(known);
        self.put(" <unfinished ...>\n");
    }

    fn resumed(&mut self, event: &Event) {
        let call = self.call(event);
        self.columns(call.task, event.time);
        self.put("<... ");
        self.name(call.name);
        self.put(" resumed>");
        let first = self.text.len();
        self.arguments(call, event.number);
        let known = match self.shape(call.name).effect {
            Effect::Fork => self.text.len(),
            _ => first + first_argument(&self.text[first..]),
        };
        self.text.drain(first..known);
        self.result(call);
    }

    fn whole(&mut self, event: &Event) {
        let call = self.call(event);
        self.columns(call.task, call.start.0);
        self.name(call.name);
        self.put("(");
        self.arguments(call, event.number);
        self.result(call);
    }

    fn exit(&mut self, event: &Event) {
        let Some(Edge { kind: EdgeKind::Exit(ended), task, .. }) = self.trace.edges.get(event.edge).copied()
        else {
            return;
        };
        self.columns(task, event.time);
        match ended {
            Ended::Exited(status) => self.put(&format!("+++ exited with {status} +++\n")),
            Ended::Killed(signal) => {
                let name = signal_name(signal).map(String::from_utf8_lossy);
                let name = name.map_or_else(|| format!("RT_{}", signal.saturating_sub(32)), String::from);
                self.put(&format!("+++ killed by SIG{name} +++\n"));
            }
            // Which thread took its place is told by that one's further calls, under another number: it ends here.
            Ended::Superseded => self.put("+++ exited with 0 +++\n"),
        }
    }

    fn call(&self, event: &Event) -> &'a Call {
        &self.trace.calls[event.number]
    }

    fn shape(&self, name: CallName) -> Shape {
        self.shapes.get(usize::from(name.0)).copied().unwrap_or(Shape::NONE)
    }

    fn put(&mut self, text: &str) {
        self.text.extend_from_slice(text.as_bytes());
    }

    fn name(&mut self, name: CallName) {
        self.text.extend_from_slice(self.trace.tables.names.name(name));
    }

    fn columns(&mut self, task: TaskId, time: u64) {
        let number = number_of(&self.trace.tables, task);
        let time = self.began.saturating_add(time);
        self.put(&format!("{number} {}.{:09} ", time / SECOND, time % SECOND));
    }

    fn result(&mut self, call: &Call) {
        self.put(") = ");
        match call.result {
            None => self.put("?"),
            Some(result) => self.put(&result.to_string()),
        }
        if call.errno != 0 {
            self.put(&format!(" {} (...)", errno_name(call.errno).unwrap_or("E?")));
        }
        if let Some(duration) = call.duration {
            self.put(&format!(" <{}.{:09}>", duration.0 / SECOND, duration.0 % SECOND));
        }
        self.put("\n");
    }

    fn arguments(&mut self, call: &Call, number: usize) {
        let shape = self.shape(call.name);
        match shape.effect {
            Effect::Fork => {
                // Those without arguments are known by their names.
                if self.trace.tables.names.name(call.name).starts_with(b"clone") {
                    self.put("child_stack=..., flags=");
                    Group::Clone.write(call.flags, &mut self.text);
                    self.put("|SIGCHLD");
                }
                return;
            }
            Effect::WaitFor(_) => {
                let child = self.waited.get(&(number as u64)).copied();
                let told = child.map_or("...".to_owned(), |child| format!("{{si_pid={child}}}"));
                self.put(&format!("..., ..., {told}, ..."));
                return;
            }
            _ => {}
        }
        for argument in 0..arguments_of(&shape) {
            if argument > 0 {
                self.put(", ");
            }
            self.argument(call, &shape, argument);
        }
    }

    fn argument(&mut self, call: &Call, shape: &Shape, argument: u8) {
        let is = |place: Option<u8>| place == Some(argument);
        let has = |place: Option<(u8, Group)>| {
            place.filter(|(place, _)| *place == argument).map(|(_, group)| group)
        };
        if is(shape.at) || is(shape.descriptor) {
            self.descriptor(call, is(shape.descriptor));
        } else if is(shape.path) {
            self.path(call.path);
        } else if is(shape.second_at) {
            self.put("AT_FDCWD");
        } else if is(shape.second) || shape.effect == Effect::Link(argument) {
            self.path(call.second);
        } else if shape.effect == Effect::Tell(argument) {
            self.path(call.path);
        } else if shape.effect == Effect::Attributes(argument) && call.succeeded() {
            self.put("{st_mode=");
            Group::Mode.write(call.argument, &mut self.text);
            self.put(&format!(", st_size={}, ...}}", call.length as i64));
        } else if let (Some(flags), Some(mode)) = (has(shape.flags), has(shape.argument)) {
            self.put("{flags=");
            flags.write(call.flags, &mut self.text);
            self.put(", mode=");
            mode.write(call.argument, &mut self.text);
            self.put("}");
        } else if let Some(group) = has(shape.flags) {
            group.write(call.flags, &mut self.text);
        } else if let Some(group) = has(shape.argument) {
            group.write(call.argument, &mut self.text);
        } else if is(shape.length) {
            self.put(&(call.length as i64).to_string());
        } else if let Some(offset) = call.offset.filter(|_| is(shape.offset)) {
            self.put(&(offset as i64).to_string());
        } else if shape.effect == Effect::Control && argument == 2 {
            match call.argument {
                bits::F_SETFL => Group::Open.write(call.flags, &mut self.text),
                _ => self.put(&call.flags.to_string()),
            }
        } else {
            self.put("...");
        }
    }

    /// A descriptor, and what it is of: its own path, but of a directory that a path is relative to only the number is kept.
    fn descriptor(&mut self, call: &Call, has_path: bool) {
        match call.descriptor {
            Some(DIRECTORY_OF_TASK) => self.put("AT_FDCWD"),
            Some(number) => self.put(&number.to_string()),
            None => self.put("..."),
        }
        let path = call.path.filter(|_| has_path).map(|path| self.trace.tables.paths.path(path));
        if let Some(path) = path.filter(|path| path.starts_with(b"/")) {
            self.put("<");
            escape_into(path, Brackets::Escaped, &mut self.text);
            self.put(">");
        }
    }

    fn path(&mut self, path: Option<PathId>) {
        let Some(path) = path else { return self.put("...") };
        self.put("\"");
        escape_into(self.trace.tables.paths.path(path), Brackets::Plain, &mut self.text);
        self.put("\"");
    }
}

/// How many arguments are written of such a call.
fn arguments_of(shape: &Shape) -> u8 {
    let of_effect = match shape.effect {
        Effect::Attributes(place) | Effect::Link(place) | Effect::Tell(place) | Effect::Pair(place) => {
            Some(place)
        }
        Effect::Control => Some(2),
        _ => None,
    };
    let places = [
        shape.path,
        shape.at,
        shape.second,
        shape.second_at,
        shape.descriptor,
        shape.flags.map(|(place, _)| place),
        shape.argument.map(|(place, _)| place),
        shape.length,
        shape.offset,
        of_effect,
    ];
    places.into_iter().flatten().max().map_or(0, |last| last + 1)
}

/// Where the first argument ends.
fn first_argument(text: &[u8]) -> usize {
    crate::text::arguments::end_of_first(text)
}
