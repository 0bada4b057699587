//! Whether there is room for what a run makes, before the first byte.

use std::path::Path;

use iolag_model::{Nanoseconds, format_bytes, format_count};
use rustix::fs::{Mode, OFlags, fstatvfs, open, syncfs};

use crate::bench::Benched;
use crate::bench::stream::copying::are_one;
use crate::contact::scout::{Answer, ask};
use crate::failure::Failure;
use crate::messages::DirectoryFacts;

/// How long writing back may take.
const PATIENCE: Nanoseconds = Nanoseconds::from_seconds(60);

/// Files and their copies have room each in its own place; in one file system, both.
///
/// # Errors
/// If there is too little in one of them.
pub(super) fn refuse_too_little_space(
    [facts, there]: [Option<&DirectoryFacts>; 2],
    bench: &dyn Benched,
    clients: u32,
) -> Result<(), Failure> {
    let share = match facts.zip(there) {
        Some((facts, there)) if !are_one(facts, there) => 2,
        _ => 1,
    };
    let mut places = facts.into_iter().chain(there).filter(|_| bench.makes_working_set());
    let (bytes, objects) = (bench.bytes_held(clients) / share, bench.objects_held(clients) / share);
    places.try_for_each(|facts| refuse_full(facts, bench, (bytes, objects)))
}

fn refuse_full(
    facts: &DirectoryFacts,
    bench: &dyn Benched,
    (needed, objects): (u64, u64),
) -> Result<(), Failure> {
    let (sizes, numbers) = bench.sizes();
    if let Some(free) = facts.file_system.free_bytes.filter(|free| *free < needed)
        && let free = free_after_sync(&facts.path)?.unwrap_or(free)
        && free < needed
    {
        return Err(Failure::unusable(format!(
            "cannot measure in {}: {} are free and the working set needs {}; free some space, or reduce {sizes}",
            facts.path.display(),
            format_bytes(free),
            format_bytes(needed)
        )));
    }
    if let Some(free) = facts.file_system.free_inodes
        // File systems that make inodes as they go report none at all.
        && free > 0
        && free < objects
    {
        return Err(Failure::unusable(format!(
            "cannot measure in {}: {} inodes are free and the working set needs {}; reduce {numbers}",
            facts.path.display(),
            format_count(free),
            format_count(objects)
        )));
    }
    Ok(())
}

/// What is free when all is written back: btrfs has the room of removed files only then. Nothing if that is not told.
fn free_after_sync(path: &Path) -> Result<Option<u64>, Failure> {
    let look = || -> Option<u64> {
        let directory = open(path, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).ok()?;
        syncfs(&directory).ok()?;
        let found = fstatvfs(&directory).ok()?;
        found.f_bavail.checked_mul(found.f_frsize)
    };
    Ok(match ask("scout", PATIENCE, look)? {
        Answer::Given(free) => free,
        Answer::None { .. } => None,
    })
}
