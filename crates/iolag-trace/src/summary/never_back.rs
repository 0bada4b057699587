//! Calls on files and directories that never came back.
//!
//! A call without a result is one, and one that was interrupted (`ERESTARTSYS`), if nothing more of its task follows but its end by a signal: who goes on
//! has learned something.
//!
//! Limits: who opens a named pipe waits for whoever opens its other end, and is told as one that waits for storage, unless its attributes were
//! asked before.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

use iolag_model::{CallWithoutEnd, TraceNeverBack, WaitEnd};

use super::places::Ground;
use super::slowest::told;
use crate::calls::{Effect, Shape};
use crate::trace::{Call, Ended, PathId, Tables, TaskId};

/// A program that is ended has few tasks that hang.
const KEPT: usize = 1000;

const FILE_TYPE: u32 = 0o170_000;
/// Pipes, devices for characters, sockets.
const OF_STREAMS: [u32; 3] = [0o010_000, 0o020_000, 0o140_000];

/// A call of which nobody knows yet what comes of it.
#[derive(Debug, Clone, Copy)]
struct Open {
    number: u64,
    call: Call,
}

/// Calls that have not come back.
#[derive(Debug, Default)]
pub(super) struct NeverBack {
    open: BTreeMap<TaskId, Open>,
    over: Vec<(Open, WaitEnd)>,
    calls: u64,
    streams: HashSet<PathId>,
}

impl NeverBack {
    /// A call, with its number in the trace.
    pub(super) fn observe(&mut self, call: &Call, number: u64, (shape, ground): (&Shape, Option<Ground>)) {
        // Its task goes on: whatever was before has come back, though the text may not say so.
        if !self.open.is_empty() {
            self.open.remove(&call.task);
        }
        let Some(path) = call.path else { return };
        if matches!(shape.effect, Effect::Attributes(_)) && OF_STREAMS.contains(&(call.argument & FILE_TYPE))
        {
            self.streams.insert(path);
        }
        if !call.came_back()
            && ground == Some(Ground::Storage)
            && !self.streams.contains(&path)
            && !shape.waits_for_lock(call)
        {
            self.open.insert(call.task, Open { number, call: *call });
        }
    }

    /// A task has ended.
    pub(super) fn ended(&mut self, task: TaskId, ended: Ended) {
        let Some(open) = self.open.remove(&task) else { return };
        match ended {
            Ended::Killed(signal) => self.keep(open, WaitEnd::Killed(signal)),
            Ended::Exited(_) | Ended::Superseded => self.keep(open, WaitEnd::ProcessEnded),
        }
    }

    fn keep(&mut self, open: Open, until: WaitEnd) {
        self.calls += 1;
        self.over.push((open, until));
        if self.over.len() >= 2 * KEPT {
            self.cut();
        }
    }

    fn cut(&mut self) {
        self.over.sort_by_key(|(open, _)| (Reverse(open.call.duration), open.number));
        self.over.truncate(KEPT);
    }

    /// Those that had waited longest.
    pub(super) fn finish(mut self, tables: &Tables) -> TraceNeverBack {
        for open in std::mem::take(&mut self.open).into_values() {
            self.keep(open, WaitEnd::TraceEnded);
        }
        self.cut();
        let longest = self.over.iter().map(|(Open { number, call }, until)| CallWithoutEnd {
            call: told(call, *number, tables),
            until: *until,
        });
        TraceNeverBack { calls: self.calls, longest: longest.collect() }
    }
}
