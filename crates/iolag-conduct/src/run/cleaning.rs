//! Cleaning up: in a child with a deadline, by descriptor, only what iolag made.

use std::sync::Arc;

use iolag_backend::{BackendError, PlaceProof, Target};
use iolag_keeper::{Messenger, Orphanage, Sleeps, halt, processor_use};
use iolag_model::{Clock, MonotonicClock, Nanoseconds};

use crate::messages::{MeasurerEnd, heard, tell};
use crate::placed::Placed;
use crate::run::interruption::{Interruption, Wish};
use crate::run::watched::Watched;

/// When working places are removed by the keeper's child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CleanUp {
    /// Whatever the measurers left.
    Everything,
    /// The same, unless who went there cannot be ended: whoever went there to remove it would only be the next. A single request is
    /// waited for 5 s, whatever the deadline of a probe is.
    UnlessHung,
    /// Nothing: a later phase goes on with it.
    Nothing,
}

/// How long a single request of cleaning up may take where nobody knows whether the directory is slow or hangs.
const PATIENCE_AFTER_HANG: Nanoseconds = Nanoseconds::from_seconds(5);

/// Removes what the measurers left; says what could not be removed.
pub fn clean_up(
    clean_up: CleanUp,
    watched: &Watched,
    planned: &[(Target, String)],
    run: &str,
    deadline: Nanoseconds,
    interruption: &mut Interruption<'_>,
) -> Vec<String> {
    let mut notices: Vec<_> = watched.ends.iter().flatten().flat_map(|end| end.leftovers.clone()).collect();
    if clean_up == CleanUp::Nothing || measurers_removed(watched) {
        return notices;
    }
    let hangs = |where_: String, is_server: bool| {
        let what = if is_server { "server" } else { "directory" };
        format!(
            "{where_} may still be there: the {what} hangs; remove it when it answers again, with: iolag cleanup {run}"
        )
    };
    // Who could be ended was not stuck: what hung was perhaps only slow.
    if clean_up == CleanUp::UnlessHung && !watched.abandoned.is_empty() {
        notices.extend(planned.iter().map(|(target, name)| {
            let place = format!("{}/{name}", target.to_string().trim_end_matches('/'));
            hangs(place, target.is_server())
        }));
        return notices;
    }
    let limit = match clean_up {
        CleanUp::UnlessHung => PATIENCE_AFTER_HANG,
        CleanUp::Everything | CleanUp::Nothing => deadline,
    };
    for place in watched.all_places() {
        // Only here is known who we are there, if that was typed.
        let known = planned.iter().map(|(target, _)| target).find(|target| target.to_string() == place.path);
        if watched.hung.contains(&place.target) {
            notices.push(hangs(place.whole_path(), known.is_some_and(Target::is_server)));
            continue;
        }
        // The first wish to end does not hold up cleaning up; the second does.
        let mut told_to_leave = || interruption.listen() == Wish::Leave || interruption.is_leaving();
        notices.extend(remove((place, known), run, limit, &mut told_to_leave));
    }
    notices
}

/// Whether all measurers removed what they made themselves, as far as it went.
pub fn measurers_removed(watched: &Watched) -> bool {
    let removed = |end: &Option<MeasurerEnd>| end.as_ref().is_some_and(|end| end.removed);
    !watched.ends.is_empty() && watched.ends.iter().all(removed)
}

/// Removes one working place of `run` in a child; says what is left. Ends early when told to leave. Without a known target it is the one
/// that was recorded, and who we are there is looked for in variables and files.
pub fn remove(
    (place, known): (&Placed, Option<&Target>),
    run: &str,
    deadline: Nanoseconds,
    told_to_leave: &mut dyn FnMut() -> bool,
) -> Vec<String> {
    const POLL: Nanoseconds = Nanoseconds::from_milliseconds(5);
    const GRACE: Nanoseconds = Nanoseconds::from_milliseconds(300);
    let where_ = place.whole_path();
    let child = Messenger::fork("clean-up", Orphanage::Survive, |_, outbox| {
        tell(&outbox, &remove_here(place, known, run));
        0
    });
    let Ok(mut child) = child else { return vec![format!("{where_} could not be removed: no process left")] };
    let (mut since, mut used_before) = (MonotonicClock.now(), 0);
    let mut sleeps = Sleeps::new(since);
    loop {
        let ended = child.child_mut().ending().is_some();
        if let Some(leftovers) = heard::<Vec<String>>(&mut child).into_iter().next() {
            return leftovers;
        }
        let now = MonotonicClock.now();
        sleeps.look(now);
        let used = processor_use(child.child().id()).unwrap_or(0);
        if used != used_before {
            (since, used_before) = (now, used);
        }
        let why = if ended {
            format!("the clean-up failed ({})", child.last_words())
        } else if told_to_leave() {
            "the clean-up was interrupted".to_owned()
        } else if sleeps.awake(since, now) > deadline {
            match halt(child.child().id()) {
                Some(halt) => format!("the clean-up was {halt} for {}", now.since(since)),
                None => format!("removing it has not been answered for {}", now.since(since)),
            }
        } else {
            MonotonicClock.sleep_until(now.after(POLL));
            continue;
        };
        child.child_mut().end(GRACE);
        return vec![format!(
            "{where_} may still be there: {why}; remove it later with: iolag cleanup {run}"
        )];
    }
}

fn remove_here(place: &Placed, known: Option<&Target>, run: &str) -> Vec<String> {
    let target = known.map_or_else(|| Target::parse(&place.path), |known| Ok(known.clone()));
    let removed = target.and_then(|target| {
        // What was in memory went with its process.
        if target.semantics().place == PlaceProof::Process {
            return Ok(Vec::new());
        }
        let backend = target.backend(&place.name, Arc::new(MonotonicClock))?;
        backend.expect_place(&place.expected());
        backend.remove_place()
    });
    match removed {
        Ok(leftovers) => {
            leftovers.into_iter().map(|left| format!("{} is left: {}", left.path, left.reason)).collect()
        }
        Err(error @ BackendError::Unmounted { .. }) => vec![format!("{error} {run}")],
        // Who meant to make it did not get that far: another is there.
        Err(BackendError::Claimed { .. } | BackendError::NotEmpty { .. } | BackendError::NotOurs { .. })
            if place.identity.is_none() =>
        {
            Vec::new()
        }
        Err(error) => vec![format!("{} could not be removed: {error}", place.whole_path())],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_went_with_its_process_is_not_looked_for_and_what_nobody_can_remove_is_told() {
        let removed = |path: &str| {
            let name = "iolag-work".to_owned();
            let (identity, token, file_system) = (None, None, None);
            remove_here(
                &Placed { target: 0, path: path.to_owned(), name, identity, token, file_system },
                None,
                "run",
            )
        };
        assert_eq!(removed("memory:"), Vec::<String>::new());
        assert_eq!(removed("delayed:1ms:memory:"), Vec::<String>::new());
        let left = removed("gsiftp://host/scratch");
        assert!(left[0].starts_with("gsiftp://host/scratch/iolag-work could not be removed: "), "{left:?}");
    }
}
