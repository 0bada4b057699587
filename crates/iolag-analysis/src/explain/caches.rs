//! The first time against the second.

use iolag_model::{CacheWord, Caches, Counted, Nanoseconds, Probed, SeenPlace, ServedBy};

/// Of less nothing can be told.
const FIRST_LEAST: Nanoseconds = Nanoseconds::from_milliseconds(20);
/// What is kept takes at most so much of the first time, or of its requests.
const KEPT_MOST: f64 = 0.5;
/// What is not kept takes at least so much.
const NOT_KEPT_LEAST: f64 = 0.8;

pub(super) fn caches(seen: &SeenPlace) -> Caches {
    let (first_requests, again_requests) = (requests(&seen.first), requests(&seen.again));
    let (first_ns, again_ns) = (seen.first.took_ns, seen.again.took_ns);
    let by_time = again_ns.as_seconds() / first_ns.as_seconds().max(f64::MIN_POSITIVE);
    // Fewer requests than names are those of reading the directory, which is asked for again at each opening.
    let counted = first_requests.zip(again_requests).filter(|(first, _)| *first >= seen.names.max(2) / 2);
    let share = match counted {
        Some((first, again)) => again as f64 / first as f64,
        None => by_time,
    };
    let word = if first_ns < FIRST_LEAST || (first_requests.is_some() && counted.is_none()) {
        CacheWord::CannotTell
    } else if share <= KEPT_MOST {
        CacheWord::Kept
    } else if share >= NOT_KEPT_LEAST && matches!(seen.served_by, ServedBy::Process | ServedBy::Servers) {
        CacheWord::NotKept
    } else {
        CacheWord::CannotTell
    };
    Caches { first_ns, again_ns, first_requests, again_requests, word }
}

fn requests(probed: &Probed) -> Option<u64> {
    match &probed.counted {
        Counted::Requests(times) => Some(times.iter().map(|times| times.requests).sum()),
        Counted::Calls(_) | Counted::Unknown(_) | Counted::Nothing => None,
    }
}
