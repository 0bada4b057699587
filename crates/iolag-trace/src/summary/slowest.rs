//! The calls that took longest.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use iolag_model::TraceCall;

use crate::trace::{Call, Tables, path_text};

const SLOWEST: usize = 20;

/// The calls that took longest so far.
#[derive(Debug, Default)]
pub(super) struct Slowest {
    calls: BinaryHeap<Reverse<Slow>>,
}

/// A call, by how long it took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Slow {
    duration: u64,
    number: u64,
    call: Call,
}

impl Ord for Slow {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        // Of equals the first.
        (self.duration, Reverse(self.number)).cmp(&(other.duration, Reverse(other.number)))
    }
}

impl PartialOrd for Slow {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Slowest {
    /// A call, with its number in the trace. Of most calls it is enough to compare.
    pub(super) fn observe(&mut self, call: &Call, number: u64) {
        let duration = call.duration.map_or(0, |duration| duration.0);
        let is_full = self.calls.len() >= SLOWEST;
        let fastest = self.calls.peek().map_or(0, |Reverse(fastest)| fastest.duration);
        if duration == 0 || is_full && duration <= fastest {
            return;
        }
        if is_full {
            self.calls.pop();
        }
        self.calls.push(Reverse(Slow { duration, number, call: *call }));
    }

    /// All of them, the longest first.
    pub(super) fn finish(self, tables: &Tables) -> Vec<TraceCall> {
        let order = self.calls.into_sorted_vec().into_iter();
        order.map(|Reverse(slow)| told(&slow.call, slow.number, tables)).collect()
    }
}

/// A call, with its number in the trace, as it is told.
pub(super) fn told(call: &Call, number: u64, tables: &Tables) -> TraceCall {
    TraceCall {
        call: number,
        name: path_text(tables.names.name(call.name)),
        path: call.path.map(|path| path_text(tables.paths.path(path))),
        task: tables.tasks.get(call.task.0 as usize).map_or(0, |task| task.number),
        start_ns: call.start,
        duration_ns: call.duration.unwrap_or_default(),
        errno: call.errno,
    }
}
