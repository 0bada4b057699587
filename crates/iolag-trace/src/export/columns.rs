//! The columns of tables of calls, whichever form they are written in.

use std::borrow::Cow;

use crate::text::errno::errno_name;
use crate::trace::{Call, PathId, Tables, path_text};

/// What a column has in each row, if it has anything there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Number,
    Text,
}

/// A row's value in a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Cell<'a> {
    Number(Option<i64>),
    Text(Option<Cow<'a, str>>),
}

/// Names and kinds, in their order.
pub(super) const COLUMNS: [(&str, Kind); 16] = [
    ("call", Kind::Number),
    ("task", Kind::Number),
    ("process", Kind::Number),
    ("start_ns", Kind::Number),
    ("duration_ns", Kind::Number),
    ("name", Kind::Text),
    ("descriptor", Kind::Number),
    ("path", Kind::Text),
    ("second_path", Kind::Text),
    ("flags", Kind::Number),
    ("argument", Kind::Number),
    ("result", Kind::Number),
    ("errno", Kind::Number),
    ("error", Kind::Text),
    ("offset", Kind::Number),
    ("length", Kind::Number),
];

/// The row of the call with this number.
pub(super) fn row<'a>(number: u64, call: &Call, tables: &'a Tables) -> [Cell<'a>; COLUMNS.len()] {
    let task = tables.tasks.get(call.task.0 as usize);
    let process = task.and_then(|task| tables.tasks.get(task.process.0 as usize));
    let path = |path: Option<PathId>| Cell::Text(path.map(|path| path_text(tables.paths.path(path)).into()));
    let some = |value: i64| Cell::Number(Some(value));
    // What is unsigned and does not fit was negative.
    [
        some(number as i64),
        some(task.map_or(0, |task| task.number.into())),
        some(process.map_or(0, |process| process.number.into())),
        some(call.start.0 as i64),
        Cell::Number(call.duration.map(|duration| duration.0 as i64)),
        Cell::Text(Some(String::from_utf8_lossy(tables.names.name(call.name)))),
        Cell::Number(call.descriptor.map(i64::from)),
        path(call.path),
        path(call.second),
        some(call.flags.into()),
        some(call.argument.into()),
        Cell::Number(call.result),
        some(call.errno.into()),
        Cell::Text(errno_name(call.errno).map(Cow::Borrowed)),
        Cell::Number(call.offset.map(|offset| offset as i64)),
        some(call.length as i64),
    ]
}
