//! Two names of one directory: whatever differs between them differs by chance.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use iolag_backend::Target;
use iolag_model::{Nanoseconds, one_line};

use super::Side;
use crate::contact::scout::{Answer, ask};
use crate::failure::Failure;

/// How long is waited for the answer; a directory that does not answer is told by who measures in it.
const PATIENCE: Nanoseconds = Nanoseconds::from_seconds(5);

/// Refuses sides of which two are one directory by other names: `x` and `x/../x`, or a symbolic link and what it leads to. What a command
/// makes is not there before it.
///
/// # Errors
/// If there are such two, or the user does not want to wait.
pub(in crate::bench) fn refuse_one_directory<'a>(
    sides: impl Iterator<Item = &'a Side>,
) -> Result<(), Failure> {
    let mut named: Vec<(&Target, &Path)> = Vec::new();
    for side in sides.filter(|side| side.before.is_none() && side.after.is_none()) {
        if let Some(path) = side.target.directory()
            && !named.iter().any(|(target, _)| **target == side.target)
        {
            named.push((&side.target, path));
        }
    }
    if named.len() < 2 {
        return Ok(());
    }
    // By what it is: a directory that is mounted at a second place has two paths that are both whole.
    let identity = |path: &Path| {
        let found = path.metadata().ok()?;
        Some((found.dev(), found.ino(), path.canonicalize().ok()?.to_str()?.to_owned()))
    };
    let identify = || named.iter().map(|(_, path)| identity(path)).collect::<Vec<_>>();
    let Answer::Given(found) = ask("scout", PATIENCE, identify)? else { return Ok(()) };
    let known: Vec<(&Target, Target, String)> = named
        .iter()
        .zip(found)
        .filter_map(|((target, _), found)| {
            let (device, inode, path) = found?;
            // With what is wrapped around it, which is to differ.
            let identity = target.with_directory(Path::new(&format!("/{device}/{inode}")));
            Some((*target, identity, path))
        })
        .collect();
    for (at, (target, identity, path)) in known.iter().enumerate() {
        if let Some((other, ..)) = known[..at].iter().find(|(_, same, _)| same == identity) {
            let [other, target] = [other, target].map(|one| one_line(&one.to_string()));
            return Err(Failure::usage(format!(
                "{other} and {target} are one directory, {}: what differs would differ by chance; name another directory, or \
                 one of them, and how often it is measured",
                one_line(path)
            )));
        }
    }
    Ok(())
}
