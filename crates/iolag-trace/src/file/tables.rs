//! Names, paths and tasks as bytes, and back.

use super::varint::{Bytes, put};
use crate::trace::{CallNames, PATH_BYTES_MAX, Paths, Sharing, Task, TaskId};

/// Names: length and bytes of each.
pub(super) fn put_names<'a>(names: impl Iterator<Item = &'a [u8]>, to: &mut Vec<u8>) {
    for name in names {
        put(name.len() as u64, to);
        to.extend_from_slice(name);
    }
}

/// Reads `count` more names into the list. Nothing if they are not what a writer writes.
pub(super) fn names(bytes: &mut Bytes<'_>, count: usize, names: &mut CallNames) -> Option<()> {
    for _ in 0..count {
        let length = bytes.small()?;
        let known = names.len();
        names.number(bytes.take(length)?)?;
        if names.len() == known {
            return None;
        }
    }
    Some(())
}

/// A path: how much of the one before it begins with, and the rest.
pub(super) fn put_path(before: &[u8], path: &[u8], to: &mut Vec<u8>) {
    let common = before.iter().zip(path).take_while(|(one, other)| one == other).count();
    put(common as u64, to);
    put((path.len() - common) as u64, to);
    to.extend_from_slice(&path[common..]);
}

/// Unpacked, the paths of a block are not longer: [`put_path`] makes small blocks of long paths.
pub(super) const PATHS_BYTES_MAX: usize = 16 << 20;

/// Reads `count` more paths into the table. The first continues the last of the block before.
pub(super) fn paths(bytes: &mut Bytes<'_>, count: usize, paths: &mut Paths) -> Option<()> {
    let mut path = paths.iter().last().unwrap_or_default().to_vec();
    let mut all_bytes = 0;
    for _ in 0..count {
        let common: usize = bytes.small()?;
        if common > path.len() {
            return None;
        }
        path.truncate(common);
        let rest = bytes.small()?;
        path.extend_from_slice(bytes.take(rest)?);
        all_bytes += path.len();
        let known = paths.len();
        paths.number(&path);
        if paths.len() == known || path.len() > PATH_BYTES_MAX || all_bytes > PATHS_BYTES_MAX + PATH_BYTES_MAX
        {
            return None;
        }
    }
    Some(())
}

/// Tasks: number, parent plus one, process, what is shared.
pub(super) fn put_tasks(tasks: &[Task], to: &mut Vec<u8>) {
    for task in tasks {
        put(u64::from(task.number), to);
        put(task.parent.map_or(0, |parent| u64::from(parent.0) + 1), to);
        put(u64::from(task.process.0), to);
        put(u64::from(task.sharing.0), to);
    }
}

/// Reads `count` more tasks into the list.
pub(super) fn tasks(bytes: &mut Bytes<'_>, count: usize, tasks: &mut Vec<Task>) -> Option<()> {
    for _ in 0..count {
        let own = tasks.len() as u64;
        let number = bytes.small()?;
        let (parent, process) = (bytes.number()?, bytes.number()?);
        // Who begins a task is there before it.
        if parent > own || process > own {
            return None;
        }
        let parent = parent.checked_sub(1).map(|parent| TaskId(parent as u32));
        let sharing = Sharing(bytes.small()?);
        tasks.push(Task { number, parent, process: TaskId(process as u32), sharing });
    }
    Some(())
}
