//! Two names of one directory: whatever differs between them differs by chance.

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
    let resolved = |path: &Path| path.canonicalize().ok()?.to_str().map(str::to_owned);
    let resolve = || named.iter().map(|(_, path)| resolved(path)).collect::<Vec<Option<String>>>();
    let Answer::Given(resolved) = ask("scout", PATIENCE, resolve)? else { return Ok(()) };
    let resolved = named.iter().zip(resolved);
    let known: Vec<(&Target, Target)> = resolved
        .filter_map(|((target, _), path)| Some((*target, target.with_directory(Path::new(&path?)))))
        .collect();
    for (at, (target, resolved)) in known.iter().enumerate() {
        if let Some((other, _)) = known[..at].iter().find(|(_, same)| same == resolved) {
            let [other, target, resolved] = [other, target, &resolved].map(|one| one_line(&one.to_string()));
            return Err(Failure::usage(format!(
                "{other} and {target} are one directory, {resolved}: what differs would differ by chance; name another directory, or \
                 one of them, and how often it is measured"
            )));
        }
    }
    Ok(())
}
