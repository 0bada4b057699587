//! Calls and edges as bytes, and back: column by column, since what is alike shrinks to nothing beside its like.

use iolag_model::Nanoseconds;

use super::varint::{Bytes, put, put_signed};
use crate::trace::{Call, CallName, Edge, EdgeKind, Ended, PathId, Tables, TaskId};

/// No block has more calls, edges or tasks: what is read is bounded by that.
pub(super) const BLOCK_THINGS_MAX: usize = 1 << 16;

/// Which of the optional columns a call has a value in.
const DURATION: u8 = 1;
const DESCRIPTOR: u8 = 2;
const PATH: u8 = 4;
const SECOND: u8 = 8;
const RESULT: u8 = 16;
const OFFSET: u8 = 32;

fn presence(call: &Call) -> u8 {
    let bit = |is_there: bool, bit: u8| if is_there { bit } else { 0 };
    bit(call.duration.is_some(), DURATION)
        | bit(call.descriptor.is_some(), DESCRIPTOR)
        | bit(call.path.is_some(), PATH)
        | bit(call.second.is_some(), SECOND)
        | bit(call.result.is_some(), RESULT)
        | bit(call.offset.is_some(), OFFSET)
}

/// Appends calls.
pub(super) fn put_calls(calls: &[Call], to: &mut Vec<u8>) {
    to.extend(calls.iter().map(presence));
    calls.iter().for_each(|call| put(u64::from(call.task.0), to));
    calls.iter().for_each(|call| put(u64::from(call.name.0), to));
    differences(calls.iter().map(|call| call.start.0), to);
    calls.iter().filter_map(|call| call.duration).for_each(|duration| put(duration.0, to));
    calls.iter().filter_map(|call| call.descriptor).for_each(|number| put_signed(number.into(), to));
    differences(calls.iter().filter_map(|call| call.path).map(|path| path.0.into()), to);
    differences(calls.iter().filter_map(|call| call.second).map(|path| path.0.into()), to);
    calls.iter().for_each(|call| put(call.flags.into(), to));
    calls.iter().for_each(|call| put(call.argument.into(), to));
    calls.iter().filter_map(|call| call.result).for_each(|result| put_signed(result, to));
    calls.iter().for_each(|call| put(call.errno.into(), to));
    calls.iter().filter_map(|call| call.offset).for_each(|offset| put_signed(offset as i64, to));
    calls.iter().for_each(|call| put_signed(call.length as i64, to));
}

fn differences(values: impl Iterator<Item = u64>, to: &mut Vec<u8>) {
    let mut before = 0_u64;
    for value in values {
        put_signed(value.wrapping_sub(before) as i64, to);
        before = value;
    }
}

/// Reads `count` calls. Nothing if they are not what a writer writes, or are about what the tables do not have.
pub(super) fn calls(bytes: &mut Bytes<'_>, count: usize, tables: &Tables) -> Option<Vec<Call>> {
    let present = bytes.take(Some(count).filter(|count| *count <= BLOCK_THINGS_MAX)?)?;
    let mut calls = vec![Call::new(TaskId(0), CallName(0), Nanoseconds::ZERO); count];
    let having = |bit: u8| move |(_, present): &(&mut Call, &u8)| *present & bit != 0;
    for call in &mut calls {
        let task: u32 = bytes.small()?;
        call.task = TaskId(Some(task).filter(|task| (*task as usize) < tables.tasks.len())?);
    }
    for call in &mut calls {
        let name: u16 = bytes.small()?;
        call.name = CallName(Some(name).filter(|name| usize::from(*name) < tables.names.len())?);
    }
    let mut start = 0_u64;
    for call in &mut calls {
        start = start.wrapping_add(bytes.signed()? as u64);
        call.start = Nanoseconds(start);
    }
    for (call, _) in calls.iter_mut().zip(present).filter(having(DURATION)) {
        call.duration = Some(Nanoseconds(bytes.number()?));
    }
    for (call, _) in calls.iter_mut().zip(present).filter(having(DESCRIPTOR)) {
        call.descriptor = Some(i32::try_from(bytes.signed()?).ok()?);
    }
    let mut path = PathColumn::new(tables);
    for (call, _) in calls.iter_mut().zip(present).filter(having(PATH)) {
        call.path = Some(path.next(bytes)?);
    }
    let mut second = PathColumn::new(tables);
    for (call, _) in calls.iter_mut().zip(present).filter(having(SECOND)) {
        call.second = Some(second.next(bytes)?);
    }
    for call in &mut calls {
        call.flags = bytes.small()?;
    }
    for call in &mut calls {
        call.argument = bytes.small()?;
    }
    for (call, _) in calls.iter_mut().zip(present).filter(having(RESULT)) {
        call.result = Some(bytes.signed()?);
    }
    for call in &mut calls {
        call.errno = bytes.small()?;
    }
    for (call, _) in calls.iter_mut().zip(present).filter(having(OFFSET)) {
        call.offset = Some(bytes.signed()? as u64);
    }
    for call in &mut calls {
        call.length = bytes.signed()? as u64;
    }
    Some(calls)
}

/// Paths by their differences, each in the table.
struct PathColumn {
    before: i64,
    paths: i64,
}

impl PathColumn {
    fn new(tables: &Tables) -> Self {
        Self { before: 0, paths: tables.paths.len() as i64 }
    }

    fn next(&mut self, bytes: &mut Bytes<'_>) -> Option<PathId> {
        self.before = self.before.checked_add(bytes.signed()?)?;
        (0..self.paths).contains(&self.before).then_some(PathId(self.before as u32))
    }
}

/// Kinds of edges. The numbers are format.
const FORK: u64 = 1;
const EXECUTE: u64 = 2;
const EXIT: u64 = 3;
const WAIT: u64 = 4;
const CHANGE_VIEW: u64 = 5;
const OVER: u64 = 6;
/// How tasks end: a status, these and a signal, or this.
const KILLED: u64 = 256;
const SUPERSEDED: u64 = 512;

/// Appends edges.
pub(super) fn put_edges(edges: &[Edge], to: &mut Vec<u8>) {
    for edge in edges {
        let (kind, detail) = match edge.kind {
            EdgeKind::Fork(child) => (FORK, u64::from(child.0)),
            EdgeKind::Execute => (EXECUTE, 0),
            EdgeKind::Over(moment) => (OVER, moment.0),
            EdgeKind::Exit(Ended::Exited(status)) => (EXIT, u64::from(status)),
            EdgeKind::Exit(Ended::Killed(signal)) => (EXIT, KILLED + u64::from(signal)),
            EdgeKind::Exit(Ended::Superseded) => (EXIT, SUPERSEDED),
            EdgeKind::Wait(child) => (WAIT, u64::from(child.0)),
            EdgeKind::ChangeView => (CHANGE_VIEW, 0),
        };
        put(kind, to);
        put(u64::from(edge.task.0), to);
        put(edge.call, to);
        put(detail, to);
    }
}

/// Reads `count` edges; of kinds that a newer iolag knows, none.
pub(super) fn edges(bytes: &mut Bytes<'_>, count: usize, tables: &Tables) -> Option<Vec<Edge>> {
    if count > BLOCK_THINGS_MAX {
        return None;
    }
    let task = |number: u64| (number < tables.tasks.len() as u64).then_some(TaskId(number as u32));
    let mut edges = Vec::new();
    for _ in 0..count {
        let (kind, of, call, detail) = (bytes.number()?, bytes.number()?, bytes.number()?, bytes.number()?);
        let kind = match kind {
            FORK => EdgeKind::Fork(task(detail)?),
            EXECUTE => EdgeKind::Execute,
            OVER => EdgeKind::Over(Nanoseconds(detail)),
            EXIT if detail == SUPERSEDED => EdgeKind::Exit(Ended::Superseded),
            EXIT if detail >= KILLED => EdgeKind::Exit(Ended::Killed(u8::try_from(detail - KILLED).ok()?)),
            EXIT => EdgeKind::Exit(Ended::Exited(u8::try_from(detail).ok()?)),
            WAIT => EdgeKind::Wait(task(detail)?),
            CHANGE_VIEW => EdgeKind::ChangeView,
            _ => continue,
        };
        edges.push(Edge { kind, task: task(of)?, call });
    }
    Some(edges)
}
